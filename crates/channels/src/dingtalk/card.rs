//! The variables of a card's template. All are texts, and none may be longer than a kilobyte: more is
//! silently not shown, so it is cut here and said to be.

use std::collections::BTreeMap;

use serde_json::json;

use super::markdown::text;
use crate::card::{Asks, Button, Card, Rendered, Tone, clipped};
use crate::limits::{BUTTONS_MAX, DINGTALK_VALUE_BYTES_MAX};

/// A quarter of the bytes, because a character may take four.
const HEADLINE_CHARACTERS_MAX: usize = DINGTALK_VALUE_BYTES_MAX / 4;

/// The `cardParamMap`.
pub fn variables(card: &Card) -> Rendered {
    // A template has room for two buttons or five options; it has no forms.
    let drawable = match &card.asks {
        Asks::Nothing | Asks::Decide { .. } => true,
        Asks::Choose { options, .. } => options.len() <= BUTTONS_MAX,
        Asks::ChooseSeveral { .. } | Asks::Fill { .. } => false,
    };
    let card = if drawable { card.clone() } else { card.elsewhere() };
    let fits = |card: &Card| text(card).len() <= DINGTALK_VALUE_BYTES_MAX;
    let mut fitted = card.fitted(fits);
    if !fits(&fitted) {
        // Names so long that nothing else has room: the link is what must be seen.
        let title = clipped(&fitted.title, 20);
        let headline = clipped(&fitted.headline, 40);
        fitted = Card { title, headline, facts: Vec::new(), ..fitted };
    }
    let value: BTreeMap<&str, String> = map(&fitted);
    Rendered { value: json!(value), takes_a_yes: fitted.asks.takes_a_yes() }
}

fn map(card: &Card) -> BTreeMap<&'static str, String> {
    let mut map = BTreeMap::from([
        ("title", clipped(&card.headline, HEADLINE_CHARACTERS_MAX)),
        ("markdown", text(card)),
        ("risk", card.risk.name().to_owned()),
        ("status", status(card.tone).to_owned()),
        ("statusText", clipped(&card.headline, HEADLINE_CHARACTERS_MAX)),
        ("showButtons", card.asks.takes_a_yes().to_string()),
    ]);
    let mut point = |button: &Button| {
        map.insert("rid", button.pointer.key.as_str().to_owned());
        map.insert("nonce", button.pointer.nonce.as_str().to_owned());
    };
    match &card.asks {
        Asks::Decide { allow: Some(allow), deny } => {
            point(allow);
            map.insert("allowText", allow.label.clone());
            map.insert("denyText", deny.label.clone());
        }
        Asks::Choose { options, deny } => {
            point(deny);
            map.insert("denyText", deny.label.clone());
            let names = ["opt1", "opt2", "opt3", "opt4", "opt5"];
            map.extend(names.into_iter().zip(options.iter().map(|option| option.label.clone())));
        }
        _ => {}
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
    use super::*;
    use crate::card::sample::{check_snapshots, long, long_names, samples};

    #[test]
    fn every_kind_of_hold() {
        check_snapshots("dingtalk_card", |card| variables(card).value);
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
        assert!(!cut.takes_a_yes);
        assert_eq!(cut.value["showButtons"], "false");
        let names = variables(&long_names()).value["markdown"].to_string();
        assert!(names.contains("](https://hold.example.org/"), "the link is there: {names}");
    }
}
