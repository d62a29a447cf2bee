//! Trying again what the store would not take, for tasks that do not give up: they wait longer each time.

use ports::backoff::Backoff;

use crate::Engine;
use crate::limits::{STORE_RETRY, STORE_RETRY_MAX};

pub(crate) fn store_backoff() -> Backoff {
    Backoff::new(STORE_RETRY, STORE_RETRY_MAX)
}

impl Engine {
    pub(crate) async fn sleep_before_retry(&self, backoff: &mut Backoff) {
        self.0.clock.sleep(backoff.wait(self.0.rng.bits())).await;
    }
}
