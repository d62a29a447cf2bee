//! An object within a body. Left to itself, serde takes a list of the right length in its place.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};

/// An object, or nothing.
pub(super) fn object<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    from: D,
) -> Result<Option<T>, D::Error> {
    from.deserialize_any(Object(PhantomData))
}

struct Object<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for Object<T> {
    type Value = Option<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_unit<E>(self) -> Result<Option<T>, E> {
        Ok(None)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Option<T>, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize as Derived;

    use super::*;

    #[derive(Debug, PartialEq, Derived)]
    struct Inner {
        tool: String,
    }

    #[derive(Debug, PartialEq, Derived)]
    struct Body {
        #[serde(default, deserialize_with = "object")]
        call: Option<Inner>,
    }

    #[test]
    fn a_list_is_not_an_object() {
        let read = |text: &str| serde_json::from_str::<Body>(text);
        assert_eq!(
            read(r#"{"call":{"tool":"t"}}"#).unwrap().call,
            Some(Inner { tool: "t".into() })
        );
        assert_eq!(read(r#"{"call":null}"#).unwrap().call, None);
        assert_eq!(read("{}").unwrap().call, None);
        let refused = read(r#"{"call":["t"]}"#).unwrap_err().to_string();
        assert!(refused.starts_with("invalid type: sequence, expected an object"), "{refused}");
    }
}
