//! A card 2.0.
//!
//! Foreign text goes into `plain_text` elements only: there nothing is markup, so nothing needs to be
//! escaped, and nothing can be.

use serde_json::{Value, json};

use crate::card::{Asks, Button, Card, Field, Input, Rendered, Style, Tone, Words};
use crate::limits::{BUTTONS_MAX, FEISHU_CARD_BYTES_MAX};

pub fn card(card: &Card) -> Rendered {
    card_as(card, Card::clone)
}

/// As `shown` makes it look, once it is known how much of it fits. Whether it takes a yes, in words if
/// not otherwise, does not depend on that.
pub(super) fn card_as(card: &Card, shown: impl Fn(&Card) -> Card) -> Rendered {
    let draw = |card: &Card| draw(&shown(card));
    let fitted = card.fitted(|card| content(&draw(card)).len() <= FEISHU_CARD_BYTES_MAX);
    Rendered { value: draw(&fitted), takes_a_yes: fitted.asks.takes_a_yes() }
}

/// As a message carries it: JSON in a JSON string.
pub fn content(card: &Value) -> String {
    Value::String(card.to_string()).to_string()
}

fn draw(card: &Card) -> Value {
    let words = Words(card.language);
    let mut elements: Vec<Value> = vec![block(&card.title)];
    elements.extend(card.facts.iter().map(|fact| block(&format!("{}: {}", fact.name, fact.value))));
    elements.push(json!({"tag": "hr"}));
    elements.push(block(card.body.text.trim_end()));
    elements.extend(card.cut_note().map(|note| block(&note)));
    elements.extend(asks(card, words));
    if let Some(link) = &card.link {
        let opens = json!([{"type": "open_url", "default_url": link}]);
        elements.push(json!({
            "tag": "button", "element_id": "hp_open", "type": "text", "text": plain(words.open()), "behaviors": opens,
        }));
    }
    elements.extend(card.hint.iter().map(|hint| block(hint)));
    json!({
        "schema": "2.0",
        "config": {
            "update_multi": true,
            "enable_forward": false,
            "enable_forward_interaction": false,
            "summary": {"content": format!("{}: {}", card.headline, card.title)},
        },
        "header": {
            "template": template(card.tone),
            "title": plain(&card.headline),
            "subtitle": plain(&card.subtitle()),
        },
        "body": {"direction": "vertical", "elements": elements},
    })
}

fn plain(text: &str) -> Value {
    json!({"tag": "plain_text", "content": text})
}

fn block(text: &str) -> Value {
    json!({"tag": "div", "text": plain(text)})
}

fn template(tone: Tone) -> &'static str {
    match tone {
        Tone::Waiting => "orange",
        Tone::Yes => "green",
        Tone::No => "red",
        Tone::Over => "grey",
        Tone::Doubt => "yellow",
    }
}

fn asks(card: &Card, words: Words) -> Vec<Value> {
    match &card.asks {
        Asks::Nothing => Vec::new(),
        Asks::Decide { allow, deny } => vec![row(allow.iter().chain([deny]).map(button))],
        Asks::Choose { options, deny } if options.len() <= BUTTONS_MAX => {
            vec![row(options.iter().map(button)), row([button(deny)])]
        }
        Asks::Choose { options, deny } => {
            let menu = json!({
                "tag": "select_static", "element_id": "hp_menu", "placeholder": plain(words.choose()),
                "options": menu(options),
                "behaviors": [{"type": "callback", "value": form_value(deny)}],
            });
            vec![menu, row([button(deny)])]
        }
        Asks::ChooseSeveral { options, submit, deny } => {
            let several = json!({
                "tag": "multi_select_static", "name": "choices", "required": true,
                "placeholder": plain(words.choose()), "options": menu(options),
            });
            vec![form(vec![several], submit), row([button(deny)])]
        }
        Asks::Fill { fields, submit, deny } => {
            let inputs = fields.iter().map(|field| input(field, words)).collect();
            vec![form(inputs, submit), row([button(deny)])]
        }
    }
}

