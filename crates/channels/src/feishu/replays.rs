//! Requests that were taken already, as long as their time would still be good.

use std::collections::{HashSet, VecDeque};
use std::sync::Mutex;

use domain::time::Timestamp;
use ports::unpoisoned::Unpoisoned as _;

use crate::limits::{REPLAYS_MAX, REPLAYS_MS};

/// Only a first look. A message is remembered on disk by the chat service; a press again meets a hold that is decided,
/// or a vote that is the same.
#[derive(Debug, Default)]
pub(super) struct Replays(Mutex<Seen>);

#[derive(Debug, Default)]
struct Seen {
    names: HashSet<String>,
    /// Oldest first.
    order: VecDeque<(Timestamp, String)>,
}

impl Replays {
    /// Whether it is new.
    pub(super) fn is_new(&self, name: &str, now: Timestamp) -> bool {
        let mut seen = self.0.lock().unpoisoned();
        while let Some((at, oldest)) = seen.order.front()
            && (now.ms_since(*at) > REPLAYS_MS || seen.order.len() >= REPLAYS_MAX)
        {
            let oldest = oldest.clone();
            seen.names.remove(&oldest);
            seen.order.pop_front();
        }
        let new = seen.names.insert(name.to_owned());
        if new {
            seen.order.push_back((now, name.to_owned()));
        }
        new
    }

    /// It was not taken after all, and may come again.
    pub(super) fn forget(&self, name: &str) {
        let mut seen = self.0.lock().unpoisoned();
        if seen.names.remove(name) {
            seen.order.retain(|(_, known)| known != name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn i34_the_same_request_is_new_once() {
        let (replays, now) = (Replays::default(), Timestamp::from_ms(1_000_000));
        assert!(replays.is_new("a", now));
        assert!(!replays.is_new("a", now.plus_ms(REPLAYS_MS)));
        assert!(replays.is_new("b", now));
        replays.forget("a");
        assert!(replays.is_new("a", now));
        assert!(replays.is_new("a", now.plus_ms(REPLAYS_MS + 1)), "its own time is over by then");
    }

    #[test]
    fn however_many_come_only_so_many_are_kept() {
        let (replays, now) = (Replays::default(), Timestamp::from_ms(0));
        for number in 0..REPLAYS_MAX + 10 {
            assert!(replays.is_new(&number.to_string(), now));
        }
        let seen = replays.0.lock().unwrap();
        assert!(seen.order.len() <= REPLAYS_MAX && seen.names.len() == seen.order.len());
    }
}
