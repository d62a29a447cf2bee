//! The Bot API: one method, one answer, and what it means. The address holds the token, so it is
//! named in nothing that is said.

use std::sync::Arc;
use std::time::Duration;

use domain::visible::visible;
use ports::channel::ChannelError;
use ports::clock::Clock;
use reqwest::{Method, Url};
use serde_json::Value;

use super::settings::{BotToken, TelegramSettings};
use crate::limits::{REST_WITHIN, TELEGRAM_POLL_WITHIN};
use crate::wire::{self, Request, Rest, RestReply};

pub(super) struct TelegramApi {
    rest: Rest,
    /// For requests that the platform leaves open until there is something to say.
    patient: Rest,
    base: Url,
    token: BotToken,
}

#[derive(Debug)]
pub(super) enum TelegramFailure {
    NoAnswer(wire::RestFailure),
    /// Too much at once.
    Wait {
        after: Option<Duration>,
        why: String,
    },
    /// The platform has trouble of its own, and does not say what became of it.
    Trouble(String),
    Refused(TelegramRefusal),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TelegramRefusal {
    pub(super) code: i64,
    pub(super) description: String,
    /// The group has become a supergroup, with another name.
    pub(super) moved_to: Option<String>,
}

impl TelegramApi {
    pub(super) fn new(settings: &TelegramSettings, clock: &Arc<dyn Clock>) -> TelegramApi {
        TelegramApi {
            rest: Rest::new(clock.clone(), REST_WITHIN),
            patient: Rest::new(clock.clone(), TELEGRAM_POLL_WITHIN),
            base: settings.base_url.clone(),
            token: settings.token.clone(),
        }
    }

    pub(super) async fn call(&self, method: &str, body: &Value) -> Result<Value, TelegramFailure> {
        read_reply(&self.raw(method, body).await.map_err(TelegramFailure::NoAnswer)?)
    }

    /// One that may take as long as the platform likes to wait.
    pub(super) async fn wait_for(
        &self,
        method: &str,
        body: &Value,
    ) -> Result<Value, TelegramFailure> {
        read_reply(
            &self
                .patient
                .ask(self.request(method, body))
                .await
                .map_err(TelegramFailure::NoAnswer)?,
        )
    }

    /// With everything that stands around the answer.
    pub(super) async fn raw(
        &self,
        method: &str,
        body: &Value,
    ) -> Result<RestReply, wire::RestFailure> {
        self.rest.ask(self.request(method, body)).await
    }

    fn request<'a>(&self, method: &str, body: &'a Value) -> Request<'a> {
        let (url, headers) = (self.url(method), Vec::new());
        Request { method: Method::POST, url, headers, body: Some(body) }
    }

    fn url(&self, method: &str) -> Url {
        let mut url = self.base.clone();
        let path =
            format!("{}/bot{}/{method}", url.path().trim_end_matches('/'), self.token.whole());
        url.set_path(&path);
        url
    }
}

pub(super) fn read_reply(answer: &RestReply) -> Result<Value, TelegramFailure> {
    let garbled =
        || TelegramFailure::Trouble(format!("Telegram answered {} and no sense", answer.status));
    let mut told = answer.json().ok_or_else(garbled)?;
    if told["ok"] == true {
        return Ok(told["result"].take());
    }
    let code = told["error_code"].as_i64().unwrap_or_else(|| i64::from(answer.status));
    let description = visible(told["description"].as_str().unwrap_or("it does not say why"));
    let parameters = &told["parameters"];
    match code {
        429 => Err(TelegramFailure::Wait {
            after: parameters["retry_after"].as_u64().map(Duration::from_secs),
            why: description,
        }),
        // Without `ok` this is not the Bot API that speaks.
        _ if told["ok"] != false => Err(garbled()),
        500.. => Err(TelegramFailure::Trouble(format!("Telegram answered {code}: {description}"))),
        _ => {
            let moved_to = parameters["migrate_to_chat_id"].as_i64().map(|chat| chat.to_string());
            Err(TelegramFailure::Refused(TelegramRefusal { code, description, moved_to }))
        }
    }
}

impl TelegramFailure {
    /// Of a message that must not be sent twice.
    pub(super) fn sending(self) -> ChannelError {
        match self {
            TelegramFailure::NoAnswer(failed) => failed.sending(),
            TelegramFailure::Wait { after, why } => ChannelError::Again { after, why },
            TelegramFailure::Trouble(why) => ChannelError::Unknown(why),
            TelegramFailure::Refused(refusal) => refusal.remedy(),
        }
    }

