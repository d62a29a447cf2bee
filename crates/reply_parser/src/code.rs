//! The code of a prompt about something dangerous: a person who repeats it has read that prompt.

use std::fmt;

use domain::hold::Risk;
use subtle::ConstantTimeEq;

use super::fold::fold_text;
use super::text::is_separator;

/// Without the letters and digits that are taken for one another. The digits come first.
const LETTERS: &[u8; 31] = b"23456789ABCDEFGHJKMNPQRSTUVWXYZ";
const DIGITS: u128 = 8;

/// Shown in the prompt and nowhere else, new for every prompt, and never told to a model.
#[derive(Clone, PartialEq, Eq)]
pub struct ApprovalCode {
    shown: String,
    folded: String,
}

impl ApprovalCode {
    pub fn new(shown: &str) -> ApprovalCode {
        ApprovalCode { shown: shown.to_owned(), folded: fold_text(shown) }
    }

    /// Four characters, six where the risk is critical, from so many fresh random bits.
    pub fn generate(mut random: u128, risk: Risk) -> ApprovalCode {
        let mut draw = |choices: u128| {
            let drawn = (random % choices) as usize;
            random /= choices;
            drawn
        };
        let length = if risk == Risk::Critical { 6 } else { 4 };
        // One place always has a digit, so that no word of a language can come out.
        let digit = draw(length as u128);
        let letters = (0..length).map(|place| {
            let choices = if place == digit { DIGITS } else { LETTERS.len() as u128 };
            LETTERS[draw(choices)] as char
        });
        ApprovalCode::new(&letters.collect::<String>())
    }

    /// As it is printed in the prompt.
    pub fn as_shown(&self) -> &str {
        &self.shown
    }

    fn matches(&self, token: &str) -> bool {
        token.as_bytes().ct_eq(self.folded.as_bytes()).into()
    }
}

impl fmt::Debug for ApprovalCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Code(hidden)")
    }
}

/// What was found in place of a code.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum CodeMatch {
    Nothing,
    /// The code and no other; the rest of the text.
    Right(String),
    /// Something that looks like a code and is not this one. Told even when the right one stands
    /// beside it: otherwise one message could try out twenty.
    Wrong(String),
}

pub(super) fn find_code(text: &str, code: &ApprovalCode) -> CodeMatch {
    let (mut right, mut wrong) = (false, false);
    let mut rest = String::with_capacity(text.len());
    for piece in text.split_inclusive(is_separator) {
        let token = piece.trim_end_matches(is_separator);
        if code.matches(token) {
            right = true;
        } else if looks_like_a_code(token) {
            wrong = true;
        } else {
            rest.push_str(token);
        }
        rest.push_str(&piece[token.len()..]);
    }
    match (right, wrong) {
        // mutant: reply-wrong-code-beside-the-right-one begins
        (_, true) => CodeMatch::Wrong(rest),
        (true, false) => CodeMatch::Right(rest),
        // mutant: reply-wrong-code-beside-the-right-one ends
        (false, false) => CodeMatch::Nothing,
    }
}

fn looks_like_a_code(token: &str) -> bool {
    let is_code_letter = |byte: u8| byte.is_ascii_digit() || byte.is_ascii_lowercase();
    (4..=8).contains(&token.len())
        && token.bytes().all(is_code_letter)
        && token.bytes().any(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_code_is_taken_out_of_the_text() {
        let code = ApprovalCode::new("7K3F");
        assert_eq!(find_code("确认 7k3f", &code), CodeMatch::Right("确认 ".into()));
        assert_eq!(find_code("7k3f, yes", &code), CodeMatch::Right(", yes".into()));
        assert_eq!(find_code("yes", &code), CodeMatch::Nothing);
        assert_eq!(find_code("7k3fx yes", &code), CodeMatch::Wrong(" yes".into()));
        assert_eq!(find_code("yes7k3f!", &code), CodeMatch::Wrong("!".into()));
        assert_eq!(find_code("确认7k3f", &code), CodeMatch::Nothing, "a code stands by itself");
    }

    #[test]
    fn a_list_of_guesses_says_nothing_about_any() {
        let code = ApprovalCode::new("7K3F");
        assert_eq!(find_code("7k3e 7k3f 7k3g", &code), CodeMatch::Wrong("  ".into()));
    }

    #[test]
    fn a_code_is_not_printed_by_accident() {
        assert_eq!(format!("{:?}", ApprovalCode::new("7K3F")), "Code(hidden)");
    }

    proptest! {
        #[test]
        fn made_codes_look_like_codes(random in any::<u128>(), critical in any::<bool>()) {
            let code = ApprovalCode::generate(random, if critical { Risk::Critical } else { Risk::High });
            prop_assert_eq!(code.as_shown().len(), if critical { 6 } else { 4 });
            prop_assert!(code.as_shown().bytes().all(|byte| LETTERS.contains(&byte)));
            prop_assert!(looks_like_a_code(&code.folded), "{}", code.as_shown());
            prop_assert_eq!(find_code(&code.folded, &code), CodeMatch::Right(String::new()));
        }
    }
}
