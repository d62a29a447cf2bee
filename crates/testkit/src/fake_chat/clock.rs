//! Real time that a test can move on and speed up.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use domain::time::Timestamp;
use engine::SystemClock;
use ports::clock::{Clock, Rng};

/// Waits are so many times shorter than they say; the time of day is the real one, and as much later
/// as it was moved.
pub struct MovedClock {
    real: SystemClock,
    ahead_ms: AtomicU64,
    faster: u32,
}

impl MovedClock {
    pub fn new(faster: u32) -> Arc<MovedClock> {
        Arc::new(MovedClock { real: SystemClock::new(None), ahead_ms: AtomicU64::new(0), faster })
    }

    pub fn move_on(&self, by: Duration) {
        self.ahead_ms.fetch_add(by.as_millis() as u64, Ordering::SeqCst);
    }
}

#[async_trait]
impl Clock for MovedClock {
    fn now(&self) -> Timestamp {
        self.real.now().plus_ms(self.ahead_ms.load(Ordering::SeqCst))
    }

    async fn sleep(&self, duration: Duration) {
        tokio::time::sleep(duration / self.faster).await;
    }
}

/// Always the shortest of random waits.
pub struct NoRandomness;

impl Rng for NoRandomness {
    fn bits(&self) -> u128 {
        0
    }
}
