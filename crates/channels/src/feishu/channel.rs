//! The connector: shows and repaints cards, says things, and hands what people do to the inbox.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use domain::time::Timestamp;
use domain::visible::visible_multiline;
use ports::channel::{
    Channel, ChannelError, Checked, Destination, HookReply, Inbox, MessageRef, OutgoingText,
    PressReply, Showing, Shown, TextProgress, WebhookRequest,
};
use ports::clock::{Clock, Rng};
use ports::unpoisoned::Unpoisoned as _;
use reqwest::Method;
use ring::digest::{SHA256, digest};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::api::api;
use super::event::FeishuEvent;
use super::gesture::{self, MESSAGE, PRESS};
use super::identity::id_type;
use super::message::literal;
use super::press_reply;
use super::render::render_card;
use super::replays::Replays;
use super::settings::{FeishuMode, FeishuSettings};
use crate::card::Rendered;
use crate::limits::FEISHU_TEXT_BYTES_MAX;
use crate::signed::hex;
use crate::wire::{ApiCall, AppApi, nth};

pub struct Feishu {
    pub(super) settings: Arc<FeishuSettings>,
    pub(super) api: AppApi,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) rng: Arc<dyn Rng>,
    pub(super) replays: Replays,
    /// Our own `open_id`, once it is known.
    own: Mutex<Option<String>>,
}

/// What became of an event.
pub(super) enum EventOutcome {
    /// Nothing is to be said about it.
    Ack,
    /// A toast, and perhaps a card.
    Reply(Value),
    /// It should come again.
    Redeliver,
}

impl Feishu {
    pub fn new(settings: FeishuSettings, clock: Arc<dyn Clock>, rng: Arc<dyn Rng>) -> Feishu {
        let settings = Arc::new(settings);
        Feishu {
            api: api(&settings, clock.clone()),
            settings,
            clock,
            rng,
            replays: Replays::default(),
            own: Mutex::new(None),
        }
    }

    /// One event, whichever way it came. Events that we do not know are taken and left alone.
    pub(super) async fn take(&self, event: &FeishuEvent, inbox: &dyn Inbox) -> EventOutcome {
        match event.kind.as_str() {
            PRESS => {
                let told = match gesture::press(event, self.only(), self.clock.now()) {
                    Some(press) => inbox.pressed(&self.settings.name, press).await,
                    None => Ok(PressReply::NotHere),
                };
                EventOutcome::Reply(press_reply::reply(&told, &self.settings))
            }
            MESSAGE => {
                // Without our name nobody could say whether we are meant.
                let Ok(own) = self.own_id().await else { return EventOutcome::Redeliver };
                let Some(wrote) = gesture::wrote(event, self.only(), &own) else {
                    return EventOutcome::Ack;
                };
                match inbox.wrote(&self.settings.name, wrote).await {
                    Ok(()) => EventOutcome::Ack,
                    Err(_) => EventOutcome::Redeliver,
                }
            }
            _ => EventOutcome::Ack,
        }
    }

    /// The organisation whose people are heard, if it is one.
    pub(super) fn only(&self) -> Option<&str> {
        self.settings.tenant_key.as_deref()
    }

    pub(super) async fn own_id(&self) -> Result<String, ChannelError> {
        if let Some(own) = self.own.lock().unpoisoned().clone() {
            return Ok(own);
        }
        let path = ["open-apis", "bot", "v3", "info"];
        let call = ApiCall { method: Method::GET, path: &path, query: &[], body: None };
        let answer = self.api.call(call).await?;
        let Some(own) = answer["bot"]["open_id"].as_str().filter(|own| !own.is_empty()) else {
            return Err(ChannelError::Never("Feishu does not say who our bot is".into()));
        };
        *self.own.lock().unpoisoned() = Some(own.to_owned());
        Ok(own.to_owned())
    }

    async fn send(
        &self,
        to: &FeishuTarget<'_>,
        message: FeishuMessage<'_>,
    ) -> Result<MessageRef, ChannelError> {
        let FeishuMessage { kind, content, uuid } = message;
        let mut body = json!({"msg_type": kind, "content": content, "uuid": uuid});
        let messages = ["open-apis", "im", "v1", "messages"];
        let answer = match to {
            FeishuTarget::Whom { id, id_type } => {
                body["receive_id"] = (*id).into();
                let query = [("receive_id_type", *id_type)];
                let call = ApiCall {
                    method: Method::POST,
                    path: &messages,
                    query: &query,
                    body: Some(&body),
                };
                self.api.call(call).await?
            }
            FeishuTarget::Reply { message, in_thread } => {
                body["reply_in_thread"] = (*in_thread).into();
                let path = [&messages[..], &[message, "reply"]].concat();
                let call =
                    ApiCall { method: Method::POST, path: &path, query: &[], body: Some(&body) };
                self.api.call(call).await?
            }
        };
        let data = &answer["data"];
        let text = |key: &str| data[key].as_str().filter(|text| !text.is_empty());
        let Some(message) = text("message_id") else {
            return Err(ChannelError::Unknown("Feishu does not say which message it made".into()));
        };
        Ok(MessageRef {
            chat: text("chat_id").unwrap_or_default().to_owned(),
            thread: None,
            direct: false,
            message: message.to_owned(),
            at: text("create_time").and_then(|ms| ms.parse().ok()).map(Timestamp::from_ms),
        })
    }

