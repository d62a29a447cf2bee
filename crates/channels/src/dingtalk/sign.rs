//! DingTalk's signatures over HTTP. They cover a time and not the body, so they prove less than others:
//! an operator who uses this mode adds a secret path, and takes no yes in words above a low risk.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use domain::time::Timestamp;
use ring::hmac;

use crate::limits::{DINGTALK_WINDOW_MS, SIGNATURE_WINDOW_MS};
use crate::signed::{Headers, SignatureRefusal, digits, is_fresh};

/// A robot's message: `timestamp` and `sign`, good for an hour.
pub fn verify_robot(
    headers: Headers,
    app_secret: &str,
    now: Timestamp,
) -> Result<(), SignatureRefusal> {
    let (timestamp, sign) = (headers.one("timestamp")?, headers.one("sign")?);
    verify(app_secret, &format!("{timestamp}\n{app_secret}"), sign)?;
    is_fresh(digits(timestamp).ok_or(SignatureRefusal::Stale)?, now, DINGTALK_WINDOW_MS)
}

/// A card's callback.
pub fn verify_card(
    headers: Headers,
    api_secret: &str,
    now: Timestamp,
) -> Result<(), SignatureRefusal> {
    let timestamp = headers.one("x-ddpaas-signature-timestamp")?;
    verify(api_secret, timestamp, headers.one("x-ddpaas-signature")?)?;
    is_fresh(digits(timestamp).ok_or(SignatureRefusal::Stale)?, now, SIGNATURE_WINDOW_MS)
}

/// What we send to a custom robot: the value of `sign`, ready for a URL.
pub fn robot_sign(timestamp_ms: i64, secret: &str) -> String {
    let signed = hmac::sign(&key(secret), format!("{timestamp_ms}\n{secret}").as_bytes());
    let text = STANDARD.encode(signed);
    text.replace('+', "%2B").replace('/', "%2F").replace('=', "%3D")
}

fn verify(secret: &str, text: &str, claimed: &str) -> Result<(), SignatureRefusal> {
    let claimed = STANDARD.decode(claimed).map_err(|_| SignatureRefusal::Signature)?;
    // An empty secret is one that everybody knows.
    let known = !secret.is_empty() && hmac::verify(&key(secret), text.as_bytes(), &claimed).is_ok();
    if known { Ok(()) } else { Err(SignatureRefusal::Signature) }
}

fn key(secret: &str) -> hmac::Key {
    hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes())
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn vectors() -> Value {
        serde_json::from_str(include_str!("../../vectors/signatures.json")).unwrap()
    }

    #[test]
    fn the_vectors_come_out() {
        let vectors = vectors();
        let known = &vectors["dingtalk_robot_http_in"];
        let text = |key: &str| known[key].as_str().unwrap();
        let now = Timestamp::from_ms(1_577_262_236_757);
        let headers = [("timestamp", text("timestamp")), ("sign", text("sign"))];
        let verify = |secret, now| verify_robot(Headers(&headers), secret, now);
        assert_eq!(verify(text("appSecret"), now), Ok(()));
        assert_eq!(verify(text("appSecret"), now.plus_ms(3_600_001)), Err(SignatureRefusal::Stale));
        assert_eq!(verify("another", now), Err(SignatureRefusal::Signature));
        assert_eq!(verify("", now), Err(SignatureRefusal::Signature));

        let known = &vectors["dingtalk_custom_robot_out"];
        let secret = known["secret"].as_str().unwrap();
        assert_eq!(
            robot_sign(1_577_262_236_757, secret),
            known["sign_urlencoded"].as_str().unwrap()
        );

        let known = &vectors["dingtalk_card_http_in"];
        let text = |key: &str| known[key].as_str().unwrap();
        let headers =
            ["x-ddpaas-signature-timestamp", "x-ddpaas-signature"].map(|name| (name, text(name)));
        let now = Timestamp::from_ms(1_700_000_000_000);
        assert_eq!(verify_card(Headers(&headers), text("apiSecret"), now), Ok(()));
        let late = now.plus_ms(300_001);
        assert_eq!(
            verify_card(Headers(&headers), text("apiSecret"), late),
            Err(SignatureRefusal::Stale)
        );
        assert_eq!(
            verify_card(Headers(&headers[..1]), text("apiSecret"), now),
            Err(SignatureRefusal::Header("x-ddpaas-signature"))
        );
    }

    #[test]
    fn i34_a_changed_time_or_sign_is_refused() {
        let now = Timestamp::from_ms(1_577_262_236_757);
        let sign = "DJrE6qdyVGCQz9z5r2MDuNcNAhwYnuAkyj13cx169CA=";
        for (timestamp, sign) in [
            ("1577262236758", sign),
            ("1577262236757", "EJrE6qdyVGCQz9z5r2MDuNcNAhwYnuAkyj13cx169CA="),
            ("1577262236757", ""),
            ("1577262236757", "not base64"),
        ] {
            let headers = [("timestamp", timestamp), ("sign", sign)];
            assert_eq!(
                verify_robot(Headers(&headers), "this is a secret", now),
                Err(SignatureRefusal::Signature)
            );
        }
    }
}
