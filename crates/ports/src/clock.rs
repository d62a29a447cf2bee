//! Time and chance, so that a simulation can own both.

use std::time::Duration;

use async_trait::async_trait;
use domain::time::Timestamp;

#[async_trait]
pub trait Clock: Send + Sync {
    /// Never goes backwards, not even over a restart: whatever expired stays expired.
    fn now(&self) -> Timestamp;

    async fn sleep(&self, duration: Duration);
}

pub trait Chance: Send + Sync {
    fn bits(&self) -> u128;
}
