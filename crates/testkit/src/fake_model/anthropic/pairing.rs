//! Every call has its result in the very next message, and thoughts come back as they were.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::super::api::Refusal;
use super::super::asked::{is_tool_name, list, quoted, text};
use super::super::memory::{Memory, signature, unsealed};

pub(super) fn check(messages: &[Value], memory: &Memory) -> Result<(), Refusal> {
    let mut known = HashSet::new();
    // The calls of the message before.
    let mut due: Vec<String> = Vec::new();
    let loop_starts = loop_starts(messages);
    for (at, message) in messages.iter().enumerate() {
        let blocks = blocks(at, message, at + 1 == messages.len())?;
        match message["role"].as_str() {
            Some("assistant") => {
                answered(at, &due, &[])?;
                if at == 0 {
                    let message = "messages: first message must use the \"user\" role";
                    return Err(Refusal::bad(message));
                }
                due = assistant(at, &blocks, memory, at > loop_starts, &mut known)?;
            }
            Some("user") => {
                user(at, &blocks, &due)?;
                due.clear();
            }
            Some(role) => {
                return Err(Refusal::bad(format!("messages: Unexpected role \"{role}\"")));
            }
            None => return Err(Refusal::bad(format!("messages.{at}.role: Field required"))),
        }
    }
    answered(messages.len(), &due, &[])?;
    let last = messages.last().filter(|message| message["role"] == "assistant");
    if last.is_some_and(|message| ends_in_space(&message["content"])) {
        let message = "messages: final assistant content cannot end with trailing whitespace";
        return Err(Refusal::bad(message));
    }
    Ok(())
}

fn blocks(at: usize, message: &Value, last: bool) -> Result<Vec<Value>, Refusal> {
    let blocks = match &message["content"] {
        Value::String(text) => vec![json!({"type": "text", "text": text})],
        Value::Array(blocks) => blocks.clone(),
        _ => return Err(Refusal::bad(format!("messages.{at}.content: Field required"))),
    };
    if blocks.is_empty() && !(last && message["role"] == "assistant") {
        return Err(Refusal::bad(
            "messages: all messages must have non-empty content except for the optional final \
             assistant message",
        ));
    }
    for (index, block) in blocks.iter().enumerate() {
        let place = format!("messages.{at}.content.{index}");
        match text(block, "type") {
            "text" if text(block, "text").is_empty() => {
                return Err(Refusal::bad("messages: text content blocks must be non-empty"));
            }
            "tool_use" if !is_tool_name(text(block, "name")) => {
                return Err(Refusal::bad(format!(
                    "{place}.tool_use.name: String should match pattern '^[a-zA-Z0-9_-]{{1,64}}$'"
                )));
            }
            "tool_use" if !block["input"].is_object() => {
                let message = format!("{place}.tool_use.input: Input should be a valid dictionary");
                return Err(Refusal::bad(message));
            }
            "tool_use" if text(block, "id").is_empty() => {
                return Err(Refusal::bad(format!("{place}.tool_use.id: Field required")));
            }
            "tool_result" if text(block, "tool_use_id").is_empty() => {
                let message = format!("{place}.tool_result.tool_use_id: Field required");
                return Err(Refusal::bad(message));
            }
            "tool_result" => result_content(block, &place)?,
            "text" | "tool_use" | "thinking" | "redacted_thinking" | "image" | "document" => {}
            other => {
                let message = format!("{place}.type: Input tag '{other}' found is not known");
                return Err(Refusal::bad(message));
            }
        }
    }
    Ok(blocks)
}

fn result_content(block: &Value, place: &str) -> Result<(), Refusal> {
    let sound = match &block["content"] {
        Value::Null | Value::String(_) => true,
        Value::Array(parts) => {
            parts.iter().all(|part| part["type"] == "image" || part["text"].is_string())
        }
        _ => false,
    };
    let flag = matches!(block["is_error"], Value::Null | Value::Bool(_));
    if sound && flag {
        return Ok(());
    }
    Err(Refusal::bad(format!(
        "{place}.tool_result.content: Input should be a valid string or list"
    )))
}

