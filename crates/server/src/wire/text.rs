//! Values that are written as texts, straight into the reply. Most of a reply is ids, moments and
//! digests, and a `String` for each would cost more than writing it.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt::Display;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Serialize, Serializer};

/// As its `Display` says it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Text<T>(pub(crate) T);

impl<T: Display> Serialize for Text<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl<T> JsonSchema for Text<T> {
    fn inline_schema() -> bool {
        String::inline_schema()
    }

    fn schema_name() -> Cow<'static, str> {
        String::schema_name()
    }

    fn schema_id() -> Cow<'static, str> {
        String::schema_id()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        String::json_schema(generator)
    }
}

/// A list of texts.
pub(super) fn texts<T: Display, S: Serializer>(
    items: &&BTreeSet<T>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(items.iter().map(Text))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_text_is_written_as_a_string_would_be() {
        let odd = "a \"b\"\n\u{1}é";
        assert_eq!(json!(Text(odd)), json!(odd));
        let written = serde_json::to_string(&Text(odd)).expect("json");
        assert_eq!(written, serde_json::to_string(odd).expect("json"));
    }
}
