//! The order in which things leave for the chats of one line.
//!
//! Every chat has two lanes. In the lane of *news* stand messages that nobody has seen yet: in line, in the
//! order in which they happened, and only the first of them can be sent, however long it waits for its
//! platform; only a prompt overtakes words that cannot be delivered. In the lane of *paints* are messages that stand there already and are to look different: they
//! wait for nobody else's news. So a later message cannot overtake an earlier one, and a decision is never
//! stuck behind a message that is.
//!
//! A record and its stand in a lane are written in one breath, here and nowhere else. A lane that something
//! was put into is due at once; whoever serves it finds out when it is due next (`outbox.rs`). One that waits
//! for its turn already keeps it ([`write`]).

use std::sync::atomic::{AtomicU32, Ordering};

use domain::time::Timestamp;
use engine::Error;
use ports::store::{Note, PutNote, Store};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::delivery::Delivery;
use crate::limits::{PAGE, STALE_MS, UPDATE_ATTEMPTS};
use crate::saying::Saying;
use crate::shelf::{self, Next, Shelves, chat_key};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    News,
    Paints,
}

/// When something happened, among all that is new in a chat. Compared as text.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Ticket(String);

impl TryFrom<String> for Ticket {
    type Error = &'static str;

    /// A ticket with anything else in it would hide what stands behind it in its entry.
    fn try_from(text: String) -> Result<Ticket, Self::Error> {
        match text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
            true => Ok(Ticket(text)),
            false => Err("a ticket is made of digits"),
        }
    }
}

impl Ticket {
    /// What an agent says comes before what it asks about in the same moment.
    pub(crate) fn of_words(at: Timestamp) -> Ticket {
        Ticket::new(at, 0)
    }

    pub(crate) fn of_a_prompt(at: Timestamp) -> Ticket {
        Ticket::new(at, 1)
    }

    pub(crate) fn is_stale(&self, now: Timestamp) -> bool {
        self.is_older_than(STALE_MS, now)
    }

    pub(crate) fn is_older_than(&self, ms: u64, now: Timestamp) -> bool {
        let at = self.0.split('.').next().and_then(|ms| ms.parse().ok()).map(Timestamp::from_ms);
        at.is_some_and(|at| now.ms_since(at) > ms)
    }

    fn new(at: Timestamp, rank: u8) -> Ticket {
        // Within one moment, in the order in which they were written down. Nothing of the same moment
        // comes from another process: a clock goes on over restarts.
        static WRITTEN: AtomicU32 = AtomicU32::new(0);
        let number = WRITTEN.fetch_add(1, Ordering::Relaxed);
        Ticket(format!("{:015}.{rank}.{number:010}", at.as_ms().max(0)))
    }
}

/// Something that is sent to a chat.
pub(crate) trait Outgoing: DeserializeOwned + Serialize {
    /// What goes to one chat goes one after the other.
    fn lane(&self) -> String;

    /// For what nobody has seen yet; what stands there already has none.
    fn ticket(&self) -> Option<&Ticket>;
}

/// Where a record stands that something is to be done about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stand {
    pub(crate) kind: Kind,
    pub(crate) lane: String,
    /// Its name in the lane.
    entry: String,
}

impl Stand {
    pub(crate) fn of(record: &impl Outgoing, key: &str) -> Stand {
        let lane = chat_key(&record.lane());
        match record.ticket() {
            Some(ticket) => Stand { kind: Kind::News, lane, entry: format!("{}/{key}", ticket.0) },
            None => Stand { kind: Kind::Paints, lane, entry: key.to_owned() },
        }
    }

    /// The record that whoever finds it in its lane comes to.
    #[cfg(feature = "fuzz-api")]
    pub(crate) fn leads_to(&self) -> &str {
        leads_to(self.kind, &self.entry)
    }

    fn enters(&self, shelves: &Shelves, due: Timestamp) -> PutNote {
        let put = shelf::put(&shelves.lane(self.kind, &self.lane), &self.entry, &due.as_ms());
        // News are due only when they are first, so nobody looks for them by their time.
        PutNote { due_at: (self.kind == Kind::Paints).then_some(due), ..put }
    }

    fn leaves(&self, shelves: &Shelves) -> PutNote {
        shelf::remove(&shelves.lane(self.kind, &self.lane), &self.entry)
    }

