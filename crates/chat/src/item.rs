//! A record of something that goes out to a chat, and its item in the outbox.
//!
//! Every chat has two lanes. What is new there has an order, that in which it happened: only the first item is
//! sent, however long it waits for its platform, and only a prompt overtakes words that cannot be delivered.
//! Repaints of messages that stand there already have none, and wait for nobody. So a later message cannot
//! overtake an earlier one, and a decision is never stuck behind a message that is.
//!
//! A record and its item are written in one transaction, here and nowhere else. The record of a prompt is a
//! note: it outlives its item by far, because its buttons do. Words are the payload of their item, and go with
//! it; a mark stays, so that they are said once.

use std::sync::atomic::{AtomicU32, Ordering};

use domain::time::Timestamp;
use engine::{ChatRecords, Error};
use ports::store::{
    OutboxChange, OutboxItem, OutboxKind, OutboxLane, OutboxLease, OutboxOrder, OutboxWrite,
    PutNote,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::limits::{SAID_MS, STALE_MS, UPDATE_ATTEMPTS};
use crate::notes::{self, NoteShelves, chat_key};

/// When something happened, among all that is new in a chat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(crate) struct Order {
    at_ms: i64,
    /// What an agent says comes before what it asks about in the same moment.
    rank: u8,
    /// Within one moment, in the order in which they were written down. Nothing of the same moment comes
    /// from another process: a clock goes on over restarts.
    number: u32,
}

impl Order {
    pub(crate) fn of_words(at: Timestamp) -> Order {
        Order::new(at, 0)
    }

    pub(crate) fn of_a_prompt(at: Timestamp) -> Order {
        Order::new(at, 1)
    }

    pub(crate) fn is_stale(&self, now: Timestamp) -> bool {
        now.ms_since(Timestamp::from_ms(self.at_ms)) > STALE_MS
    }

    fn new(at: Timestamp, rank: u8) -> Order {
        static WRITTEN: AtomicU32 = AtomicU32::new(0);
        let number = WRITTEN.fetch_add(1, Ordering::Relaxed);
        Order { at_ms: at.as_ms().max(0), rank, number }
    }

    fn in_outbox(self) -> OutboxOrder {
        let number = (i64::from(self.rank) << 32) | i64::from(self.number);
        OutboxOrder { at: Timestamp::from_ms(self.at_ms), number }
    }
}

/// In records, the three numbers with dots between them.
impl TryFrom<String> for Order {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Order, Self::Error> {
        let wrong = "an order is three numbers";
        if !text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
            return Err(wrong);
        }
        let mut parts = text.split('.');
        let (at, rank, number) = (parts.next(), parts.next(), parts.next());
        let (Some(at), Some(rank), Some(number), None) = (at, rank, number, parts.next()) else {
            return Err(wrong);
        };
        match (at.parse(), rank.parse(), number.parse()) {
            (Ok(at_ms), Ok(rank), Ok(number)) => Ok(Order { at_ms, rank, number }),
            _ => Err(wrong),
        }
    }
}

impl From<Order> for String {
    fn from(Order { at_ms, rank, number }: Order) -> String {
        format!("{at_ms:015}.{rank}.{number:010}")
    }
}

/// Something that is sent to a chat.
pub(crate) trait Outgoing: DeserializeOwned + Serialize {
    /// Whether the record is a note beside the outbox, and not the payload of its item.
    const IS_NOTE: bool;

    fn kind(&self) -> OutboxKind;

    /// What goes to one chat goes one after the other.
    fn lane(&self) -> String;

    /// For what nobody has seen yet; what stands there already has none.
    fn order(&self) -> Option<Order>;

    fn attempts(&self) -> u32;
}

/// The lane of a record that something is to be done about.
pub(crate) fn lane_of(shelves: &NoteShelves, record: &impl Outgoing) -> OutboxLane {
    OutboxLane {
        queue: shelves.queue.clone(),
        in_order: record.order().is_some(),
        name: chat_key(&record.lane()),
    }
}

/// A record that was read, and its item.
pub(crate) struct LoadedRecord<T> {
    pub(crate) record: T,
    /// Of the note, if it is one.
    note_version: Option<u64>,
    item: Option<OutboxItem>,
    /// When something is to be done about it.
    pub(crate) due_at: Option<Timestamp>,
}

