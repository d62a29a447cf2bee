//! Event streams of foreign services, read byte by byte: a character may be cut in two on its way, so text is only
//! made of whole events, by the reader of their JSON. Where the pieces were cut changes nothing.

/// One event: its name (empty, if it has none) and its data.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SseEvent {
    /// The field `event`.
    pub name: Vec<u8>,
    /// The fields `data`, with a line feed between two.
    pub data: Vec<u8>,
}

/// An event that does not end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("one event has more than {} MiB", .bytes_max >> 20)]
pub struct EventTooLong {
    bytes_max: usize,
}

/// What has come of a stream so far.
///
/// ```
/// use holdpoint_ports::sse::Decoder;
///
/// let mut decoder = Decoder::new(1_000);
/// assert!(decoder.feed(b"event: delta\ndata: {\"te").unwrap().is_empty());
/// let events = decoder.feed(b"xt\": 1}\n\n").unwrap();
/// assert_eq!(events[0].name, b"delta");
/// assert_eq!(events[0].data, br#"{"text": 1}"#);
/// ```
#[derive(Debug)]
pub struct Decoder {
    /// The most that is kept of one event.
    bytes_max: usize,
    /// The beginning of a line whose end has not come.
    line: Vec<u8>,
    event: SseEvent,
    has_data: bool,
    /// The last byte was a carriage return: a line feed after it belongs to it.
    after_return: bool,
    /// A line has come: only the first may begin with a byte order mark.
    begun: bool,
}

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

impl Decoder {
    /// For events of at most so many bytes.
    pub fn new(bytes_max: usize) -> Decoder {
        let (line, event) = (Vec::new(), SseEvent::default());
        Decoder { bytes_max, line, event, has_data: false, after_return: false, begun: false }
    }

