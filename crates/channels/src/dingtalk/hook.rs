//! HTTP mode. The platform signs a time and not what it says, so the address is a secret too, and what
//! is old is not taken.

use ports::channel::{HookReply, Inbox, WebhookRequest};
use ring::digest::{SHA256, digest};
use serde_json::{Value, json};

use super::channel::{Dingtalk, DingtalkEventOutcome};
use super::event::acknowledged;
use super::gesture::written_at_ms;
use super::settings::{DingTalkMode, Webhook};
use super::sign::{verify_card, verify_robot};
use crate::limits::SIGNATURE_WINDOW_MS;
use crate::signed::{Headers, SignatureRefusal, hex, is_fresh, same, within_size};

pub(super) async fn hook(
    dingtalk: &Dingtalk,
    request: WebhookRequest,
    inbox: &dyn Inbox,
) -> HookReply {
    let DingTalkMode::Webhook(webhook) = &dingtalk.settings.mode else {
        return reply(404, json!({}));
    };
    // A wrong address is an address that is not there.
    let Some(what) = what(webhook, &request.path) else { return reply(404, json!({})) };
    if !welcome(webhook, &request) {
        let (channel, peer) = (&dingtalk.settings.name, request.peer());
        tracing::warn!(channel, ?peer, "a request from an address that `allow_from` does not name");
        return reply(404, json!({}));
    }
    if request.method != "POST" {
        return reply(405, json!({}));
    }
    let heard = match (what, &webhook.events) {
        (What::Event, Some(envelope)) => {
            acknowledged(dingtalk, envelope, &request).map(DingtalkEventOutcome::Reply)
        }
        (What::Event, None) => return reply(404, json!({})),
        (What::Robot | What::Card, _) => match opened(dingtalk, webhook, what, &request) {
            Ok(data) if matches!(what, What::Robot) => Ok(dingtalk.message(&data, inbox).await),
            Ok(data) => Ok(dingtalk.press(&data, named(&request), inbox).await),
            Err(refused) => Err(refused),
        },
    };
    match heard {
        Ok(DingtalkEventOutcome::Ack) => reply(200, json!({})),
        Ok(DingtalkEventOutcome::Reply(told)) => reply(200, told),
        Ok(DingtalkEventOutcome::Redeliver) => reply(503, json!({})),
        Err(refused) => {
            tracing::warn!(channel = dingtalk.settings.name, "a request is refused: {refused}");
            let status = match refused {
                SignatureRefusal::TooLarge => 413,
                SignatureRefusal::Garbled => 400,
                _ => 401,
            };
            reply(status, json!({}))
        }
    }
}

#[derive(Clone, Copy)]
enum What {
    Robot,
    Card,
    Event,
}

/// Whether it comes from where they call from. Who is behind a proxy is known if the proxy is trusted.
fn welcome(webhook: &Webhook, request: &WebhookRequest) -> bool {
    let known = || {
        let peer = request.peer();
        peer.is_some_and(|peer| webhook.allow_from.iter().any(|network| network.contains(peer)))
    };
    webhook.allow_from.is_empty() || known()
}

/// `robot/SECRET`, `card/SECRET` and `event/SECRET`.
fn what(webhook: &Webhook, path: &str) -> Option<What> {
    let (what, secret) = path.trim_matches('/').split_once('/')?;
    let ours = webhook.path_secret.expose();
    let known = !ours.is_empty() && same(secret.as_bytes(), ours.as_bytes());
    match what {
        "robot" if known => Some(What::Robot),
        "card" if known => Some(What::Card),
        "event" if known => Some(What::Event),
        _ => None,
    }
}

fn opened(
    dingtalk: &Dingtalk,
    webhook: &Webhook,
    what: What,
    request: &WebhookRequest,
) -> Result<Value, SignatureRefusal> {
    within_size(&request.body)?;
    let headers: Vec<(&str, &str)> =
        request.headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let headers = Headers(&headers);
    match what {
        What::Robot => {
            verify_robot(headers, dingtalk.settings.client_secret.expose(), request.at)?;
        }
        What::Card => {
            let secret = webhook.card_secret.as_ref().ok_or(SignatureRefusal::Signature)?;
            verify_card(headers, secret.expose(), request.at)?;
        }
        // Signed and sealed in its own way.
        What::Event => return Err(SignatureRefusal::Garbled),
    }
    let data: Value =
        serde_json::from_slice(&request.body).map_err(|_| SignatureRefusal::Garbled)?;
    if let What::Robot = what {
        // A signature is good for an hour; what it stands beside must be new.
        let at = written_at_ms(&data).ok_or(SignatureRefusal::Garbled)?;
        is_fresh(at, request.at, SIGNATURE_WINDOW_MS)?;
    }
    Ok(data)
}

/// A press has no name here; the same request again is the same press.
fn named(request: &WebhookRequest) -> String {
    let at = request.headers.iter().find(|(name, _)| name == "x-ddpaas-signature-timestamp");
    let at = at.map(|(_, at)| at.as_str()).unwrap_or_default();
    let whole = [at.as_bytes(), b"\n", &request.body].concat();
    format!("dingtalk:press:{}", &hex(digest(&SHA256, &whole).as_ref())[..40])
}

fn reply(status: u16, body: Value) -> HookReply {
    HookReply { status, content_type: "application/json", body: body.to_string().into_bytes() }
}
