//! The one stream of what concerns all: freeze, tokens, logins, the policy in force, and what is only on record.

use std::iter;
use std::sync::Arc;

use domain::event::{Event, GlobalEvent};
use domain::global_state::{GlobalCommand, GlobalState};
use domain::hold::Hold;
use domain::id::{HoldId, StreamId};
use ports::durable::Durable;
use ports::store::{Entry, StreamRows};

use super::{DecisionBasis, Rows, Stream, StreamDecision};
use crate::Engine;
use crate::lane::lanes::Lanes;

/// There is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct GlobalId;

impl std::fmt::Display for GlobalId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        StreamId::Global.fmt(f)
    }
}

impl Stream for GlobalState {
    type Id = GlobalId;
    type Command<'a> = GlobalCommand;
    type Reply = ();

    fn lanes(engine: &Engine) -> &Arc<Lanes<GlobalState>> {
        &engine.0.global
    }

    fn stream_id(_: GlobalId) -> StreamId {
        StreamId::Global
    }

    fn hold_ids(&self, _: usize) -> impl Iterator<Item = HoldId> {
        iter::empty()
    }

    fn hold_count(&self) -> usize {
        0
    }

    fn hold(&self, _: HoldId) -> Option<&Arc<Hold>> {
        None
    }

    fn decide(
        _: &Engine,
        _: GlobalId,
        before: Option<&Arc<GlobalState>>,
        command: &GlobalCommand,
        basis: &DecisionBasis,
    ) -> StreamDecision<GlobalState> {
        match GlobalState::decide_shared(before, command, basis.now) {
            Err(refusal) => StreamDecision::refused(refusal),
            Ok(decided) => StreamDecision { decided, reply: Ok(()) },
        }
    }

    fn rows(
        _: &Engine,
        _: Option<&GlobalState>,
        _: &[GlobalEvent],
        _: &Arc<GlobalState>,
        _: &DecisionBasis,
    ) -> Rows {
        Rows {
            relies_on_global: false,
            stream: StreamRows::Global,
            outbox: Vec::new(),
            write_before: None,
        }
    }

    fn becomes_newest(&self, engine: &Engine) {
        match self.frozen {
            // mutant: start-gate-stays-open
            Some(_) => engine.0.start_gate.close(),
            None => engine.0.start_gate.open(),
        }
    }

    fn tell_story(&self, entry: &Entry) {
        crate::lane::story::tell_global(entry);
    }

    fn follow_up(engine: &Engine, _: &Durable<GlobalState>, entry: &Entry) {
        let mut events = entry.events.iter().filter_map(Event::global_event);
        // mutant: thaw-wakes-nothing
        if events.any(|event| matches!(event, GlobalEvent::Thawed { .. })) {
            engine.start_waking();
        }
    }

    /// A node that thawed may have died before it woke what waited.
    fn changed_elsewhere(engine: &Engine, before: &GlobalState, newest: &GlobalState) {
        if before.frozen.is_some() && newest.frozen.is_none() {
            engine.start_waking();
        }
    }
}
