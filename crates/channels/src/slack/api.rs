//! Slack's Web API: one method, one answer, and what it means.

use std::sync::Arc;
use std::time::Duration;

use domain::visible::visible;
use ports::channel::ChannelError;
use ports::clock::Clock;
use ports::secret_string::SecretString;
use reqwest::{Method, Url};
use serde_json::Value;

use crate::limits::REST_WITHIN;
use crate::wire::{self, Request, Rest, RestReply};

pub(super) struct SlackApi {
    rest: Rest,
    base: Url,
}

#[derive(Debug)]
pub(super) enum SlackFailure {
    NoAnswer(wire::RestFailure),
    /// Too much at once.
    Wait {
        after: Option<Duration>,
        why: String,
    },
    /// The platform has trouble of its own, and does not say what became of it.
    Trouble(String),
    Refused(SlackRefusal),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SlackRefusal {
    /// A word, such as `channel_not_found`.
    pub(super) error: String,
    /// The permission that was missing.
    needed: Option<String>,
}

impl SlackApi {
    pub(super) fn new(base: &Url, clock: &Arc<dyn Clock>) -> SlackApi {
        SlackApi { rest: Rest::new(clock.clone(), REST_WITHIN), base: base.clone() }
    }

    pub(super) async fn call(
        &self,
        token: &SecretString,
        method: &str,
        body: &Value,
    ) -> Result<Value, SlackFailure> {
        read_reply(&self.raw(token, method, body).await.map_err(SlackFailure::NoAnswer)?)
    }

    /// With everything that stands around the answer.
    pub(super) async fn raw(
        &self,
        token: &SecretString,
        method: &str,
        body: &Value,
    ) -> Result<RestReply, wire::RestFailure> {
        self.ask(token, Method::POST, self.url(method), Some(body)).await
    }

    /// A look. Those methods take no JSON.
    pub(super) async fn look(
        &self,
        token: &SecretString,
        method: &str,
        query: &[(&str, &str)],
    ) -> Result<Value, SlackFailure> {
        let mut url = self.url(method);
        url.query_pairs_mut().extend_pairs(query);
        read_reply(&self.ask(token, Method::GET, url, None).await.map_err(SlackFailure::NoAnswer)?)
    }

    async fn ask(
        &self,
        token: &SecretString,
        method: Method,
        url: Url,
        body: Option<&Value>,
    ) -> Result<RestReply, wire::RestFailure> {
        let bearer = format!("Bearer {}", token.expose());
        let headers = vec![("authorization", bearer.as_str())];
        self.rest.ask(Request { method, url, headers, body }).await
    }

    fn url(&self, method: &str) -> Url {
        let mut url = self.base.clone();
        url.set_path(&format!("{}/{method}", url.path().trim_end_matches('/')));
        url
    }
}

pub(super) fn read_reply(answer: &RestReply) -> Result<Value, SlackFailure> {
    if answer.status == 429 {
        let why = "Slack wants fewer requests".into();
        return Err(SlackFailure::Wait { after: answer.seconds("retry-after"), why });
    }
    let garbled =
        || SlackFailure::Trouble(format!("Slack answered {} and no sense", answer.status));
    let told = answer.json().ok_or_else(garbled)?;
    if told["ok"] == true && answer.status < 300 {
        return Ok(told);
    }
    let error = told["error"].as_str().filter(|_| told["ok"] == false).ok_or_else(garbled)?;
    let error = visible(error);
    match error.as_str() {
        "ratelimited" | "rate_limited" => {
            Err(SlackFailure::Wait { after: answer.seconds("retry-after"), why: error })
        }
        "internal_error" | "fatal_error" | "service_unavailable" | "request_timeout" => {
            Err(SlackFailure::Trouble(format!("Slack has trouble: {error}")))
        }
        _ => Err(SlackFailure::Refused(SlackRefusal {
            error,
            needed: told["needed"].as_str().map(visible),
        })),
    }
}

impl SlackFailure {
    /// Of a message that must not be sent twice.
    pub(super) fn sending(self) -> ChannelError {
        match self {
            SlackFailure::NoAnswer(failed) => failed.sending(),
            SlackFailure::Wait { after, why } => ChannelError::Again { after, why },
            SlackFailure::Trouble(why) => ChannelError::Unknown(why),
            SlackFailure::Refused(refusal) => ChannelError::Never(refusal.to_string()),
        }
    }

    /// Of an update, which is the same when it is made twice.
    pub(super) fn painting(self) -> ChannelError {
        match self {
            SlackFailure::NoAnswer(failed) => failed.painting(),
            SlackFailure::Wait { after, why } => ChannelError::Again { after, why },
            SlackFailure::Trouble(why) => ChannelError::Again { after: None, why },
            SlackFailure::Refused(refusal) if refusal.is_about_the_message() => {
                ChannelError::Gone(refusal.error)
            }
            SlackFailure::Refused(refusal) => ChannelError::Never(refusal.to_string()),
        }
    }
}

impl SlackRefusal {
    fn is_about_the_message(&self) -> bool {
        ["message_not_found", "cant_update_message", "edit_window_closed", "is_inactive"]
            .contains(&self.error.as_str())
    }
}

impl std::fmt::Display for SlackRefusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Slack answered `{}`", self.error)?;
        match (self.error.as_str(), &self.needed) {
            ("missing_scope", Some(needed)) => write!(
                f,
                "; add the scope `{needed}` under OAuth & Permissions and install the app again"
            ),
            ("not_in_channel" | "channel_not_found", _) => {
                f.write_str("; invite the app to that channel, and write its id (`C…`)")
            }
            (
                "invalid_auth"
                | "not_authed"
                | "account_inactive"
                | "token_revoked"
                | "token_expired"
                | "not_allowed_token_type",
                _,
            ) => f.write_str("; is the token the app's own, and is the app still installed?"),
            _ => Ok(()),
        }
    }
}

impl std::fmt::Display for SlackFailure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            SlackFailure::NoAnswer(failed) => failed.fmt(f),
            SlackFailure::Wait { why, .. } | SlackFailure::Trouble(why) => f.write_str(why),
            SlackFailure::Refused(refusal) => refusal.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(status: u16, body: &str) -> SlackFailure {
        read_reply(&RestReply::new(status, body.as_bytes())).unwrap_err()
    }

    #[test]
    fn every_answer_has_its_remedy() {
        assert!(read_reply(&RestReply::new(200, br#"{"ok":true}"#)).is_ok());
        for body in [r#"{"ok":false,"error":"ratelimited"}"#, "x"] {
            let status = if body == "x" { 429 } else { 200 };
            let again = failed(status, body).sending();
            assert!(matches!(again, ChannelError::Again { .. }), "{again}");
        }
        for (status, body) in [
            (200, r#"{"ok":false,"error":"internal_error"}"#),
            (500, "<html>"),
            (200, "{}"),
            (200, r#"{"ok":false}"#),
            (503, r#"{"ok":true}"#),
        ] {
            assert!(matches!(failed(status, body).sending(), ChannelError::Unknown(_)), "{body}");
            let painting = failed(status, body).painting();
            assert!(matches!(painting, ChannelError::Again { .. }), "{body}");
        }
        let scope = r#"{"ok":false,"error":"missing_scope","needed":"chat:write"}"#;
        let told = failed(200, scope).sending();
        assert!(
            matches!(&told, ChannelError::Never(why) if why.contains("`chat:write`")),
            "{told}"
        );
        let gone = failed(200, r#"{"ok":false,"error":"message_not_found"}"#).painting();
        assert_eq!(gone, ChannelError::Gone("message_not_found".into()));
    }
}
