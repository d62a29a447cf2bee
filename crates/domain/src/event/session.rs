//! What happens in a session.

use std::sync::Arc;

use serde_json::Value;

use super::HoldEvent;
use crate::budget::{Usage, UsedUp};
use crate::call::{Call, Clearance};
use crate::grant::Grant;
use crate::id::{CallId, GrantId, HoldId, MessageId, NodeId, RunId};
use crate::message::Message;
use crate::outcome::ToolResult;
use crate::person::Actor;
use crate::session::Home;

/// An event of a session's stream.
#[derive(Clone, Debug, PartialEq)]
pub enum SessionEvent {
    /// Always the first event of the stream, and never one again.
    SessionOpened {
        /// The configured name of the agent. It stays the same.
        agent: Arc<str>,
        /// The person or program that opened the session.
        creator: Actor,
        /// As its creator named it.
        title: Option<String>,
        /// The creator's own; an object, or null. Nothing here reads it.
        metadata: Value,
        /// The door or chat that it was opened through. `None` for our own API.
        home: Option<Home>,
    },
    /// A message that waits: for the run to end, or (`join`) only for the results of the turn. `run`
    /// is the run that it will be part of.
    MessageQueued {
        /// The whole message, as it will stand in the transcript.
        message: Arc<Message>,
        /// The run that it waits for or will begin.
        run: RunId,
        /// It joins the run in progress, as soon as the turn's results are in.
        join: bool,
    },
    /// A message began a run.
    RunStarted {
        /// The new run.
        run: RunId,
    },
    /// A message became part of the transcript, and left the queue if it waited there.
    MessageAdded {
        /// The whole message. Its origin says whether a person, a model or the runtime wrote it.
        message: Arc<Message>,
    },
    /// The call as it would run now: when the model makes it; again when a start is taken back
    /// ([`SessionEvent::start_taken_back`], read by `Session::takes_start_back`), and when it is asked about anew
    /// ([`SessionEvent::proposed_anew`]). `id` is the call that the model made. `call` is what would run: the same, except that a
    /// confirmed two-phase call runs the stored call of its first phase.
    CallProposed {
        /// The call that the model made.
        id: CallId,
        /// What would run.
        call: Arc<Call>,
        /// Why it may run, if the policy or a grant allows it at once; else a hold or a result follows.
        clearance: Option<Clearance>,
    },
    /// A call that cannot become one: unknown tool, unsound arguments. Its result follows at once.
    CallMalformed {
        /// An id of ours for what the model wrote.
        call: CallId,
        /// The model's own name for it.
        tool_use_id: String,
        /// The name that the model called, which may be no tool's.
        tool: Arc<str>,
    },
    /// Something happened to one of its holds.
    Hold(HoldEvent),
    /// The intent to run, on disk before the tool is touched.
    CallStarted {
        /// Which call starts.
        call: CallId,
        /// The number of the attempt, from 1.
        attempt: u32,
        /// The node that carries it out. No other may report.
        node: NodeId,
    },
    /// A crash or the host itself left the outcome unknown; `settle` asks a person.
    CallInDoubt {
        /// Whose outcome is unknown.
        call: CallId,
        /// What the host or the recovery found, for the people who are asked.
        evidence: String,
        /// The hold that asks what really happened.
        settle: HoldId,
    },
    /// The call has its one result.
    CallSettled {
        /// Which call it is.
        call: CallId,
        /// What the model gets.
        result: ToolResult,
    },
    /// What the model's turn cost; absent for one that cost nothing.
    TurnCounted {
        /// The run that the turn is part of.
        run: RunId,
        /// Tokens, and money by the prices at the time.
        usage: Usage,
    },
    /// The run may not go on by itself; `hold` asks a person.
    BudgetUsedUp {
        /// The run that waits.
        run: RunId,
        /// Asks whether the run may go on.
        hold: HoldId,
        /// Which budget it is.
        used_up: UsedUp,
    },
    /// Nothing moves until a person does something.
    RunPaused {
        /// The run that waits.
        run: RunId,
    },
    /// A person did something, and the run moves again.
    RunResumed {
        /// The run that goes on.
        run: RunId,
    },
    /// The model had nothing more to do.
    RunCompleted {
        /// The run that is over.
        run: RunId,
    },
    /// The model could not be asked. A person or program may retry the run.
    RunFailed {
        /// The run that is over.
        run: RunId,
        /// For people; without secrets.
        error: String,
    },
    /// Somebody wants the run to end; it does as soon as nothing of it is running any more.
    RunStopping {
        /// The run that is to end.
        run: RunId,
        /// Who cancelled it: a person, a program, or the runtime.
        by: Actor,
        /// In their words, if they gave one.
        reason: Option<String>,
    },
    /// A stopping run has ended.
    RunCancelled {
        /// The run that is over.
        run: RunId,
    },
    /// An approval reached further than its call.
    GrantMade {
        /// With its bounds as they were granted, which may be less than was wished.
        grant: Arc<Grant>,
    },
    /// The grant let a call run that nobody was asked about. It has one use less.
    GrantUsed {
        /// The grant that was used.
        grant: GrantId,
        /// The call that it let run.
        call: CallId,
    },
    /// The grant covers nothing any more. Calls that already run are not stopped.
    GrantRevoked {
        /// The grant that ended.
        grant: GrantId,
        /// Who ended it.
        by: Actor,
    },
}

