//! Slack's signature over HTTP.

use domain::time::Timestamp;
use ring::hmac;

use crate::signed::{Headers, SignatureRefusal, fresh_seconds, hex, same, within_size};

/// `v0=` and hex of HMAC-SHA-256 over version, time and the raw body.
pub fn verify(
    headers: Headers,
    body: &[u8],
    secret: &str,
    now: Timestamp,
) -> Result<(), SignatureRefusal> {
    within_size(body)?;
    // mutant: slack-unsigned-without-a-time
    let timestamp = headers.one("x-slack-request-timestamp")?;
    let claimed = headers.one("x-slack-signature")?;
    // An empty secret is one that everybody knows.
    if secret.is_empty() || !same(sign(timestamp, body, secret).as_bytes(), claimed.as_bytes()) {
        return Err(SignatureRefusal::Signature);
    }
    fresh_seconds(timestamp, now)
}

fn sign(timestamp: &str, body: &[u8], secret: &str) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
    let mut context = hmac::Context::with_key(&key);
    context.update(format!("v0:{timestamp}:").as_bytes());
    context.update(body);
    format!("v0={}", hex(context.sign().as_ref()))
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn i34_the_published_request_is_taken_and_nothing_near_it() {
        let vectors: Value =
            serde_json::from_str(include_str!("../../vectors/signatures.json")).unwrap();
        let known = &vectors["slack_doc"];
        let text = |key: &str| known[key].as_str().unwrap();
        let now = Timestamp::from_ms(1_531_420_618_000);
        let check = |timestamp: &str, body: &str, signature: &str, secret: &str, now| {
            let headers =
                [("X-Slack-Request-Timestamp", timestamp), ("X-Slack-Signature", signature)];
            verify(Headers(&headers), body.as_bytes(), secret, now)
        };
        let (at, body, signature, secret) =
            (text("timestamp"), text("body"), text("signature"), text("signing_secret"));
        assert_eq!(check(at, body, signature, secret, now), Ok(()));
        assert_eq!(check(at, body, signature, secret, now.plus_ms(300_000)), Ok(()));
        assert_eq!(
            check(at, body, signature, secret, now.plus_ms(300_001)),
            Err(SignatureRefusal::Stale)
        );
        for (at, body, signature, secret) in [
            ("1531420619", body, signature, secret),
            (at, &body[1..], signature, secret),
            (at, body, &signature.to_uppercase(), secret),
            (at, body, &signature[3..], secret),
            (at, body, "", secret),
            (at, body, signature, "another"),
            (at, body, signature, ""),
        ] {
            assert_eq!(check(at, body, signature, secret, now), Err(SignatureRefusal::Signature));
        }
        assert!(matches!(verify(Headers(&[]), b"", "s", now), Err(SignatureRefusal::Header(_))));
    }
}
