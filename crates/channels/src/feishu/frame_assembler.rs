//! An event that comes in several frames, put together.

use std::collections::HashMap;

use domain::time::Timestamp;

use super::frame::FeishuFrame;
use crate::limits::{EVENT_BYTES_MAX, PARTS_MAX, PARTS_OPEN_MAX, PARTS_WAIT_MS};

/// Parts that wait for the others. What does not become whole in time is forgotten; it comes again.
#[derive(Debug, Default)]
pub struct FrameAssembler(HashMap<String, PartialFrame>);

#[derive(Debug)]
struct PartialFrame {
    since: Timestamp,
    parts: Vec<Option<Vec<u8>>>,
}

impl FrameAssembler {
    /// The whole payload, if this frame completes it.
    pub fn add(&mut self, frame: &FeishuFrame, now: Timestamp) -> Option<Vec<u8>> {
        let payload = frame.payload.clone().unwrap_or_default();
        let number = |name| frame.header(name).and_then(|text| text.parse::<usize>().ok());
        let sum = number("sum").unwrap_or(1);
        if sum <= 1 {
            return Some(payload);
        }
        self.0.retain(|_, waiting| now.ms_since(waiting.since) <= PARTS_WAIT_MS);
        let (id, seq) = (frame.header("message_id")?, number("seq")?);
        if sum > PARTS_MAX || seq >= sum {
            return None;
        }
        if !self.0.contains_key(id) && self.0.len() >= PARTS_OPEN_MAX {
            return None;
        }
        let new = || PartialFrame { since: now, parts: vec![None; sum] };
        let waiting = self.0.entry(id.to_owned()).or_insert_with(new);
        // Frames that disagree about how many they are do not belong together.
        if waiting.parts.len() != sum {
            self.0.remove(id);
            return None;
        }
        waiting.parts[seq] = Some(payload);
        let have: usize = waiting.parts.iter().flatten().map(Vec::len).sum();
        if have > EVENT_BYTES_MAX {
            self.0.remove(id);
            return None;
        }
        if waiting.parts.iter().any(Option::is_none) {
            return None;
        }
        Some(self.0.remove(id)?.parts.into_iter().flatten().flatten().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(id: &str, sum: usize, seq: usize, payload: &str) -> FeishuFrame {
        let header = |key: &str, value: String| (key.to_owned(), value);
        let headers = vec![
            header("message_id", id.into()),
            header("sum", sum.to_string()),
            header("seq", seq.to_string()),
        ];
        FeishuFrame { headers, payload: Some(payload.into()), ..FeishuFrame::default() }
    }

    const NOW: Timestamp = Timestamp::from_ms(0);

    #[test]
    fn parts_come_in_any_order_and_twice() {
        let mut parts = FrameAssembler::default();
        assert_eq!(parts.add(&part("a", 3, 2, "c"), NOW), None);
        assert_eq!(parts.add(&part("b", 2, 0, "x"), NOW), None);
        assert_eq!(parts.add(&part("a", 3, 0, "a"), NOW), None);
        assert_eq!(parts.add(&part("a", 3, 0, "a"), NOW), None);
        assert_eq!(parts.add(&part("a", 3, 1, "b"), NOW), Some(b"abc".to_vec()));
        assert_eq!(parts.add(&part("b", 2, 1, "y"), NOW), Some(b"xy".to_vec()));
        assert_eq!(parts.add(&part("c", 1, 0, "alone"), NOW), Some(b"alone".to_vec()));
        assert!(parts.0.is_empty());
    }

    #[test]
    fn what_does_not_become_whole_is_forgotten() {
        let mut parts = FrameAssembler::default();
        assert_eq!(parts.add(&part("a", 2, 0, "old"), NOW), None);
        let later = NOW.plus_ms(PARTS_WAIT_MS + 1);
        assert_eq!(parts.add(&part("a", 2, 1, "new"), later), None);
        assert_eq!(parts.add(&part("a", 2, 0, "er"), later), Some(b"ernew".to_vec()));
    }

    #[test]
    fn nothing_grows_without_bound() {
        let mut parts = FrameAssembler::default();
        assert_eq!(parts.add(&part("a", PARTS_MAX + 1, 0, "x"), NOW), None);
        assert_eq!(parts.add(&part("a", 2, 2, "x"), NOW), None);
        assert!(parts.0.is_empty());
        for n in 0..2 * PARTS_OPEN_MAX {
            assert_eq!(parts.add(&part(&n.to_string(), 2, 0, "x"), NOW), None);
        }
        assert_eq!(parts.0.len(), PARTS_OPEN_MAX);
        let large = "x".repeat(EVENT_BYTES_MAX);
        assert_eq!(parts.add(&part("0", 2, 1, &large), NOW), None, "together too large");
        assert_eq!(parts.add(&part("1", 3, 1, "x"), NOW), None, "they disagree");
        assert_eq!(parts.0.len(), PARTS_OPEN_MAX - 2);
    }
}
