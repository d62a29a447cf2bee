//! A card from what a channel is told to show.

use ports::channel::Showing;
use reply_parser::ApprovalCode;

use super::asks::CardQuestion;
use super::clock::Zone;
use super::draw::{Card, CardContext, Replies};
use super::words::{CardWords, Language};

impl Card {
    /// `mention`: in this place only what is said to us is heard.
    pub fn showing(showing: &Showing, language: Language, zone: &Zone, mention: bool) -> Card {
        let code = showing.code.map(ApprovalCode::new);
        let prompt = CardContext {
            people: showing.people,
            language,
            zone: zone.clone(),
            key: showing.key.clone(),
            nonce: showing.nonce.clone(),
            link: showing.link.map(str::to_owned),
            replies: showing.words_answer.then_some(Replies { code: code.as_ref(), mention }),
        };
        let card = Card::draw(showing.hold, &prompt);
        let card = if showing.armed { card.asking_once_more() } else { card };
        match showing.processing && showing.hold.is_pending() {
            false => card,
            true => Card {
                headline: CardWords(language).processing().to_owned(),
                asks: CardQuestion::Nothing,
                hint: None,
                deny_hint: None,
                ..card
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use domain::person::People;
    use ports::channel::{DeliveryKey, Nonce};

    use super::*;
    use crate::webhook::sample::hold;

    #[test]
    fn what_is_being_written_has_no_button_that_looks_alive() {
        let (hold, people) = (hold(), People::default());
        let (key, nonce) = (DeliveryKey::new("7Q2").unwrap(), Nonce::new("k3x9ab").unwrap());
        let showing = Showing {
            hold: &hold,
            people: &people,
            key: &key,
            nonce: &nonce,
            link: None,
            words_answer: true,
            code: Some("7K3F"),
            armed: false,
            processing: false,
            stands: true,
        };
        let draw =
            |showing: &Showing| Card::showing(showing, Language::Chinese, &Zone::default(), true);
        let asking = draw(&showing);
        assert!(asking.asks.accepts_approval());
        assert_eq!(
            asking.hint.as_deref(),
            Some("也可以回复：确认 7K3F / 拒绝 / 拒绝：原因（请@我）")
        );
        let busy = draw(&Showing { processing: true, ..showing });
        assert_eq!(
            (busy.asks, busy.hint, busy.headline.as_str()),
            (CardQuestion::Nothing, None, "处理中…")
        );
        let silent = draw(&Showing { words_answer: false, ..showing });
        assert_eq!(silent.hint, None);
    }
}
