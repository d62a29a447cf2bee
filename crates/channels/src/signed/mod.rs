//! What all platforms' signatures have in common: headers, a window of time, and comparisons that do
//! not tell by their duration how much was right.
//!
//! Everything here judges the raw bytes as they arrived, before anything of them is believed.

#[cfg(feature = "cipher")]
mod cbc;
mod headers;

use domain::time::Timestamp;
use subtle::ConstantTimeEq;

#[cfg(feature = "cipher")]
pub(crate) use cbc::{decrypt, encrypt};
pub use headers::Headers;

use crate::limits::{EVENT_BYTES_MAX, SIGNATURE_WINDOW_MS};

/// Why something that claims to come from a platform is not let in. What is told outside is only that
/// it was refused; the reason is for the operator, and holds no secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SignatureRefusal {
    #[error("it is larger than anything the platform sends")]
    TooLarge,
    #[error("the header `{0}` is missing, or is there more than once")]
    Header(&'static str),
    #[error("its time is too far from ours; check the clock of this machine")]
    Stale,
    #[error("the signature is wrong; check the secret in the configuration")]
    Signature,
    #[error("it came in the clear, although a key for encryption is set")]
    InTheClear,
    #[error("it cannot be decrypted; check the key in the configuration")]
    Cipher,
    #[error("it is not what this platform sends")]
    Garbled,
    #[error("it is for another app or tenant than the one in the configuration")]
    WrongApp,
}

pub(crate) fn within_size(body: &[u8]) -> Result<(), SignatureRefusal> {
    if body.len() > EVENT_BYTES_MAX { Err(SignatureRefusal::TooLarge) } else { Ok(()) }
}

/// Five minutes either way: our clock may be the one that is wrong.
pub(crate) fn is_fresh(at_ms: i64, now: Timestamp, window_ms: u64) -> Result<(), SignatureRefusal> {
    if now.as_ms().abs_diff(at_ms) > window_ms { Err(SignatureRefusal::Stale) } else { Ok(()) }
}

/// A time in whole seconds as headers have it: digits and nothing else.
pub(crate) fn fresh_seconds(text: &str, now: Timestamp) -> Result<(), SignatureRefusal> {
    let at = digits(text).and_then(|at| at.checked_mul(1000)).ok_or(SignatureRefusal::Stale)?;
    is_fresh(at, now, SIGNATURE_WINDOW_MS)
}

pub(crate) fn digits(text: &str) -> Option<i64> {
    let plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| text.parse().ok()).flatten()
}

pub(crate) fn same(a: &[u8], b: &[u8]) -> bool {
    a.ct_eq(b).into()
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_digits_are_a_time() {
        let now = Timestamp::from_ms(1_700_000_000_000);
        assert_eq!(fresh_seconds("1700000000", now), Ok(()));
        assert_eq!(fresh_seconds("1700000300", now), Ok(()));
        assert_eq!(fresh_seconds("1699999700", now), Ok(()));
        for old in [
            "1700000301",
            "1699999699",
            "",
            "+1700000000",
            "1700000000.0",
            " 1700000000",
            "-1",
            "9223372036854775807",
            "99999999999999999999",
        ] {
            assert_eq!(fresh_seconds(old, now), Err(SignatureRefusal::Stale), "{old}");
        }
    }
}
