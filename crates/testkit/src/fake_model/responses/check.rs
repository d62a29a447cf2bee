//! What OpenAI asks of a request for a response, besides the pairing of calls and outputs.

use serde_json::Value;

use super::super::api::{Api, Refusal};
use super::super::asked::{Asked, is_tool_name, list, object_schema, text, words};
use super::super::memory::Memory;
use super::items::{input, kind, wants_seals};
use super::pairing;

pub(in super::super) fn check(
    body: &Value,
    memory: &Memory,
    models: &[String],
) -> Result<Asked, Refusal> {
    if !body.is_object() {
        return Err(Refusal::bad("We could not parse the JSON body of your request."));
    }
    let missing = || Refusal::bad("Missing required parameter: 'model'.").at("model");
    let model = body["model"].as_str().ok_or_else(missing)?;
    if !models.iter().any(|known| known == model) {
        return Err(Refusal::no_model(Api::Responses, model));
    }
    for (at, tool) in list(body, "tools").iter().enumerate() {
        function(at, tool)?;
    }
    let Some(items) = input(body, memory) else {
        let before = text(body, "previous_response_id");
        let message = format!("Previous response with id '{before}' not found.");
        let refusal = Refusal::bad(message).at("previous_response_id");
        return Err(refusal.code("previous_response_not_found"));
    };
    if items.is_empty() {
        let message = "Missing required parameter: 'input'.";
        return Err(Refusal::bad(message).at("input").code("missing_required_parameter"));
    }
    pairing::check(&items, memory, body["store"] != false, wants_seals(body))?;
    Ok(asked(body, &items))
}

fn function(at: usize, tool: &Value) -> Result<(), Refusal> {
    if tool["type"] != "function" {
        let message = format!("Invalid value for 'tools[{at}].type'.");
        return Err(Refusal::bad(message).at(format!("tools[{at}].type")));
    }
    let name = text(tool, "name");
    if !is_tool_name(name) {
        let place = format!("tools[{at}].name");
        let message = format!(
            "Invalid '{place}': string does not match pattern. Expected a string that matches the \
             pattern '^[a-zA-Z0-9_-]+$'."
        );
        return Err(Refusal::bad(message).at(place).code("invalid_value"));
    }
    let schema = &tool["parameters"];
    let refused = |refusal: Refusal| {
        refusal.at(format!("tools[{at}].parameters")).code("invalid_function_parameters")
    };
    object_schema(schema, &format!("Invalid schema for function '{name}'")).map_err(refused)?;
    if tool["strict"] == true && !is_strict(schema) {
        let message = format!(
            "Invalid schema for function '{name}': 'additionalProperties' is required to be supplied \
             and to be false, and 'required' to name every property."
        );
        return Err(refused(Refusal::bad(message)));
    }
    Ok(())
}

fn is_strict(schema: &Value) -> bool {
    let required = list(schema, "required");
    let properties = schema["properties"].as_object();
    schema["additionalProperties"] == false
        && properties.is_none_or(|all| all.keys().all(|key| required.iter().any(|r| r == key)))
}

fn asked(body: &Value, items: &[Value]) -> Asked {
    let user = items.iter().rev().find(|item| kind(item) == "message" && item["role"] == "user");
    let from_model = |item: &Value| {
        matches!(kind(item), "function_call" | "reasoning") || item["role"] == "assistant"
    };
    // Of outputs that stand between the calls of a turn only the last ones are fresh; the scripts
    // that choose by results are for clients that send all outputs behind all calls.
    let fresh = &items[items.iter().rposition(from_model).map_or(0, |at| at + 1)..];
    let results = fresh.iter().filter(|item| kind(item) == "function_call_output");
    Asked {
        stream: body["stream"] == true,
        says: user.map(|item| words(&item["content"])).unwrap_or_default(),
        results: results.map(|item| words(&item["output"])).collect(),
    }
}
