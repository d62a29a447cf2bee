//! What the person who pressed is told at once, for their eyes only.

use domain::hold::HoldState;
use domain::visible::visible;
use ports::channel::{PressReply, Redraw};

use super::clock::Zone;
use super::draw::Card;
use super::shown::clipped;
use super::words::{CardWords, Language};
use crate::limits::REFUSAL_CHARACTERS_MAX;

/// A line of plain text, and whether it says that nothing came of the press.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    pub text: String,
    pub refusal: bool,
}

impl Word {
    pub fn of(told: &PressReply, language: Language, zone: &Zone) -> Word {
        let words = CardWords(language);
        let headline =
            |redraw: &Redraw| Card::showing(&redraw.showing(), language, zone, false).headline;
        let (text, refusal) = match told {
            PressReply::Taken(redraw) if redraw.hold.is_pending() => {
                (words.taken().to_owned(), false)
            }
            PressReply::Taken(redraw) => (headline(redraw), false),
            PressReply::Counted(_) => (words.counted().to_owned(), false),
            PressReply::Already(redraw) => match redraw.hold.state {
                HoldState::Pending => (words.already_counted().to_owned(), false),
                _ => (format!("{} {}", words.already(), headline(redraw)), true),
            },
            PressReply::AskAgain(_) => (words.once_more().to_owned(), false),
            PressReply::AsItWas(_) => (words.as_it_was().to_owned(), false),
            PressReply::Changed(_) => (words.changed().to_owned(), true),
            PressReply::NotEntitled => (words.not_entitled().to_owned(), true),
            PressReply::NotHere => (words.not_here().to_owned(), true),
            // May repeat what somebody typed.
            PressReply::Invalid(what) => (clipped(&visible(what), REFUSAL_CHARACTERS_MAX), true),
        };
        Word { text, refusal }
    }

    /// Not written down, and the platform will not deliver it again.
    pub(crate) fn busy(language: Language) -> Word {
        Word { text: CardWords(language).busy().to_owned(), refusal: true }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use domain::hold::Hold;
    use domain::person::{People, Person, PersonId};
    use ports::channel::{DeliveryKey, MessageRef, Nonce};

    use super::*;
    use crate::webhook::sample::{approve, at, decided, hold};

    fn redraw(hold: Hold) -> Box<Redraw> {
        let ana = Person {
            id: PersonId::new("ana"),
            name: "Ana".into(),
            roles: Default::default(),
            identities: Default::default(),
        };
        Box::new(Redraw {
            hold: Arc::new(hold),
            people: Arc::new(People::new([ana])),
            key: DeliveryKey::new("7Q2").unwrap(),
            nonce: Nonce::new("k3x9ab").unwrap(),
            link: None,
            words_answer: false,
            code: None,
            armed: false,
            posted: MessageRef {
                chat: "c".into(),
                thread: None,
                direct: false,
                message: "m".into(),
                at: None,
            },
        })
    }

    fn word(told: &PressReply, language: Language) -> (String, bool) {
        let word = Word::of(told, language, &Zone::default());
        (word.text, word.refusal)
    }

    #[test]
    fn whoever_pressed_hears_the_truth() {
        let english = |told: PressReply| word(&told, Language::English);
        let settled = || redraw(decided(hold(), approve(None)));
        let mut over = hold();
        over.decided(HoldState::Expired { at: at(9) });
        for (told, text, refusal) in [
            (PressReply::Taken(settled()), "✅ approved by Ana, 02:03 UTC", false),
            (PressReply::Taken(redraw(hold())), "Received.", false),
            (PressReply::Counted(redraw(hold())), "Your vote counts. Others must agree.", false),
            (
                PressReply::Already(settled()),
                "Already decided: ✅ approved by Ana, 02:03 UTC",
                true,
            ),
            (
                PressReply::Already(redraw(hold())),
                "Your vote counts already. Others must agree.",
                false,
            ),
            (
                PressReply::Already(redraw(over)),
                "Already decided: ⌛ The time ran out. Nobody decided; nothing was run. 02:03 UTC",
                true,
            ),
            (
                PressReply::Changed(redraw(hold())),
                "This has changed since it was shown here. Look at it again.",
                true,
            ),
            (PressReply::NotEntitled, "You may not answer this. Nothing was changed.", true),
            (PressReply::NotHere, "This cannot be answered here.", true),
            (
                PressReply::Invalid("`count`\u{202e} must be a number".into()),
                "`count`⟦U+202E⟧ must be a number",
                true,
            ),
        ] {
            assert_eq!(english(told), (text.to_owned(), refusal));
        }
        assert_eq!(
            word(&PressReply::NotEntitled, Language::Chinese).0,
            "你无权回答此请求，未作任何更改。"
        );
    }
}
