//! Keys that seal. They come as text: one key of 64 hexadecimal digits on a line, and the first of them seals.
//! The others only open what was sealed before the key was changed.

use std::fmt;

use ring::digest::{SHA256, digest};
use ring::rand::{SecureRandom as _, SystemRandom};

const KEY_BYTES: usize = 32;
pub(super) const ID_BYTES: usize = 8;
/// Whoever changes the key every day for two months has that many. More are a mistake.
const KEYS_MAX: usize = 64;

/// Names a key, and says nothing of it: the beginning of a digest. It is stored with every sealed value.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SealingKeyId([u8; ID_BYTES]);

impl SealingKeyId {
    pub(super) fn from_bytes(bytes: [u8; ID_BYTES]) -> SealingKeyId {
        SealingKeyId(bytes)
    }

    /// From the column of a table.
    pub(crate) fn read(bytes: &[u8]) -> Option<SealingKeyId> {
        bytes.try_into().ok().map(SealingKeyId)
    }

    pub(crate) fn bytes(&self) -> &[u8; ID_BYTES] {
        &self.0
    }
}

impl fmt::Display for SealingKeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for SealingKeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[derive(Clone)]
pub(super) struct SealingKey {
    pub(super) id: SealingKeyId,
    secret: [u8; KEY_BYTES],
}

impl SealingKey {
    fn new(secret: [u8; KEY_BYTES]) -> SealingKey {
        let named = digest(&SHA256, &[b"holdpoint sealing key id\0", &secret[..]].concat());
        let mut id = [0; ID_BYTES];
        id.copy_from_slice(&named.as_ref()[..ID_BYTES]);
        SealingKey { id: SealingKeyId(id), secret }
    }

    pub(super) fn secret(&self) -> &[u8; KEY_BYTES] {
        &self.secret
    }
}

/// At least one key. The first seals, all open.
///
/// ```
/// use holdpoint_stores::SealingKeys;
///
/// let text = SealingKeys::generate().unwrap();
/// let keys = SealingKeys::parse(&text).unwrap();
/// // Only the name of a key is ever shown.
/// assert!(!text.contains(&keys.sealing().to_string()));
/// // The new key goes in front of the old one, which still opens what it sealed.
/// let both = SealingKeys::parse(&format!("{}{text}", SealingKeys::generate().unwrap())).unwrap();
/// assert!(both.sealing() != keys.sealing() && both.ids().any(|id| id == keys.sealing()));
/// ```
#[derive(Clone)]
pub struct SealingKeys {
    /// Never empty.
    keys: Vec<SealingKey>,
}

/// Why a text is no list of keys. It repeats nothing of the text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadSealingKeys {
    #[error("it holds no key; write one with `openssl rand -hex 32`")]
    Empty,
    #[error(
        "line {line} is no key; a key is 64 hexadecimal digits, as `openssl rand -hex 32` writes them"
    )]
    NoKey { line: usize },
    #[error("line {line} repeats a key; take it out")]
    Repeated { line: usize },
    #[error("it holds more than {KEYS_MAX} keys; take those out that seal nothing any more")]
    TooMany,
}

impl SealingKeys {
    /// One key on a line. Empty lines, and lines that begin with `#`, are passed over.
    pub fn parse(text: &str) -> Result<SealingKeys, BadSealingKeys> {
        let mut keys: Vec<SealingKey> = Vec::new();
        for (number, line) in text.lines().enumerate() {
            let (line, number) = (line.trim(), number + 1);
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let secret = read_hex(line).ok_or(BadSealingKeys::NoKey { line: number })?;
            let key = SealingKey::new(secret);
            if keys.iter().any(|known| known.id == key.id) {
                return Err(BadSealingKeys::Repeated { line: number });
            }
            if keys.len() == KEYS_MAX {
                return Err(BadSealingKeys::TooMany);
            }
            keys.push(key);
        }
        if keys.is_empty() { Err(BadSealingKeys::Empty) } else { Ok(SealingKeys { keys }) }
    }

    /// A new key as the text of a file. `None` if the system has no random numbers.
    pub fn generate() -> Option<String> {
        let mut secret = [0; KEY_BYTES];
        SystemRandom::new().fill(&mut secret).ok()?;
        let mut text = String::with_capacity(2 * KEY_BYTES + 1);
        for byte in secret {
            // Writing to a string cannot fail.
            let _ = fmt::Write::write_fmt(&mut text, format_args!("{byte:02x}"));
        }
        text.push('\n');
        Some(text)
    }

    /// The key that seals.
    pub fn sealing(&self) -> SealingKeyId {
        self.first().id
    }

    /// All keys, the one that seals first.
    pub fn ids(&self) -> impl Iterator<Item = SealingKeyId> + '_ {
        self.keys.iter().map(|key| key.id)
    }

    pub(super) fn first(&self) -> &SealingKey {
        &self.keys[0]
    }

    pub(super) fn find(&self, id: SealingKeyId) -> Option<&SealingKey> {
        self.keys.iter().find(|key| key.id == id)
    }
}

impl fmt::Debug for SealingKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.ids()).finish()
    }
}

fn read_hex(text: &str) -> Option<[u8; KEY_BYTES]> {
    let digits = text.as_bytes();
    if digits.len() != 2 * KEY_BYTES {
        return None;
    }
    let mut secret = [0; KEY_BYTES];
    for (byte, pair) in secret.iter_mut().zip(digits.chunks_exact(2)) {
        let digit = |digit: u8| char::from(digit).to_digit(16);
        *byte = u8::try_from(digit(pair[0])? << 4 | digit(pair[1])?).ok()?;
    }
    Some(secret)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_read_and_named_and_never_shown() {
        let text = "00".repeat(31) + "Ff";
        let keys = SealingKeys::parse(&format!("# of 2026\n\n  {text}\n")).unwrap();
        let mut secret = [0; KEY_BYTES];
        secret[31] = 0xff;
        assert_eq!(keys.first().secret(), &secret);
        // Of a digest, so that it says nothing; and for ever the same, since it is stored.
        assert_eq!(keys.sealing().to_string(), "22d002bd63cccd95");
        assert_eq!(format!("{keys:?}"), "[22d002bd63cccd95]");
    }

    #[test]
    fn what_is_no_key_is_refused_by_its_line_and_not_repeated() {
        let good = "ab".repeat(32);
        for (text, refused) in [
            (String::new(), BadSealingKeys::Empty),
            ("# nothing\n".into(), BadSealingKeys::Empty),
            (format!("{good}\nhunter2"), BadSealingKeys::NoKey { line: 2 }),
            (format!("{good}0"), BadSealingKeys::NoKey { line: 1 }),
            ("é".repeat(32), BadSealingKeys::NoKey { line: 1 }),
            ("+a".repeat(32), BadSealingKeys::NoKey { line: 1 }),
            (format!("{good}\n{}", good.to_uppercase()), BadSealingKeys::Repeated { line: 2 }),
        ] {
            let error = SealingKeys::parse(&text).unwrap_err();
            assert!(!error.to_string().contains("hunter2"), "{error}");
            assert_eq!(error, refused, "{text}");
        }
        let many = |count| {
            let line = |number: usize| format!("{number:064x}\n");
            SealingKeys::parse(&(0..count).map(line).collect::<String>())
        };
        assert_eq!(many(KEYS_MAX).unwrap().ids().count(), KEYS_MAX);
        assert_eq!(many(KEYS_MAX + 1).unwrap_err(), BadSealingKeys::TooMany);
    }
}
