//! What is wrong with one field of an answer. A page words it in its reader's language, so nothing of a schema,
//! which others wrote, stands among its own words.

use domain::refusal::AnswerFault;
use domain::schema::{SchemaError, SchemaErrors, SchemaFault};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde_json::Number;

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct FieldFault {
    /// As in `field`: `fill/release/notes`, or `arguments` and a JSON pointer.
    field: String,
    #[schemars(schema_with = "code_shape")]
    code: &'static str,
    /// What the value was measured against.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<f64>")]
    bound: Option<Number>,
    /// JSON types, with `wrong_type`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    types: Vec<&'static str>,
    /// With `missing`, where the name cannot be read as anything else.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
}

impl FieldFault {
    /// Of what does not fit a schema; of other faults none.
    pub(crate) fn list(why: &AnswerFault) -> Vec<FieldFault> {
        match why {
            AnswerFault::NotAsTheForm(errors) => listed("fill", errors),
            AnswerFault::NotAsTheTool(errors) => listed("arguments", errors),
            _ => Vec::new(),
        }
    }
}

fn listed(root: &str, errors: &SchemaErrors) -> Vec<FieldFault> {
    errors.iter().map(|error| of(root, error)).collect()
}

fn of(root: &str, error: &SchemaError) -> FieldFault {
    let (types, name) = match &error.fault {
        SchemaFault::WrongType { types } => (types.clone(), None),
        SchemaFault::Missing { name } => (Vec::new(), name.clone()),
        _ => (Vec::new(), None),
    };
    FieldFault {
        field: format!("{root}{}", error.pointer),
        code: error.fault.code(),
        bound: error.fault.bound().cloned(),
        types,
        name,
    }
}

fn code_shape(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "string", "enum": SchemaFault::CODES})
}
