//! A markdown message.

use serde_json::{Value, json};

use crate::card::{Card, CardBlock, CardWords, Rendered};
use crate::limits::DINGTALK_PARAM_BYTES_MAX;

/// The `msgParam` of `sampleMarkdown`, which has no buttons: a yes comes as a reply or on the page.
pub fn message(card: &Card) -> Rendered {
    let write = |card: &Card| json!({"title": card.notice(), "text": card_markdown(card)});
    let fits = |card: &Card| {
        Value::String(write(card).to_string()).to_string().len() <= DINGTALK_PARAM_BYTES_MAX
    };
    let fitted = card.fitted(fits);
    Rendered { value: write(&fitted), accepts_approval: fitted.asks.accepts_approval() }
}

pub(super) fn card_markdown(card: &Card) -> String {
    let mut lines = vec![format!("**{}**", literal(&card.headline))];
    lines.extend(flow(card.flow()));
    lines.extend(card.hint.as_deref().map(literal));
    lines.extend(link(card));
    lines.join("\n\n")
}

/// Our own lines as paragraphs, and foreign ones in quotes, which are drawn with a bar beside every line.
pub(super) fn flow(blocks: Vec<CardBlock>) -> impl Iterator<Item = String> {
    blocks.into_iter().map(|block| match block {
        CardBlock::Ours(line) => literal(&line),
        CardBlock::Foreign(lines) => {
            let quoted = lines.iter().map(|line| match line.is_empty() {
                true => "> &nbsp;".to_owned(),
                false => format!("> {}", literal(line)),
            });
            quoted.collect::<Vec<_>>().join("  \n")
        }
    })
}

pub(super) fn link(card: &Card) -> Option<String> {
    let words = CardWords(card.language);
    card.link.as_ref().map(|link| format!("[{}]({})", words.open(), address(link)))
}

/// Every mark of punctuation is escaped, so none begins anything; blanks that would be swallowed are
/// written as entities, and line breaks as hard ones.
pub(super) fn literal(text: &str) -> String {
    let mut out = String::with_capacity(text.len() * 2);
    let mut before = '\n';
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        match c {
            '\n' => out.push_str("  \n"),
            ' ' if matches!(before, ' ' | '\n')
                || matches!(characters.peek(), None | Some('\n')) =>
            {
                out.push_str("&nbsp;");
            }
            c if c.is_ascii_punctuation() => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
        before = c;
    }
    out
}

/// Our own address, in a form that no bracket can end.
fn address(link: &str) -> String {
    link.replace('(', "%28").replace(')', "%29").replace(' ', "%20")
}

#[cfg(test)]
pub(super) mod tests {
    use domain::visible::visible_multiline;
    use proptest::prelude::*;

    use super::*;
    use crate::card::hostile;
    use crate::card::sample::{
        check_snapshots, every_character, long, read_strictly, samples, unmarked,
    };

    /// Reads markdown as its specification says, as far as we use it.
    fn read(markdown: &str) -> String {
        let marks: Vec<(String, char)> = (' '..='~')
            .filter(char::is_ascii_punctuation)
            .map(|mark| (format!("\\{mark}"), mark))
            .collect();
        let mut escapes: Vec<(&str, char)> =
            marks.iter().map(|(escape, mark)| (escape.as_str(), *mark)).collect();
        escapes.extend([("&nbsp;", ' '), ("  \n", '\n')]);
        let special: String = marks.iter().map(|(_, mark)| *mark).chain(['\n']).collect();
        read_strictly(markdown, &escapes, &special)
    }

    #[test]
    fn every_kind_of_hold() {
        check_snapshots("dingtalk_markdown", |card| message(card).value);
    }

    /// DingTalk draws a quote with a bar beside every line. It begins with `>` at the left edge, which no
    /// text of ours or of others does: there it is escaped.
    pub(in crate::dingtalk) fn split(markdown: &str, drawn: &mut hostile::Drawn) {
        for line in markdown.split('\n') {
            match line.strip_prefix("> ") {
                Some(quoted) => drawn.quote(&read(quoted.trim_end())),
                None => drawn.say(&line.replace('\\', "")),
            }
        }
    }

    #[test]
    fn i47_no_foreign_line_is_drawn_as_ours() {
        hostile::check("dingtalk", |card| {
            let mut drawn = hostile::Drawn::default();
            split(message(card).value["text"].as_str().unwrap(), &mut drawn);
            drawn
        });
    }

    #[test]
    fn no_text_is_markup() {
        assert_eq!(literal("![x](y) **b**"), "\\!\\[x\\]\\(y\\) \\*\\*b\\*\\*");
        assert_eq!(literal("  a\n# b "), "&nbsp;&nbsp;a  \n\\# b&nbsp;");
    }

    #[test]
    fn a_message_stays_within_the_platforms_bounds() {
        for (name, card) in samples().into_iter().chain([("long", long(60_000))]) {
            let size = Value::String(message(&card).value.to_string()).to_string().len();
            assert!(size <= DINGTALK_PARAM_BYTES_MAX, "{name}");
        }
        assert!(!message(&long(60_000)).accepts_approval);
    }

    #[test]
    fn every_character_can_be_read_back() {
        every_character(|shown| assert_eq!(read(&literal(shown)), shown));
    }

    proptest! {
        #[test]
        fn any_text_can_be_read_back(text in any::<String>(), tricky in "[a \n\\\\*#&;]{0,12}") {
            for text in [text, tricky] {
                prop_assert_eq!(unmarked(&read(&literal(&visible_multiline(&text)))), text);
            }
        }
    }
}
