//! The schema of a Rust type, as models and people get it.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

/// Keywords by which a schema says more about an object than its own `properties` do.
const COMBINING: [&str; 9] = [
    "$ref",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "patternProperties",
    "dependentSchemas",
    "$dynamicRef",
];

/// The JSON Schema of `A`: doc comments become descriptions, `#[schemars(extend("writeOnly" = true))]`
/// makes a field a secret, in whose place people are shown `[secret]`. Fields that the type does not have are refused, also where serde would
/// ignore them: nobody should approve a word that changes nothing.
///
/// ```
/// #[derive(schemars::JsonSchema)]
/// struct Refund {
///     /// The order's number.
///     order: u64,
/// }
/// let schema = holdpoint_tools::typed::schema_of::<Refund>();
/// assert_eq!(schema["properties"]["order"]["description"], "The order's number.");
/// assert_eq!(schema["additionalProperties"], false);
/// ```
pub fn schema_of<A: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.meta_schema = None;
        // Providers and people read a schema from top to bottom.
        settings.inline_subschemas = true;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<A>().to_value();
    if let Value::Object(root) = &mut schema {
        root.remove("title");
    }
    close_schema(&mut schema);
    schema
}

fn close_schema(schema: &mut Value) {
    let Value::Object(object) = schema else { return };
    let is_plain = object.get("properties").is_some_and(Value::is_object)
        && !COMBINING.iter().any(|keyword| object.contains_key(*keyword));
    if is_plain && !object.contains_key("additionalProperties") {
        object.insert("additionalProperties".into(), Value::Bool(false));
    }
    // Not into alternatives: what one of them does not know may stand beside it.
    if let Some(Value::Object(properties)) = object.get_mut("properties") {
        properties.values_mut().for_each(close_schema);
    }
    close_items(object);
}

fn close_items(object: &mut Map<String, Value>) {
    if let Some(items) = object.get_mut("items") {
        close_schema(items);
    }
    if let Some(Value::Array(items)) = object.get_mut("prefixItems") {
        items.iter_mut().for_each(close_schema);
    }
}
