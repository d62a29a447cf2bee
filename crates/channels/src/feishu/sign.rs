//! Feishu's encryption and signature.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::digest::{Context, SHA256, digest};

use crate::signed::{SignatureRefusal, decrypt, hex, same};

/// Lower-case hex of SHA-256 over time, nonce, key and the body as it was received. A plain hash: the
/// key in the middle is what makes it theirs.
pub(super) fn signature(timestamp: &str, nonce: &str, key: &str, body: &[u8]) -> String {
    let mut context = Context::new(&SHA256);
    for part in [timestamp.as_bytes(), nonce.as_bytes(), key.as_bytes(), body] {
        context.update(part);
    }
    hex(context.finish().as_ref())
}

pub(super) fn verify(
    (timestamp, nonce): (&str, &str),
    key: &str,
    body: &[u8],
    claimed: &str,
) -> Result<(), SignatureRefusal> {
    let ours = signature(timestamp, nonce, key, body);
    if same(ours.as_bytes(), claimed.as_bytes()) {
        Ok(())
    } else {
        Err(SignatureRefusal::Signature)
    }
}

pub(super) fn decrypt_body(encrypted: &str, key: &str) -> Result<Vec<u8>, SignatureRefusal> {
    let bytes = STANDARD.decode(encrypted).map_err(|_| SignatureRefusal::Cipher)?;
    let (iv, text) = bytes.split_first_chunk::<16>().ok_or(SignatureRefusal::Cipher)?;
    let hashed = digest(&SHA256, key.as_bytes());
    let key: &[u8; 32] = hashed.as_ref().first_chunk().ok_or(SignatureRefusal::Cipher)?;
    decrypt(key, iv, text, 16)
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn the_published_text_is_decrypted() {
        let vectors: Value =
            serde_json::from_str(include_str!("../../vectors/signatures.json")).unwrap();
        let known = &vectors["feishu_decrypt_doc"];
        let text = |key: &str| known[key].as_str().unwrap();
        assert_eq!(decrypt_body(text("cipher"), text("key")).unwrap(), text("plain").as_bytes());
        assert_eq!(decrypt_body(text("cipher"), "another key"), Err(SignatureRefusal::Cipher));
        assert_eq!(decrypt_body("not base64!", "k"), Err(SignatureRefusal::Cipher));
        assert_eq!(decrypt_body("AAAA", "k"), Err(SignatureRefusal::Cipher));
    }
}
