//! A program as a channel: it is told of holds, and brings the decisions of people for whom it may speak.
//! Both ways everything is signed, in the form of Standard Webhooks.

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use async_trait::async_trait;
use domain::time::Timestamp;
use egress::{AddressGuard, HostResolver, SystemResolver, describe_causes, find_forbidden};
use ports::callback::CallbackError;
use ports::channel::{
    Channel, ChannelError, Checked, Destination, HookReply, Inbox, MessageRef, OutgoingText,
    Showing, Shown, Step, TextProgress, WebhookRequest,
};
use ports::clock::Clock;
use reqwest::header::{CONTENT_TYPE, HeaderMap, LOCATION, RETRY_AFTER};
use reqwest::{Client, Url};

use super::event::WebhookEvent;
use super::secret::WebhookSecret;
use super::verdict::verdict;
use super::{decision, target};
use crate::limits::{DELIVERY_TIMEOUT, PAUSE_MAX, RETRIES};

#[derive(Clone, Debug)]
pub struct ChannelSettings {
    /// As the configuration names the channel.
    pub name: String,
    /// Where it is told of holds.
    pub url: String,
    /// Signs what we say.
    pub secret: WebhookSecret,
    /// Signs what it says. Without one it only listens.
    pub inbound_secret: Option<WebhookSecret>,
    /// The identities for which it may speak.
    pub speaks_for: BTreeSet<String>,
    /// It may be on this machine or in a private network, and without TLS.
    pub allow_private_addresses: bool,
}

pub struct Webhook {
    pub(super) settings: ChannelSettings,
    url: Url,
    guard: AddressGuard,
    clock: Arc<dyn Clock>,
    /// Made for the first delivery: it reads the system's certificates, which some machines do not have.
    client: OnceLock<Client>,
    names: Arc<dyn HostResolver>,
}

impl Webhook {
    /// `Err` if it may not be told anything at that address.
    pub fn new(settings: ChannelSettings, clock: Arc<dyn Clock>) -> Result<Webhook, String> {
        let guard = if settings.allow_private_addresses {
            AddressGuard::Open
        } else {
            AddressGuard::PublicOnly
        };
        let url = target::parse(&settings.url, guard)?;
        let inbound = settings.inbound_secret.as_ref();
        if inbound.is_some_and(|inbound| settings.secret.shares_a_key_with(inbound)) {
            return Err(
                "`secret` and `inbound_secret` hold the same key: what we sign could be sent back \
                        to us; make a second one"
                    .into(),
            );
        }
        let names = Arc::new(SystemResolver);
        Ok(Webhook { settings, url, guard, clock, client: OnceLock::new(), names })
    }

    async fn deliver(&self, event: &WebhookEvent) -> Result<(), ChannelError> {
        let timestamp_s = self.clock.now().as_ms().div_euclid(1000);
        let signature = self.settings.secret.sign(&event.id, timestamp_s, &event.body);
        let request = self
            .client()?
            .post(self.url.clone())
            .header(CONTENT_TYPE, "application/json")
            .header("webhook-id", &event.id)
            .header("webhook-timestamp", timestamp_s)
            .header("webhook-signature", signature)
            .body(event.body.clone());
        let answer = request.send().await.map_err(send_error)?;
        let location = answer.headers().get(LOCATION).and_then(|value| value.to_str().ok());
        // What else the receiver says is not read: it could go on for ever.
        verdict(answer.status(), location, &self.url).map_err(|error| match error {
            CallbackError::Again(why) => {
                ChannelError::Again { after: asked_for(answer.headers(), self.clock.now()), why }
            }
            CallbackError::Never(why) => ChannelError::Never(why),
        })
    }

