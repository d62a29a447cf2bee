//! Makes hostile text visible, so that a person sees every character of what will run.
//!
//! Whatever has no picture of its own, turns the direction of writing, or draws over its
//! neighbours is written as its code point: `⟦U+202E⟧`. The brackets themselves are written that way
//! too, so two different texts never look the same and no text can forge the mark. Terminal escapes,
//! carriage returns and backspaces come out as plain words.

mod look_alike;
mod span;
mod unpictured;

use std::fmt::Write as _;

pub use look_alike::{Finding, Script, look_alikes};
pub use span::{SPACES_PLAIN_MAX, Span, joined, marked_spans, spans, spell_span};

/// One line: line breaks are marked like every other control character, and a long run of spaces
/// is written as its length, so that nothing can be pushed out of sight.
///
/// ```
/// use holdpoint_domain::visible::visible;
/// assert_eq!(visible("rm \u{202e}\u{1b}[2J\r\n"), "rm ⟦U+202E⟧⟦U+001B⟧[2J⟦U+000D⟧⟦U+000A⟧");
/// assert_eq!(visible(&format!("ls{}x", " ".repeat(2_000))), "ls⟦·×2000⟧x");
/// ```
pub fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    write_visible(&mut out, text);
    out
}

/// As [`visible`], with line feeds kept.
pub fn visible_multiline(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    write_escaped(&mut out, text, true);
    out
}

/// As [`visible`], at the end of another text.
pub fn write_visible(out: &mut String, text: &str) {
    let mut rest = text;
    while let Some(at) = rest.find(LONG_RUN) {
        let (before, run) = rest.split_at(at);
        rest = run.trim_start_matches(' ');
        write_run(out, before);
        // Writing to a string cannot fail.
        let _ = write!(out, "⟦·×{}⟧", run.len() - rest.len());
    }
    write_run(out, rest);
}

/// One space more than is written as it is.
const LONG_RUN: &str = "    ";
const _: () = assert!(LONG_RUN.len() == SPACES_PLAIN_MAX + 1);

fn write_run(out: &mut String, text: &str) {
    // Most of what is shown has nothing to hide.
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        out.push_str(text);
    } else {
        write_escaped(out, text, false);
    }
}

/// Two accents on one letter occur in real languages; a third is there to paint over other lines.
const MARKS_ON_A_LETTER_MAX: usize = 2;

/// Decides for one character after another whether it is shown as itself.
struct Eye {
    /// How many marks the next one would find on its letter; none can stand where no letter is.
    marks: usize,
}

impl Eye {
    fn new() -> Eye {
        Eye { marks: MARKS_ON_A_LETTER_MAX }
    }

    fn shows(&mut self, c: char) -> bool {
        match c {
            ' '..='~' => {
                self.marks = if c.is_ascii_alphabetic() { 0 } else { MARKS_ON_A_LETTER_MAX };
                true
            }
            c if is_hidden(c) => {
                self.marks = MARKS_ON_A_LETTER_MAX;
                false
            }
            c if is_mark(c) => {
                self.marks += 1;
                self.marks <= MARKS_ON_A_LETTER_MAX
            }
            c => {
                self.marks = if c.is_alphabetic() { 0 } else { MARKS_ON_A_LETTER_MAX };
                true
            }
        }
    }
}

fn write_escaped(out: &mut String, text: &str, multiline: bool) {
    let mut eye = Eye::new();
    for c in text.chars() {
        let shown = eye.shows(c) || (c == '\n' && multiline);
        if shown {
            out.push(c);
        } else {
            // Writing to a string cannot fail.
            let _ = write!(out, "⟦U+{:04X}⟧", c as u32);
        }
    }
}

fn is_hidden(c: char) -> bool {
    match c {
        ' '..='~' => false,
        '\0'..='\u{1f}' | '\u{7f}' => true,
        // Our own brackets.
        '⟦' | '⟧' => true,
        // Drawn as nothing, though Unicode calls them letters, marks or symbols.
        '\u{34f}'
        | '\u{115f}'..='\u{1160}'
        | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}'
        | '\u{2800}'
        | '\u{2d7f}'
        | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}'
        | '\u{ffa0}'
        | '\u{fffc}'
        | '\u{13441}'..='\u{13442}'
        | '\u{16fe4}'
        | '\u{1d159}'
        | '\u{e0000}'..='\u{e0fff}' => true,
        // Strokes and frames that are drawn over the letter before them.
        '\u{334}'..='\u{338}'
        | '\u{488}'..='\u{489}'
        | '\u{1abe}'
        | '\u{20d0}'..='\u{20f0}'
        | '\u{a670}'..='\u{a672}' => true,
        c => unpictured::is_unpictured(c),
    }
}

