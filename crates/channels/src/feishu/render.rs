//! A hold as a card of this app.
//!
//! A card can be changed for fourteen days, and its buttons live for thirty. A question that may wait
//! longer than the first gets none: after its end they would look alive, and nobody could take them
//! away. Its link leads to the page, and words answer as ever.

use domain::hold::Hold;
use domain::time::Timestamp;
use ports::channel::Showing;

use super::card;
use super::settings::FeishuSettings;
use crate::card::{Card, CardQuestion, CardWords, Rendered};
use crate::limits::FEISHU_CARD_MS;

/// `since`: when the message was sent, or is.
pub(super) fn render_card(
    showing: &Showing<'_>,
    settings: &FeishuSettings,
    mention: bool,
    since: Timestamp,
) -> Rendered {
    let drawn = Card::showing(showing, settings.language, &settings.zone, mention);
    match outlives(showing.hold, since) {
        true => card::card_as(&drawn, unpressable),
        false => card::card(&drawn),
    }
}

/// Whether it may still be asked when its card can no longer be changed.
fn outlives(hold: &Hold, since: Timestamp) -> bool {
    hold.is_pending() && hold.expires_at.is_none_or(|at| at > since.plus_ms(FEISHU_CARD_MS))
}

/// The same card without anything to press but the link.
fn unpressable(card: &Card) -> Card {
    if card.asks == CardQuestion::Nothing {
        return card.clone();
    }
    let lasting = CardWords(card.language).lasting();
    let hint = match &card.hint {
        Some(hint) => format!("{lasting}\n{hint}"),
        None => lasting.to_owned(),
    };
    Card { asks: CardQuestion::Nothing, hint: Some(hint), ..card.clone() }
}

#[cfg(test)]
mod tests {
    use domain::person::People;
    use ports::channel::{DeliveryKey, Nonce};
    use reqwest::Url;

    use super::*;
    use ports::secret_string::SecretString;

    const DAY_MS: u64 = 24 * 3_600_000;
    const SENT: Timestamp = Timestamp::from_ms(1_700_000_000_000);

    fn shown(expires_at: Option<Timestamp>, link: Option<&str>) -> Rendered {
        let hold = Hold { expires_at, ..crate::webhook::sample::hold() };
        let (people, key, nonce) =
            (People::default(), DeliveryKey::new("7Q2"), Nonce::new("k3x9ab"));
        let url = Url::parse("https://open.feishu.cn").unwrap();
        let settings = FeishuSettings::new("feishu", "cli_1", SecretString::new("s"), url);
        let showing = Showing {
            hold: &hold,
            people: &people,
            key: &key.unwrap(),
            nonce: &nonce.unwrap(),
            link,
            words_answer: true,
            code: Some("7K3F"),
            armed: false,
            processing: false,
            stands: false,
        };
        render_card(&showing, &settings, false, SENT)
    }

    #[test]
    fn a_question_that_outlives_its_card_has_a_link_and_no_buttons() {
        let link = Some("https://hold.example.org/holds/1");
        for days in [1, 12] {
            let card = shown(Some(SENT.plus_ms(days * DAY_MS)), link);
            let text = card.value.to_string();
            assert!(card.accepts_approval && text.contains("hp_allow") && text.contains("hp_deny"));
            assert!(!text.contains("没有按钮"), "{text}");
        }
        for expires_at in [Some(SENT.plus_ms(14 * DAY_MS)), Some(SENT.plus_ms(60 * DAY_MS)), None] {
            let card = shown(expires_at, link);
            let text = card.value.to_string();
            assert!(!text.contains("callback"), "{text}");
            assert!(text.contains("open_url") && text.contains("没有按钮"), "{text}");
            assert!(text.contains("确认 7K3F"), "words answer as ever: {text}");
            assert!(card.accepts_approval, "everything is shown");
        }
    }

    #[test]
    fn what_is_decided_has_nothing_to_say_about_buttons() {
        let settled = Hold { expires_at: None, ..crate::webhook::sample::hold() };
        assert!(outlives(&settled, SENT));
        let mut settled = settled;
        settled.state = domain::hold::HoldState::Expired { at: SENT };
        assert!(!outlives(&settled, SENT));
    }
}
