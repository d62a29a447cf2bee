//! SHA-256 over length-prefixed fields: what an approval is bound to.
//!
//! Framing, and not canonical JSON, makes the preimage: what is digested is the exact bytes, and
//! no two different lists of fields can ever give the same preimage.

use std::fmt;
use std::io::Write as _;
use std::str::FromStr;

use ring::digest::{SHA256, digest};

/// Says which bytes are meant, wherever they are.
///
/// ```
/// let digest = holdpoint_domain::digest::Digest::of(b"rm -rf build");
/// assert_eq!(digest.to_string().parse(), Ok(digest));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 32]);

impl Digest {
    /// The digest of these bytes.
    pub fn of(bytes: &[u8]) -> Digest {
        let mut own = [0; 32];
        own.copy_from_slice(digest(&SHA256, bytes).as_ref());
        Digest(own)
    }

    /// From a stored digest. Nothing is checked: 32 bytes are always a digest.
    pub const fn from_bytes(bytes: [u8; 32]) -> Digest {
        Digest(bytes)
    }

    /// The 32 bytes themselves.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The digits alone, written into the given place: digests are spelled in every record.
    pub fn digits<'a>(&self, place: &'a mut [u8; 64]) -> &'a str {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        for (pair, byte) in place.chunks_exact_mut(2).zip(self.0) {
            pair[0] = DIGITS[usize::from(byte >> 4)];
            pair[1] = DIGITS[usize::from(byte & 15)];
        }
        std::str::from_utf8(place).unwrap_or_default()
    }
}

/// A digest of bytes that come piece by piece.
///
/// ```
/// use holdpoint_domain::digest::{Digest, Digesting};
/// let mut digesting = Digesting::default();
/// digesting.update(b"rm -rf ");
/// digesting.update(b"build");
/// assert_eq!(digesting.finish(), Digest::of(b"rm -rf build"));
/// ```
pub struct Digesting(ring::digest::Context);

impl Default for Digesting {
    fn default() -> Digesting {
        Digesting(ring::digest::Context::new(&SHA256))
    }
}

impl Digesting {
    /// The next piece. The pieces are not told apart: `ab` is the same as `a`, then `b`.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The digest of all pieces together.
    pub fn finish(self) -> Digest {
        let mut own = [0; 32];
        own.copy_from_slice(self.0.finish().as_ref());
        Digest(own)
    }
}

const PREFIX: &str = "sha256:";

/// As many bytes as a digest takes with its prefix.
pub const DIGEST_SPELLED: usize = PREFIX.len() + 64;

impl Digest {
    /// All of it, written into the given place: digests are spelled in every reply.
    pub fn spell<'a>(&self, place: &'a mut [u8; DIGEST_SPELLED]) -> &'a str {
        let (prefix, digits) = place.split_at_mut(PREFIX.len());
        prefix.copy_from_slice(PREFIX.as_bytes());
        if let Ok(digits) = digits.try_into() {
            self.digits(digits);
        }
        std::str::from_utf8(place).unwrap_or_default()
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.spell(&mut [0; DIGEST_SPELLED]))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A text that is not a digest in its one spelling.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this is not a digest: one looks like `sha256:` and 64 lowercase hexadecimal digits")]
pub struct NotADigest;

impl FromStr for Digest {
    type Err = NotADigest;

    // Exactly one spelling is taken, so that comparing texts is as good as comparing digests.
    fn from_str(text: &str) -> Result<Digest, NotADigest> {
        let digits = text.strip_prefix(PREFIX).ok_or(NotADigest)?.as_bytes();
        let mut bytes = [0; 32];
        if digits.len() != 2 * bytes.len() {
            return Err(NotADigest);
        }
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            *byte = nibble(pair[0])? << 4 | nibble(pair[1])?;
        }
        Ok(Digest(bytes))
    }
}

fn nibble(digit: u8) -> Result<u8, NotADigest> {
    match digit {
        b'0'..=b'9' => Ok(digit - b'0'),
        b'a'..=b'f' => Ok(digit - b'a' + 10),
        _ => Err(NotADigest),
    }
}

/// Digests a list of named fields. Each is framed as length and name, length and value, so a byte
/// cannot move from one field to its neighbour without changing the digest.
///
/// ```
/// use holdpoint_domain::digest::Framed;
/// let one = Framed::new("example.v1").field("a", b"x").field("b", b"yz").finish();
/// let two = Framed::new("example.v1").field("a", b"xy").field("b", b"z").finish();
/// assert_ne!(one, two);
/// ```
pub struct Framed(Vec<u8>);

/// Most of what is framed fits. All of it is digested at once: many digests of a few bytes each cost more.
const ROOM: usize = 512;

type Length = [u8; 8];

impl Framed {
    /// `purpose` names what is digested and its version; digests of different purposes never meet.
    pub fn new(purpose: &str) -> Framed {
        let mut framed = Framed(Vec::with_capacity(ROOM));
        framed.frame(purpose.as_bytes());
        framed
    }

