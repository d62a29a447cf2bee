//! Everything that waits: a store that writes, a tool that works, a sleeper. Nothing goes on by itself;
//! the story takes the next one out, and that is what moves the time.

use std::collections::{BTreeMap, BTreeSet};
use std::task::Waker;

use super::node::NodeNo;

/// By the moment, then by lot, then by age.
type Place = (u64, u64, u64);

#[derive(Debug, Default)]
pub(super) struct Waits {
    last: u64,
    queue: BTreeMap<Place, Waiting>,
    places: BTreeMap<u64, Place>,
    over: BTreeSet<u64>,
}

#[derive(Debug)]
struct Waiting {
    node: NodeNo,
    what: &'static str,
    waker: Option<Waker>,
}

/// A wait that is over, and whom to tell.
pub(super) struct Over {
    pub(super) node: NodeNo,
    pub(super) what: &'static str,
    pub(super) at: u64,
    /// Younger than another wait of the same node and kind that is still waiting.
    pub(super) overtook: bool,
    pub(super) waker: Option<Waker>,
}

impl Waits {
    pub(super) fn begin(&mut self, node: NodeNo, what: &'static str, due: u64, lot: u64) -> u64 {
        self.last += 1;
        let place = (due, lot, self.last);
        self.queue.insert(place, Waiting { node, what, waker: None });
        self.places.insert(self.last, place);
        self.last
    }

    /// Whether it is over; if not, `waker` will hear of it.
    pub(super) fn poll(&mut self, id: u64, waker: &Waker) -> bool {
        if self.over.remove(&id) {
            return true;
        }
        if let Some(waiting) = self.places.get(&id).and_then(|place| self.queue.get_mut(place)) {
            waiting.waker = Some(waker.clone());
        }
        false
    }

    /// Whoever waited is gone.
    pub(super) fn forget(&mut self, id: u64) {
        self.over.remove(&id);
        if let Some(place) = self.places.remove(&id) {
            self.queue.remove(&place);
        }
    }

    pub(super) fn has(&self, what: &str) -> bool {
        self.queue.values().any(|waiting| waiting.what == what)
    }

    /// When the next one is due, of the nodes that may move.
    pub(super) fn next_due(&self, may_move: impl Fn(NodeNo) -> bool) -> Option<u64> {
        self.queue.iter().find(|(_, waiting)| may_move(waiting.node)).map(|((due, ..), _)| *due)
    }

    pub(super) fn take_next(&mut self, may_move: impl Fn(NodeNo) -> bool) -> Option<Over> {
        let place = *self.queue.iter().find(|(_, waiting)| may_move(waiting.node))?.0;
        let waiting = self.queue.remove(&place)?;
        let (at, _, id) = place;
        self.places.remove(&id);
        self.over.insert(id);
        let overtook = self.queue.iter().any(|((.., other), still)| {
            *other < id && still.node == waiting.node && still.what == waiting.what
        });
        Some(Over { node: waiting.node, what: waiting.what, at, overtook, waker: waiting.waker })
    }
}
