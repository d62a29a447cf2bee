//! Records of a channel, as notes of the store: small, durable, and changed only by whoever has seen them
//! as they are.

use domain::digest::{Digest, Framed};
use domain::visible::visible;
use engine::{ChatRecords, Error};
use ports::store::PutNote;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Where the records of one channel stand.
#[derive(Clone, Debug)]
pub(crate) struct NoteShelves {
    /// The channel's queue in the outbox: prompts and their repaints (`d/KEY`), and words (`s/KEY`).
    pub(crate) queue: String,
    /// The records of prompts (`d/KEY`). Only `item.rs` writes here.
    pub(crate) out: String,
    /// Marks of words that were put into the outbox (`s/KEY`).
    pub(crate) said: String,
    /// `HOLD/KEY`: the prompts of a hold.
    pub(crate) holds: String,
    /// `CHAT/KEY`: the open prompts of a chat.
    pub(crate) here: String,
    /// Our latest message in each chat.
    pub(crate) latest: String,
    /// What arrived and was dealt with.
    pub(crate) seen: String,
    /// `to/CHAT` and `from/CHAT`: chats that have another name now.
    pub(crate) moved: String,
}

impl NoteShelves {
    pub(crate) fn of(channel: &str) -> NoteShelves {
        let shelf = |name: &str| format!("chat.{channel}.{name}");
        NoteShelves {
            queue: format!("chat.{channel}"),
            out: shelf("out"),
            said: shelf("said"),
            holds: shelf("holds"),
            here: shelf("here"),
            latest: shelf("latest"),
            seen: shelf("seen"),
            moved: shelf("moved"),
        }
    }
}

/// A chat in a key: of one length, whatever its platform calls it.
pub(crate) fn chat_key(chat: &str) -> String {
    short(Framed::new("holdpoint.chat.v1").field("chat", chat.as_bytes()).finish())
}

/// 22 letters and digits: what fits into a button.
pub(crate) fn short(digest: Digest) -> String {
    const LETTERS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&digest.as_bytes()[..16]);
    let mut number = u128::from_le_bytes(bytes);
    let letters = (0..22).map(|_| {
        let letter = LETTERS[(number % 62) as usize] as char;
        number /= 62;
        letter
    });
    letters.collect()
}

/// `None`, and an operator hears of it, if this version cannot read it.
pub(crate) fn parse_value<T: DeserializeOwned>(shelf: &str, key: &str, value: &[u8]) -> Option<T> {
    match record(value) {
        Ok(record) => Some(record),
        Err(why) => {
            tracing::error!(shelf, key, why, "a record of a chat cannot be read");
            None
        }
    }
}

/// The error is for the log.
pub(crate) fn record<T: DeserializeOwned>(value: &[u8]) -> Result<T, String> {
    serde_json::from_slice(value).map_err(|error| visible(&error.to_string()))
}

pub(crate) async fn read_note<T: DeserializeOwned>(
    records: &ChatRecords,
    shelf: &str,
    key: &str,
) -> Result<Option<T>, Error> {
    let note = records.note(shelf, key).await?;
    Ok(note.and_then(|note| parse_value(shelf, key, &note.value)))
}

pub(crate) fn put<T: Serialize>(shelf: &str, key: &str, record: &T) -> PutNote {
    PutNote {
        shelf: shelf.to_owned(),
        key: key.to_owned(),
        // Our own records always have a JSON form.
        value: Some(serde_json::to_vec(record).unwrap_or_default()),
        expected: None,
        due_at: None,
        forget_at: None,
    }
}

pub(crate) fn remove(shelf: &str, key: &str) -> PutNote {
    PutNote {
        shelf: shelf.to_owned(),
        key: key.to_owned(),
        value: None,
        expected: None,
        due_at: None,
        forget_at: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_with_a_record_is_told_as_text() {
        let told = record::<crate::saying::TextRecord>(br#"{"\u001b[2J":1}"#).unwrap_err();
        assert!(told.contains("`⟦U+001B⟧[2J`"), "{told}");
    }

    #[test]
    fn keys_fit_into_buttons_and_differ() {
        let keys: Vec<String> = (0..200).map(|n| chat_key(&n.to_string())).collect();
        for key in &keys {
            assert!(ports::channel::DeliveryKey::new(key).is_ok(), "{key}");
        }
        let different: std::collections::BTreeSet<&String> = keys.iter().collect();
        assert_eq!(different.len(), keys.len());
    }
}