    /// Somebody should look at the lane.
    fn poke(&self, shelves: &Shelves, now: Timestamp) -> PutNote {
        PutNote { due_at: Some(now), ..shelf::put(shelves.lanes(self.kind), &self.lane, &()) }
    }
}

/// Writes it down, together or not at all. A lane that is poked and was due before stays where it is among
/// the lanes: otherwise a chat that is talked in all the time would never have its turn. Whoever serves it
/// meanwhile may find it due too early, and does no harm.
pub(crate) async fn write(
    store: &dyn Store,
    shelves: &Shelves,
    mut puts: Vec<PutNote>,
) -> Result<bool, Error> {
    let is_lane =
        |shelf: &str| [Kind::News, Kind::Paints].map(|it| shelves.lanes(it)).contains(&shelf);
    for put in puts.iter_mut().filter(|put| is_lane(&put.shelf)) {
        let noted = store.note(&put.shelf, &put.key).await?.and_then(|note| note.due_at);
        put.due_at = put.due_at.map(|poked| noted.map_or(poked, |due| due.min(poked)));
    }
    Ok(store.put_notes(puts).await?)
}

/// A record that is to be sent, and its place in line.
pub(crate) fn put<T: Outgoing>(
    shelves: &Shelves,
    key: &str,
    record: &T,
    expected: Option<u64>,
    now: Timestamp,
) -> Vec<PutNote> {
    let stand = Stand::of(record, key);
    let written = PutNote { expected, due_at: Some(now), ..shelf::put(&shelves.out, key, record) };
    vec![written, stand.enters(shelves, now), stand.poke(shelves, now)]
}

/// Changes a record as it is now, and reads it again whenever somebody else was first. `change` is given
/// when it is due, too; if it says `None`, nothing is written.
pub(crate) async fn update<T: Outgoing>(
    store: &dyn Store,
    shelves: &Shelves,
    key: &str,
    now: Timestamp,
    mut change: impl FnMut(&mut T, Option<Timestamp>) -> Option<Next>,
) -> Result<Option<T>, Error> {
    for _ in 0..UPDATE_ATTEMPTS {
        let Some(mut read) = shelf::read::<T>(store, &shelves.out, key).await? else {
            return Ok(None);
        };
        let before = read.due_at.map(|_| Stand::of(&read.record, key));
        let Some(next) = change(&mut read.record, read.due_at) else {
            return Ok(Some(read.record));
        };
        let after = next.due_at.map(|due| (Stand::of(&read.record, key), due));
        let mut puts = vec![PutNote {
            expected: Some(read.version),
            due_at: next.due_at,
            forget_at: next.forget_at,
            ..shelf::put(&shelves.out, key, &read.record)
        }];
        if let Some(before) = before
            && after.as_ref().is_none_or(|(after, _)| *after != before)
        {
            puts.extend([before.leaves(shelves), before.poke(shelves, now)]);
        }
        if let Some((after, due)) = after {
            puts.extend([after.enters(shelves, due), after.poke(shelves, now)]);
        }
        puts.extend(next.beside);
        if write(store, shelves, puts).await? {
            return Ok(Some(read.record));
        }
    }
    Err(Error::Unavailable("a record of a chat changes too often; try again".into()))
}

/// What a lane has to be sent.
pub(crate) struct First {
    entry: Note,
    /// The record's name.
    pub(crate) key: String,
    pub(crate) due: Timestamp,
}

/// What is sent from a lane next: of news the first in line, of paints the one that is due the longest.
/// A prompt overtakes words that cannot be delivered ([`Saying::yields`]): people wait for it.
pub(crate) async fn first(
    store: &dyn Store,
    shelves: &Shelves,
    kind: Kind,
    lane: &str,
    now: Timestamp,
) -> Result<Option<First>, Error> {
    let shelf = shelves.lane(kind, lane);
    let entries = match kind {
        Kind::News => store.notes(&shelf, "", None, 1).await?,
        Kind::Paints => store.due_notes(&shelf, Timestamp::from_ms(i64::MAX), 1).await?,
    };
    let Some(first) = entries.into_iter().next().map(|entry| First::new(kind, entry)) else {
        return Ok(None);
    };
    if kind == Kind::Paints || first.due <= now || !first.key.starts_with("s/") {
        return Ok(Some(first));
    }
    let stuck = shelf::read::<Saying>(store, &shelves.out, &first.key).await?;
    if !stuck.is_some_and(|stuck| stuck.record.yields(first.due, now)) {
        return Ok(Some(first));
    }
    let prompt = first_prompt(store, &shelf, &first.entry.key).await?;
    Ok(Some(prompt.filter(|prompt| prompt.due < first.due).unwrap_or(first)))
}

