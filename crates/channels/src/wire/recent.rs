//! What was seen lately. Only an optimisation, so it may forget.

use std::collections::{HashSet, VecDeque};
use std::sync::Mutex;

use ports::unpoisoned::Unpoisoned as _;

#[derive(Debug)]
pub(crate) struct Recent {
    most: usize,
    seen: Mutex<(HashSet<String>, VecDeque<String>)>,
}

impl Recent {
    pub(crate) fn new(most: usize) -> Recent {
        Recent { most, seen: Mutex::default() }
    }

    /// Whether it is new. The oldest makes room.
    pub(crate) fn insert(&self, name: &str) -> bool {
        let mut seen = self.seen.lock().unpoisoned();
        let (names, order) = &mut *seen;
        if !names.insert(name.to_owned()) {
            return false;
        }
        order.push_back(name.to_owned());
        if order.len() > self.most
            && let Some(oldest) = order.pop_front()
        {
            names.remove(&oldest);
        }
        true
    }

    /// It did not come to pass.
    pub(crate) fn remove(&self, name: &str) {
        let mut seen = self.seen.lock().unpoisoned();
        if seen.0.remove(name) {
            seen.1.retain(|known| known != name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_is_forgotten() {
        let recent = Recent::new(2);
        assert!(recent.insert("a") && recent.insert("b") && !recent.insert("a"));
        assert!(recent.insert("c") && recent.insert("a"), "forgotten");
        recent.remove("c");
        assert!(recent.insert("c"));
    }
}
