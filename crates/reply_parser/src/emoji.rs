//! Pictures in a reply: a few of them say yes or no, a few are harmless, and any other may say anything.

use icu_properties::props::GeneralCategory;

use super::context::ReplyContext;
use super::fold::char_category;
use super::verdict::{AmbiguityReason, ReplyVerdict, VerdictSource};

const YES: &str = "👍✅☑✔🆗👌🙆";
const NO: &str = "👎❌✖🚫⛔🙅🛑✗✘❎☒×✋🤚🖕⏸⏳🔜🆖";
const HARMLESS: &str = "🙏🙂😊😀👏🎉🚀💪❤";
/// Unicode files these under symbols. They are question marks.
const QUESTION: &str = "❓❔";
/// They stand behind a person with an invisible joiner, which folding has dropped.
const GENDER_SIGNS: &str = "♀♂";
const PEOPLE: &str = "🙆🙅";
/// Makes a key of the digit before it.
const KEYCAP: char = '\u{20e3}';

/// How platforms write the pictures above where they do not send the character.
const SHORT_CODES: [(&str, char); 34] = [
    ("+1", '👍'),
    ("thumbsup", '👍'),
    ("white_check_mark", '✅'),
    ("ballot_box_with_check", '☑'),
    ("heavy_check_mark", '✔'),
    ("ok", '🆗'),
    ("ok_hand", '👌'),
    ("ok_woman", '🙆'),
    ("ok_man", '🙆'),
    ("woman-gesturing-ok", '🙆'),
    ("man-gesturing-ok", '🙆'),
    ("-1", '👎'),
    ("thumbsdown", '👎'),
    ("x", '❌'),
    ("heavy_multiplication_x", '✖'),
    ("negative_squared_cross_mark", '❎'),
    ("no_entry_sign", '🚫'),
    ("no_entry", '⛔'),
    ("no_good", '🙅'),
    ("octagonal_sign", '🛑'),
    ("stop_sign", '🛑'),
    ("hand", '✋'),
    ("raised_hand", '✋'),
    ("double_vertical_bar", '⏸'),
    ("hourglass_flowing_sand", '⏳'),
    ("soon", '🔜'),
    ("ng", '🆖'),
    ("pray", '🙏'),
    ("slightly_smiling_face", '🙂'),
    ("blush", '😊'),
    ("clap", '👏'),
    ("tada", '🎉'),
    ("rocket", '🚀'),
    ("heart", '❤'),
];

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct EmojiMeaning {
    yes: bool,
    no: bool,
    /// A picture that is neither, and not among the harmless ones.
    other: bool,
}

/// Puts the picture in place of its short code, as `:+1:`. A code that is not known stays, and so is a word that
/// nobody knows.
pub(super) fn without_short_codes(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(':') {
        kept.push_str(&rest[..at]);
        let behind = &rest[at + 1..];
        let code = behind.split_once(':').filter(|(name, _)| !name.is_empty());
        match code.and_then(|(name, after)| Some((short_code_char(name)?, after))) {
            Some((picture, after)) => {
                kept.extend(picture);
                rest = after;
            }
            None => {
                kept.push(':');
                rest = behind;
            }
        }
    }
    kept.push_str(rest);
    kept
}

/// `Some(None)` for the code of a skin tone, which changes no meaning.
fn short_code_char(name: &str) -> Option<Option<char>> {
    if name.starts_with("skin-tone-") {
        return Some(None);
    }
    SHORT_CODES.iter().find(|(code, _)| *code == name).map(|(_, picture)| Some(*picture))
}

/// The text without its pictures, and what they said. A blank stands in place of each: what stood on two sides of a
/// picture is not one word or number.
pub(super) fn split_emoji(text: &str) -> (String, EmojiMeaning) {
    let mut emoji = EmojiMeaning::default();
    let mut left = String::with_capacity(text.len());
    let mut before = None;
    for c in text.chars() {
        if YES.contains(c) {
            emoji.yes = true;
            left.push(' ');
        } else if NO.contains(c) {
            emoji.no = true;
            left.push(' ');
        } else if QUESTION.contains(c) {
            left.push('?');
        } else if is_skin_tone(c) {
            continue;
        } else if is_symbol(c) {
            let gender = GENDER_SIGNS.contains(c) && before.is_some_and(|c| PEOPLE.contains(c));
            emoji.other |= !gender && !HARMLESS.contains(c);
            left.push(' ');
        } else if c == KEYCAP && before.is_some_and(|c: char| c.is_ascii_digit()) {
            left.push(' ');
        } else {
            left.push(c);
        }
        before = Some(c);
    }
    (left, emoji)
}

