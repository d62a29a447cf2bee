//! A run: what the agent does about one message, until it has said its last words or was stopped. Each state
//! holds only what is true in it.

use super::OverBudget;
use crate::budget::Spent;
use crate::id::{CallId, HoldId, RunId};
use crate::person::{Actor, PersonId};
use crate::time::Timestamp;

/// One stretch of work in a session, from a message until the model has nothing more to do.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// Names the run.
    pub id: RunId,
    /// Where it is.
    pub state: RunState,
    /// Whose message began it, in a session in which several people speak.
    pub by: Option<PersonId>,
    /// The calls of the model's last turn, in its order, until their results are delivered.
    pub turn: Vec<CallId>,
    /// What it has used of its budgets.
    pub spent: Spent,
    /// When it began, by our clock.
    pub started_at: Timestamp,
}

/// Where a run is. Each state holds only what is true in it.
#[derive(Clone, Debug, PartialEq)]
pub enum RunState {
    /// It is not over.
    Active {
        /// Nothing moves until a person does something.
        is_paused: bool,
        /// Whether it goes on by itself once nothing holds it up.
        progress: Progress,
    },
    /// The model had nothing more to do.
    Completed,
    /// It can be retried.
    Failed {
        /// For people; without secrets.
        error: String,
    },
    /// It was stopped, and nothing of it is running any more.
    Cancelled(Stopping),
}

/// Whether an active run goes on by itself.
#[derive(Clone, Debug, PartialEq)]
pub enum Progress {
    /// Nothing keeps it from its next step.
    GoesOn,
    /// It has used up a budget, and a person is asked whether it may go on.
    OverBudget(OverBudget),
    /// It was cancelled, and ends when nothing of it is running any more.
    Stopping(Stopping),
}

/// Who cancelled a run, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct Stopping {
    /// A person, a program, or the runtime.
    pub by: Actor,
    /// In their words, if they gave any.
    pub reason: Option<String>,
}

/// The name of a run's state, as rows and wires have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunStatus {
    /// It works, or waits for a model or a tool.
    Running,
    /// It waits for people.
    Paused,
    /// The model had nothing more to do.
    Completed,
    /// The model could not be asked.
    Failed,
    /// It was stopped.
    Cancelled,
}

impl RunStatus {
    /// The word by which rows and the API tell it.
    pub fn name(self) -> &'static str {
        match self {
            RunStatus::Running => "running",
            RunStatus::Paused => "paused",
            RunStatus::Completed => "completed",
            RunStatus::Failed => "failed",
            RunStatus::Cancelled => "cancelled",
        }
    }

    /// Whether nothing will happen in it any more. A failed run can still be retried.
    pub fn is_over(self) -> bool {
        matches!(self, RunStatus::Completed | RunStatus::Failed | RunStatus::Cancelled)
    }
}

impl Run {
    pub(super) fn begin(id: RunId, by: Option<PersonId>, at: Timestamp) -> Run {
        Run {
            id,
            state: RunState::Active { is_paused: false, progress: Progress::GoesOn },
            by,
            turn: Vec::new(),
            spent: Spent::begin(at),
            started_at: at,
        }
    }

    /// The name of its state.
    pub fn status(&self) -> RunStatus {
        match &self.state {
            RunState::Active { is_paused: false, .. } => RunStatus::Running,
            RunState::Active { is_paused: true, .. } => RunStatus::Paused,
            RunState::Completed => RunStatus::Completed,
            RunState::Failed { .. } => RunStatus::Failed,
            RunState::Cancelled(_) => RunStatus::Cancelled,
        }
    }

    /// Whether nothing will happen in it any more. A failed run can still be retried.
    pub fn is_over(&self) -> bool {
        self.status().is_over()
    }

    /// Who cancelled it, from then on.
    pub fn stopping(&self) -> Option<&Stopping> {
        match &self.state {
            RunState::Active { progress: Progress::Stopping(stopping), .. }
            | RunState::Cancelled(stopping) => Some(stopping),
            RunState::Active { .. } | RunState::Completed | RunState::Failed { .. } => None,
        }
    }

    /// Whether it is to end, or has ended because somebody wanted it.
    pub fn is_stopping(&self) -> bool {
        self.stopping().is_some()
    }

    /// Which budget it waits for, if it waits for one.
    pub fn over_budget(&self) -> Option<OverBudget> {
        match &self.state {
            RunState::Active { progress: Progress::OverBudget(over), .. } => Some(*over),
            _ => None,
        }
    }

    /// Why it failed. `None` in every other state.
    pub fn error(&self) -> Option<&str> {
        match &self.state {
            RunState::Failed { error } => Some(error),
            _ => None,
        }
    }

    pub(super) fn paused(&mut self, at: Timestamp) {
        self.spent.rests(at);
        if let RunState::Active { is_paused, .. } = &mut self.state {
            *is_paused = true;
        }
    }

    /// After a pause, or a retry after a failure.
    pub(super) fn resumed(&mut self, at: Timestamp) {
        self.spent.runs(at);
        match &mut self.state {
            RunState::Active { is_paused, .. } => *is_paused = false,
            state => *state = RunState::Active { is_paused: false, progress: Progress::GoesOn },
        }
    }

    pub(super) fn end(&mut self, state: RunState, at: Timestamp) {
        self.spent.rests(at);
        self.state = state;
    }

    pub(super) fn cancelled(&mut self, at: Timestamp) {
        // What is written always says first who stops it.
        let unsaid = Stopping { by: Actor::Runtime, reason: None };
        let stopping = self.stopping().cloned().unwrap_or(unsaid);
        self.end(RunState::Cancelled(stopping), at);
    }

    pub(super) fn proceeds(&mut self, now: Progress) {
        if let RunState::Active { progress, .. } = &mut self.state {
            *progress = now;
        }
    }

    /// A person let it go on, if that is what `hold` asked.
    pub(super) fn allowed_to_go_on(&mut self, hold: HoldId, at: Timestamp) {
        if let Some(over) = self.over_budget().filter(|over| over.hold == hold) {
            self.spent.renew(over.used_up.of, at);
            self.proceeds(Progress::GoesOn);
        }
    }
}
