//! Time and chance, so that a simulation can own both.

#![warn(missing_docs)]

use std::time::Duration;

use async_trait::async_trait;
use domain::time::Timestamp;

/// The one clock that everything is decided by.
///
/// ```
/// use std::time::Duration;
///
/// use async_trait::async_trait;
/// use domain::time::Timestamp;
/// use holdpoint_ports::clock::Clock;
///
/// /// Stands still: what sleeps on it sleeps for ever.
/// struct Noon;
///
/// #[async_trait]
/// impl Clock for Noon {
///     fn now(&self) -> Timestamp {
///         Timestamp::from_ms(12 * 3_600_000)
///     }
///
///     async fn sleep(&self, _: Duration) {
///         std::future::pending().await
///     }
/// }
///
/// assert_eq!(Noon.now(), Noon.now());
/// ```
#[async_trait]
pub trait Clock: Send + Sync {
    /// Never goes backwards, not even over a restart: whatever expired stays expired.
    fn now(&self) -> Timestamp;

    /// Returns when so much time has passed by this clock.
    async fn sleep(&self, duration: Duration);
}

/// Where randomness comes from.
pub trait Chance: Send + Sync {
    /// So many random bits, which nobody can guess.
    fn bits(&self) -> u128;
}
