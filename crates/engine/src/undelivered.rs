//! What went wrong in channels, for those who watch over the house: prompts that reached nobody, and
//! answers that were not theirs to give. Both are in the log. Nothing here decides anything.

use domain::event::{Event, RefusedAnswer};
use domain::hold::Hold;
use domain::id::HoldId;
use domain::person::Actor;
use domain::time::Timestamp;
use ports::store::PutNote;
use serde_json::{Value, json};

use crate::limits::{UNDELIVERED_KEPT_MS, UNDELIVERED_SHOWN};
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

impl Engine {
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
        let event = Event::DeliveryFailed {
            hold,
            channel: channel.clone(),
            to: to.clone(),
            why: why.clone(),
        };
        self.change_house(&Actor::Runtime, |_| Ok(Some(event.clone()))).await?;
        let stored = json!({"channel": channel, "to": to, "why": why, "at_ms": at.as_ms()});
        let put = PutNote {
            shelf: SHELF.into(),
            key: note,
            value: Some(stored.to_string().into_bytes()),
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
        Ok(notes.iter().filter_map(|note| read(&note.value)).collect())
    }

    /// Somebody tried. Whoever calls this sees to it that nobody can fill the log with it.
    pub async fn note_refused(&self, refused: RefusedAnswer) -> Result<(), Error> {
        let event = Event::AnswerRefused { refused: Box::new(refused) };
        self.change_house(&Actor::Runtime, |_| Ok(Some(event.clone()))).await
    }
}

fn read(bytes: &[u8]) -> Option<Undelivered> {
    let stored: Value = serde_json::from_slice(bytes).ok()?;
    let text = |name: &str| stored[name].as_str().map(str::to_owned);
    Some(Undelivered {
        channel: text("channel")?,
        to: text("to")?,
        why: text("why")?,
        at: Timestamp::from_ms(stored["at_ms"].as_i64()?),
    })
}
