//! The real clock and the real chance: the one place where either is read.

use std::sync::Mutex;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use domain::time::Timestamp;
use ports::clock::{Chance, Clock};
use ring::rand::{SecureRandom, SystemRandom};

/// Wall time that never goes backwards. While the process lives it moves on at least as fast as the
/// monotonic clock; over a restart it begins no earlier than the last commit. So setting the clock
/// back neither extends a deadline nor brings an expired hold back. Setting it forward can only
/// expire things early.
pub struct SystemClock {
    latest: Mutex<(Timestamp, Instant)>,
}

#[expect(clippy::disallowed_methods, reason = "this is the home of the clock")]
fn read() -> (Timestamp, Instant) {
    let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    (Timestamp::from_ms(wall.as_millis() as i64), Instant::now())
}

impl SystemClock {
    /// `not_before` is the time of the last commit that the store knows.
    pub fn new(not_before: Option<Timestamp>) -> SystemClock {
        let (wall, instant) = read();
        SystemClock { latest: Mutex::new((not_before.unwrap_or(wall).max(wall), instant)) }
    }

    fn step(&self, wall: Timestamp, instant: Instant) -> Timestamp {
        let mut latest = self.latest.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let elapsed = instant.saturating_duration_since(latest.1);
        let at_least = latest.0.plus_ms(elapsed.as_millis() as u64);
        // The monotonic mark moves only when wall time leads: otherwise rounding would add up.
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
        let (wall, instant) = read();
        self.step(wall, instant)
    }

    async fn sleep(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
    }
}

/// Unguessable bits from the operating system, fetched by the handful: every id takes some.
pub struct SystemChance {
    source: SystemRandom,
    fetched: Mutex<Vec<[u8; 16]>>,
}

const FETCHED_AT_ONCE: usize = 32;

impl Default for SystemChance {
    fn default() -> SystemChance {
        SystemChance { source: SystemRandom::new(), fetched: Mutex::default() }
    }
}

impl Chance for SystemChance {
    fn bits(&self) -> u128 {
        let mut fetched = self.fetched.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        loop {
            // Taken out: no bits are ever given twice.
            if let Some(bits) = fetched.pop() {
                return u128::from_le_bytes(bits);
            }
            let mut bytes = [0u8; 16 * FETCHED_AT_ONCE];
            // Without randomness ids could be guessed: better to stop than to go on.
            self.source.fill(&mut bytes).expect("the operating system gives random bytes");
            fetched.extend(bytes.as_chunks().0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn i28_a_wall_clock_set_back_neither_extends_nor_unexpires() {
        let (_, start) = read();
        let noon = Timestamp::from_ms(1_800_000_000_000);
        let clock = SystemClock { latest: Mutex::new((noon, start)) };
        let day_ms = 24 * 3600 * 1000;
        let back = Timestamp::from_ms(noon.as_ms() - day_ms);
        let later = start + Duration::from_secs(10);
        assert_eq!(clock.step(back, later), noon.plus_ms(10_000), "monotonic time goes on");
        let forward = noon.plus_ms(day_ms as u64);
        assert_eq!(clock.step(forward, later), forward);
        assert!(clock.step(noon, later) >= forward, "a jump forward is not taken back");
    }

    #[test]
    fn i28_a_restart_begins_no_earlier_than_the_last_commit() {
        let far = Timestamp::from_ms(read().0.as_ms() + 1_000_000);
        assert!(SystemClock::new(Some(far)).now() >= far);
    }
}
