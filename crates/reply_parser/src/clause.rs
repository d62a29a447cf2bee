//! A reply clause by clause. Each must be understood, and all must say the same.

use super::context::ReplyContext;
use super::cover::{self, CoveredMeaning, cover_text};
use super::lexicon::{PhraseMeaning, Vocabulary};
use super::negation;
use super::text::{is_clause_end, trim_emphasis};
use super::verdict::{AmbiguityReason, ReplyVerdict, VerdictSource};

/// What the prompt's code, or its absence, does to a yes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CodeState {
    NotWanted,
    Missing,
    /// It stood in the text, and makes a weak yes beside it strong.
    Given,
}

/// What one clause says.
enum ClauseMeaning {
    /// `own`: only its speaker can give it, as "yes"; "approve" may be asked of somebody else.
    Yes {
        strong: bool,
        own: bool,
    },
    No(VerdictSource),
    Unclear(AmbiguityReason),
}

pub(super) fn parse_clauses(
    text: &str,
    context: &ReplyContext,
    words: &Vocabulary,
    code: CodeState,
) -> ReplyVerdict {
    let mut answers: Vec<ClauseMeaning> = Vec::new();
    let (mut asked_first, mut thanked) = (false, false);
    // A courtesy stands before what may be asked of others; お願いします may also stand behind it.
    let (mut polite, mut requests, mut asking_form, mut verb) = (false, false, false, false);
    for clause in text.split(is_clause_end).map(trim_emphasis).filter(|clause| !clause.is_empty()) {
        if let Some(courtesy) = words.meaning_of(clause).filter(|says| says.is_courtesy()) {
            thanked |= words.is_ack(clause);
            asked_first |= courtesy == PhraseMeaning::Please && answers.is_empty();
            polite = true;
            continue;
        }
        if !answers.is_empty() && FILLERS.contains(&clause) {
            continue;
        }
        let answer = parse_clause(clause, words);
        match answer {
            ClauseMeaning::Unclear(reason) => return ReplyVerdict::Ambiguous(reason),
            ClauseMeaning::Yes { own, .. } => {
                (verb, requests) = (verb || !own, requests || polite && !own);
                asking_form |= cover::is_asking_form(clause);
            }
            ClauseMeaning::No(_) => {}
        }
        answers.push(answer);
    }
    let requests = requests || asked_first || asking_form && verb;
    let mut denial = None;
    let (mut yes, mut strong) = (false, code == CodeState::Given);
    for answer in answers {
        match answer {
            ClauseMeaning::Yes { strong: is_strong, .. } => {
                (yes, strong) = (true, strong || is_strong)
            }
            ClauseMeaning::No(how) => denial = denial.or(Some(how)),
            ClauseMeaning::Unclear(reason) => return ReplyVerdict::Ambiguous(reason),
        }
    }
    match (yes, denial) {
        (true, Some(_)) => ReplyVerdict::Ambiguous(AmbiguityReason::Mixed),
        (false, Some(how)) => ReplyVerdict::Cancel(how),
        (false, None) if thanked => ReplyVerdict::Ambiguous(AmbiguityReason::Ack),
        (false, None) => ReplyVerdict::Ambiguous(AmbiguityReason::Unknown),
        (true, None) if requests => ReplyVerdict::Ambiguous(AmbiguityReason::Request),
        (true, None) if context.is_choice() => {
            ReplyVerdict::Ambiguous(AmbiguityReason::WhichOption)
        }
        // mutant: reply-code-not-needed begins
        (true, None) if code == CodeState::Missing => {
            ReplyVerdict::Ambiguous(AmbiguityReason::CodeRequired)
        }
        // mutant: reply-code-not-needed ends
        (true, None) if !strong && !context.weak_ok => {
            ReplyVerdict::Ambiguous(AmbiguityReason::Weak)
        }
        (true, None) => ReplyVerdict::Confirm(VerdictSource::Word),
    }
}

