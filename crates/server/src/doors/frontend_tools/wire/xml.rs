//! The xml format: tags around blocks, each tag and each piece of text an item of its own.

use serde::Serialize;
use serde_json::Value;

use super::DONE;
use super::say::{StreamItem, error_json, json_text};
use super::text::{Flowing, section};

#[derive(Default)]
pub(crate) struct XmlWriter {
    open: Option<(XmlBlock, Flowing)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum XmlBlock {
    Text,
    Thinking,
}

impl XmlBlock {
    fn name(self) -> &'static str {
        match self {
            XmlBlock::Text => "content-block-text",
            XmlBlock::Thinking => "content-block-thinking",
        }
    }
}

impl XmlWriter {
    pub(super) fn write(&mut self, say: &StreamItem, items: &mut Vec<String>) {
        match say {
            StreamItem::Text(delta) => self.flow(XmlBlock::Text, delta, items),
            StreamItem::Thinking(delta) => self.flow(XmlBlock::Thinking, delta, items),
            other => {
                self.close(items);
                items.extend(whole(other));
            }
        }
    }

    fn flow(&mut self, block: XmlBlock, delta: &str, items: &mut Vec<String>) {
        if self.open.as_ref().is_none_or(|(open, _)| *open != block) {
            if delta.is_empty() {
                return;
            }
            self.close(items);
            items.push(format!("<{}>", block.name()));
            self.open = Some((block, Flowing::default()));
        }
        if let Some((_, flowing)) = &mut self.open {
            items.extend(flowing.piece(delta));
        }
    }

    fn close(&mut self, items: &mut Vec<String>) {
        if let Some((block, _)) = self.open.take() {
            items.push(format!("</{}>", block.name()));
        }
    }
}

/// What is an item by itself. The raw format says these in the same way.
pub(super) fn whole(say: &StreamItem) -> Option<String> {
    match say {
        StreamItem::Opened(meta) => Some(with_data("meta_init", meta)),
        StreamItem::Called { id, name, input } => {
            // Not JSON only if the model wrote something else; then it is shown as the text that it is.
            let input = serde_json::from_str(input).unwrap_or_else(|_| Value::from(input.as_str()));
            Some(format!(
                "<content-block-tool_call id=\"{}\" name=\"{}\" arguments=\"{}\"></content-block-tool_call>",
                attribute(id),
                attribute(&safe_name(name)),
                attribute_json(&input)
            ))
        }
        StreamItem::Result { id, name, text } => Some(format!(
            "<content-block-tool_result id=\"{}\" name=\"{}\">{}</content-block-tool_result>",
            attribute(id),
            attribute(&safe_name(name)),
            section(text)
        )),
        StreamItem::Awaiting(awaited) => Some(with_data("awaiting_frontend_tools", awaited)),
        StreamItem::Failed { code, message } => Some(format!(
            "<content-block-error>{}</content-block-error>",
            section(&error_json(code, message))
        )),
        StreamItem::Final(last) => Some(with_data("meta_final", last)),
        StreamItem::Done => Some(DONE.to_owned()),
        StreamItem::Text(_)
        | StreamItem::Thinking(_)
        | StreamItem::Closed
        | StreamItem::TurnEnded { .. }
        | StreamItem::Withdrawn => None,
    }
}

fn with_data<T: Serialize>(tag: &str, value: &T) -> String {
    format!("<{tag} data=\"{}\"></{tag}>", attribute_json(value))
}

/// JSON such that decoding its entities once or twice gives the same.
fn attribute_json<T: Serialize>(value: &T) -> String {
    let mut text = String::new();
    for c in json_text(value).chars() {
        match c {
            '"' => text.push_str("&quot;"),
            // mutant: frontend-arguments-decoded-twice
            '&' | '<' | '>' | '\'' => escape(&mut text, c),
            c if c.is_ascii() => text.push(c),
            c => escape(&mut text, c),
        }
    }
    text
}

fn escape(text: &mut String, c: char) {
    let mut units = [0; 2];
    for unit in c.encode_utf16(&mut units) {
        text.push_str(&format!("\\u{unit:04x}"));
    }
}

fn attribute(text: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#x27;"),
            // A line break would end the item; no id of ours or of a provider has one.
            c if c.is_control() => escaped.push('_'),
            c => escaped.push(c),
        }
    }
    escaped
}

/// A model may call a tool by any name; what no tool can be called is not repeated.
pub(super) fn safe_name(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "_.:-".contains(c) { c } else { '_' };
    name.chars().map(plain).collect()
}
