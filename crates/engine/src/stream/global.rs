//! The one stream of what concerns all: freeze, tokens, logins, the policy in force.

use std::iter;
use std::sync::Arc;

use domain::event::Event;
use domain::hold::Hold;
use domain::house::{House, HouseCommand};
use domain::id::{HoldId, StreamId};
use ports::durable::Durable;
use ports::store::Entry;

use super::{Decided, Ground, Rows, Stream};
use crate::Engine;
use crate::lane::Lanes;

/// There is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct GlobalId;

impl std::fmt::Display for GlobalId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        StreamId::House.fmt(f)
    }
}

impl Stream for House {
    type Id = GlobalId;
    type Command<'a> = HouseCommand;
    type Reply = ();

    fn lanes(engine: &Engine) -> &Arc<Lanes<House>> {
        &engine.0.house
    }

    fn stream_id(_: GlobalId) -> StreamId {
        StreamId::House
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
        before: Option<&Arc<House>>,
        command: &HouseCommand,
        _: &Ground,
    ) -> Decided<House> {
        let mut next = before.map(|house| House::clone(house)).unwrap_or_default();
        match next.decide(command) {
            Err(refusal) => Decided::refused(refusal),
            Ok(None) => Decided { events: Vec::new(), next: None, reply: Ok(()) },
            Ok(Some(event)) => {
                next.apply(&event);
                Decided { events: vec![event], next: Some(Arc::new(next)), reply: Ok(()) }
            }
        }
    }

    fn rows(_: &Engine, _: Option<&House>, _: &[Event], _: &Arc<House>, _: &Ground) -> Rows {
        Rows::default()
    }

    fn becomes_newest(&self, engine: &Engine) {
        match self.frozen {
            Some(_) => engine.0.start_gate.close(),
            None => engine.0.start_gate.open(),
        }
    }

    fn tell_story(&self, entry: &Entry) {
        crate::story::tell_house(entry);
    }

    fn follow_up(engine: &Engine, _: &Durable<House>, events: &[Event]) {
        if events.iter().any(|event| matches!(event, Event::Thawed { .. })) {
            engine.start_waking();
        }
    }

    /// A node that thawed may have died before it woke what waited.
    fn changed_elsewhere(engine: &Engine, before: &House, newest: &House) {
        if before.frozen.is_some() && newest.frozen.is_none() {
            engine.start_waking();
        }
    }
}
