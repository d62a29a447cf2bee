//! Spans of time as people type them: `90s`, `5m`, `1h30m`, `30d`.

use std::time::Duration;

use domain::visible::visible;

/// A year: longer waits are typing errors.
const SECONDS_MAX: u64 = 366 * 24 * 3600;

pub fn parse(text: &str) -> Result<Duration, String> {
    let wrong = || format!("`{}` is not a time: write 90s, 5m, 1h30m or 30d", visible(text));
    let mut seconds = 0u64;
    let mut digits = String::new();
    let mut seen = false;
    for c in text.chars() {
        if c.is_ascii_digit() {
            digits.push(c);
            continue;
        }
        let unit = match c {
            's' => 1,
            'm' => 60,
            'h' => 3600,
            'd' => 24 * 3600,
            _ => return Err(wrong()),
        };
        let count: u64 = digits.parse().map_err(|_| wrong())?;
        digits.clear();
        seen = true;
        seconds = count
            .checked_mul(unit)
            .and_then(|more| seconds.checked_add(more))
            .filter(|total| *total <= SECONDS_MAX)
            .ok_or_else(|| format!("`{}` is longer than a year", visible(text)))?;
    }
    // A number without a unit could mean anything.
    if !seen || !digits.is_empty() {
        return Err(wrong());
    }
    if seconds == 0 {
        return Err(format!("`{}` is no time at all", visible(text)));
    }
    Ok(Duration::from_secs(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_spellings_are_understood() {
        for (text, seconds) in
            [("90s", 90), ("5m", 300), ("1h30m", 5400), ("30d", 2_592_000), ("366d", SECONDS_MAX)]
        {
            assert_eq!(parse(text), Ok(Duration::from_secs(seconds)), "{text}");
        }
    }

    #[test]
    fn what_could_mean_two_things_is_refused() {
        for text in ["", "5", "m", "5 m", "5M", "1.5h", "-5m", "5m3", "0s", "367d"] {
            assert!(parse(text).is_err(), "{text}");
        }
        assert!(parse("99999999999999999999s").is_err());
        assert!(parse("18446744073709551615d").is_err());
    }
}
