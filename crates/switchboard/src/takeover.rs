//! What an earlier process had in hand when it ended. Nobody else has it now, so nobody waits until its
//! lease is over: people already see the card, and press it.

use domain::time::Timestamp;
use engine::Error;
use ports::store::Note;

use crate::delivery::Delivery;
use crate::limits::PAGE;
use crate::saying::Saying;
use crate::shelf::Next;
use crate::{Switchboard, Wire};

impl Switchboard {
    /// Before anything else is sent. What only waited for its platform is tried at once, too: a restart is
    /// a new attempt.
    pub(crate) async fn take_over(&self, wire: &Wire) -> Result<(), Error> {
        let now = self.0.clock.now();
        let leased = self.lease(wire, now);
        for note in self.due_until(wire, leased).await? {
            if note.due_at.is_none_or(|at| at <= now) {
                continue;
            }
            let at_once =
                |due_at: Option<Timestamp>| due_at.filter(|at| *at > now).map(|_| Next::due(now));
            match note.key.starts_with("s/") {
                true => {
                    drop(self.update(wire, &note.key, |_: &mut Saying, due| at_once(due)).await?)
                }
                false => {
                    drop(self.update(wire, &note.key, |_: &mut Delivery, due| at_once(due)).await?)
                }
            }
        }
        Ok(())
    }

    /// Those that were in hand are due last, behind all that waits.
    async fn due_until(&self, wire: &Wire, until: Timestamp) -> Result<Vec<Note>, Error> {
        let mut page = PAGE;
        loop {
            let notes = self.store().due_notes(&wire.shelves.out, until, page).await?;
            if notes.len() < page {
                return Ok(notes);
            }
            page *= 4;
        }
    }
}