/// How a record goes on.
#[derive(Clone)]
pub(crate) struct Next {
    pub(crate) due_at: Option<Timestamp>,
    /// It is being sent.
    pub(crate) lease: Option<OutboxLease>,
    pub(crate) forget_at: Option<Timestamp>,
    /// Written in the same transaction.
    pub(crate) beside: OutboxWrite,
}

impl Next {
    pub(crate) fn due(at: Timestamp) -> Next {
        Next { due_at: Some(at), ..Next::rests() }
    }

    pub(crate) fn leased(lease: OutboxLease) -> Next {
        Next { due_at: Some(lease.until), lease: Some(lease), ..Next::rests() }
    }

    pub(crate) fn rests() -> Next {
        Next { due_at: None, lease: None, forget_at: None, beside: OutboxWrite::default() }
    }
}

pub(crate) fn make<T: Outgoing>(
    shelves: &NoteShelves,
    key: &str,
    record: &T,
    due_at: Timestamp,
) -> OutboxItem {
    OutboxItem {
        // mutant: news-overtake-one-another
        lane: chat_key(&record.lane()),
        // mutant: paints-wait-in-line
        order: record.order().map(Order::in_outbox),
        attempts: record.attempts(),
        // Our own records always have a JSON form.
        payload: match T::IS_NOTE {
            true => Vec::new(),
            false => serde_json::to_vec(record).unwrap_or_default(),
        },
        ..OutboxItem::new(&shelves.queue, key, record.kind(), due_at)
    }
}

/// A record that is to be sent, and its item. `expected` is as in [`PutNote`], of the note or of the mark.
pub(crate) fn put<T: Outgoing>(
    shelves: &NoteShelves,
    key: &str,
    record: &T,
    expected: Option<u64>,
    now: Timestamp,
) -> OutboxWrite {
    let note = match T::IS_NOTE {
        true => notes::put(&shelves.out, key, record),
        false => {
            PutNote { forget_at: Some(now.plus_ms(SAID_MS)), ..notes::put(&shelves.said, key, &()) }
        }
    };
    let mut write = OutboxWrite::from(vec![PutNote { expected, ..note }]);
    let item = make(shelves, key, record, now);
    write.changes.push(OutboxChange { expected: None, ..OutboxChange::add(item) });
    write
}

/// A record and its item as they were at one moment.
pub(crate) async fn read_record<T: Outgoing>(
    records: &ChatRecords,
    shelves: &NoteShelves,
    key: &str,
) -> Result<Option<LoadedRecord<T>>, Error> {
    loop {
        let read = read_apart(records, shelves, key).await?;
        let Some(version) = read.as_ref().and_then(|read: &LoadedRecord<T>| read.note_version)
        else {
            return Ok(read);
        };
        // Otherwise one that has just been shown would look as if it were neither shown nor to be sent.
        let now = records.note(&shelves.out, key).await?;
        if now.is_some_and(|note| note.version == version) {
            return Ok(read);
        }
    }
}

/// The same for a write against the version of the note: if the item is another one, so is the note.
async fn read_apart<T: Outgoing>(
    records: &ChatRecords,
    shelves: &NoteShelves,
    key: &str,
) -> Result<Option<LoadedRecord<T>>, Error> {
    if !T::IS_NOTE {
        let Some(item) = records.outbox_item(&shelves.queue, key).await? else { return Ok(None) };
        let Some(record) = notes::parse_value(&shelves.queue, key, &item.payload) else {
            return Ok(None);
        };
        let due_at = Some(item.ready_at());
        return Ok(Some(LoadedRecord { record, note_version: None, item: Some(item), due_at }));
    }
    // The note first: a change of the item changes it, too, and then this version is old.
    let Some(note) = records.note(&shelves.out, key).await? else { return Ok(None) };
    let Some(record) = notes::parse_value(&shelves.out, key, &note.value) else { return Ok(None) };
    let item = records.outbox_item(&shelves.queue, key).await?;
    // A note of an earlier version says itself when it is due, until its item is made.
    let due_at = item.as_ref().map(OutboxItem::ready_at).or(note.due_at);
    Ok(Some(LoadedRecord { record, note_version: Some(note.version), item, due_at }))
}