impl SessionEvent {
    /// The name that followers see.
    pub fn name(&self) -> &'static str {
        match self {
            SessionEvent::SessionOpened { .. } => "session.opened",
            SessionEvent::MessageQueued { .. } => "message.queued",
            SessionEvent::RunStarted { .. } => "run.started",
            SessionEvent::MessageAdded { .. } => "message.completed",
            SessionEvent::CallStarted { .. } => "call.started",
            SessionEvent::CallInDoubt { .. } => "call.in_doubt",
            SessionEvent::CallSettled { .. } => "call.settled",
            SessionEvent::TurnCounted { .. } => "turn.counted",
            SessionEvent::BudgetUsedUp { .. } => "budget.used_up",
            SessionEvent::RunPaused { .. } => "run.paused",
            SessionEvent::RunResumed { .. } => "run.resumed",
            SessionEvent::RunCompleted { .. } => "run.completed",
            SessionEvent::RunFailed { .. } => "run.failed",
            SessionEvent::RunStopping { .. } => "run.stopping",
            SessionEvent::RunCancelled { .. } => "run.cancelled",
            SessionEvent::GrantMade { .. } => "grant.made",
            SessionEvent::GrantUsed { .. } => "grant.used",
            SessionEvent::GrantRevoked { .. } => "grant.revoked",
            SessionEvent::CallProposed { .. } | SessionEvent::CallMalformed { .. } => {
                "call.proposed"
            }
            SessionEvent::Hold(event) => event.name(),
        }
    }

    /// A start that has not begun is taken back: the running call is cleared again as it was before.
    pub(crate) fn start_taken_back(
        id: CallId,
        call: Arc<Call>,
        clearance: Clearance,
    ) -> SessionEvent {
        SessionEvent::CallProposed { id, call, clearance: Some(clearance) }
    }

    /// A call that was proposed before is asked about anew: a new revision, which nobody has approved.
    pub(crate) fn proposed_anew(id: CallId, call: Arc<Call>) -> SessionEvent {
        SessionEvent::CallProposed { id, call, clearance: None }
    }

    /// The id of the message that the event carries. `None` for other events.
    pub fn message_id(&self) -> Option<MessageId> {
        match self {
            SessionEvent::MessageQueued { message, .. }
            | SessionEvent::MessageAdded { message } => Some(message.id),
            _ => None,
        }
    }
}

impl From<HoldEvent> for SessionEvent {
    fn from(event: HoldEvent) -> SessionEvent {
        SessionEvent::Hold(event)
    }
}
