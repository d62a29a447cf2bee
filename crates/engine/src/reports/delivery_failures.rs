//! What went wrong in channels, for admins: prompts that reached nobody, and
//! answers that were not theirs to give. Both are in the log. Nothing here decides anything.

use std::sync::Arc;

use domain::event::{GlobalEvent, RefusedAnswer};
use domain::global_state::GlobalCommand;
use domain::hold::Hold;
use domain::id::HoldId;
use domain::person::Actor;
use domain::time::Timestamp;
use ports::store::{Note, PutNote};
use serde_json::{Value, json};

use crate::accounts::Caller;
use crate::limits::{
    FAILURES_LOOKED_AT, FAILURES_SHOWN_MS, UNDELIVERED_AT_ONCE, UNDELIVERED_KEPT_MS,
    UNDELIVERED_SHOWN,
};
use crate::{Engine, Error};

const SHELF: &str = "undelivered";

/// A place in which people could not be asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undelivered {
    pub channel: String,
    /// A person, where it was one; else the chat as its platform calls it.
    pub to: String,
    pub why: String,
    pub at: Timestamp,
}

impl Undelivered {
    /// As it is noted down.
    pub fn write(&self) -> Vec<u8> {
        let Undelivered { channel, to, why, at } = self;
        let stored = json!({"channel": channel, "to": to, "why": why, "at_ms": at.as_ms()});
        stored.to_string().into_bytes()
    }

    /// `None`: the note is damaged.
    pub fn read(note: &[u8]) -> Option<Undelivered> {
        let stored: Value = serde_json::from_slice(note).ok()?;
        let text = |name: &str| stored[name].as_str().map(str::to_owned);
        Some(Undelivered {
            channel: text("channel")?,
            to: text("to")?,
            why: text("why")?,
            at: Timestamp::from_ms(stored["at_ms"].as_i64()?),
        })
    }
}

/// Such a place, and the hold about which people could not be asked there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChannelFailure {
    pub hold: HoldId,
    pub told: Undelivered,
}

impl Engine {
    /// Of holds of the last days, the newest first; for admins.
    pub async fn channel_failures(&self, caller: &Caller) -> Result<Vec<ChannelFailure>, Error> {
        caller.must_be_admin()?;
        let since = HoldId::new(self.now().minus_ms(FAILURES_SHOWN_MS).as_ms(), 0).to_string();
        let notes = self.0.store.notes(SHELF, "", Some(&since), FAILURES_LOOKED_AT).await?;
        let failures = notes.iter().filter_map(|note| {
            let hold = note.key.split('/').next()?.parse().ok()?;
            Some(ChannelFailure { hold, told: Undelivered::read(&note.value)? })
        });
        let mut failures: Vec<ChannelFailure> = failures.collect();
        failures.sort_by_key(|failure| std::cmp::Reverse(failure.told.at));
        Ok(failures)
    }

    /// A prompt was given up. `key` is its name: the same once more changes nothing.
    pub async fn note_undelivered(
        &self,
        hold: HoldId,
        key: &str,
        undelivered: &Undelivered,
    ) -> Result<(), Error> {
        let Undelivered { channel, to, why, at } = undelivered;
        let note = format!("{hold}/{channel}/{key}");
        if self.0.store.note(SHELF, &note).await?.is_some() {
            return Ok(());
        }
        // In the log first: whoever dies in between says it twice rather than never.
        let event = GlobalEvent::DeliveryFailed {
            hold,
            channel: channel.clone(),
            to: to.clone(),
            why: why.clone(),
        };
        self.change_global(&Actor::Runtime, GlobalCommand::Record(event)).await?;
        let put = PutNote {
            shelf: SHELF.into(),
            key: note,
            value: Some(undelivered.write()),
            expected: None,
            due_at: None,
            forget_at: Some(at.plus_ms(UNDELIVERED_KEPT_MS)),
        };
        self.0.store.put_notes(vec![put]).await?;
        Ok(())
    }

