//! The one clock of all nodes: the database's, as it was when it was last asked, carried on by this machine's
//! time since it was switched on. So a machine whose own clock is wrong neither extends a deadline nor lets a hold expire
//! early, and the time goes on while the database is away.

use std::sync::Mutex;
use std::time::Duration;

use domain::time::Timestamp;
use ports::unpoisoned::Unpoisoned as _;

use super::limits::{CLOCK_SAMPLE_KEPT, CLOCK_TRIP_MAX};

/// To be asked for in a statement whose round trip is short: milliseconds since 1970.
pub(super) const DATABASE_NOW: &str = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint";

pub(super) struct DatabaseClock(Mutex<ClockSample>);

/// What the database said, and when by the time since this machine was switched on.
#[derive(Clone, Copy)]
struct ClockSample {
    database_ms: i64,
    sent: Duration,
    /// From sending the question to the answer: the database's clock was read somewhere in between.
    trip: Duration,
}

impl DatabaseClock {
    pub(super) fn new(database_ms: i64, sent: Duration, received: Duration) -> DatabaseClock {
        let trip = received.saturating_sub(sent);
        DatabaseClock(Mutex::new(ClockSample { database_ms, sent, trip }))
    }

    /// Takes a later answer over if it is at least as exact as the last one, if that one is old and this one is not slow,
    /// or if both cannot be true: somebody has set that clock, or another database has it.
    pub(super) fn note(&self, database_ms: i64, sent: Duration, received: Duration) {
        let trip = received.saturating_sub(sent);
        let mut sample = self.0.lock().unpoisoned();
        let is_old = sent >= sample.sent + CLOCK_SAMPLE_KEPT && trip <= CLOCK_TRIP_MAX;
        let foretold = sample.database_ms + sent.saturating_sub(sample.sent).as_millis() as i64;
        let apart = Duration::from_millis(database_ms.abs_diff(foretold));
        if trip <= sample.trip || is_old || apart > sample.trip + trip + CLOCK_TRIP_MAX {
            *sample = ClockSample { database_ms, sent, trip };
        }
    }

    /// Counted from when the question was sent: ahead of the database by a round trip at most, and never behind it, so
    /// that nothing is still valid here that is over there.
    pub(super) fn now(&self, since_boot: Duration) -> Timestamp {
        let sample = *self.0.lock().unpoisoned();
        let elapsed = since_boot.saturating_sub(sample.sent);
        Timestamp::from_ms(sample.database_ms).plus_ms(elapsed.as_millis() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(count: u64) -> Duration {
        Duration::from_millis(count)
    }

    #[test]
    fn i28_time_goes_on_from_what_the_database_said() {
        let clock = DatabaseClock::new(1_000_000, ms(500), ms(510));
        assert_eq!(clock.now(ms(500)).as_ms(), 1_000_000);
        assert_eq!(clock.now(ms(60_500)).as_ms(), 1_060_000, "also while it is away");
    }

    #[test]
    fn i28_a_slow_answer_does_not_displace_a_quick_one_until_that_is_old() {
        let clock = DatabaseClock::new(1_000_000, ms(0), ms(10));
        clock.note(1_001_900, ms(1_000), ms(3_000));
        assert_eq!(clock.now(ms(3_000)).as_ms(), 1_003_000);
        clock.note(1_004_005, ms(4_000), ms(4_010));
        assert_eq!(clock.now(ms(4_010)).as_ms(), 1_004_015, "as quick, and newer");
        let old = ms(4_000) + CLOCK_SAMPLE_KEPT;
        clock.note(1_064_100, old, old + ms(500));
        assert_eq!(clock.now(old).as_ms(), 1_064_005, "that one is slow, and says nothing new");
        clock.note(1_064_105, old, old + ms(200));
        assert_eq!(clock.now(old).as_ms(), 1_064_105);
    }

    #[test]
    fn i28_a_clock_that_was_set_is_followed_at_once_however_slow_the_answer() {
        let clock = DatabaseClock::new(1_000_000, ms(0), ms(10));
        for set in [90_000_000, 1_005_000] {
            clock.note(set, ms(5_000), ms(6_000));
            assert_eq!(clock.now(ms(6_000)).as_ms(), set + 1_000);
        }
    }
}
