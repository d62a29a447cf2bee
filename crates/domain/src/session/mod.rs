//! One conversation with one agent: its transcript, the latest run, the calls of the turn, every
//! hold and grant. State is what the events say, and nothing else.

mod advance;
mod answer;
mod apply;
mod decide;
mod go_on;
mod holds;
mod home;
mod pending_work;
mod report;
mod ruled_turn;
mod run;
mod similar;
mod start;
mod think;
mod two_phase;

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use serde_json::Value;

pub use answer::GivenAnswer;
pub use decide::{Command, Decided, SessionReply};
pub use go_on::OverBudget;
pub use holds::Holds;
pub use home::Home;
pub use pending_work::PendingWork;
pub use report::Recovered;
pub use ruled_turn::{HoldSpec, RuledCall, RuledTurn, Ruling, Written};
pub use run::{Progress, Run, RunState, RunStatus, Stopping};
pub use start::{audience_for, default_audience};

use crate::call::{Call, Clearance, StartedCall};
use crate::grant::Grant;
use crate::grown::Grown;
use crate::hold::{Hold, Question};
use crate::id::{CallId, GrantId, HoldId, NodeId, RunId, SessionId};
use crate::message::Message;
use crate::outcome::ToolResult;
use crate::person::{Actor, PersonId, Requester};
use crate::sorted::Sorted;
use crate::time::Timestamp;

#[derive(Clone, Debug, PartialEq)]
pub struct Session {
    pub id: SessionId,
    /// The position of the last event; every commit names the one it builds on.
    pub version: u64,
    pub agent: Arc<str>,
    pub creator: Actor,
    pub title: Option<String>,
    pub metadata: Value,
    pub home: Option<Home>,
    pub opened_at: Timestamp,
    pub changed_at: Timestamp,
    pub transcript: Grown<Arc<Message>>,
    pub queue: VecDeque<Queued>,
    pub run: Option<Run>,
    /// Who made the logins and tokens by which anything was said here, if that was another person.
    pub login_makers: BTreeSet<PersonId>,
    /// Every call of the session, in the order of proposal; the turn's are the last ones.
    pub calls: Sorted<CallId, Arc<CallRecord>>,
    pub holds: Holds,
    pub grants: Sorted<GrantId, Arc<Grant>>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Queued {
    pub message: Arc<Message>,
    pub run: RunId,
    /// Delivered as soon as the turn's results are in, not only when the run has ended.
    pub join: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct CallRecord {
    pub tool_use_id: String,
    pub tool: Arc<str>,
    /// `None` for one whose arguments or tool were no good.
    pub call: Option<Arc<Call>>,
    /// How often it was started, over all revisions: a late report of an earlier start is refused.
    pub attempts: u32,
    /// Starts that may have begun. Starts that were taken back before the host was given them do not count.
    pub begun: u32,
    pub state: CallState,
}

/// Where a call is on its way. Each state holds only what is true in it.
#[derive(Clone, Debug, PartialEq)]
pub enum CallState {
    Proposed,
    Waiting {
        hold: HoldId,
    },
    /// It may run, but does not yet: siblings are undecided, all is frozen, a tool is missing. Not yet a
    /// `ports::durable::ClearedCall`, which is made of `Running` alone.
    Cleared {
        clearance: Clearance,
    },
    Running {
        clearance: Clearance,
        attempt: u32,
        node: NodeId,
    },
    InDoubt {
        clearance: Clearance,
        attempt: u32,
        settle: HoldId,
    },
    Settled {
        result: ToolResult,
    },
}

impl CallState {
    pub fn is_settled(&self) -> bool {
        matches!(self, CallState::Settled { .. })
    }
}

impl Session {
    /// A session begins with its first event.
    pub fn begin(id: SessionId) -> Session {
        Session {
            id,
            version: 0,
            agent: "".into(),
            creator: Actor::Runtime,
            title: None,
            metadata: Value::Null,
            home: None,
            opened_at: Timestamp::from_ms(0),
            changed_at: Timestamp::from_ms(0),
            transcript: Grown::new(),
            queue: VecDeque::new(),
            run: None,
            login_makers: BTreeSet::new(),
            calls: Sorted::new(),
            holds: Holds::new(),
            grants: Sorted::new(),
        }
    }

    /// The person in whose name it runs: in a chat the person who began the run, else the creator, also when a
    /// program of theirs opened it.
    pub fn requester(&self) -> Option<&PersonId> {
        let speaker = self.run.as_ref().and_then(|run| run.by.as_ref());
        speaker.or_else(|| self.creator.accountable())
    }

    /// The same with those who made the logins by which anything was said here. They stay: what they said
    /// is in the transcript, and may have its effect much later.
    pub fn requested_by(&self) -> Requester<'_> {
        Requester { person: self.requester(), login_makers: &self.login_makers }
    }

    pub(crate) fn last_hold(&self) -> Option<HoldId> {
        self.holds.keys().next_back().copied()
    }

    pub fn open_holds(&self) -> impl Iterator<Item = &Arc<Hold>> {
        self.holds.open()
    }

    /// When a timer must look at this session next.
    pub fn due_at(&self) -> Option<Timestamp> {
        self.open_holds().filter_map(|hold| hold.expires_at).min()
    }

    pub fn turn_calls(&self) -> impl Iterator<Item = (CallId, &CallRecord)> {
        let turn = self.run.iter().flat_map(|run| run.turn.iter());
        turn.filter_map(|id| self.calls.get(id).map(|record| (*id, &**record)))
    }

    /// The call that `node` has started, in this state. Whether the state is on disk is another question.
    pub fn started(&self, id: CallId, node: NodeId) -> Option<StartedCall> {
        let record = self.calls.get(&id)?;
        match &record.state {
            // mutant: another-node-runs
            CallState::Running { attempt, node: owner, .. } if *owner == node => {
                Some(StartedCall::new(record.call.clone()?, *attempt))
            }
            _ => None,
        }
    }

    /// The hold by which people were asked about a call, if any: its latest.
    pub fn hold_of(&self, call: CallId) -> Option<&Arc<Hold>> {
        self.holds
            .values()
            .rev()
            .find(|hold| hold.call_id() == Some(call) && hold.question != Question::Settle)
    }
}

impl Session {
    /// Whether anybody gave this session a secret, so that there is something to look for.
    pub fn has_secrets(&self) -> bool {
        self.holds.has_secrets()
    }
}