    /// A person who recalled the message that is replied to, or that a thread began with, still waits for
    /// what we say: it goes to the chat then.
    async fn send_or_at_large(
        &self,
        place: &Destination,
        to: &FeishuTarget<'_>,
        message: FeishuMessage<'_>,
    ) -> Result<MessageRef, ChannelError> {
        match (self.send(to, message).await, at_large(place, to)) {
            (Err(ChannelError::Gone(_)), Some(chat)) => self.send(&chat, message).await,
            (sent, _) => sent,
        }
    }

    fn render(&self, showing: &Showing<'_>, mention: bool, since: Timestamp) -> Rendered {
        render_card(showing, &self.settings, mention, since)
    }
}

/// Where a message goes.
enum FeishuTarget<'a> {
    Whom { id: &'a str, id_type: &'static str },
    Reply { message: &'a str, in_thread: bool },
}

#[derive(Clone, Copy)]
struct FeishuMessage<'a> {
    kind: &'static str,
    /// JSON in a string.
    content: &'a str,
    uuid: &'a str,
}

fn to<'a>(place: &'a Destination, reply_to: Option<&'a str>) -> FeishuTarget<'a> {
    match (place, reply_to) {
        (Destination::Person(id), _) => FeishuTarget::Whom { id, id_type: id_type(id) },
        (Destination::Chat { thread, .. }, Some(message)) => {
            FeishuTarget::Reply { message, in_thread: thread.is_some() }
        }
        (Destination::Chat { thread: Some(first), .. }, None) => {
            FeishuTarget::Reply { message: first, in_thread: true }
        }
        (Destination::Chat { chat, .. }, None) => {
            FeishuTarget::Whom { id: chat, id_type: "chat_id" }
        }
    }
}

/// The chat itself, for a reply.
fn at_large<'a>(place: &'a Destination, to: &FeishuTarget<'_>) -> Option<FeishuTarget<'a>> {
    match (place, to) {
        (Destination::Chat { chat, .. }, FeishuTarget::Reply { .. }) => {
            Some(FeishuTarget::Whom { id: chat, id_type: "chat_id" })
        }
        _ => None,
    }
}

/// What stands there, as the place says it; the chat of a person is named by the platform.
fn message_ref(place: &Destination, sent: MessageRef) -> MessageRef {
    match place {
        Destination::Person(_) => MessageRef { direct: true, ..sent },
        Destination::Chat { chat, thread, direct } => {
            MessageRef { chat: chat.clone(), thread: thread.clone(), direct: *direct, ..sent }
        }
    }
}

/// At most fifty characters, the same for the same key: within an hour the platform makes one message
/// of them.
fn uuid(what: &str, key: &str) -> String {
    let hashed = hex(digest(&SHA256, format!("{what}\n{key}").as_bytes()).as_ref());
    format!("hp{}", &hashed[..40])
}

/// Pieces that a message can carry. A line is cut only if it alone is too long.
fn pieces(text: &str) -> Vec<String> {
    // A character may take six bytes in JSON, and is in a string in a string.
    let most = FEISHU_TEXT_BYTES_MAX / 12;
    let mut pieces = vec![String::new()];
    for line in text.split_inclusive('\n') {
        let mut left = most.saturating_sub(pieces.last().map_or(0, |piece| piece.chars().count()));
        if line.chars().count() > left {
            pieces.push(String::new());
            left = most;
        }
        for c in line.chars() {
            if left == 0 {
                pieces.push(String::new());
                left = most;
            }
            left -= 1;
            if let Some(piece) = pieces.last_mut() {
                piece.push(c);
            }
        }
    }
    pieces.retain(|piece| !piece.trim().is_empty());
    pieces
}

#[async_trait]
impl Channel for Feishu {
    fn name(&self) -> &str {
        &self.settings.name
    }

