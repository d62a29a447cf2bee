//! Text that somebody else wrote, cut into lines and spans so that every surface can draw it
//! without being deceived by it.

use crate::visible::{Span, joined, marked_spans, spans, spell_span};

/// A text that somebody else wrote. It can be drawn only span by span, each of which is safe to show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForeignText {
    /// At least one, which may be empty.
    lines: Vec<Vec<Span>>,
}

impl ForeignText {
    /// Each line feed ends a line.
    pub fn new(text: &str) -> ForeignText {
        ForeignText { lines: text.split('\n').map(spans).collect() }
    }

    /// One line, whatever is in it.
    pub fn line(text: &str) -> ForeignText {
        ForeignText { lines: vec![spans(text)] }
    }

    /// One line that was made visible before: its marks are not marked again, and all else that needs a mark has one.
    pub fn marked(shown: &str) -> ForeignText {
        ForeignText { lines: vec![marked_spans(shown)] }
    }

    /// Lines of spans, in order.
    pub fn lines(&self) -> &[Vec<Span>] {
        &self.lines
    }

    pub(super) fn into_lines(self) -> Vec<Vec<Span>> {
        self.lines
    }

    /// The exact text.
    pub fn raw(&self) -> String {
        self.lines.iter().map(|line| joined(line)).collect::<Vec<_>>().join("\n")
    }

    /// Its size without writing it out.
    pub fn bytes(&self) -> usize {
        let size = |span: &Span| match span {
            Span::Text(text) => text.len(),
            Span::Spaces(count) => *count,
            Span::Code(c, count) => c.len_utf8().saturating_mul(*count),
        };
        let lines = self.lines.iter().flatten().map(size).fold(0, usize::saturating_add);
        lines.saturating_add(self.lines.len() - 1)
    }

    /// One line of it as plain text, safe to show behind a mark.
    pub(super) fn spelled(line: &[Span]) -> String {
        let mut out = String::new();
        line.iter().for_each(|span| spell_span(&mut out, span));
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exact_text_and_its_size_are_known() {
        for text in ["", "a\n", "SELECT 1;\n\n\t  x\u{202e}\u{202e}ä", &" ".repeat(2_000)] {
            let foreign = ForeignText::new(text);
            assert_eq!((foreign.raw().as_str(), foreign.bytes()), (text, text.len()));
            assert_eq!(ForeignText::line(text).raw(), text);
        }
    }
}
