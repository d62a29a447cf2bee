//! A card 2.0.
//!
//! Foreign text goes into `plain_text` elements only: there nothing is markup, so nothing needs to be
//! escaped, and nothing can be. It stands in a box with a ground of its own, so that a line of it that is
//! wrapped cannot pass for one of ours.

use domain::hold::Risk;
use domain::view::FOREIGN_MARK;
use ports::channel::ButtonAction;
use serde_json::{Value, json};

use crate::card::{
    Button, Card, CardBlock, CardField, CardInput, CardQuestion, CardWords, Rendered, Style, Tone,
};
use crate::limits::{
    BUTTONS_MAX, FEISHU_CARD_BYTES_MAX, FEISHU_ELEMENTS_MAX, REASON_CHARACTERS_MAX,
};

pub fn card(card: &Card) -> Rendered {
    card_as(card, Card::clone)
}

/// As `shown` makes it look, once it is known how much of it fits. Whether it takes a yes, in words if
/// not otherwise, does not depend on that.
pub(super) fn card_as(card: &Card, shown: impl Fn(&Card) -> Card) -> Rendered {
    let draw = |card: &Card| draw(&shown(card));
    let fits = |drawn: Value| {
        let elements = drawn["body"]["elements"].as_array().map_or(0, Vec::len);
        elements <= FEISHU_ELEMENTS_MAX && content(&drawn).len() <= FEISHU_CARD_BYTES_MAX
    };
    let fitted = card.fitted(|card| fits(draw(card)));
    Rendered { value: draw(&fitted), accepts_approval: fitted.asks.accepts_approval() }
}

/// As a message carries it: JSON in a JSON string.
pub fn content(card: &Value) -> String {
    Value::String(card.to_string()).to_string()
}

fn draw(card: &Card) -> Value {
    let words = CardWords(card.language);
    let mut elements: Vec<Value> = Vec::new();
    let mut ours: Vec<String> = Vec::new();
    let say_ours = |elements: &mut Vec<Value>, ours: &mut Vec<String>| {
        if !ours.is_empty() {
            elements.push(block(&std::mem::take(ours).join("\n")));
        }
    };
    // It stands in the header.
    let subtitle = CardBlock::Ours(card.subtitle());
    for part in card.flow().into_iter().filter(|part| *part != subtitle) {
        match part {
            CardBlock::Ours(line) => ours.push(line),
            CardBlock::Foreign(lines) => {
                say_ours(&mut elements, &mut ours);
                elements.push(foreign(&lines));
            }
        }
    }
    say_ours(&mut elements, &mut ours);
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
            "template": template(card),
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

/// Foreign lines, each with a mark, in a box whose ground lies under every drawn line.
fn foreign(lines: &[String]) -> Value {
    let text: Vec<String> = lines.iter().map(|line| format!("{FOREIGN_MARK}{line}")).collect();
    json!({
        "tag": "column_set", "background_style": "grey", "columns": [{
            "tag": "column", "width": "weighted", "weight": 1, "padding": "4px 8px 4px 12px",
            "elements": [block(&text.join("\n"))],
        }],
    })
}

/// The colour of the header: the risk while it waits, and then how it ended.
fn template(card: &Card) -> &'static str {
    match (card.tone, card.risk) {
        (Tone::Waiting, Risk::Low) => "blue",
        (Tone::Waiting, Risk::Medium) => "yellow",
        (Tone::Waiting, Risk::High) => "orange",
        (Tone::Waiting, Risk::Critical) => "carmine",
        (Tone::Yes, _) => "green",
        (Tone::No, _) => "red",
        (Tone::Over, _) => "grey",
        (Tone::Doubt, _) => "violet",
    }
}

fn asks(card: &Card, words: CardWords) -> Vec<Value> {
    match &card.asks {
        CardQuestion::Nothing => Vec::new(),
        CardQuestion::Decide { allow, deny, explain } => {
            let allow = allow.as_ref().map(Button::first_step);
            vec![row(allow.iter().chain([deny]).map(button)), reason(explain, words)]
        }
        // The button that counts does not stand where the first one stood.
        CardQuestion::Confirm { back, allow, deny } => {
            vec![row([back, deny].map(button)), row([button(allow)])]
        }
        CardQuestion::Choose { options, deny } if options.len() <= BUTTONS_MAX => {
            vec![row(options.iter().map(button)), row([button(deny)])]
        }
        CardQuestion::Choose { options, deny } => {
            let menu = json!({
                "tag": "select_static", "element_id": "hp_menu", "placeholder": plain(words.choose()),
                "options": menu(options),
                "behaviors": [{"type": "callback", "value": form_value(deny)}],
            });
            vec![menu, row([button(deny)])]
        }
        CardQuestion::ChooseSeveral { options, submit, deny } => {
            let several = json!({
                "tag": "multi_select_static", "name": "choices", "required": true,
                "placeholder": plain(words.choose()), "options": menu(options),
            });
            vec![form(vec![several], submit), row([button(deny)])]
        }
        CardQuestion::Fill { fields, submit, deny } => {
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
        Does::Explain => "hp_explain".to_owned(),
        Does::Back => "hp_back".to_owned(),
        Does::Choose(number) => format!("hp_choose_{number}"),
    };
    let kind = if button.style == Style::Danger { "danger_filled" } else { "default" };
    json!({
        "tag": "button", "element_id": id, "type": kind, "text": plain(&button.label),
        "behaviors": [{"type": "callback", "value": button_value(button)}],
    })
}

fn button_value(button: &Button) -> Value {
    let pointer = &button.pointer;
    json!({
        "v": 1, "r": pointer.key.as_str(), "o": pointer.said.to_string(), "n": pointer.nonce.as_str(),
    })
}

/// A menu's own value; which option it was comes beside it.
fn form_value(beside: &Button) -> Value {
    let mut value = button_value(beside);
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
        "text": plain(&submit.label), "behaviors": [{"type": "callback", "value": button_value(submit)}],
    }));
    json!({"tag": "form", "name": "f", "elements": elements})
}

