//! How long to wait before the next attempt: twice as long each time, up to a bound, and never at the same
//! moment as others who failed together. Pure: the random bits come from the caller, and the caller waits.

use std::time::Duration;

/// Bits that give the whole wait, for those who come back alone.
pub const WHOLE_WAIT: u128 = 500;

/// Counts the attempts that failed one after another.
///
/// ```
/// use std::time::Duration;
/// use holdpoint_ports::backoff::{Backoff, WHOLE_WAIT};
///
/// let mut backoff = Backoff::new(Duration::from_secs(1), Duration::from_secs(60));
/// // The bits come from the port `Rng` elsewhere.
/// assert_eq!(backoff.wait(WHOLE_WAIT), Duration::from_secs(1));
/// assert_eq!(backoff.wait(WHOLE_WAIT), Duration::from_secs(2));
/// backoff.reset();
/// assert_eq!(backoff.wait(WHOLE_WAIT), Duration::from_secs(1));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backoff {
    first: Duration,
    most: Duration,
    failed: u32,
}

impl Backoff {
    /// Waits of `first` and longer, up to `most`.
    pub const fn new(first: Duration, most: Duration) -> Backoff {
        Backoff { first, most, failed: 0 }
    }

    /// The wait after one more failure.
    pub fn wait(&mut self, bits: u128) -> Duration {
        let wait = wait_after(self.failed, self.first, self.most, bits);
        self.failed = self.failed.saturating_add(1);
        wait
    }

    /// An attempt worked.
    pub fn reset(&mut self) {
        self.failed = 0;
    }
}

/// The wait after this many failures before the present one, for those who keep count elsewhere: from a half to the
/// whole of `first` doubled that often, at most `most`.
pub fn wait_after(failed_before: u32, first: Duration, most: Duration, bits: u128) -> Duration {
    let doubled = first.saturating_mul(2u32.saturating_pow(failed_before.min(31))).min(most);
    let part = 500 + (bits % 501) as u32;
    doubled * part / 1_000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_to_a_bound_and_begin_anew() {
        let mut backoff = Backoff::new(Duration::from_secs(1), Duration::from_secs(60));
        let waits: Vec<u64> = (0..8).map(|_| backoff.wait(WHOLE_WAIT).as_secs()).collect();
        assert_eq!(waits, [1, 2, 4, 8, 16, 32, 60, 60]);
        backoff.reset();
        assert_eq!(backoff.wait(WHOLE_WAIT), Duration::from_secs(1));
    }

    #[test]
    fn a_wait_is_between_a_half_and_the_whole() {
        let (first, most) = (Duration::from_secs(1), Duration::from_secs(60));
        let of = |bits| wait_after(2, first, most, bits);
        assert_eq!((of(0), of(WHOLE_WAIT)), (Duration::from_secs(2), Duration::from_secs(4)));
        assert_eq!((of(501), of(u128::MAX)), (of(0), of(u128::MAX % 501)));
        assert_eq!(wait_after(u32::MAX, first, most, WHOLE_WAIT), most);
        assert_eq!(wait_after(u32::MAX, Duration::MAX / 2, most, WHOLE_WAIT), most);
    }
}
