//! Events of a stream, from bytes as they come. Only their data: MCP needs nothing else of them here.

/// Takes bytes in pieces of any size, and gives the data of whole events.
#[derive(Debug, Default)]
pub(crate) struct Events {
    line: Vec<u8>,
    data: Vec<u8>,
    has_data: bool,
    after_return: bool,
    max: usize,
}

/// An event or a line is longer than anybody may send.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TooLong;

impl Events {
    pub(crate) fn new(max: usize) -> Events {
        Events { max, ..Events::default() }
    }

    pub(crate) fn take(&mut self, bytes: &[u8]) -> Result<Vec<Vec<u8>>, TooLong> {
        let mut events = Vec::new();
        for byte in bytes {
            // A line ends with \n, \r, or both, which are one end.
            match byte {
                b'\n' if self.after_return => {
                    self.after_return = false;
                    continue;
                }
                b'\n' | b'\r' => {
                    self.after_return = *byte == b'\r';
                    events.extend(self.end_line());
                }
                _ => {
                    self.after_return = false;
                    self.line.push(*byte);
                }
            }
            if self.line.len() + self.data.len() > self.max {
                return Err(TooLong);
            }
        }
        Ok(events)
    }

    fn end_line(&mut self) -> Option<Vec<u8>> {
        let line = std::mem::take(&mut self.line);
        if line.is_empty() {
            let has_data = std::mem::take(&mut self.has_data);
            let data = std::mem::take(&mut self.data);
            return has_data.then_some(data);
        }
        let rest = line.strip_prefix(b"data")?;
        let value = match rest {
            [] => rest,
            [b':', b' ', value @ ..] | [b':', value @ ..] => value,
            // Another field that only begins like ours.
            _ => return None,
        };
        if self.has_data {
            self.data.push(b'\n');
        }
        self.has_data = true;
        self.data.extend_from_slice(value);
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str, piece: usize) -> Vec<String> {
        let mut events = Events::new(1_000);
        let mut found = Vec::new();
        for bytes in text.as_bytes().chunks(piece) {
            found.extend(events.take(bytes).unwrap());
        }
        found.into_iter().map(|data| String::from_utf8(data).unwrap()).collect()
    }

    #[test]
    fn the_pieces_do_not_matter() {
        let text = ": hello\nid: 1\ndata: {\"a\":\ndata:1}\n\nevent: x\r\ndata: é\r\n\r\ndataset: no\n\ndata\n\ndata: half";
        let whole = all(text, text.len());
        assert_eq!(whole, ["{\"a\":\n1}", "é", ""]);
        for piece in 1..20 {
            assert_eq!(all(text, piece), whole, "{piece}");
        }
    }

    #[test]
    fn nobody_fills_our_memory() {
        let mut events = Events::new(100);
        assert_eq!(events.take(&[b'x'; 101]), Err(TooLong));
        let mut events = Events::new(100);
        assert_eq!(events.take("data: 12345678\n".repeat(20).as_bytes()), Err(TooLong));
    }
}
