//! A turn of the script, with its ids and its words filled in: what every wire writes from.

use serde_json::Value;

use super::api::Api;
use super::asked::Asked;
use super::turn::{Block, Call, Stop, Turn};

#[derive(Clone, Debug)]
pub(super) struct Said {
    /// The request that it answers.
    pub(super) number: u64,
    pub(super) model: String,
    pub(super) pieces: Vec<Piece>,
    pub(super) stop: Stop,
    pub(super) input_tokens: u64,
}

#[derive(Clone, Debug)]
pub(super) enum Piece {
    Text(String),
    Thinking(String),
    Redacted(String),
    Call(Written),
}

/// A call as it goes over the wire.
#[derive(Clone, Debug)]
pub(super) struct Written {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) arguments: Arguments,
    /// False if the tokens ran out in the middle of it.
    pub(super) whole: bool,
}

#[derive(Clone, Debug)]
pub(super) enum Arguments {
    Text(String),
    /// A string of so many bytes in an object. It is made while it is sent, because a test of what
    /// is too large must not need the memory itself.
    Huge(usize),
}

impl Said {
    pub(super) fn new(api: Api, turn: &Turn, asked: &Asked, number: u64, model: &str) -> Said {
        let mut pieces = Vec::new();
        for (index, block) in turn.say.iter().enumerate() {
            pieces.push(match block {
                Block::Text { text } => {
                    Piece::Text(text.replace("{result}", &asked.results.join(" | ")))
                }
                Block::Thinking { text } => Piece::Thinking(text.clone()),
                Block::RedactedThinking { text } => Piece::Redacted(text.clone()),
                Block::Call(call) => Piece::Call(written(api, call, number, index)),
            });
        }
        let calls = pieces.iter().any(|piece| matches!(piece, Piece::Call(_)));
        let stop = turn.stop.unwrap_or(if calls { Stop::ToolUse } else { Stop::EndTurn });
        Said { number, model: model.to_owned(), pieces, stop, input_tokens: 0 }
    }

    pub(super) fn thoughts(&self) -> Vec<String> {
        let thought = |piece: &Piece| match piece {
            Piece::Thinking(text) | Piece::Redacted(text) => Some(text.clone()),
            _ => None,
        };
        self.pieces.iter().filter_map(thought).collect()
    }

    pub(super) fn calls(&self) -> impl Iterator<Item = &Written> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Call(call) => Some(call),
            _ => None,
        })
    }

    /// A count that follows from what was said, as a vendor's does.
    pub(super) fn output_tokens(&self) -> u64 {
        let length = |piece: &Piece| match piece {
            Piece::Text(text) | Piece::Thinking(text) | Piece::Redacted(text) => text.len(),
            Piece::Call(call) => call.name.len() + call.arguments.len(),
        };
        tokens(self.pieces.iter().map(length).sum())
    }
}

/// About four bytes each.
pub(super) fn tokens(bytes: usize) -> u64 {
    (bytes as u64 / 4).max(1)
}

fn written(api: Api, call: &Call, number: u64, index: usize) -> Written {
    let prefix = if api == Api::Anthropic { "toolu" } else { "call" };
    let id = call.id.clone().unwrap_or_else(|| format!("{prefix}_{number}_{index}"));
    let arguments = match (&call.raw, call.huge, &call.input) {
        (Some(raw), _, _) => Arguments::Text(raw.clone()),
        (None, Some(bytes), _) => Arguments::Huge(bytes),
        (None, None, Some(input)) if call.escaped => Arguments::Text(escaped(input)),
        (None, None, Some(input)) => Arguments::Text(input.to_string()),
        // Anthropic sends no delta for it, OpenAI writes it out.
        (None, None, None) if api == Api::Anthropic => Arguments::Text(String::new()),
        (None, None, None) => Arguments::Text("{}".into()),
    };
    let (arguments, whole) = match (arguments, call.keep) {
        (Arguments::Text(text), Some(keep)) => {
            (Arguments::Text(text.chars().take(keep).collect()), false)
        }
        (arguments, _) => (arguments, true),
    };
    Written { id, name: call.name.clone(), arguments, whole }
}

fn escaped(input: &Value) -> String {
    let mut text = String::new();
    for c in input.to_string().chars() {
        if c.is_ascii() {
            text.push(c);
        } else {
            let mut units = [0; 2];
            for unit in c.encode_utf16(&mut units) {
                text += &format!("\\u{unit:04x}");
            }
        }
    }
    text
}

impl Arguments {
    const BEFORE: &str = "{\"note\":\"";
    const AFTER: &str = "\"}";

    pub(super) fn len(&self) -> usize {
        match self {
            Arguments::Text(text) => text.len(),
            Arguments::Huge(bytes) => bytes + Self::BEFORE.len() + Self::AFTER.len(),
        }
    }

    pub(super) fn text(&self) -> String {
        match self {
            Arguments::Text(text) => text.clone(),
            Arguments::Huge(bytes) => {
                format!("{}{}{}", Self::BEFORE, "x".repeat(*bytes), Self::AFTER)
            }
        }
    }

    /// What a reply in one piece carries: half a text has no value.
    pub(super) fn value(&self) -> Value {
        serde_json::from_str(&self.text()).unwrap_or_else(|_| Value::Object(Default::default()))
    }

    pub(super) fn fragments(&self, size: usize) -> Box<dyn Iterator<Item = String> + Send> {
        let size = size.max(1);
        match self {
            Arguments::Text(text) => fragments(text, size),
            Arguments::Huge(bytes) => {
                let bytes = *bytes;
                let middle = (0..bytes.div_ceil(size))
                    .map(move |at| "x".repeat(size.min(bytes - at * size)));
                let before = std::iter::once(Self::BEFORE.to_owned());
                Box::new(before.chain(middle).chain(std::iter::once(Self::AFTER.to_owned())))
            }
        }
    }
}

/// A text in pieces of so many characters.
pub(super) fn fragments(text: &str, size: usize) -> Box<dyn Iterator<Item = String> + Send> {
    let mut left: std::collections::VecDeque<char> = text.chars().collect();
    Box::new(std::iter::from_fn(move || {
        let take = size.max(1).min(left.len());
        (take > 0).then(|| left.drain(..take).collect())
    }))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn escapes_are_cut_anywhere_and_read_back_whole() {
        let input = json!({"note": "Grüße, 世界 🙂"});
        let text = escaped(&input);
        assert!(text.is_ascii() && text.contains("\\ud83d\\ude42"), "{text}");
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), input);
        for size in 1..9 {
            assert_eq!(fragments(&text, size).collect::<String>(), text);
        }
    }

    #[test]
    fn what_is_huge_has_its_size_without_being_there() {
        for bytes in [0, 1, 9, 10, 11] {
            let huge = Arguments::Huge(bytes);
            let text: String = huge.fragments(10).collect();
            assert_eq!((text.len(), &text), (huge.len(), &huge.text()));
            assert_eq!(huge.value()["note"].as_str().map(str::len), Some(bytes));
        }
    }
}
