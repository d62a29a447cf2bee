//! What is stored of a secret, byte by byte:
//!
//! ```text
//! version (1) ‖ id of the key (8) ‖ salt (32) ‖ AES-256-GCM of the secret's JSON, with its tag (16)
//! ```
//!
//! Each value has a key of its own, derived by HKDF-SHA256 from the sealing key and the salt. So the nonce is always zero and
//! never used twice under one key, and nothing has to be counted, by however many nodes. The associated data is all that the
//! row says beside the value: in another row, or in one that was changed, it cannot be opened.

use ring::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use ring::hkdf::{HKDF_SHA256, Salt};
use ring::rand::{SecureRandom as _, SystemRandom};

use super::keys::{ID_BYTES, SealingKey, SealingKeyId};

/// The only version so far. One that is read as text could not be told from what was stored before there was sealing:
/// JSON begins with no byte below 9.
const VERSION: u8 = 1;
const SALT_BYTES: usize = 32;
const TAG_BYTES: usize = 16;
const HEADER_BYTES: usize = 1 + ID_BYTES + SALT_BYTES;
/// Where the key's id stands in a stored value, as SQL counts: from 1, and how many bytes.
pub(crate) const KEY_ID_PLACE: (usize, usize) = (2, ID_BYTES);

/// Bytes that may be written to a disk. Only [`seal`] makes them.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct SealedValue(Vec<u8>);

impl SealedValue {
    pub(super) fn bytes(&self) -> &[u8] {
        &self.0
    }
}

/// Why no secret comes out of stored bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NotOpened {
    /// Another key sealed it.
    Key(SealingKeyId),
    /// A newer program wrote it, or they are no sealed value.
    Version,
    /// It was changed, or belongs to another row.
    Damaged,
}

/// The key of one value.
fn derived(key: &SealingKey, salt: &[u8]) -> Option<LessSafeKey> {
    let extracted = Salt::new(HKDF_SHA256, salt).extract(key.secret());
    let expanded = extracted.expand(&[b"holdpoint sealed value 1"], &AES_256_GCM).ok()?;
    Some(LessSafeKey::new(UnboundKey::from(expanded)))
}

/// The version and the key are bound, too.
fn bound(header: &[u8], label: &[u8]) -> Aad<Vec<u8>> {
    Aad::from([b"holdpoint sealed secret\0", header, label].concat())
}

fn nonce() -> Nonce {
    Nonce::assume_unique_for_key([0; 12])
}

/// `None` if the system has no random numbers.
pub(super) fn seal(key: &SealingKey, label: &[u8], secret: Vec<u8>) -> Option<SealedValue> {
    let mut salt = [0; SALT_BYTES];
    SystemRandom::new().fill(&mut salt).ok()?;
    let header = [&[VERSION], &key.id.bytes()[..], &salt].concat();
    let mut sealed = secret;
    derived(key, &salt)?
        .seal_in_place_append_tag(nonce(), bound(&header, label), &mut sealed)
        .ok()?;
    Some(SealedValue([header, sealed].concat()))
}

pub(super) fn open<'k>(
    find: impl FnOnce(SealingKeyId) -> Option<&'k SealingKey>,
    label: &[u8],
    stored: &[u8],
) -> Result<Vec<u8>, NotOpened> {
    if stored.first() != Some(&VERSION) {
        return Err(NotOpened::Version);
    }
    if stored.len() < HEADER_BYTES + TAG_BYTES {
        return Err(NotOpened::Damaged);
    }
    let (header, sealed) = stored.split_at(HEADER_BYTES);
    let mut id = [0; ID_BYTES];
    id.copy_from_slice(&header[1..1 + ID_BYTES]);
    let id = SealingKeyId::from_bytes(id);
    let key = find(id).ok_or(NotOpened::Key(id))?;
    let mut opened = sealed.to_vec();
    let key = derived(key, &header[1 + ID_BYTES..]).ok_or(NotOpened::Damaged)?;
    let length = key
        .open_in_place(nonce(), bound(header, label), &mut opened)
        .map_err(|_| NotOpened::Damaged)?
        .len();
    opened.truncate(length);
    Ok(opened)
}

#[cfg(test)]
mod tests {
    use super::super::keys::SealingKeys;
    use super::*;

    fn keys(number: u8) -> SealingKeys {
        SealingKeys::parse(&format!("{number:064x}")).unwrap()
    }

    fn unseal(keys: &SealingKeys, label: &[u8], stored: &[u8]) -> Result<Vec<u8>, NotOpened> {
        open(|id| keys.find(id), label, stored)
    }

    #[test]
    fn it_opens_with_its_key_and_its_label_and_not_with_others() {
        let (mine, other) = (keys(1), keys(2));
        let sealed = seal(mine.first(), b"row", b"\"hunter2\"".to_vec()).unwrap();
        let opened = |keys, label: &[u8]| unseal(keys, label, sealed.bytes());
        assert_eq!(opened(&mine, b"row").unwrap(), b"\"hunter2\"");
        assert_eq!(opened(&mine, b"another row"), Err(NotOpened::Damaged));
        assert_eq!(opened(&other, b"row"), Err(NotOpened::Key(mine.sealing())));
        assert!(!sealed.bytes().windows(7).any(|window| window == b"hunter2"));
        assert_eq!(sealed.bytes()[1..9], mine.sealing().bytes()[..]);
    }

    #[test]
    fn no_byte_of_it_can_be_changed_or_left_out() {
        let mine = keys(1);
        let sealed = seal(mine.first(), b"row", b"7".to_vec()).unwrap();
        for at in 0..sealed.bytes().len() {
            let mut changed = sealed.bytes().to_vec();
            changed[at] ^= 1;
            assert!(unseal(&mine, b"row", &changed).is_err(), "byte {at}");
            assert!(unseal(&mine, b"row", &sealed.bytes()[..at]).is_err(), "cut at {at}");
        }
    }

    #[test]
    fn the_same_secret_never_looks_the_same_twice() {
        let mine = keys(1);
        let sealed = || seal(mine.first(), b"row", b"\"hunter2\"".to_vec()).unwrap();
        let (one, two) = (sealed(), sealed());
        let salt = |sealed: &SealedValue| sealed.bytes()[9..HEADER_BYTES].to_vec();
        assert_ne!(salt(&one), salt(&two));
        assert_ne!(one.bytes()[HEADER_BYTES..], two.bytes()[HEADER_BYTES..]);
    }

    #[test]
    fn what_is_no_sealed_value_is_not_taken_for_one() {
        for stored in [&b""[..], b"\"hunter2\"", b"\x02", &[0; 100]] {
            assert_eq!(unseal(&keys(1), b"row", stored), Err(NotOpened::Version));
        }
    }

    /// Made by another program (the package `cryptography` of Python) from the description at the top. Never edited.
    #[test]
    fn a_value_that_was_sealed_before_is_opened() {
        let stored = include_bytes!("../../golden/sealed/value-1.bin");
        let opened = unseal(&keys(1), b"golden row", stored).unwrap();
        assert_eq!(opened, "{\"pin\": \"0000, ø\"}".as_bytes());
    }
}