    /// The events that these bytes complete. What is left at the end of a stream is no event: it
    /// was cut off.
    pub fn feed(&mut self, mut bytes: &[u8]) -> Result<Vec<SseEvent>, EventTooLong> {
        let mut events = Vec::new();
        while let Some(first) = bytes.first() {
            if std::mem::take(&mut self.after_return) && *first == b'\n' {
                bytes = &bytes[1..];
                continue;
            }
            let Some(end) = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r')) else {
                self.keep(bytes)?;
                break;
            };
            self.after_return = bytes[end] == b'\r';
            let (line, rest) = (&bytes[..end], &bytes[end + 1..]);
            bytes = rest;
            if self.line.is_empty() {
                self.fits(line.len())?;
                self.end_line(line, &mut events)?;
            } else {
                self.keep(line)?;
                let whole = std::mem::take(&mut self.line);
                self.end_line(&whole, &mut events)?;
            }
        }
        Ok(events)
    }

    fn keep(&mut self, bytes: &[u8]) -> Result<(), EventTooLong> {
        self.fits(bytes.len())?;
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    fn fits(&self, more: usize) -> Result<(), EventTooLong> {
        let have = self.line.len() + self.event.data.len() + self.event.name.len();
        let bytes_max = self.bytes_max;
        if have + more > bytes_max { Err(EventTooLong { bytes_max }) } else { Ok(()) }
    }

    fn end_line(&mut self, line: &[u8], events: &mut Vec<SseEvent>) -> Result<(), EventTooLong> {
        let line = match std::mem::replace(&mut self.begun, true) {
            false => line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line),
            true => line,
        };
        if line.is_empty() {
            let event = std::mem::take(&mut self.event);
            if std::mem::take(&mut self.has_data) {
                events.push(event);
            }
            return Ok(());
        }
        let (field, value) = match line.iter().position(|byte| *byte == b':') {
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (line, &[][..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"event" => {
                self.event.name.clear();
                self.fits(value.len())?;
                self.event.name.extend_from_slice(value);
            }
            b"data" => {
                self.fits(value.len() + 1)?;
                if std::mem::replace(&mut self.has_data, true) {
                    self.event.data.push(b'\n');
                }
                self.event.data.extend_from_slice(value);
            }
            // Comments, ids, waits for reconnecting: no caller needs them.
            _ => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const BYTES_MAX: usize = 24 << 20;

    fn event(name: &str, data: &str) -> SseEvent {
        SseEvent { name: name.into(), data: data.into() }
    }

    fn whole(stream: &[u8]) -> Vec<SseEvent> {
        Decoder::new(BYTES_MAX).feed(stream).expect("not too long")
    }

    #[test]
    fn streams_are_read_as_the_standard_says() {
        for (stream, wanted) in [
            ("event: a\ndata: 1\n\n", vec![event("a", "1")]),
            (
                "data:1\r\n\r\ndata: 2\r\rdata:  3\n\n",
                vec![event("", "1"), event("", "2"), event("", " 3")],
            ),
            ("data: a\ndata: b\ndata\n\n", vec![event("", "a\nb\n")]),
            ("event: a\r\ndata: b\r\ndata: c\r\n\r\n", vec![event("a", "b\nc")]),
            (": comment\nid: 7\nretry: 1\ndata: x\nodd: y\n\n", vec![event("", "x")]),
            ("event: lonely\n\ndata: x\n\n", vec![event("", "x")]),
            ("event: a\nevent: b\ndata: x\n\n", vec![event("b", "x")]),
            ("\u{feff}data: x\n\n\u{feff}data: y\n\n", vec![event("", "x")]),
            ("data: [DONE]\n\n\n\n", vec![event("", "[DONE]")]),
            ("data\n\n", vec![event("", "")]),
            ("dataset: no\n\n: hello\ndata: {\"a\":\ndata:1}\n\n", vec![event("", "{\"a\":\n1}")]),
            ("data: cut off", vec![]),
            ("data: cut off\n", vec![]),
        ] {
            assert_eq!(whole(stream.as_bytes()), wanted, "{stream:?}");
        }
    }

    #[test]
    fn what_does_not_end_is_refused_while_it_is_small() {
        let line = format!("data: {}\n", "x".repeat(1_000));
        for (begin, piece) in [("data: ", "x"), ("", &*line), ("event: ", "y")] {
            let mut decoder = Decoder::new(BYTES_MAX);
            decoder.feed(begin.as_bytes()).expect("short");
            let piece = piece.repeat((1 << 20) / piece.len());
            let fed = (0..200).take_while(|_| decoder.feed(piece.as_bytes()).is_ok()).count();
            assert!(fed <= BYTES_MAX >> 19, "{fed} MiB were taken");
            assert!(decoder.line.capacity() + decoder.event.data.capacity() <= 4 * BYTES_MAX);
        }
    }

    #[test]
    fn a_line_that_is_too_long_is_refused_however_it_is_cut() {
        for (line, fits) in [("data: 1234", true), (": comment", true), ("data: 12345", false)] {
            let line = format!("{line}\n");
            assert_eq!(Decoder::new(10).feed(line.as_bytes()).is_ok(), fits, "{line}");
            let mut decoder = Decoder::new(10);
            assert_eq!(line.bytes().all(|byte| decoder.feed(&[byte]).is_ok()), fits, "{line}");
        }
        let told =
            Decoder::new(1 << 20).feed(&[b'x'; (1 << 20) + 1]).map_err(|why| why.to_string());
        assert_eq!(told, Err("one event has more than 1 MiB".into()));
    }

    /// Streams made of what matters in them.
    fn stream() -> impl Strategy<Value = Vec<u8>> {
        let pieces: [&[u8]; 10] = [
            b"data: ",
            b"event:",
            b"\n",
            b"\r",
            b"\r\n",
            b"\n\n",
            "é\u{1F600}".as_bytes(),
            b"x: {\"a\"",
            b"\xEF\xBB\xBF",
            b"\xff",
        ];
        let piece = proptest::sample::select(pieces.to_vec());
        proptest::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn where_a_stream_is_cut_changes_nothing(
            stream in stream(), sizes in proptest::collection::vec(1usize..5, 1..64),
        ) {
            let mut decoder = Decoder::new(BYTES_MAX);
            let (mut events, mut rest) = (Vec::new(), &stream[..]);
            for size in sizes.iter().cycle() {
                if rest.is_empty() { break; }
                let (piece, later) = rest.split_at((*size).min(rest.len()));
                events.extend(decoder.feed(piece).expect("short"));
                rest = later;
            }
            prop_assert_eq!(events, whole(&stream));
        }
    }
}
