//! Why a person said no. That they skipped the question is a fact of its own, which records and wires have always
//! told by one word; it is read once, where a reason comes in, and compared nowhere else.

use std::ops::Deref;

/// The word by which records and wires tell [`DenyReason::Skipped`].
const SKIPPED: &str = "skipped";

/// What the model and other people are told about a denial.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DenyReason {
    /// They leave the question unanswered.
    Skipped,
    /// In words for people and models. They are shown, and nothing follows from them.
    Stated(StatedReason),
}

/// Never the word for a skipped question: only [`DenyReason::from`] makes one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatedReason(String);

impl From<String> for DenyReason {
    fn from(text: String) -> DenyReason {
        match text.as_str() {
            SKIPPED => DenyReason::Skipped,
            _ => DenyReason::Stated(StatedReason(text)),
        }
    }
}

impl From<&str> for DenyReason {
    fn from(text: &str) -> DenyReason {
        text.to_owned().into()
    }
}

/// The reason as people, records and wires see it.
impl Deref for DenyReason {
    type Target = str;

    fn deref(&self) -> &str {
        match self {
            DenyReason::Skipped => SKIPPED,
            DenyReason::Stated(StatedReason(text)) => text,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_for_skipping_is_read_in_one_place_and_every_reason_keeps_its_bytes() {
        for text in ["skipped", "Skipped", "skipped ", "", "no time"] {
            let reason = DenyReason::from(text);
            assert_eq!(&*reason, text);
            assert_eq!(reason == DenyReason::Skipped, text == "skipped", "{text}");
        }
    }
}
