//! The parser: the order in which a reply is looked at.

use super::choice;
use super::clause::{self, CodeState};
use super::code::{self, Found};
use super::context::Context;
use super::emoji;
use super::fold::fold;
use super::formatting;
use super::lexicon::Words;
use super::mentions;
use super::negation;
use super::slash::{self, Slash};
use super::text::trimmed;
use super::verdict::{How, Reason, Verdict};
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
/// use replies::{parse, Context};
/// let meaning = |text| parse(text, &Context::default()).name();
/// assert_eq!(meaning("好的，确认"), "confirm");
/// assert_eq!(meaning("别执行"), "cancel");
/// assert_eq!(meaning("yes but change the where clause"), "ambiguous");
/// ```
pub fn parse(text: &str, context: &Context) -> Verdict {
    if context.attachment {
        return Verdict::Ambiguous(Reason::Attachment);
    }
    if text.chars().any(mentions::is_bidi) {
        return Verdict::Ambiguous(Reason::Bidi);
    }
    if context.formatted {
        return Verdict::Ambiguous(Reason::Formatted);
    }
    let text = mentions::without_ours(text, &context.mentions);
    if context.mentions_others || mentions::mentions_somebody(&text) {
        return Verdict::Ambiguous(Reason::OtherMention);
    }
    let written = text;
    let text = fold(&written);
    if text.chars().count() > REPLY_CHARACTERS_MAX {
        return Verdict::Ambiguous(Reason::TooLong);
    }
    if let Some(verdict) = choice::exact_label(&text, context) {
        return verdict;
    }
    let text = emoji::without_short_codes(&fold(&emoji::numbers_apart(&written)));
    if let Some(reason) = formatting::objection(&text) {
        return Verdict::Ambiguous(reason);
    }
    let (text, emoji) = emoji::apart(&text);
    let text = trimmed(&text);
    if text.is_empty() {
        return emoji.alone(context);
    }
    let verdict = words(text, context);
    emoji.objection(&verdict).map_or(verdict, Verdict::Ambiguous)
}

fn words(text: &str, context: &Context) -> Verdict {
    let words = Words::without(&context.reserved);
    let command;
    let text = match slash::read(text) {
        Slash::No => text,
        Slash::GoesOn(text) => {
            command = text;
            trimmed(&command)
        }
        Slash::Cancels(name) if words.says(&name).is_some() => return Verdict::Cancel(How::Slash),
        // The very thing that is asked about: it may as well mean "do it".
        Slash::Cancels(_) => return Verdict::Ambiguous(Reason::Unknown),
        Slash::Other(reason) => return Verdict::Ambiguous(reason),
    };
    if QUESTIONS.iter().any(|sign| text.contains(sign)) {
        return Verdict::Ambiguous(Reason::Question);
    }
    if negation::is_double(text) {
        return Verdict::Ambiguous(Reason::DoubleNegative);
    }
    if let Some(verdict) = choice::read(text, context) {
        return verdict;
    }
    let Some(code) = &context.code else {
        return clause::read(text, context, &words, CodeState::NotWanted);
    };
    match code::look(text, code) {
        Found::Nothing => clause::read(text, context, &words, CodeState::Missing),
        Found::Right(rest) if !trimmed(&rest).is_empty() => {
            clause::read(trimmed(&rest), context, &words, CodeState::Given)
        }
        Found::Right(_) if context.is_choice() => Verdict::Ambiguous(Reason::WhichOption),
        Found::Right(_) => Verdict::Confirm(How::Code),
        // A no needs no code, so a wrong one does not spoil it.
        Found::Wrong(rest) => {
            match clause::read(trimmed(&rest), context, &words, CodeState::Missing) {
                Verdict::Cancel(how) => Verdict::Cancel(how),
                _ => Verdict::Ambiguous(Reason::BadCode),
            }
        }
    }
}