    /// What keeps us from telling it anything. The question itself tells it nothing, so what it answers
    /// matters only where it would be the same for an event.
    async fn unreachable(&self) -> Option<String> {
        let client = match self.client() {
            Ok(client) => client,
            Err(error) => return Some(error.to_string()),
        };
        let answer = match client.head(self.url.clone()).send().await {
            Ok(answer) => answer,
            Err(error) => {
                let timed_out = error.is_timeout();
                return Some(match send_error(error) {
                    ChannelError::Never(forbidden) => format!(
                        "{forbidden}; if it is meant to be there, set `allow_private_addresses`"
                    ),
                    _ if timed_out => {
                        format!(
                            "no answer within {} s; is `url` right?",
                            DELIVERY_TIMEOUT.as_secs()
                        )
                    }
                    ChannelError::Again { why, .. } => {
                        format!("it cannot be reached: {why}; is it up, and is `url` right?")
                    }
                    other => other.to_string(),
                });
            }
        };
        let number = answer.status().as_u16();
        match number {
            300..400 => Some(format!(
                "it answers {number}, and redirects are not followed; write the final address in `url`"
            )),
            410 => Some(
                "it answers 410, which means that it wants no more of this; is `url` right?".into(),
            ),
            502..=504 => Some(format!("it answers {number}; is the program behind it up?")),
            _ => None,
        }
    }

    fn client(&self) -> Result<&Client, ChannelError> {
        if let Some(client) = self.client.get() {
            return Ok(client);
        }
        let built = egress::guarded_client(self.names.clone(), self.guard)
            .timeout(DELIVERY_TIMEOUT)
            .build();
        let client = built.map_err(|error| {
            again(format!(
                "the HTTP client cannot be set up: {}",
                describe_causes(&error.without_url())
            ))
        })?;
        Ok(self.client.get_or_init(|| client))
    }
}

/// A receiver knows a repeat by its id, so whatever is not known to have arrived is sent again.
fn send_error(error: reqwest::Error) -> ChannelError {
    let error = error.without_url();
    match find_forbidden(&error) {
        Some(forbidden) => ChannelError::Never(forbidden.to_string()),
        None => again(describe_causes(&error)),
    }
}

/// How long a receiver wants us to stay away: so many seconds, or until a date.
fn asked_for(headers: &HeaderMap, now: Timestamp) -> Option<Duration> {
    let asked = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    let after = match asked.parse() {
        Ok(seconds) => Duration::from_secs(seconds),
        Err(_) => {
            let date = jiff::fmt::rfc2822::parse(asked).ok()?.timestamp().as_millisecond();
            Duration::from_millis(Timestamp::from_ms(date).ms_since(now))
        }
    };
    Some(after.min(PAUSE_MAX))
}

fn again(why: String) -> ChannelError {
    ChannelError::Again { after: None, why }
}

#[async_trait]
impl Channel for Webhook {
    fn name(&self) -> &str {
        &self.settings.name
    }

    fn platform(&self) -> &'static str {
        "webhook"
    }

    fn account(&self) -> &str {
        &self.settings.name
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

    fn retries(&self) -> Option<&'static [Duration]> {
        Some(&RETRIES)
    }

    fn every_step(&self) -> bool {
        true
    }

    async fn show(
        &self,
        place: &Destination,
        showing: &Showing<'_>,
    ) -> Result<Shown, ChannelError> {
        let event = WebhookEvent::opened(place, showing);
        self.deliver(&event).await?;
        let (chat, thread, direct) = match place {
            Destination::Person(person) => (person.clone(), None, true),
            Destination::Chat { chat, thread, direct } => (chat.clone(), thread.clone(), *direct),
        };
        let posted =
            MessageRef { chat, thread, direct, message: event.id, at: Some(self.clock.now()) };
        // The whole of it was told, and a decision names its digest.
        Ok(Shown { posted, accepts_approval: true })
    }

    async fn repaint(&self, _: &MessageRef, showing: &Showing<'_>) -> Result<bool, ChannelError> {
        // It is told of each step instead, and there is nothing to draw.
        Ok(showing.hold.is_pending())
    }

    async fn tell(
        &self,
        posted: &MessageRef,
        showing: &Showing<'_>,
        step: &Step,
    ) -> Result<(), ChannelError> {
        self.deliver(&WebhookEvent::of(&posted.message, showing, step)).await
    }

    async fn say_piece(
        &self,
        _: &Destination,
        _: &OutgoingText<'_>,
        _: usize,
    ) -> Result<TextProgress, ChannelError> {
        Err(ChannelError::Never("a webhook is told of holds, and nothing else".into()))
    }

    async fn hook(&self, request: WebhookRequest, inbox: &dyn Inbox) -> HookReply {
        decision::take(&self.settings, &request, inbox).await
    }

    async fn check(&self) -> Vec<Checked> {
        let host = self.url.host_str().unwrap_or_default();
        vec![Checked { what: format!("receiver at {host}"), wrong: self.unreachable().await }]
    }
}
