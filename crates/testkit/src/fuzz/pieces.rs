//! Takes the input apart, for targets that want more than one thing.

pub(super) struct Pieces<'a>(&'a [u8]);

impl<'a> Pieces<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Pieces<'a> {
        Pieces(bytes)
    }

    pub(super) fn byte(&mut self) -> u8 {
        let (first, rest) = self.0.split_first().unwrap_or((&0, &[]));
        self.0 = rest;
        *first
    }

    /// A piece as long as its first byte says, or as there is.
    pub(super) fn piece(&mut self) -> &'a [u8] {
        let length = usize::from(self.byte()).min(self.0.len());
        let (piece, rest) = self.0.split_at(length);
        self.0 = rest;
        piece
    }

    pub(super) fn text(&mut self) -> String {
        String::from_utf8_lossy(self.piece()).into_owned()
    }

    /// Up to the first line feed.
    pub(super) fn line(&mut self) -> &'a [u8] {
        let end = self.0.iter().position(|byte| *byte == b'\n').unwrap_or(self.0.len());
        let line = &self.0[..end];
        self.0 = self.0.get(end + 1..).unwrap_or_default();
        line
    }

    pub(super) fn rest(self) -> &'a [u8] {
        self.0
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