/// Drawn on the character before it. The standard library has no name for this property, but its
/// debug form escapes, of the characters that have a picture, exactly these.
fn is_mark(c: char) -> bool {
    c.escape_debug().len() > 1
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    /// Reads the marks back. That this is possible at all is what makes the mapping injective.
    fn original(shown: &str) -> String {
        joined(&marked_spans(shown))
    }

    fn is_shown(c: char) -> bool {
        // After a letter, so that accents get their chance.
        visible(&format!("a{c}")).ends_with(c) && c != '⟧'
    }

    #[test]
    fn every_character_is_told_apart_and_none_is_invisible() {
        let mut seen = HashSet::new();
        for c in '\0'..=char::MAX {
            let text = String::from(c);
            let shown = visible(&text);
            assert_eq!(original(&shown), text, "U+{:04X}", c as u32);
            if is_shown(c) {
                assert!(
                    !c.is_control() && (c == ' ' || !c.is_whitespace()),
                    "U+{:04X} would not be seen",
                    c as u32
                );
                // The standard library agrees that it has a picture.
                let debug = format!("a{c}");
                let escaped = debug.escape_debug().skip(1).collect::<String>();
                assert!(!escaped.starts_with("\\u"), "U+{:04X} has no picture", c as u32);
            }
            assert!(seen.insert(shown), "U+{:04X} looks like another", c as u32);
        }
    }

    #[test]
    fn the_known_tricks_are_all_marked() {
        let tricks = [
            0x00..=0x1f,
            0x7f..=0xa0,
            0xad..=0xad,
            0x34f..=0x34f,
            0x61c..=0x61c,
            0x115f..=0x1160,
            0x1680..=0x1680,
            0x17b4..=0x17b5,
            0x180b..=0x180f,
            0x2000..=0x200f,
            0x2028..=0x202f,
            0x205f..=0x206f,
            0x2800..=0x2800,
            0x3000..=0x3000,
            0x3164..=0x3164,
            0xe000..=0xf8ff,
            0xfdd0..=0xfdef,
            0xfe00..=0xfe0f,
            0xfeff..=0xfeff,
            0xffa0..=0xffa0,
            0xfff0..=0xfffc,
            0xfffe..=0xffff,
            0x1d173..=0x1d17a,
            0xe0000..=0xe0fff,
            0xf0000..=0x10ffff,
        ];
        for point in tricks.into_iter().flatten() {
            let c = char::from_u32(point).expect("a character");
            assert_eq!(visible(&format!("a{c}b")), format!("a⟦U+{point:04X}⟧b"));
        }
    }

    #[test]
    fn honest_text_of_all_languages_stays_legible() {
        for text in [
            "DELETE FROM orders WHERE status = 1;",
            "Überweisung für Zoë: 50 €",
            "e\u{301} a\u{302}\u{301}",
            "删除 214 行",
            "削除しますか?",
            "삭제",
            "удалить",
            "διαγραφή",
            "حذف",
            "מחק",
            "हटाएँ",
            "ลบทั้งหมด",
            "🚀 ✅ ⚠",
        ] {
            assert_eq!(visible(text), text);
        }
    }

    #[test]
    fn marks_cannot_paint_over_other_text() {
        let strike = "r\u{336}m\u{336}";
        assert_eq!(visible(strike), "r⟦U+0336⟧m⟦U+0336⟧");
        assert_eq!(
            visible(&format!("a{}", "\u{301}".repeat(4))),
            "a\u{301}\u{301}⟦U+0301⟧⟦U+0301⟧"
        );
        // Without a letter to stand on a mark would sit on our own frame.
        assert_eq!(visible("\u{301}a"), "⟦U+0301⟧a");
        assert_eq!(visible("/\u{301}"), "/⟦U+0301⟧");
    }

    #[test]
    fn lines_are_kept_only_where_asked_for() {
        assert_eq!(visible_multiline("a\n\tb\r\n"), "a\n⟦U+0009⟧b⟦U+000D⟧\n");
        assert_eq!(visible("a\nb"), "a⟦U+000A⟧b");
    }

    #[test]
    fn the_mark_cannot_be_forged() {
        assert_eq!(visible("⟦U+202E⟧"), "⟦U+27E6⟧U+202E⟦U+27E7⟧");
    }

    proptest! {
        #[test]
        fn any_text_can_be_read_back(text in any::<String>(), tricky in "[a\u{301}⟦⟧\u{202e}\n /]{0,9}( {0,40}[⟦·×4⟧a]){0,5}") {
            for text in [text, tricky] {
                prop_assert_eq!(original(&visible(&text)), text.clone());
                prop_assert_eq!(original(&visible_multiline(&text)), text);
            }
        }
    }
}
