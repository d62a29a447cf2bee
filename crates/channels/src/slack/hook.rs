//! What Slack brings by itself: events and interactions, signed.

use std::sync::Arc;

use ports::channel::{HookReply, Inbox, WebhookRequest};
use reqwest::Url;
use serde_json::Value;

use super::channel::SlackApp;
use super::inbound::SlackAck;
use super::settings::SlackMode;
use super::verify;
use crate::signed::{Headers, SignatureRefusal};
use crate::wire::{accepted, json_reply, refusal_reply, status};

impl SlackApp {
    pub(super) async fn hook(
        self: &Arc<Self>,
        request: &WebhookRequest,
        inbox: &dyn Inbox,
    ) -> HookReply {
        let name = &self.settings.name;
        let SlackMode::Http { signing_secret } = &self.settings.mode else { return status(404) };
        if request.method != "POST" {
            return status(405);
        }
        let headers: Vec<(&str, &str)> =
            request.headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let secret = signing_secret.expose();
        if let Err(why) = verify(Headers(&headers), &request.body, secret, request.at) {
            return refusal_reply(name, why);
        }
        let reply = match request.path.as_str() {
            "events" => {
                let Ok(body) = serde_json::from_slice::<Value>(&request.body) else {
                    return refusal_reply(name, SignatureRefusal::Garbled);
                };
                if body["type"] == "url_verification" {
                    return challenge(&body);
                }
                self.event(&body, inbox).await
            }
            "interactions" => match payload(&request.body) {
                Some(payload) => self.interaction(&payload, inbox).await,
                None => return refusal_reply(name, SignatureRefusal::Garbled),
            },
            _ => return status(404),
        };
        match reply {
            SlackAck::Quietly => accepted(),
            SlackAck::Payload(payload) => json_reply(&payload),
            SlackAck::NotNow => status(503),
            SlackAck::Wrong => status(403),
        }
    }
}

/// Slack asks once whether we are there.
fn challenge(body: &Value) -> HookReply {
    let challenge = body["challenge"].as_str().unwrap_or_default();
    HookReply { status: 200, content_type: "text/plain", body: challenge.as_bytes().to_vec() }
}

/// A form with one field, which is JSON.
pub(super) fn payload(body: &[u8]) -> Option<Value> {
    let mut form = Url::parse("form:").ok()?;
    form.set_query(Some(std::str::from_utf8(body).ok()?));
    let (_, payload) = form.query_pairs().find(|(name, _)| name == "payload")?;
    serde_json::from_str(&payload).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_is_read() {
        let form = b"other=1&payload=%7B%22a%22%3A%22x%2By+%26+%23+%E7%A1%AE%22%7D";
        assert_eq!(payload(form).unwrap()["a"], "x+y & # 确");
        for bad in [&b""[..], b"payload=", b"payload=%7B", b"\xff", b"other=1"] {
            assert_eq!(payload(bad), None);
        }
    }
}
