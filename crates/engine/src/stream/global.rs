//! The one stream of what concerns all: freeze, tokens, logins, the policy in force.

use std::iter;
use std::sync::Arc;

use domain::event::{Event, GlobalEvent};
use domain::global_state::{GlobalCommand, GlobalState};
use domain::hold::Hold;
use domain::id::{HoldId, StreamId};
use ports::durable::Durable;
use ports::store::{Entry, StreamRows};

use super::{Decided, Ground, Rows, Stream};
use crate::Engine;
use crate::lane::Lanes;

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
        &engine.0.house
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
        _: &Ground,
    ) -> Decided<GlobalState> {
        let mut next = before.map(|house| GlobalState::clone(house)).unwrap_or_default();
        match next.decide(command) {
            Err(refusal) => Decided::refused(refusal),
            Ok(None) => Decided { events: Vec::new(), next: None, reply: Ok(()) },
            Ok(Some(event)) => {
                next.apply(&event);
                Decided { events: vec![event], next: Some(Arc::new(next)), reply: Ok(()) }
            }
        }
    }

    fn rows(
        _: &Engine,
        _: Option<&GlobalState>,
        _: &[GlobalEvent],
        _: &Arc<GlobalState>,
        _: &Ground,
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
        crate::story::tell_house(entry);
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
