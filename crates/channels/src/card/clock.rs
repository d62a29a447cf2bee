//! The time of day as the people of a chat know it.

use domain::time::Timestamp;

/// A fixed distance from UTC, with the name that is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Zone {
    pub name: String,
    pub offset_minutes: i32,
}

impl Default for Zone {
    fn default() -> Zone {
        Zone { name: "UTC".into(), offset_minutes: 0 }
    }
}

impl Zone {
    /// `14:02 UTC`; with its date if that is another one than at `beside`.
    pub(super) fn moment(&self, at: Timestamp, beside: Timestamp) -> String {
        let (at, beside) = (self.local(at), self.local(beside));
        // `2025-11-15T02:03:00.007Z`
        let (date, time) = (at.get(..10).unwrap_or(&at), at.get(11..16).unwrap_or_default());
        match beside.get(..10) == Some(date) {
            true => format!("{time} {}", self.name),
            false => format!("{date} {time} {}", self.name),
        }
    }

    /// `14:02`
    pub(super) fn time(&self, at: Timestamp) -> String {
        self.local(at).get(11..16).unwrap_or_default().to_owned()
    }

    fn local(&self, at: Timestamp) -> String {
        let offset_ms = i64::from(self.offset_minutes) * 60_000;
        Timestamp::from_ms(at.as_ms().saturating_add(offset_ms)).to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_day_is_named() {
        let at = |text| Timestamp::parse(text).unwrap();
        let zone = Zone { name: "CST".into(), offset_minutes: 480 };
        let (evening, later) = (at("2025-11-15T15:50:00.000Z"), at("2025-11-15T16:05:00.000Z"));
        assert_eq!(zone.moment(evening, evening), "23:50 CST");
        assert_eq!(zone.moment(later, evening), "2025-11-16 00:05 CST");
        assert_eq!(Zone::default().moment(later, evening), "16:05 UTC");
    }
}
