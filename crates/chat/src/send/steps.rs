//! Holds as programs follow them: each step is written down when it happens, and told in its turn. What
//! is told is known by its place in the log, so that over retries and restarts it keeps its name.

use std::sync::Arc;

use domain::hold::{Hold, HoldChange, HoldOutcome, HoldState};
use domain::id::HoldId;
use domain::time::Timestamp;
use engine::Error;
use ports::channel::{ChannelError, Step, StepKind};
use serde::{Deserialize, Serialize};

use super::ClaimedPrompt;
use crate::follow::Planned;
use crate::item::Next;
use crate::limits::STEPS_MAX;
use crate::prompt_record::{PromptRecord, Reason, Stage, StoredPosted};
use crate::{ChannelRuntime, ChatService};

/// The steps of one prompt that are still to be told.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Steps {
    waiting: Vec<StoredStep>,
    /// How far it has come, and until where in the log that was read.
    come: Option<StoredStep>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredStep {
    kind: StoredKind,
    position: u64,
    at_ms: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StoredKind {
    Updated,
    Decided,
    Started,
    InDoubt,
    Settled,
}

impl Steps {
    pub(crate) fn is_empty(&self) -> bool {
        *self == Steps::default()
    }

    pub(crate) fn waiting(&self) -> u64 {
        self.waiting.len() as u64
    }

    /// `false` for what was taken before, and for what can no longer come: the log is read again from
    /// an earlier place after a crash, and several events may tell of one step.
    fn take(&mut self, step: StoredStep) -> bool {
        let is_next = match self.come {
            None => matches!(step.kind, StoredKind::Updated | StoredKind::Decided),
            Some(come) if step.position <= come.position => false,
            Some(come) => match step.kind {
                StoredKind::Updated => come.kind == StoredKind::Updated,
                StoredKind::Decided => come.kind < StoredKind::Decided,
                // What is in doubt may be started anew.
                StoredKind::Started | StoredKind::InDoubt => {
                    come.kind >= StoredKind::Decided
                        && come.kind < StoredKind::Settled
                        && come.kind != step.kind
                }
                StoredKind::Settled => {
                    come.kind >= StoredKind::Decided && come.kind < StoredKind::Settled
                }
            },
        };
        if !is_next {
            return false;
        }
        // Each tells how the hold then was, so of many changes the oldest is missed least.
        if self.waiting.len() >= STEPS_MAX
            && let Some(oldest) = self.waiting.iter().position(|it| it.kind == StoredKind::Updated)
        {
            self.waiting.remove(oldest);
        }
        self.waiting.push(step);
        self.come = Some(step);
        true
    }

    fn mark_told(&mut self, position: u64) {
        self.waiting.retain(|step| step.position > position);
    }
}

/// What a change of a hold means to its followers; `None` if they have nothing of it.
pub(crate) fn kind_of(change: &HoldChange) -> Option<StepKind> {
    match change {
        HoldChange::Revealed(_) | HoldChange::Commented(_) => None,
        HoldChange::Outcome(HoldOutcome::Executing) => Some(StepKind::Started),
        HoldChange::Outcome(HoldOutcome::Unknown) => Some(StepKind::InDoubt),
        HoldChange::Outcome(_) => Some(StepKind::Settled),
        _ => Some(StepKind::Updated),
    }
}

/// Whether anything can follow this step.
fn is_last(kind: StepKind, hold: &Hold) -> bool {
    let runs = matches!(hold.state, HoldState::Approved(_)) && hold.call().is_some();
    kind == StepKind::Settled || kind == StepKind::Decided && !runs
}

impl ChatService {
    /// To be told on every channel that tells each step.
    pub(crate) async fn step(
        &self,
        hold: HoldId,
        step: Step,
        planned: &mut Planned,
    ) -> Result<(), Error> {
        for runtime in
            self.0.channels.values().filter(|runtime| runtime.connector.channel.every_step())
        {
            for key in self.prompts(runtime, hold).await? {
                let take = |delivery: &mut PromptRecord, due_at: Option<Timestamp>| {
                    let over = matches!(delivery.stage, Stage::Over { .. });
                    if over || !delivery.steps.take(StoredStep::from(&step)) {
                        return None;
                    }
                    delivery.wanted += 1;
                    // It waits its turn behind one that is being told, or is to be told again.
                    let waits = delivery.attempts > 0;
                    let now = self.0.clock.now();
                    Some(Next::due(due_at.filter(|_| waits).unwrap_or(now)))
                };
                self.plan(runtime, &key, take, planned).await?;
            }
        }
        Ok(())
    }

    /// Tells the oldest step that was not told yet.
    pub(super) async fn tell(
        &self,
        runtime: &Arc<ChannelRuntime>,
        note: &str,
        taken: &ClaimedPrompt,
        posted: &StoredPosted,
    ) -> Result<(), Error> {
        let Some(stored) = taken.delivery.steps.waiting.first().copied() else {
            let rest = |delivery: &mut PromptRecord, _| {
                delivery.painted = delivery.wanted - delivery.steps.waiting();
                delivery.attempts = 0;
                let more = delivery.painted < delivery.wanted;
                Some(Next { due_at: more.then(|| self.0.clock.now()), ..Next::rests() })
            };
            return self.change(runtime, note, rest).await;
        };
        let step = stored.step();
        let link = self.link(&taken.hold);
        let showing = self.showing(taken, link.as_deref());
        let there = posted.posted();
        let telling = runtime.connector.channel.tell(&there, &showing, &step);
        let Err(error) = self.in_time(runtime, telling).await else {
            return self.finish_step(runtime, note, taken, posted, &step).await;
        };
        let attempts = taken.delivery.attempts;
        let (channel, hold) = (&runtime.name, taken.hold.id);
        match self.again_at(runtime, &error, attempts) {
            Some(at) => {
                tracing::warn!(%channel, %hold, %error, attempts, "a step will be told again");
                self.change(runtime, note, |_: &mut PromptRecord, _| Some(Next::due(at))).await
            }
            None => {
                tracing::error!(%channel, %hold, %error, attempts, kind = ?step.kind, "a step was given up");
                match error {
                    // Nothing of this hold will be heard there.
                    ChannelError::Never(_) | ChannelError::Gone(_) => {
                        self.end(runtime, note, Reason::DispatchFailed).await
                    }
                    _ => self.finish_step(runtime, note, taken, posted, &step).await,
                }
            }
        }
    }

    async fn finish_step(
        &self,
        runtime: &ChannelRuntime,
        note: &str,
        taken: &ClaimedPrompt,
        posted: &StoredPosted,
        step: &Step,
    ) -> Result<(), Error> {
        let change = |delivery: &mut PromptRecord, _| {
            delivery.steps.mark_told(step.position);
            delivery.attempts = 0;
            delivery.painted = delivery.wanted - delivery.steps.waiting();
            if delivery.steps.waiting() > 0 {
                return Some(Next::due(self.0.clock.now()));
            }
            if !is_last(step.kind, &taken.hold) {
                return Some(Next::rests());
            }
            let reason = Reason::of(&taken.hold);
            delivery.stage = Stage::Over { posted: Some(posted.clone()), reason };
            let mut next = self.resting(delivery);
            next.beside =
                self.leaves(runtime, taken.hold.id, Some(&posted.chat), taken.key.as_str());
            Some(next)
        };
        self.change(runtime, note, change).await
    }
}

impl StoredStep {
    fn step(self) -> Step {
        let kind = match self.kind {
            StoredKind::Updated => StepKind::Updated,
            StoredKind::Decided => StepKind::Decided,
            StoredKind::Started => StepKind::Started,
            StoredKind::InDoubt => StepKind::InDoubt,
            StoredKind::Settled => StepKind::Settled,
        };
        Step { kind, position: self.position, at: Timestamp::from_ms(self.at_ms) }
    }
}

impl From<&Step> for StoredStep {
    fn from(step: &Step) -> StoredStep {
        let kind = match step.kind {
            StepKind::Updated => StoredKind::Updated,
            StepKind::Decided => StoredKind::Decided,
            StepKind::Started => StoredKind::Started,
            StepKind::InDoubt => StoredKind::InDoubt,
            StepKind::Settled => StoredKind::Settled,
        };
        StoredStep { kind, position: step.position, at_ms: step.at.as_ms() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(kind: StoredKind, position: u64) -> StoredStep {
        StoredStep { kind, position, at_ms: 0 }
    }

    #[test]
    fn steps_come_in_order_and_once() {
        use StoredKind::{Decided, InDoubt, Settled, Started, Updated};
        let mut steps = Steps::default();
        let taken: Vec<bool> = [
            // The result of a call that ran before anybody was asked.
            (Settled, 2, false),
            (Updated, 3, true),
            (Updated, 3, false),
            (Updated, 4, true),
            (Decided, 5, true),
            (Updated, 3, false),
            (Decided, 5, false),
            (Updated, 6, false),
            (Started, 7, true),
            (Started, 8, false),
            (InDoubt, 9, true),
            (Settled, 10, true),
            (Settled, 11, false),
            (Updated, 12, false),
        ]
        .into_iter()
        .map(|(kind, position, wanted)| steps.take(step(kind, position)) == wanted)
        .collect();
        assert!(taken.iter().all(|as_wanted| *as_wanted), "{taken:?}");
        let told: Vec<u64> = steps.waiting.iter().map(|step| step.position).collect();
        assert_eq!(told, [3, 4, 5, 7, 9, 10]);
        steps.mark_told(5);
        assert_eq!(steps.waiting(), 3);
    }

    #[test]
    fn a_receiver_that_is_away_for_long_misses_old_changes_and_no_decision() {
        let mut steps = Steps::default();
        for position in 1..=2 * STEPS_MAX as u64 {
            assert!(steps.take(step(StoredKind::Updated, position)));
        }
        assert!(steps.take(step(StoredKind::Decided, 1_000)));
        assert!(steps.take(step(StoredKind::Settled, 1_001)));
        assert_eq!(steps.waiting.len(), STEPS_MAX);
        let last: Vec<StoredKind> = steps.waiting.iter().rev().take(3).map(|it| it.kind).collect();
        assert_eq!(last, [StoredKind::Settled, StoredKind::Decided, StoredKind::Updated]);
    }
}
