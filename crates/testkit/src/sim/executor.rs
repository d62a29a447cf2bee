//! What carries calls out, as it stands outside of every process: which attempts began, which were
//! fenced off or killed, which changes are marked as made. It keeps the promises of the real tool
//! hosts and no more.

use std::collections::BTreeMap;

use domain::outcome::{Outcome, Output};

use super::node::NodeNo;
use super::records::{Begun, Effect};
use super::world::Inside;

/// How a tool keeps traces, and so what a crash can find out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Changes nothing.
    Reading,
    /// The other side drops what comes again under the same key.
    Keyed,
    /// Effect and marker in one transaction.
    Marked,
    /// A process with a spool folder: the first word, then the end.
    Traced,
    /// Leaves nothing behind.
    Untraced,
}

#[derive(Debug, Default)]
pub(super) struct Executors {
    attempts: BTreeMap<(String, u32), Stage>,
    markers: BTreeMap<String, Outcome>,
    /// What runs right now: a crash may fall before or after its effect.
    running: BTreeMap<u64, Running>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Stage {
    Fenced,
    Began,
    Killed,
    Ended(Outcome),
}

#[derive(Clone, Debug)]
pub(super) struct Running {
    pub(super) node: NodeNo,
    pub(super) kind: Kind,
    pub(super) effect: Effect,
}

/// What is left of an attempt.
#[derive(Clone, Debug)]
pub(super) enum Left {
    Nothing,
    Ended(Outcome),
    /// It began; whatever still ran of it was killed.
    Interrupted,
}

impl Executors {
    /// Who is running something.
    pub(super) fn nodes(&self) -> impl Iterator<Item = NodeNo> + '_ {
        self.running.values().map(|running| running.node)
    }

    pub(super) fn is_busy(&self) -> bool {
        self.running.values().any(|running| running.kind != Kind::Reading)
    }
}

impl Inside {
    /// Whether the process stops here, as a whole, and others take its work over.
    pub(super) fn falls_asleep_at_work(&mut self, node: NodeNo, kind: Kind) -> bool {
        let could = self.weather.depose > 0 && self.paused.is_empty();
        // Most of all where a successor puts up a fence: few calls are of these kinds, and the fence must be met.
        let likely = if matches!(kind, Kind::Marked | Kind::Traced) { 80 } else { 25 };
        let does = could && self.rng.percent(likely);
        if does {
            self.fault("node paused");
            self.paused.insert(node);
            self.asleep_at_work = true;
        }
        does
    }

    /// Says the first word of an attempt, unless somebody has fenced it off. A process that slept since it
    /// entered the gate entered when so much was on disk: what others froze meanwhile it cannot know.
    pub(super) fn begins(&mut self, running: Running, slept_since: Option<usize>) -> Option<u64> {
        let name = (running.effect.key.clone(), running.effect.attempt);
        if self.executors.attempts.contains_key(&name) {
            self.fault("zombie: stopped by a fence");
            return None;
        }
        let Effect { call, attempt, .. } = running.effect;
        let journal = slept_since.unwrap_or_else(|| self.journal());
        let begun = Begun { call, attempt, journal };
        self.records.begun.push(begun);
        self.executors.attempts.insert(name, Stage::Began);
        let id = self.next_serial();
        self.executors.running.insert(id, running);
        Some(id)
    }

    /// The effect, if nobody has stopped it.
    pub(super) fn acts(&mut self, id: u64) -> Outcome {
        let Some(mut running) = self.executors.running.remove(&id) else {
            return Outcome::Unknown { evidence: "it is gone".into() };
        };
        let key = running.effect.key.clone();
        let name = (key.clone(), running.effect.attempt);
        if self.executors.attempts.get(&name) != Some(&Stage::Began) {
            self.fault("zombie: stopped by a fence");
            return Outcome::Failed(Output::text("Nothing was run: it was given up."));
        }
        if let (Kind::Marked, Some(made)) = (running.kind, self.executors.markers.get(&key)) {
            return made.clone();
        }
        running.effect.journal = self.journal();
        let outcome = self.outcome_of(&running);
        if running.kind == Kind::Marked {
            self.executors.markers.insert(key, outcome.clone());
        }
        let Effect { tool, call, revision, attempt, .. } = &running.effect;
        let line =
            format!("n{} EFFECT {tool} {call} revision {revision} attempt {attempt}", running.node);
        self.note(line);
        self.records.effects.push(running.effect);
        outcome
    }

    fn outcome_of(&mut self, running: &Running) -> Outcome {
        let Effect { tool, attempt, .. } = &running.effect;
        let said = |word: &str| Output::text(format!("{word} {tool} in attempt {attempt}."));
        let lot = self.rng.below(100);
        match running.kind {
            Kind::Traced | Kind::Untraced if lot < 4 => {
                Outcome::Unknown { evidence: "the tool itself cannot say".into() }
            }
            Kind::Marked => Outcome::Succeeded(said("did")),
            _ if lot < 12 => Outcome::Failed(said("failed at")),
            _ => Outcome::Succeeded(said("did")),
        }
    }

    /// The end is on disk before anybody is told.
    pub(super) fn ends(&mut self, key: &str, attempt: u32, outcome: &Outcome) {
        let stage = self.executors.attempts.get_mut(&(key.to_owned(), attempt));
        if let Some(stage @ Stage::Began) = stage {
            *stage = Stage::Ended(outcome.clone());
        }
    }

    /// Its task is gone, by a stop or a crash.
    pub(super) fn drops(&mut self, id: u64) {
        self.executors.running.remove(&id);
    }

    /// Looks for traces of an attempt, after making sure that it is over.
    pub(super) fn look_for(&mut self, key: &str, attempt: u32) -> Left {
        let name = (key.to_owned(), attempt);
        match self.executors.attempts.get(&name) {
            None | Some(Stage::Fenced) => {
                self.executors.attempts.insert(name, Stage::Fenced);
                Left::Nothing
            }
            Some(Stage::Began | Stage::Killed) => {
                self.executors.attempts.insert(name, Stage::Killed);
                Left::Interrupted
            }
            Some(Stage::Ended(outcome)) => Left::Ended(outcome.clone()),
        }
    }

    /// Whether the change was made, whatever attempt made it; if not, this attempt never will.
    pub(super) fn look_for_marker(&mut self, key: &str, attempt: u32) -> Option<Outcome> {
        let made = self.executors.markers.get(key).cloned();
        if made.is_none() {
            self.executors.attempts.insert((key.to_owned(), attempt), Stage::Fenced);
        }
        made
    }

    /// The result is in the store: traces of an end may go.
    pub(super) fn forgets(&mut self, key: &str) {
        let is_ended = |stage: &Stage| matches!(stage, Stage::Ended(_));
        self.executors.attempts.retain(|name, stage| name.0 != key || !is_ended(stage));
    }

    /// What a dying process had under way may still happen.
    pub(super) fn last_effects(&mut self, node: NodeNo) {
        let its = |running: &Running| running.node == node && running.kind != Kind::Reading;
        let under_way: Vec<u64> = self
            .executors
            .running
            .iter()
            .filter(|(_, running)| its(running))
            .map(|(id, _)| *id)
            .collect();
        for id in under_way {
            if self.rng.percent(35) {
                self.fault("node crashed: an effect under way happened all the same");
                self.acts(id);
            }
        }
    }

    /// How often a call really had its effect.
    pub(super) fn effects_of(&self, key: &str) -> usize {
        self.records.effects.iter().filter(|effect| effect.key == key).count()
    }
}
