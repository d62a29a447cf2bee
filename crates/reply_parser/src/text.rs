//! Where words end. A few marks are trimmed from the ends of a reply, and more may stand between words; any other
//! mark is something that was said, and so something that must be known.

pub(super) fn is_separator(c: char) -> bool {
    c.is_whitespace() || SEPARATORS.contains(c)
}

/// A question mark is never among them.
const SEPARATORS: &str = ".。!！,，;；:：~～…·、\"“”「」『』()（）[]【】*_|-—";

/// Where one clause ends and the next begins.
pub(super) fn is_clause_end(c: char) -> bool {
    matches!(c, ',' | '，' | '。' | ';' | '；' | '.' | '!' | '！' | '、' | '\n')
}

/// Without blanks and the marks of emphasis at both ends. Marks that say something stay: a quotation mark, a stroke, a
/// comma after which more was to come.
pub(super) fn trim_emphasis(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || ".。!！()（）[]【】*_·".contains(c))
}

pub(super) fn split_tokens(text: &str) -> Vec<&str> {
    text.split(is_separator).filter(|token| !token.is_empty()).collect()
}

/// Written without blanks between words.
pub(super) fn is_unspaced(c: char) -> bool {
    matches!(c,
        // Kana, with the mark that lengthens a vowel.
        '\u{3040}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}'
        // Han, with the mark of repetition.
        | '\u{3005}' | '\u{3007}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_of_emphasis_are_trimmed_and_those_that_say_something_are_not() {
        assert_eq!(trim_emphasis(" **（确认）**！ "), "确认");
        assert_eq!(trim_emphasis("...!"), "");
        for text in ["yes?", "\"yes\"", "~yes~", "yes:", "-1", "yes,"] {
            assert_eq!(trim_emphasis(text), text);
        }
    }

    #[test]
    fn words_are_told_apart_by_blanks_and_marks() {
        assert_eq!(split_tokens("ok - go  ahead"), ["ok", "go", "ahead"]);
        assert_eq!(split_tokens("don't"), ["don't"]);
        assert_eq!(split_tokens("a/b@c"), ["a/b@c"], "not known to separate, so part of the word");
    }
}
