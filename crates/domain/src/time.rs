//! A moment, as milliseconds since 1970 in UTC. The domain is told the time; it never reads a clock.

use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

impl Timestamp {
    pub const fn from_ms(ms: i64) -> Timestamp {
        Timestamp(ms)
    }

    pub const fn as_ms(self) -> i64 {
        self.0
    }

    pub const fn plus_ms(self, ms: u64) -> Timestamp {
        Timestamp(self.0.saturating_add_unsigned(ms))
    }

    pub const fn minus_ms(self, ms: u64) -> Timestamp {
        Timestamp(self.0.saturating_sub_unsigned(ms))
    }

    /// How long from `earlier` until now; nothing if it lies in the future.
    pub fn ms_since(self, earlier: Timestamp) -> u64 {
        self.0.saturating_sub(earlier.0).max(0) as u64
    }

    pub fn parse(text: &str) -> Option<Timestamp> {
        text.parse::<jiff::Timestamp>().ok().map(|at| Timestamp(at.as_millisecond()))
    }
}

/// RFC 3339 in UTC, always with milliseconds, so that text sorts like time.
impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_millisecond(self.0) {
            Ok(at) => write!(f, "{at:.3}"),
            Err(_) => write!(f, "9999-12-31T23:59:59.999Z"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_written_in_utc_with_milliseconds() {
        let at = Timestamp::from_ms(1_763_172_180_007);
        assert_eq!(at.to_string(), "2025-11-15T02:03:00.007Z");
        assert_eq!(Timestamp::parse("2025-11-15T02:03:00.007Z"), Some(at));
        assert_eq!(Timestamp::from_ms(0).to_string(), "1970-01-01T00:00:00.000Z");
    }

    #[test]
    fn the_end_of_time_is_not_a_panic() {
        assert_eq!(Timestamp::from_ms(i64::MAX).plus_ms(u64::MAX).to_string().len(), 24);
    }
}
