//! How many requests a caller may send: a bucket that fills steadily and is emptied by requests. One
//! noisy caller must not slow the others down.

use std::collections::HashMap;
use std::sync::Mutex;

use domain::time::Timestamp;
use ports::unpoisoned::Unpoisoned as _;

use crate::limits::HttpLimits;

pub(crate) struct Buckets {
    per_second: Option<u32>,
    burst: u32,
    remembered: usize,
    buckets: Mutex<HashMap<String, Bucket>>,
}

struct Bucket {
    left: f64,
    at: Timestamp,
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

    /// The same with bounds of its own.
    pub(crate) fn with(per_second: u32, burst: u32, remembered: usize) -> Buckets {
        Buckets { per_second: Some(per_second), burst, remembered, buckets: Mutex::default() }
    }

    /// Takes one request out. `Err`: come back in so many seconds.
    pub(crate) fn take(&self, caller: &str, now: Timestamp) -> Result<(), u64> {
        let Some(rate) = self.per_second else { return Ok(()) };
        let (rate, burst) = (f64::from(rate.max(1)), f64::from(self.burst));
        let mut buckets = self.buckets.lock().unpoisoned();
        let fill = |bucket: &Bucket| {
            (bucket.left + now.ms_since(bucket.at) as f64 / 1000.0 * rate).min(burst)
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
            return Err((((1.0 - bucket.left) / rate).ceil() as u64).max(1));
        }
        bucket.left -= 1.0;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
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

    #[test]
    fn i41_a_noisy_caller_waits_and_a_quiet_one_does_not() {
        let (buckets, now) = (buckets(Some(1)), Timestamp::from_ms(0));
        for _ in 0..3 {
            assert_eq!(buckets.take("noisy", now), Ok(()));
        }
        assert_eq!(buckets.take("noisy", now), Err(1));
        assert_eq!(buckets.take("quiet", now), Ok(()));
        let later = now.plus_ms(1000);
        assert_eq!(buckets.take("noisy", later), Ok(()));
        assert_eq!(buckets.take("noisy", later), Err(1));
    }

    #[test]
    fn the_table_stays_small_and_the_limit_can_be_lifted() {
        let (buckets, now) = (buckets(Some(1)), Timestamp::from_ms(0));
        for caller in 0..100 {
            assert_eq!(buckets.take(&caller.to_string(), now), Ok(()));
            assert!(buckets.buckets.lock().expect("sound").len() <= 2);
        }
        let unlimited = self::buckets(None);
        assert!((0..1000).all(|_| unlimited.take("bench", now).is_ok()));
    }
}
