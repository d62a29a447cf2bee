//! One message, so that its browser alone can read it: `aes128gcm` of RFC 8188 with the keys of RFC 8291, in one record.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ports::push::{BadPushTarget, PushTarget};
use ring::aead::{AES_128_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use ring::agreement::{ECDH_P256, EphemeralPrivateKey, UnparsedPublicKey, agree_ephemeral};
use ring::hkdf::{HKDF_SHA256, KeyType, Salt};
use ring::rand::{SecureRandom as _, SystemRandom};

/// A point on P-256, uncompressed.
pub(super) const POINT_BYTES: usize = 65;
const UNCOMPRESSED: u8 = 4;
const AUTH_BYTES: usize = 16;
const SALT_BYTES: usize = 16;
/// Push services take 4096 bytes; ours are a tenth of that.
const RECORD_BYTES: u32 = 4096;
/// The only record, and so the last one.
const LAST_RECORD: u8 = 2;
/// Lengths are rounded up to this, so that they tell a push service nothing.
const STEP_BYTES: usize = 256;

/// What a browser encrypts with.
#[derive(Debug)]
pub(super) struct BrowserKeys {
    point: [u8; POINT_BYTES],
    auth: [u8; AUTH_BYTES],
}

impl BrowserKeys {
    pub(super) fn of(target: &PushTarget) -> Result<BrowserKeys, BadPushTarget> {
        let bad = |field, why: &str| BadPushTarget { field, why: why.to_owned() };
        let decoded = |text: &str| URL_SAFE_NO_PAD.decode(text.trim_end_matches('=')).ok();
        let point = decoded(&target.p256dh).and_then(|bytes| bytes.try_into().ok());
        let point = point.filter(|point: &[u8; POINT_BYTES]| point[0] == UNCOMPRESSED);
        let Some(point) = point else {
            return Err(bad("keys.p256dh", "send the browser's key: 65 bytes in base64url"));
        };
        let auth = decoded(&target.auth).and_then(|bytes| bytes.try_into().ok());
        let Some(auth) = auth else {
            return Err(bad("keys.auth", "send the browser's secret: 16 bytes in base64url"));
        };
        let keys = BrowserKeys { point, auth };
        // A point that is not on the curve is refused by the agreement.
        match keys.seal(b"") {
            Some(_) => Ok(keys),
            None => Err(bad("keys.p256dh", "the browser's key is no point on P-256")),
        }
    }

    /// The whole body; `None` only for a key that is none.
    pub(super) fn seal(&self, message: &[u8]) -> Option<Vec<u8>> {
        let random = SystemRandom::new();
        let mut salt = [0; SALT_BYTES];
        random.fill(&mut salt).ok()?;
        let ours = EphemeralPrivateKey::generate(&ECDH_P256, &random).ok()?;
        let our_point = ours.compute_public_key().ok()?;
        let info = [b"WebPush: info\0", &self.point[..], our_point.as_ref()].concat();
        let theirs = UnparsedPublicKey::new(&ECDH_P256, self.point);
        let keying =
            agree_ephemeral(ours, &theirs, |shared| expanded::<32>(&self.auth, shared, &info));
        let keying = keying.ok()??;
        let key = expanded::<16>(&salt, &keying, b"Content-Encoding: aes128gcm\0")?;
        let nonce = expanded::<12>(&salt, &keying, b"Content-Encoding: nonce\0")?;

        let mut record = message.to_vec();
        record.push(LAST_RECORD);
        record.resize(record.len().next_multiple_of(STEP_BYTES), 0);
        let sealer = LessSafeKey::new(UnboundKey::new(&AES_128_GCM, &key).ok()?);
        let nonce = Nonce::assume_unique_for_key(nonce);
        sealer.seal_in_place_append_tag(nonce, Aad::empty(), &mut record).ok()?;

        let mut body = salt.to_vec();
        body.extend(RECORD_BYTES.to_be_bytes());
        body.push(POINT_BYTES as u8);
        body.extend(our_point.as_ref());
        body.extend(record);
        Some(body)
    }
}

struct Length(usize);

impl KeyType for Length {
    fn len(&self) -> usize {
        self.0
    }
}

fn expanded<const N: usize>(salt: &[u8], secret: &[u8], info: &[u8]) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    let extracted = Salt::new(HKDF_SHA256, salt).extract(secret);
    extracted.expand(&[info], Length(N)).ok()?.fill(&mut bytes).ok()?;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The browser's key of RFC 8291, appendix A.
    fn target() -> PushTarget {
        PushTarget {
            endpoint: "https://push.example/1".into(),
            p256dh: "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4".into(),
            auth: "BTBZMqHH6r4Tts7J_aSIgg".into(),
        }
    }

    #[test]
    fn a_body_says_its_key_and_hides_its_length_and_itself() {
        let keys = BrowserKeys::of(&target()).unwrap();
        let (one, other) = (keys.seal(b"short").unwrap(), keys.seal(&[b'x'; 200]).unwrap());
        assert_eq!(one.len(), other.len());
        assert_eq!(one[16..21], [0, 0, 16, 0, 65], "one record of 4096 bytes, and a key");
        assert_ne!(one, keys.seal(b"short").unwrap(), "no two have a salt or a key in common");
        assert!(!one.windows(5).any(|part| part == b"short"));
        assert!(keys.seal(&[b'x'; 1_500]).unwrap().len() < 4096);
    }

    #[test]
    fn keys_that_are_none_are_refused_by_name() {
        let long = "A".repeat(10_000);
        for (p256dh, auth, field) in [
            ("", "BTBZMqHH6r4Tts7J_aSIgg", "keys.p256dh"),
            ("not base64!", "BTBZMqHH6r4Tts7J_aSIgg", "keys.p256dh"),
            (&long, "BTBZMqHH6r4Tts7J_aSIgg", "keys.p256dh"),
            // 65 bytes, and not on the curve.
            (&format!("BA{}", "A".repeat(85)), "BTBZMqHH6r4Tts7J_aSIgg", "keys.p256dh"),
            (&target().p256dh, "", "keys.auth"),
            (&target().p256dh, "BTBZMqHH6r4Tts7J_aSI", "keys.auth"),
            (&target().p256dh, &long, "keys.auth"),
        ] {
            let bad = PushTarget { p256dh: p256dh.into(), auth: auth.into(), ..target() };
            assert_eq!(BrowserKeys::of(&bad).unwrap_err().field, field, "{p256dh}");
        }
    }
}
