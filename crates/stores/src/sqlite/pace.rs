//! How many to expect. A sync costs the same for one commit and for a hundred; so when many come, the
//! writer waits a moment for company before it pays for one. Whoever is alone never waits.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// What was served in this time says who may come again.
const WINDOW: Duration = Duration::from_millis(1);
/// Below this, waiting costs more than it saves.
const MANY: usize = 8;
/// How long the first to come waits for the others at most.
const PATIENCE: Duration = Duration::from_micros(300);

/// So many are worth waiting for, for so long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Expected {
    pub(super) count: usize,
    pub(super) patience: Duration,
}

#[derive(Default)]
pub(super) struct Pace {
    served: VecDeque<(Instant, usize)>,
}

#[expect(clippy::disallowed_methods, reason = "it looks at the pace, not at the time")]
fn now() -> Instant {
    Instant::now()
}

impl Pace {
    pub(super) fn served(&mut self, count: usize) {
        self.served.push_back((now(), count));
    }

    pub(super) fn expected(&mut self) -> Option<Expected> {
        self.expected_at(now())
    }

    fn expected_at(&mut self, now: Instant) -> Option<Expected> {
        while self.served.front().is_some_and(|(at, _)| *at + WINDOW < now) {
            self.served.pop_front();
        }
        let count: usize = self.served.iter().map(|(_, count)| count).sum();
        (count >= MANY).then_some(Expected { count: count * 3 / 4, patience: PATIENCE })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_is_alone_never_waits_and_many_wait_for_most_of_them() {
        let begin = now();
        let after = |us| begin + Duration::from_micros(us);
        let mut alone = Pace::default();
        for us in (0..1_000).step_by(200) {
            alone.served.push_back((after(us), 1));
            assert_eq!(alone.expected_at(after(us)), None);
        }
        let mut many = Pace::default();
        many.served.push_back((after(0), 30));
        many.served.push_back((after(500), 10));
        let expected = |count| Some(Expected { count, patience: PATIENCE });
        assert_eq!(many.expected_at(after(900)), expected(30));
        assert_eq!(many.expected_at(after(1_200)), expected(7), "the first have not come again");
        assert_eq!(many.expected_at(after(9_000)), None, "nobody has");
        assert!(many.served.is_empty());
    }
}
