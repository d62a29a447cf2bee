//! Foreign text on its way into a card.

use domain::visible::visible;

/// One line of foreign text, short enough for a line. What is left out here stands in full in the
/// card's body.
pub(super) fn line(text: &str, characters_max: usize) -> String {
    clipped(&visible(text), characters_max)
}

/// The first line of foreign text, for a result that may have many.
pub(super) fn first_line(text: &str, characters_max: usize) -> String {
    let (first, more) = match text.trim().split_once('\n') {
        Some((first, _)) => (first, " …"),
        None => (text.trim(), ""),
    };
    format!("{}{more}", line(first, characters_max))
}

/// Text that is safe already, cut with a visible sign, and never inside a mark.
pub(crate) fn clipped(text: &str, characters_max: usize) -> String {
    if text.chars().count() <= characters_max {
        return text.to_owned();
    }
    format!("{}…", first_characters(text, characters_max.saturating_sub(1)))
}

/// So many characters from the beginning, or a few less: half a mark would be a lie.
pub(super) fn first_characters(text: &str, characters: usize) -> &str {
    let end = text.char_indices().nth(characters).map_or(text.len(), |(at, _)| at);
    let head = &text[..end];
    match (head.rfind('⟦'), head.rfind('⟧')) {
        (Some(open), close) if close.is_none_or(|close| close < open) => &head[..open],
        _ => head,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_is_visible_and_never_inside_a_mark() {
        assert_eq!(clipped("abc", 3), "abc");
        assert_eq!(clipped("abcd", 3), "ab…");
        assert_eq!(first_characters("a⟦U+202E⟧b", 4), "a");
        assert_eq!(first_characters("a⟦U+202E⟧b", 9), "a⟦U+202E⟧");
        assert_eq!(first_line("214 rows\nand more", 50), "214 rows …");
        assert_eq!(line("a\u{202e}\nb", 50), "a⟦U+202E⟧⟦U+000A⟧b");
    }
}
