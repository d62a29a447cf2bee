//! A moment, as milliseconds since 1970 in UTC. The domain is told the time; it never reads a clock.

use std::fmt;
use std::io::Write as _;
use std::ops::Range;

use crate::id::{SPELLED_MAX, Spell};

/// A moment by the engine's clock, in whole milliseconds since 1970, UTC.
///
/// ```
/// use holdpoint_domain::time::Timestamp;
///
/// let asked = Timestamp::parse("2026-03-01T12:00:00+01:00").unwrap();
/// assert_eq!(asked.to_string(), "2026-03-01T11:00:00.000Z");
/// let expires = asked.plus_ms(60_000);
/// assert!(asked < expires && expires.ms_since(asked) == 60_000);
/// // A clock that went backwards takes no time away.
/// assert_eq!(asked.ms_since(expires), 0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

impl Timestamp {
    /// From milliseconds since 1970.
    pub const fn from_ms(ms: i64) -> Timestamp {
        Timestamp(ms)
    }

    /// Milliseconds since 1970; negative before that.
    pub const fn as_ms(self) -> i64 {
        self.0
    }

    /// So much later; at the end of what can be said it stands still.
    pub const fn plus_ms(self, ms: u64) -> Timestamp {
        Timestamp(self.0.saturating_add_unsigned(ms))
    }

    /// So much earlier; at the beginning of what can be said it stands still.
    pub const fn minus_ms(self, ms: u64) -> Timestamp {
        Timestamp(self.0.saturating_sub_unsigned(ms))
    }

    /// How long from `earlier` until now; nothing if it lies in the future.
    pub fn ms_since(self, earlier: Timestamp) -> u64 {
        self.0.saturating_sub(earlier.0).max(0) as u64
    }

    /// From RFC 3339, in any time zone. What is finer than a millisecond is cut.
    pub fn parse(text: &str) -> Option<Timestamp> {
        text.parse::<jiff::Timestamp>().ok().map(|at| Timestamp(at.as_millisecond()))
    }
}

/// From 1970 up to where the library's time ends: the years that people live in.
const USUAL_MS: Range<i64> = 0..253_402_207_200_000;

/// RFC 3339 in UTC, always with milliseconds, so that text sorts like time. Moments are written in
/// every reply, many times: the usual ones digit by digit.
impl Spell for Timestamp {
    fn spell<'a>(&self, place: &'a mut [u8; SPELLED_MAX]) -> &'a str {
        if USUAL_MS.contains(&self.0) {
            return spell_usual(self.0, place);
        }
        let mut rest = &mut place[..];
        let written = match jiff::Timestamp::from_millisecond(self.0) {
            Ok(at) => write!(rest, "{at:.3}"),
            Err(_) => write!(rest, "9999-12-31T23:59:59.999Z"),
        };
        let left = rest.len();
        written
            .ok()
            .and_then(|()| std::str::from_utf8(&place[..SPELLED_MAX - left]).ok())
            .unwrap_or_default()
    }
}

fn spell_usual(ms: i64, place: &mut [u8; SPELLED_MAX]) -> &str {
    const FORM: &[u8; 24] = b"0000-00-00T00:00:00.000Z";
    let (second, ms) = (ms / 1_000, ms % 1_000);
    let (day, second) = (second / 86_400, second % 86_400);
    let (year, month, day) = date(day);
    place[..FORM.len()].copy_from_slice(FORM);
    let numbers = [
        (0..4, year),
        (5..7, month),
        (8..10, day),
        (11..13, second / 3_600),
        (14..16, second / 60 % 60),
        (17..19, second % 60),
        (20..23, ms),
    ];
    for (digits, mut number) in numbers {
        for digit in place[digits].iter_mut().rev() {
            *digit = b'0' + (number % 10) as u8;
            number /= 10;
        }
    }
    std::str::from_utf8(&place[..FORM.len()]).unwrap_or_default()
}

/// Year, month and day of the month of a day since 1970-01-01.
fn date(day: i64) -> (i64, i64, i64) {
    // From 1 March of the year 0 on: so the day that a leap year has more is the last of its year, and
    // 400 years have 146,097 days wherever they begin.
    let day = day + 719_468;
    let (ages, day) = (day / 146_097, day % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (year * 365 + year / 4 - year / 100);
    // Five months from March have 153 days, and so have the next five.
    let month = (day * 5 + 2) / 153;
    let of_month = day - (month * 153 + 2) / 5 + 1;
    let year = ages * 400 + year;
    if month < 10 { (year, month + 3, of_month) } else { (year + 1, month - 9, of_month) }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.spell(&mut [0; SPELLED_MAX]))
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
    fn every_day_is_written_as_the_library_writes_it() {
        let by_library =
            |ms| format!("{:.3}", jiff::Timestamp::from_millisecond(ms).expect("a time"));
        // Every day of 400 years, after which all comes again, and some of each year; each at another
        // moment.
        for day in (-1_000_i64..146_097).chain((146_097..2_932_895).step_by(97)) {
            let ms = day * 86_400_000 + (day * 7_919_317).rem_euclid(86_400_000);
            assert_eq!(Timestamp::from_ms(ms).to_string(), by_library(ms));
        }
        let Range { start, end } = USUAL_MS;
        for ms in [start, start - 1, end - 1, end, -62_167_219_200_001] {
            assert_eq!(Timestamp::from_ms(ms).to_string(), by_library(ms));
        }
        assert_eq!(Timestamp::from_ms(end + 1).to_string(), "9999-12-31T23:59:59.999Z");
    }

    #[test]
    fn the_end_of_time_is_not_a_panic() {
        assert_eq!(Timestamp::from_ms(i64::MAX).plus_ms(u64::MAX).to_string().len(), 24);
    }
}
