//! The modal of a form.

use ports::channel::Pointer;
use serde_json::{Value, json};

use super::blocks::{option, plain};
use crate::card::{Button, Card, CardField, CardInput, CardQuestion, CardWords};
use crate::limits::REASON_CHARACTERS_MAX;

/// The `view` of `views.open`; `None` if there is no form to fill in. What it says it is for travels in
/// `private_metadata`, and is believed no more than a button.
pub fn modal(card: &Card) -> Option<Value> {
    let words = CardWords(card.language);
    let (blocks, submit): (Vec<Value>, &Button) = match &card.asks {
        CardQuestion::Fill { fields, submit, .. } => {
            (fields.iter().map(|field| input(field, words)).collect(), submit)
        }
        CardQuestion::ChooseSeveral { options, submit, .. } => {
            let several = json!({
                "type": "multi_static_select", "action_id": "choices", "placeholder": plain(words.choose(), 150),
                "options": options.iter().map(option).collect::<Vec<_>>(),
            });
            (vec![block("choices", words.choose(), true, several)], submit)
        }
        CardQuestion::Nothing
        | CardQuestion::Decide { .. }
        | CardQuestion::Confirm { .. }
        | CardQuestion::Choose { .. } => {
            return None;
        }
    };
    Some(view(blocks, submit.pointer.to_string(), words.submit(), words))
}

/// The `view` in which the reason of a no is written.
pub(super) fn reason(card: &Card, deny: &Pointer) -> Value {
    let words = CardWords(card.language);
    let element = json!({
        "type": "plain_text_input", "action_id": "reason", "multiline": true,
        "max_length": REASON_CHARACTERS_MAX,
    });
    let mut input = block("reason", words.reason(), true, element);
    input["hint"] = plain(words.reason_for_the_agent(), 2000);
    view(vec![input], deny.to_string(), words.deny(), words)
}

fn view(blocks: Vec<Value>, metadata: String, submit: &str, words: CardWords) -> Value {
    json!({
        "type": "modal",
        "callback_id": "hp_form",
        "private_metadata": metadata,
        // Twenty-four characters are all there is.
        "title": plain("Holdpoint", 24),
        "submit": plain(submit, 24),
        "close": plain(words.back(), 24),
        "blocks": blocks,
    })
}

fn block(name: &str, label: &str, required: bool, element: Value) -> Value {
    json!({
        "type": "input", "block_id": name, "optional": !required, "label": plain(label, 2000), "element": element,
    })
}

fn input(field: &CardField, words: CardWords) -> Value {
    let pick = |kind: &str, texts: Vec<(&str, &str)>| {
        let options: Vec<Value> = texts
            .into_iter()
            .map(|(text, value)| json!({"text": plain(text, 75), "value": value}))
            .collect();
        json!({"type": kind, "action_id": field.name, "options": options})
    };
    let element = match &field.input {
        CardInput::Text => {
            json!({"type": "plain_text_input", "action_id": field.name, "multiline": true})
        }
        CardInput::Number => {
            json!({"type": "number_input", "action_id": field.name, "is_decimal_allowed": true})
        }
        // Only these are drawn so, which tells a yes from a text `true` when it comes back.
        CardInput::YesNo => {
            pick("radio_buttons", vec![(words.yes(), "true"), (words.no(), "false")])
        }
        CardInput::Pick(texts) => {
            let texts = texts.iter().map(|text| (text.as_str(), text.as_str()));
            pick("static_select", texts.collect())
        }
    };
    block(&field.name, &field.label, field.required, element)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::card::sample::{check_snapshots, samples};

    #[test]
    fn every_kind_of_form() {
        check_snapshots("slack_modal", |card| modal(card).unwrap_or_default());
        let forms: Vec<&str> = samples()
            .iter()
            .filter(|(_, card)| modal(card).is_some())
            .map(|(name, _)| *name)
            .collect();
        let wanted = ["choose_several", "fill", "choose_several_zh", "fill_zh"];
        assert_eq!(forms, wanted, "a secret is not asked for in a chat");
    }
}