    /// Of an edit, which is the same when it is made twice.
    pub(super) fn painting(self) -> Result<(), ChannelError> {
        match self {
            TelegramFailure::NoAnswer(failed) => Err(failed.painting()),
            TelegramFailure::Wait { after, why } => Err(ChannelError::Again { after, why }),
            TelegramFailure::Trouble(why) => Err(ChannelError::Again { after: None, why }),
            TelegramFailure::Refused(refusal) if refusal.says("message is not modified") => Ok(()),
            TelegramFailure::Refused(refusal) if refusal.is_about_the_message() => {
                Err(ChannelError::Gone(refusal.description))
            }
            TelegramFailure::Refused(refusal) => Err(refusal.remedy()),
        }
    }
}

impl TelegramRefusal {
    pub(super) fn says(&self, words: &str) -> bool {
        self.description.to_ascii_lowercase().contains(words)
    }

    fn is_about_the_message(&self) -> bool {
        // There are no codes for these, only words.
        ["message to edit not found", "message can't be edited", "message_id_invalid"]
            .iter()
            .any(|words| self.says(words))
    }

    fn remedy(self) -> ChannelError {
        if let Some(there) = self.moved_to {
            return ChannelError::Moved(there);
        }
        let remedy = match self.code {
            401 | 404 => "; is the bot's token right?",
            403 => "; the bot must be in that chat, and a person must have written to it first",
            _ => "",
        };
        ChannelError::Never(format!(
            "Telegram answered {}: {}{remedy}",
            self.code, self.description
        ))
    }
}

impl std::fmt::Display for TelegramFailure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            TelegramFailure::NoAnswer(failed) => failed.fmt(f),
            TelegramFailure::Wait { why, .. } | TelegramFailure::Trouble(why) => f.write_str(why),
            TelegramFailure::Refused(refusal) => {
                write!(f, "{} {}", refusal.code, refusal.description)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn failed(status: u16, body: &str) -> TelegramFailure {
        read_reply(&RestReply::new(status, body.as_bytes())).unwrap_err()
    }

    fn refused(code: i64, description: &str) -> TelegramFailure {
        let body = json!({"ok": false, "error_code": code, "description": description});
        failed(code as u16, &body.to_string())
    }

    #[test]
    fn every_answer_has_its_remedy() {
        let wait = json!({"ok": false, "error_code": 429, "description": "Too Many Requests",
                          "parameters": {"retry_after": 7}});
        let again = ChannelError::Again {
            after: Some(Duration::from_secs(7)),
            why: "Too Many Requests".into(),
        };
        assert_eq!(failed(429, &wait.to_string()).sending(), again);
        for (status, body) in [
            (500, r#"{"ok":false,"error_code":500,"description":"Internal"}"#),
            (502, "<html>"),
            (200, "garbage"),
            (200, "{}"),
            (200, r#"{"ok":"true","result":{}}"#),
        ] {
            assert!(matches!(failed(status, body).sending(), ChannelError::Unknown(_)), "{body}");
            let painting = failed(status, body).painting();
            assert!(matches!(painting, Err(ChannelError::Again { .. })), "{body}");
        }
        for code in [400, 401, 403, 404] {
            assert!(matches!(refused(code, "no").sending(), ChannelError::Never(_)));
        }
        let moved = json!({"ok": false, "error_code": 400, "description": "Bad Request: upgraded",
                           "parameters": {"migrate_to_chat_id": -1001}});
        let moved = || failed(400, &moved.to_string());
        assert_eq!(moved().sending(), ChannelError::Moved("-1001".into()));
        assert_eq!(moved().painting(), Err(ChannelError::Moved("-1001".into())));
        assert_eq!(refused(400, "Bad Request: message is not modified: …").painting(), Ok(()));
        for gone in ["Bad Request: message to edit not found", "Bad Request: MESSAGE_ID_INVALID"] {
            assert!(matches!(refused(400, gone).painting(), Err(ChannelError::Gone(_))));
        }
    }

    #[test]
    fn what_it_says_is_made_visible() {
        let ChannelError::Never(why) = refused(400, "no\u{1b}[2J\u{202e}").sending() else {
            panic!()
        };
        assert!(!why.contains(['\u{1b}', '\u{202e}']), "{why:?}");
    }

    #[test]
    fn the_address_is_built_and_never_shown() {
        let token = BotToken::new("1:SECRET").unwrap();
        let base_url = Url::parse("http://127.0.0.1:9/deep/").unwrap();
        let settings = TelegramSettings::new("tg", token, base_url);
        let clock: Arc<dyn Clock> = Arc::new(crate::webhook::sample::Still);
        let api = TelegramApi::new(&settings, &clock);
        assert_eq!(api.url("getMe").as_str(), "http://127.0.0.1:9/deep/bot1:SECRET/getMe");
        assert!(!format!("{settings:?}").contains("SECRET"));
    }
}
