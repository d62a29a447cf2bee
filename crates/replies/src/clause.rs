//! A reply clause by clause. Each must be understood, and all must say the same.

use super::context::Context;
use super::cover::cover;
use super::lexicon::{Says, Words};
use super::negation;
use super::text::{is_clause_end, trimmed};
use super::verdict::{How, Reason, Verdict};

/// `code_missing`: the prompt wants a code, and there was none.
pub(super) fn read(text: &str, context: &Context, words: &Words, code_missing: bool) -> Verdict {
    let mut said: Option<Verdict> = None;
    let mut thanked = false;
    for clause in text.split(is_clause_end).map(trimmed).filter(|clause| !clause.is_empty()) {
        if words.says(clause) == Some(Says::Nothing) {
            thanked |= words.is_ack(clause);
            continue;
        }
        let verdict = one(clause, context, words, code_missing);
        match (&said, &verdict) {
            (_, Verdict::Ambiguous(_)) => return verdict,
            (Some(before), now) if before.name() != now.name() => {
                // Still ambiguous if a later clause is not understood at all, for that reason.
                said = Some(Verdict::Ambiguous(Reason::Mixed));
            }
            (Some(_), _) => {}
            (None, _) => said = Some(verdict),
        }
    }
    said.unwrap_or(Verdict::Ambiguous(if thanked { Reason::Ack } else { Reason::Unknown }))
}

fn one(clause: &str, context: &Context, words: &Words, code_missing: bool) -> Verdict {
    if words.is_hold(clause) {
        return Verdict::Ambiguous(Reason::Hold);
    }
    if words.is_ack(clause) {
        return Verdict::Ambiguous(Reason::Ack);
    }
    if let Some(verdict) = negation::read(clause, words) {
        return verdict;
    }
    match cover(clause, words) {
        None => Verdict::Ambiguous(Reason::Unknown),
        Some(cover) if cover.yes() && cover.no => Verdict::Ambiguous(Reason::Mixed),
        Some(cover) if cover.no => Verdict::Cancel(How::Word),
        Some(cover) if !cover.yes() => Verdict::Ambiguous(Reason::Unknown),
        Some(_) if context.is_choice() => Verdict::Ambiguous(Reason::WhichOption),
        Some(_) if code_missing => Verdict::Ambiguous(Reason::CodeRequired),
        Some(cover) if !cover.strong && !context.weak_ok => Verdict::Ambiguous(Reason::Weak),
        Some(_) => Verdict::Confirm(How::Word),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, name: &str, why: &str) {
        let verdict = read(text, &Context::default(), &Words::without(&[]), false);
        assert_eq!((verdict.name(), verdict.why()), (name, why), "{text}");
    }

    #[test]
    fn all_clauses_must_agree() {
        check("ok, go ahead", "confirm", "word");
        check("no. don't", "cancel", "word");
        check("no, go ahead", "ambiguous", "mixed");
        check("yes, no, look", "ambiguous", "unknown");
        check("yes, wait", "ambiguous", "hold");
        check("cancel, then retry", "ambiguous", "unknown");
    }

    #[test]
    fn courtesy_changes_nothing_and_alone_is_no_answer() {
        check("yes, thanks", "confirm", "word");
        check("谢谢，不用了", "cancel", "word");
        check("thanks", "ambiguous", "ack");
        check("please", "ambiguous", "unknown");
        check("please, now", "ambiguous", "unknown");
    }
}
