//! Signs that a text is not said by its sender here and now: quotation marks, strokes through it, an open end.

use super::text::trim_emphasis;
use super::verdict::AmbiguityReason;

const QUOTATION_MARKS: &str = "\"“”„«»「」『』";
/// Platforms draw what stands between them as struck out, or as hidden.
const STRIKE_MARKS: &str = "~|";
const OPEN_ENDS: &str = ":,，、-—–";

/// Why this folded text decides nothing, whatever its words are. Quotation marks and strokes count wherever they
/// stand: "ok, \"approve\" it" repeats somebody's word.
pub(super) fn formatting_objection(text: &str) -> Option<AmbiguityReason> {
    let ends = trim_emphasis(text);
    if text.contains(|c| QUOTATION_MARKS.contains(c))
        || ends.starts_with('>')
        || ends.ends_with('>')
    {
        return Some(AmbiguityReason::Quoted);
    }
    if text.contains(|c| STRIKE_MARKS.contains(c)) {
        return Some(AmbiguityReason::Formatted);
    }
    // Folding has made three dots of the one character for them.
    let end = text.trim_end_matches(|c: char| c.is_whitespace() || "*_)]".contains(c));
    // A full stop or two is no pause; one behind the three dots changes nothing.
    let trails_off = !ends.is_empty() && end.trim_end_matches('.').len() + 3 <= end.len();
    (trails_off || ends.ends_with(|c| OPEN_ENDS.contains(c))).then_some(AmbiguityReason::Unfinished)
}

#[cfg(test)]
mod tests {
    use super::super::fold::fold_text;
    use super::*;

    #[test]
    fn quotes_strokes_and_open_ends_are_seen() {
        for (text, reason) in [
            ("\"yes\"", AmbiguityReason::Quoted),
            ("“确认”", AmbiguityReason::Quoted),
            ("「确认」", AmbiguityReason::Quoted),
            ("> yes", AmbiguityReason::Quoted),
            ("ok \"approve\" it", AmbiguityReason::Quoted),
            ("~yes~", AmbiguityReason::Formatted),
            ("～确认～", AmbiguityReason::Formatted),
            ("||yes||", AmbiguityReason::Formatted),
            ("yes:", AmbiguityReason::Unfinished),
            ("确认，", AmbiguityReason::Unfinished),
            ("approve -", AmbiguityReason::Unfinished),
            ("yes…", AmbiguityReason::Unfinished),
            ("yes...", AmbiguityReason::Unfinished),
            ("**yes…** ", AmbiguityReason::Unfinished),
        ] {
            assert_eq!(formatting_objection(&fold_text(text)), Some(reason), "{text}");
        }
        for text in ["yes", "yes, please.", "**确认！！**", "vas-y", "don't", "...", ""] {
            assert_eq!(formatting_objection(&fold_text(text)), None, "{text}");
        }
    }
}
