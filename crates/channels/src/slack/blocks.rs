//! A message in Block Kit.

use serde_json::{Value, json};

use crate::card::{Asks, Button, Card, Does, Rendered, Style, Words, clipped};
use crate::limits::{
    BUTTON_CHARACTERS_MAX, BUTTONS_MAX, SLACK_SECTION_UNITS_MAX, SLACK_SECTIONS_MAX,
};

/// `text` and `blocks` of `chat.postMessage` and `chat.update`.
pub fn message(card: &Card) -> Rendered {
    let fitted = card.fitted(|card| sections(&card.body.text).is_some());
    Rendered { value: draw(&fitted), takes_a_yes: fitted.asks.takes_a_yes() }
}

fn draw(card: &Card) -> Value {
    let mut blocks = vec![
        json!({"type": "header", "text": plain(&card.headline, 150)}),
        json!({"type": "section", "block_id": "hp_title", "text": plain(&card.title, 3000)}),
    ];
    let facts = card.facts.iter().map(|fact| format!("{}: {}", fact.name, fact.value));
    let lines: Vec<String> = [card.subtitle()].into_iter().chain(facts).collect();
    blocks.push(context(lines.iter().map(|line| plain(line, 1000))));
    // A card that does not fit even without its text does not exist: its other parts are short.
    for section in sections(&card.body.text).unwrap_or_default() {
        blocks.push(json!({"type": "section", "text": {"type": "mrkdwn", "text": section}}));
    }
    blocks.extend(card.cut_note().map(|note| context([plain(&note, 1000)])));
    blocks.extend(actions(card));
    blocks.extend(card.hint.as_ref().map(|hint| context([plain(hint, 1000)])));
    if let Some(link) = &card.link {
        let link = format!("<{}|{}>", address(link), Words(card.language).open());
        blocks.push(context([json!({"type": "mrkdwn", "text": link})]));
    }
    let link = card.link.as_deref().unwrap_or_default();
    // Short enough by itself: where blocks are not drawn, this leads to the page.
    let fallback = signs(&format!("{}: {}\n{link}", card.headline, card.title));
    json!({"text": fallback, "blocks": blocks, "unfurl_links": false})
}

/// The text in fences, in pieces of whole lines. `None` if there are too many, or if a line is too long
/// for a piece: a break in it would look like a line's end.
fn sections(text: &str) -> Option<Vec<String>> {
    const FENCES: usize = "```\n\n```".len();
    let mut sections: Vec<String> = Vec::new();
    let mut piece = String::new();
    // Counted as it grows: a text of a megabyte may have as many lines.
    let mut held = 0;
    for line in literal(text.trim_end()).split('\n') {
        let more = units(line);
        if more + FENCES > SLACK_SECTION_UNITS_MAX || sections.len() >= SLACK_SECTIONS_MAX {
            return None;
        }
        if !piece.is_empty() && held + 1 + more + FENCES > SLACK_SECTION_UNITS_MAX {
            sections.push(std::mem::take(&mut piece));
            held = 0;
        }
        if !piece.is_empty() {
            piece.push('\n');
            held += 1;
        }
        piece.push_str(line);
        held += more;
    }
    sections.push(piece);
    let fenced = sections.iter().map(|piece| format!("```\n{piece}\n```"));
    (sections.len() <= SLACK_SECTIONS_MAX).then(|| fenced.collect())
}

/// Inside a fence only the fence itself and the three signs that Slack names are special. They are
/// escaped as Slack says; a backtick cannot be, and is written as its code point.
pub(super) fn literal(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '`' => out.push_str("⟦U+0060⟧"),
            c => out.push(c),
        }
    }
    out
}

/// No markup and no `:smile:` in here, only the three signs. What is too long is cut with a visible
/// sign, and never inside an escape or a mark.
pub(super) fn plain(text: &str, units_max: usize) -> Value {
    let mut characters = text.chars().count().min(units_max);
    let escaped = loop {
        let escaped = signs(&clipped(text, characters));
        let over = units(&escaped).saturating_sub(units_max);
        if over == 0 {
            break escaped;
        }
        // The longest escape has five letters for one.
        characters -= over.div_ceil(5).min(characters);
    };
    json!({"type": "plain_text", "text": escaped, "emoji": false})
}

