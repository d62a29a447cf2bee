//! A message in Block Kit.

use serde_json::{Value, json};

use crate::card::{
    Button, Card, CardBlock, CardQuestion, CardWords, Does, Rendered, Style, clipped,
};
use crate::limits::{
    BUTTON_CHARACTERS_MAX, BUTTONS_MAX, SLACK_FLOW_BLOCKS_MAX, SLACK_SECTION_UNITS_MAX,
    SLACK_TEXT_UNITS_MAX,
};

/// `text` and `blocks` of `chat.postMessage` and `chat.update`.
pub fn message(card: &Card) -> Rendered {
    let fitted = card.fitted(|card| flow(card).is_some());
    Rendered { value: draw(&fitted), accepts_approval: fitted.asks.accepts_approval() }
}

fn draw(card: &Card) -> Value {
    let mut blocks = vec![json!({"type": "header", "text": plain(&card.headline, 150)})];
    // A card that does not fit even without its text does not exist: its other parts are short.
    blocks.extend(flow(card).unwrap_or_default());
    blocks.extend(actions(card));
    blocks.extend(card.hint.as_ref().map(|hint| context([plain(hint, 1000)])));
    if let Some(link) = &card.link {
        let link = format!("<{}|{}>", address(link), CardWords(card.language).open());
        blocks.push(context([json!({"type": "mrkdwn", "text": link})]));
    }
    let link = card.link.as_deref().unwrap_or_default();
    // Short enough by itself: where blocks are not drawn, this leads to the page.
    let fallback = signs(&format!("{}: {}\n{link}", card.headline, card.title));
    json!({"text": fallback, "blocks": blocks, "unfurl_links": false})
}

/// What is to be read. Our own lines are plain text, and foreign lines stand in fences, which Slack
/// draws as a box around every line. `None` if there is too much of it.
fn flow(card: &Card) -> Option<Vec<Value>> {
    let mut blocks = Vec::new();
    let mut ours: Vec<String> = Vec::new();
    let mut held = 0;
    for block in card.flow() {
        match block {
            CardBlock::Ours(line) => ours.push(line),
            CardBlock::Foreign(lines) => {
                say_ours(&mut blocks, &mut ours);
                for fence in fences(&lines)? {
                    held += units(&fence);
                    blocks.push(
                        json!({"type": "section", "text": {"type": "mrkdwn", "text": fence}}),
                    );
                }
            }
        }
        if held > SLACK_TEXT_UNITS_MAX || blocks.len() > SLACK_FLOW_BLOCKS_MAX {
            return None;
        }
    }
    say_ours(&mut blocks, &mut ours);
    (blocks.len() <= SLACK_FLOW_BLOCKS_MAX).then_some(blocks)
}

fn say_ours(blocks: &mut Vec<Value>, ours: &mut Vec<String>) {
    if !ours.is_empty() {
        let lines = std::mem::take(ours).join("\n");
        blocks.push(context([plain(&lines, SLACK_SECTION_UNITS_MAX)]));
    }
}

/// Lines in fences, in pieces of whole lines. `None` if a line is too long for a piece: a break in it
/// would look like a line's end.
fn fences(lines: &[String]) -> Option<Vec<String>> {
    const FENCES: usize = "```\n\n```".len();
    let mut pieces: Vec<String> = Vec::new();
    let mut piece = String::new();
    // Counted as it grows: a text of a megabyte may have as many lines.
    let (mut held, mut begun) = (0, false);
    for line in lines {
        let line = literal(line);
        let more = units(&line);
        if more + FENCES > SLACK_SECTION_UNITS_MAX || pieces.len() > SLACK_FLOW_BLOCKS_MAX {
            return None;
        }
        if begun && held + 1 + more + FENCES > SLACK_SECTION_UNITS_MAX {
            pieces.push(std::mem::take(&mut piece));
            (held, begun) = (0, false);
        }
        if begun {
            piece.push('\n');
            held += 1;
        }
        piece.push_str(&line);
        (held, begun) = (held + more, true);
    }
    pieces.push(piece);
    Some(pieces.iter().map(|piece| format!("```\n{piece}\n```")).collect())
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
    let words = CardWords(card.language);
    let (elements, beside): (Vec<Value>, &Button) = match &card.asks {
        CardQuestion::Nothing => return None,
        CardQuestion::Decide { allow, deny, explain } => {
            let allow = allow.iter().map(|allow| confirmed(button(allow), allow, card));
            (allow.chain([deny, explain].map(button)).collect(), deny)
        }
        // Slack asks once more in a dialog of its own.
        CardQuestion::Confirm { allow, deny, .. } => ([allow, deny].map(button).to_vec(), deny),
        CardQuestion::Choose { options, deny } if options.len() <= BUTTONS_MAX => {
            (options.iter().chain([deny]).map(button).collect(), deny)
        }
        CardQuestion::Choose { options, deny } => {
            let menu = json!({
                "type": "static_select", "action_id": "hp_menu", "placeholder": plain(words.choose(), 150),
                "options": options.iter().map(option).collect::<Vec<_>>(),
            });
            (vec![menu, button(deny)], deny)
        }
        // Forms open in a modal, which the same button asks for.
        CardQuestion::ChooseSeveral { submit, deny, .. }
        | CardQuestion::Fill { submit, deny, .. } => {
            let opens = Button { label: words.answer().into(), ..submit.clone() };
            (vec![button(&opens), button(deny)], deny)
        }
    };
    let block = format!("hp:{}", beside.pointer.key.as_str());
    Some(json!({"type": "actions", "block_id": block, "elements": elements}))
}

