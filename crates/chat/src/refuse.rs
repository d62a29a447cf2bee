//! Answers that do not count, because they were not theirs to give: nothing changes, and whoever watches
//! over the server finds in the log that somebody tried. Nobody can fill the log with it: the same person,
//! hold and reason are there once a day, and of the rest so many in an hour; the others are counted.

use std::sync::Mutex;

use domain::digest::Framed;
use domain::event::RefusedAnswer;
use domain::id::HoldId;
use domain::time::Timestamp;
use engine::Error;
use ports::channel::Operator;
use ports::store::PutNote;
use ports::unpoisoned::Unpoisoned as _;

use crate::limits::{REFUSALS_PER_WINDOW, REFUSALS_WINDOW_MS};
use crate::notes::{self, short};
use crate::{ChannelRuntime, ChatService};

/// An attempt to answer that was refused.
pub(crate) struct Tried<'a> {
    /// As the platform vouches for it.
    pub(crate) operator: Option<&'a Operator>,
    /// What they tried to answer, if there is such a thing.
    pub(crate) hold: Option<HoldId>,
    pub(crate) event: &'a str,
    pub(crate) why: &'static str,
}

impl<'a> Tried<'a> {
    fn identity(&self) -> Option<&'a str> {
        self.operator.map(|operator| operator.identity.as_str())
    }
}

/// How many were listed of late.
#[derive(Default)]
pub(crate) struct Refusals(Mutex<Window>);

#[derive(Default)]
struct Window {
    ends: Option<Timestamp>,
    listed: u32,
    unlisted: u64,
}

impl Refusals {
    /// Whether one more is listed, and then how many before it were not.
    fn admit(&self, now: Timestamp) -> Option<u64> {
        let mut window = self.0.lock().unpoisoned();
        if window.ends.is_none_or(|ends| ends <= now) {
            window.ends = Some(now.plus_ms(REFUSALS_WINDOW_MS));
            window.listed = 0;
        }
        if window.listed >= REFUSALS_PER_WINDOW {
            window.unlisted += 1;
            return None;
        }
        window.listed += 1;
        Some(std::mem::take(&mut window.unlisted))
    }
}

impl ChatService {
    /// What the person who tried is told does not depend on this.
    pub(crate) async fn refuse(&self, runtime: &ChannelRuntime, tried: Tried<'_>) {
        let Tried { hold, event, why, .. } = &tried;
        let identity = tried.identity();
        let (channel, hold) = (&runtime.name, hold.map(|hold| hold.to_string()));
        tracing::warn!(%channel, hold, identity, event, why, "an answer was refused");
        if let Err(error) = self.list_refusal(runtime, &tried).await {
            tracing::error!(%channel, %error, "a refused answer could not be written down");
        }
    }

    async fn list_refusal(&self, runtime: &ChannelRuntime, tried: &Tried<'_>) -> Result<(), Error> {
        let Tried { operator, hold, event, why } = tried;
        let identity = tried.identity();
        let named = Framed::new("holdpoint.refusal.v1")
            .optional("identity", identity.map(str::as_bytes))
            .optional("hold", hold.map(|hold| hold.to_string()).as_deref().map(str::as_bytes))
            .field("why", why.as_bytes());
        let key = format!("refused {}", short(named.finish()));
        // mutant: refusals-fill-the-log
        if self.0.records.note(&runtime.shelves.seen, &key).await?.is_some() {
            return Ok(());
        }
        let now = self.0.clock.now();
        let Some(unlisted) = runtime.refusals.admit(now) else { return Ok(()) };
        // As an approver is known: by any of their names, and by those of this channel first.
        let caller = operator.and_then(|operator| self.caller(runtime, operator, event));
        let person = caller.and_then(|caller| caller.actor().accountable().cloned());
        let refused = RefusedAnswer {
            channel: runtime.name.to_string(),
            identity: identity.map(str::to_owned),
            person,
            hold: *hold,
            why: (*why).to_owned(),
            unlisted,
        };
        // In the log first: a crash in between lists it twice rather than never.
        // mutant: refusals-not-in-the-log
        self.0.engine.note_refused(refused).await?;
        let forget_at = Some(now.plus_ms(self.0.limits.seen_ms));
        let listed = PutNote { forget_at, ..notes::put(&runtime.shelves.seen, &key, &()) };
        self.0.records.put_notes(vec![listed]).await?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn i41_so_many_are_listed_in_an_hour_and_the_rest_is_counted() {
        let refusals = Refusals::default();
        let now = Timestamp::from_ms(1_000);
        for _ in 0..REFUSALS_PER_WINDOW {
            assert_eq!(refusals.admit(now), Some(0));
        }
        for _ in 0..5 {
            assert_eq!(refusals.admit(now), None);
        }
        let later = now.plus_ms(REFUSALS_WINDOW_MS);
        assert_eq!(refusals.admit(later), Some(5), "the next one tells of them");
        assert_eq!(refusals.admit(later), Some(0));
    }
}
