//! Our own name before push services: a key pair that is made once and kept by our caller, and what is signed with it (RFC 8292).

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use domain::time::Timestamp;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};
use serde_json::json;

/// The longest that services take is a day.
const GOOD_FOR_S: i64 = 12 * 60 * 60;

/// A new key as text, to be kept secret; `None` where the system has no randomness.
pub fn new_vapid_key() -> Option<String> {
    let random = SystemRandom::new();
    let made = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).ok()?;
    Some(URL_SAFE_NO_PAD.encode(made.as_ref()))
}

pub(super) struct VapidKey {
    pair: EcdsaKeyPair,
    public: String,
}

impl VapidKey {
    pub(super) fn read(text: &str) -> Option<VapidKey> {
        let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
        let random = SystemRandom::new();
        let signing = &ECDSA_P256_SHA256_FIXED_SIGNING;
        let pair = EcdsaKeyPair::from_pkcs8(signing, &bytes, &random).ok()?;
        let public = URL_SAFE_NO_PAD.encode(pair.public_key());
        Some(VapidKey { pair, public })
    }

    /// In base64url.
    pub(super) fn public(&self) -> &str {
        &self.public
    }

    /// The header `Authorization` for a service at this origin.
    pub(super) fn authorization(
        &self,
        origin: &str,
        contact: &str,
        now: Timestamp,
    ) -> Option<String> {
        let until = now.as_ms().div_euclid(1_000) + GOOD_FOR_S;
        let head = json!({"typ": "JWT", "alg": "ES256"}).to_string();
        let claims = json!({"aud": origin, "exp": until, "sub": contact}).to_string();
        let said = [head, claims].map(|part| URL_SAFE_NO_PAD.encode(part)).join(".");
        let signature = self.pair.sign(&SystemRandom::new(), said.as_bytes()).ok()?;
        let token = format!("{said}.{}", URL_SAFE_NO_PAD.encode(signature));
        Some(format!("vapid t={token}, k={}", self.public))
    }
}
