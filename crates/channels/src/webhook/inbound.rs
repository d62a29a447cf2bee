//! Signed webhooks the other way round: a program tells us something, in the form of Standard Webhooks.

use domain::time::Timestamp;

use super::WebhookSecret;
use crate::signed::{Headers, SignatureRefusal, fresh_seconds, within_size};

/// The id under which a repeat is recognised, if the request is signed with one of our keys.
pub fn verify<'a>(
    headers: Headers<'a>,
    body: &[u8],
    secret: &WebhookSecret,
    now: Timestamp,
) -> Result<&'a str, SignatureRefusal> {
    within_size(body)?;
    // mutant: webhook-unsigned-without-a-time
    let (id, timestamp) = (headers.one("webhook-id")?, headers.one("webhook-timestamp")?);
    // The id is signed with a dot behind it; one with a dot in it could be read in two ways.
    if id.is_empty() || id.contains('.') {
        return Err(SignatureRefusal::Header("webhook-id"));
    }
    let claimed = headers.one("webhook-signature")?;
    if !secret.signed(id, timestamp, body, claimed) {
        return Err(SignatureRefusal::Signature);
    }
    fresh_seconds(timestamp, now)?;
    Ok(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The vector that Standard Webhooks publishes.
    const ID: &str = "msg_p5jXN8AQM9LWM0D4loKWxJek";
    const BODY: &[u8] = br#"{"test": 2432232314}"#;
    const SIGNATURE: &str = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";
    const NOW: Timestamp = Timestamp::from_ms(1_614_265_330_000);

    fn check(
        id: &str,
        at: &str,
        body: &[u8],
        signature: &str,
        now: Timestamp,
    ) -> Result<(), SignatureRefusal> {
        let secret =
            WebhookSecret::parse("whsec_bmV3 whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        let headers =
            [("Webhook-Id", id), ("Webhook-Timestamp", at), ("Webhook-Signature", signature)];
        verify(Headers(&headers), body, &secret, now).map(|taken| assert_eq!(taken, id))
    }

    #[test]
    fn i34_the_published_vector_is_taken_and_nothing_near_it() {
        let at = "1614265330";
        assert_eq!(check(ID, at, BODY, SIGNATURE, NOW), Ok(()));
        let several = format!("v2,xyz v1a,{SIGNATURE} v1,AAAA {SIGNATURE}");
        assert_eq!(check(ID, at, BODY, &several, NOW), Ok(()), "one of several is enough");
        assert_eq!(
            check(ID, at, BODY, SIGNATURE, NOW.plus_ms(300_001)),
            Err(SignatureRefusal::Stale)
        );
        // Made by the Python package `standardwebhooks` 1.1.0.
        let answer = r#"{"hold":"hold_1","answer":{"verdict":"approve"},"note":"确认"}"#.as_bytes();
        let theirs = "v1,bnumlyoJLq7bTeMtHAydb+6BGKgl2CKh1jKrKDvxyKg=";
        let then = Timestamp::from_ms(1_700_000_000_000);
        assert_eq!(check("msg_1", "1700000000", answer, theirs, then), Ok(()));
        for (id, at, body, signature) in [
            ("msg_2", at, BODY, SIGNATURE),
            (ID, "1614265331", BODY, SIGNATURE),
            (ID, at, &BODY[1..], SIGNATURE),
            (ID, at, BODY, "v1,"),
            (ID, at, BODY, ""),
            (ID, at, BODY, &SIGNATURE[3..]),
            (ID, at, BODY, "v2,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="),
        ] {
            assert_eq!(
                check(id, at, body, signature, NOW),
                Err(SignatureRefusal::Signature),
                "{signature}"
            );
        }
        assert_eq!(
            check("a.b", at, BODY, SIGNATURE, NOW),
            Err(SignatureRefusal::Header("webhook-id"))
        );
    }

    #[test]
    fn i34_what_lacks_a_header_is_not_taken() {
        let secret = WebhookSecret::parse("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        let all = [
            ("webhook-id", ID),
            ("webhook-timestamp", "1614265330"),
            ("webhook-signature", SIGNATURE),
        ];
        for missing in 0..all.len() {
            let mut headers = all.to_vec();
            let (name, _) = headers.remove(missing);
            let judged = verify(Headers(&headers), BODY, &secret, NOW);
            assert_eq!(judged, Err(SignatureRefusal::Header(name)));
        }
    }
}
