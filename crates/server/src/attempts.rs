//! Wrong tokens and login codes, counted per address. A right one always passes, so that nobody can
//! lock somebody else out by guessing from the same proxy.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Mutex;

use domain::time::Timestamp;
use ports::unpoisoned::Unpoisoned as _;

/// Addresses remembered. When full, the table starts anew: that only forgives.
const ADDRESSES: usize = 10_000;
const WINDOW_MS: u64 = 60_000;

pub(crate) struct Attempts {
    per_window: u32,
    failures: Mutex<HashMap<IpAddr, (Timestamp, u32)>>,
}

impl Attempts {
    pub(crate) fn new(per_window: u32) -> Attempts {
        Attempts { per_window, failures: Mutex::default() }
    }

    /// Counts a failure. `Some`: there were too many; come back in so many seconds.
    pub(crate) fn failed(&self, from: IpAddr, now: Timestamp) -> Option<u64> {
        let mut failures = self.failures.lock().unpoisoned();
        if failures.len() >= ADDRESSES && !failures.contains_key(&from) {
            failures.retain(|_, (began, _)| now.ms_since(*began) < WINDOW_MS);
            if failures.len() >= ADDRESSES {
                failures.clear();
            }
        }
        let (began, count) = failures.entry(from).or_insert((now, 0));
        if now.ms_since(*began) >= WINDOW_MS {
            (*began, *count) = (now, 0);
        }
        *count += 1;
        let left_ms = WINDOW_MS.saturating_sub(now.ms_since(*began));
        (*count > self.per_window).then(|| left_ms.div_ceil(1000).max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_forgiven_after_a_while() {
        let attempts = Attempts::new(2);
        let (address, now) = (IpAddr::from([192, 0, 2, 1]), Timestamp::from_ms(5));
        assert_eq!(attempts.failed(address, now), None);
        assert_eq!(attempts.failed(address, now), None);
        assert_eq!(attempts.failed(address, now), Some(60));
        assert_eq!(attempts.failed([192, 0, 2, 2].into(), now), None, "another address");
        assert_eq!(attempts.failed(address, now.plus_ms(WINDOW_MS - 1)), Some(1));
        assert_eq!(attempts.failed(address, now.plus_ms(WINDOW_MS)), None);
    }
}