    fn platform(&self) -> &'static str {
        "feishu"
    }

    fn account(&self) -> &str {
        &self.settings.app_id
    }

    async fn show(
        &self,
        place: &Destination,
        showing: &Showing<'_>,
    ) -> Result<Shown, ChannelError> {
        let mention = matches!(place, Destination::Chat { direct: false, .. });
        let drawn = self.render(showing, mention, self.clock.now());
        let content = drawn.value.to_string();
        let uuid = uuid("show", showing.key.as_str());
        let message = FeishuMessage { kind: "interactive", content: &content, uuid: &uuid };
        let sent = self.send_or_at_large(place, &to(place, None), message).await?;
        Ok(Shown { posted: message_ref(place, sent), accepts_approval: drawn.accepts_approval })
    }

    async fn repaint(
        &self,
        posted: &MessageRef,
        showing: &Showing<'_>,
    ) -> Result<bool, ChannelError> {
        // It is no older than its question.
        let since = posted.at.unwrap_or(showing.hold.opened_at);
        let drawn = self.render(showing, !posted.direct, since);
        let body = json!({"content": drawn.value.to_string()});
        let path = ["open-apis", "im", "v1", "messages", &posted.message];
        let call = ApiCall { method: Method::PATCH, path: &path, query: &[], body: Some(&body) };
        self.api.call(call).await.map(|_| drawn.accepts_approval)
    }

    async fn say_piece(
        &self,
        place: &Destination,
        saying: &OutgoingText<'_>,
        index: usize,
    ) -> Result<TextProgress, ChannelError> {
        let whisper = saying.whisper_to.map(|person| Destination::Person(person.to_owned()));
        let to = match &whisper {
            Some(person) => to(person, None),
            None => to(place, saying.reply_to),
        };
        let Some((piece, spoken)) = nth(pieces(saying.text), index) else {
            return Ok(TextProgress::All);
        };
        let content = json!({"text": literal(&visible_multiline(&piece))}).to_string();
        let uuid = uuid("say", &format!("{}:{}", index, saying.key));
        let message = FeishuMessage { kind: "text", content: &content, uuid: &uuid };
        self.send_or_at_large(place, &to, message).await?;
        Ok(spoken)
    }

    async fn listen(&self, inbox: Arc<dyn Inbox>, stop: CancellationToken) {
        match self.settings.mode {
            FeishuMode::LongConnection => super::connection::listen(self, &*inbox, &stop).await,
            FeishuMode::Webhook => stop.cancelled().await,
        }
    }

    async fn hook(&self, request: WebhookRequest, inbox: &dyn Inbox) -> HookReply {
        super::hook::hook(self, request, inbox).await
    }

    async fn check(&self) -> Vec<Checked> {
        super::check::check(self).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_one_uuid_and_fits() {
        let one = uuid("show", "7Q2");
        assert_eq!(one, uuid("show", "7Q2"));
        assert_ne!(one, uuid("say", "7Q2"));
        assert_ne!(one, uuid("show", "7Q3"));
        assert!(one.len() <= 50);
    }

    #[test]
    fn a_long_text_is_said_in_pieces_and_nothing_is_lost() {
        let lines: String = (0..5_000).map(|n| format!("line {n} <at>\n")).collect();
        let endless = "确".repeat(10_000);
        for text in [lines.as_str(), &endless, "short", "a\n\n\nb"] {
            let pieces = pieces(text);
            assert_eq!(pieces.concat(), text);
            for piece in &pieces {
                let content = json!({"text": literal(&visible_multiline(piece))}).to_string();
                assert!(content.len() <= FEISHU_TEXT_BYTES_MAX * 2, "{}", content.len());
            }
        }
        assert!(pieces("  \n ").is_empty());
    }

    #[test]
    fn where_a_message_goes() {
        let chat = |thread: Option<&str>| Destination::Chat {
            chat: "oc_1".into(),
            thread: thread.map(str::to_owned),
            direct: false,
        };
        let told = |place: &Destination, reply_to| match to(place, reply_to) {
            FeishuTarget::Whom { id, id_type } => format!("{id_type} {id}"),
            FeishuTarget::Reply { message, in_thread } => format!("reply {message} {in_thread}"),
        };
        assert_eq!(told(&chat(None), None), "chat_id oc_1");
        assert_eq!(told(&chat(Some("om_1")), None), "reply om_1 true");
        assert_eq!(told(&chat(None), Some("om_2")), "reply om_2 false");
        assert_eq!(told(&chat(Some("om_1")), Some("om_2")), "reply om_2 true");
        for (id, wanted) in [("ou_1", "open_id"), ("on_1", "union_id"), ("ana.b", "user_id")] {
            assert_eq!(
                told(&Destination::Person(id.into()), Some("om_2")),
                format!("{wanted} {id}")
            );
        }
    }
}
