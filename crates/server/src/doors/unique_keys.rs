//! Any JSON in which no object has the same key twice. Of two members the usual reader keeps the last,
//! and another one on the way (a proxy, a log) may have seen the first: a body that says two things
//! says nothing.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

#[derive(Debug)]
pub(crate) struct UniqueKeys(pub(crate) Value);

impl<'de> Deserialize<'de> for UniqueKeys {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<UniqueKeys, D::Error> {
        from.deserialize_any(Anything).map(UniqueKeys)
    }
}

/// Puts a member into an object that does not have it yet.
pub(crate) fn add<E: Error>(
    to: &mut Map<String, Value>,
    key: String,
    value: Value,
) -> Result<(), E> {
    // mutant: ai-sdk-body-read-twice
    match to.insert(key, value) {
        None => Ok(()),
        Some(_) => Err(E::custom("a key stands twice in the same object; write each key once")),
    }
}

struct Anything;

impl<'de> Visitor<'de> for Anything {
    type Value = Value;

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, is: bool) -> Result<Value, E> {
        Ok(is.into())
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_u64<E>(self, number: u64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_f64<E>(self, number: f64) -> Result<Value, E> {
        Ok(Number::from_f64(number).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(text.into())
    }

    fn visit_string<E>(self, text: String) -> Result<Value, E> {
        Ok(text.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut read = Vec::new();
        while let Some(UniqueKeys(item)) = items.next_element()? {
            read.push(item);
        }
        Ok(Value::Array(read))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut read = Map::new();
        while let Some((key, UniqueKeys(value))) = members.next_entry::<String, UniqueKeys>()? {
            add(&mut read, key, value)?;
        }
        Ok(Value::Object(read))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_says_one_thing_is_read_as_it_is_and_what_says_two_is_not() {
        let read =
            |text: &str| serde_json::from_str::<UniqueKeys>(text).map(|UniqueKeys(value)| value);
        let sound = r#"{"a":[null,true,-1,2,0.5,"x\n",{}],"b":{"a":{"a":1}}}"#;
        assert_eq!(read(sound).expect("sound"), serde_json::from_str::<Value>(sound).unwrap());
        for unsound in [r#"{"a":1,"a":1}"#, r#"[{"b":{"a":1,"\u0061":2}}]"#, r#"{"a":}"#, ""] {
            assert!(read(unsound).is_err(), "{unsound}");
        }
        // To the usual reader this is a number and not an object.
        let odd = r#"{"$serde_json::private::RawValue":"[true]"}"#;
        assert!(read(odd).expect("an object").is_object());
    }
}
