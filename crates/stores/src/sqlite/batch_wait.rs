//! Whom the writer waits for. A sync costs the same for one commit and for a hundred; and whoever was
//! just told mostly comes again at once. If the writer begins without them, they miss this sync and
//! wait for the next one as well: everybody is split into two halves that wait for each other.
//!
//! So where a sync is slow, the writer gives those whom it just told a moment to come. Where it is
//! fast they are not worth waiting for: there, one half is served while the other half thinks. A
//! single caller that comes again and again never waits.

use std::time::{Duration, Instant};

/// Of so many commits the fastest says what a sync takes here: the others may have been held up by
/// something else.
const LAST: usize = 8;
/// A sync that takes longer is worth waiting to share.
const SLOW: Duration = Duration::from_micros(500);
/// The moment is this part of a sync,
const PART: u32 = 4;
/// and no longer than this, however slow the disk is.
const MOMENT_MAX: Duration = Duration::from_millis(2);

/// Until then it is worth waiting for so many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BatchWait {
    pub(super) count: usize,
    pub(super) until: Instant,
}

/// What the last syncs took.
#[derive(Debug, Default)]
pub(super) struct Syncs {
    last: [Duration; LAST],
    next: usize,
}

impl Syncs {
    pub(super) fn took(&mut self, time: Duration) {
        self.last[self.next] = time;
        self.next = (self.next + 1) % LAST;
    }

    /// Whom to wait for, when so many have just been told and so many wait already.
    pub(super) fn batch_wait(
        &self,
        told: usize,
        waiting: usize,
        now: Instant,
    ) -> Option<BatchWait> {
        let fastest = self.last.iter().min().copied().unwrap_or_default();
        (fastest >= SLOW).then(|| BatchWait {
            count: told + waiting,
            until: now + (fastest / PART).min(MOMENT_MAX),
        })
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "it measures the disk; nothing that is stored depends on it"
)]
pub(super) fn now() -> Instant {
    Instant::now()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(times_us: &[u64]) -> Syncs {
        let mut syncs = Syncs::default();
        times_us.iter().for_each(|us| syncs.took(Duration::from_micros(*us)));
        syncs
    }

    #[test]
    fn a_slow_sync_is_shared_and_a_fast_one_is_not_waited_for() {
        let now = now();
        assert_eq!(after(&[1_200; LAST]).batch_wait(3, 2, now), {
            Some(BatchWait { count: 5, until: now + Duration::from_micros(300) })
        });
        assert_eq!(after(&[90; LAST]).batch_wait(3, 2, now), None);
        let crawls = after(&[50_000; LAST]).batch_wait(1, 0, now).unwrap();
        assert_eq!(crawls.until, now + MOMENT_MAX);
    }

    #[test]
    fn one_fast_sync_says_that_the_disk_is_fast() {
        let now = now();
        assert_eq!(after(&[1_200; LAST - 1]).batch_wait(9, 9, now), None, "not yet known");
        let mut times = [1_200; LAST];
        times[3] = 90;
        assert_eq!(after(&times).batch_wait(9, 9, now), None);
        let mut changed = after(&times);
        (0..LAST).for_each(|_| changed.took(Duration::from_millis(1)));
        assert!(changed.batch_wait(9, 9, now).is_some(), "it has become slow");
    }
}
