//! What is made of records that may be damaged, without a store around them: the very functions that read
//! them, for fuzzers.

use domain::id::HoldId;
use domain::time::Timestamp;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::incoming::Seen;
use crate::item::{Outgoing, make};
use crate::notes::{NoteShelves, record};
use crate::prompt_record::PromptRecord;
use crate::saying::TextRecord;

/// One of the records of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordKind {
    /// A prompt.
    PromptRecord,
    /// Another message.
    Saying,
    /// What was dealt with.
    Seen,
    /// Where the log was followed to.
    Position,
    /// A chat's other name, or our latest message in it.
    Name,
}

/// A record as it would be written again; the error is for the log.
pub fn again(kind: RecordKind, value: &[u8]) -> Result<Vec<u8>, String> {
    match kind {
        RecordKind::PromptRecord => rewritten::<PromptRecord>(value),
        RecordKind::Saying => rewritten::<TextRecord>(value),
        RecordKind::Seen => rewritten::<Seen>(value),
        RecordKind::Position => rewritten::<u64>(value),
        RecordKind::Name => rewritten::<String>(value),
    }
}

fn rewritten<T: DeserializeOwned + Serialize>(value: &[u8]) -> Result<Vec<u8>, String> {
    serde_json::to_vec(&record::<T>(value)?).map_err(|error| error.to_string())
}

/// What a prompt says, as far as somebody acts on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptFacts {
    pub hold: Option<HoldId>,
    /// Certainly nobody has seen it.
    pub never_left: bool,
    pub is_stale: bool,
    /// The chat where it stands or is to stand.
    pub chat: Option<String>,
    pub has_nonce: bool,
    /// The record that its item in the outbox leads to.
    pub leads_to: String,
}

/// A prompt, as it was noted down under this name.
pub fn prompt(value: &[u8], key: &str, now: Timestamp) -> Option<PromptFacts> {
    let delivery: PromptRecord = record(value).ok()?;
    Some(PromptFacts {
        hold: delivery.hold(),
        never_left: delivery.never_left(),
        is_stale: delivery.is_stale(now),
        chat: delivery.chat().map(str::to_owned),
        has_nonce: delivery.nonce().is_some(),
        leads_to: led(&delivery, key),
    })
}

/// Whether something that is said is too old to be said, and where its item leads.
pub fn saying(value: &[u8], key: &str, now: Timestamp) -> Option<(bool, String)> {
    let saying: TextRecord = record(value).ok()?;
    Some((saying.is_stale(now), led(&saying, key)))
}

fn led(record: &impl Outgoing, key: &str) -> String {
    make(&NoteShelves::of("any"), key, record, Timestamp::from_ms(0)).key
}
