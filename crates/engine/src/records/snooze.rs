//! Snoozes: a person does not want to see a hold for a while. They are a person's own, change nothing about the
//! hold, and end by themselves.

use domain::id::HoldId;
use domain::refusal::Refusal;
use domain::time::Timestamp;
use ports::store::PutNote;

use crate::accounts::Caller;
use crate::limits::{SNOOZE_MS_MAX, SNOOZES_MAX};
use crate::records::own_notes::prefix_of_own;
use crate::{Engine, Error};

const SHELF: &str = "snoozes";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Snooze {
    pub hold: HoldId,
    pub until: Timestamp,
}

impl Engine {
    /// Until then, at most seven days from now.
    pub async fn snooze(
        &self,
        caller: &Caller,
        id: HoldId,
        until: Timestamp,
    ) -> Result<Snooze, Error> {
        let hold = self.hold(caller, id).await?;
        let prefix = prefix_of(caller)?;
        let now = self.now();
        let invalid = |why: &str| Refusal::AnswerInvalid {
            field: "until".into(),
            why: why.to_owned().into(),
        };
        if until <= now || until > now.plus_ms(SNOOZE_MS_MAX) {
            return Err(invalid("choose a time within the next seven days").into());
        }
        if !hold.is_pending() {
            return Err(Refusal::AlreadyDecided { hold: Box::new((*hold).clone()) }.into());
        }
        let others = self.0.store.notes(SHELF, &prefix, None, SNOOZES_MAX).await?;
        let key = format!("{prefix}{id}");
        if others.len() >= SNOOZES_MAX && others.iter().all(|note| note.key != key) {
            let what = "too many of your holds are snoozed";
            return Err(Refusal::TooMany { what, limit: SNOOZES_MAX }.into());
        }
        self.put(key, Some(until)).await?;
        Ok(Snooze { hold: id, until })
    }

    /// Lets a hold be seen again. One that is not snoozed is left as it is.
    pub async fn unsnooze(&self, caller: &Caller, id: HoldId) -> Result<(), Error> {
        self.hold(caller, id).await?;
        self.put(format!("{}{id}", prefix_of(caller)?), None).await
    }

    /// What the caller has snoozed.
    pub async fn snoozes(&self, caller: &Caller) -> Result<Vec<Snooze>, Error> {
        let prefix = prefix_of(caller)?;
        let notes = self.0.store.notes(SHELF, &prefix, None, SNOOZES_MAX).await?;
        let now = self.now();
        let snoozes = notes.iter().filter_map(|note| {
            let hold = note.key.strip_prefix(&prefix)?.parse().ok()?;
            // Notes are swept from time to time only.
            Some(Snooze { hold, until: note.forget_at.filter(|until| *until > now)? })
        });
        Ok(snoozes.collect())
    }

    async fn put(&self, key: String, until: Option<Timestamp>) -> Result<(), Error> {
        let put = PutNote {
            shelf: SHELF.into(),
            key,
            value: until.map(|_| Vec::new()),
            expected: None,
            due_at: None,
            forget_at: until,
        };
        self.0.store.put_notes(vec![put]).await?;
        Ok(())
    }
}

fn prefix_of(caller: &Caller) -> Result<String, Error> {
    Ok(prefix_of_own(caller.must_be_person()?.id()))
}
