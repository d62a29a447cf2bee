//! Texts and posts.

use serde_json::{Value, json};

use crate::card::{Card, Language, Rendered};
use crate::limits::FEISHU_TEXT_BYTES_MAX;
use crate::plain;

/// The content of a `text` message. A text takes a yes only as a reply, so its sender says in the
/// card's hint how.
pub fn text_message(card: &Card) -> Rendered {
    let write = |card: &Card| json!({"text": literal(&plain::card_text(card))});
    let fitted = card.fitted(|card| write(card).to_string().len() <= FEISHU_TEXT_BYTES_MAX);
    Rendered { value: write(&fitted), accepts_approval: fitted.asks.accepts_approval() }
}

/// The content of a `post` message: a title and paragraphs, in which nothing is markup.
pub fn post(card: &Card) -> Rendered {
    let fitted = card.fitted(|card| paragraphs(card).to_string().len() <= FEISHU_TEXT_BYTES_MAX);
    Rendered { value: paragraphs(&fitted), accepts_approval: fitted.asks.accepts_approval() }
}

fn paragraphs(card: &Card) -> Value {
    let whole = plain::card_text(card);
    let lines = whole.lines().skip(1).map(|line| json!([{"tag": "text", "text": line}]));
    let language = match card.language {
        Language::English => "en_us",
        Language::Chinese => "zh_cn",
    };
    let mut post = json!({});
    post[language] = json!({"title": card.headline, "content": lines.collect::<Vec<_>>()});
    post
}

/// A text knows tags, links and paired marks, and has no way to escape them. So whatever could begin
/// one is written as its code point, which no other text can look like.
pub(super) fn literal(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut before = None;
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        let after = characters.peek().copied();
        let markup = match c {
            '<' => after.is_some_and(|c| c.is_ascii_alphabetic() || c == '/'),
            ']' => after == Some('('),
            '*' | '_' | '~' => before == Some(c),
            _ => false,
        };
        if markup {
            out.push_str(&format!("⟦U+{:04X}⟧", c as u32));
        } else {
            out.push(c);
        }
        before = Some(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use domain::visible::visible_multiline;
    use proptest::prelude::*;

    use super::*;
    use crate::card::sample::{check_snapshots, every_character, unmarked};

    #[test]
    fn every_kind_of_hold() {
        check_snapshots("feishu_text", |card| text_message(card).value);
        check_snapshots("feishu_post", |card| post(card).value);
    }

    #[test]
    fn no_text_can_name_anybody_or_lead_anywhere() {
        assert_eq!(literal("<at user_id=\"all\">"), "⟦U+003C⟧at user_id=\"all\">");
        assert_eq!(literal("[x](http://y)"), "[x⟦U+005D⟧(http://y)");
        assert_eq!(literal("**a** < b"), "*⟦U+002A⟧a*⟦U+002A⟧ < b");
    }

    #[test]
    fn every_character_can_be_read_back() {
        every_character(|shown| assert_eq!(unmarked(&literal(shown)), unmarked(shown)));
    }

    proptest! {
        #[test]
        fn any_text_can_be_read_back(text in any::<String>(), tricky in "[<a/\\](*_~⟦⟧ \n]{0,12}") {
            for text in [text, tricky] {
                prop_assert_eq!(unmarked(&literal(&visible_multiline(&text))), text);
            }
        }
    }
}