/// Who changes a record.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum ItemWriter {
    /// The task that has sent it, or tried to: the lease ends, unless there is a new one.
    Sender,
    /// Anybody else. One that stays due as it was stays with its sender.
    Other,
}

/// Changes a record as it is now, and says what is to be written for that. `change` is given when it is due,
/// too; if it says `None`, nothing is.
pub(crate) async fn plan<T: Outgoing>(
    records: &ChatRecords,
    shelves: &NoteShelves,
    key: &str,
    writer: ItemWriter,
    change: &mut impl FnMut(&mut T, Option<Timestamp>) -> Option<Next>,
) -> Result<Option<(T, OutboxWrite)>, Error> {
    let found = read_apart(records, shelves, key).await?;
    let Some(LoadedRecord { mut record, note_version, item, due_at }) = found else {
        return Ok(None);
    };
    let Some(next) = change(&mut record, due_at) else {
        return Ok(Some((record, OutboxWrite::default())));
    };
    let mut write = next.beside;
    if T::IS_NOTE {
        write.notes.push(PutNote {
            expected: note_version,
            forget_at: next.forget_at,
            ..notes::put(&shelves.out, key, &record)
        });
    }
    let version = item.as_ref().map_or(0, |item| item.version);
    let change = OutboxChange {
        queue: shelves.queue.clone(),
        key: key.to_owned(),
        item: None,
        expected: Some(version),
    };
    match (next.due_at, item) {
        (None, None) => {}
        (None, Some(_)) => write.changes.push(change),
        (Some(at), item) => {
            let stays = writer == ItemWriter::Other && Some(at) == due_at;
            let as_before = item.filter(|_| stays || next.lease.is_some());
            let (since, lease) = match as_before {
                Some(item) => (item.due_at, next.lease.or(item.lease)),
                None => (at, next.lease),
            };
            let item = OutboxItem { lease, ..make(shelves, key, &record, since) };
            write.changes.push(OutboxChange { item: Some(item), ..change });
        }
    }
    Ok(Some((record, write)))
}

/// Changes a record, and reads it again whenever somebody else was first.
pub(crate) async fn update<T: Outgoing>(
    records: &ChatRecords,
    shelves: &NoteShelves,
    key: &str,
    (writer, now): (ItemWriter, Timestamp),
    mut change: impl FnMut(&mut T, Option<Timestamp>) -> Option<Next>,
) -> Result<Option<T>, Error> {
    for _ in 0..UPDATE_ATTEMPTS {
        let Some((record, write)) = plan(records, shelves, key, writer, &mut change).await? else {
            return Ok(None);
        };
        if write.is_empty() || records.write_outbox(write, now).await? {
            return Ok(Some(record));
        }
    }
    Err(Error::Unavailable("a record of a chat changes too often; try again".into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_damaged_order_is_none() {
        let read = |text: &str| serde_json::from_str::<Order>(text).ok();
        let order = Order::of_a_prompt(Timestamp::from_ms(1_000));
        assert_eq!(read(&serde_json::to_string(&order).unwrap()), Some(order));
        let known = Order { at_ms: 1_000, rank: 1, number: 7 };
        assert_eq!(read(r#""000000000001000.1.0000000007""#), Some(known), "as it is on disk");
        for damaged in ["000000000001000/1.0000000001", "1.1", "1.1.1.1", "", "-1.0.0", "1..1"] {
            assert_eq!(read(&format!("{damaged:?}")), None, "{damaged}");
        }
    }

    #[test]
    fn things_are_ordered_as_they_happened() {
        let at = Timestamp::from_ms;
        let asked = Order::of_a_prompt(at(1_000));
        let said = Order::of_words(at(1_000));
        let again = Order::of_words(at(1_000));
        let later = Order::of_words(at(9_999_999_999_999));
        assert!(!said.is_stale(at(1_000 + STALE_MS as i64)), "half a day");
        assert!(said.is_stale(at(1_001 + STALE_MS as i64)), "longer");
        assert!(said < again && again < asked && asked < later);
        let [said, again, asked, later] = [said, again, asked, later].map(Order::in_outbox);
        assert!(said < again && again < asked && asked < later, "also in the outbox");
    }
}
