//! A bot as a channel.

use std::sync::Arc;

use async_trait::async_trait;
use domain::time::Timestamp;
use ports::channel::{
    Busy, Channel, ChannelError, Checked, Destination, HookReply, Inbox, MessageRef, OutgoingText,
    PressReply, Showing, Shown, TextProgress, WebhookRequest,
};
use ports::clock::{Clock, Rng};
use serde_json::{Value, json};
use tokio::sync::OnceCell;
use tokio_util::sync::CancellationToken;

use super::api::{TelegramApi, TelegramFailure};
use super::entities::{TelegramAccount, id};
use super::message;
use super::settings::{TelegramMode, TelegramSettings};
use super::update::Update;
use crate::card::{Card, Rendered, Word, clipped};
use crate::limits::{ANSWERED_MAX, TELEGRAM_TOAST_CHARACTERS_MAX, TELEGRAM_UNITS_MAX};
use crate::signed::{Headers, SignatureRefusal};
use crate::wire::{Errands, Recent, accepted, json_reply, nth, pieces, refusal_reply, status};

pub struct Telegram(pub(super) Arc<Bot>);

pub(super) struct Bot {
    pub(super) settings: TelegramSettings,
    pub(super) api: TelegramApi,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) rng: Arc<dyn Rng>,
    me: OnceCell<TelegramAccount>,
    /// Queries that have their answer: each gets one.
    answered: Recent,
    pub(super) errands: Errands,
}

impl Telegram {
    pub fn new(settings: TelegramSettings, clock: Arc<dyn Clock>, rng: Arc<dyn Rng>) -> Telegram {
        let api = TelegramApi::new(&settings, &clock);
        Telegram(Arc::new(Bot {
            settings,
            api,
            clock,
            rng,
            me: OnceCell::new(),
            answered: Recent::new(ANSWERED_MAX),
            errands: Errands::default(),
        }))
    }
}

impl Bot {
    pub(super) async fn me(&self) -> Result<&TelegramAccount, TelegramFailure> {
        self.me
            .get_or_try_init(|| async {
                let me = self.api.call("getMe", &json!({})).await?;
                let username = me["username"].as_str().unwrap_or_default().to_owned();
                Ok(TelegramAccount { id: self.settings.token.id().to_owned(), username })
            })
            .await
    }

    /// What is on disk when this returns. For a pressed key, the answer that its query still wants.
    pub(super) async fn take(
        &self,
        update: Update,
        inbox: &dyn Inbox,
    ) -> Result<Option<Value>, Busy> {
        let channel = &self.settings.name;
        match update {
            Update::Ignored => Ok(None),
            Update::Wrote(wrote) => inbox.wrote(channel, *wrote).await.map(|()| None),
            Update::Moved { from, to, .. } => inbox.moved(channel, &from, &to).await.map(|()| None),
            Update::Pressed { query, press, .. } => {
                if !self.answered.insert(&query) {
                    return Ok(None);
                }
                let told = match press {
                    Some(press) => inbox.pressed(channel, *press).await,
                    None => Ok(PressReply::NotHere),
                };
                match told {
                    Ok(told) => Ok(Some(self.answer(&query, &told))),
                    Err(Busy) => {
                        self.answered.remove(&query);
                        Err(Busy)
                    }
                }
            }
        }
    }

    fn drawn(&self, showing: &Showing<'_>, mention: bool) -> Rendered {
        let TelegramSettings { language, zone, .. } = &self.settings;
        message(&Card::showing(showing, *language, zone, mention))
    }

    fn answer(&self, query: &str, told: &PressReply) -> Value {
        let word = Word::of(told, self.settings.language, &self.settings.zone);
        json!({
            "callback_query_id": query,
            "text": clipped(&word.text, TELEGRAM_TOAST_CHARACTERS_MAX),
            "show_alert": word.refusal,
        })
    }
}

/// A number, or the public name of a channel.
fn chat_id(chat: &str) -> Result<Value, ChannelError> {
    match chat.parse::<i64>() {
        Ok(number) => Ok(number.into()),
        Err(_) if chat.len() > 1 && chat.starts_with('@') => Ok(chat.into()),
        Err(_) => Err(ChannelError::Never(format!(
            "`{chat}` is no chat of Telegram's: one is a number such as -1001234567890"
        ))),
    }
}

fn addressed(place: &Destination) -> Result<(Value, bool), ChannelError> {
    match place {
        // One's chat with a bot has one's own number.
        Destination::Person(person) => Ok((json!({"chat_id": chat_id(person)?}), true)),
        Destination::Chat { chat, thread, direct } => {
            let mut body = json!({"chat_id": chat_id(chat)?});
            if let Some(thread) = thread {
                let wrong = |_| ChannelError::Never(format!("`{thread}` is no topic of a forum"));
                body["message_thread_id"] = thread.parse::<i64>().map_err(wrong)?.into();
            }
            Ok((body, *direct))
        }
    }
}

fn with(mut body: Value, more: Value) -> Value {
    if let (Some(body), Value::Object(more)) = (body.as_object_mut(), more) {
        body.extend(more);
    }
    body
}

