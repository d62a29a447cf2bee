//! A message. HTML, because only three signs need to be escaped in it; the other markup of the
//! platform is never used for foreign text.

use serde_json::{Value, json};

use crate::card::{Button, Card, CardBlock, CardQuestion, CardWords, Rendered};
use crate::limits::{TELEGRAM_OPTIONS_MAX, TELEGRAM_UNITS_MAX};

/// `sendMessage` and `editMessageText` without the chat.
pub fn message(card: &Card) -> Rendered {
    // An inline keyboard has no forms; several options are chosen in words.
    let drawable = match &card.asks {
        CardQuestion::Fill { .. } => false,
        CardQuestion::ChooseSeveral { .. } => card.hint.is_some(),
        _ => true,
    };
    let card = if drawable { card.clone() } else { card.elsewhere() };
    let fitted = card.fitted(|card| units(&parts(card)) <= TELEGRAM_UNITS_MAX);
    let html: String = parts(&fitted).iter().map(TelegramSpan::html).collect();
    let value = json!({
        "text": html,
        "parse_mode": "HTML",
        "link_preview_options": {"is_disabled": true},
        "reply_markup": {"inline_keyboard": keyboard(&fitted.asks)},
    });
    Rendered { value, accepts_approval: fitted.asks.accepts_approval() }
}

/// A piece of the text and how it is set.
enum TelegramSpan {
    Plain(String),
    Bold(String),
    Block(String),
}

impl TelegramSpan {
    fn html(&self) -> String {
        match self {
            TelegramSpan::Plain(text) => literal(text),
            TelegramSpan::Bold(text) => format!("<b>{}</b>", literal(text)),
            TelegramSpan::Block(text) => format!("<pre>{}</pre>", literal(text)),
        }
    }
}

fn parts(card: &Card) -> Vec<TelegramSpan> {
    let mut parts =
        vec![TelegramSpan::Bold(card.headline.clone()), TelegramSpan::Plain("\n".into())];
    for block in card.flow() {
        match block {
            CardBlock::Ours(line) => parts.push(TelegramSpan::Plain(format!("{line}\n"))),
            // Telegram draws a block of code with a bar and a ground of its own beside every line.
            CardBlock::Foreign(lines) => {
                parts.extend([
                    TelegramSpan::Block(lines.join("\n")),
                    TelegramSpan::Plain("\n".into()),
                ]);
            }
        }
    }
    let fewer = match &card.asks {
        CardQuestion::Choose { options, .. } if options.len() > TELEGRAM_OPTIONS_MAX => {
            Some(CardWords(card.language).fewer_keys(TELEGRAM_OPTIONS_MAX, options.len()))
        }
        _ => None,
    };
    let after = [fewer, card.hint.clone()];
    parts.extend(after.into_iter().flatten().map(|line| TelegramSpan::Plain(format!("{line}\n"))));
    let words = CardWords(card.language);
    parts.extend(
        card.link.iter().map(|link| TelegramSpan::Plain(format!("{}: {link}", words.open()))),
    );
    parts
}

/// The platform counts what is left after its markup is read, in UTF-16.
fn units(parts: &[TelegramSpan]) -> usize {
    let text = |part: &TelegramSpan| match part {
        TelegramSpan::Plain(text) | TelegramSpan::Bold(text) | TelegramSpan::Block(text) => {
            text.encode_utf16().count()
        }
    };
    parts.iter().map(text).sum()
}

