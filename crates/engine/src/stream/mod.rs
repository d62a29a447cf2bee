//! The three kinds of streams, as `submit` and `commit` see them: a session, a hold of no session, and the one global
//! stream.

mod external_hold;
mod global;
mod session;

use std::fmt::Display;
use std::future::Future;
use std::hash::Hash;
use std::sync::Arc;

use domain::decided::Decided;
use domain::global_state::GlobalState;
use domain::hold::Hold;
use domain::id::{HoldId, StreamId};
use domain::refusal::Refusal;
use domain::time::Timestamp;
use ports::durable::{Durable, Replay};
use ports::store::{Entry, OutboxItem, StreamRows, WriteBefore};

pub(crate) use external_hold::ExternalHoldInput;
pub(crate) use global::GlobalId;
pub(crate) use session::SessionCommand;

use crate::Engine;
use crate::lane::lanes::Lanes;

pub(crate) trait Stream: Replay {
    type Id: Copy + Eq + Hash + Display + Send + Sync + 'static;
    type Command<'a>: Sync;
    type Reply: Clone + Send;

    fn lanes(engine: &Engine) -> &Arc<Lanes<Self>>;
    fn stream_id(id: Self::Id) -> StreamId;

    /// Its holds after so many of them, in the order in which they were opened.
    fn hold_ids(&self, known: usize) -> impl Iterator<Item = HoldId>;
    fn hold_count(&self) -> usize;
    fn hold(&self, id: HoldId) -> Option<&Arc<Hold>>;

    /// Writes nothing. The domain decides, and is pure; here it is told what the set-up of the engine knows: tools, people,
    /// policy, whether this node may begin calls. Work that has to wait for the lease is woken later from here.
    fn decide(
        engine: &Engine,
        id: Self::Id,
        before: Option<&Arc<Self>>,
        command: &Self::Command<'_>,
        basis: &DecisionBasis,
    ) -> StreamDecision<Self>;

    /// What must have happened before the commit is on disk.
    fn before_commit<'a>(
        engine: &'a Engine,
        events: &'a [Self::Event],
        next: &'a Self,
    ) -> impl Future<Output = ()> + Send + 'a {
        let _ = (engine, events, next);
        async {}
    }

    /// The rows that change with these events.
    fn rows(
        engine: &Engine,
        before: Option<&Self>,
        events: &[Self::Event],
        next: &Arc<Self>,
        basis: &DecisionBasis,
    ) -> Rows;

    /// Called under the lock of the lane whenever another state is the newest one, before it can be seen.
    fn becomes_newest(&self, engine: &Engine) {
        let _ = engine;
    }

    /// One line of the log for each thing that an operator asks about.
    fn tell_story(&self, entry: &Entry);

    /// What follows from a commit, once the new state can be seen.
    fn follow_up(engine: &Engine, next: &Durable<Self>, entry: &Entry);

    /// Work of the newest state that no task of this node does yet is started. Does nothing if all of it is
    /// being done.
    fn resume(engine: &Engine, newest: &Durable<Self>) {
        let _ = (engine, newest);
    }

    /// Another node has changed it.
    fn changed_elsewhere(engine: &Engine, before: &Self, newest: &Self) {
        let _ = (engine, before, newest);
    }
}

/// What a decision stands on besides its own stream.
pub(crate) struct DecisionBasis {
    pub(crate) global: Arc<GlobalState>,
    pub(crate) now: Timestamp,
}

/// What comes of a command. Both events and a refusal may: an answer that is too late makes the expiry happen.
pub(crate) struct StreamDecision<S: Stream> {
    /// `None`: there is nothing to write, and no state that it would lead to.
    pub(crate) decided: Option<Decided<S, S::Event>>,
    pub(crate) reply: Result<S::Reply, Refusal>,
}

impl<S: Stream> StreamDecision<S> {
    pub(crate) fn refused(refusal: Refusal) -> StreamDecision<S> {
        StreamDecision { decided: None, reply: Err(refusal) }
    }
}

/// The part of a commit that differs by kind of stream.
pub(crate) struct Rows {
    /// It must not be written if all was frozen or thawed meanwhile.
    pub(crate) relies_on_global: bool,
    pub(crate) stream: StreamRows,
    pub(crate) outbox: Vec<OutboxItem>,
    pub(crate) write_before: Option<WriteBefore>,
}
