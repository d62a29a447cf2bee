//! What goes to disk: a language of its own, apart from the domain's types and versioned.
//!
//! One commit is one [`row`] of JSON, and these exact bytes are the audit entry. A row says nothing
//! twice: the bytes of a call's arguments stand in the message that carried them, and a hold that is
//! opened together with its call refers to it. No stored digest is believed: calls are built anew
//! from their parts, and what comes out must have the digest that was written.
//!
//! The golden files in `golden` are never edited. A field that this version does not know makes a
//! record unreadable rather than half read: it might be the one that forbids something.

mod actor;
mod answer;
mod call;
mod caption;
mod comment;
mod credential;
mod event;
#[cfg(test)]
mod golden;
mod grant;
mod hold;
mod json;
mod message;
mod question;
mod row;
#[cfg(test)]
mod samples;
mod since;
mod sql_facts;
mod state;
mod token;
mod warning;

use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;

use std::sync::Arc;

use domain::digest::Digest;
use domain::event::Event;
use domain::grant::Grant;
use domain::hold::Hold;
use domain::id::{SPELLED_MAX, SessionId, Spell};
use domain::time::Timestamp;
use ports::store::{Entry, StoreError};
use serde::de::{Deserialize, Deserializer, Visitor};
use serde::ser::{Serialize, Serializer};

pub(crate) use actor::{StoredActor, key_of};
pub(crate) use credential::{read_origin, write_origin};
pub(crate) use grant::{read_grant, write_grant};
pub(crate) use hold::{read_hold, write_hold};
pub(crate) use row::{read_row, write_row};
pub(crate) use since::{read_since, write_since};

/// The newest version that this code reads. It writes the oldest that can say what is to be said, so
/// that an older reader is refused only what it would not understand:
///
/// | version | since then |
/// |---|---|
/// | 1 | the beginning |
/// | 2 | what turns cost, budgets that are used up, and who looked at secrets |
/// | 3 | answers that were refused in a channel, and prompts that could not be delivered |
/// | 4 | who made the login or token of a voter, rules that refuse those that another person made, and what an SQL tool knew about a statement |
/// | 5 | who made the login or token by which something was asked |
/// | 6 | what a warning says, beside its text, a title, a summary, and the lines about how a call runs; that a caller gave the reason `superseded` for a cancellation, which is not ours |
/// | 7 | that an MCP server behind OAuth was connected, disconnected, or could not be connected; what people say to one another about a hold; files that came with a message |
pub const VERSION: u32 = 7;
/// What holds and grants are written as, unless they say something newer.
const FIRST: u32 = 1;

const USUAL_BYTES: usize = 2 << 10;

/// Why a record cannot be read. It never repeats what the record says, which may be a secret.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Broken {
    #[error(
        "this data was written by a newer version of Holdpoint (record version {0}, and this one \
         reads up to {VERSION}); run that version"
    )]
    Newer(u32),
    #[error("a record is damaged: {0}; restore the data from a backup")]
    Damaged(String),
}

impl From<Broken> for StoreError {
    fn from(broken: Broken) -> StoreError {
        StoreError::Unreadable(broken.to_string())
    }
}

/// A row of the journal as it would be written again. Bytes from a disk are foreign bytes: a
/// fuzzer tries the reader with hostile ones through this function and the next three.
pub fn row_again(bytes: &[u8]) -> Result<(Entry, Vec<u8>), StoreError> {
    let entry = read_row(bytes, 1)?;
    if entry.first == 0 {
        return Err(Broken::Damaged("positions begin at 1".into()).into());
    }
    let written = write_row(&entry);
    Ok((entry, written))
}

pub fn hold_again(bytes: &[u8]) -> Result<(Arc<Hold>, Vec<u8>), StoreError> {
    let hold = read_hold(bytes)?;
    let written = write_hold(&hold);
    Ok((hold, written))
}

/// Of a hold that was opened so.
pub fn since_again(bytes: &[u8], opened: &Hold) -> Result<(Arc<Hold>, Vec<u8>), StoreError> {
    let hold = read_since(bytes, opened)?;
    let written = write_since(opened, &hold);
    Ok((hold, written.expect("nothing else has changed")))
}

pub fn grant_again(bytes: &[u8]) -> Result<(Arc<Grant>, Vec<u8>), StoreError> {
    let grant = read_grant(bytes)?;
    let written = write_grant(&grant);
    Ok((grant, written))
}

fn damaged<T>(what: impl Into<String>) -> Result<T, Broken> {
    Err(Broken::Damaged(what.into()))
}

/// Anything with one spelling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Text<T>(pub(crate) T);

impl<T: Spell> Serialize for Text<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.spell(&mut [0; SPELLED_MAX]))
    }
}

impl<'de, T: FromStr> Deserialize<'de> for Text<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Text<T>, D::Error> {
        deserializer.deserialize_str(Spelled(PhantomData))
    }
}

struct Spelled<T>(PhantomData<T>);

impl<T: FromStr> Visitor<'_> for Spelled<T> {
    type Value = Text<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an id")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Text<T>, E> {
        text.parse().map(Text).map_err(|_| E::custom("not the expected kind of id"))
    }
}

/// A digest by its digits alone: what people see has `sha256:` before it, and finds it here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hex(pub(crate) Digest);

impl Serialize for Hex {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.digits(&mut [0; 64]))
    }
}

const SHA256: &str = "sha256:";

impl<'de> Deserialize<'de> for Hex {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Hex, D::Error> {
        let digits = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        let digest = format!("{SHA256}{digits}").parse();
        digest.map(Hex).map_err(|_| serde::de::Error::custom("not a digest"))
    }
}

/// What a row says about all of its events, so that they need not say it again.
#[derive(Clone, Copy, Default)]
struct RowContext<'a> {
    session: Option<SessionId>,
    at: Option<Timestamp>,
    /// The events before the one in hand.
    earlier: &'a [Event],
}

/// Milliseconds since 1970.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub(crate) struct Ms(i64);

impl From<Timestamp> for Ms {
    fn from(at: Timestamp) -> Ms {
        Ms(at.as_ms())
    }
}

impl From<Ms> for Timestamp {
    fn from(ms: Ms) -> Timestamp {
        Timestamp::from_ms(ms.0)
    }
}

#[derive(serde::Deserialize)]
struct Versioned {
    v: u32,
}

/// Reads a record of this version, or says what is wrong with it without repeating any of it.
fn read_record<'a, T: Deserialize<'a>>(
    bytes: &'a [u8],
    version: impl Fn(&T) -> u32,
) -> Result<T, Broken> {
    match serde_json::from_slice::<T>(bytes) {
        Ok(record) if (FIRST..=VERSION).contains(&version(&record)) => Ok(record),
        Ok(record) if version(&record) > VERSION => Err(Broken::Newer(version(&record))),
        Ok(_) => damaged("a version that never was"),
        Err(error) => match serde_json::from_slice::<Versioned>(bytes) {
            Ok(Versioned { v }) if v > VERSION => Err(Broken::Newer(v)),
            _ => damaged(format!("{:?} at column {}", error.classify(), error.column())),
        },
    }
}

fn write_record<T: Serialize>(record: &T) -> Vec<u8> {
    // Most records fit: growing step by step would copy each of them several times.
    let mut bytes = Vec::with_capacity(USUAL_BYTES);
    // Writing to memory cannot fail, and no record has a map whose keys are not text.
    serde_json::to_writer(&mut bytes, record).expect("a record is always JSON");
    bytes
}

fn is_false(value: &bool) -> bool {
    !*value
}
