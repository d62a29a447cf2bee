//! The json format: one envelope for each item.

use serde::Serialize;

use super::DONE;
use super::say::{Meta, StreamItem, error_json, json_text};
use super::xml::safe_name;

/// What the client's side is written for. Only a pause is longer: the client reads its last piece only.
const ENVELOPE_BYTES_MAX: usize = 2_048;

pub(crate) struct JsonWriter {
    agent: String,
    open: Option<&'static str>,
}

#[derive(Clone, Serialize)]
struct JsonItem<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    agent: &'a str,
    #[serde(rename = "final")]
    is_final: bool,
    delta: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
}

impl JsonItem<'_> {
    fn written(&self) -> String {
        json_text(self)
    }

    fn with<'b>(&'b self, delta: &'b str, is_final: bool) -> JsonItem<'b> {
        JsonItem { delta, is_final, ..self.clone() }
    }
}

/// That the client takes back what it showed last.
#[derive(Serialize)]
struct Rollback {
    message: &'static str,
    code: &'static str,
    details: NoDetails,
    collapse_previous_assistant: bool,
}

#[derive(Serialize)]
struct NoDetails {}

impl Rollback {
    const WITHDRAWN: Rollback = Rollback {
        message: "what was said last is withdrawn, and said anew",
        code: "withdrawn",
        details: NoDetails {},
        collapse_previous_assistant: true,
    };
}

impl JsonWriter {
    pub(super) fn new(agent: &str) -> JsonWriter {
        JsonWriter { agent: agent.to_owned(), open: None }
    }

    pub(super) fn write(&mut self, say: &StreamItem, items: &mut Vec<String>) {
        match say {
            StreamItem::Text(delta) => self.flow("text", delta, items),
            StreamItem::Thinking(delta) => self.flow("thinking", delta, items),
            other => {
                self.close(items);
                self.whole(other, items);
            }
        }
    }

    fn envelope<'a>(&'a self, kind: &'a str) -> JsonItem<'a> {
        JsonItem { kind, agent: &self.agent, is_final: false, delta: "", id: None, name: None }
    }

    fn flow(&mut self, kind: &'static str, delta: &str, items: &mut Vec<String>) {
        if delta.is_empty() {
            return;
        }
        if self.open != Some(kind) {
            self.close(items);
            self.open = Some(kind);
        }
        let envelope = self.envelope(kind);
        items.extend(pieces(&envelope, delta).map(|piece| envelope.with(piece, false).written()));
    }

    fn close(&mut self, items: &mut Vec<String>) {
        if let Some(kind) = self.open.take() {
            items.push(self.envelope(kind).with("", true).written());
        }
    }

    fn whole(&self, say: &StreamItem, items: &mut Vec<String>) {
        match say {
            StreamItem::Opened(meta) => items.push(self.opener(meta)),
            StreamItem::Called { id, name, input } => {
                self.cut("tool_call", input, Some((id, &safe_name(name))), items);
            }
            StreamItem::Result { id, name, text } => {
                self.cut("tool_result", text, Some((id, &safe_name(name))), items);
            }
            StreamItem::Awaiting(awaited) => {
                let array = json_text(awaited);
                // mutant: frontend-pause-in-pieces
                items.push(self.envelope("awaiting_frontend_tools").with(&array, true).written());
            }
            StreamItem::Failed { code, message } => {
                self.cut("error", &error_json(code, message), None, items);
            }
            StreamItem::Final(last) => self.cut("meta_final", &json_text(last), None, items),
            StreamItem::Withdrawn => {
                self.cut("rollback", &json_text(&Rollback::WITHDRAWN), None, items);
            }
            StreamItem::Done => items.push(DONE.to_owned()),
            StreamItem::Text(_)
            | StreamItem::Thinking(_)
            | StreamItem::Closed
            | StreamItem::TurnEnded { .. } => {}
        }
    }

    /// Always one envelope: of more than one, the client would not learn which session this is. The
    /// question is only repeated there for show, so a long one is shortened.
    fn opener(&self, meta: &Meta) -> String {
        let written = |query: &str| {
            let meta = Meta { user_query: query.to_owned(), ..meta.clone() };
            let item = self.envelope("meta_init").with(&json_text(&meta), true).written();
            // Before it knows the format, the client looks for tags.
            // mutant: frontend-opener-hidden-by-the-question
            item.replace('<', "\\u003c")
        };
        let whole = written(&meta.user_query);
        let too_long = whole.len().saturating_sub(ENVELOPE_BYTES_MAX);
        if too_long == 0 {
            return whole;
        }
        // A character is written with at least its own length, so cutting that much is enough.
        let mut keep = meta.user_query.len().saturating_sub(too_long + '…'.len_utf8());
        while !meta.user_query.is_char_boundary(keep) {
            keep -= 1;
        }
        written(&format!("{}…", &meta.user_query[..keep]))
    }

    fn cut(&self, kind: &str, payload: &str, of: Option<(&str, &str)>, items: &mut Vec<String>) {
        let (id, name) = of.unzip();
        let envelope = JsonItem { id, name, ..self.envelope(kind) };
        let mut pieces = pieces(&envelope, payload).peekable();
        if pieces.peek().is_none() {
            items.push(envelope.with("", true).written());
        }
        while let Some(piece) = pieces.next() {
            items.push(envelope.with(piece, pieces.peek().is_none()).written());
        }
    }
}

/// Cuts a payload so that no envelope is too long. A piece has at least one character, also in an
/// envelope that is too long by itself.
fn pieces<'a>(envelope: &JsonItem<'_>, mut rest: &'a str) -> impl Iterator<Item = &'a str> {
    let room = ENVELOPE_BYTES_MAX.saturating_sub(envelope.with("", false).written().len());
    std::iter::from_fn(move || {
        let mut used = 0;
        let end = rest
            .char_indices()
            .find_map(|(at, c)| {
                used += written_len(c);
                (used > room && at > 0).then_some(at)
            })
            .unwrap_or(rest.len());
        let (piece, after) = rest.split_at(end);
        rest = after;
        (!piece.is_empty()).then_some(piece)
    })
}

/// How many bytes a character takes in JSON.
fn written_len(c: char) -> usize {
    match c {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        c if (c as u32) < 0x20 => 6,
        c => c.len_utf8(),
    }
}