fn assistant(
    at: usize,
    blocks: &[Value],
    memory: &Memory,
    current: bool,
    known: &mut HashSet<String>,
) -> Result<Vec<String>, Refusal> {
    let mut thoughts = Vec::new();
    let mut calls = Vec::new();
    for (index, block) in blocks.iter().enumerate() {
        let place = format!("messages.{at}.content.{index}");
        match text(block, "type") {
            "thinking" => {
                let thought = text(block, "thinking");
                if text(block, "signature") != signature(thought) {
                    let message = format!("{place}: Invalid `signature` in `thinking` block");
                    return Err(Refusal::bad(message));
                }
                thoughts.push(thought.to_owned());
            }
            "redacted_thinking" => {
                let message = || format!("{place}: Invalid `data` in `redacted_thinking` block");
                let thought =
                    unsealed(text(block, "data")).ok_or_else(|| Refusal::bad(message()))?;
                thoughts.push(thought);
            }
            "tool_use" => {
                let id = text(block, "id").to_owned();
                if !known.insert(id.clone()) {
                    return Err(Refusal::bad("messages: `tool_use` ids must be unique"));
                }
                calls.push(id);
            }
            "tool_result" => {
                let message =
                    format!("{place}: `tool_result` blocks can only be in `user` messages");
                return Err(Refusal::bad(message));
            }
            _ => {}
        }
    }
    // Only while the model is at it: thoughts about an earlier message may be left out.
    let had = calls.first().map_or(&[][..], |call| memory.thought_before(call));
    if current && thoughts != had && !had.is_empty() {
        let found = blocks.first().map_or("nothing", |block| text(block, "type"));
        return Err(Refusal::bad(format!(
            "messages.{at}.content.0.type: Expected `thinking` or `redacted_thinking`, but found \
             `{found}`. These blocks must remain as they were in the original response."
        )));
    }
    Ok(calls)
}

fn user(at: usize, blocks: &[Value], due: &[String]) -> Result<(), Refusal> {
    let is_result = |block: &&Value| block["type"] == "tool_result";
    let mut given: Vec<&str> = Vec::new();
    for (index, block) in blocks.iter().enumerate().filter(|(_, block)| is_result(block)) {
        let id = text(block, "tool_use_id");
        if !due.iter().any(|call| call == id) {
            return Err(Refusal::bad(format!(
                "messages.{at}.content.{index}: unexpected `tool_use_id` found in `tool_result` \
                 blocks: {id}. Each `tool_result` block must have a corresponding `tool_use` block in \
                 the previous message."
            )));
        }
        if given.contains(&id) {
            return Err(Refusal::bad(format!(
                "messages.{at}.content.{index}: each tool_use must have a single result. Found \
                 multiple `tool_result` blocks with id: {id}"
            )));
        }
        given.push(id);
    }
    // What comes after a text does not count as coming immediately after the call.
    let leading = blocks.iter().take_while(is_result);
    let leading: Vec<&str> = leading.map(|block| text(block, "tool_use_id")).collect();
    answered(at, due, &leading)
}

fn answered(at: usize, due: &[String], given: &[&str]) -> Result<(), Refusal> {
    let missing: Vec<&str> =
        due.iter().map(String::as_str).filter(|call| !given.contains(call)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    Err(Refusal::bad(format!(
        "messages.{}: `tool_use` ids were found without `tool_result` blocks immediately after: {}. \
         Each `tool_use` block must have a corresponding `tool_result` block in the next message.",
        at.saturating_sub(1),
        quoted(&missing)
    )))
}

/// Where the last message of a person is: what the model thought since then is still in use.
fn loop_starts(messages: &[Value]) -> usize {
    let from_person = |message: &Value| {
        let result = list(message, "content").iter().any(|block| block["type"] == "tool_result");
        message["role"] == "user" && !result
    };
    messages.iter().rposition(from_person).unwrap_or_default()
}

fn ends_in_space(content: &Value) -> bool {
    let last = match content {
        Value::String(text) => Some(text.as_str()),
        Value::Array(blocks) => blocks.last().and_then(|block| block["text"].as_str()),
        _ => None,
    };
    last.is_some_and(|text| text.ends_with(char::is_whitespace))
}
