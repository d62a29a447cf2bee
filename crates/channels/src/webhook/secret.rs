//! What signs a delivery: HMAC-SHA-256 over id, time and body, as Standard Webhooks writes it.

use std::fmt;

use base64::Engine as _;
use base64::alphabet;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig, STANDARD};
use ring::hmac;

const PREFIX: &str = "whsec_";

/// People lose the `=` when they copy.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// The keys that one receiver knows: one, or the new and the old while they are being exchanged.
///
/// ```
/// use holdpoint_channels::webhook::WebhookSecret;
/// assert!(WebhookSecret::parse("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").is_ok());
/// assert!(WebhookSecret::parse("whsec_bmV3IGtleQ== whsec_b2xkIGtleQ==").is_ok(), "both sign");
/// assert!(WebhookSecret::parse("any other text, taken byte by byte").is_ok());
/// assert!(WebhookSecret::parse("whsec_?").is_err());
/// ```
#[derive(Clone)]
pub struct WebhookSecret(Vec<hmac::Key>);

/// Says nothing of the value: it may be all but right.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadSecret {
    #[error("the secret is empty")]
    Empty,
    #[error(
        "what follows `whsec_` in the secret must be base64, and every further part must begin with \
         `whsec_` too"
    )]
    NotBase64,
}

impl WebhookSecret {
    pub fn parse(text: &str) -> Result<WebhookSecret, BadSecret> {
        if text.trim().is_empty() {
            return Err(BadSecret::Empty);
        }
        if !text.trim_start().starts_with(PREFIX) {
            return Ok(WebhookSecret(vec![key(text.as_bytes())]));
        }
        let keys = text.split_whitespace().map(|part| {
            let encoded = part.strip_prefix(PREFIX).ok_or(BadSecret::NotBase64)?;
            let bytes = LENIENT.decode(encoded).map_err(|_| BadSecret::NotBase64)?;
            if bytes.is_empty() { Err(BadSecret::Empty) } else { Ok(key(&bytes)) }
        });
        keys.collect::<Result<_, _>>().map(WebhookSecret)
    }

    /// The value of `webhook-signature`: one signature for each key, the first key's first.
    pub(super) fn sign(&self, id: &str, timestamp_s: i64, body: &[u8]) -> String {
        let signatures = self.0.iter().map(|key| {
            let mut context = hmac::Context::with_key(key);
            context.update(format!("{id}.{timestamp_s}.").as_bytes());
            context.update(body);
            format!("v1,{}", STANDARD.encode(context.sign()))
        });
        signatures.collect::<Vec<_>>().join(" ")
    }
}

impl WebhookSecret {
    /// Keys themselves cannot be compared; what they sign can.
    pub(super) fn shares_a_key_with(&self, other: &WebhookSecret) -> bool {
        let signed = |secret: &WebhookSecret| {
            secret.0.iter().map(|key| hmac::sign(key, b"one key?")).collect::<Vec<_>>()
        };
        let (ours, theirs) = (signed(self), signed(other));
        ours.iter().any(|one| theirs.iter().any(|two| one.as_ref() == two.as_ref()))
    }

    /// Whether one of these signatures is by one of these keys. Those of other versions are passed over.
    pub(super) fn signed(&self, id: &str, timestamp: &str, body: &[u8], claimed: &str) -> bool {
        let signed = [format!("{id}.{timestamp}.").as_bytes(), body].concat();
        let claims = claimed.split(' ').filter_map(|claim| claim.strip_prefix("v1,"));
        let mut signatures = claims.filter_map(|claim| STANDARD.decode(claim).ok());
        // In the time that the comparison itself takes, whatever is compared.
        signatures.any(|claim| self.0.iter().any(|key| hmac::verify(key, &signed, &claim).is_ok()))
    }
}

fn key(bytes: &[u8]) -> hmac::Key {
    hmac::Key::new(hmac::HMAC_SHA256, bytes)
}

impl fmt::Debug for WebhookSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(hidden)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The vector that Standard Webhooks publishes.
    const KEY: &str = "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    const ID: &str = "msg_p5jXN8AQM9LWM0D4loKWxJek";
    const TIMESTAMP: i64 = 1_614_265_330;
    const BODY: &[u8] = br#"{"test": 2432232314}"#;
    const SIGNATURE: &str = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";

    #[track_caller]
    fn signed(secret: &str) -> String {
        WebhookSecret::parse(secret).unwrap().sign(ID, TIMESTAMP, BODY)
    }

    #[test]
    fn the_published_vector_comes_out() {
        assert_eq!(signed(&format!("whsec_{KEY}")), SIGNATURE);
        assert_eq!(signed(&format!(" whsec_{KEY}\n")), SIGNATURE, "as a file or a shell leaves it");
    }

    #[test]
    fn the_prefix_tells_encoded_keys_from_raw_ones() {
        assert_ne!(signed(KEY), SIGNATURE, "without the prefix the text itself is the key");
        assert_eq!(signed("a raw key"), signed("whsec_YSByYXcga2V5"));
        assert_eq!(signed("whsec_YQ"), signed("whsec_YQ=="), "padding may be missing");
    }

    #[test]
    fn every_part_is_signed() {
        let secret = WebhookSecret::parse("k").unwrap();
        let base = secret.sign(ID, TIMESTAMP, BODY);
        assert_ne!(base, secret.sign("msg_other", TIMESTAMP, BODY));
        assert_ne!(base, secret.sign(ID, TIMESTAMP + 1, BODY));
        assert_ne!(base, secret.sign(ID, TIMESTAMP, br#"{"test": 2432232315}"#));
        assert_ne!(base, WebhookSecret::parse("l").unwrap().sign(ID, TIMESTAMP, BODY));
    }

    #[test]
    fn while_keys_are_exchanged_both_sign() {
        let both = signed(&format!("whsec_bmV3 whsec_{KEY}"));
        assert_eq!(both, format!("{} {SIGNATURE}", signed("whsec_bmV3")));
    }

    #[test]
    fn a_key_is_known_again_in_every_spelling() {
        let of = |text: &str| WebhookSecret::parse(text).unwrap();
        assert!(of("whsec_YQ==").shares_a_key_with(&of("a")));
        assert!(of("whsec_bmV3 whsec_YQ").shares_a_key_with(&of("whsec_b2xk whsec_YQ==")));
        assert!(!of("whsec_bmV3").shares_a_key_with(&of("whsec_b2xk")));
    }

    #[test]
    fn a_secret_that_cannot_sign_is_refused_without_being_told() {
        for (text, why) in [
            ("", BadSecret::Empty),
            (" \n", BadSecret::Empty),
            ("whsec_", BadSecret::Empty),
            ("whsec_hunter2!", BadSecret::NotBase64),
            ("whsec_aGk= hunter2", BadSecret::NotBase64),
        ] {
            let refused = WebhookSecret::parse(text).unwrap_err();
            assert_eq!(refused, why, "{text}");
            assert!(!refused.to_string().contains("hunter2"));
        }
    }

    #[test]
    fn i45_debug_never_prints_a_key() {
        let printed = format!("{:?}", WebhookSecret::parse("hunter2").unwrap());
        assert_eq!(printed, "Secret(hidden)");
    }
}
