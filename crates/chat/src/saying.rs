//! Something that is said in a chat beside the prompts: written down, sent, and then forgotten.

use domain::time::Timestamp;
use ports::channel::Destination;
use ports::store::{OutboxKind, OutboxWrite};
use serde::{Deserialize, Serialize};

use crate::item::{self, Order, Outgoing};
use crate::limits::{PATIENT_ATTEMPTS, TEXT_BYTES_MAX};
use crate::notes::NoteShelves;
use crate::prompt_record::StoredPlace;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TextRecord {
    v: u8,
    #[serde(rename = "ticket")]
    order: Order,
    pub(crate) place: StoredPlace,
    pub(crate) text: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) reply_to: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) whisper_to: Option<String>,
    /// Messages of it that stand there: what follows goes on after them.
    #[serde(default)]
    pub(crate) said: usize,
    /// Since something last worked.
    #[serde(default)]
    pub(crate) attempts: u32,
}

impl TextRecord {
    pub(crate) fn new(place: &Destination, text: &str, at: Timestamp) -> TextRecord {
        TextRecord {
            v: 1,
            order: Order::of_words(at),
            place: place.into(),
            text: bounded(text),
            reply_to: None,
            whisper_to: None,
            said: 0,
            attempts: 0,
        }
    }

    /// It need not be said any more.
    pub(crate) fn is_stale(&self, now: Timestamp) -> bool {
        self.order.is_stale(now)
    }

    pub(crate) fn replying_to(self, message: &str) -> TextRecord {
        TextRecord { reply_to: Some(message.to_owned()), ..self }
    }

    pub(crate) fn whispered_to(self, identity: &str) -> TextRecord {
        TextRecord { whisper_to: Some(identity.to_owned()), ..self }
    }

    /// Under this name it is said once.
    pub(crate) fn put(&self, shelves: &NoteShelves, key: &str, now: Timestamp) -> OutboxWrite {
        item::put(shelves, &said_key(key), self, Some(0), now)
    }

    /// As [`TextRecord::put`], in one transaction with a record that decides whether this is the first time.
    pub(crate) fn put_beside(
        &self,
        shelves: &NoteShelves,
        key: &str,
        now: Timestamp,
    ) -> OutboxWrite {
        item::put(shelves, &said_key(key), self, None, now)
    }
}

impl Outgoing for TextRecord {
    const IS_NOTE: bool = false;

    fn kind(&self) -> OutboxKind {
        OutboxKind::Text
    }

    fn lane(&self) -> String {
        self.place.lane()
    }

    fn order(&self) -> Option<Order> {
        (self.attempts < PATIENT_ATTEMPTS).then_some(self.order)
    }

    fn attempts(&self) -> u32 {
        self.attempts
    }
}

/// The name of words in the outbox, and of their mark.
pub(crate) fn said_key(key: &str) -> String {
    format!("s/{key}")
}

fn bounded(text: &str) -> String {
    if text.len() <= TEXT_BYTES_MAX {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(TEXT_BYTES_MAX);
    format!("{}…", &text[..end])
}
