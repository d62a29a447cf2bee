//! Makes prompts of a hold, and has them drawn again when it changes.

use std::sync::Arc;

use domain::hold::Hold;
use domain::id::HoldId;
use domain::time::Timestamp;
use engine::Error;
use ports::channel::Place;

use crate::delivery::{Delivery, Stage, key_of};
use crate::limits::PAGE;
use crate::places::places;
use crate::send::here;
use crate::shelf::{self, Next};
use crate::{Switchboard, Wire, queue};

impl Switchboard {
    /// Writes down where people are to be asked. Nothing is sent that does not stand here first, and
    /// what stands here already is not written again. About a hold that waits no longer only those are
    /// told who follow each step.
    pub(crate) async fn ask(&self, hold: &Hold, waits: bool) -> Result<bool, Error> {
        let session = match hold.session {
            Some(id) => Some(self.0.engine.session(&self.0.engine.onlooker(), id).await?),
            None => None,
        };
        let mut concerned = false;
        let told = |wire: &&Arc<Wire>| waits || wire.line.channel.every_step();
        for wire in self.0.lines.values().filter(told) {
            let people = self.0.engine.people();
            for known in places(wire, hold, session.as_deref(), people, &self.0.limits) {
                // Under the oldest name of its chat, so that it is asked once there, whatever the name.
                let (first, place) = self.names_of_place(wire, known).await?;
                let Some(key) = key_of(&wire.name, hold.id, &first) else { continue };
                let apart = !wire.line.channel.talks();
                let (note, now) = (format!("d/{}", key.as_str()), self.0.clock.now());
                let chance = || self.0.chance.bits();
                let delivery = Delivery::reserve(hold, &place, apart, now, chance);
                let mut puts = queue::put(&wire.shelves, &note, &delivery, Some(0), now);
                puts.push(shelf::put(&wire.shelves.holds, &index(hold.id, key.as_str()), &()));
                if let Place::Chat { chat, .. } = &place {
                    let here = here(chat, key.as_str());
                    puts.push(shelf::put(&wire.shelves.here, &here, &()));
                }
                queue::write(self.store(), &wire.shelves, puts).await?;
                concerned = true;
            }
            wire.wake();
        }
        Ok(concerned)
    }

    /// The hold is another than it was: every prompt of it is to be drawn again.
    pub(crate) async fn touch(&self, hold: HoldId) -> Result<bool, Error> {
        let over = self.store().hold(hold).await?.is_none_or(|hold| !hold.is_pending());
        let mut concerned = false;
        for wire in self.0.lines.values().filter(|wire| !wire.line.channel.every_step()) {
            for key in self.prompts(wire, hold).await? {
                self.draw_again(wire, &key, None, over).await?;
                concerned = true;
            }
        }
        Ok(concerned)
    }

    /// Whoever is about to draw it themselves says what they draw: then nonce and code are already
    /// those of what is asked now.
    pub(crate) async fn redraw(
        &self,
        wire: &Wire,
        key: &str,
        drawn: Option<&Hold>,
    ) -> Result<Option<Delivery>, Error> {
        self.draw_again(wire, key, drawn, false).await
    }

    async fn draw_again(
        &self,
        wire: &Wire,
        key: &str,
        drawn: Option<&Hold>,
        over: bool,
    ) -> Result<Option<Delivery>, Error> {
        let soonest = wire.not_before(key, self.0.clock.now());
        let change = |delivery: &mut Delivery, due_at: Option<Timestamp>| {
            if matches!(delivery.stage, Stage::Over { .. }) {
                return None;
            }
            // Whoever takes it up draws the hold as it is then: nothing need be written for that.
            let is_next = due_at.is_some_and(|at| at <= soonest) && delivery.attempts == 0;
            if drawn.is_none() && is_next && delivery.painted < delivery.wanted {
                return None;
            }
            delivery.wanted += 1;
            if let Some(hold) = drawn {
                delivery.turn_to(hold, || self.0.chance.bits());
            }
            // One that is just being sent, or waits for a platform to recover, is not hurried; unless it
            // need not be sent at all any more, and others wait behind it.
            let needless = over && delivery.never_left();
            let waits = delivery.attempts > 0 && !needless;
            // Nor is one put off that is to be drawn already, however often it is pressed.
            Some(Next::due(match due_at {
                Some(at) if waits => at,
                Some(at) => at.min(soonest),
                None => soonest,
            }))
        };
        let note = format!("d/{key}");
        let delivery = self.update(wire, &note, change).await?;
        wire.wake();
        Ok(delivery)
    }

    pub(crate) async fn prompts(&self, wire: &Wire, hold: HoldId) -> Result<Vec<String>, Error> {
        let prefix = index(hold, "");
        let mut keys = Vec::new();
        let mut after: Option<String> = None;
        loop {
            let shelf = &wire.shelves.holds;
            let notes = self.store().notes(shelf, &prefix, after.as_deref(), PAGE).await?;
            keys.extend(
                notes.iter().filter_map(|note| note.key.strip_prefix(&prefix).map(str::to_owned)),
            );
            if notes.len() < PAGE {
                return Ok(keys);
            }
            after = notes.last().map(|note| note.key.clone());
        }
    }
}

pub(crate) fn index(hold: HoldId, key: &str) -> String {
    format!("{hold}/{key}")
}
