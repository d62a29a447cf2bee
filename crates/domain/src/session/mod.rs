//! One conversation with one agent: its transcript, the latest run, the calls of the turn, every
//! hold and grant. State is what the events say, and nothing else.

mod advance;
mod answer;
mod apply;
mod budget_gate;
mod decide;
mod holds;
mod origin;
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
pub use budget_gate::OverBudget;
pub use decide::{Command, SessionDecision, SessionReply};
pub use holds::Holds;
pub use origin::Home;
pub use pending_work::PendingWork;
pub use report::Recovered;
pub use ruled_turn::{HoldSpec, RuledCall, RuledTurn, Ruling, Written};
pub use run::{Progress, Run, RunState, RunStatus, Stopping};
pub use start::{audience_for, default_audience};

use crate::call::{Call, Clearance, StartedCall};
use crate::grant::Grant;
use crate::hold::{Hold, Question};
use crate::id::{CallId, GrantId, HoldId, NodeId, RunId, SessionId};
use crate::message::Message;
use crate::outcome::ToolResult;
use crate::person::{Actor, PersonId, Requester};
use crate::shared_map::SharedMap;
use crate::shared_vec::SharedVec;
use crate::time::Timestamp;

/// One conversation with one agent, as its events tell it. Fields are to be read; [`Session::apply`] alone changes them.
///
/// ```
/// # use std::collections::BTreeMap;
/// # use std::sync::Arc;
/// # use holdpoint_domain::budget::Budgets;
/// # use holdpoint_domain::context::{Context, WhilePending};
/// # use holdpoint_domain::id::{MessageId, NodeId, RunId, SessionId};
/// # use holdpoint_domain::message::{Message, Origin, Part, Role};
/// # use holdpoint_domain::person::{Actor, People, PersonId};
/// # use holdpoint_domain::policy::{Policy, PolicySpec};
/// # use holdpoint_domain::time::Timestamp;
/// use holdpoint_domain::event::SessionEvent;
/// use holdpoint_domain::session::{Command, PendingWork, Session};
/// # let now = Timestamp::from_ms(1_000);
/// # let (people, policy) = (People::default(), Policy::compile(PolicySpec::default()).unwrap());
/// # let renewals = BTreeMap::new();
/// # let context = Context {
/// #     now,
/// #     node: NodeId::new(1, 1),
/// #     frozen: None,
/// #     people: &people,
/// #     policy: &policy,
/// #     closing: false,
/// #     tool_of: &|_| None,
/// #     renewals: &renewals,
/// #     run_as_decided: false,
/// #     budgets: Budgets::default(),
/// #     while_pending: WhilePending::Queue,
/// #     expires_ms: 60_000,
/// #     rng: &|| 7,
/// # };
/// # let message = Message {
/// #     id: MessageId::new(1, 1),
/// #     role: Role::User,
/// #     origin: Origin::Own,
/// #     by: None,
/// #     login_makers: Default::default(),
/// #     parts: vec![Part::Text("Delete the abandoned orders.".into())],
/// #     at: now,
/// # };
/// # let opened = SessionEvent::SessionOpened {
/// #     agent: "ops".into(),
/// #     creator: Actor::Person(PersonId::new("ana")),
/// #     title: None,
/// #     metadata: serde_json::Value::Null,
/// #     home: None,
/// # };
///
/// let mut session = Session::begin(SessionId::new(1, 1));
/// session.apply(&opened, now);
///
/// // Deciding leaves the state as it is, and says which events are to be written …
/// let run = RunId::new(1, 1);
/// let say = Command::Say { message: Arc::new(message), run, while_pending: None };
/// let decision = session.decide(&say, &context);
/// assert!(decision.reply.is_ok() && session.transcript.is_empty());
///
/// // … and the events, once they are on record, lead to the state that was foretold.
/// for event in &decision.events {
///     session.apply(event, now);
/// }
/// assert_eq!(session, decision.next);
/// assert_eq!(session.pending_work(), [PendingWork::Think]);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Session {
    /// Names the session and its stream.
    pub id: SessionId,
    /// The position of the last event; every commit names the one it builds on.
    pub version: u64,
    /// The configured name of the agent.
    pub agent: Arc<str>,
    /// Who opened it. Where no speaker is known, calls are made in the creator's name.
    pub creator: Actor,
    /// As its creator named it.
    pub title: Option<String>,
    /// The creator's own; an object, or null. Nothing here reads it.
    pub metadata: Value,
    /// The door or chat that it was opened through. `None` for our own API.
    pub home: Option<Home>,
    /// The time of the first event.
    pub opened_at: Timestamp,
    /// The time of the last event.
    pub changed_at: Timestamp,
    /// All messages of the conversation, in order. Nothing is ever taken out.
    pub transcript: SharedVec<Arc<Message>>,
    /// Messages that wait for the run, in the order in which they came.
    pub queue: VecDeque<Queued>,
    /// The last run, also when it is over. `None` before the first message.
    pub run: Option<Run>,
    /// Who made the logins and tokens by which anything was said here, if that was another person.
    pub login_makers: BTreeSet<PersonId>,
    /// Every call of the session by its id; the turn's are the last ones. In which order the model wrote those says
    /// [`Run`].
    pub calls: SharedMap<CallId, Arc<CallRecord>>,
    /// Every hold of the session, also those that are decided.
    pub holds: Holds,
    /// Every grant of the session, also those that have ended.
    pub grants: SharedMap<GrantId, Arc<Grant>>,
}

