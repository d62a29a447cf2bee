//! The key that signs checkpoints.

use std::fmt;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::rand::SystemRandom;
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair as _, UnparsedPublicKey};

use crate::hash::Hash;

/// Signs checkpoints. The server's; verifiers have the [`PublicKey`].
pub struct Signer {
    pair: Ed25519KeyPair,
    public: PublicKey,
}

impl Signer {
    /// A new key, and its PKCS#8 form to keep where only the server reads it.
    pub fn create() -> Result<(Signer, Vec<u8>), BadKey> {
        let pkcs8 = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new())
            .map_err(|_| BadKey::NoRandomness)?;
        Ok((Signer::load(pkcs8.as_ref())?, pkcs8.as_ref().to_vec()))
    }

    pub fn load(pkcs8: &[u8]) -> Result<Signer, BadKey> {
        Ed25519KeyPair::from_pkcs8(pkcs8).map(Signer::new).map_err(|_| BadKey::NotASigningKey)
    }

    /// The same key for the same seed: for simulations that must repeat.
    pub fn from_seed(seed: &[u8; 32]) -> Result<Signer, BadKey> {
        Ed25519KeyPair::from_seed_unchecked(seed)
            .map(Signer::new)
            .map_err(|_| BadKey::NotASigningKey)
    }

    fn new(pair: Ed25519KeyPair) -> Signer {
        let mut bytes = [0; 32];
        bytes.copy_from_slice(pair.public_key().as_ref());
        Signer { pair, public: PublicKey(bytes) }
    }

    pub fn public_key(&self) -> PublicKey {
        self.public
    }

    pub(crate) fn sign(&self, message: &[u8]) -> Signature {
        let mut bytes = [0; 64];
        bytes.copy_from_slice(self.pair.sign(message).as_ref());
        Signature(bytes)
    }
}

impl fmt::Debug for Signer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Signer({})", self.public.id())
    }
}

/// Verifies checkpoints. It is no secret; but a verifier must have it from a source it trusts.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct PublicKey([u8; 32]);

impl PublicKey {
    pub fn id(&self) -> KeyId {
        let hash = Hash::of_parts(&[b"holdpoint.key.v1", &self.0]);
        let mut id = [0; 8];
        id.copy_from_slice(&hash.as_bytes()[..8]);
        KeyId(u64::from_be_bytes(id))
    }

    pub(crate) fn verifies(&self, message: &[u8], signature: &Signature) -> bool {
        UnparsedPublicKey::new(&ED25519, self.0).verify(message, &signature.0).is_ok()
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&URL_SAFE_NO_PAD.encode(self.0))
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for PublicKey {
    type Err = BadKey;

    fn from_str(text: &str) -> Result<PublicKey, BadKey> {
        decode_base64(text).map(PublicKey).ok_or(BadKey::NotAPublicKey)
    }
}

/// Short name of a key, for people and records. It identifies; it proves nothing.
#[derive(Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct KeyId(u64);

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "key_{:016x}", self.0)
    }
}

impl fmt::Debug for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl From<KeyId> for String {
    fn from(id: KeyId) -> String {
        id.to_string()
    }
}

impl TryFrom<String> for KeyId {
    type Error = BadKey;

    fn try_from(text: String) -> Result<KeyId, BadKey> {
        let digits = text.strip_prefix("key_").ok_or(BadKey::NotAKeyId)?;
        let id = KeyId(u64::from_str_radix(digits, 16).map_err(|_| BadKey::NotAKeyId)?);
        if id.to_string() == text { Ok(id) } else { Err(BadKey::NotAKeyId) }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(into = "String", try_from = "String")]
pub(crate) struct Signature([u8; 64]);

impl fmt::Debug for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&URL_SAFE_NO_PAD.encode(self.0))
    }
}

impl From<Signature> for String {
    fn from(signature: Signature) -> String {
        URL_SAFE_NO_PAD.encode(signature.0)
    }
}

impl TryFrom<String> for Signature {
    type Error = BadKey;

    fn try_from(text: String) -> Result<Signature, BadKey> {
        decode_base64(&text).map(Signature).ok_or(BadKey::NotASignature)
    }
}

fn decode_base64<const N: usize>(text: &str) -> Option<[u8; N]> {
    URL_SAFE_NO_PAD.decode(text).ok()?.try_into().ok()
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadKey {
    #[error("the system gives no random numbers; a key cannot be made")]
    NoRandomness,
    #[error("this is not a signing key: it must be Ed25519 in PKCS#8; restore it from a backup")]
    NotASigningKey,
    #[error(
        "this is not a public key: one is 32 bytes in base64url, as in the first line of an export"
    )]
    NotAPublicKey,
    #[error("this is not a key id: one looks like `key_` and 16 hexadecimal digits")]
    NotAKeyId,
    #[error("this is not a signature: one is 64 bytes in base64url")]
    NotASignature,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kept_key_is_the_same_key() {
        let (signer, pkcs8) = Signer::create().unwrap();
        let again = Signer::load(&pkcs8).unwrap();
        assert_eq!(signer.public_key(), again.public_key());
        let signature = signer.sign(b"x");
        assert!(again.public_key().verifies(b"x", &signature));
        assert!(!again.public_key().verifies(b"y", &signature));
        let other = Signer::from_seed(&[1; 32]).unwrap();
        assert!(!other.public_key().verifies(b"x", &signature));
        assert_ne!(other.public_key().id(), signer.public_key().id());
        assert_eq!(Signer::load(b"no").unwrap_err(), BadKey::NotASigningKey);
    }

    #[test]
    fn keys_are_read_as_written_and_debug_shows_no_secret() {
        let (signer, _) = Signer::create().unwrap();
        let public = signer.public_key();
        assert_eq!(public.to_string().parse(), Ok(public));
        assert_eq!("".parse::<PublicKey>(), Err(BadKey::NotAPublicKey));
        assert_eq!(KeyId::try_from(public.id().to_string()), Ok(public.id()));
        assert_eq!(KeyId::try_from("key_1".to_owned()), Err(BadKey::NotAKeyId));
        assert_eq!(format!("{signer:?}"), format!("Signer({})", public.id()));
    }
}
