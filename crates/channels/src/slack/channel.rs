//! An app as a channel.

use std::sync::Arc;

use async_trait::async_trait;
use domain::time::Timestamp;
use ports::channel::{
    Channel, ChannelError, Checked, Destination, HookReply, Inbox, MessageRef, OutgoingText,
    Showing, Shown, TextProgress, WebhookRequest,
};
use ports::clock::{Clock, Rng};
use serde_json::{Value, json};
use tokio::sync::OnceCell;
use tokio_util::sync::CancellationToken;

use super::api::{SlackApi, SlackFailure};
use super::blocks::{message, signs};
use super::event::{SlackAccount, moment};
use super::find::Mark;
use super::settings::{SlackMode, SlackSettings};
use crate::card::{Card, Rendered};
use crate::limits::{SLACK_SAID_UNITS_MAX, SLACK_TRIED_MAX};
use crate::wire::{Errands, Recent, nth, pieces};

pub struct Slack(pub(super) Arc<SlackApp>);

pub(super) struct SlackApp {
    pub(super) settings: SlackSettings,
    pub(super) api: SlackApi,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) rng: Arc<dyn Rng>,
    me: OnceCell<SlackAccount>,
    /// What was asked before this cannot be known to be new.
    pub(super) started_at: Timestamp,
    /// What may have been sent already.
    pub(super) tried: Recent,
    pub(super) errands: Errands,
}

impl Slack {
    pub fn new(settings: SlackSettings, clock: Arc<dyn Clock>, rng: Arc<dyn Rng>) -> Slack {
        Slack(Arc::new(SlackApp {
            api: SlackApi::new(&settings.base_url, &clock),
            settings,
            started_at: clock.now(),
            clock,
            rng,
            me: OnceCell::new(),
            tried: Recent::new(SLACK_TRIED_MAX),
            errands: Errands::default(),
        }))
    }
}

/// Where a message goes.
pub(super) struct SlackTarget {
    pub(super) channel: String,
    pub(super) thread: Option<String>,
    pub(super) direct: bool,
}

impl SlackApp {
    pub(super) async fn call(&self, method: &str, body: &Value) -> Result<Value, SlackFailure> {
        self.api.call(&self.settings.bot_token, method, body).await
    }

    pub(super) async fn me(&self) -> Result<&SlackAccount, SlackFailure> {
        self.me
            .get_or_try_init(|| async {
                let me = self.call("auth.test", &json!({})).await?;
                let text = |name: &str| me[name].as_str().unwrap_or_default().to_owned();
                Ok(SlackAccount { user: text("user_id"), bot: text("bot_id") })
            })
            .await
    }

    fn to(&self, place: &Destination) -> Result<SlackTarget, ChannelError> {
        match place {
            Destination::Chat { chat, thread, direct } => {
                Ok(SlackTarget { channel: chat.clone(), thread: thread.clone(), direct: *direct })
            }
            // Slack finds the conversation with the person who is named.
            Destination::Person(person) => {
                Ok(SlackTarget { channel: self.user(person)?, thread: None, direct: true })
            }
        }
    }

    /// `T1:U1`: the person in this workspace.
    fn user(&self, identity: &str) -> Result<String, ChannelError> {
        match identity.split_once(':') {
            Some((team, user)) if team == self.settings.team_id && !user.is_empty() => {
                Ok(user.to_owned())
            }
            _ => Err(ChannelError::Never(format!(
                "`{identity}` is nobody in the workspace {}: an identity is `TEAM:USER`, such as \
                 `T0123:U0456`",
                self.settings.team_id
            ))),
        }
    }

    fn drawn(&self, showing: &Showing<'_>, mention: bool) -> Rendered {
        let SlackSettings { language, zone, .. } = &self.settings;
        message(&Card::showing(showing, *language, zone, mention))
    }