/// A no with words for the agent. What is written comes as `reason` of an ordinary no.
fn reason(explain: &Button, words: CardWords) -> Value {
    let input = json!({
        "tag": "input", "name": "reason", "required": true, "max_length": REASON_CHARACTERS_MAX,
        "placeholder": plain(words.reason_for_the_agent()),
    });
    let name = format!("deny_{}", explain.pointer.key.as_str());
    let send = json!({
        "tag": "button", "name": name, "form_action_type": "submit", "type": "default",
        "text": plain(&explain.label),
        "behaviors": [{"type": "callback", "value": button_value(&explain.saying(ButtonAction::Deny))}],
    });
    json!({"tag": "form", "name": "why", "elements": [input, send]})
}

fn input(field: &CardField, words: CardWords) -> Value {
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
        CardInput::Text | CardInput::Number => json!({
            "tag": "input", "name": field.name, "required": field.required, "label": plain(&field.label),
        }),
        CardInput::YesNo => pick(vec![(words.yes().into(), "true"), (words.no().into(), "false")]),
        CardInput::Pick(texts) => {
            pick(texts.iter().map(|text| (text.clone(), text.as_str())).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::card::hostile;
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

    /// A column set with a ground of its own marks every line in it.
    #[test]
    fn i47_no_foreign_line_is_drawn_as_ours() {
        hostile::check("feishu", |drawn_card| {
            let value = card(drawn_card).value;
            let mut drawn = hostile::Drawn::default();
            let mut header = Vec::new();
            hostile::plain_texts(&value["header"], "content", &mut header);
            header.iter().for_each(|text| drawn.say(text));
            for element in value["body"]["elements"].as_array().unwrap() {
                let mut texts = Vec::new();
                match element["background_style"] == "grey" {
                    true => {
                        hostile::plain_texts(element, "content", &mut texts);
                        let marked =
                            |text: &String| text.lines().all(|line| line.starts_with(FOREIGN_MARK));
                        assert!(texts.iter().all(marked), "{texts:?}");
                        texts.iter().for_each(|text| drawn.quote(text));
                    }
                    // What is picked or filled in is no line of the card.
                    false if element["tag"] == "div" => {
                        hostile::plain_texts(element, "content", &mut texts);
                        texts.iter().for_each(|text| drawn.say(text));
                    }
                    false => {}
                }
            }
            drawn
        });
    }

    #[test]
    fn the_colour_tells_the_risk_and_a_dangerous_yes_takes_two_presses() {
        let find = |name: &str| samples().into_iter().find(|(found, _)| *found == name).unwrap().1;
        let (dangerous, usual) = (find("approve"), find("secret"));
        assert_ne!(card(&dangerous).value["header"], card(&usual).value["header"]);
        let colours: std::collections::BTreeSet<&str> = Risk::ALL
            .into_iter()
            .map(|risk| template(&Card { risk, ..dangerous.clone() }))
            .collect();
        assert_eq!(colours.len(), 4);
        let meant = |card: &Card| {
            let text = super::card(card).value.to_string();
            ["p", "a", "b", "d"].map(|said| text.contains(&format!("\"o\":\"{said}\"")))
        };
        assert_eq!(meant(&usual), [false, true, false, true]);
        assert_eq!(meant(&dangerous), [true, false, false, true]);
        assert_eq!(meant(&dangerous.asking_once_more()), [false, true, true, true]);
    }

    #[test]
    fn what_is_cut_takes_no_yes() {
        let rendered = card(&long(60_000));
        assert!(!rendered.accepts_approval);
        let text = rendered.value.to_string();
        assert!(
            !text.contains("hp_allow") && text.contains("hp_deny") && text.contains("open_url")
        );
        assert!(text.contains("[cut: ") && text.contains("sha256:"), "{text}");
        assert!(is_whole(&card(&long(1_000))), "what fits is not cut");
    }
}
