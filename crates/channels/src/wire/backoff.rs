//! How long to wait before the next try of something that must go on for ever.

use std::time::Duration;

use crate::limits::{RECONNECT_FIRST, RECONNECT_MOST};

#[derive(Debug)]
pub(crate) struct Backoff(Duration);

impl Backoff {
    pub(crate) fn new() -> Backoff {
        Backoff(RECONNECT_FIRST)
    }

    /// This time; twice as long the next.
    pub(crate) fn wait(&mut self) -> Duration {
        let wait = self.0;
        self.0 = (wait * 2).min(RECONNECT_MOST);
        wait
    }

    /// It worked.
    pub(crate) fn reset(&mut self) {
        self.0 = RECONNECT_FIRST;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_to_a_bound_and_begin_anew() {
        let mut backoff = Backoff::new();
        let waits: Vec<u64> = (0..8).map(|_| backoff.wait().as_secs()).collect();
        assert_eq!(waits, [1, 2, 4, 8, 16, 32, 60, 60]);
        backoff.reset();
        assert_eq!(backoff.wait(), RECONNECT_FIRST);
    }
}
