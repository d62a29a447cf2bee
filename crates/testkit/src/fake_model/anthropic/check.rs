//! What Anthropic asks of a request, besides the pairing of calls and results.

use axum::http::HeaderMap;
use serde_json::Value;

use super::super::api::{Api, Refusal};
use super::super::asked::{Asked, is_tool_name, list, object_schema, text, words};
use super::super::memory::Memory;
use super::pairing;

/// More markers than this are refused.
const CACHE_MARKERS: usize = 4;
/// The newest is what the vendor's own clients send today; what we say to them is the same in all.
const VERSIONS: [&str; 3] = ["2023-01-01", "2023-06-01", "2026-10-21"];

pub(in super::super) fn check(
    headers: &HeaderMap,
    body: &Value,
    memory: &Memory,
    models: &[String],
) -> Result<Asked, Refusal> {
    version(headers)?;
    object(body)?;
    let model = body["model"].as_str().ok_or_else(|| required("model"))?;
    if !models.iter().any(|known| known == model) {
        return Err(Refusal::no_model(Api::Anthropic, model));
    }
    match body["max_tokens"].as_u64() {
        None => return Err(required("max_tokens")),
        Some(0) => return Err(Refusal::bad("max_tokens: must be greater than or equal to 1")),
        Some(_) => {}
    }
    thinking_budget(body)?;
    conversation(body, memory)?;
    Ok(asked(body))
}

/// The same for a request that only wants to be counted.
pub(in super::super) fn count(
    headers: &HeaderMap,
    body: &Value,
    memory: &Memory,
) -> Result<(), Refusal> {
    version(headers)?;
    object(body)?;
    body["model"].as_str().ok_or_else(|| required("model"))?;
    conversation(body, memory)
}

fn required(field: &str) -> Refusal {
    Refusal::bad(format!("{field}: Field required"))
}

fn version(headers: &HeaderMap) -> Result<(), Refusal> {
    match headers.get("anthropic-version") {
        None => Err(Refusal::bad("anthropic-version: header is required")),
        Some(version) if VERSIONS.iter().any(|known| version == known) => Ok(()),
        Some(_) => Err(Refusal::bad("anthropic-version: is not a known version")),
    }
}

fn object(body: &Value) -> Result<(), Refusal> {
    if body.is_object() { Ok(()) } else { Err(Refusal::bad("The request body is not valid JSON")) }
}

fn thinking_budget(body: &Value) -> Result<(), Refusal> {
    let thinking = &body["thinking"];
    if thinking["type"] != "enabled" {
        return Ok(());
    }
    let budget = thinking["budget_tokens"].as_u64();
    let budget = budget.ok_or_else(|| required("thinking.enabled.budget_tokens"))?;
    if budget < 1024 {
        let message = "thinking.enabled.budget_tokens: must be greater than or equal to 1024";
        return Err(Refusal::bad(message));
    }
    if body["max_tokens"].as_u64().is_some_and(|most| most <= budget) {
        return Err(Refusal::bad("`max_tokens` must be greater than `thinking.budget_tokens`"));
    }
    Ok(())
}

fn conversation(body: &Value, memory: &Memory) -> Result<(), Refusal> {
    tools(body)?;
    system(body)?;
    let markers = count_markers(body);
    if markers > CACHE_MARKERS {
        return Err(Refusal::bad(format!(
            "A maximum of {CACHE_MARKERS} blocks with cache_control may be provided. Found {markers}."
        )));
    }
    let messages = body["messages"].as_array().ok_or_else(|| required("messages"))?;
    if messages.is_empty() {
        return Err(Refusal::bad("messages: at least one message is required"));
    }
    pairing::check(messages, memory)
}

fn tools(body: &Value) -> Result<(), Refusal> {
    let mut names = std::collections::HashSet::new();
    for (at, tool) in list(body, "tools").iter().enumerate() {
        let name = text(tool, "name");
        if !is_tool_name(name) {
            return Err(Refusal::bad(format!(
                "tools.{at}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{{1,64}}$'"
            )));
        }
        if !names.insert(name) {
            return Err(Refusal::bad("tools: Tool names must be unique."));
        }
        object_schema(&tool["input_schema"], &format!("tools.{at}.custom.input_schema"))?;
    }
    Ok(())
}

fn system(body: &Value) -> Result<(), Refusal> {
    match &body["system"] {
        Value::Null | Value::String(_) => Ok(()),
        Value::Array(blocks) if blocks.iter().all(|block| !text(block, "text").is_empty()) => {
            Ok(())
        }
        Value::Array(_) => Err(Refusal::bad("system: text content blocks must be non-empty")),
        _ => Err(Refusal::bad("system: Input should be a valid string or list")),
    }
}

fn count_markers(value: &Value) -> usize {
    match value {
        Value::Object(map) => {
            let here =
                usize::from(map.get("cache_control").is_some_and(|marker| !marker.is_null()));
            // What a model wrote, or a schema says, is no marker of the client's.
            let inside = map.iter().filter(|(key, _)| *key != "input" && *key != "input_schema");
            here + inside.map(|(_, value)| count_markers(value)).sum::<usize>()
        }
        Value::Array(items) => items.iter().map(count_markers).sum(),
        _ => 0,
    }
}

fn asked(body: &Value) -> Asked {
    let messages = list(body, "messages");
    let users = || messages.iter().rev().filter(|message| message["role"] == "user");
    let says = users().map(|message| words(&message["content"])).find(|text| !text.is_empty());
    let since = messages.iter().rposition(|message| message["role"] == "assistant");
    let fresh = &messages[since.map_or(0, |at| at + 1)..];
    let results = fresh.iter().flat_map(|message| list(message, "content"));
    let results = results.filter(|block| block["type"] == "tool_result");
    Asked {
        stream: body["stream"] == true,
        says: says.unwrap_or_default(),
        results: results.map(|block| words(&block["content"])).collect(),
    }
}
