//! Every call has its output, every output its call, and reasoning comes back with what followed it.

use std::collections::HashMap;

use serde_json::Value;

use super::super::api::Refusal;
use super::super::asked::{is_tool_name, list, text};
use super::super::memory::{Memory, unsealed};
use super::items::kind;

/// Who asked for sealed thoughts gets them, and has to send them back. Of others the vendor can tell
/// only by the ids of the items.
pub(super) fn check(
    items: &[Value],
    memory: &Memory,
    stored: bool,
    sealed: bool,
) -> Result<(), Refusal> {
    // Each call, and whether it has its output.
    let mut calls: HashMap<&str, bool> = HashMap::new();
    let mut order: Vec<&str> = Vec::new();
    // What was thought in this turn of the model, and whether the turn is over.
    let mut thoughts: Vec<String> = Vec::new();
    let mut over = false;
    for (at, item) in items.iter().enumerate() {
        match kind(item) {
            "message" => {
                message(item, at)?;
                over |= item["role"] != "assistant";
            }
            "function_call" => {
                let id = text(item, "call_id");
                function_call(item, at)?;
                if calls.insert(id, false).is_some() {
                    let why = format!("Duplicate function call with call_id '{id}'.");
                    return Err(Refusal::bad(why).at("input"));
                }
                order.push(id);
                let had = memory.thought_before(id);
                let known = sealed || !text(item, "id").is_empty();
                if known && !had.is_empty() && thoughts != had {
                    let why = format!(
                        "Item '{}' of type 'function_call' was provided without its required \
                         'reasoning' item.",
                        text(item, "id")
                    );
                    return Err(Refusal::bad(why).at("input"));
                }
            }
            "function_call_output" => {
                over = true;
                output(item, at, &mut calls)?;
            }
            "reasoning" => {
                if std::mem::take(&mut over) {
                    thoughts.clear();
                }
                thoughts.push(reasoning(item, at, stored)?);
                let next = items.get(at + 1).map(|next| (kind(next), text(next, "role")));
                if !matches!(
                    next,
                    Some(("reasoning" | "function_call", _) | ("message", "assistant"))
                ) {
                    let why = format!(
                        "Item '{}' of type 'reasoning' was provided without its required following \
                         item.",
                        text(item, "id")
                    );
                    return Err(Refusal::bad(why).at("input"));
                }
            }
            other => {
                let why = format!("Invalid value: '{other}'.");
                return Err(Refusal::bad(why).at(format!("input[{at}]")).code("invalid_value"));
            }
        }
    }
    match order.iter().find(|id| !calls[**id]) {
        Some(id) => {
            let why = format!("No tool output found for function call {id}.");
            Err(Refusal::bad(why).at("input"))
        }
        None => Ok(()),
    }
}

fn message(item: &Value, at: usize) -> Result<(), Refusal> {
    let allowed: &[&str] = match text(item, "role") {
        "user" | "system" | "developer" => &["input_text", "input_image", "input_file"],
        "assistant" => &["output_text", "refusal"],
        other => {
            let why = format!("Invalid value: '{other}'.");
            return Err(Refusal::bad(why).at(format!("input[{at}].role")).code("invalid_value"));
        }
    };
    if item["content"].is_string() {
        return Ok(());
    }
    if !item["content"].is_array() {
        let why = format!("Missing required parameter: 'input[{at}].content'.");
        let refusal = Refusal::bad(why).at(format!("input[{at}].content"));
        return Err(refusal.code("missing_required_parameter"));
    }
    for (index, part) in list(item, "content").iter().enumerate() {
        let found = text(part, "type");
        if !allowed.contains(&found) {
            let why = format!("Invalid value: '{found}'. Supported values are: {allowed:?}.");
            let place = format!("input[{at}].content[{index}]");
            return Err(Refusal::bad(why).at(place).code("invalid_value"));
        }
    }
    item_id(item, at, "msg")
}

fn function_call(item: &Value, at: usize) -> Result<(), Refusal> {
    let missing = |field: &str| {
        let why = format!("Missing required parameter: 'input[{at}].{field}'.");
        let refusal = Refusal::bad(why).at(format!("input[{at}].{field}"));
        refusal.code("missing_required_parameter")
    };
    if text(item, "call_id").is_empty() {
        return Err(missing("call_id"));
    }
    if !item["arguments"].is_string() {
        return Err(missing("arguments"));
    }
    if !is_tool_name(text(item, "name")) {
        let why = format!(
            "Invalid 'input[{at}].name': string does not match pattern. Expected a string that \
             matches the pattern '^[a-zA-Z0-9_-]+$'."
        );
        return Err(Refusal::bad(why).at(format!("input[{at}].name")).code("invalid_value"));
    }
    item_id(item, at, "fc")
}

fn output<'a>(
    item: &'a Value,
    at: usize,
    calls: &mut HashMap<&'a str, bool>,
) -> Result<(), Refusal> {
    let id = text(item, "call_id");
    match calls.get_mut(id) {
        None => {
            let why = format!("No tool call found for function call output with call_id {id}.");
            Err(Refusal::bad(why).at("input"))
        }
        Some(true) => {
            let why = format!("Duplicate function call output with call_id '{id}'.");
            Err(Refusal::bad(why).at("input"))
        }
        Some(answered) if item["output"].is_string() || item["output"].is_array() => {
            *answered = true;
            Ok(())
        }
        Some(_) => {
            let why = format!("Missing required parameter: 'input[{at}].output'.");
            let refusal = Refusal::bad(why).at(format!("input[{at}].output"));
            Err(refusal.code("missing_required_parameter"))
        }
    }
}

/// What was thought, if it is what we said.
fn reasoning(item: &Value, at: usize, stored: bool) -> Result<String, Refusal> {
    item_id(item, at, "rs")?;
    // A client that keeps its own history may leave the id out, as the vendor's own agent does.
    let id = text(item, "id");
    let Some(summary) = item["summary"].as_array() else {
        let why = format!("Missing required parameter: 'input[{at}].summary'.");
        let refusal = Refusal::bad(why).at(format!("input[{at}].summary"));
        return Err(refusal.code("missing_required_parameter"));
    };
    let shown: String = summary.iter().map(|part| text(part, "text")).collect();
    match item["encrypted_content"].as_str() {
        Some(seal) => {
            let thought = unsealed(seal).filter(|text| shown.is_empty() || *text == shown);
            thought.ok_or_else(|| {
                let why = format!("The encrypted content for item {id} could not be verified.");
                Refusal::bad(why).at("input").code("invalid_encrypted_content")
            })
        }
        None if stored => Ok(shown),
        None => {
            let why = format!(
                "Item with id '{id}' not found. Items are not persisted when `store` is set to false."
            );
            Err(Refusal { status: 404, ..Refusal::bad(why).at("input") })
        }
    }
}

/// An item has the id that it was given, or none.
fn item_id(item: &Value, at: usize, prefix: &str) -> Result<(), Refusal> {
    let id = text(item, "id");
    if id.is_empty() || id.starts_with(&format!("{prefix}_")) {
        return Ok(());
    }
    let place = format!("input[{at}].id");
    let why = format!("Invalid '{place}': '{id}'. Expected an ID that begins with '{prefix}'.");
    Err(Refusal::bad(why).at(place).code("invalid_value"))
}
