//! What an answer may look like, for `/openapi.json`. `answer` reads it member by member, because
//! edited arguments must be kept to the byte; so its shape is written down here by hand, and a test
//! holds the two together.

use domain::limits::REASON_BYTES_MAX;
use domain::policy::Op;
use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

pub(super) fn shape(_: &mut SchemaGenerator) -> Schema {
    let text = json!({"type": ["string", "null"]});
    let reason = json!({"type": ["string", "null"], "maxLength": REASON_BYTES_MAX});
    let flag = json!({"type": ["boolean", "null"]});
    let approve = closed(
        "for a hold of kind `approve`; `session` leaves a grant for the rest of the session",
        json!({
            "verdict": {"const": "approve"},
            "scope": {"enum": ["once", null]},
            "arguments": {"type": "object", "description": "edited"},
            "note": reason,
            "grant": {"type": "null"},
        }),
        &["verdict"],
    );
    let mut granting = approve.clone();
    granting["properties"]["scope"] = json!({"const": "session"});
    granting["properties"]["grant"] = grant();
    granting["required"] = json!(["verdict", "scope"]);
    let shapes = [
        approve,
        granting,
        closed(
            "for every kind; `stop` ends the run",
            json!({"verdict": {"const": "deny"}, "reason": reason, "stop": flag}),
            &["verdict"],
        ),
        closed(
            "for `approve`: the model gets this in the tool's place",
            json!({"verdict": {"const": "respond"}, "content": {"type": "string", "pattern": r"\S"}}),
            &["verdict", "content"],
        ),
        closed(
            "for `choose`: ids or labels of options",
            json!({"choose": {"type": "array", "items": {"type": "string"}, "minItems": 1}}),
            &["choose"],
        ),
        closed(
            "for `fill`: by the hold's schema; `{\"text\"}` without one",
            json!({"fill": {"type": "object"}}),
            &["fill"],
        ),
        closed(
            "for `perform`: what the tool would have returned",
            json!({
                "perform": closed(
                    "",
                    json!({"content": {"type": "string"}, "is_error": flag}),
                    &["content"],
                ),
            }),
            &["perform"],
        ),
        closed(
            "for `settle`: what really happened",
            json!({"settle": {"enum": ["succeeded", "failed", "retry"]}, "content": text}),
            &["settle"],
        ),
    ];
    schema(json!({"oneOf": shapes}))
}

/// The bounds of a standing grant.
fn grant() -> Value {
    let mut condition = Map::new();
    for name in Op::NAMES {
        condition.insert((*name).into(), json!({}));
    }
    condition.insert("pointer".into(), json!({"type": "string", "examples": ["/path"]}));
    let condition = json!({
        "type": "object",
        "properties": condition,
        "required": ["pointer"],
        "minProperties": 2,
        "additionalProperties": false,
    });
    let mut grant = closed(
        "for a day and a hundred uses of the very same call, if not said otherwise",
        json!({
            "expires_in_s": {"type": ["integer", "null"], "minimum": 1, "maximum": u64::MAX},
            "uses": {"type": ["integer", "null"], "minimum": 1, "maximum": u64::MAX},
            "args": {"oneOf": [
                {"type": "array", "items": condition, "minItems": 1},
                {"const": "any", "description": "any arguments; without `args`, the very same call only"},
                {"type": "null"},
            ]},
        }),
        &[],
    );
    grant["type"] = json!(["object", "null"]);
    grant
}

/// An object with these members and no others.
fn closed(says: &str, members: Value, required: &[&str]) -> Value {
    let mut object =
        json!({"type": "object", "properties": members, "additionalProperties": false});
    if !says.is_empty() {
        object["description"] = json!(says);
    }
    if !required.is_empty() {
        object["required"] = json!(required);
    }
    object
}

fn schema(value: Value) -> Schema {
    match value {
        Value::Object(members) => members.into(),
        // Never: what is written above is an object. `false` would let nothing pass.
        _ => false.into(),
    }
}

#[cfg(test)]
mod tests {
    use domain::schema::Validator;

    use super::*;
    use crate::wire::answer::answer;

    #[test]
    fn what_is_described_is_what_is_read() {
        let shape = shape(&mut SchemaGenerator::default()).to_value();
        let described = Validator::new(&shape).expect("a schema");
        for text in [
            r#"{"verdict":"approve"}"#,
            r#"{"verdict":"approve","scope":"once","arguments":{"a":1},"note":null}"#,
            r#"{"verdict":"approve","scope":"session"}"#,
            r#"{"verdict":"approve","scope":"session","grant":null}"#,
            r#"{"verdict":"approve","scope":"session","grant":{"uses":3,"args":[{"pointer":"/a","exists":true}]}}"#,
            r#"{"verdict":"approve","grant":{"uses":3}}"#,
            r#"{"verdict":"approve","scope":"session","grant":{"uses":0}}"#,
            r#"{"verdict":"approve","scope":"session","grant":{"for":"ever"}}"#,
            r#"{"verdict":"approve","scope":"session","grant":{"args":[{"pointer":"/a"}]}}"#,
            r#"{"verdict":"approve","scope":"session","grant":{"args":[{"exists":true}]}}"#,
            r#"{"verdict":"approve","scope":"session","grant":{"args":"any"}}"#,
            r#"{"verdict":"approve","scope":"session","grant":{"args":"all"}}"#,
            r#"{"verdict":"approve","scope":"session","grant":{"args":[]}}"#,
            r#"{"verdict":"approve","scope":"session","grant":{"args":null}}"#,
            r#"{"verdict":"approve","scope":"always"}"#,
            r#"{"verdict":"approve","arguments":null}"#,
            r#"{"verdict":"approve","arguments":[1]}"#,
            r#"{"verdict":"approve","tool":"x"}"#,
            r#"{"verdict":"approve","choose":["1"]}"#,
            r#"{"verdict":"deny"}"#,
            r#"{"verdict":"deny","reason":"no","stop":true}"#,
            r#"{"verdict":"deny","stop":"yes"}"#,
            r#"{"verdict":"respond","content":"x"}"#,
            r#"{"verdict":"respond"}"#,
            r#"{"verdict":"yes"}"#,
            r#"{"choose":["1","x"]}"#,
            r#"{"choose":"1"}"#,
            r#"{"choose":[1]}"#,
            r#"{"fill":{"n":1}}"#,
            r#"{"fill":[1]}"#,
            r#"{"perform":{"content":"ok","is_error":null}}"#,
            r#"{"perform":{"is_error":true}}"#,
            r#"{"perform":{"content":"x","schema":1}}"#,
            r#"{"settle":"retry"}"#,
            r#"{"settle":"failed","content":"it did not"}"#,
            r#"{"settle":"maybe"}"#,
            "{}",
            "[]",
            "null",
        ] {
            let value = serde_json::from_str(text).expect("json");
            let (said, read) = (described.check(&value).is_ok(), answer(text).is_ok());
            assert_eq!(said, read, "{text}: described {said}, read {read}");
        }
    }
}
