//! What is known from outside of the engine: what tools really did, what clients were told, what the
//! model heard, what followers saw. The engine cannot write here, so nothing here believes it.

use std::sync::Arc;

use domain::call::Call;
use domain::digest::Digest;
use domain::event::Event;
use domain::hold::Hold;
use domain::id::{CallId, NodeId, SessionId, StreamId};
use domain::refusal::Refusal;
use domain::tool::Effects;
use engine::MessageReceipt;

use super::crowd::Errand;

#[derive(Debug, Default)]
pub(super) struct Records {
    pub(super) effects: Vec<Effect>,
    pub(super) handed: Vec<Handed>,
    pub(super) begun: Vec<Begun>,
    pub(super) told: Vec<Told>,
    pub(super) heard: Vec<Heard>,
    pub(super) followed: Vec<Seen>,
    pub(super) delivered: Vec<Delivered>,
    /// The journal position at which each commit was written, with the simulated time.
    pub(super) written_at: Vec<u64>,
}

/// What a tool did to the world.
#[derive(Clone, Debug)]
pub(super) struct Effect {
    pub(super) tool: Arc<str>,
    pub(super) effects: Effects,
    pub(super) session: Option<SessionId>,
    pub(super) call: CallId,
    pub(super) revision: u32,
    pub(super) digest: Digest,
    pub(super) arguments: Vec<u8>,
    /// As the other side of an idempotent tool gets it.
    pub(super) key: String,
    pub(super) attempt: u32,
    pub(super) node: NodeId,
    /// Commits on disk when it happened.
    pub(super) journal: usize,
}

impl Effect {
    /// Of an attempt at a call; whoever records it knows when it was.
    pub(super) fn of(call: &Call, attempt: u32, node: NodeId) -> Effect {
        Effect {
            tool: call.tool.clone(),
            effects: call.effects,
            session: call.session,
            call: call.id,
            revision: call.revision,
            digest: call.digest(),
            arguments: call.arguments.bytes().to_vec(),
            key: call.idempotency_key(),
            attempt,
            node,
            journal: 0,
        }
    }
}

/// A call that the engine gave to its tool, and how much was on disk at that moment.
#[derive(Clone, Debug)]
pub(super) struct Handed {
    pub(super) call: CallId,
    pub(super) attempt: u32,
    pub(super) journal: usize,
}

/// An attempt whose first word a tool has said, and how much was on disk at that moment; for a process that slept
/// since it entered the start gate, at that one.
#[derive(Clone, Debug)]
pub(super) struct Begun {
    pub(super) call: CallId,
    pub(super) attempt: u32,
    pub(super) journal: usize,
}

/// What a client was told, and how much was on disk at that moment.
#[derive(Clone, Debug)]
pub(super) struct Told {
    pub(super) errand: Errand,
    /// Commits on disk when they asked.
    pub(super) asked: usize,
    pub(super) journal: usize,
    pub(super) what: Word,
}

#[derive(Clone, Debug)]
pub(super) enum Word {
    Done,
    Session(SessionId),
    Said(MessageReceipt),
    Hold(Arc<Hold>),
    /// The kept reply of the same request.
    Again(Vec<u8>),
    Refused(Box<Refusal>),
    /// Nothing is promised.
    TryLater,
}

/// One request to the model.
#[derive(Clone, Debug)]
pub(super) struct Heard {
    pub(super) request: ports::model::ModelRequest<'static>,
    /// Commits on disk when it was asked.
    pub(super) journal: usize,
    /// What it answered, if anybody lived to hear it.
    pub(super) said: Option<ports::model::ModelTurn>,
}

/// One event as a follower of everything got it.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    pub(super) position: u64,
    pub(super) stream: StreamId,
    pub(super) event: Event,
}

/// A callback that reached its receiver.
#[derive(Clone, Debug)]
pub(super) struct Delivered {
    pub(super) key: String,
    pub(super) hold: Arc<Hold>,
    /// Commits on disk when it was sent off.
    pub(super) sent: usize,
    pub(super) journal: usize,
}
