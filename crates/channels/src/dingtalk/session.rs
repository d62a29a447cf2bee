//! Addresses over which a conversation can be answered for a while. They come with what people write, need
//! no token, and can carry no cards. Only a shorter way: what is forgotten goes over the API.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard};

use domain::time::Timestamp;
use ports::channel::IncomingMessage;
use ports::unpoisoned::Unpoisoned as _;
use reqwest::Url;
use serde_json::{Value, json};

use super::settings::{DingTalkMode, DingTalkSettings};
use crate::limits::{
    DINGTALK_SESSION_LEFT_MS, DINGTALK_SESSION_MAX_MS, DINGTALK_SESSION_URL_BYTES_MAX,
    DINGTALK_SESSIONS_MAX,
};

#[derive(Default)]
pub(super) struct Sessions(Mutex<HashMap<String, SessionWebhook>>);

#[derive(Clone, PartialEq)]
pub(super) struct SessionWebhook {
    pub(super) url: Url,
    until: Timestamp,
    /// The message with which it came, and who wrote it.
    message: String,
    user: Option<String>,
}

/// The address lets its holder write in the conversation: no log shows it.
impl fmt::Debug for SessionWebhook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").field("until", &self.until).finish_non_exhaustive()
    }
}

impl Sessions {
    /// From a message that is for us.
    pub(super) fn keep(
        &self,
        data: &Value,
        wrote: &IncomingMessage,
        settings: &DingTalkSettings,
        now: Timestamp,
    ) {
        let Some(session) = read_session_webhook(data, wrote, settings, now) else { return };
        let mut kept = self.kept();
        if kept.len() >= DINGTALK_SESSIONS_MAX && !kept.contains_key(&wrote.chat) {
            // The one that ends first is of the least use.
            let first = kept.iter().min_by_key(|(_, session)| session.until);
            if let Some(first) = first.map(|(chat, _)| chat.clone()) {
                kept.remove(&first);
            }
        }
        kept.insert(wrote.chat.clone(), session);
    }

    /// One that will still be good when what is sent arrives.
    pub(super) fn live(&self, chat: &str, now: Timestamp) -> Option<SessionWebhook> {
        let needed = now.plus_ms(DINGTALK_SESSION_LEFT_MS);
        self.kept().get(chat).filter(|session| session.until > needed).cloned()
    }

    pub(super) fn forget(&self, chat: &str) {
        self.kept().remove(chat);
    }

    fn kept(&self) -> MutexGuard<'_, HashMap<String, SessionWebhook>> {
        self.0.lock().unpoisoned()
    }
}

impl SessionWebhook {
    /// What the API would be told, in the form that is taken there. The person who is replied to is mentioned.
    pub(super) fn body(&self, message_key: &str, param: &Value, reply_to: Option<&str>) -> Value {
        let called = self.user.iter().filter(|_| reply_to == Some(self.message.as_str()));
        let at = json!({"atUserIds": called.collect::<Vec<_>>(), "isAtAll": false});
        match message_key {
            "sampleMarkdown" => json!({"msgtype": "markdown", "markdown": param, "at": at}),
            _ => json!({"msgtype": "text", "text": param, "at": at}),
        }
    }
}

fn read_session_webhook(
    data: &Value,
    wrote: &IncomingMessage,
    settings: &DingTalkSettings,
    now: Timestamp,
) -> Option<SessionWebhook> {
    // Over HTTP nobody signed the body: it could name a robot of somebody else's, in another group.
    if !matches!(settings.mode, DingTalkMode::Stream) {
        return None;
    }
    let url = data["sessionWebhook"].as_str()?;
    let url = (url.len() <= DINGTALK_SESSION_URL_BYTES_MAX).then(|| Url::parse(url).ok())??;
    let until = &data["sessionWebhookExpiredTime"];
    let until = until.as_i64().or_else(|| until.as_str()?.parse().ok())?;
    is_theirs(&url, settings).then(|| SessionWebhook {
        url,
        until: Timestamp::from_ms(until).min(now.plus_ms(DINGTALK_SESSION_MAX_MS)),
        message: wrote.message.clone(),
        user: wrote.operator.as_ref().map(|operator| operator.identity.clone()),
    })
}

/// Nothing is sent to a place that only a message names.
fn is_theirs(url: &Url, settings: &DingTalkSettings) -> bool {
    let base = &settings.base_url;
    let same = (url.scheme(), url.host_str(), url.port_or_known_default())
        == (base.scheme(), base.host_str(), base.port_or_known_default());
    let listed = url.scheme() == "https"
        && url.port_or_known_default() == Some(443)
        && url.host_str().is_some_and(|host| settings.session_hosts.iter().any(|is| is == host));
    let path = url.path() == "/robot/sendBySession";
    (same || listed) && path && url.username().is_empty() && url.password().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ports::secret_string::SecretString;

    fn settings() -> DingTalkSettings {
        let base = Url::parse("https://api.dingtalk.com").unwrap();
        let mut settings = DingTalkSettings::new("d", "ding1", SecretString::new("s"), base);
        settings.session_hosts = vec!["oapi.dingtalk.com".into()];
        settings
    }

    #[test]
    fn only_dingtalks_own_hosts_are_written_to() {
        let settings = settings();
        let theirs = |url: &str| is_theirs(&Url::parse(url).unwrap(), &settings);
        assert!(theirs("https://oapi.dingtalk.com/robot/sendBySession?session=x"));
        assert!(theirs("https://api.dingtalk.com/robot/sendBySession?session=x"));
        for url in [
            "http://oapi.dingtalk.com/robot/sendBySession",
            "https://oapi.dingtalk.com:8443/robot/sendBySession",
            "https://oapi.dingtalk.com/robot/send?access_token=x",
            "https://oapi.dingtalk.com/robot/sendBySession/../send",
            "https://api.dingtalk.com/x",
            "https://oapi.dingtalk.com.example.org/robot/sendBySession",
            "https://example.org/robot/sendBySession?oapi.dingtalk.com",
            "https://user@oapi.dingtalk.com/robot/sendBySession",
            "http://127.0.0.1/robot/sendBySession",
            "file:///etc/passwd",
        ] {
            assert!(!theirs(url), "{url}");
        }
    }

    #[test]
    fn a_log_does_not_show_the_address() {
        let session = SessionWebhook {
            url: Url::parse("https://oapi.dingtalk.com/robot/sendBySession?session=hush").unwrap(),
            until: Timestamp::from_ms(7),
            message: "m1".into(),
            user: None,
        };
        assert!(!format!("{session:?}").contains("hush"), "{session:?}");
    }
}
