//! Names that nobody can guess.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::rand::{SecureRandom as _, SystemRandom};

/// 144 random bits.
pub(crate) fn fresh_key() -> anyhow::Result<String> {
    let mut bytes = [0u8; 18];
    let filled = SystemRandom::new().fill(&mut bytes);
    filled.map_err(|_| anyhow::anyhow!("the system gives no random bytes"))?;
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}
