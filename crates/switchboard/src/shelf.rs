//! Records of a channel, as notes of the store: small, durable, and changed only by whoever has seen them
//! as they are.

use domain::digest::{Digest, Framed};
use domain::time::Timestamp;
use domain::visible::visible;
use engine::Error;
use ports::store::{Note, PutNote, Store};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::queue::Kind;

/// Where the records of one channel stand.
#[derive(Clone, Debug)]
pub(crate) struct Shelves {
    /// Prompts (`d/KEY`) and other messages (`s/KEY`) that are sent, with the time when something is to
    /// be done about them. Only `queue.rs` writes here.
    pub(crate) out: String,
    /// The lanes of each kind, with the time when somebody should look at them.
    news: String,
    paints: String,
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

impl Shelves {
    pub(crate) fn of(channel: &str) -> Shelves {
        let shelf = |name: &str| format!("chat.{channel}.{name}");
        Shelves {
            out: shelf("out"),
            news: shelf("news"),
            paints: shelf("paints"),
            holds: shelf("holds"),
            here: shelf("here"),
            latest: shelf("latest"),
            seen: shelf("seen"),
            moved: shelf("moved"),
        }
    }

    pub(crate) fn lanes(&self, kind: Kind) -> &str {
        match kind {
            Kind::News => &self.news,
            Kind::Paints => &self.paints,
        }
    }

    /// What is to be sent in one lane.
    pub(crate) fn lane(&self, kind: Kind, lane: &str) -> String {
        format!("{}.{lane}", self.lanes(kind))
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

/// A record that was read, and the version that it had.
pub(crate) struct Read<T> {
    pub(crate) record: T,
    pub(crate) version: u64,
    pub(crate) due_at: Option<Timestamp>,
}

pub(crate) fn parse<T: DeserializeOwned>(note: &Note) -> Option<Read<T>> {
    match record(&note.value) {
        Ok(record) => Some(Read { record, version: note.version, due_at: note.due_at }),
        Err(why) => {
            tracing::error!(
                shelf = note.shelf,
                key = note.key,
                why,
                "a record of a chat cannot be read"
            );
            None
        }
    }
}

/// The error is for the log.
pub(crate) fn record<T: DeserializeOwned>(value: &[u8]) -> Result<T, String> {
    serde_json::from_slice(value).map_err(|error| visible(&error.to_string()))
}

pub(crate) async fn read<T: DeserializeOwned>(
    store: &dyn Store,
    shelf: &str,
    key: &str,
) -> Result<Option<Read<T>>, Error> {
    Ok(store.note(shelf, key).await?.as_ref().and_then(parse))
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

/// How a record goes on.
#[derive(Clone)]
pub(crate) struct Next {
    pub(crate) due_at: Option<Timestamp>,
    pub(crate) forget_at: Option<Timestamp>,
    /// Written in the same breath.
    pub(crate) beside: Vec<PutNote>,
}

impl Next {
    pub(crate) fn due(at: Timestamp) -> Next {
        Next { due_at: Some(at), forget_at: None, beside: Vec::new() }
    }

    pub(crate) fn rests() -> Next {
        Next { due_at: None, forget_at: None, beside: Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_with_a_record_is_told_as_text() {
        let told = record::<crate::saying::Saying>(br#"{"\u001b[2J":1}"#).unwrap_err();
        assert!(told.contains("`⟦U+001B⟧[2J`"), "{told}");
    }

    #[test]
    fn keys_fit_into_buttons_and_differ() {
        let keys: Vec<String> = (0..200).map(|n| chat_key(&n.to_string())).collect();
        for key in &keys {
            assert!(ports::channel::Key::new(key).is_ok(), "{key}");
        }
        let different: std::collections::BTreeSet<&String> = keys.iter().collect();
        assert_eq!(different.len(), keys.len());
    }
}