pub(super) fn literal(text: &str) -> String {
    // mutant: markup-not-escaped
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

fn keyboard(asks: &CardQuestion) -> Vec<Vec<Value>> {
    let key = |button: &Button| json!({"text": button.label, "callback_data": button.pointer.to_string()});
    match asks {
        CardQuestion::Nothing => Vec::new(),
        CardQuestion::Decide { allow, deny, .. } => {
            let allow = allow.as_ref().map(Button::first_step);
            vec![allow.iter().chain([deny]).map(key).collect()]
        }
        // The key that counts does not stand where the first one stood.
        CardQuestion::Confirm { back, allow, deny } => {
            vec![[back, deny].map(key).to_vec(), vec![key(allow)]]
        }
        CardQuestion::Choose { options, deny } => {
            let rows = options.iter().take(TELEGRAM_OPTIONS_MAX).chain([deny]);
            rows.map(|button| vec![key(button)]).collect()
        }
        CardQuestion::ChooseSeveral { deny, .. } | CardQuestion::Fill { deny, .. } => {
            vec![vec![key(deny)]]
        }
    }
}

#[cfg(test)]
mod tests {
    use domain::visible::visible_multiline;
    use proptest::prelude::*;

    use super::*;
    use crate::card::hostile;
    use crate::card::sample::{
        check_snapshots, every_character, is_whole, long, long_names, read_strictly, samples,
        unmarked,
    };

    fn read(html: &str) -> String {
        read_strictly(html, &[("&lt;", '<'), ("&gt;", '>'), ("&amp;", '&')], "<>&")
    }

    fn without_tags(html: &str) -> String {
        let tags = ["<b>", "</b>", "<pre>", "</pre>"];
        read(&tags.iter().fold(html.to_owned(), |html, tag| html.replace(tag, "")))
    }

    #[test]
    fn every_kind_of_hold() {
        check_snapshots("telegram", |card| message(card).value);
    }

    #[test]
    fn a_message_stays_within_the_platforms_bounds() {
        for (name, card) in
            samples().into_iter().chain([("long", long(20_000)), ("names", long_names())])
        {
            let message = message(&card).value;
            let text = without_tags(message["text"].as_str().unwrap());
            assert!(text.encode_utf16().count() <= 4096, "{name}");
            let rows = message["reply_markup"]["inline_keyboard"].as_array().unwrap();
            let keys: Vec<&Value> = rows.iter().flat_map(|row| row.as_array().unwrap()).collect();
            assert!(keys.len() <= 100 && rows.iter().all(|row| row.as_array().unwrap().len() <= 8));
            for key in keys {
                assert!((1..=64).contains(&key["callback_data"].as_str().unwrap().len()), "{name}");
            }
        }
    }

    /// Telegram draws a block of code with a ground of its own.
    #[test]
    fn i47_no_foreign_line_is_drawn_as_ours() {
        hostile::check("telegram", |card| {
            let message = message(card).value;
            let mut drawn = hostile::Drawn::default();
            for (index, part) in message["text"].as_str().unwrap().split("<pre>").enumerate() {
                let (block, after) = match index {
                    0 => (None, part),
                    _ => part
                        .split_once("</pre>")
                        .map(|(block, after)| (Some(block), after))
                        .unwrap(),
                };
                block.into_iter().for_each(|block| drawn.quote(&read(block)));
                drawn.say(&read(&after.replace("<b>", "").replace("</b>", "")));
            }
            drawn
        });
    }

    #[test]
    fn a_dangerous_yes_takes_two_keys_in_two_places() {
        let (_, card) = samples().into_iter().find(|(name, _)| *name == "approve").unwrap();
        let keys = |card: &Card| {
            let value = message(card).value;
            let rows = value["reply_markup"]["inline_keyboard"].as_array().unwrap().clone();
            let key = |key: &Value| key["callback_data"].as_str().unwrap().to_owned();
            let row = |row: &Value| row.as_array().unwrap().iter().map(key).collect::<Vec<_>>();
            rows.iter().map(row).collect::<Vec<_>>()
        };
        assert_eq!(keys(&card), [["h1:7Q2:p:k3x9ab", "h1:7Q2:d:k3x9ab"]]);
        let armed = card.asking_once_more();
        assert_eq!(
            keys(&armed),
            [vec!["h1:7Q2:b:k3x9ab", "h1:7Q2:d:k3x9ab"], vec!["h1:7Q2:a:k3x9ab"]]
        );
        assert!(message(&armed).accepts_approval);
    }

    #[test]
    fn options_without_a_key_are_told_of() {
        let (_, many) = samples().into_iter().find(|(name, _)| *name == "choose_many").unwrap();
        let CardQuestion::Choose { mut options, deny } = many.asks.clone() else { panic!() };
        let draw = |options: Vec<Button>| {
            let asks = CardQuestion::Choose { options, deny: deny.clone() };
            let rendered = message(&Card { asks, ..many.clone() });
            let rows = rendered.value["reply_markup"]["inline_keyboard"].as_array().unwrap().len();
            (rows, rendered.value["text"].as_str().unwrap().contains("Only the first 99 of 100"))
        };
        assert_eq!(draw(options.clone()), (100, true));
        options.pop();
        assert_eq!(draw(options), (100, false), "all have one");
        let rendered = message(&many);
        let whole = many.body.text().contains("100.");
        assert!(whole && rendered.accepts_approval, "the last one can be chosen in words");
    }

    #[test]
    fn what_cannot_be_asked_here_is_not_offered_in_words() {
        let (_, several) =
            samples().into_iter().find(|(name, _)| *name == "choose_several").unwrap();
        let silent = Card { hint: None, deny_hint: None, ..several.clone() };
        let rendered = message(&silent);
        let text = rendered.value["text"].as_str().unwrap();
        assert!(!rendered.accepts_approval && !text.contains("with the numbers"), "{text}");
        assert!(text.contains("Answer on the page."), "{text}");
        // Where words answer, several options are chosen by their numbers, and there is a key for the no.
        let rendered = message(&several);
        let text = rendered.value["text"].as_str().unwrap();
        assert!(rendered.accepts_approval && text.contains("as in: 1 and 3"), "{text}");
        let keys = rendered.value["reply_markup"]["inline_keyboard"].to_string();
        assert!(keys.contains(":d:") && !keys.contains(":1:"), "{keys}");
    }

    #[test]
    fn what_is_cut_takes_no_yes() {
        let rendered = message(&long(20_000));
        assert!(!rendered.accepts_approval);
        let text = rendered.value.to_string();
        assert!(!text.contains(":a:") && text.contains(":d:") && text.contains("[cut: "), "{text}");
        assert!(is_whole(&message(&long(1_000))));
    }

    #[test]
    fn every_character_can_be_read_back() {
        every_character(|shown| assert_eq!(read(&literal(shown)), shown));
    }

    proptest! {
        #[test]
        fn any_text_can_be_read_back(text in any::<String>(), tricky in "[&<>amplt;]{0,12}") {
            for text in [text, tricky] {
                prop_assert_eq!(unmarked(&read(&literal(&visible_multiline(&text)))), text);
            }
        }
    }
}
