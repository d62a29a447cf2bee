//! What an earlier process had in hand when it ended. Nobody else has it now, so nobody waits until its
//! lease is over: people already see the card, and press it.

use engine::Error;
use ports::store::PutNote;

use crate::limits::PAGE;
use crate::{Switchboard, Wire};

impl Switchboard {
    /// Before anything else is sent. What only waited for its platform is tried at once, too: a restart is
    /// a new attempt.
    pub(crate) async fn take_over(&self, wire: &Wire) -> Result<(), Error> {
        let now = self.0.clock.now();
        let leased = self.lease(wire, now);
        for note in self.store().due_notes(&wire.shelves.out, leased, PAGE).await? {
            if note.due_at.is_none_or(|at| at <= now) {
                continue;
            }
            let put = PutNote {
                shelf: note.shelf,
                key: note.key,
                value: Some(note.value),
                expected: Some(note.version),
                due_at: Some(now),
                forget_at: note.forget_at,
            };
            self.store().put_notes(vec![put]).await?;
        }
        Ok(())
    }
}