/// Slack asks the person who presses once more, before it sends anything to us.
fn confirmed(mut drawn: Value, button: &Button, card: &Card) -> Value {
    if button.asks_twice {
        let words = CardWords(card.language);
        let (title, text) = words.really(&card.tag, card.risk);
        drawn["confirm"] = json!({
            "title": plain(&title, 100), "text": plain(&text, 300), "style": "danger",
            "confirm": plain(words.approve(), 30), "deny": plain(words.back(), 30),
        });
    }
    drawn
}

fn button(button: &Button) -> Value {
    let id = match button.does {
        Does::Allow => "hp_allow".to_owned(),
        Does::Deny => "hp_deny".to_owned(),
        Does::Submit => "hp_form".to_owned(),
        Does::Explain => "hp_explain".to_owned(),
        Does::Back => "hp_back".to_owned(),
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
    use domain::hold::Risk;
    use domain::visible::visible_multiline;
    use proptest::prelude::*;

    use super::*;
    use crate::card::hostile;
    use crate::card::sample::{
        check_snapshots, every_character, is_whole, long, long_names, read_strictly, samples,
        unmarked,
    };

    fn read_signs(text: &str) -> String {
        read_strictly(text, &[("&lt;", '<'), ("&gt;", '>'), ("&amp;", '&')], "<>&")
    }

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
            assert!(!rendered.accepts_approval);
            let text = rendered.value.to_string();
            assert!(!text.contains("hp_allow") && text.contains("hp_deny"), "{text}");
            assert!(text.contains("[cut: "), "{text}");
        }
        assert!(is_whole(&message(&long(5_000))));
    }

    /// Slack draws a fence as a box around every line of it.
    #[test]
    fn i47_no_foreign_line_is_drawn_as_ours() {
        hostile::check("slack", |card| {
            let mut drawn = hostile::Drawn::default();
            for block in message(card).value["blocks"].as_array().unwrap() {
                let kind = block["type"].as_str().unwrap();
                if kind == "actions" {
                    continue;
                }
                let mut ours = Vec::new();
                hostile::plain_texts(block, "text", &mut ours);
                ours.iter().for_each(|text| drawn.say(&read_signs(text)));
                let text = block["text"]["text"].as_str().filter(|_| kind == "section");
                if let Some(text) = text {
                    let inside = text.strip_prefix("```\n").and_then(|it| it.strip_suffix("\n```"));
                    drawn.quote(&read(inside.expect("sections are fences")));
                }
            }
            drawn
        });
    }

    #[test]
    fn a_dangerous_yes_is_asked_once_more_by_slack_itself() {
        for (name, card) in samples() {
            let CardQuestion::Decide { allow: Some(allow), .. } = &card.asks else { continue };
            let rendered = message(&card);
            // What had to be cut has no such button.
            if !rendered.accepts_approval {
                continue;
            }
            let blocks = rendered.value["blocks"].as_array().unwrap();
            let actions = blocks.iter().find(|block| block["type"] == "actions").unwrap();
            let yes = &actions["elements"][0];
            assert_eq!(yes["confirm"].is_object(), card.risk >= Risk::High, "{name}");
            assert_eq!(yes["value"], allow.pointer.to_string(), "one press is enough for us");
            assert_eq!(actions["elements"][1]["confirm"], Value::Null, "a no never waits");
            assert_eq!(actions["elements"][2]["action_id"], "hp_explain");
        }
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
