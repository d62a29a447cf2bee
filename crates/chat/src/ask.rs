//! Makes prompts of a hold, and has them drawn again when it changes. What the log tells is only planned here;
//! it is written together with the place up to which the log was read (`follow.rs`).

use std::sync::Arc;

use domain::hold::Hold;
use domain::id::HoldId;
use domain::time::Timestamp;
use engine::Error;
use ports::channel::Destination;

use crate::follow::Planned;
use crate::item::{self, ItemWriter, Next};
use crate::limits::PAGE;
use crate::prompt_record::{PromptRecord, Stage, key_of};
use crate::prompt_targets::places;
use crate::send::here;
use crate::{ChannelRuntime, ChatService, notes};

impl ChatService {
    /// Where people are to be asked. Nothing is sent that is not written down first, and what is written
    /// down already is not written again. About a hold that waits no longer only those are told who follow
    /// each step.
    pub(crate) async fn ask(
        &self,
        hold: &Hold,
        waits: bool,
        planned: &mut Planned,
    ) -> Result<(), Error> {
        let session = match hold.session() {
            Some(id) => Some(self.0.engine.session(&self.0.engine.onlooker(), id).await?),
            None => None,
        };
        let told = |runtime: &&Arc<ChannelRuntime>| waits || runtime.connector.channel.every_step();
        for runtime in self.0.channels.values().filter(told) {
            let people = self.0.engine.people();
            for known in places(runtime, hold, session.as_deref(), people, &self.0.limits) {
                // Under the oldest name of its chat, so that it is asked once there, whatever the name.
                let (first, place) = self.names_of_place(runtime, known).await?;
                let Some(key) = key_of(&runtime.name, hold.id, &first) else { continue };
                planned.concerns_a_chat = true;
                let note = format!("d/{}", key.as_str());
                if self.0.records.note(&runtime.shelves.out, &note).await?.is_some() {
                    continue;
                }
                let (apart, now) = (!runtime.connector.channel.talks(), self.0.clock.now());
                let rng = || self.0.rng.bits();
                let delivery = PromptRecord::reserve(hold, &place, apart, now, rng);
                let write = &mut planned.write;
                write.extend(item::put(&runtime.shelves, &note, &delivery, Some(0), now));
                let index = index(hold.id, key.as_str());
                write.notes.push(notes::put(&runtime.shelves.holds, &index, &()));
                if let Destination::Chat { chat, .. } = &place {
                    let here = here(chat, key.as_str());
                    write.notes.push(notes::put(&runtime.shelves.here, &here, &()));
                }
            }
        }
        Ok(())
    }

    /// The hold is another than it was: every prompt of it is to be drawn again.
    pub(crate) async fn plan_repaints(
        &self,
        hold: HoldId,
        planned: &mut Planned,
    ) -> Result<(), Error> {
        let over = self.0.records.hold(hold).await?.is_none_or(|hold| !hold.is_pending());
        for runtime in
            self.0.channels.values().filter(|runtime| !runtime.connector.channel.every_step())
        {
            for key in self.prompts(runtime, hold).await? {
                let soonest = runtime.not_before(&key, self.0.clock.now());
                self.plan(runtime, &key, self.repaint_change(soonest, None, over), planned).await?;
            }
        }
        Ok(())
    }

    /// What is to be written so that this prompt is changed.
    pub(crate) async fn plan(
        &self,
        runtime: &ChannelRuntime,
        key: &str,
        mut change: impl FnMut(&mut PromptRecord, Option<Timestamp>) -> Option<Next>,
        planned: &mut Planned,
    ) -> Result<(), Error> {
        let note = format!("d/{key}");
        let (records, other) = (&self.0.records, ItemWriter::Other);
        let plan = item::plan(records, &runtime.shelves, &note, other, &mut change).await?;
        planned.write.extend(plan.map(|(_, write)| write).unwrap_or_default());
        planned.concerns_a_chat = true;
        Ok(())
    }

    /// `drawn`: the hold that the caller paints itself; the record takes its nonce and code.
    pub(crate) async fn schedule_repaint(
        &self,
        runtime: &ChannelRuntime,
        key: &str,
        drawn: Option<&Hold>,
    ) -> Result<Option<PromptRecord>, Error> {
        let soonest = runtime.not_before(key, self.0.clock.now());
        let change = self.repaint_change(soonest, drawn, false);
        let delivery = self.update(runtime, &format!("d/{key}"), change).await?;
        runtime.wake();
        Ok(delivery)
    }

    fn repaint_change(
        &self,
        soonest: Timestamp,
        drawn: Option<&Hold>,
        over: bool,
    ) -> impl FnMut(&mut PromptRecord, Option<Timestamp>) -> Option<Next> {
        move |delivery, due_at| {
            if matches!(delivery.stage, Stage::Over { .. }) {
                return None;
            }
            // The sender draws the hold as it is when it takes it up: nothing need be written for that.
            let is_next = due_at.is_some_and(|at| at <= soonest) && delivery.attempts == 0;
            if drawn.is_none() && is_next && delivery.painted < delivery.wanted {
                return None;
            }
            delivery.wanted += 1;
            if let Some(hold) = drawn {
                delivery.turn_to(hold, || self.0.rng.bits());
            }
            // One that is just being sent, or waits for a platform to recover, is not hurried; unless it
            // need not be sent at all any more, and others wait behind it.
            // mutant: the-dead-hold-the-line
            let needless = over && delivery.never_left();
            let waits = delivery.attempts > 0 && !needless;
            // Nor is one put off that is to be drawn already, however often it is pressed.
            Some(Next::due(match due_at {
                Some(at) if waits => at,
                Some(at) => at.min(soonest),
                None => soonest,
            }))
        }
    }

    pub(crate) async fn prompts(
        &self,
        runtime: &ChannelRuntime,
        hold: HoldId,
    ) -> Result<Vec<String>, Error> {
        let prefix = index(hold, "");
        let mut keys = Vec::new();
        let mut after: Option<String> = None;
        loop {
            let shelf = &runtime.shelves.holds;
            let notes = self.0.records.notes(shelf, &prefix, after.as_deref(), PAGE).await?;
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
