//! Mail as a channel: it asks, and hears nothing.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use lettre::Address;
use lettre::message::Mailbox;
use ports::channel::{
    Channel, ChannelError, Checked, Destination, HookReply, Inbox, MessageRef, OutgoingText,
    Showing, Shown, TextProgress, WebhookRequest,
};
use ports::clock::Clock;

use super::letter::{id, letter};
use super::notice::notice;
use super::settings::EmailSettings;
use super::smtp::Smtp;
use crate::card::Card;
use crate::limits::{EMAIL_LOGIN_WITHIN, EMAIL_SEND_WITHIN};
use crate::wire::status;

pub struct Email {
    settings: EmailSettings,
    from: Mailbox,
    clock: Arc<dyn Clock>,
}

impl Email {
    /// `Err` if the sender is no address.
    pub fn new(settings: EmailSettings, clock: Arc<dyn Clock>) -> Result<Email, String> {
        let from = settings.from.parse().map_err(|_| {
            "`from` is no address: write it like `Holdpoint <holdpoint@example.org>`".to_owned()
        })?;
        Ok(Email { settings, from, clock })
    }
}

#[async_trait]
impl Channel for Email {
    fn name(&self) -> &str {
        &self.settings.name
    }

    fn platform(&self) -> &'static str {
        "email"
    }

    fn account(&self) -> &str {
        &self.settings.from
    }

    /// A mail server may look at a letter for long before it takes it.
    fn patience(&self) -> Option<Duration> {
        Some(EMAIL_LOGIN_WITHIN + EMAIL_SEND_WITHIN + Duration::from_secs(5))
    }

    fn talks(&self) -> bool {
        false
    }

    fn has_buttons(&self) -> bool {
        false
    }

    fn redraws(&self) -> bool {
        false
    }

    async fn show(
        &self,
        place: &Destination,
        showing: &Showing<'_>,
    ) -> Result<Shown, ChannelError> {
        let (address, direct) = match place {
            Destination::Person(address) => (address, true),
            Destination::Chat { chat, direct, .. } => (chat, *direct),
        };
        let to: Address = address
            .parse()
            .map_err(|_| ChannelError::Never(format!("`{address}` is no address for mail")))?;
        if showing.link.is_none() {
            let why = "a notice needs a link, and the page's address is not known; set `[server] \
                       public_url`";
            return Err(ChannelError::Never(why.into()));
        }
        let EmailSettings { language, zone, .. } = &self.settings;
        let notice = notice(&Card::showing(showing, *language, zone, false));
        let id = id(showing.key.as_str(), &self.from);
        let now = self.clock.now();
        let message = letter(notice, &self.from, to, &id, now).map_err(ChannelError::Never)?;
        let mut smtp = Smtp::open(&self.settings, &self.from, &*self.clock).await?;
        smtp.send(&message, &*self.clock).await?;
        let posted =
            MessageRef { chat: address.clone(), thread: None, direct, message: id, at: Some(now) };
        // It leads to the page; nothing is answered from here.
        Ok(Shown { posted, accepts_approval: false })
    }

    /// A letter that was sent stays as it is; the page that it leads to shows the truth.
    async fn repaint(&self, _: &MessageRef, _: &Showing<'_>) -> Result<bool, ChannelError> {
        Ok(false)
    }

    async fn say_piece(
        &self,
        _: &Destination,
        _: &OutgoingText<'_>,
        _: usize,
    ) -> Result<TextProgress, ChannelError> {
        Err(ChannelError::Never("mail only brings notices; nobody talks to an agent there".into()))
    }

    async fn hook(&self, _: WebhookRequest, _: &dyn Inbox) -> HookReply {
        status(404)
    }

    async fn check(&self) -> Vec<Checked> {
        let EmailSettings { host, port, .. } = &self.settings;
        let opened = Smtp::open(&self.settings, &self.from, &*self.clock).await;
        let wrong = match opened {
            Ok(mut smtp) => {
                smtp.close(&*self.clock).await;
                None
            }
            Err(ChannelError::Again { why, .. }) => {
                Some(format!("{why}; are `host` and `port` right, and is it up?"))
            }
            Err(ChannelError::Never(why)) => Some(why),
            Err(error) => Some(error.to_string()),
        };
        vec![Checked { what: format!("mail server {host}:{port}"), wrong }]
    }
}
