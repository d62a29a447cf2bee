//! A line of foreign text, cut into what is shown as it is and what is shown as a mark. Surfaces
//! draw the marks in their own way (a pill, brackets); which characters need one is decided here.

use std::fmt::Write as _;

use super::Eye;

/// So many spaces between two words are drawn as they are; a longer run is drawn as its length.
pub const SPACES_PLAIN_MAX: usize = 3;

/// Code is indented, and the indent of a marked line hides nothing.
const INDENT_PLAIN_MAX: usize = 16;

/// A piece of a line that is safe to show, with what it stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Span {
    /// Shown as it is.
    Text(String),
    /// A run of spaces that could push what follows out of sight, or that ends the line unseen.
    Spaces(usize),
    /// A character without an honest picture, so many times.
    Code(char, usize),
}

/// One line. A line break inside becomes a code like every other control character.
pub fn spans(line: &str) -> Vec<Span> {
    let mut spans = Vec::new();
    let mut eye = Eye::new();
    let mut rest = line;
    while let Some(c) = rest.chars().next() {
        if c == ' ' {
            let after = rest.trim_start_matches(' ');
            let count = rest.len() - after.len();
            let plain_max = match rest.len() == line.len() {
                true => INDENT_PLAIN_MAX,
                false => SPACES_PLAIN_MAX,
            };
            // mutant: spaces-are-only-spaces
            match count <= plain_max && !after.is_empty() {
                true => push_text(&mut spans, &rest[..count]),
                false => spans.push(Span::Spaces(count)),
            }
            eye = Eye::new();
            rest = after;
            continue;
        }
        let (this, after) = rest.split_at(c.len_utf8());
        // The sign for the end of a line is ours.
        // mutant: our-sign-in-foreign-text
        match eye.shows(c) && c != '⏎' {
            true => push_text(&mut spans, this),
            false => match spans.last_mut() {
                // mutant: a-mark-without-its-count
                Some(Span::Code(last, count)) if *last == c => *count += 1,
                _ => spans.push(Span::Code(c, 1)),
            },
        }
        rest = after;
    }
    spans
}

fn push_text(spans: &mut Vec<Span>, text: &str) {
    match spans.last_mut() {
        Some(Span::Text(last)) => last.push_str(text),
        _ => spans.push(Span::Text(text.to_owned())),
    }
}

/// As plain text: `⟦·×2000⟧`, `⟦U+202E⟧`, `⟦U+200B×3⟧`. The brackets themselves are always codes
/// in foreign text, so no text can forge a mark.
pub fn spell_span(out: &mut String, span: &Span) {
    // Writing to a string cannot fail.
    let _ = match span {
        Span::Text(text) => {
            out.push_str(text);
            Ok(())
        }
        Span::Spaces(count) => write!(out, "⟦·×{count}⟧"),
        Span::Code(c, 1) => write!(out, "⟦U+{:04X}⟧", *c as u32),
        Span::Code(c, count) => write!(out, "⟦U+{:04X}×{count}⟧", *c as u32),
    };
}

/// A line in which marks stand already: they are kept as the marks that they are.
pub fn marked_spans(shown: &str) -> Vec<Span> {
    let mut found = Vec::new();
    let mut plain = String::new();
    let mut rest = shown;
    while let Some(at) = rest.find('⟦') {
        plain.push_str(&rest[..at]);
        let mark = &rest[at + '⟦'.len_utf8()..];
        let read = mark.split_once('⟧').and_then(|(mark, after)| Some((meaning(mark)?, after)));
        match read {
            Some((span, after)) => {
                found.extend(spans(&std::mem::take(&mut plain)));
                found.push(span);
                rest = after;
            }
            None => {
                plain.push('⟦');
                rest = mark;
            }
        }
    }
    plain.push_str(rest);
    found.extend(spans(&plain));
    found
}

fn meaning(mark: &str) -> Option<Span> {
    if let Some(count) = mark.strip_prefix("·×") {
        return Some(Span::Spaces(count.parse().ok()?));
    }
    let (point, count) = match mark.strip_prefix("U+")?.split_once('×') {
        Some((point, count)) => (point, count.parse().ok()?),
        None => (mark.strip_prefix("U+")?, 1),
    };
    Some(Span::Code(char::from_u32(u32::from_str_radix(point, 16).ok()?)?, count))
}

/// The line that was cut into these.
pub fn joined(spans: &[Span]) -> String {
    let mut out = String::new();
    for span in spans {
        match span {
            Span::Text(text) => out.push_str(text),
            Span::Spaces(count) => out.extend(std::iter::repeat_n(' ', *count)),
            Span::Code(c, count) => out.extend(std::iter::repeat_n(*c, *count)),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn spelled(line: &str) -> String {
        let mut out = String::new();
        spans(line).iter().for_each(|span| spell_span(&mut out, span));
        out
    }

    #[test]
    fn i47_a_run_of_spaces_is_shown_as_its_length() {
        let hidden = format!("SELECT 1;{}DROP TABLE users", " ".repeat(2_000));
        assert_eq!(spelled(&hidden), "SELECT 1;⟦·×2000⟧DROP TABLE users");
        assert_eq!(spelled("a   b    c"), "a   b⟦·×4⟧c");
        assert_eq!(spelled("        indented"), "        indented");
        assert_eq!(spelled(&format!("{}x", " ".repeat(17))), "⟦·×17⟧x");
        assert_eq!(spelled("end "), "end⟦·×1⟧");
        assert_eq!(spelled("   "), "⟦·×3⟧");
    }

    #[test]
    fn i47_what_has_no_honest_picture_is_shown_as_its_code_and_count() {
        assert_eq!(spelled("a\t\t\u{2800}\u{2800}\u{2800}b\r"), "a⟦U+0009×2⟧⟦U+2800×3⟧b⟦U+000D⟧");
        assert_eq!(spelled("x\u{202e}y⟦·×9⟧⏎"), "x⟦U+202E⟧y⟦U+27E6⟧·×9⟦U+27E7⟧⟦U+23CE⟧");
    }

    #[test]
    fn what_is_no_mark_is_marked_as_foreign() {
        for text in ["⟦", "⟦x⟧", "⟦U+⟧", "⟦U+D800⟧", "⟦·×⟧", "⟦·×-1⟧"] {
            assert_eq!(marked_spans(text), spans(text));
        }
        let shown = "a⟦U+202E⟧b⟦·×2000⟧c⟦U+200B×3⟧";
        let mut again = String::new();
        marked_spans(shown).iter().for_each(|span| spell_span(&mut again, span));
        assert_eq!(again, shown, "a mark is not marked twice");
    }

    proptest! {
        #[test]
        fn i47_every_line_can_be_read_back(text in any::<String>(), tricky in "[a\u{301}⟦⟧\u{202e}\t⏎ ]{0,30}") {
            for text in [text, tricky] {
                prop_assert_eq!(joined(&spans(&text)), text.clone());
                prop_assert_eq!(joined(&marked_spans(&spelled(&text))), text);
            }
        }
    }
}
