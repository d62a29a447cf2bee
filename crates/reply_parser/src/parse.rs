//! The parser: the order in which a reply is looked at.

use super::choice;
use super::clause::{self, CodeState};
use super::code::{self, CodeMatch};
use super::context::ReplyContext;
use super::emoji;
use super::fold::fold_text;
use super::formatting;
use super::lexicon::Vocabulary;
use super::mentions;
use super::negation;
use super::slash::{self, SlashCommand};
use super::text::trim_emphasis;
use super::verdict::{AmbiguityReason, ReplyVerdict, VerdictSource};
use crate::limits::REPLY_CHARACTERS_MAX;

/// Signs of a question, in every language that we know words of. 么 is also in 为什么 and 怎么.
const QUESTIONS: [&str; 14] = [
    "?",
    "¿",
    "؟",
    "吗",
    "嗎",
    "么",
    "呢",
    "為什麼",
    "かな",
    "ですか",
    "ますか",
    "까요",
    "나요",
    "습니까",
];

/// What this text means as an answer to what was asked.
///
/// ```
/// use holdpoint_reply_parser::{ReplyContext, parse_reply};
/// let meaning = |text| parse_reply(text, &ReplyContext::default()).name();
/// assert_eq!(meaning("好的，确认"), "confirm");
/// assert_eq!(meaning("别执行"), "cancel");
/// assert_eq!(meaning("yes but change the where clause"), "ambiguous");
/// ```
pub fn parse_reply(text: &str, context: &ReplyContext) -> ReplyVerdict {
    if context.attachment {
        return ReplyVerdict::Ambiguous(AmbiguityReason::Attachment);
    }
    if text.chars().any(mentions::is_bidi) {
        return ReplyVerdict::Ambiguous(AmbiguityReason::Bidi);
    }
    if context.formatted {
        return ReplyVerdict::Ambiguous(AmbiguityReason::Formatted);
    }
    let text = mentions::without_ours(text, &context.mentions);
    if context.mentions_others || mentions::mentions_somebody(&text) {
        return ReplyVerdict::Ambiguous(AmbiguityReason::OtherMention);
    }
    let written = text;
    let text = fold_text(&written);
    if text.chars().count() > REPLY_CHARACTERS_MAX {
        return ReplyVerdict::Ambiguous(AmbiguityReason::TooLong);
    }
    if let Some(verdict) = choice::exact_label(&text, context) {
        return verdict;
    }
    let text = emoji::without_short_codes(&fold_text(&emoji::numbers_apart(&written)));
    if let Some(reason) = formatting::formatting_objection(&text) {
        return ReplyVerdict::Ambiguous(reason);
    }
    let (text, emoji) = emoji::split_emoji(&text);
    let text = trim_emphasis(&text);
    if text.is_empty() {
        return emoji.verdict_alone(context);
    }
    let verdict = parse_words(text, context);
    emoji.objection(&verdict).map_or(verdict, ReplyVerdict::Ambiguous)
}

fn parse_words(text: &str, context: &ReplyContext) -> ReplyVerdict {
    let words = Vocabulary::without_reserved(&context.reserved);
    let command;
    let text = match slash::parse_slash(text) {
        SlashCommand::No => text,
        SlashCommand::GoesOn(text) => {
            command = text;
            trim_emphasis(&command)
        }
        SlashCommand::Cancels(name) if words.meaning_of(&name).is_some() => {
            return ReplyVerdict::Cancel(VerdictSource::Slash);
        }
        // The very thing that is asked about: it may as well mean "do it".
        SlashCommand::Cancels(_) => return ReplyVerdict::Ambiguous(AmbiguityReason::Unknown),
        SlashCommand::Other(reason) => return ReplyVerdict::Ambiguous(reason),
    };
    // mutant: reply-question-approves
    if QUESTIONS.iter().any(|sign| text.contains(sign)) {
        return ReplyVerdict::Ambiguous(AmbiguityReason::Question);
    }
    if negation::is_double(text) {
        return ReplyVerdict::Ambiguous(AmbiguityReason::DoubleNegative);
    }
    if let Some(verdict) = choice::parse_choice(text, context) {
        return verdict;
    }
    let Some(code) = &context.code else {
        return clause::parse_clauses(text, context, &words, CodeState::NotWanted);
    };
    match code::find_code(text, code) {
        CodeMatch::Nothing => clause::parse_clauses(text, context, &words, CodeState::Missing),
        CodeMatch::Right(rest) if !trim_emphasis(&rest).is_empty() => {
            clause::parse_clauses(trim_emphasis(&rest), context, &words, CodeState::Given)
        }
        CodeMatch::Right(_) if context.is_choice() => {
            ReplyVerdict::Ambiguous(AmbiguityReason::WhichOption)
        }
        CodeMatch::Right(_) => ReplyVerdict::Confirm(VerdictSource::Code),
        // A no needs no code, so a wrong one does not spoil it.
        CodeMatch::Wrong(rest) => {
            match clause::parse_clauses(trim_emphasis(&rest), context, &words, CodeState::Missing) {
                ReplyVerdict::Cancel(how) => ReplyVerdict::Cancel(how),
                _ => ReplyVerdict::Ambiguous(AmbiguityReason::BadCode),
            }
        }
    }
}
