//! A long text as several messages.

use domain::visible::visible_multiline;
use ports::channel::TextProgress;

use crate::limits::SAID_PIECES_MAX;

/// Pieces of at most so many UTF-16 units, cut at the end of a line or a word where there is one. What
/// is more than a chat bears is left out with a visible sign. An empty text has no pieces.
pub(crate) fn pieces(text: &str, units_max: usize) -> Vec<String> {
    let text = visible_multiline(text);
    let mut rest = text.trim_end();
    let mut pieces = Vec::new();
    while !rest.is_empty() && pieces.len() < SAID_PIECES_MAX {
        // Room for the sign.
        let head = head(rest, units_max - 1);
        rest = rest[head.len()..].trim_start_matches(['\n', ' ']);
        pieces.push(head.trim_end().to_owned());
    }
    if !rest.is_empty()
        && let Some(last) = pieces.last_mut()
    {
        last.push('…');
    }
    pieces
}

/// One of the pieces, and whether more follow.
pub(crate) fn nth(pieces: Vec<String>, index: usize) -> Option<(String, TextProgress)> {
    let last = index + 1 >= pieces.len();
    let spoken = if last { TextProgress::All } else { TextProgress::More };
    pieces.into_iter().nth(index).map(|piece| (piece, spoken))
}

fn head(text: &str, units_max: usize) -> &str {
    let mut units = 0;
    let over = |(_, c): &(usize, char)| {
        units += c.len_utf16();
        units > units_max
    };
    let Some((end, _)) = text.char_indices().find(over) else { return text };
    let whole = &text[..end];
    let cut = whole.rfind('\n').or_else(|| whole.rfind(' ')).filter(|at| *at > 0);
    &whole[..cut.unwrap_or(end)]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_long_text_is_cut_between_words_and_ends_visibly() {
        assert_eq!(pieces("one two three", 9), ["one two", "three"]);
        assert_eq!(pieces("one\ntwo three", 9), ["one", "two", "three"]);
        assert_eq!(pieces("abcdefghij", 5), ["abcd", "efgh", "ij"]);
        assert_eq!(pieces("👍👍👍", 5), ["👍👍", "👍"]);
        assert_eq!(pieces("", 9), Vec::<String>::new());
        let long = pieces(&"x ".repeat(100), 5);
        assert_eq!(long.len(), SAID_PIECES_MAX);
        assert!(long.last().unwrap().ends_with('…'));
        assert_eq!(pieces("a\u{202e}b", 20), ["a⟦U+202E⟧b"]);
    }

    proptest! {
        #[test]
        fn no_piece_is_too_long(text in "\\PC{0,60}", units in 4_usize..20) {
            for piece in pieces(&text, units) {
                prop_assert!(piece.encode_utf16().count() <= units);
            }
        }
    }
}
