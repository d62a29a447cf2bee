//! How many requests a caller may send: a bucket that fills steadily and is emptied by requests. One
//! noisy caller must not slow the others down.

use std::collections::HashMap;
use std::sync::Mutex;

use tokio::time::Instant;

use crate::limits::HttpLimits;

pub(crate) struct Buckets {
    per_second: Option<u32>,
    burst: u32,
    remembered: usize,
    buckets: Mutex<HashMap<String, Bucket>>,
}

struct Bucket {
    left: f64,
    at: Instant,
}

impl Buckets {
    pub(crate) fn new(limits: &HttpLimits) -> Buckets {
        Buckets {
            per_second: limits.requests_per_second,
            burst: limits.request_burst.max(1),
            remembered: limits.callers_remembered,
            buckets: Mutex::default(),
        }
    }

    /// Takes one request out. `Err`: come back in so many seconds.
    pub(crate) fn take(&self, caller: &str) -> Result<(), u64> {
        let Some(rate) = self.per_second else { return Ok(()) };
        let (rate, burst) = (f64::from(rate.max(1)), f64::from(self.burst));
        let now = Instant::now();
        let mut buckets = self.buckets.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let fill = |bucket: &Bucket| {
            (bucket.left + now.duration_since(bucket.at).as_secs_f64() * rate).min(burst)
        };
        if buckets.len() >= self.remembered && !buckets.contains_key(caller) {
            // A full bucket is as good as none.
            buckets.retain(|_, bucket| fill(bucket) < burst);
            if buckets.len() >= self.remembered {
                buckets.clear();
            }
        }
        if !buckets.contains_key(caller) {
            buckets.insert(caller.to_owned(), Bucket { left: burst, at: now });
        }
        let Some(bucket) = buckets.get_mut(caller) else { return Ok(()) };
        (bucket.left, bucket.at) = (fill(bucket), now);
        if bucket.left < 1.0 {
            return Err(((1.0 - bucket.left) / rate).ceil() as u64);
        }
        bucket.left -= 1.0;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn buckets(per_second: Option<u32>) -> Buckets {
        let limits = HttpLimits {
            requests_per_second: per_second,
            request_burst: 3,
            callers_remembered: 2,
            ..HttpLimits::default()
        };
        Buckets::new(&limits)
    }

    #[tokio::test(start_paused = true)]
    async fn i41_a_noisy_caller_waits_and_a_quiet_one_does_not() {
        let buckets = buckets(Some(1));
        for _ in 0..3 {
            assert_eq!(buckets.take("noisy"), Ok(()));
        }
        assert_eq!(buckets.take("noisy"), Err(1));
        assert_eq!(buckets.take("quiet"), Ok(()));
        tokio::time::advance(Duration::from_secs(1)).await;
        assert_eq!(buckets.take("noisy"), Ok(()));
        assert_eq!(buckets.take("noisy"), Err(1));
    }

    #[tokio::test(start_paused = true)]
    async fn the_table_stays_small_and_the_limit_can_be_lifted() {
        let buckets = buckets(Some(1));
        for caller in 0..100 {
            assert_eq!(buckets.take(&caller.to_string()), Ok(()));
            assert!(buckets.buckets.lock().expect("sound").len() <= 2);
        }
        let unlimited = self::buckets(None);
        assert!((0..1000).all(|_| unlimited.take("bench").is_ok()));
    }
}
