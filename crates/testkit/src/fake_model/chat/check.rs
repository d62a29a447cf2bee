//! What OpenAI asks of a conversation of chat messages.

use std::collections::HashSet;

use serde_json::Value;

use super::super::api::{Api, Refusal};
use super::super::asked::{Asked, is_tool_name, list, object_schema, quoted, text, words};

pub(in super::super) fn check(body: &Value, models: &[String]) -> Result<Asked, Refusal> {
    if !body.is_object() {
        return Err(Refusal::bad("We could not parse the JSON body of your request."));
    }
    let model = body["model"].as_str();
    let model = model.ok_or_else(|| Refusal::bad("you must provide a model parameter"))?;
    if !models.iter().any(|known| known == model) {
        return Err(Refusal::no_model(Api::Chat, model));
    }
    if !body["stream_options"].is_null() && body["stream"] != true {
        let message = "The 'stream_options' parameter is only allowed when 'stream' is enabled.";
        return Err(Refusal::bad(message).at("stream_options"));
    }
    for (at, tool) in list(body, "tools").iter().enumerate() {
        let function = &tool["function"];
        if tool["type"] != "function" {
            let message = format!("Invalid value for 'tools[{at}].type'");
            return Err(Refusal::bad(message).at(format!("tools[{at}].type")));
        }
        name(text(function, "name"), &format!("tools[{at}].function.name"))?;
        if !function["parameters"].is_null() {
            object_schema(&function["parameters"], &format!("tools[{at}].function.parameters"))
                .map_err(|refusal| refusal.code("invalid_function_parameters"))?;
        }
    }
    let messages = list(body, "messages");
    if messages.is_empty() {
        let message = "Invalid 'messages': empty array. Expected an array with minimum length 1.";
        return Err(Refusal::bad(message).at("messages").code("empty_array"));
    }
    pairing(messages)?;
    Ok(asked(body, messages))
}

fn name(name: &str, at: &str) -> Result<(), Refusal> {
    if is_tool_name(name) {
        return Ok(());
    }
    let message = format!(
        "Invalid '{at}': string does not match pattern. Expected a string that matches the pattern \
         '^[a-zA-Z0-9_-]+$'."
    );
    Err(Refusal::bad(message).at(at).code("invalid_value"))
}

fn pairing(messages: &[Value]) -> Result<(), Refusal> {
    let mut known = HashSet::new();
    // The calls that still wait, and whether this message stands directly after them.
    let mut due: Vec<&str> = Vec::new();
    let mut after_calls = false;
    for (at, message) in messages.iter().enumerate() {
        let role = text(message, "role");
        if role == "tool" {
            let id = text(message, "tool_call_id");
            if !after_calls {
                let message = "Invalid parameter: messages with role 'tool' must be a response to a \
                               preceding message with 'tool_calls'.";
                return Err(Refusal::bad(message).at(format!("messages.[{at}].role")));
            }
            let Some(place) = due.iter().position(|call| *call == id) else {
                let message = format!(
                    "Invalid parameter: 'tool_call_id' of '{id}' not found in 'tool_calls' of \
                     previous message."
                );
                return Err(Refusal::bad(message).at(format!("messages.[{at}].tool_call_id")));
            };
            content(message, at)?;
            due.remove(place);
            continue;
        }
        answered(at, &due)?;
        due.clear();
        after_calls = false;
        match role {
            "system" | "developer" | "user" => content(message, at)?,
            "assistant" => {
                due = calls(message, at, &mut known)?;
                after_calls = !due.is_empty();
                if !after_calls {
                    content(message, at)?;
                }
            }
            other => {
                let message = format!("Invalid value: '{other}'.");
                let refusal = Refusal::bad(message).at(format!("messages[{at}].role"));
                return Err(refusal.code("invalid_value"));
            }
        }
    }
    answered(messages.len(), &due)
}

fn content(message: &Value, at: usize) -> Result<(), Refusal> {
    if message["content"].is_string() || message["content"].is_array() {
        return Ok(());
    }
    let why = "Invalid value for 'content': expected a string, got null.";
    Err(Refusal::bad(why).at(format!("messages.[{at}].content")))
}

fn calls<'a>(
    message: &'a Value,
    at: usize,
    known: &mut HashSet<&'a str>,
) -> Result<Vec<&'a str>, Refusal> {
    if message["tool_calls"].as_array().is_some_and(Vec::is_empty) {
        let place = format!("messages[{at}].tool_calls");
        let message = format!("Invalid '{place}': empty array. Expected minimum length 1.");
        return Err(Refusal::bad(message).at(place).code("empty_array"));
    }
    let mut ids = Vec::new();
    for (index, call) in list(message, "tool_calls").iter().enumerate() {
        let place = format!("messages[{at}].tool_calls[{index}]");
        name(text(&call["function"], "name"), &format!("{place}.function.name"))?;
        if !call["function"]["arguments"].is_string() || call["type"] != "function" {
            let message =
                format!("Invalid type for '{place}': expected a function with arguments.");
            return Err(Refusal::bad(message).at(place).code("invalid_type"));
        }
        let id = text(call, "id");
        if id.is_empty() || !known.insert(id) {
            let message = format!("Duplicate or missing value for '{place}.id'.");
            return Err(Refusal::bad(message).at(format!("{place}.id")));
        }
        ids.push(id);
    }
    Ok(ids)
}

fn answered(at: usize, due: &[&str]) -> Result<(), Refusal> {
    if due.is_empty() {
        return Ok(());
    }
    let message = format!(
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each \
         'tool_call_id'. The following tool_call_ids did not have response messages: {}",
        quoted(due)
    );
    Err(Refusal::bad(message).at(format!("messages.[{at}].role")))
}

fn asked(body: &Value, messages: &[Value]) -> Asked {
    let user = messages.iter().rev().find(|message| message["role"] == "user");
    let since = messages.iter().rposition(|message| message["role"] == "assistant");
    let fresh = &messages[since.map_or(0, |at| at + 1)..];
    let results = fresh.iter().filter(|message| message["role"] == "tool");
    Asked {
        stream: body["stream"] == true,
        says: user.map(|message| words(&message["content"])).unwrap_or_default(),
        results: results.map(|message| words(&message["content"])).collect(),
    }
}