/// A number in a circle, in brackets or with a full stop is one sign; two of them side by side are two numbers, which
/// folding would make one.
pub(super) fn numbers_apart(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        out.push(c);
        if matches!(c, '\u{2460}'..='\u{249b}' | '\u{24ea}'..='\u{24ff}' | '\u{2776}'..='\u{2793}')
        {
            out.push(' ');
        }
    }
    out
}

fn is_skin_tone(c: char) -> bool {
    ('\u{1f3fb}'..='\u{1f3ff}').contains(&c)
}

fn is_symbol(c: char) -> bool {
    // Letters in boxes and circles are symbols, and so are those that flags are made of. They are read all the
    // same.
    let is_letter = c.is_alphanumeric() || ('\u{1f1e6}'..='\u{1f1ff}').contains(&c);
    let category = char_category(c);
    let symbolic = matches!(
        category,
        GeneralCategory::OtherSymbol
            | GeneralCategory::ModifierSymbol
            | GeneralCategory::MathSymbol
    );
    // Those of ASCII stand in texts (`1+3`), and the words around them decide.
    symbolic && !is_letter && !c.is_ascii()
}

impl EmojiMeaning {
    /// What it means if there was nothing else.
    pub(super) fn verdict_alone(self, context: &ReplyContext) -> ReplyVerdict {
        match (self.yes, self.no) {
            (true, true) => ReplyVerdict::Ambiguous(AmbiguityReason::Mixed),
            (true, false) if self.other => ReplyVerdict::Ambiguous(AmbiguityReason::Symbol),
            (true, false) => {
                if !context.is_choice() && context.weak_ok && context.code.is_none() {
                    ReplyVerdict::Confirm(VerdictSource::Emoji)
                } else {
                    ReplyVerdict::Ambiguous(AmbiguityReason::Weak)
                }
            }
            (false, true) => ReplyVerdict::Cancel(VerdictSource::Emoji),
            (false, false) => ReplyVerdict::Ambiguous(AmbiguityReason::Empty),
        }
    }

    /// Why the words beside these pictures decide nothing, if they do not.
    pub(super) fn objection(self, verdict: &ReplyVerdict) -> Option<AmbiguityReason> {
        match verdict {
            ReplyVerdict::Confirm(_) | ReplyVerdict::Choice(..) if self.no => {
                Some(AmbiguityReason::Mixed)
            }
            // mutant: reply-symbol-passed-over begins
            ReplyVerdict::Confirm(_) | ReplyVerdict::Choice(..) if self.other => {
                Some(AmbiguityReason::Symbol)
            }
            // mutant: reply-symbol-passed-over ends
            ReplyVerdict::Cancel(_) if self.yes => Some(AmbiguityReason::Mixed),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_are_counted_and_taken_out() {
        for (text, left, yes, no, other) in [
            ("👍🏽", " ", true, false, false),
            ("确认 ❌", "确认  ", false, true, false),
            ("✅✖", "  ", true, true, false),
            ("ok 🚀", "ok  ", false, false, false),
            ("ok 🤔", "ok  ", false, false, true),
            ("ok ∅", "ok  ", false, false, true),
            ("ok❓", "ok?", false, false, false),
            ("ok 🅽🅾", "ok 🅽🅾", false, false, false),
            ("ok 🇳🇴", "ok 🇳🇴", false, false, false),
            ("🆖", " ", false, true, false),
            ("🙆♀", "  ", true, false, false),
            ("ok♀", "ok ", false, false, true),
            ("2\u{20e3}", "2 ", false, false, false),
            ("1+3", "1+3", false, false, false),
        ] {
            assert_eq!(
                split_emoji(text),
                (left.to_owned(), EmojiMeaning { yes, no, other }),
                "{text}"
            );
        }
    }

    #[test]
    fn every_listed_picture_is_taken_out() {
        for c in YES.chars().chain(NO.chars()).chain(HARMLESS.chars()) {
            let (left, emoji) = split_emoji(&String::from(c));
            assert_eq!((left.as_str(), emoji.other), (" ", false), "U+{:04X}", c as u32);
        }
    }

    #[test]
    fn short_codes_become_their_pictures() {
        for (text, pictures) in [
            (":+1:", "👍"),
            (":+1::skin-tone-2:", "👍"),
            ("yes :x:", "yes ❌"),
            (":thinking_face:", ":thinking_face:"),
            ("yes: ok", "yes: ok"),
            ("a:b:+1:", "a:b👍"),
            ("::", "::"),
        ] {
            assert_eq!(without_short_codes(text), pictures, "{text}");
        }
    }
}