/// A message that waits.
#[derive(Clone, Debug, PartialEq)]
pub struct Queued {
    /// The whole message, as it will stand in the transcript.
    pub message: Arc<Message>,
    /// The run that it will be part of.
    pub run: RunId,
    /// Delivered as soon as the turn's results are in, not only when the run has ended.
    pub join: bool,
}

/// One call of a session, from proposal to result.
#[derive(Clone, Debug, PartialEq)]
pub struct CallRecord {
    /// The model's own name for it.
    pub tool_use_id: String,
    /// The name that the model called.
    pub tool: Arc<str>,
    /// `None` for one whose arguments or tool were no good.
    pub call: Option<Arc<Call>>,
    /// How often it was started, over all revisions: a late report of an earlier start is refused.
    pub attempts: u32,
    /// Starts that may have begun. A start that was taken back has provably not begun, and does not count: the start gate
    /// refused it, or its host was never given it.
    pub begun: u32,
    /// Where it is on its way.
    pub state: CallState,
}

/// Where a call is on its way. Each state holds only what is true in it. *Starting* a call puts the intent to run it on
/// record; it *begins* with its first effect, which its host makes later, through the start gate.
#[derive(Clone, Debug, PartialEq)]
pub enum CallState {
    /// Ruled on, and nothing came of it yet; it lasts no longer than a decision.
    Proposed,
    /// People are asked.
    Waiting {
        /// The hold that asks them.
        hold: HoldId,
    },
    /// It may run, but does not yet: siblings are undecided, all is frozen, a tool is missing. Not yet a
    /// `ports::durable::ClearedCall`, which is made of `Running` alone.
    Cleared {
        /// Why it may run, and until when it may start.
        clearance: Clearance,
    },
    /// Started: the intent to run is on record for `node`. The tool may not have begun.
    Running {
        /// Why it was allowed to start.
        clearance: Clearance,
        /// The number of the attempt, from 1.
        attempt: u32,
        /// The node that carries it out.
        node: NodeId,
    },
    /// Started, and perhaps carried out. A person is asked, and it is not run again by itself.
    InDoubt {
        /// Why it was allowed to start.
        clearance: Clearance,
        /// The attempt whose outcome is unknown.
        attempt: u32,
        /// The hold that asks what really happened.
        settle: HoldId,
    },
    /// It has its one result.
    Settled {
        /// What the model gets or got.
        result: ToolResult,
    },
}

impl CallState {
    /// Whether it has its result, and so can never run again.
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
            transcript: SharedVec::new(),
            queue: VecDeque::new(),
            run: None,
            login_makers: BTreeSet::new(),
            calls: SharedMap::new(),
            holds: Holds::new(),
            grants: SharedMap::new(),
        }
    }

    /// The person in whose name it runs: in a chat the person who began the run, else the creator, also when a
    /// program of theirs opened it.
    pub fn requester(&self) -> Option<&PersonId> {
        let speaker = self.run.as_ref().and_then(|run| run.by.as_ref());
        speaker.or_else(|| self.creator.accountable())
    }

    /// The requester, and those who made the logins by which anything was said here. They stay: what was said by such
    /// a login is in the transcript, and may have its effect much later.
    pub fn requester_and_login_makers(&self) -> Requester<'_> {
        Requester { person: self.requester(), login_makers: &self.login_makers }
    }

    pub(crate) fn last_hold(&self) -> Option<HoldId> {
        self.holds.keys().next_back().copied()
    }

    /// Holds that wait for an answer, in the order of their opening.
    pub fn open_holds(&self) -> impl Iterator<Item = &Arc<Hold>> {
        self.holds.open()
    }

    /// When a timer must look at this session next.
    pub fn due_at(&self) -> Option<Timestamp> {
        self.open_holds().filter_map(|hold| hold.expires_at).min()
    }

    /// The calls of the model's last turn, until their results are delivered.
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
