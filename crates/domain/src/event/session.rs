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
    SessionOpened {
        agent: Arc<str>,
        creator: Actor,
        title: Option<String>,
        metadata: Value,
        home: Option<Home>,
    },
    /// A message that waits: for the run to end, or (`join`) only for the results of the turn. `run`
    /// is the run that it will be part of.
    MessageQueued {
        message: Arc<Message>,
        run: RunId,
        join: bool,
    },
    RunStarted {
        run: RunId,
    },
    /// A message became part of the transcript, and left the queue if it waited there.
    MessageAdded {
        message: Arc<Message>,
    },
    /// The call as it would run now: first when the model makes it; again when a start is taken back (`clearance` is set,
    /// and it was running), and when it is asked about anew (`clearance` is `None`, a new revision).
    /// `id` is the call that the model made. `call` is what would run: the same, except that a
    /// confirmed two-phase call runs the stored call of its first phase.
    CallProposed {
        id: CallId,
        call: Arc<Call>,
        clearance: Option<Clearance>,
    },
    /// A call that cannot become one: unknown tool, unsound arguments. Its result follows at once.
    CallMalformed {
        call: CallId,
        tool_use_id: String,
        tool: Arc<str>,
    },
    /// Something happened to one of its holds.
    Hold(HoldEvent),
    /// The intent to run, on disk before the tool is touched.
    CallStarted {
        call: CallId,
        attempt: u32,
        node: NodeId,
    },
    /// A crash or the host itself left the outcome unknown; `settle` asks a person.
    CallInDoubt {
        call: CallId,
        evidence: String,
        settle: HoldId,
    },
    CallSettled {
        call: CallId,
        result: ToolResult,
    },
    /// What the model's turn cost; absent for one that cost nothing.
    TurnCounted {
        run: RunId,
        usage: Usage,
    },
    /// The run may not go on by itself; `hold` asks a person.
    BudgetUsedUp {
        run: RunId,
        hold: HoldId,
        used_up: UsedUp,
    },
    RunPaused {
        run: RunId,
    },
    RunResumed {
        run: RunId,
    },
    RunCompleted {
        run: RunId,
    },
    RunFailed {
        run: RunId,
        error: String,
    },
    /// Somebody wants the run to end; it does as soon as nothing of it is running any more.
    RunStopping {
        run: RunId,
        by: Actor,
        reason: Option<String>,
    },
    RunCancelled {
        run: RunId,
    },
    GrantMade {
        grant: Arc<Grant>,
    },
    GrantUsed {
        grant: GrantId,
        call: CallId,
    },
    GrantRevoked {
        grant: GrantId,
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
