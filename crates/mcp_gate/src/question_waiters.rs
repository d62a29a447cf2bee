//! Which questions are waited for in this process, and by how many calls.
//!
//! Equal calls share one question. One that is cancelled takes it back only if no other waits for it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};

use domain::id::HoldId;
use ports::unpoisoned::Unpoisoned as _;

/// Of all sessions of one process. It is as large as there are calls that wait.
#[derive(Default)]
pub struct QuestionWaiters {
    waiting: Mutex<HashMap<HoldId, usize>>,
}

/// A call that waits for a question, until this is dropped.
pub(crate) struct QuestionWaiter {
    all: Arc<QuestionWaiters>,
    hold: HoldId,
    has_left: bool,
}

impl QuestionWaiters {
    fn lock(&self) -> MutexGuard<'_, HashMap<HoldId, usize>> {
        self.waiting.lock().unpoisoned()
    }

    pub(crate) fn join(self: &Arc<Self>, hold: HoldId) -> QuestionWaiter {
        *self.lock().entry(hold).or_default() += 1;
        QuestionWaiter { all: self.clone(), hold, has_left: false }
    }

    /// Says whether no other call waits for it any more.
    fn leave(&self, hold: HoldId) -> bool {
        let mut waiting = self.lock();
        let left = waiting.get_mut(&hold).map_or(0, |count| {
            *count = count.saturating_sub(1);
            *count
        });
        if left == 0 {
            waiting.remove(&hold);
        }
        left == 0
    }
}

impl QuestionWaiter {
    /// Another one for the same question.
    pub(crate) fn join_again(&self) -> QuestionWaiter {
        self.all.join(self.hold)
    }

    /// Says whether it was the last.
    pub(crate) fn leave(mut self) -> bool {
        self.has_left = true;
        self.all.leave(self.hold)
    }
}

impl Drop for QuestionWaiter {
    fn drop(&mut self) {
        if !self.has_left {
            self.all.leave(self.hold);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_call_that_leaves_is_told_so() {
        let all = Arc::new(QuestionWaiters::default());
        let one: HoldId = "hold_01jd3kq8v2m4x6z8a0c2e4g6j8".parse().unwrap();
        let other: HoldId = "hold_01jd3kq8v2m4x6z8a0c2e4g6j9".parse().unwrap();
        let (first, second, third) = (all.join(one), all.join(one), all.join(one));
        assert!(all.join(other).leave());
        assert!(!first.leave());
        drop(second);
        assert!(third.leave());
        assert!(all.lock().is_empty());
    }
}