    /// One more field. Name and value each go in with their length, so that no two lists of fields make the same bytes.
    #[must_use]
    pub fn field(mut self, name: &str, value: &[u8]) -> Framed {
        self.frame(name.as_bytes());
        self.frame(value);
        self
    }

    /// What a value is spelled as: the same as a field of that text, which need not be made first.
    #[must_use]
    pub fn spelled(mut self, name: &str, value: &dyn fmt::Display) -> Framed {
        self.frame(name.as_bytes());
        self.0.extend_from_slice(&Length::default());
        let start = self.0.len();
        write!(self.0, "{value}").expect("memory takes everything");
        let length = self.0.len() - start;
        self.0[start - size_of::<Length>()..start].copy_from_slice(&framed_length(length));
        self
    }

    /// A field with a number, in eight bytes, the lowest first.
    #[must_use]
    pub fn number(self, name: &str, value: u64) -> Framed {
        self.field(name, &value.to_le_bytes())
    }

    /// Absent is not the same as empty.
    #[must_use]
    pub fn optional(self, name: &str, value: Option<&[u8]>) -> Framed {
        match value {
            Some(value) => self.number(name, 1).field(name, value),
            None => self.number(name, 0),
        }
    }

    /// The count comes first, so that a list cannot run into the field after it.
    #[must_use]
    pub fn list<T: AsRef<[u8]>>(self, name: &str, values: &[T]) -> Framed {
        let framed = self.number(name, values.len() as u64);
        values.iter().fold(framed, |framed, value| framed.field(name, value.as_ref()))
    }

    /// The digest of all fields so far.
    pub fn finish(self) -> Digest {
        Digest::of(&self.0)
    }

    fn frame(&mut self, bytes: &[u8]) {
        // mutant: framing-without-lengths
        self.0.extend_from_slice(&framed_length(bytes.len()));
        self.0.extend_from_slice(bytes);
    }
}

fn framed_length(length: usize) -> Length {
    (length as u64).to_le_bytes()
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    fn digest_of(fields: &[(String, Vec<u8>)]) -> Digest {
        fields.iter().fold(Framed::new("test"), |f, (name, value)| f.field(name, value)).finish()
    }

    #[test]
    fn reads_only_what_it_writes() {
        let digest = Digest::of(b"");
        let text = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(digest.to_string(), text);
        assert_eq!(text.parse(), Ok(digest));
        for bad in
            ["", "sha256:", &text[..70], &text[7..], &text.to_uppercase(), &format!("{text}0")]
        {
            assert_eq!(bad.parse::<Digest>(), Err(NotADigest), "{bad}");
        }
    }

    #[test]
    fn framing_is_pinned() {
        // Stored approvals depend on it: a change here is a new version of every purpose.
        let preimage = b"\x01\0\0\0\0\0\0\0p\x01\0\0\0\0\0\0\0n\x02\0\0\0\0\0\0\0xy";
        assert_eq!(Framed::new("p").field("n", b"xy").finish(), Digest::of(preimage));
        assert_eq!(Framed::new("p").spelled("n", &"xy").finish(), Digest::of(preimage));
    }

    #[test]
    fn absent_is_not_empty_and_lists_do_not_run_together() {
        let base = || Framed::new("p");
        assert_ne!(base().optional("a", None).finish(), base().optional("a", Some(b"")).finish());
        assert_ne!(
            base().list("a", &["x", "y"]).list("b", &[""; 0]).finish(),
            base().list("a", &["x"]).list("b", &["y"]).finish(),
        );
    }

    proptest! {
        #[test]
        fn i02_any_two_different_field_lists_differ(
            a in vec(("[a-c]{0,3}", vec(0u8..3, 0..4)), 0..5),
            b in vec(("[a-c]{0,3}", vec(0u8..3, 0..4)), 0..5),
        ) {
            prop_assert_eq!(a == b, digest_of(&a) == digest_of(&b));
        }

        #[test]
        fn i02_flipping_or_moving_any_byte_changes_the_digest(
            fields in vec(("[a-c]{1,3}", vec(any::<u8>(), 1..6)), 1..5),
            bit in 0u8..8,
        ) {
            let whole = digest_of(&fields);
            for at in 0..fields.len() {
                for byte in 0..fields[at].1.len() {
                    let mut flipped = fields.clone();
                    flipped[at].1[byte] ^= 1 << bit;
                    prop_assert_ne!(digest_of(&flipped), whole);
                }
                let mut moved = fields.clone();
                let Some(byte) = moved[at].1.pop() else { continue };
                if let Some(next) = moved.get_mut(at + 1) {
                    next.1.insert(0, byte);
                } else {
                    moved[at].0.push('z');
                }
                prop_assert_ne!(digest_of(&moved), whole);
            }
        }
    }
}
