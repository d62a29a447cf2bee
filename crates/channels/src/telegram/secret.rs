//! The secret that Telegram sends with every update, and nothing else: it proves who calls, and nothing
//! about what they say.

use ports::secret_string::SecretString;
use serde_json::Value;

use crate::signed::{Headers, SignatureRefusal, same, within_size};

/// 1 to 256 of `A-Z a-z 0-9 _ -`, as the platform takes it.
#[derive(Clone, Debug)]
pub struct TelegramSecret(SecretString);

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the secret of the webhook must have 1 to 256 letters, digits, `_` or `-`")]
pub struct BadSecret;

impl TelegramSecret {
    pub fn new(text: &str) -> Result<TelegramSecret, BadSecret> {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        let good = (1..=256).contains(&text.len()) && text.bytes().all(plain);
        good.then(|| TelegramSecret(SecretString::new(text))).ok_or(BadSecret)
    }

    /// For the platform, which must know it.
    pub(super) fn expose(&self) -> &str {
        self.0.expose()
    }

    pub fn verify(&self, headers: Headers, body: &[u8]) -> Result<(), SignatureRefusal> {
        within_size(body)?;
        // mutant: telegram-unsigned-without-its-header
        let claimed = headers.one("x-telegram-bot-api-secret-token")?;
        if same(self.expose().as_bytes(), claimed.as_bytes()) {
            Ok(())
        } else {
            Err(SignatureRefusal::Signature)
        }
    }
}

/// The name under which a repeated update is recognised.
pub fn update_key(update: &Value) -> Option<String> {
    update["update_id"].as_i64().map(|id| format!("telegram:update:{id}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn i34_only_the_secret_lets_in() {
        let secret = TelegramSecret::new("A-z_09").unwrap();
        let check = |value: &str| {
            secret.verify(Headers(&[("X-Telegram-Bot-Api-Secret-Token", value)]), b"{}")
        };
        assert_eq!(check("A-z_09"), Ok(()));
        for wrong in ["", "A-z_0", "A-z_099", "a-z_09"] {
            assert_eq!(check(wrong), Err(SignatureRefusal::Signature), "{wrong}");
        }
        assert!(matches!(secret.verify(Headers(&[]), b"{}"), Err(SignatureRefusal::Header(_))));
        assert_eq!(format!("{secret:?}"), "TelegramSecret(SecretString(…))");
    }

    #[test]
    fn a_secret_is_one_that_the_platform_takes() {
        for bad in ["", "a b", "é", &"a".repeat(257)] {
            assert_eq!(TelegramSecret::new(bad).err(), Some(BadSecret), "{bad}");
        }
        assert_eq!(update_key(&json!({"update_id": 7})), Some("telegram:update:7".into()));
        assert_eq!(update_key(&json!({"update_id": "7"})), None);
    }
}
