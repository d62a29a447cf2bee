//! Wrong tokens and login codes, counted per address. A right one always passes, so that nobody can
//! lock somebody else out by guessing from the same proxy.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Mutex;
use std::time::Duration;

use tokio::time::Instant;

/// Addresses remembered. When full, the table starts anew: that only forgives.
const ADDRESSES: usize = 10_000;
const WINDOW: Duration = Duration::from_secs(60);

pub(crate) struct Attempts {
    per_window: u32,
    failures: Mutex<HashMap<IpAddr, (Instant, u32)>>,
}

impl Attempts {
    pub(crate) fn new(per_window: u32) -> Attempts {
        Attempts { per_window, failures: Mutex::default() }
    }

    /// Counts a failure. `Some`: there were too many; come back in so many seconds.
    pub(crate) fn failed(&self, from: IpAddr) -> Option<u64> {
        let now = Instant::now();
        let mut failures = self.failures.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if failures.len() >= ADDRESSES && !failures.contains_key(&from) {
            failures.retain(|_, (began, _)| now.duration_since(*began) < WINDOW);
            if failures.len() >= ADDRESSES {
                failures.clear();
            }
        }
        let (began, count) = failures.entry(from).or_insert((now, 0));
        if now.duration_since(*began) >= WINDOW {
            (*began, *count) = (now, 0);
        }
        *count += 1;
        let left = WINDOW.saturating_sub(now.duration_since(*began));
        (*count > self.per_window).then(|| left.as_secs() + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn failures_are_forgiven_after_a_while() {
        let attempts = Attempts::new(2);
        let address: IpAddr = [192, 0, 2, 1].into();
        assert_eq!(attempts.failed(address), None);
        assert_eq!(attempts.failed(address), None);
        assert_eq!(attempts.failed(address), Some(61));
        assert_eq!(attempts.failed([192, 0, 2, 2].into()), None, "another address");
        tokio::time::advance(WINDOW).await;
        assert_eq!(attempts.failed(address), None);
    }
}
