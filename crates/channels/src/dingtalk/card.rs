//! The variables of a card's template. All are texts, and none may be longer than a kilobyte: more is
//! silently not shown, so it is cut here and said to be.

use std::collections::BTreeMap;

use serde_json::json;

use super::gesture::FIRST_STEP;
use super::markdown::{flow, link};
use crate::card::{Button, Card, CardQuestion, Rendered, Tone, clipped};
use crate::limits::{BUTTONS_MAX, DINGTALK_VALUE_BYTES_MAX};

/// A quarter of the bytes, because a character may take four.
const HEADLINE_CHARACTERS_MAX: usize = DINGTALK_VALUE_BYTES_MAX / 4;

/// The `cardParamMap`.
pub fn variables(card: &Card) -> Rendered {
    // A template has room for two buttons or five options; it has no forms.
    let drawable = match &card.asks {
        CardQuestion::Nothing | CardQuestion::Decide { .. } | CardQuestion::Confirm { .. } => true,
        CardQuestion::Choose { options, .. } => options.len() <= BUTTONS_MAX,
        // Several are chosen in words.
        CardQuestion::ChooseSeveral { .. } => card.hint.is_some(),
        CardQuestion::Fill { .. } => false,
    };
    let card = if drawable { card.clone() } else { card.elsewhere() };
    let fits = |card: &Card| call(card).len() <= DINGTALK_VALUE_BYTES_MAX;
    let mut fitted = card.fitted(fits);
    if !fits(&fitted) {
        // A title so long that nothing else has room: the link is what must be seen.
        fitted = Card { title: clipped(&fitted.title, 20), outcome: None, ..fitted };
    }
    let value: BTreeMap<&str, String> = map(&fitted);
    Rendered { value: json!(value), accepts_approval: fitted.asks.accepts_approval() }
}

/// What is asked and nothing else: a variable has little room, and every other word would take it from
/// the call.
fn call(card: &Card) -> String {
    flow(card.flow_of_the_call()).chain(link(card)).collect::<Vec<_>>().join("\n\n")
}

/// Who asks, who may answer, who voted, and how to answer in words.
fn status_text(card: &Card) -> String {
    let lines: Vec<String> = card.hint.iter().cloned().chain(card.facts()).collect();
    let text = lines.join("\n");
    // A quarter of the bytes is safe; mostly a character takes less.
    let mut characters = text.chars().count();
    let mut shown = text.clone();
    while shown.len() > DINGTALK_VALUE_BYTES_MAX {
        characters -= 1 + (shown.len() - DINGTALK_VALUE_BYTES_MAX) / 4;
        shown = clipped(&text, characters);
    }
    shown
}

fn map(card: &Card) -> BTreeMap<&'static str, String> {
    let mut map = BTreeMap::from([
        ("title", clipped(&card.headline, HEADLINE_CHARACTERS_MAX)),
        ("markdown", call(card)),
        ("risk", card.risk.name().to_owned()),
        ("status", status(card.tone).to_owned()),
        ("statusText", status_text(card)),
        ("showButtons", (card.asks != CardQuestion::Nothing).to_string()),
    ]);
    let mut point = |button: &Button| {
        map.insert("rid", button.pointer.key.as_str().to_owned());
        map.insert("nonce", button.pointer.nonce.as_str().to_owned());
    };
    match &card.asks {
        CardQuestion::Decide { allow: Some(allow), deny, .. } => {
            point(allow);
            map.insert("allowText", allow.label.clone());
            map.insert("denyText", deny.label.clone());
            // The template says what its buttons mean; that this is only a first step, the nonce says.
            if allow.asks_twice {
                map.insert("nonce", format!("{FIRST_STEP}{}", allow.pointer.nonce.as_str()));
            }
        }
        CardQuestion::Confirm { allow, deny, .. } => {
            point(allow);
            map.insert("allowText", allow.label.clone());
            map.insert("denyText", deny.label.clone());
        }
        CardQuestion::Choose { options, deny } => {
            point(deny);
            map.insert("denyText", deny.label.clone());
            let names = ["opt1", "opt2", "opt3", "opt4", "opt5"];
            map.extend(names.into_iter().zip(options.iter().map(|option| option.label.clone())));
        }
        // A button without a label is not drawn. What a card had before stays unless it is written over.
        CardQuestion::Decide { allow: None, deny, .. }
        | CardQuestion::ChooseSeveral { deny, .. }
        | CardQuestion::Fill { deny, .. } => {
            point(deny);
            map.insert("denyText", deny.label.clone());
            for name in ["allowText", "opt1", "opt2", "opt3", "opt4", "opt5"] {
                map.insert(name, String::new());
            }
        }
        CardQuestion::Nothing => {}
    }
    map
}

fn status(tone: Tone) -> &'static str {
    match tone {
        Tone::Waiting => "pending",
        Tone::Yes => "approved",
        Tone::No => "denied",
        Tone::Over => "closed",
        Tone::Doubt => "in_doubt",
    }
}

#[cfg(test)]
mod tests {
    use super::super::markdown::tests::split;
    use super::*;
    use crate::card::hostile;
    use crate::card::sample::{check_snapshots, long, long_names, one_line, samples};

    #[test]
    fn every_kind_of_hold() {
        check_snapshots("dingtalk_card", |card| variables(card).value);
    }

    #[test]
    fn i47_no_foreign_line_is_drawn_as_ours() {
        hostile::check("dingtalk card", |card| {
            let value = variables(card).value;
            let mut drawn = hostile::Drawn::default();
            split(value["markdown"].as_str().unwrap(), &mut drawn);
            drawn.say(value["title"].as_str().unwrap());
            drawn.say(value["statusText"].as_str().unwrap());
            drawn
        });
    }

    #[test]
    fn a_call_has_nearly_all_the_room_that_there_is() {
        let takes = |bytes: usize| variables(&one_line(bytes)).accepts_approval;
        assert!(takes(800), "{}", variables(&one_line(800)).value);
        assert!(!takes(1_000));
    }

    #[test]
    fn a_dangerous_yes_takes_two_presses() {
        let (_, card) = samples().into_iter().find(|(name, _)| *name == "approve").unwrap();
        assert_eq!(variables(&card).value["nonce"], "~k3x9ab");
        assert_eq!(variables(&card.asking_once_more()).value["nonce"], "k3x9ab");
        let (_, card) = samples().into_iter().find(|(name, _)| *name == "secret").unwrap();
        assert_eq!(variables(&card).value["nonce"], "k3x9ab");
    }

    #[test]
    fn no_variable_is_longer_than_the_platform_shows() {
        let more = [("long", long(2_000)), ("names", long_names())];
        for (name, card) in samples().into_iter().chain(more) {
            let value = variables(&card).value;
            for (key, text) in value.as_object().unwrap() {
                assert!(text.as_str().unwrap().len() <= DINGTALK_VALUE_BYTES_MAX, "{name}: {key}");
                assert!(key.len() <= 100);
            }
        }
        let cut = variables(&long(2_000));
        assert!(!cut.accepts_approval);
        // A no can still be said, with the button and in words.
        assert_eq!(cut.value["showButtons"], "true");
        assert_eq!((&cut.value["allowText"], &cut.value["denyText"]), (&json!(""), &json!("Deny")));
        let hint = cut.value["statusText"].as_str().unwrap();
        assert!(hint.starts_with("Or reply: deny / deny: your reason"), "{hint}");
        let names = variables(&long_names()).value["markdown"].to_string();
        assert!(names.contains("](https://hold.example.org/"), "the link is there: {names}");
    }
}