pub(super) fn signs(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

fn context(elements: impl IntoIterator<Item = Value>) -> Value {
    json!({"type": "context", "elements": elements.into_iter().collect::<Vec<_>>()})
}

fn actions(card: &Card) -> Option<Value> {
    let words = Words(card.language);
    let (elements, beside): (Vec<Value>, &Button) = match &card.asks {
        Asks::Nothing => return None,
        Asks::Decide { allow, deny } => (allow.iter().chain([deny]).map(button).collect(), deny),
        Asks::Choose { options, deny } if options.len() <= BUTTONS_MAX => {
            (options.iter().chain([deny]).map(button).collect(), deny)
        }
        Asks::Choose { options, deny } => {
            let menu = json!({
                "type": "static_select", "action_id": "hp_menu", "placeholder": plain(words.choose(), 150),
                "options": options.iter().map(option).collect::<Vec<_>>(),
            });
            (vec![menu, button(deny)], deny)
        }
        // Forms open in a modal, which the same button asks for.
        Asks::ChooseSeveral { submit, deny, .. } | Asks::Fill { submit, deny, .. } => {
            let opens = Button { label: words.answer().into(), ..submit.clone() };
            (vec![button(&opens), button(deny)], deny)
        }
    };
    let block = format!("hp:{}", beside.pointer.key.as_str());
    Some(json!({"type": "actions", "block_id": block, "elements": elements}))
}

fn button(button: &Button) -> Value {
    let id = match button.does {
        Does::Allow => "hp_allow".to_owned(),
        Does::Deny => "hp_deny".to_owned(),
        Does::Submit => "hp_form".to_owned(),
        Does::Choose(number) => format!("hp_choose_{number}"),
    };
    let mut drawn = json!({
        "type": "button", "action_id": id, "text": label(&button.label), "value": button.pointer.to_string(),
    });
    if button.style == Style::Danger {
        drawn["style"] = "danger".into();
    }
    drawn
}

pub(super) fn option(button: &Button) -> Value {
    json!({"text": label(&button.label), "value": button.pointer.to_string()})
}

fn label(text: &str) -> Value {
    plain(text, BUTTON_CHARACTERS_MAX)
}

/// Our own address, in a form that nothing of Slack's can end.
fn address(link: &str) -> String {
    link.replace('&', "&amp;").replace('<', "%3C").replace('>', "%3E").replace('|', "%7C")
}

/// Slack counts as JavaScript does.
fn units(text: &str) -> usize {
    text.encode_utf16().count()
}

#[cfg(test)]
mod tests {
    use domain::visible::visible_multiline;
    use proptest::prelude::*;

    use super::*;
    use crate::card::sample::{
        check_snapshots, every_character, is_whole, long, long_names, read_strictly, samples,
        unmarked,
    };

    fn read(mrkdwn: &str) -> String {
        read_strictly(mrkdwn, &[("&lt;", '<'), ("&gt;", '>'), ("&amp;", '&')], "<>&`")
    }

    #[test]
    fn every_kind_of_hold() {
        check_snapshots("slack", |card| message(card).value);
    }

    #[test]
    fn a_message_stays_within_the_platforms_bounds() {
        let length = |value: &Value| units(value.as_str().unwrap_or_default());
        for (name, card) in
            samples().into_iter().chain([("long", long(90_000)), ("names", long_names())])
        {
            let message = message(&card).value;
            let blocks = message["blocks"].as_array().unwrap();
            assert!(blocks.len() <= 50, "{name}");
            assert!(length(&message["text"]) <= 4000, "{name}");
            for block in blocks {
                let most = if block["type"] == "header" { 150 } else { 3000 };
                assert!(length(&block["text"]["text"]) <= most, "{name}");
                let elements = block["elements"].as_array().map_or(&[][..], Vec::as_slice);
                assert!(
                    elements.len() <= if block["type"] == "context" { 10 } else { 25 },
                    "{name}"
                );
                for element in elements.iter().filter(|element| element["type"] == "button") {
                    assert!(length(&element["text"]["text"]) <= 75, "{name}: {element}");
                    assert!(length(&element["value"]) <= 64, "{name}");
                }
            }
        }
    }

    #[test]
    fn what_is_cut_takes_no_yes() {
        for card in [long(90_000), crate::card::sample::one_line(4_000)] {
            let rendered = message(&card);
            assert!(!rendered.takes_a_yes);
            let text = rendered.value.to_string();
            assert!(!text.contains("hp_allow") && text.contains("hp_deny"), "{text}");
            assert!(text.contains("[cut: "), "{text}");
        }
        assert!(is_whole(&message(&long(5_000))));
    }

    #[test]
    fn nobody_is_called_and_no_fence_is_closed() {
        assert_eq!(literal("<!channel> ```"), "&lt;!channel&gt; ⟦U+0060⟧⟦U+0060⟧⟦U+0060⟧");
    }

    #[test]
    fn every_character_can_be_read_back() {
        every_character(|shown| assert_eq!(unmarked(&read(&literal(shown))), unmarked(shown)));
    }

    proptest! {
        #[test]
        fn any_text_can_be_read_back(text in any::<String>(), tricky in "[&<>`amplt;⟦⟧\n]{0,12}") {
            for text in [text, tricky] {
                prop_assert_eq!(unmarked(&read(&literal(&visible_multiline(&text)))), text);
            }
        }
    }
}
