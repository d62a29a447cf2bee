//! Bytes as text, with room for so much text. A byte that is no UTF-8 is shown by a sign three times as
//! long, so who bounds the bytes has not bounded what the model gets.

/// Some bytes, as far as there was room for them.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct LossyPart {
    pub(super) text: String,
    /// How many of the bytes it shows.
    pub(super) bytes: usize,
    /// Not all of them are text.
    pub(super) is_lossy: bool,
}

const SIGN: char = char::REPLACEMENT_CHARACTER;

impl LossyPart {
    /// The beginning.
    pub(super) fn head_of(bytes: &[u8], room: usize) -> LossyPart {
        let mut part = LossyPart::default();
        for chunk in bytes.utf8_chunks() {
            let fits = chunk.valid().floor_char_boundary(room - part.text.len());
            part.add_text(&chunk.valid()[..fits]);
            if fits < chunk.valid().len() || room - part.text.len() < SIGN.len_utf8() {
                break;
            }
            part.add_other(chunk.invalid());
        }
        part
    }

    /// The end.
    pub(super) fn tail_of(bytes: &[u8], room: usize) -> LossyPart {
        let sign = |other: &[u8]| if other.is_empty() { 0 } else { SIGN.len_utf8() };
        let length = |chunk: std::str::Utf8Chunk<'_>| chunk.valid().len() + sign(chunk.invalid());
        let whole: usize = bytes.utf8_chunks().map(length).sum();
        let mut over = whole.saturating_sub(room);
        let mut part = LossyPart::default();
        for chunk in bytes.utf8_chunks() {
            let skipped = chunk.valid().ceil_char_boundary(over.min(chunk.valid().len()));
            over = over.saturating_sub(skipped);
            part.add_text(&chunk.valid()[skipped..]);
            match over {
                0 => part.add_other(chunk.invalid()),
                _ => over = over.saturating_sub(sign(chunk.invalid())),
            }
        }
        part
    }

    fn add_text(&mut self, text: &str) {
        self.text.push_str(text);
        self.bytes += text.len();
    }

    fn add_other(&mut self, other: &[u8]) {
        if !other.is_empty() {
            self.text.push(SIGN);
            self.bytes += other.len();
            self.is_lossy = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn with_room_enough_it_is_what_the_standard_library_says() {
        for bytes in
            [&b"abc"[..], b"", b"a\xffb", b"\xe4\xb8", "ä\u{1f600}".as_bytes(), b"\xff\xfe"]
        {
            let text = String::from_utf8_lossy(bytes);
            let is_lossy = std::str::from_utf8(bytes).is_err();
            let whole = LossyPart { text: text.into_owned(), bytes: bytes.len(), is_lossy };
            assert_eq!(LossyPart::head_of(bytes, 100), whole);
            assert_eq!(LossyPart::tail_of(bytes, 100), whole);
        }
    }

    #[test]
    fn without_it_text_and_count_stay_within_the_room() {
        let bytes = b"\xff\xff\xc3\xa4bc\xff\xff";
        for room in 0..20 {
            for (part, shown) in [
                (LossyPart::head_of(bytes, room), &bytes[..LossyPart::head_of(bytes, room).bytes]),
                (
                    LossyPart::tail_of(bytes, room),
                    &bytes[8 - LossyPart::tail_of(bytes, room).bytes..],
                ),
            ] {
                assert!(part.text.len() <= room, "{part:?}");
                assert_eq!(part.text, String::from_utf8_lossy(shown));
            }
        }
        assert_eq!(LossyPart::head_of(bytes, 9).text, "\u{fffd}\u{fffd}äb");
        assert_eq!(LossyPart::tail_of(bytes, 8).text, "bc\u{fffd}\u{fffd}");
    }
}
