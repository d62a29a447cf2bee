//! JSON that others wrote: metadata, context, forms, schemas.

use std::borrow::Cow;

use serde::de::{Deserialize, Deserializer, Error as _};
use serde::ser::{Serialize, Serializer};
use serde_json::Value;

/// Values nested deeper than this are written as text. A reader takes at most 128 levels, and a
/// value as deep as our own door lets in would stand deeper still inside a row: written, durable,
/// and never readable again.
const DEPTH_INLINE: usize = 48;

/// Inline where possible, so that people can read the audit log. A JSON string on disk always
/// holds JSON text, so the two spellings cannot be confused.
#[derive(Clone, Debug)]
pub(super) struct Json<'a>(pub(super) Cow<'a, Value>);

impl<'a> From<&'a Value> for Json<'a> {
    fn from(value: &'a Value) -> Json<'a> {
        Json(Cow::Borrowed(value))
    }
}

impl Json<'_> {
    pub(super) fn value(self) -> Value {
        self.0.into_owned()
    }
}

fn is_deeper_than(value: &Value, depth: usize) -> bool {
    let deeper = |inner: &Value| depth == 0 || is_deeper_than(inner, depth - 1);
    match value {
        Value::Array(items) => items.iter().any(deeper),
        Value::Object(map) => map.values().any(deeper),
        _ => false,
    }
}

impl Serialize for Json<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let value = &*self.0;
        if value.is_string() || is_deeper_than(value, DEPTH_INLINE) {
            serializer.serialize_str(&value.to_string())
        } else {
            value.serialize(serializer)
        }
    }
}

impl<'de> Deserialize<'de> for Json<'_> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = match Value::deserialize(deserializer)? {
            Value::String(text) => serde_json::from_str(&text)
                .map_err(|_| D::Error::custom("text that is not JSON"))?,
            value => value,
        };
        Ok(Json(Cow::Owned(value)))
    }
}

pub(super) fn is_null(json: &Json<'_>) -> bool {
    json.0.is_null()
}

pub(super) fn null<'a>() -> Json<'a> {
    Json(Cow::Owned(Value::Null))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(value: &Value, inline: bool) {
        let text = serde_json::to_string(&Json::from(value)).unwrap();
        assert_eq!(!text.starts_with('"'), inline, "{text}");
        assert_eq!(serde_json::from_str::<Json<'_>>(&text).unwrap().value(), *value);
    }

    #[test]
    fn values_stand_inline_and_texts_are_quoted_twice() {
        for value in [json!({"a": [1, 2.5, null]}), json!([]), json!(7), json!(true)] {
            check(&value, true);
        }
        for value in [json!("plain"), json!("{\"a\":1}"), json!("")] {
            check(&value, false);
        }
    }

    #[test]
    fn a_value_as_deep_as_the_door_lets_in_can_be_read_again() {
        let deep = format!("{}{}", "[".repeat(126), "]".repeat(126));
        let value: Value = serde_json::from_str(&deep).unwrap();
        check(&value, false);
        let wrapped =
            format!("{{\"a\":[[[[{}]]]]}}", serde_json::to_string(&Json::from(&value)).unwrap());
        assert!(serde_json::from_str::<Value>(&wrapped).is_ok());
    }
}
