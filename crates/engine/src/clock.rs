//! The real clock and the real chance: the one place where either is read.

use std::cell::RefCell;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use domain::time::Timestamp;
use ports::clock::{Clock, Rng};
use ports::store::Store;
use ports::unpoisoned::Unpoisoned as _;
use ring::rand::{SecureRandom, SystemRandom};

/// Wall time that never goes backwards. While the process lives it moves on at least as fast as the
/// monotonic clock; over a restart it begins no earlier than the last commit. So setting the clock
/// back neither extends a deadline nor brings an expired hold back. Setting it forward can only
/// expire things early.
///
/// Where nodes share a store, its clock takes the place of the machine's: what is too late on one node is too late on all.
pub struct SystemClock {
    latest: Mutex<(Timestamp, Instant)>,
    shared: Option<Arc<dyn Store>>,
}

/// A machine whose clock is kept by any service is nearer to the database's than that.
const APART_S_MAX: u64 = 5;

#[expect(clippy::disallowed_methods, reason = "this is the home of the clock")]
fn read_clocks() -> (Timestamp, Instant) {
    let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    (Timestamp::from_ms(wall.as_millis() as i64), Instant::now())
}

impl SystemClock {
    /// `not_before` is the time of the last commit that the store knows.
    pub fn new(not_before: Option<Timestamp>) -> SystemClock {
        let (wall, instant) = read_clocks();
        SystemClock::from(wall, instant, not_before, None)
    }

    /// The clock of the store, if it has one that others go by too.
    pub fn shared_by(store: Arc<dyn Store>, not_before: Option<Timestamp>) -> SystemClock {
        let (wall, instant) = read_clocks();
        let Some(shared) = store.shared_now() else { return SystemClock::new(not_before) };
        let apart_s = (wall.as_ms() - shared.as_ms()) / 1_000;
        if apart_s.unsigned_abs() >= APART_S_MAX {
            tracing::warn!(
                apart_s,
                "this machine's clock and the database's are apart: the database's counts"
            );
        }
        SystemClock::from(shared, instant, not_before, Some(store))
    }

    fn from(
        wall: Timestamp,
        instant: Instant,
        not_before: Option<Timestamp>,
        shared: Option<Arc<dyn Store>>,
    ) -> SystemClock {
        SystemClock { latest: Mutex::new((not_before.unwrap_or(wall).max(wall), instant)), shared }
    }

    fn step(&self, wall: Timestamp, instant: Instant) -> Timestamp {
        let mut latest = self.latest.lock().unpoisoned();
        let elapsed = instant.saturating_duration_since(latest.1);
        let at_least = latest.0.plus_ms(elapsed.as_millis() as u64);
        // The monotonic mark moves only when wall time leads: otherwise rounding would add up.
        // mutant: clock-goes-back
        if wall > at_least {
            *latest = (wall, instant);
            wall
        } else {
            at_least
        }
    }
}

#[async_trait]
impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        // Before the instant: a thread that is put off in between must not carry time that it then counts twice.
        let shared = self.shared.as_ref().and_then(|store| store.shared_now());
        let (wall, instant) = read_clocks();
        self.step(shared.unwrap_or(wall), instant)
    }

    async fn sleep(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
    }
}

/// Unguessable bits from the operating system, fetched by the page: every id takes some.
#[derive(Default)]
pub struct SystemRng(());

/// That many: the system is asked seldom, and a thread that needs one keeps little for nothing.
const FETCHED_AT_ONCE: usize = 256;

/// Bits that were fetched, the unused ones first. Each thread has its own: none waits for another.
struct Fetched {
    bits: [[u8; 16]; FETCHED_AT_ONCE],
    left: usize,
}

thread_local! {
    static FETCHED: RefCell<Fetched> =
        const { RefCell::new(Fetched { bits: [[0; 16]; FETCHED_AT_ONCE], left: 0 }) };
}

impl Fetched {
    fn take(&mut self) -> u128 {
        if self.left == 0 {
            let filled = SystemRandom::new().fill(self.bits.as_flattened_mut());
            // Without randomness ids could be guessed: better to stop than to go on.
            filled.expect("the operating system gives random bytes");
            self.left = FETCHED_AT_ONCE;
        }
        self.left -= 1;
        // Taken out: no bits are ever given twice, or found where they were.
        u128::from_le_bytes(std::mem::take(&mut self.bits[self.left]))
    }
}

impl Rng for SystemRng {
    fn bits(&self) -> u128 {
        FETCHED.with_borrow_mut(Fetched::take)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn i28_a_wall_clock_set_back_neither_extends_nor_unexpires() {
        let (_, start) = read_clocks();
        let noon = Timestamp::from_ms(1_800_000_000_000);
        let clock = SystemClock::from(noon, start, None, None);
        let day_ms = 24 * 3600 * 1000;
        let back = Timestamp::from_ms(noon.as_ms() - day_ms);
        let later = start + Duration::from_secs(10);
        assert_eq!(clock.step(back, later), noon.plus_ms(10_000), "monotonic time goes on");
        let forward = noon.plus_ms(day_ms as u64);
        assert_eq!(clock.step(forward, later), forward);
        assert!(clock.step(noon, later) >= forward, "a jump forward is not taken back");
    }

    #[test]
    fn no_bits_are_given_twice_to_any_thread_or_kept() {
        let thread = || {
            std::thread::spawn(|| {
                let take = |_| SystemRng::default().bits();
                let taken: Vec<u128> = (0..3 * FETCHED_AT_ONCE).map(take).collect();
                SystemRng::default().bits();
                let kept = FETCHED.with_borrow(|fetched| fetched.bits[fetched.left..].to_vec());
                assert_eq!(kept, [[0; 16]], "what was given is wiped");
                taken
            })
        };
        let threads = [thread(), thread(), thread()];
        let all: Vec<u128> = threads.into_iter().flat_map(|it| it.join().unwrap()).collect();
        let distinct: std::collections::HashSet<u128> = all.iter().copied().collect();
        assert_eq!(distinct.len(), all.len());
    }

    #[test]
    fn i28_a_restart_begins_no_earlier_than_the_last_commit() {
        let far = Timestamp::from_ms(read_clocks().0.as_ms() + 1_000_000);
        assert!(SystemClock::new(Some(far)).now() >= far);
    }
}
