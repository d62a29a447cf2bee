//! How a tool is offered to a model.

use domain::tool::{Confirm, Tool};
use ports::model::ToolOffer;
use serde_json::{Map, Value, json};

/// The same tool gives the same offer, so the engine makes it once and keeps it.
pub fn tool_offer(tool: &Tool) -> ToolOffer {
    let input_schema = match tool.confirm {
        Confirm::Held => offered_schema(&tool.input_schema),
        Confirm::TwoPhase => with_confirmed(&offered_schema(&tool.input_schema)),
    };
    ToolOffer { name: tool.name.clone(), description: tool.description.clone(), input_schema }
}

/// The schema as providers take it: one that they refuse would end every request of the agent. What is
/// left out here still holds: the arguments are checked against the whole.
fn offered_schema(schema: &Value) -> Value {
    let mut schema = schema.clone();
    let Some(object) = schema.as_object_mut() else { return schema };
    for at_the_root in ["oneOf", "anyOf", "allOf"] {
        object.remove(at_the_root);
    }
    object.entry("properties").or_insert_with(|| Value::Object(Map::new()));
    schema
}

/// The schema of a two-phase tool as the model sees it. The tool's own schema never has the key:
/// the configuration refuses such a tool.
fn with_confirmed(schema: &Value) -> Value {
    let mut schema = schema.clone();
    let Some(object) = schema.as_object_mut() else { return schema };
    let properties = object.entry("properties").or_insert_with(|| Value::Object(Map::new()));
    if let Some(properties) = properties.as_object_mut() {
        let confirmed = json!({
            "type": "boolean",
            "description": "Leave this out at first. Set it to true only when you are told that a person has approved this call.",
        });
        properties.insert("confirmed".into(), confirmed);
    }
    schema
}
