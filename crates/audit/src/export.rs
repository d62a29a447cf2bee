//! The lines of an export.
//!
//! JSON Lines: a header with the public key, the entries in order with checkpoints where they fall,
//! and a signed end. There is exactly one way to write each line, so that the verifier can compare
//! byte by byte: not even a space goes in unseen.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};

use crate::checkpoint::Checkpoint;
use crate::hash::Hash;
use crate::key::PublicKey;

pub(crate) const VERSION: u32 = 1;

/// The first line.
pub fn header_line(key: &PublicKey) -> String {
    json_line(&HeaderLine { holdpoint_audit: VERSION, public_key: key.to_string() })
}

/// An entry as it is stored. Number and hash are written as they are found and not made afresh, or
/// the export would hide what happened to the store.
pub fn entry_line(seq: u64, hash: Hash, entry: &[u8]) -> String {
    json_line(&EntryLine::new(seq, hash, entry))
}

/// A checkpoint, and also the end.
pub fn checkpoint_line(checkpoint: &Checkpoint) -> String {
    json_line(&CheckpointLine { checkpoint: Cow::Borrowed(checkpoint) })
}

fn json_line(value: &impl Serialize) -> String {
    // Strings, numbers and maps with string keys: nothing here can fail to become JSON.
    let mut text = serde_json::to_string(value).unwrap_or_default();
    text.push('\n');
    text
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct HeaderLine {
    holdpoint_audit: u32,
    public_key: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct EntryLine<'a> {
    seq: u64,
    hash: Hash,
    /// The exact bytes, as text.
    #[serde(skip_serializing_if = "Option::is_none", borrow)]
    entry: Option<Cow<'a, str>>,
    /// Entries are JSON and so UTF-8; one that is not has been tampered with, and can be exported
    /// and found all the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    entry_base64: Option<String>,
}

impl<'a> EntryLine<'a> {
    fn new(seq: u64, hash: Hash, bytes: &'a [u8]) -> EntryLine<'a> {
        match std::str::from_utf8(bytes) {
            Ok(text) => {
                EntryLine { seq, hash, entry: Some(Cow::Borrowed(text)), entry_base64: None }
            }
            Err(_) => {
                let encoded = URL_SAFE_NO_PAD.encode(bytes);
                EntryLine { seq, hash, entry: None, entry_base64: Some(encoded) }
            }
        }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct CheckpointLine<'a> {
    checkpoint: Cow<'a, Checkpoint>,
}

/// One line of an export, read back.
pub(crate) enum ExportLine {
    Entry { seq: u64, hash: Hash, bytes: Vec<u8> },
    Checkpoint(Checkpoint),
}

impl ExportLine {
    /// Only a line that we would have written, to the byte and with its line feed.
    pub(crate) fn parse(text: &[u8]) -> Option<ExportLine> {
        let json = text.strip_suffix(b"\n")?;
        if json.starts_with(br#"{"checkpoint""#) {
            let CheckpointLine { checkpoint } = serde_json::from_slice(json).ok()?;
            let checkpoint = checkpoint.into_owned();
            return (checkpoint_line(&checkpoint).as_bytes() == text)
                .then_some(ExportLine::Checkpoint(checkpoint));
        }
        let EntryLine { seq, hash, entry, entry_base64 } = serde_json::from_slice(json).ok()?;
        let bytes = match (entry, entry_base64) {
            (Some(entry), None) => entry.into_owned().into_bytes(),
            (None, Some(encoded)) => URL_SAFE_NO_PAD.decode(encoded).ok()?,
            _ => return None,
        };
        (entry_line(seq, hash, &bytes).as_bytes() == text).then_some(ExportLine::Entry {
            seq,
            hash,
            bytes,
        })
    }
}

/// The key that an export says it was signed with.
pub(crate) fn read_header(text: &[u8]) -> Option<PublicKey> {
    let HeaderLine { holdpoint_audit, public_key } =
        serde_json::from_slice(text.strip_suffix(b"\n")?).ok()?;
    let key = public_key.parse().ok()?;
    (holdpoint_audit == VERSION && header_line(&key).as_bytes() == text).then_some(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_come_back_to_the_byte() {
        for bytes in [
            b"{\"a\":\"\\u00e9 \xc3\xa9\"}".as_slice(),
            b"{ \"spaces\" : 1 }\n",
            b"",
            b"\xff\xfe",
            b"\0\x1b",
        ] {
            let line = entry_line(3, Hash::NONE, bytes);
            assert_eq!(line.matches('\n').count(), 1);
            match ExportLine::parse(line.as_bytes()) {
                Some(ExportLine::Entry { seq: 3, hash: Hash::NONE, bytes: read }) => {
                    assert_eq!(read, bytes);
                }
                _ => panic!("{line}"),
            }
        }
    }

    #[test]
    fn another_spelling_is_no_line_of_ours() {
        let line = entry_line(3, Hash::NONE, b"{\"a\":1}");
        for other in [
            line.replace(":3", ": 3"),
            line.replace("\\\"a", "\\u0022a"),
            line.replace("seq", "s\\u0065q"),
            line.replace('\n', "\r\n"),
            line.trim_end().to_owned(),
            line.replace("}\n", ",\"entry_base64\":null}\n"),
            format!(" {line}"),
        ] {
            assert_ne!(other, line);
            assert!(ExportLine::parse(other.as_bytes()).is_none(), "{other}");
        }
    }
}
