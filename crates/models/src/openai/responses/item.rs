//! An item of the output: a message, a call, a piece of thinking. Whole items are all that counts;
//! what was said of them on the way is only shown.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::fault::Trouble;

#[derive(Debug)]
pub(super) enum Item {
    Text(String),
    Thinking {
        text: String,
        raw: String,
    },
    Call {
        call_id: String,
        name: String,
        arguments: String,
    },
    /// One that we know nothing of, and have not asked for.
    Other,
}

#[derive(Deserialize)]
struct Raw {
    #[serde(rename = "type")]
    kind: Option<String>,
    status: Option<String>,
    call_id: Option<String>,
    id: Option<String>,
    name: Option<String>,
    arguments: Option<Value>,
    content: Option<Vec<OutputText>>,
    summary: Option<Vec<OutputText>>,
}

#[derive(Deserialize)]
struct OutputText {
    text: Option<String>,
    refusal: Option<String>,
}

impl Item {
    /// `None` for one that is said to be unfinished.
    pub(super) fn parse(raw: &RawValue) -> Result<Option<Item>, Trouble> {
        let item: Raw =
            serde_json::from_str(raw.get()).map_err(|error| Trouble::not_json(&error))?;
        if item.status.as_deref().is_some_and(|status| status != "completed") {
            return Ok(None);
        }
        Ok(Some(match item.kind.as_deref() {
            Some("message") => Item::Text(joined(item.content, "")),
            Some("reasoning") => {
                let summary = joined(item.summary, "\n\n");
                let text = if summary.is_empty() { joined(item.content, "") } else { summary };
                Item::Thinking { text, raw: raw.get().to_owned() }
            }
            Some("function_call") => Item::Call {
                call_id: item.call_id.or(item.id).unwrap_or_default(),
                name: item.name.unwrap_or_default(),
                arguments: match item.arguments {
                    None | Some(Value::Null) => String::new(),
                    Some(Value::String(text)) => text,
                    Some(value) => value.to_string(),
                },
            },
            _ => Item::Other,
        }))
    }
}

fn joined(texts: Option<Vec<OutputText>>, between: &str) -> String {
    let texts = texts.into_iter().flatten().filter_map(|text| text.text.or(text.refusal));
    texts.collect::<Vec<_>>().join(between)
}

/// A piece of thinking as it goes back: as it came, without what only has a meaning where it is kept.
/// `None` for one that cannot go back, since nobody kept it.
pub(super) fn returned(raw: &str) -> Option<Value> {
    let mut item: Value = serde_json::from_str(raw).ok()?;
    let object = item.as_object_mut()?;
    // The provider would look the item up by it, and has not kept it.
    object.remove("id");
    object.remove("status");
    let has = |object: &serde_json::Map<String, Value>, key: &str| {
        object.get(key).is_some_and(|value| match value {
            Value::String(text) => !text.is_empty(),
            Value::Array(items) => !items.is_empty(),
            _ => false,
        })
    };
    if has(object, "encrypted_content") {
        // Beside the encrypted form the vendor refuses the plain one.
        object.remove("content");
    } else if !has(object, "content") {
        return None;
    }
    if !object.contains_key("summary") {
        object.insert("summary".into(), Value::Array(Vec::new()));
    }
    Some(item)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn thinking_goes_back_if_somebody_can_read_it() {
        let encrypted = r#"{"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"x"}],"encrypted_content":"gAAA==","status":"completed","content":[]}"#;
        let wanted = json!({"type": "reasoning", "encrypted_content": "gAAA==",
            "summary": [{"type": "summary_text", "text": "x"}]});
        assert_eq!(returned(encrypted), Some(wanted));
        let plain =
            r#"{"id":"rs_1","type":"reasoning","content":[{"type":"reasoning_text","text":"x"}]}"#;
        let wanted = json!({"type": "reasoning", "summary": [],
            "content": [{"type": "reasoning_text", "text": "x"}]});
        assert_eq!(returned(plain), Some(wanted));
        assert_eq!(returned(r#"{"id":"rs_1","type":"reasoning","summary":[]}"#), None);
        assert_eq!(returned("no json"), None);
    }
}
