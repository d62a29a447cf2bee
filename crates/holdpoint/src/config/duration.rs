//! Durations as people write them: `90s`, `5m`, `24h`, `7d`, `1h30m`.

use std::time::Duration;

use toml::Spanned;

use super::source::{ConfigSource, Result};

const UNITS: [(&str, u64); 5] =
    [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000)];

impl ConfigSource<'_> {
    pub(super) fn duration(&self, text: &Spanned<String>) -> Result<Duration> {
        parse(text.get_ref()).ok_or_else(|| {
            let shown = domain::visible::visible(text.get_ref());
            let message =
                format!("`{shown}` is not a duration; write it like `90s`, `5m`, `24h` or `7d`");
            self.error(text.span(), message)
        })
    }
}

/// Each unit at most once, the larger ones first.
fn parse(text: &str) -> Option<Duration> {
    let mut rest = text;
    let mut total: u64 = 0;
    let mut last = u64::MAX;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit())?;
        let number: u64 = rest[..digits].parse().ok()?;
        rest = &rest[digits..];
        let end = rest.find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len());
        let (_, ms) = UNITS.iter().find(|(unit, _)| *unit == &rest[..end])?;
        if *ms >= last {
            return None;
        }
        last = *ms;
        total = total.checked_add(number.checked_mul(*ms)?)?;
        rest = &rest[end..];
    }
    (last != u64::MAX).then(|| Duration::from_millis(total))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_as_written() {
        for (text, ms) in [
            ("90s", 90_000),
            ("5m", 300_000),
            ("24h", 86_400_000),
            ("7d", 604_800_000),
            ("250ms", 250),
            ("1h30m", 5_400_000),
            ("0s", 0),
        ] {
            assert_eq!(parse(text), Some(Duration::from_millis(ms)), "{text}");
        }
        for text in [
            "",
            "5",
            "h",
            "5 m",
            "-5m",
            "1.5h",
            "5min",
            "30m1h",
            "1h1h",
            "5M",
            "99999999999999999d",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
