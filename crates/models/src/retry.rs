//! When to try again: later each time, never all at once, and not before the provider wants it.

use std::time::Duration;

use domain::time::Timestamp;
use ports::backoff::wait_after;
use ports::clock::Rng;
use reqwest::header::{HeaderMap, RETRY_AFTER};

use crate::limits::{BACKOFF, BACKOFF_MAX, RETRY_AFTER_MAX};

/// How long to wait before the next attempt, counted from 0. `None`: the provider wants us to stay
/// away for longer than anybody should wait for without knowing.
pub(crate) fn pause(attempt: u32, after: Option<Duration>, rng: &dyn Rng) -> Option<Duration> {
    let jittered = wait_after(attempt, BACKOFF, BACKOFF_MAX, rng.bits());
    match after {
        None => Some(jittered),
        Some(after) if after > RETRY_AFTER_MAX => None,
        // Never earlier than told, and not all of us at that very moment.
        Some(after) => Some(after + jittered.min(BACKOFF)),
    }
}

/// What a provider says about when to come back: seconds, milliseconds, or a date.
pub(crate) fn retry_after(headers: &HeaderMap, now: Timestamp) -> Option<Duration> {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    if let Some(ms) = text("retry-after-ms").and_then(|ms| ms.parse::<f64>().ok()) {
        return duration(ms / 1_000.0);
    }
    let after = text(RETRY_AFTER.as_str())?;
    if let Ok(seconds) = after.parse::<f64>() {
        return duration(seconds);
    }
    let date = jiff::fmt::rfc2822::parse(after).ok()?.timestamp().as_millisecond();
    Some(Duration::from_millis(u64::try_from(date - now.as_ms()).unwrap_or_default()))
}

fn duration(seconds: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(seconds.max(0.0)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Bits(u128);

    impl Rng for Bits {
        fn bits(&self) -> u128 {
            self.0
        }
    }

    fn ms(attempt: u32, after: Option<u64>, bits: u128) -> Option<u128> {
        pause(attempt, after.map(Duration::from_secs), &Bits(bits)).map(|pause| pause.as_millis())
    }

    #[test]
    fn pauses_double_and_differ() {
        let longest: Vec<_> = (0..9).map(|attempt| ms(attempt, None, 500).unwrap_or(0)).collect();
        assert_eq!(longest, [500, 1000, 2000, 4000, 8000, 16000, 30000, 30000, 30000]);
        assert_eq!(ms(3, None, 0), Some(2000), "half of it at least");
        assert_eq!(ms(u32::MAX, None, 500), Some(30000));
    }

    #[test]
    fn a_provider_is_never_asked_earlier_than_it_said() {
        for bits in 0..=500 {
            let pause = ms(0, Some(7), bits).unwrap_or(0);
            assert!((7_000..=7_500).contains(&pause), "{pause}");
        }
        assert_eq!(ms(0, Some(121), 0), None);
    }

    #[test]
    fn retry_after_is_read_in_every_form() {
        let now = Timestamp::from_ms(1_763_172_180_000);
        for (name, value, wanted) in [
            ("retry-after", "3", Some(3_000)),
            ("retry-after", "0.5", Some(500)),
            ("retry-after", "-3", Some(0)),
            ("retry-after-ms", "250", Some(250)),
            ("retry-after", "Sat, 15 Nov 2025 02:03:07 GMT", Some(7_000)),
            ("retry-after", "Sat, 15 Nov 2025 02:02:00 GMT", Some(0)),
            ("retry-after", "soon", None),
            ("retry-after", "inf", None),
            ("other", "3", None),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(name, value.parse().expect("a value"));
            let read = retry_after(&headers, now).map(|after| after.as_millis());
            assert_eq!(read, wanted, "{name}: {value}");
        }
    }
}
