//! Events of an organisation over HTTP: encrypted and signed, and answered in the same way. WeCom does
//! it alike.

use std::fmt;

use base64::Engine as _;
use base64::alphabet::STANDARD as ALPHABET;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig, STANDARD};
use domain::time::Timestamp;
use ring::digest::{SHA1_FOR_LEGACY_USE_ONLY, digest};

use crate::limits::SIGNATURE_WINDOW_MS;
use crate::signed::{SignatureRefusal, decrypt, digits, encrypt, hex, is_fresh, same, within_size};

/// Keys of 43 characters do not end on a whole byte; the platforms make them so.
const KEYS: GeneralPurpose = GeneralPurpose::new(
    &ALPHABET,
    GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true),
);

#[derive(Clone)]
pub struct DingTalkEnvelope {
    token: String,
    key: [u8; 32],
    /// Whom it is for: the app's key.
    receiver: String,
}

/// What stands beside an encrypted text.
#[derive(Clone, Copy, Debug)]
pub struct Beside<'a> {
    pub timestamp: &'a str,
    pub nonce: &'a str,
    pub signature: &'a str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the key for encryption must have 43 letters and digits, as the console shows it")]
pub struct BadKey;

impl fmt::Debug for DingTalkEnvelope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Envelope(for {})", self.receiver)
    }
}

/// WeCom counts seconds here and DingTalk milliseconds. Taken for the other, either is centuries away.
fn moment(text: &str) -> Option<i64> {
    let number = digits(text)?;
    if text.len() <= 10 { number.checked_mul(1000) } else { Some(number) }
}

impl DingTalkEnvelope {
    pub fn new(token: &str, encoded_key: &str, receiver: &str) -> Result<DingTalkEnvelope, BadKey> {
        let bytes = KEYS.decode(format!("{encoded_key}=")).map_err(|_| BadKey)?;
        let key = bytes.try_into().map_err(|_| BadKey)?;
        Ok(DingTalkEnvelope { token: token.into(), key, receiver: receiver.into() })
    }

    pub fn open(
        &self,
        encrypted: &str,
        beside: Beside,
        now: Timestamp,
    ) -> Result<Vec<u8>, SignatureRefusal> {
        within_size(encrypted.as_bytes())?;
        let ours = self.signature(beside.timestamp, beside.nonce, encrypted);
        if !same(ours.as_bytes(), beside.signature.as_bytes()) {
            return Err(SignatureRefusal::Signature);
        }
        is_fresh(
            moment(beside.timestamp).ok_or(SignatureRefusal::Stale)?,
            now,
            SIGNATURE_WINDOW_MS,
        )?;
        let cipher = STANDARD.decode(encrypted).map_err(|_| SignatureRefusal::Cipher)?;
        let plain = decrypt(&self.key, self.iv(), &cipher, 32)?;
        // Sixteen random bytes, a length, the text, and whom it is for.
        let rest = plain.get(16..).ok_or(SignatureRefusal::Cipher)?;
        let (length, rest) = rest.split_first_chunk::<4>().ok_or(SignatureRefusal::Cipher)?;
        let length =
            usize::try_from(u32::from_be_bytes(*length)).map_err(|_| SignatureRefusal::Cipher)?;
        let (text, receiver) = rest.split_at_checked(length).ok_or(SignatureRefusal::Cipher)?;
        if receiver == self.receiver.as_bytes() {
            Ok(text.to_vec())
        } else {
            Err(SignatureRefusal::WrongApp)
        }
    }

    /// The encrypted text of an answer and its signature, with fresh random bytes.
    pub fn seal(
        &self,
        text: &[u8],
        timestamp: &str,
        nonce: &str,
        random: [u8; 16],
    ) -> (String, String) {
        let length = u32::try_from(text.len()).unwrap_or(u32::MAX).to_be_bytes();
        let plain = [&random[..], &length, text, self.receiver.as_bytes()].concat();
        let encrypted = STANDARD.encode(encrypt(&self.key, self.iv(), &plain, 32));
        let signature = self.signature(timestamp, nonce, &encrypted);
        (encrypted, signature)
    }

    fn iv(&self) -> &[u8; 16] {
        let (iv, _) = self.key.split_at(16);
        iv.first_chunk().expect("half of the key is sixteen bytes")
    }

    /// SHA-1 over the four in order. What is old here is the platform's choice; the encryption and the
    /// receiver inside must be right too.
    fn signature(&self, timestamp: &str, nonce: &str, encrypted: &str) -> String {
        let mut parts = [self.token.as_str(), timestamp, nonce, encrypted];
        parts.sort_unstable();
        hex(digest(&SHA1_FOR_LEGACY_USE_ONLY, parts.concat().as_bytes()).as_ref())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    const NOW: Timestamp = Timestamp::from_ms(1_700_000_000_000);

    #[test]
    fn the_vector_comes_out_and_nothing_near_it() {
        let vectors: Value =
            serde_json::from_str(include_str!("../../vectors/signatures.json")).unwrap();
        let known = &vectors["wecom_and_dingtalk_http_event"];
        let text = |key: &str| known[key].as_str().unwrap();
        let envelope = |receiver| {
            DingTalkEnvelope::new(text("token"), text("encodingAESKey"), receiver).unwrap()
        };
        let ours = envelope(text("receive_id"));
        let beside = Beside {
            timestamp: text("timestamp"),
            nonce: text("nonce"),
            signature: text("msg_signature"),
        };
        assert_eq!(ours.open(text("encrypt"), beside, NOW), Ok(text("plain").as_bytes().to_vec()));
        assert_eq!(
            envelope("ww9").open(text("encrypt"), beside, NOW),
            Err(SignatureRefusal::WrongApp)
        );
        let late = NOW.plus_ms(300_001);
        assert_eq!(ours.open(text("encrypt"), beside, late), Err(SignatureRefusal::Stale));
        let (encrypted, signature) =
            ours.seal(text("plain").as_bytes(), "1700000000000", "n", [7; 16]);
        let in_ms = Beside { timestamp: "1700000000000", nonce: "n", signature: &signature };
        assert_eq!(ours.open(&encrypted, in_ms, NOW), Ok(text("plain").as_bytes().to_vec()));
        assert_eq!(ours.open(&encrypted, in_ms, late), Err(SignatureRefusal::Stale));
        assert!(!format!("{ours:?}").contains("tok"), "{ours:?}");
        let forged = Beside { nonce: "nonce2", ..beside };
        assert_eq!(ours.open(text("encrypt"), forged, NOW), Err(SignatureRefusal::Signature));
    }

    #[test]
    fn what_is_sealed_is_opened() {
        let envelope = DingTalkEnvelope::new("tok", &"A".repeat(43), "app").unwrap();
        let (encrypted, signature) = envelope.seal(b"success", "1700000000", "n", [9; 16]);
        let beside = Beside { timestamp: "1700000000", nonce: "n", signature: &signature };
        assert_eq!(envelope.open(&encrypted, beside, NOW), Ok(b"success".to_vec()));
    }

    #[test]
    fn a_key_has_its_length() {
        for key in ["", "short", &"A".repeat(42), &"A".repeat(44), &"!".repeat(43)] {
            assert_eq!(DingTalkEnvelope::new("t", key, "a").err(), Some(BadKey), "{key}");
        }
    }
}