    /// Sends what `mark` names, unless it stands there already.
    async fn send(
        &self,
        to: &SlackTarget,
        mark: &Mark<'_>,
        mut body: Value,
    ) -> Result<Value, ChannelError> {
        if let Some(found) = self.find(to, mark).await? {
            return Ok(found);
        }
        body["channel"] = to.channel.as_str().into();
        if let Some(thread) = &to.thread {
            body["thread_ts"] = thread.as_str().into();
        }
        body["unfurl_links"] = false.into();
        body["unfurl_media"] = false.into();
        body["metadata"] = mark.metadata();
        self.call("chat.postMessage", &body).await.map_err(SlackFailure::sending)
    }
}

#[async_trait]
impl Channel for Slack {
    fn name(&self) -> &str {
        &self.0.settings.name
    }

    fn platform(&self) -> &'static str {
        "slack"
    }

    fn account(&self) -> &str {
        &self.0.settings.app_id
    }

    /// The `confirm` of its buttons.
    fn has_confirm_dialog(&self) -> bool {
        true
    }

    async fn show(
        &self,
        place: &Destination,
        showing: &Showing<'_>,
    ) -> Result<Shown, ChannelError> {
        let to = self.0.to(place)?;
        let drawn = self.0.drawn(showing, !to.direct);
        let mark = Mark::of_hold(showing);
        let sent = self.0.send(&to, &mark, drawn.value).await?;
        let text = |name: &str| sent[name].as_str().filter(|text| !text.is_empty());
        let (Some(chat), Some(ts)) = (text("channel"), text("ts")) else {
            return Err(ChannelError::Unknown("Slack did not name the message".into()));
        };
        let posted = MessageRef {
            chat: chat.to_owned(),
            thread: to.thread,
            direct: to.direct,
            message: ts.to_owned(),
            at: moment(ts),
        };
        Ok(Shown { posted, accepts_approval: drawn.accepts_approval })
    }

    async fn repaint(
        &self,
        posted: &MessageRef,
        showing: &Showing<'_>,
    ) -> Result<bool, ChannelError> {
        let drawn = self.0.drawn(showing, !posted.direct);
        let mut body = drawn.value;
        body["channel"] = posted.chat.as_str().into();
        body["ts"] = posted.message.as_str().into();
        self.0.call("chat.update", &body).await.map_err(SlackFailure::painting)?;
        Ok(drawn.accepts_approval)
    }

    async fn say_piece(
        &self,
        place: &Destination,
        saying: &OutgoingText<'_>,
        index: usize,
    ) -> Result<TextProgress, ChannelError> {
        let to = self.0.to(place)?;
        let whispered = saying.whisper_to.map(|person| self.0.user(person)).transpose()?;
        let pieces = pieces(saying.text, SLACK_SAID_UNITS_MAX);
        let Some((piece, spoken)) = nth(pieces, index) else { return Ok(TextProgress::All) };
        // No markup in it, and nobody is called.
        let mut body = json!({"text": signs(&piece), "mrkdwn": false});
        match &whispered {
            Some(user) => {
                body["channel"] = to.channel.as_str().into();
                body["user"] = user.as_str().into();
                if let Some(thread) = &to.thread {
                    body["thread_ts"] = thread.as_str().into();
                }
                self.0.call("chat.postEphemeral", &body).await.map_err(SlackFailure::sending)?;
            }
            None => {
                let key = format!("{}.{}", saying.key, index);
                self.0.send(&to, &Mark::of_words(&key), body).await?;
            }
        }
        Ok(spoken)
    }

    async fn listen(&self, inbox: Arc<dyn Inbox>, stop: CancellationToken) {
        match &self.0.settings.mode {
            SlackMode::Socket { app_token } => self.0.socket_mode(app_token, inbox, &stop).await,
            SlackMode::Http { .. } => stop.cancelled().await,
        }
    }

    async fn hook(&self, request: WebhookRequest, inbox: &dyn Inbox) -> HookReply {
        self.0.hook(&request, inbox).await
    }

    async fn check(&self) -> Vec<Checked> {
        self.0.check().await
    }
}
