//! "Don't confirm": a yes that is turned round, and a no that is turned round, which nobody can be
//! sure of.

use super::cover::{self, CoveredMeaning};
use super::lexicon::{PhraseMeaning, Vocabulary};
use super::text::{is_unspaced, trim_emphasis};
use super::verdict::{AmbiguityReason, ReplyVerdict, VerdictSource};

/// Words that may stand before a negation without changing it.
const LEADS: [&str; 10] = ["我", "请", "先", "i", "please", "we", "you", "ich", "je", "eu"];

/// The longest first: 不要 before 不.
const NEGATIONS: [&str; 29] = [
    "can not",
    "will not",
    "do not",
    "cannot",
    "don't",
    "never",
    "can't",
    "won't",
    "nicht",
    "dont",
    "cant",
    "nao",
    "not",
    "не",
    "不可以",
    "不要",
    "不能",
    "不想",
    "不许",
    "不許",
    "不准",
    "不予",
    "拒绝",
    "不",
    "别",
    "別",
    "勿",
    "莫",
    "ne",
];

/// Wherever they stand, they make a text that cannot be read in one way.
const DOUBLE: [&str; 5] = ["不是不", "并非不", "不得不", "不能不", "不会不"];

pub(super) fn is_double(text: &str) -> bool {
    DOUBLE.iter().any(|double| text.contains(double))
}

/// `None` if nothing that is covered is negated here.
pub(super) fn parse_negation(clause: &str, words: &Vocabulary) -> Option<ReplyVerdict> {
    let mut rest = clause;
    loop {
        if let Some(verdict) = negated_parts(rest).find_map(|yes| judge_negated(yes, clause, words))
        {
            return Some(verdict);
        }
        rest = LEADS.iter().find_map(|lead| strip_negation(rest, lead))?;
    }
}

fn judge_negated(rest: &str, clause: &str, words: &Vocabulary) -> Option<ReplyVerdict> {
    match cover::cover_negated(rest, words)? {
        CoveredMeaning::Yes { .. } => Some(ReplyVerdict::Cancel(VerdictSource::Negated)),
        CoveredMeaning::No if words.meaning_of(clause) == Some(PhraseMeaning::No) => None,
        CoveredMeaning::No => Some(ReplyVerdict::Ambiguous(AmbiguityReason::DoubleNegative)),
        CoveredMeaning::Nothing | CoveredMeaning::Mixed | CoveredMeaning::Request => None,
    }
}

/// What every negation that fits would be the negation of.
fn negated_parts(text: &str) -> impl Iterator<Item = &str> {
    let before = NEGATIONS.iter().filter_map(move |negation| {
        let rest = strip_negation(text, negation)?;
        // French puts its negation around the verb.
        if *negation == "ne" { without_end(rest, "pas") } else { Some(rest) }
    });
    before.chain(without_end(text, "nicht"))
}

fn strip_negation<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let rest = text.strip_prefix(word)?;
    let ends = word.chars().next_back().is_some_and(is_unspaced) || !begins_a_letter(rest);
    ends.then(|| trim_emphasis(rest))
}

fn without_end<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let rest = text.strip_suffix(word)?;
    let ends = rest.chars().next_back().is_some_and(|c| !is_of_a_word(c));
    ends.then(|| trim_emphasis(rest))
}

fn begins_a_letter(text: &str) -> bool {
    text.chars().next().is_some_and(is_of_a_word)
}

fn is_of_a_word(c: char) -> bool {
    (c.is_alphanumeric() || c == '\'') && !is_unspaced(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(clauses: &[&str], verdict: Option<ReplyVerdict>) {
        for clause in clauses {
            assert_eq!(
                parse_negation(clause, &Vocabulary::without_reserved(&[])),
                verdict,
                "{clause}"
            );
        }
    }

    #[test]
    fn a_negated_yes_is_a_no() {
        check(
            &[
                "don't confirm",
                "do not do it",
                "i don't approve it please",
                "please do not proceed",
                "不行",
                "别执行",
                "不要执行",
                "我不同意",
                "请先不要执行",
                "不ok",
                "不要执行了",
                "i do not agree",
                "不可以执行",
                "不可以",
                "nicht einverstanden",
                "ich bestatige nicht",
                "не подтверждаю",
                "nao confirmo",
                "je ne confirme pas",
                "拒绝执行",
                "cannot approve",
                "dont do it",
            ],
            Some(ReplyVerdict::Cancel(VerdictSource::Negated)),
        );
    }

    #[test]
    fn a_negated_no_is_not_guessed_at() {
        let double = Some(ReplyVerdict::Ambiguous(AmbiguityReason::DoubleNegative));
        check(
            &[
                "不要取消",
                "don't cancel",
                "do not stop it",
                "拒绝取消",
                "never cancel",
                "abbrechen nicht",
            ],
            double,
        );
    }

    #[test]
    fn a_negation_of_nothing_known_is_left_to_the_words() {
        check(
            &[
                "不",
                "don't",
                "never mind",
                "not yet",
                "notconfirm",
                "confirm",
                "не надо",
                "不要了",
                "ne confirme",
            ],
            None,
        );
    }

    #[test]
    fn the_longest_come_first() {
        for (index, negation) in NEGATIONS.iter().enumerate() {
            let hidden = NEGATIONS[..index].iter().find(|other| negation.starts_with(*other));
            assert_eq!(hidden, None, "{negation} is never reached");
        }
    }
}
