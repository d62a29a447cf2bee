//! SHA-256 over length-prefixed parts.

use std::fmt;
use std::str::FromStr;

use ring::digest::{Context, SHA256};

/// The hash of an entry and, through it, of all entries before it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Hash([u8; 32]);

impl Hash {
    /// What the first entry is chained to.
    pub const NONE: Hash = Hash([0; 32]);

    pub const fn from_bytes(bytes: [u8; 32]) -> Hash {
        Hash(bytes)
    }

    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Each part with its length before it, so that no byte can pass from one to the next.
    pub(crate) fn of_parts(parts: &[&[u8]]) -> Hash {
        let mut context = Context::new(&SHA256);
        for part in parts {
            context.update(&(part.len() as u64).to_le_bytes());
            context.update(part);
        }
        let mut bytes = [0; 32];
        bytes.copy_from_slice(context.finish().as_ref());
        Hash(bytes)
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this is not a hash: one has 64 lowercase hexadecimal digits")]
pub struct NotAHash;

impl FromStr for Hash {
    type Err = NotAHash;

    // One spelling only: an export is compared byte by byte.
    fn from_str(text: &str) -> Result<Hash, NotAHash> {
        let digit = |digit: u8| match digit {
            b'0'..=b'9' => Ok(digit - b'0'),
            b'a'..=b'f' => Ok(digit - b'a' + 10),
            _ => Err(NotAHash),
        };
        if text.len() != 64 {
            return Err(NotAHash);
        }
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
            *byte = digit(pair[0])? << 4 | digit(pair[1])?;
        }
        Ok(Hash(bytes))
    }
}

impl From<Hash> for String {
    fn from(hash: Hash) -> String {
        hash.to_string()
    }
}

impl TryFrom<String> for Hash {
    type Error = NotAHash;

    fn try_from(text: String) -> Result<Hash, NotAHash> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_only_what_it_writes() {
        let hash = Hash::of_parts(&[b"a"]);
        assert_eq!(hash.to_string().parse(), Ok(hash));
        for bad in ["", "0", &hash.to_string().to_uppercase(), &format!("{hash}0"), &"é".repeat(32)]
        {
            assert_eq!(bad.parse::<Hash>(), Err(NotAHash));
        }
    }

    #[test]
    fn parts_stay_apart() {
        assert_ne!(Hash::of_parts(&[b"ab", b"c"]), Hash::of_parts(&[b"a", b"bc"]));
        assert_ne!(Hash::of_parts(&[b"", b""]), Hash::of_parts(&[b""]));
    }
}