fn parse_clause(clause: &str, words: &Vocabulary) -> ClauseMeaning {
    if words.is_hold(clause) || is_put_off(clause, words) {
        return ClauseMeaning::Unclear(AmbiguityReason::Hold);
    }
    if words.is_ack(clause) {
        return ClauseMeaning::Unclear(AmbiguityReason::Ack);
    }
    match negation::parse_negation(clause, words) {
        Some(ReplyVerdict::Cancel(how)) => return ClauseMeaning::No(how),
        Some(ReplyVerdict::Ambiguous(reason)) => return ClauseMeaning::Unclear(reason),
        _ => {}
    }
    match cover_text(clause, words) {
        Some(CoveredMeaning::Yes { strong }) => {
            ClauseMeaning::Yes { strong, own: cover::is_own_yes(clause, words) }
        }
        Some(CoveredMeaning::No) => ClauseMeaning::No(VerdictSource::Word),
        Some(CoveredMeaning::Mixed) => ClauseMeaning::Unclear(AmbiguityReason::Mixed),
        Some(CoveredMeaning::Request) => ClauseMeaning::Unclear(AmbiguityReason::Request),
        Some(CoveredMeaning::Nothing) | None => ClauseMeaning::Unclear(AmbiguityReason::Unknown),
    }
}

/// Say nothing in a clause of their own behind an answer: "yes, now".
const FILLERS: [&str; 4] = ["it", "this", "now", "just"];

/// 先别执行: not yet.
fn is_put_off(clause: &str, words: &Vocabulary) -> bool {
    let rest = ["先不要", "先别", "先別", "先不", "暂不", "暫不"]
        .iter()
        .find_map(|lead| clause.strip_prefix(lead));
    rest.is_some_and(|rest| {
        matches!(cover::cover_negated(rest, words), Some(CoveredMeaning::Yes { .. }))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, name: &str, why: &str) {
        let words = Vocabulary::without_reserved(&[]);
        let verdict = parse_clauses(text, &ReplyContext::default(), &words, CodeState::NotWanted);
        assert_eq!((verdict.name(), verdict.reason_name()), (name, why), "{text}");
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
        let strict = ReplyContext { weak_ok: false, ..ReplyContext::default() };
        let read = |text, code| {
            parse_clauses(text, &strict, &Vocabulary::without_reserved(&[]), code).reason_name()
        };
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
        for text in [
            "please, approve",
            "thanks, approve",
            "谢谢，批准",
            "感谢。批准",
            "danke, genehmigen",
            "merci, valider",
            "yes, please, approve",
            "ok, thanks, execute",
            "承認、お願いします",
            "確認、お願いします",
            "実行。お願いします",
            "お願いします、承認",
        ] {
            check(text, "ambiguous", "request");
        }
        for text in [
            "danke, ja",
            "thanks, approved",
            "はい、お願いします",
            "お願いします、はい",
            "merci, oui",
        ] {
            check(text, "confirm", "word");
        }
        for text in [
            "approve, please",
            "批准，感谢",
            "批准，謝謝",
            "yes, now",
            "准了",
            "承認します、お願いします",
        ] {
            check(text, "confirm", "word");
        }
        check("now, approve", "ambiguous", "unknown");
        check("准了吧", "ambiguous", "unknown");
        check("please, no", "cancel", "word");
    }

    /// They say no to something else, if at all.
    #[test]
    fn a_particle_where_it_does_not_belong_is_no_denial() {
        check("不是我", "ambiguous", "unknown");
        check("不就行了", "ambiguous", "mixed");
        check("不就好了", "ambiguous", "mixed");
        for text in ["不要执行了", "不执行吧", "不要了", "不行了", "我不同意", "别执行啦"]
        {
            assert!(
                matches!(
                    parse_clauses(
                        text,
                        &ReplyContext::default(),
                        &Vocabulary::without_reserved(&[]),
                        CodeState::NotWanted
                    ),
                    ReplyVerdict::Cancel(_)
                ),
                "{text}"
            );
        }
    }

    #[test]
    fn putting_it_off_is_no_answer() {
        for text in ["先别执行", "先不要执行", "先不批准", "暂不同意", "先别"] {
            check(text, "ambiguous", "hold");
        }
    }
}
