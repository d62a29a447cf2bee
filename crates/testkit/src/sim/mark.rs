//! What is wrong with a request or a press. It is counted when it reaches a server and not when somebody
//! thinks of it: whoever was to serve it may have died by then.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use super::world::Inside;

#[derive(Clone, Debug)]
pub(super) struct Mark {
    kind: &'static str,
    /// So many of those that make it so together have still to arrive.
    missing: Arc<AtomicU32>,
    /// It is so even if this one arrives last.
    may_be_last: bool,
}

impl Mark {
    pub(super) fn one(kind: &'static str) -> Mark {
        Mark { kind, missing: Arc::new(1.into()), may_be_last: true }
    }

    /// Of two that make it so together, in whatever order: both of them carry it.
    pub(super) fn both(kind: &'static str) -> Mark {
        Mark { missing: Arc::new(2.into()), ..Mark::one(kind) }
    }

    /// Of two, if the one that was sent first arrives last: for the first and for the second.
    pub(super) fn overtaken(kind: &'static str) -> [Mark; 2] {
        let first = Mark::both(kind);
        let second = Mark { may_be_last: false, ..first.clone() };
        [first, second]
    }

    /// Whether with this arrival it has happened. A repeat adds nothing.
    fn arrives(&self) -> bool {
        self.missing.fetch_sub(1, Ordering::Relaxed) == 1 && self.may_be_last
    }
}

impl Inside {
    pub(super) fn arrived(&mut self, marks: &[Mark]) {
        for mark in marks.iter().filter(|mark| mark.arrives()) {
            self.fault(mark.kind);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_takes_two_is_counted_once_both_are_there_and_in_that_order() {
        let arrivals =
            |marks: &[&Mark]| marks.iter().map(|mark| mark.arrives()).collect::<Vec<_>>();
        let one = Mark::one("it");
        assert_eq!(arrivals(&[&one, &one]), [true, false]);
        let both = Mark::both("it");
        assert_eq!(arrivals(&[&both, &both.clone(), &both]), [false, true, false]);
        let [first, second] = Mark::overtaken("it");
        assert_eq!(arrivals(&[&second, &first]), [false, true]);
        let [first, second] = Mark::overtaken("it");
        assert_eq!(arrivals(&[&first, &second]), [false, false]);
    }
}
