//! The webhook: challenge, signature, encryption, and the reply that a press waits for.

use ports::channel::{HookReply, Inbox, WebhookRequest};
use serde_json::{Value, json};

use super::channel::{EventOutcome, Feishu};
use super::webhook::Arrival;
use crate::signed::{Headers, SignatureRefusal};

pub(super) async fn hook(feishu: &Feishu, request: WebhookRequest, inbox: &dyn Inbox) -> HookReply {
    if request.path.trim_matches('/') != "events" {
        return reply(404, json!({}));
    }
    if request.method != "POST" {
        return reply(405, json!({}));
    }
    let headers: Vec<(&str, &str)> =
        request.headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let app = feishu.settings.app();
    match app.open(Headers(&headers), &request.body, request.at) {
        Ok(Arrival::Challenge(challenge)) => reply(200, json!({"challenge": challenge})),
        Ok(Arrival::Event { event, request: name }) => {
            if name.as_ref().is_some_and(|name| !feishu.replays.is_new(name, request.at)) {
                tracing::warn!(channel = feishu.settings.name, "a request came a second time");
                return reply(401, json!({}));
            }
            // A press is not cut short at the platform's deadline: the answer would be lost with it.
            // The person who pressed sees an error of the platform then, and the card a moment later.
            match feishu.take(&event, inbox).await {
                EventOutcome::Ack => reply(200, json!({})),
                EventOutcome::Reply(told) => reply(200, told),
                EventOutcome::Redeliver => {
                    if let Some(name) = name {
                        feishu.replays.forget(&name);
                    }
                    reply(503, json!({}))
                }
            }
        }
        Err(refused) => {
            tracing::warn!(channel = feishu.settings.name, "a request is refused: {refused}");
            reply(status(refused), json!({}))
        }
    }
}

/// Outside, only that it was refused.
fn status(refused: SignatureRefusal) -> u16 {
    match refused {
        SignatureRefusal::TooLarge => 413,
        SignatureRefusal::Garbled => 400,
        SignatureRefusal::Header(_)
        | SignatureRefusal::Stale
        | SignatureRefusal::Signature
        | SignatureRefusal::InTheClear
        | SignatureRefusal::Cipher
        | SignatureRefusal::WrongApp => 401,
    }
}

fn reply(status: u16, body: Value) -> HookReply {
    HookReply { status, content_type: "application/json", body: body.to_string().into_bytes() }
}
