//! Events of the organisation over HTTP: signed and encrypted, and the acknowledgement too. None of them
//! changes who may answer what, so they are taken and left alone; but an address that does not
//! acknowledge them is switched off by the platform, and with it whatever else is subscribed there.

use ports::channel::WebhookRequest;
use reqwest::Url;
use serde_json::{Value, json};

use super::channel::Dingtalk;
use super::envelope::{Beside, DingTalkEnvelope};
use crate::signed::{SignatureRefusal, within_size};

/// What is said back.
pub(super) fn acknowledged(
    dingtalk: &Dingtalk,
    envelope: &DingTalkEnvelope,
    request: &WebhookRequest,
) -> Result<Value, SignatureRefusal> {
    within_size(&request.body)?;
    let asked = query(request.query.as_deref().unwrap_or_default());
    let of = |name: &str| asked.iter().find(|(is, _)| is == name).map(|(_, value)| value.as_str());
    let beside = Beside {
        timestamp: of("timestamp").ok_or(SignatureRefusal::Signature)?,
        nonce: of("nonce").ok_or(SignatureRefusal::Signature)?,
        // Their documents have both names.
        signature: of("msg_signature")
            .or_else(|| of("signature"))
            .ok_or(SignatureRefusal::Signature)?,
    };
    let body: Value =
        serde_json::from_slice(&request.body).map_err(|_| SignatureRefusal::Garbled)?;
    let encrypted = body["encrypt"].as_str().ok_or(SignatureRefusal::InTheClear)?;
    let plain = envelope.open(encrypted, beside, request.at)?;
    let event: Value = serde_json::from_slice(&plain).map_err(|_| SignatureRefusal::Garbled)?;
    let kind = event["EventType"].as_str().unwrap_or_default();
    let kind = domain::visible::visible(kind);
    tracing::debug!(channel = dingtalk.settings.name, kind, "an event of the organisation");
    let (at, nonce) = (request.at.as_ms().to_string(), beside.nonce);
    let random = dingtalk.rng.bits().to_le_bytes();
    let (encrypted, signature) = envelope.seal(b"success", &at, nonce, random);
    Ok(json!({
        "msg_signature": signature, "encrypt": encrypted, "timeStamp": at, "nonce": nonce,
    }))
}

fn query(text: &str) -> Vec<(String, String)> {
    let Ok(mut url) = Url::parse("query:") else { return Vec::new() };
    url.set_query(Some(text));
    url.query_pairs().into_owned().collect()
}