    /// Where people could not be asked about a hold that the caller has seen.
    pub async fn undelivered(&self, hold: &Hold) -> Result<Vec<Undelivered>, Error> {
        let prefix = format!("{}/", hold.id);
        let notes = self.0.store.notes(SHELF, &prefix, None, UNDELIVERED_SHOWN).await?;
        Ok(notes.iter().filter_map(|note| Undelivered::read(&note.value)).collect())
    }

    /// The same of each hold of a page, in its order. Mostly there is nothing, and one look says so.
    pub async fn undelivered_of(
        &self,
        holds: &[Arc<Hold>],
    ) -> Result<Vec<Vec<Undelivered>>, Error> {
        let ids: Vec<String> = holds.iter().map(|hold| hold.id.to_string()).collect();
        let (Some(first), Some(last)) = (ids.iter().min(), ids.iter().max()) else {
            return Ok(Vec::new());
        };
        let prefix = begins_alike(first, last);
        let notes = self.0.store.notes(SHELF, prefix, Some(first), UNDELIVERED_AT_ONCE).await?;
        let mut told = Vec::with_capacity(holds.len());
        for (hold, id) in holds.iter().zip(&ids) {
            told.push(match is_all_of(&notes, id) {
                false => self.undelivered(hold).await?,
                true => notes
                    .iter()
                    .filter(|note| is_of(&note.key, id))
                    .take(UNDELIVERED_SHOWN)
                    .filter_map(|note| Undelivered::read(&note.value))
                    .collect(),
            });
        }
        Ok(told)
    }

    /// Somebody tried. Whoever calls this sees to it that nobody can fill the log with it.
    pub async fn note_refused(&self, refused: RefusedAnswer) -> Result<(), Error> {
        let event = GlobalEvent::AnswerRefused { refused: Box::new(refused) };
        self.change_global(&Actor::Runtime, GlobalCommand::Record(event)).await
    }
}

/// The longest beginning that two texts have in common.
fn begins_alike<'a>(one: &'a str, other: &str) -> &'a str {
    let pairs = one.char_indices().zip(other.chars());
    let differs = pairs.into_iter().find(|((_, left), right)| left != right);
    &one[..differs.map_or_else(|| one.len().min(other.len()), |((at, _), _)| at)]
}

/// Whether no note of this hold is missing among them. They come by key, so nothing is that comes before
/// another hold's last one.
fn is_all_of(notes: &[Note], hold: &str) -> bool {
    match notes.last() {
        Some(last) if notes.len() == UNDELIVERED_AT_ONCE => {
            last.key.as_str() > hold && !is_of(&last.key, hold)
        }
        _ => true,
    }
}

fn is_of(key: &str, hold: &str) -> bool {
    key.strip_prefix(hold).is_some_and(|rest| rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_two_ids_begin_with() {
        for (one, other, alike) in
            [("hold_1", "hold_1", "hold_1"), ("hold_12", "hold_13", "hold_1"), ("a", "b", "")]
        {
            assert_eq!(begins_alike(one, other), alike);
        }
        assert_eq!(begins_alike("ab", "abc"), "ab");
    }

    #[test]
    fn only_where_something_may_be_missing_a_hold_is_looked_up_again() {
        let note = |key: String| Note {
            shelf: SHELF.into(),
            key,
            value: Vec::new(),
            version: 1,
            due_at: None,
            forget_at: None,
        };
        let mut notes: Vec<Note> =
            (1..UNDELIVERED_AT_ONCE).map(|n| note(format!("h1/{n:04}"))).collect();
        assert!(is_all_of(&notes, "h1") && is_all_of(&notes, "h2"));
        notes.push(note("h2/0".into()));
        assert!(is_all_of(&notes, "h1"), "another hold's come after them");
        assert!(!is_all_of(&notes, "h2") && !is_all_of(&notes, "h3"));
    }
}