fn row(buttons: impl IntoIterator<Item = Value>) -> Value {
    let columns: Vec<Value> = buttons
        .into_iter()
        .map(|button| json!({"tag": "column", "width": "auto", "elements": [button]}))
        .collect();
    json!({"tag": "column_set", "horizontal_spacing": "8px", "columns": columns})
}

fn button(button: &Button) -> Value {
    use crate::card::Does;
    let id = match button.does {
        Does::Allow => "hp_allow".to_owned(),
        Does::Deny => "hp_deny".to_owned(),
        Does::Submit => "hp_submit".to_owned(),
        Does::Choose(number) => format!("hp_choose_{number}"),
    };
    let kind = if button.style == Style::Danger { "danger_filled" } else { "default" };
    json!({
        "tag": "button", "element_id": id, "type": kind, "text": plain(&button.label),
        "behaviors": [{"type": "callback", "value": value(button)}],
    })
}

fn value(button: &Button) -> Value {
    let pointer = &button.pointer;
    json!({
        "v": 1, "r": pointer.key.as_str(), "o": pointer.said.to_string(), "n": pointer.nonce.as_str(),
    })
}

/// A menu's own value; which option it was comes beside it.
fn form_value(beside: &Button) -> Value {
    let mut value = value(beside);
    value["o"] = "f".into();
    value
}

fn menu(options: &[Button]) -> Vec<Value> {
    let option = |option: &Button| json!({"text": plain(&option.label), "value": option.pointer.said.to_string()});
    options.iter().map(option).collect()
}

fn form(mut elements: Vec<Value>, submit: &Button) -> Value {
    let name = format!("submit_{}", submit.pointer.key.as_str());
    elements.push(json!({
        "tag": "button", "name": name, "form_action_type": "submit", "type": "primary",
        "text": plain(&submit.label), "behaviors": [{"type": "callback", "value": value(submit)}],
    }));
    json!({"tag": "form", "name": "f", "elements": elements})
}

fn input(field: &Field, words: Words) -> Value {
    let pick = |options: Vec<(String, &str)>| {
        let options: Vec<Value> = options
            .into_iter()
            .map(|(text, value)| json!({"text": plain(&text), "value": value}))
            .collect();
        json!({
            "tag": "select_static", "name": field.name, "required": field.required,
            "placeholder": plain(&field.label), "options": options,
        })
    };
    match &field.input {
        Input::Text | Input::Number => json!({
            "tag": "input", "name": field.name, "required": field.required, "label": plain(&field.label),
        }),
        Input::YesNo => pick(vec![(words.yes().into(), "true"), (words.no().into(), "false")]),
        Input::Pick(texts) => {
            pick(texts.iter().map(|text| (text.clone(), text.as_str())).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::card::sample::{check_snapshots, is_whole, long, long_names, samples};

    #[test]
    fn every_kind_of_hold() {
        check_snapshots("feishu", |drawn| card(drawn).value);
    }

    #[test]
    fn a_card_stays_within_the_platforms_bounds() {
        for (name, drawn) in samples().into_iter().chain([("names", long_names())]) {
            let rendered = card(&drawn).value;
            let text = content(&rendered);
            assert!(text.len() <= FEISHU_CARD_BYTES_MAX, "{name}");
            assert!(rendered["body"]["elements"].as_array().unwrap().len() <= 200, "{name}");
            for id in text.split("element_id\\\":\\\"").skip(1) {
                assert!(id.split("\\\"").next().unwrap().len() <= 20, "{id}");
            }
        }
    }

    #[test]
    fn what_is_cut_takes_no_yes() {
        let rendered = card(&long(60_000));
        assert!(!rendered.takes_a_yes);
        let text = rendered.value.to_string();
        assert!(
            !text.contains("hp_allow") && text.contains("hp_deny") && text.contains("open_url")
        );
        assert!(text.contains("[cut: ") && text.contains("sha256:"), "{text}");
        assert!(is_whole(&card(&long(1_000))), "what fits is not cut");
    }
}
