//! Time and chance, so that a simulation can own both.

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
///
/// ```
/// use holdpoint_ports::clock::Rng;
///
/// /// The same bits every time, for a test that wants the same ids every time.
/// struct Seven;
///
/// impl Rng for Seven {
///     fn bits(&self) -> u128 {
///         7
///     }
/// }
///
/// let id = domain::id::SessionId::new(1_000, Seven.bits());
/// assert_eq!(id, domain::id::SessionId::new(1_000, 7));
/// ```
pub trait Rng: Send + Sync {
    /// So many random bits, which nobody can guess.
    fn bits(&self) -> u128;
}
