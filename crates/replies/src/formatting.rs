//! Signs that a text is not said by its sender here and now: quotation marks, strokes through it, an open end.

use super::text::trimmed;
use super::verdict::Reason;

const QUOTATION_MARKS: &str = "\"“”„«»「」『』";
/// Platforms draw what stands between them as struck out, or as hidden.
const STRIKE_MARKS: &str = "~|";
const OPEN_ENDS: &str = ":,，、-—–";

/// Why this folded text decides nothing, whatever its words are. Quotation marks and strokes count wherever they
/// stand: "ok, \"approve\" it" repeats somebody's word.
pub(super) fn objection(text: &str) -> Option<Reason> {
    let ends = trimmed(text);
    if text.contains(|c| QUOTATION_MARKS.contains(c))
        || ends.starts_with('>')
        || ends.ends_with('>')
    {
        return Some(Reason::Quoted);
    }
    if text.contains(|c| STRIKE_MARKS.contains(c)) {
        return Some(Reason::Formatted);
    }
    // Folding has made three dots of the one character for them.
    let end = text.trim_end_matches(|c: char| c.is_whitespace() || "*_)]".contains(c));
    // A full stop or two is no pause; one behind the three dots changes nothing.
    let trails_off = !ends.is_empty() && end.trim_end_matches('.').len() + 3 <= end.len();
    (trails_off || ends.ends_with(|c| OPEN_ENDS.contains(c))).then_some(Reason::Unfinished)
}

#[cfg(test)]
mod tests {
    use super::super::fold::fold;
    use super::*;

    #[test]
    fn quotes_strokes_and_open_ends_are_seen() {
        for (text, reason) in [
            ("\"yes\"", Reason::Quoted),
            ("“确认”", Reason::Quoted),
            ("「确认」", Reason::Quoted),
            ("> yes", Reason::Quoted),
            ("ok \"approve\" it", Reason::Quoted),
            ("~yes~", Reason::Formatted),
            ("～确认～", Reason::Formatted),
            ("||yes||", Reason::Formatted),
            ("yes:", Reason::Unfinished),
            ("确认，", Reason::Unfinished),
            ("approve -", Reason::Unfinished),
            ("yes…", Reason::Unfinished),
            ("yes...", Reason::Unfinished),
            ("**yes…** ", Reason::Unfinished),
        ] {
            assert_eq!(objection(&fold(text)), Some(reason), "{text}");
        }
        for text in ["yes", "yes, please.", "**确认！！**", "vas-y", "don't", "...", ""] {
            assert_eq!(objection(&fold(text)), None, "{text}");
        }
    }
}
