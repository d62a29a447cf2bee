//! The time of day that people of a channel read on their clocks: `UTC`, `+08:00`, `CST+08:00`.

use channels::card::Zone;
use toml::Spanned;

use crate::config::source::{ConfigSource, Result};

pub(super) fn parse(given: &Spanned<String>, source: &ConfigSource<'_>) -> Result<Zone> {
    parse_zone(given.get_ref()).ok_or_else(|| {
        let shown = domain::visible::visible(given.get_ref());
        let message = format!(
            "`{shown}` is not a zone; write the distance from UTC, with a name if you like: `+08:00` or `CST+08:00`"
        );
        source.error(given.span(), message)
    })
}

fn parse_zone(text: &str) -> Option<Zone> {
    if text == "UTC" {
        return Some(Zone::default());
    }
    let at = text.find(['+', '-'])?;
    let (name, offset) = text.split_at(at);
    let sound_name = name.len() <= 8 && name.chars().all(|c| c.is_ascii_alphabetic());
    let (hours, minutes) = offset.get(1..)?.split_once(':')?;
    let number = |digits: &str, most: i32| -> Option<i32> {
        let sound = digits.len() == 2 && digits.bytes().all(|byte| byte.is_ascii_digit());
        digits.parse().ok().filter(|number| sound && *number <= most)
    };
    let distance = number(hours, 14)? * 60 + number(minutes, 59)?;
    let name = if name.is_empty() { format!("UTC{offset}") } else { name.to_owned() };
    let offset_minutes = if offset.starts_with('-') { -distance } else { distance };
    sound_name.then_some(Zone { name, offset_minutes })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zones_are_read_as_written() {
        for (text, name, minutes) in [
            ("UTC", "UTC", 0),
            ("+08:00", "UTC+08:00", 480),
            ("CST+08:00", "CST", 480),
            ("NST-03:30", "NST", -210),
        ] {
            let zone = Zone { name: name.into(), offset_minutes: minutes };
            assert_eq!(parse_zone(text), Some(zone), "{text}");
        }
        for text in
            ["", "CST", "+8", "+8:00", "+15:00", "+08:60", "08:00", "Asia/Shanghai", "+-8:00"]
        {
            assert_eq!(parse_zone(text), None, "{text}");
        }
    }
}
