//! JSON Schema: what a tool takes, and what a form must hold.
//!
//! Nothing is ever fetched: a schema that points outside itself is refused when it is read, and so
//! is one that would run for ever. Messages never repeat a value, which may be a secret, and what people are
//! told never repeats the schema, which others wrote.

mod fault;
mod growth;
mod loops;
mod secret;

use std::fmt;
use std::ops::Deref;

use jsonschema::{Draft, PatternOptions, Retrieve, Uri};
use serde_json::Value;

pub use fault::SchemaFault;
pub use secret::{
    SECRET, redact, redacted, restore, visit_secrets, without_secrets, write_only_pointers,
};

use crate::json::canonical;

/// A form or a tool that needs more than this is not made for people.
pub const SCHEMA_BYTES_MAX: usize = 256 << 10;
/// Schemas that are nested deeper are refused, as reading them takes stack.
pub(crate) const SCHEMA_DEPTH_MAX: usize = 64;
/// What one pattern may grow to when compiled.
const PATTERN_SIZE_MAX: usize = 1 << 20;
/// Nobody reads further.
const ERRORS_MAX: usize = 20;

/// A schema made ready. Making one is slow and using it is fast: keep it.
///
/// ```
/// use holdpoint_domain::schema::Validator;
/// use serde_json::json;
/// let validator = Validator::new(&json!({"required": ["sql"]})).unwrap();
/// assert!(validator.check(&json!({"sql": "SELECT 1"})).is_ok());
/// assert!(validator.check(&json!({})).is_err());
/// ```
pub struct Validator(jsonschema::Validator);

impl Validator {
    /// Reads a schema as Draft 2020-12.
    pub fn new(schema: &Value) -> Result<Validator, String> {
        check_size(schema)?;
        loops::check(schema)?;
        growth::check(schema)?;
        jsonschema::options()
            .with_draft(Draft::Draft202012)
            .with_retriever(Refuse)
            // Linear in the length of the text, whatever the pattern: a form must not be able to
            // stop the server.
            .with_pattern_options(
                PatternOptions::regex()
                    .size_limit(PATTERN_SIZE_MAX)
                    .dfa_size_limit(PATTERN_SIZE_MAX),
            )
            .build(schema)
            .map(Validator)
            .map_err(|error| match error.schema_path().as_str() {
                "" => format!("the schema cannot be used: {error}"),
                at => format!("the schema cannot be used: {error} (at {at})"),
            })
    }

    /// Whether the value satisfies the schema, and if not, in what.
    pub fn check(&self, value: &Value) -> Result<(), SchemaErrors> {
        // Most values are valid, and finding that out costs less than listing what is wrong.
        if self.0.is_valid(value) {
            return Ok(());
        }
        let errors = self
            .0
            .iter_errors(value)
            .take(ERRORS_MAX)
            .map(|error| SchemaError {
                pointer: error.instance_path().to_string(),
                fault: SchemaFault::of(error.kind()),
                message: error.masked_with("the value").to_string(),
            })
            .collect();
        Err(SchemaErrors(errors))
    }
}

impl fmt::Debug for Validator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Validator")
    }
}

/// Checks one value once. Who checks often keeps a [`Validator`].
pub fn check(schema: &Value, value: &Value) -> Result<(), SchemaErrors> {
    let validator = Validator::new(schema).map_err(|message| {
        let (pointer, fault) = (String::new(), SchemaFault::Other);
        SchemaErrors(vec![SchemaError { pointer, fault, message }])
    })?;
    validator.check(value)
}

/// Whether a schema of the configuration can be used at all.
pub fn compile_check(schema: &Value) -> Result<(), String> {
    Validator::new(schema).map(drop)
}

/// What is wrong with a value, and where. Its `Display` is for people, and has words of ours alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaError {
    /// JSON pointer into the value; empty for the value as a whole.
    pub pointer: String,
    /// What is wrong, without the words of the schema.
    pub fault: SchemaFault,
    /// In the words of the schema.
    message: String,
}

impl SchemaError {
    /// The way to the value, if its names cannot be read as anything else.
    pub fn plain_way(&self) -> Option<&str> {
        fault::plain_way(&self.pointer)
    }
}

impl fmt::Display for SchemaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let colon = if matches!(self.fault, SchemaFault::Missing { .. }) { ":" } else { "" };
        match self.plain_way() {
            Some(way) => write!(f, "`{way}`{colon} {}", self.fault),
            None if self.pointer.is_empty() => write!(f, "{}", self.fault),
            None => write!(f, "a field{colon} {}", self.fault),
        }
    }
}

/// At least one, at most twenty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaErrors(Vec<SchemaError>);

impl SchemaErrors {
    /// In the words of the schema, for a model that wrote the value and was given the schema. People are told by
    /// `Display`.
    pub fn in_schema_words(&self) -> String {
        let told = |error: &SchemaError| match error.pointer.as_str() {
            "" => error.message.clone(),
            pointer => format!("{pointer}: {}", error.message),
        };
        self.iter().map(told).collect::<Vec<_>>().join("; ")
    }
}

impl Deref for SchemaErrors {
    type Target = [SchemaError];

    fn deref(&self) -> &[SchemaError] {
        &self.0
    }
}

impl fmt::Display for SchemaErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, error) in self.iter().enumerate() {
            write!(f, "{}{error}", if index > 0 { "; " } else { "" })?;
        }
        Ok(())
    }
}

impl std::error::Error for SchemaErrors {}

/// The features of the crate that fetch are off, and this keeps them off.
struct Refuse;

