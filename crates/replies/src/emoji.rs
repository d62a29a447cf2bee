//! Pictures in a reply: a few of them say yes or no, the rest says nothing.

use icu_properties::props::GeneralCategory;

use super::context::Context;
use super::fold::category;
use super::verdict::{How, Reason, Verdict};

const YES: &str = "👍✅☑✔🆗👌🙆";
const NO: &str = "👎❌✖🚫⛔🙅🛑🆖";
/// Unicode files these under symbols, and so they would be dropped. They are question marks.
const QUESTION: &str = "❓❔";

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Emoji {
    yes: bool,
    no: bool,
}

/// The text without its pictures, and what they said.
pub(super) fn apart(text: &str) -> (String, Emoji) {
    let mut emoji = Emoji::default();
    let mut left = String::with_capacity(text.len());
    for c in text.chars() {
        emoji.yes |= YES.contains(c);
        emoji.no |= NO.contains(c);
        if QUESTION.contains(c) {
            left.push('?');
        } else if !is_picture(c) {
            left.push(c);
        }
    }
    (left, emoji)
}

fn is_picture(c: char) -> bool {
    // Letters in boxes and circles are symbols, and so are those that flags are made of. They are read all the
    // same.
    let is_letter = c.is_alphanumeric() || ('\u{1f1e6}'..='\u{1f1ff}').contains(&c);
    // Skin tones are modifier symbols.
    matches!(category(c), GeneralCategory::OtherSymbol | GeneralCategory::ModifierSymbol)
        && !is_letter
}

impl Emoji {
    /// What it means if there was nothing else.
    pub(super) fn alone(self, context: &Context) -> Verdict {
        match (self.yes, self.no) {
            (true, true) => Verdict::Ambiguous(Reason::Mixed),
            (true, false) => {
                if !context.is_choice() && context.weak_ok && context.code.is_none() {
                    Verdict::Confirm(How::Emoji)
                } else {
                    Verdict::Ambiguous(Reason::Weak)
                }
            }
            (false, true) => Verdict::Cancel(How::Emoji),
            (false, false) => Verdict::Ambiguous(Reason::Empty),
        }
    }

    pub(super) fn contradicts(self, verdict: &Verdict) -> bool {
        match verdict {
            Verdict::Confirm(_) | Verdict::Choice(..) => self.no,
            Verdict::Cancel(_) => self.yes,
            Verdict::Ambiguous(_) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_are_counted_and_taken_out() {
        for (text, left, yes, no) in [
            ("👍🏽", "", true, false),
            ("确认 ❌", "确认 ", false, true),
            ("✅✖", "", true, true),
            ("ok 🚀", "ok ", false, false),
            ("ok❓", "ok?", false, false),
            ("ok 🅽🅾", "ok 🅽🅾", false, false),
            ("ok 🇳🇴", "ok 🇳🇴", false, false),
            ("🆖", "", false, true),
        ] {
            assert_eq!(apart(text), (left.to_owned(), Emoji { yes, no }), "{text}");
        }
    }

    #[test]
    fn every_listed_picture_is_taken_out() {
        for c in YES.chars().chain(NO.chars()) {
            assert_eq!(apart(&String::from(c)).0, "", "U+{:04X}", c as u32);
        }
    }
}
