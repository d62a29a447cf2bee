//! The notice.

use domain::hold::Risk;

use crate::card::{Card, CardBlock, CardWords, Tone, clipped};
use crate::limits::{EMAIL_BODY_BYTES_MAX, EMAIL_SUBJECT_CHARACTERS_MAX};
use crate::plain;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    pub subject: String,
    pub text: String,
    pub html: String,
}

pub fn notice(card: &Card) -> Notice {
    // Words do not answer an e-mail either.
    let card = Card { hint: None, ..card.elsewhere() };
    let card = card.fitted(|card| html(card).len() <= EMAIL_BODY_BYTES_MAX);
    Notice {
        // One line: a line break in a subject would be a header of its own.
        subject: clipped(
            &format!("[{}] {}: {}", card.tag, card.headline, card.title).replace(['\r', '\n'], " "),
            EMAIL_SUBJECT_CHARACTERS_MAX,
        ),
        text: plain::card_text(&card),
        html: html(&card),
    }
}

fn html(card: &Card) -> String {
    let mut parts = vec![
        "<!doctype html><html><head><meta charset=\"utf-8\"></head><body>".to_owned(),
        format!("<h2 style=\"color:{}\">{}</h2>", colour(card), literal(&card.headline)),
    ];
    for block in card.flow() {
        parts.push(match block {
            CardBlock::Ours(line) => format!("<p>{}</p>", literal(&line)),
            CardBlock::Foreign(lines) => foreign(&lines),
        });
    }
    let words = CardWords(card.language);
    let link = |link: &String| format!("<p><a href=\"{}\">{}</a></p>", literal(link), words.open());
    parts.extend(card.link.as_ref().map(link));
    parts.push("</body></html>".into());
    parts.join("\n")
}

/// A box with a border beside every drawn line. Where styles are not drawn, a quote is still set in, and
/// what is preformatted is not wrapped.
fn foreign(lines: &[String]) -> String {
    let text: Vec<String> = lines.iter().map(|line| literal(line)).collect();
    format!(
        "<blockquote style=\"margin:4px 0 4px 12px;padding:4px 8px;border-left:4px solid #b8860b;\
         background:#f7f1de\"><pre style=\"margin:0;white-space:pre-wrap;overflow-wrap:anywhere;\
         font-family:monospace\">{}</pre></blockquote>",
        text.join("\n")
    )
}

/// The risk while it waits.
fn colour(card: &Card) -> &'static str {
    match (card.tone, card.risk) {
        (Tone::Waiting, Risk::Low) => "#1b6e3c",
        (Tone::Waiting, Risk::Medium) => "#7a5b00",
        (Tone::Waiting, Risk::High) => "#b34700",
        (Tone::Waiting, Risk::Critical) => "#b00020",
        _ => "#333333",
    }
}

fn literal(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    text.replace('"', "&quot;").replace('\'', "&#39;")
}

#[cfg(test)]
mod tests {
    use domain::visible::visible_multiline;
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::card::hostile;
    use crate::card::sample::{
        check_snapshots, every_character, long, read_strictly, samples, unmarked,
    };

    fn read(html: &str) -> String {
        let escapes =
            [("&lt;", '<'), ("&gt;", '>'), ("&quot;", '"'), ("&#39;", '\''), ("&amp;", '&')];
        read_strictly(html, &escapes, "<>&\"'")
    }

    #[test]
    fn every_kind_of_hold() {
        check_snapshots("email", |card| {
            let notice = notice(card);
            json!({"subject": notice.subject, "text": notice.text, "html": notice.html})
        });
    }

    /// A quote is drawn with a border beside every line.
    #[test]
    fn i47_no_foreign_line_is_drawn_as_ours() {
        hostile::check("email", |card| {
            let html = notice(card).html;
            let mut drawn = hostile::Drawn::default();
            for (index, part) in html.split("<blockquote").enumerate() {
                let after = match index {
                    0 => part,
                    _ => {
                        let (block, after) = part.split_once("</pre></blockquote>").unwrap();
                        let (_, text) = block.split_once("monospace\">").unwrap();
                        drawn.quote(&read(text));
                        after
                    }
                };
                drawn.say(&after.replace("&amp;", "&"));
            }
            drawn
        });
    }

    #[test]
    fn a_notice_leads_to_the_page_and_nowhere_else() {
        for (name, card) in samples().into_iter().chain([("long", long(300_000))]) {
            let notice = notice(&card);
            assert_eq!(notice.html.matches("href=").count(), 1, "{name}");
            assert!(notice.html.len() <= EMAIL_BODY_BYTES_MAX);
            assert!(!notice.subject.contains('\n'));
            assert!(
                !notice.text.contains("h1:") && !notice.html.contains("h1:"),
                "no button: {name}"
            );
        }
    }

    #[test]
    fn every_character_can_be_read_back() {
        every_character(|shown| assert_eq!(read(&literal(shown)), shown));
    }

    proptest! {
        #[test]
        fn any_text_can_be_read_back(text in any::<String>(), tricky in "[&<>\"'amplt;]{0,12}") {
            for text in [text, tricky] {
                prop_assert_eq!(unmarked(&read(&literal(&visible_multiline(&text)))), text);
            }
        }
    }
}