/// Telegram tells whole seconds. What somebody wrote in the same second may have been written before.
fn end_of_second(seconds: i64) -> Timestamp {
    Timestamp::from_ms(seconds.saturating_mul(1000).saturating_add(999))
}

#[async_trait]
impl Channel for Telegram {
    fn name(&self) -> &str {
        &self.0.settings.name
    }

    fn platform(&self) -> &'static str {
        "telegram"
    }

    fn account(&self) -> &str {
        self.0.settings.token.id()
    }

    fn may_show_twice(&self) -> bool {
        true
    }

    async fn show(
        &self,
        place: &Destination,
        showing: &Showing<'_>,
    ) -> Result<Shown, ChannelError> {
        let (body, direct) = addressed(place)?;
        let drawn = self.0.drawn(showing, !direct);
        let body = with(body, drawn.value);
        let sent = self.0.api.call("sendMessage", &body).await.map_err(TelegramFailure::sending)?;
        let posted = || {
            Some(MessageRef {
                chat: id(&sent["chat"]["id"])?,
                thread: match place {
                    Destination::Chat { thread, .. } => thread.clone(),
                    Destination::Person(_) => None,
                },
                direct,
                message: id(&sent["message_id"])?,
                at: sent["date"].as_i64().map(end_of_second),
            })
        };
        let posted = posted()
            .ok_or_else(|| ChannelError::Unknown("Telegram did not name the message".into()))?;
        Ok(Shown { posted, accepts_approval: drawn.accepts_approval })
    }

    async fn repaint(
        &self,
        posted: &MessageRef,
        showing: &Showing<'_>,
    ) -> Result<bool, ChannelError> {
        let message_id = posted.message.parse::<i64>();
        let message_id = message_id.map_err(|_| ChannelError::Gone("it has no number".into()))?;
        let body = json!({"chat_id": chat_id(&posted.chat)?, "message_id": message_id});
        let drawn = self.0.drawn(showing, !posted.direct);
        match self.0.api.call("editMessageText", &with(body, drawn.value)).await {
            Ok(_) => Ok(drawn.accepts_approval),
            Err(failed) => failed.painting().map(|()| drawn.accepts_approval),
        }
    }

    async fn say_piece(
        &self,
        place: &Destination,
        saying: &OutgoingText<'_>,
        index: usize,
    ) -> Result<TextProgress, ChannelError> {
        // Nothing in a chat is for one person's eyes, so it goes to them directly.
        let (body, _) = match saying.whisper_to {
            Some(person) => addressed(&Destination::Person(person.to_owned()))?,
            None => addressed(place)?,
        };
        let reply_to = saying.reply_to.filter(|_| saying.whisper_to.is_none());
        let pieces = pieces(saying.text, TELEGRAM_UNITS_MAX);
        let Some((piece, spoken)) = nth(pieces, index) else { return Ok(TextProgress::All) };
        // Without a `parse_mode` nothing in it is markup.
        let more = json!({"text": piece, "link_preview_options": {"is_disabled": true}});
        let mut body = with(body, more);
        if index == 0
            && let Some(message) = reply_to.and_then(|message| message.parse::<i64>().ok())
        {
            body["reply_parameters"] =
                json!({"message_id": message, "allow_sending_without_reply": true});
        }
        self.0.api.call("sendMessage", &body).await.map_err(TelegramFailure::sending)?;
        Ok(spoken)
    }

    async fn listen(&self, inbox: Arc<dyn Inbox>, stop: CancellationToken) {
        self.0.clone().listen(inbox, stop).await;
    }

    async fn hook(&self, request: WebhookRequest, inbox: &dyn Inbox) -> HookReply {
        let bot = &self.0;
        let name = &bot.settings.name;
        let TelegramMode::Webhook { secret, .. } = &bot.settings.mode else { return status(404) };
        if (request.method.as_str(), request.path.as_str()) != ("POST", "events") {
            return status(404);
        }
        let headers: Vec<(&str, &str)> =
            request.headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        if let Err(why) = secret.verify(Headers(&headers), &request.body) {
            return refusal_reply(name, why);
        }
        let Ok(update) = serde_json::from_slice::<Value>(&request.body) else {
            return refusal_reply(name, SignatureRefusal::Garbled);
        };
        let me = match bot.me().await {
            Ok(me) => me,
            Err(failed) => {
                tracing::warn!(channel = name, "who we are is not known: {failed}");
                return status(503);
            }
        };
        match bot.take(Update::read(&update, me, request.at), inbox).await {
            Ok(None) => accepted(),
            // The answer travels in the reply: one call less, and it cannot be made twice.
            Ok(Some(answer)) => json_reply(&with(json!({"method": "answerCallbackQuery"}), answer)),
            Err(Busy) => status(503),
        }
    }

    async fn check(&self) -> Vec<Checked> {
        self.0.check().await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_in_the_second_of_a_prompt_was_not_written_after_it() {
        let (prompt, second) = (end_of_second(1_794_700_000), 1_794_700_000_000);
        assert!(Timestamp::from_ms(second) < prompt);
        assert!(Timestamp::from_ms(second + 1_000) > prompt);
    }
}
