//! Webhooks as the platform encrypts and signs them. Written from the contract and not with the code
//! that reads them.

use aes::Aes256;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use cbc::cipher::block_padding::Pkcs7;
use cbc::cipher::{BlockModeDecrypt as _, BlockModeEncrypt as _, KeyIvInit as _};
use ring::digest::{SHA256, digest};
use serde_json::{Value, json};

/// The body of a request, encrypted.
pub fn sealed(content: &Value, key: &str) -> String {
    let iv = [7_u8; 16];
    let cipher = cbc::Encryptor::<Aes256>::new(&hashed(key).into(), &iv.into())
        .encrypt_padded_vec::<Pkcs7>(content.to_string().as_bytes());
    json!({"encrypt": STANDARD.encode([&iv[..], &cipher].concat())}).to_string()
}

/// What such a body says.
pub fn open(body: &str, key: &str) -> Value {
    let outer: Value = serde_json::from_str(body).expect("JSON");
    let bytes = STANDARD.decode(outer["encrypt"].as_str().expect("encrypted")).expect("base64");
    let (iv, cipher) = bytes.split_first_chunk::<16>().expect("an IV");
    let plain = cbc::Decryptor::<Aes256>::new(&hashed(key).into(), &(*iv).into())
        .decrypt_padded_vec::<Pkcs7>(cipher)
        .expect("decrypted");
    serde_json::from_slice(&plain).expect("JSON inside")
}

/// The headers beside it.
pub fn signed(body: &str, key: &str, seconds: i64, nonce: &str) -> Vec<(String, String)> {
    let seconds = seconds.to_string();
    let text = [seconds.as_str(), nonce, key, body].concat();
    let hash = digest(&SHA256, text.as_bytes());
    let signature: String = hash.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    let header = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    vec![
        header("x-lark-request-timestamp", &seconds),
        header("x-lark-request-nonce", nonce),
        header("x-lark-signature", &signature),
    ]
}

fn hashed(key: &str) -> [u8; 32] {
    digest(&SHA256, key.as_bytes()).as_ref().try_into().expect("32 bytes")
}
