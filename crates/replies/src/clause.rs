//! A reply clause by clause. Each must be understood, and all must say the same.

use super::context::Context;
use super::cover::{self, Cover, cover};
use super::lexicon::{Says, Words};
use super::negation;
use super::text::{is_clause_end, trimmed};
use super::verdict::{How, Reason, Verdict};

/// What the prompt's code, or its absence, does to a yes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CodeState {
    NotWanted,
    Missing,
    /// It stood in the text, and makes a weak yes beside it strong.
    Given,
}

/// What one clause says.
enum Clause {
    Yes { strong: bool },
    No(How),
    Unclear(Reason),
}

pub(super) fn read(text: &str, context: &Context, words: &Words, code: CodeState) -> Verdict {
    let mut answers: Vec<Clause> = Vec::new();
    let (mut asked_first, mut thanked) = (false, false);
    for clause in text.split(is_clause_end).map(trimmed).filter(|clause| !clause.is_empty()) {
        if let Some(courtesy) = words.says(clause).filter(|says| says.is_courtesy()) {
            thanked |= words.is_ack(clause);
            asked_first |= courtesy == Says::Please && answers.is_empty();
            continue;
        }
        match one(clause, words) {
            Clause::Unclear(reason) => return Verdict::Ambiguous(reason),
            answer => answers.push(answer),
        }
    }
    let mut denial = None;
    let (mut yes, mut strong) = (false, code == CodeState::Given);
    for answer in answers {
        match answer {
            Clause::Yes { strong: is_strong } => (yes, strong) = (true, strong || is_strong),
            Clause::No(how) => denial = denial.or(Some(how)),
            Clause::Unclear(reason) => return Verdict::Ambiguous(reason),
        }
    }
    match (yes, denial) {
        (true, Some(_)) => Verdict::Ambiguous(Reason::Mixed),
        (false, Some(how)) => Verdict::Cancel(how),
        (false, None) if thanked => Verdict::Ambiguous(Reason::Ack),
        (false, None) => Verdict::Ambiguous(Reason::Unknown),
        (true, None) if asked_first => Verdict::Ambiguous(Reason::Request),
        (true, None) if context.is_choice() => Verdict::Ambiguous(Reason::WhichOption),
        (true, None) if code == CodeState::Missing => Verdict::Ambiguous(Reason::CodeRequired),
        (true, None) if !strong && !context.weak_ok => Verdict::Ambiguous(Reason::Weak),
        (true, None) => Verdict::Confirm(How::Word),
    }
}

fn one(clause: &str, words: &Words) -> Clause {
    if words.is_hold(clause) || is_put_off(clause, words) {
        return Clause::Unclear(Reason::Hold);
    }
    if words.is_ack(clause) {
        return Clause::Unclear(Reason::Ack);
    }
    match negation::read(clause, words) {
        Some(Verdict::Cancel(how)) => return Clause::No(how),
        Some(Verdict::Ambiguous(reason)) => return Clause::Unclear(reason),
        _ => {}
    }
    match cover(clause, words) {
        Some(Cover::Yes { strong }) => Clause::Yes { strong },
        Some(Cover::No) => Clause::No(How::Word),
        Some(Cover::Mixed) => Clause::Unclear(Reason::Mixed),
        Some(Cover::Request) => Clause::Unclear(Reason::Request),
        Some(Cover::Nothing) | None => Clause::Unclear(Reason::Unknown),
    }
}

/// 先别执行: not yet.
fn is_put_off(clause: &str, words: &Words) -> bool {
    let rest = ["先不要", "先别", "先別", "先不", "暂不", "暫不"]
        .iter()
        .find_map(|lead| clause.strip_prefix(lead));
    rest.is_some_and(|rest| matches!(cover::negated(rest, words), Some(Cover::Yes { .. })))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, name: &str, why: &str) {
        let words = Words::without(&[]);
        let verdict = read(text, &Context::default(), &words, CodeState::NotWanted);
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
    fn one_strong_word_makes_the_weak_ones_count() {
        let strict = Context { weak_ok: false, ..Context::default() };
        let read = |text, code| read(text, &strict, &Words::without(&[]), code).why();
        assert_eq!(read("okay, approve", CodeState::NotWanted), "word");
        assert_eq!(read("好的，批准", CodeState::NotWanted), "word");
        assert_eq!(read("ok, sure", CodeState::NotWanted), "weak");
        assert_eq!(read("ok", CodeState::Given), "word");
        assert_eq!(read("ok", CodeState::Missing), "code_required");
    }

    #[test]
    fn courtesy_changes_nothing_and_alone_is_no_answer() {
        check("yes, thanks", "confirm", "word");
        check("yes, please", "confirm", "word");
        check("danke, ja", "confirm", "word");
        check("谢谢，不用了", "cancel", "word");
        check("thanks", "ambiguous", "ack");
        check("please", "ambiguous", "unknown");
        check("please, now", "ambiguous", "unknown");
    }

    #[test]
    fn i48_asking_first_and_a_yes_in_the_next_clause_is_still_asking() {
        check("please, approve", "ambiguous", "request");
        check("please, no", "cancel", "word");
    }

    #[test]
    fn putting_it_off_is_no_answer() {
        for text in ["先别执行", "先不要执行", "先不批准", "暂不同意", "先别"] {
            check(text, "ambiguous", "hold");
        }
    }
}