impl Retrieve for Refuse {
    fn retrieve(
        &self,
        uri: &Uri<String>,
    ) -> Result<Value, Box<dyn std::error::Error + Send + Sync>> {
        Err(format!("`{uri}` is outside the schema, and nothing is fetched").into())
    }
}

fn check_size(schema: &Value) -> Result<(), String> {
    if depth(schema, SCHEMA_DEPTH_MAX + 1) > SCHEMA_DEPTH_MAX {
        return Err(format!("the schema is nested deeper than {SCHEMA_DEPTH_MAX} levels"));
    }
    let bytes = canonical(schema).len();
    if bytes > SCHEMA_BYTES_MAX {
        return Err(format!(
            "the schema has {bytes} bytes, and at most {SCHEMA_BYTES_MAX} are taken"
        ));
    }
    Ok(())
}

/// How deep a value is, counted no further than `enough`.
fn depth(value: &Value, enough: usize) -> usize {
    if enough == 0 {
        return 0;
    }
    let inner = |item| depth(item, enough - 1);
    match value {
        Value::Array(items) => 1 + items.iter().map(inner).max().unwrap_or(0),
        Value::Object(object) => 1 + object.values().map(inner).max().unwrap_or(0),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn says_what_is_wrong_and_where_but_not_the_value() {
        let schema = json!({
            "type": "object",
            "properties": {"age": {"type": "integer"}, "names": {"items": {"maxLength": 3}}},
            "required": ["age"],
            "additionalProperties": false,
        });
        assert_eq!(check(&schema, &json!({"age": 3, "names": ["Ana"]})), Ok(()));
        let errors =
            check(&schema, &json!({"age": "hunter2", "names": ["ok", "hunter2"]})).unwrap_err();
        assert_eq!(
            errors.to_string(),
            "`age` is not of the type integer; `names/1` has more than 3 characters"
        );
        assert_eq!(
            errors.in_schema_words(),
            "/age: the value is not of type \"integer\"; \
             /names/1: the value is longer than 3 characters"
        );
        let errors = check(&schema, &json!({})).unwrap_err();
        assert_eq!(errors.to_string(), "`age` is missing");
        assert_eq!(errors.in_schema_words(), "\"age\" is a required property");
    }

    #[test]
    fn other_drafts_are_read_as_2020_12() {
        let schema = json!({
            "$schema": "http://json-schema.org/draft-07/schema#",
            "prefixItems": [{"type": "string"}],
        });
        assert!(check(&schema, &json!([1])).is_err());
    }

    #[test]
    fn nothing_is_fetched() {
        for reference in [
            "http://127.0.0.1:1/x",
            "https://example.com/schema.json",
            "file:///etc/passwd",
            "other.json",
            "#/$defs/missing",
        ] {
            let schema = json!({"properties": {"a": {"$ref": reference}}});
            let refusal = compile_check(&schema).unwrap_err();
            assert!(refusal.contains(reference), "{refusal}");
        }
    }

    #[test]
    fn hopeless_schemas_are_refused() {
        assert!(compile_check(&json!({"type": "text"})).is_err());
        assert!(compile_check(&json!({"pattern": "("})).is_err());
        assert!(compile_check(&json!([])).is_err());
        assert!(compile_check(&json!({"pattern": "(a{1000}){1000}"})).is_err());
        let deep = (0..SCHEMA_DEPTH_MAX).fold(json!({}), |inner, _| json!({"not": inner}));
        assert!(compile_check(&deep).unwrap_err().contains("nested deeper"));
        let long = json!({"description": "x".repeat(SCHEMA_BYTES_MAX)});
        assert!(compile_check(&long).unwrap_err().contains("bytes"));
    }

    #[test]
    fn a_pattern_cannot_stop_the_server() {
        // Backtracking would take 2^40 steps.
        let schema = json!({"pattern": "^(a+)+$"});
        assert!(check(&schema, &json!(format!("{}b", "a".repeat(40)))).is_err());
    }

    #[test]
    fn a_schema_that_doubles_at_every_level_is_refused() {
        let twice = json!({"properties": {"c": {"allOf": [{"$ref": "#"}, {"$ref": "#"}]}}});
        assert!(compile_check(&twice).unwrap_err().contains("twice"));
    }

    #[test]
    fn lists_a_bounded_number_of_errors() {
        let errors = check(&json!({"items": {"type": "null"}}), &json!(vec![0; 1000])).unwrap_err();
        assert_eq!(errors.len(), ERRORS_MAX);
    }

    fn schema_like() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(json!({"type": "string"})),
            Just(json!({"$ref": "#"})),
            Just(json!({"$ref": "#/a/b"})),
            Just(json!(true)),
            Just(json!(3)),
        ];
        leaf.prop_recursive(4, 24, 3, |inner| {
            prop_oneof![
                proptest::collection::btree_map(
                    prop_oneof![
                        Just("a".to_owned()),
                        Just("b".to_owned()),
                        Just("not".to_owned()),
                        Just("properties".to_owned()),
                        Just("items".to_owned()),
                        Just("if".to_owned()),
                        Just("then".to_owned()),
                        Just("$ref".to_owned()),
                    ],
                    inner.clone(),
                    0..4
                )
                .prop_map(|map| Value::Object(map.into_iter().collect())),
                proptest::collection::vec(inner, 0..3).prop_map(|all| json!({"allOf": all})),
            ]
        })
    }

    proptest! {
        #[test]
        fn no_schema_panics_or_runs_for_ever(schema in schema_like(), value in schema_like()) {
            let _ = check(&schema, &value);
            let pointers = write_only_pointers(&schema);
            let _ = redact(&value, &pointers);
        }
    }
}
