//! The body of a chat. Clients send all that was ever said, and only the last message is read: the rest
//! is passed over piece by piece, so that a long chat costs little and never becomes too long to go on.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use super::super::unique_keys::{self, UniqueKeys};

/// A body with no more than the last of its `messages`.
#[derive(Debug)]
pub(crate) struct LastMessage(pub(crate) Value);

impl<'de> Deserialize<'de> for LastMessage {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<LastMessage, D::Error> {
        from.deserialize_map(BodyVisitor).map(LastMessage)
    }
}

struct BodyVisitor;

impl<'de> Visitor<'de> for BodyVisitor {
    type Value = Value;

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut read = Map::new();
        while let Some(key) = map.next_key::<String>()? {
            let value = match key.as_str() {
                "messages" => map.next_value::<Last>()?.0,
                _ => map.next_value::<UniqueKeys>()?.0,
            };
            unique_keys::add(&mut read, key, value)?;
        }
        Ok(Value::Object(read))
    }
}

/// A list of which only the last item is kept.
struct Last(Value);

impl<'de> Deserialize<'de> for Last {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Last, D::Error> {
        from.deserialize_seq(Items).map(Last)
    }
}

struct Items;

impl<'de> Visitor<'de> for Items {
    type Value = Value;

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("a list of messages")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut last = None;
        while let Some(UniqueKeys(item)) = items.next_element()? {
            last = Some(item);
        }
        Ok(Value::Array(last.into_iter().collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn of_all_messages_the_last_is_kept_and_everything_else_as_it_is() {
        let read =
            |text: &str| serde_json::from_str::<LastMessage>(text).map(|LastMessage(value)| value);
        let body =
            r#"{"id": "c", "messages": [{"a": 1}, 2, {"b": [3]}], "x": {"messages": [1, 2]}}"#;
        let kept = json!({"id": "c", "messages": [{"b": [3]}], "x": {"messages": [1, 2]}});
        assert_eq!(read(body).expect("sound"), kept);
        assert_eq!(read(r#"{"messages": []}"#).expect("sound"), json!({"messages": []}));
        for unsound in [
            "[]",
            "1",
            r#"{"messages": "x"}"#,
            r#"{"messages": [}"#,
            r#"{"messages": [1], "messages": [2]}"#,
            r#"{"messages": [{"approved": false, "approved": true}]}"#,
        ] {
            assert!(read(unsound).is_err(), "{unsound}");
        }
    }
}