/// The first prompt in line behind an entry. Prompts do not overtake each other.
async fn first_prompt(store: &dyn Store, shelf: &str, after: &str) -> Result<Option<First>, Error> {
    let mut after = after.to_owned();
    loop {
        let entries = store.notes(shelf, "", Some(&after), PAGE).await?;
        let Some(last) = entries.last().map(|entry| entry.key.clone()) else { return Ok(None) };
        let is_prompt = |entry: &Note| leads_to(Kind::News, &entry.key).starts_with("d/");
        if let Some(entry) = entries.into_iter().find(is_prompt) {
            return Ok(Some(First::new(Kind::News, entry)));
        }
        after = last;
    }
}

/// The record that an entry of a lane is about.
fn leads_to(kind: Kind, entry: &str) -> &str {
    match kind {
        Kind::News => entry.split_once('/').unwrap_or_default().1,
        Kind::Paints => entry,
    }
}

/// Whether an entry of a lane is what its record says.
pub(crate) enum Sound {
    Yes,
    /// It is not; what is to be written so that it is.
    Stale(Vec<PutNote>),
    /// By this version, at least.
    Unreadable,
}

impl First {
    fn new(kind: Kind, entry: Note) -> First {
        // A time that cannot be read is over.
        let ms = shelf::parse::<i64>(&entry).map_or(0, |read| read.record);
        First { key: leads_to(kind, &entry.key).to_owned(), due: Timestamp::from_ms(ms), entry }
    }

    pub(crate) async fn is_sound(
        &self,
        store: &dyn Store,
        shelves: &Shelves,
        now: Timestamp,
    ) -> Result<Sound, Error> {
        let Some(note) = store.note(&shelves.out, &self.key).await? else {
            return Ok(Sound::Stale(vec![self.leaves()]));
        };
        let stand = match self.key.starts_with("s/") {
            true => shelf::parse::<Saying>(&note).map(|read| Stand::of(&read.record, &self.key)),
            false => shelf::parse::<Delivery>(&note).map(|read| Stand::of(&read.record, &self.key)),
        };
        Ok(match (stand, note.due_at) {
            (None, _) => Sound::Unreadable,
            (Some(_), None) => Sound::Stale(vec![self.leaves()]),
            (Some(stand), Some(due)) => {
                let right = stand.enters(shelves, due);
                let here = (&right.shelf, &right.key) == (&self.entry.shelf, &self.entry.key);
                match here && due == self.due {
                    true => Sound::Yes,
                    false => Sound::Stale(vec![self.leaves(), right, stand.poke(shelves, now)]),
                }
            }
        })
    }

    fn leaves(&self) -> PutNote {
        shelf::remove(&self.entry.shelf, &self.entry.key)
    }

    /// Among the paints, where nobody waits for it.
    pub(crate) fn steps_aside(
        &self,
        shelves: &Shelves,
        lane: &str,
        now: Timestamp,
        until: Timestamp,
    ) -> Vec<PutNote> {
        let stand = Stand { kind: Kind::Paints, lane: lane.to_owned(), entry: self.key.clone() };
        vec![self.leaves(), stand.enters(shelves, until), stand.poke(shelves, now)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_damaged_ticket_is_none() {
        let read = |text: &str| serde_json::from_str::<Ticket>(text).ok();
        let ticket = Ticket::of_a_prompt(Timestamp::from_ms(1_000));
        assert_eq!(read(&format!("{:?}", ticket.0)), Some(ticket));
        assert_eq!(read(r#""000000000001000/1.0000000001""#), None);
    }

    #[test]
    fn tickets_are_ordered_as_things_happened() {
        let at = Timestamp::from_ms;
        let asked = Ticket::of_a_prompt(at(1_000));
        let said = Ticket::of_words(at(1_000));
        let again = Ticket::of_words(at(1_000));
        let later = Ticket::of_words(at(9_999_999_999_999));
        assert!(!said.is_stale(at(1_000 + STALE_MS as i64)), "half a day");
        assert!(said.is_stale(at(1_001 + STALE_MS as i64)), "longer");
        assert!(said.0 < again.0 && again.0 < asked.0 && asked.0 < later.0);
    }
}
