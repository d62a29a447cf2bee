//! The items that a conversation of this API is made of.

use serde_json::{Value, json};

use super::super::asked::text;
use super::super::memory::{Memory, sealed};
use super::super::said::{Piece, Said, Written};

/// What the model said, as items. Sealed thoughts are handed out only to those who ask for them.
pub(super) fn output(said: &Said, body: &Value) -> Vec<Value> {
    let seals = wants_seals(body);
    let pieces = said.pieces.iter().enumerate();
    pieces.map(|(index, piece)| item(said.number, index, piece, seals)).collect()
}

/// Whether thoughts are asked for in a form that can be sent back.
pub(super) fn wants_seals(body: &Value) -> bool {
    let include = body["include"].as_array();
    include.is_some_and(|list| list.iter().any(|wish| wish == "reasoning.encrypted_content"))
}

pub(super) fn item(number: u64, index: usize, piece: &Piece, seals: bool) -> Value {
    let reasoning = |thought: &str, summary: Value| {
        let mut item =
            json!({"type": "reasoning", "id": id(number, index, piece), "summary": summary});
        if seals {
            item["encrypted_content"] = json!(sealed(thought));
        }
        item
    };
    match piece {
        Piece::Text(text) => json!({
            "type": "message",
            "id": id(number, index, piece),
            "status": "completed",
            "role": "assistant",
            "content": [{"type": "output_text", "text": text, "annotations": [], "logprobs": []}],
        }),
        Piece::Thinking(text) => reasoning(text, json!([{"type": "summary_text", "text": text}])),
        Piece::Redacted(text) => reasoning(text, json!([])),
        Piece::Call(call) => function_call(&id(number, index, piece), call, call.arguments.text()),
    }
}

pub(super) fn function_call(id: &str, call: &Written, arguments: String) -> Value {
    json!({
        "type": "function_call",
        "id": id,
        "call_id": call.id,
        "name": call.name,
        "arguments": arguments,
        "status": if call.whole { "completed" } else { "incomplete" },
    })
}

pub(super) fn id(number: u64, index: usize, piece: &Piece) -> String {
    let prefix = match piece {
        Piece::Text(_) => "msg",
        Piece::Thinking(_) | Piece::Redacted(_) => "rs",
        Piece::Call(_) => "fc",
    };
    format!("{prefix}_{number}_{index}")
}

/// The items of a request: those of the response that it goes on from, then its own.
pub(super) fn input(body: &Value, memory: &Memory) -> Option<Vec<Value>> {
    let mut items = match body["previous_response_id"].as_str() {
        Some(before) => memory.history(before)?.to_vec(),
        None => Vec::new(),
    };
    match &body["input"] {
        Value::String(text) => items.push(json!({"role": "user", "content": text})),
        Value::Array(more) => items.extend(more.iter().cloned()),
        _ => {}
    }
    Some(items)
}

/// Keeps what was said, so that the next request can go on from it.
pub(in super::super) fn keep(memory: &mut Memory, said: &Said, body: &Value) {
    if body["store"] == false {
        return;
    }
    let mut items = input(body, memory).unwrap_or_default();
    items.extend(output(said, body));
    memory.keep(response_id(said), items);
}

pub(super) fn response_id(said: &Said) -> String {
    format!("resp_{}", said.number)
}

/// An item without a type is a message.
pub(super) fn kind(item: &Value) -> &str {
    match text(item, "type") {
        "" if !item["role"].is_null() => "message",
        other => other,
    }
}
