//! Foreign text in a terminal: wrapped here and not by the terminal, so that every line that is
//! drawn carries a mark and nothing foreign ever stands at the left edge.
//!
//! A terminal that is made narrower afterwards wraps again by itself; `holdpoint show` draws anew.

use domain::view::FOREIGN_MARK;
use unicode_width::UnicodeWidthChar;

/// Stands before every further line that one line of foreign text was wrapped into.
const WRAP_MARK: &str = "┆   ";

/// Narrower than this nothing can be read; there the terminal wraps what it must.
const ROOM_MIN: usize = 8;

/// How many columns a text takes at most: where terminals differ, the widest counts.
fn columns_of(text: &str) -> usize {
    text.chars().map(columns_of_char).sum()
}

fn columns_of_char(c: char) -> usize {
    // Emoji and letters whose width is ambiguous take two columns in some terminals.
    // mutant: ambiguous-letters-are-narrow
    c.width().unwrap_or(1).max(c.width_cjk().unwrap_or(1))
}

/// Cuts a line so that no piece takes more than so many columns: behind a space where there is one
/// in the second half, else anywhere, but never between a letter and its accent.
fn cut(text: &str, first: usize, further: usize) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = text;
    let mut room = first.max(ROOM_MIN);
    while columns_of(rest) > room {
        let at = break_at(rest, room);
        let (piece, after) = rest.split_at(at);
        pieces.push(piece);
        rest = after;
        room = further.max(ROOM_MIN);
    }
    pieces.push(rest);
    pieces
}

fn break_at(text: &str, room: usize) -> usize {
    let (mut taken, mut end, mut space) = (0, 0, None);
    for (at, c) in text.char_indices() {
        let columns = columns_of_char(c);
        if taken + columns > room && end > 0 {
            break;
        }
        taken += columns;
        end = at + c.len_utf8();
        if c == ' ' && taken * 2 > room {
            space = Some(end);
        }
    }
    space.unwrap_or(end)
}

/// Lines of foreign text behind the mark, for a screen of so many columns. The text was made
/// visible before.
pub(super) fn marked_lines(text: &str, columns: usize) -> Vec<String> {
    behind("", text, columns)
}

/// The same behind words of ours, which stand on the first line only.
pub(super) fn behind(ours: &str, text: &str, columns: usize) -> Vec<String> {
    let blank = " ".repeat(ours.chars().count());
    let room = |mark: &str| columns.saturating_sub(columns_of(ours) + columns_of(mark) + 1);
    let mut lines = Vec::new();
    for line in text.split('\n') {
        for (index, piece) in cut(line, room(FOREIGN_MARK), room(WRAP_MARK)).iter().enumerate() {
            let before = if lines.is_empty() { ours } else { &blank };
            // mutant: a-terminal-wraps-without-a-mark
            let mark = if index == 0 { FOREIGN_MARK } else { WRAP_MARK };
            lines.push(format!("{before}{mark}{piece}"));
        }
    }
    lines
}

/// A line of ours, with a hanging indent.
pub(super) fn own_lines(text: &str, columns: usize) -> Vec<String> {
    let room = columns.saturating_sub(1);
    let pieces = cut(text, room, room.saturating_sub(2));
    let pieces = pieces.iter().enumerate();
    pieces
        .map(|(index, piece)| if index == 0 { (*piece).to_owned() } else { format!("  {piece}") })
        .collect()
}

#[cfg(test)]
mod tests {
    use unicode_width::UnicodeWidthStr as _;

    use super::*;

    /// Not as `columns_of` counts them: as the two kinds of terminals do.
    fn is_drawn_within(line: &str, columns: usize) -> bool {
        line.width() < columns && line.width_cjk() < columns
    }

    #[test]
    fn i47_every_wrapped_line_has_a_mark_and_nothing_is_lost() {
        for columns in 20..260 {
            for text in [
                "x".repeat(700),
                "word ".repeat(150),
                "删除表".repeat(90),
                "e\u{301}".repeat(300),
                "🚀 │ preview: 1 row ".repeat(40),
                "─".repeat(400),
            ] {
                let lines = marked_lines(&text, columns);
                let (first, rest) = lines.split_first().unwrap();
                let mut read = first.strip_prefix(FOREIGN_MARK).unwrap().to_owned();
                for line in rest {
                    read.push_str(line.strip_prefix(WRAP_MARK).unwrap());
                }
                assert_eq!(read, text);
                assert!(
                    lines.iter().all(|line| is_drawn_within(line, columns)),
                    "{columns}: {lines:#?}"
                );
                assert!(
                    lines.iter().all(|line| !line.ends_with('e') || columns < 20),
                    "an accent stays with its letter"
                );
            }
        }
    }

    #[test]
    fn words_of_ours_stand_before_the_first_line_only() {
        assert_eq!(
            behind("rule ", "deletes need two of them\nrows: 1", 24),
            ["rule │ deletes need ", "     ┆   two of them", "     │ rows: 1"]
        );
        assert_eq!(
            own_lines("warning (tool) and more:", 14),
            ["warning ", "  (tool) and ", "  more:"]
        );
    }
}
