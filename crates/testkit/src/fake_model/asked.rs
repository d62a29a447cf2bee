//! What a sound request asks, whichever API it came over.

use serde_json::Value;

use super::api::Refusal;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Asked {
    pub(super) stream: bool,
    /// The last words of the user.
    pub(super) says: String,
    /// The results that came since the last turn, in order.
    pub(super) results: Vec<String>,
}

/// What vendors take as the name of a tool.
pub(super) fn is_tool_name(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
}

pub(super) fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key].as_array().map_or(&[], Vec::as_slice)
}

pub(super) fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

/// The text of a content that is a string or a list of parts with texts.
pub(super) fn words(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            parts.iter().filter_map(|part| part["text"].as_str()).collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}

pub(super) fn quoted(ids: &[&str]) -> String {
    ids.join(", ")
}

/// A schema that describes an object: anything else is refused by every vendor.
pub(super) fn object_schema(schema: &Value, at: &str) -> Result<(), Refusal> {
    if schema.is_object() && schema["type"] == "object" {
        return Ok(());
    }
    Err(Refusal::bad(format!("{at}: the schema must be an object with type `object`")))
}
