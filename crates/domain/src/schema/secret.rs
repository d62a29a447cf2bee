//! Values that nobody may see: those whose schema says `"writeOnly": true`.

use std::borrow::Cow;

use serde_json::Value;

use super::loops;
use crate::secret::referred;

/// What stands in place of a secret.
pub const SECRET: &str = "[secret]";

/// A schema with more places than this is not worth telling apart: then everything is secret.
const PLACES_MAX: usize = 10_000;

/// JSON pointers of the values that are secret by this schema. The step `*` stands for every
/// element and every key. Where a schema cannot be followed the whole value counts as secret.
///
/// ```
/// use holdpoint_domain::schema::{redact, write_only_pointers};
/// use serde_json::json;
/// let schema = json!({"properties": {"user": {}, "password": {"writeOnly": true}}});
/// let secrets = write_only_pointers(&schema);
/// assert_eq!(secrets, ["/password"]);
/// assert_eq!(
///     redact(&json!({"user": "ana", "password": "hunter2"}), &secrets),
///     json!({"user": "ana", "password": "[secret]"}),
/// );
/// ```
pub fn write_only_pointers(schema: &Value) -> Vec<String> {
    if !mentions_write_only(schema) {
        return Vec::new();
    }
    let mut walk = SecretWalk { root: schema, path: Vec::new(), places: 0, found: Vec::new() };
    if walk.visit(schema, "").is_err() {
        return vec![String::new()];
    }
    walk.found.sort_unstable();
    walk.found.dedup();
    walk.found
}

fn mentions_write_only(schema: &Value) -> bool {
    match schema {
        Value::Array(items) => items.iter().any(mentions_write_only),
        Value::Object(object) => {
            object.get("writeOnly") == Some(&Value::Bool(true))
                || object.values().any(mentions_write_only)
        }
        _ => false,
    }
}

struct TooMany;

struct SecretWalk<'a> {
    root: &'a Value,
    /// The schemas we are inside of.
    path: Vec<&'a Value>,
    places: usize,
    found: Vec<String>,
}

impl<'a> SecretWalk<'a> {
    fn visit(&mut self, schema: &'a Value, pointer: &str) -> Result<(), TooMany> {
        let Some(object) = schema.as_object() else { return Ok(()) };
        self.places += 1;
        if self.places > PLACES_MAX {
            return Err(TooMany);
        }
        if object.get("writeOnly") == Some(&Value::Bool(true)) {
            self.found.push(pointer.to_owned());
            return Ok(());
        }
        if self.path.iter().any(|outer| std::ptr::eq(*outer, schema)) {
            // A structure that contains itself has secrets at every depth; instead of listing them
            // without end, everything from here on down is one.
            self.found.push(pointer.to_owned());
            return Ok(());
        }
        self.path.push(schema);
        for part in loops::here(object) {
            self.visit(part, pointer)?;
        }
        match loops::reference(self.root, object) {
            Ok(Some(target)) if mentions_write_only(target) => self.visit(target, pointer)?,
            // It may lead to something that refers further.
            Ok(Some(target)) if has_reference(target) => self.visit(target, pointer)?,
            Ok(_) => {}
            Err(_) => return Err(TooMany),
        }
        if let Some(Value::Object(properties)) = object.get("properties") {
            for (name, inner) in properties {
                self.visit(inner, &format!("{pointer}/{}", escape(name)))?;
            }
        }
        if let Some(Value::Array(items)) = object.get("prefixItems") {
            for (index, inner) in items.iter().enumerate() {
                self.visit(inner, &format!("{pointer}/{index}"))?;
            }
        }
        if let Some(Value::Object(patterns)) = object.get("patternProperties") {
            for inner in patterns.values() {
                self.visit(inner, &format!("{pointer}/*"))?;
            }
        }
        for keyword in [
            "items",
            "contains",
            "additionalProperties",
            "unevaluatedProperties",
            "unevaluatedItems",
        ] {
            if let Some(inner) = object.get(keyword) {
                self.visit(inner, &format!("{pointer}/*"))?;
            }
        }
        self.path.pop();
        Ok(())
    }
}

fn has_reference(schema: &Value) -> bool {
    match schema {
        Value::Array(items) => items.iter().any(has_reference),
        Value::Object(object) => object.contains_key("$ref") || object.values().any(has_reference),
        _ => false,
    }
}

fn escape(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// The value with every secret replaced. A reference to a secret is none: it says which one it is.
pub fn redact(value: &Value, pointers: &[String]) -> Value {
    redacted(value, pointers).into_owned()
}

/// The same by reference: most values hold no secret, and then nothing is copied.
pub fn redacted<'a>(value: &'a Value, pointers: &[String]) -> Cow<'a, Value> {
    if pointers.is_empty() {
        return Cow::Borrowed(value);
    }
    let mut redacted = value.clone();
    visit_secrets(&mut redacted, pointers, &mut |_, inner| {
        if referred(inner).is_none() {
            *inner = Value::from(SECRET);
        }
    });
    Cow::Owned(redacted)
}

/// Calls `visit` with every value that is secret by these pointers, and the place of each.
pub fn visit_secrets(
    value: &mut Value,
    pointers: &[String],
    visit: &mut dyn FnMut(&str, &mut Value),
) {
    for pointer in pointers {
        match pointer.strip_prefix('/') {
            Some(steps) => {
                let steps: Vec<String> = steps
                    .split('/')
                    .map(|step| step.replace("~1", "/").replace("~0", "~"))
                    .collect();
                walk(value, &steps, String::new(), visit);
            }
            // Empty means the whole value; anything else is no pointer, and doubt hides.
            None => return visit("", value),
        }
    }
}

fn walk(
    value: &mut Value,
    steps: &[String],
    place: String,
    visit: &mut dyn FnMut(&str, &mut Value),
) {
    let Some((step, rest)) = steps.split_first() else { return visit(&place, value) };
    match value {
        Value::Array(items) if step == "*" => {
            for (index, item) in items.iter_mut().enumerate() {
                walk(item, rest, format!("{place}/{index}"), visit);
            }
        }
        Value::Array(items) => {
            if let Some(item) = step.parse().ok().and_then(|index: usize| items.get_mut(index)) {
                walk(item, rest, format!("{place}/{step}"), visit);
            }
        }
        Value::Object(object) if step == "*" => {
            for (key, item) in object.iter_mut() {
                walk(item, rest, format!("{place}/{}", escape(key)), visit);
            }
        }
        Value::Object(object) => {
            if let Some(item) = object.get_mut(step) {
                walk(item, rest, format!("{place}/{}", escape(step)), visit);
            }
        }
        _ => {}
    }
}

/// The schema without what it demands of secrets: their places hold references once the values have
/// been checked and taken out.
pub fn without_secrets(schema: &Value) -> Value {
    match schema {
        Value::Object(object) if object.get("writeOnly") == Some(&Value::Bool(true)) => {
            Value::Object(serde_json::Map::new())
        }
        Value::Object(object) => object
            .iter()
            .map(|(key, inner)| (key.clone(), without_secrets(inner)))
            .collect::<serde_json::Map<_, _>>()
            .into(),
        Value::Array(items) => items.iter().map(without_secrets).collect(),
        other => other.clone(),
    }
}

/// An edit of a redacted value: where the editor left the placeholder standing, the secret that it
/// stood for is put back. `None` if there was nothing to put back.
pub fn restore(edited: &Value, stored: &Value, pointers: &[String]) -> Option<Value> {
    let mut restored = edited.clone();
    put_back(&mut restored, stored, &redact(stored, pointers)).then_some(restored)
}

fn put_back(edited: &mut Value, stored: &Value, shown: &Value) -> bool {
    if shown == SECRET && edited == SECRET {
        *edited = stored.clone();
        return true;
    }
    match (edited, stored, shown) {
        (Value::Object(edited), Value::Object(stored), Value::Object(shown)) => {
            let mut any = false;
            for (key, value) in edited {
                if let (Some(stored), Some(shown)) = (stored.get(key), shown.get(key)) {
                    any |= put_back(value, stored, shown);
                }
            }
            any
        }
        (Value::Array(edited), Value::Array(stored), Value::Array(shown)) => {
            let places = edited.iter_mut().zip(stored).zip(shown);
            places.fold(false, |any, ((value, stored), shown)| put_back(value, stored, shown) | any)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn i45_an_edit_that_leaves_the_placeholder_keeps_the_secret() {
        let stored = json!({"user": "ana", "key": "s3cret", "n": [1, 2]});
        let pointers = ["/key".to_owned()];
        let edited = json!({"user": "bob", "key": SECRET, "n": [1]});
        let restored = restore(&edited, &stored, &pointers);
        assert_eq!(restored, Some(json!({"user": "bob", "key": "s3cret", "n": [1]})));
        assert_eq!(restore(&json!({"key": "other"}), &stored, &pointers), None);
        // A placeholder where there is no secret is only a text.
        assert_eq!(restore(&json!({"user": SECRET}), &stored, &pointers), None);
    }

    use serde_json::json;

    use super::*;

    fn hidden(schema: Value, value: Value) -> Value {
        redact(&value, &write_only_pointers(&schema))
    }

    #[test]
    fn i45_secrets_are_found_wherever_a_schema_can_put_them() {
        let schema = json!({
            "properties": {
                "a/b~": {"writeOnly": true},
                "db": {"properties": {"password": {"type": "string", "writeOnly": true}}},
                "users": {"items": {"$ref": "#/$defs/user"}},
                "pair": {"prefixItems": [{}, {"writeOnly": true}]},
                "headers": {"additionalProperties": {"writeOnly": true}},
                "plain": {"writeOnly": false},
            },
            "anyOf": [{"properties": {"token": {"writeOnly": true}}}],
            "$defs": {"user": {"properties": {"pin": {"writeOnly": true}}}},
        });
        assert_eq!(
            write_only_pointers(&schema),
            ["/a~1b~0", "/db/password", "/headers/*", "/pair/1", "/token", "/users/*/pin"]
        );
        assert_eq!(
            hidden(
                schema,
                json!({
                    "a/b~": 1, "db": {"password": {"deep": "x"}, "host": "h"}, "token": "t",
                    "users": [{"pin": 1, "name": "n"}, {"pin": 2}], "pair": [1, 2],
                    "headers": {"x": "y"}, "plain": "p", "other": "o",
                })
            ),
            json!({
                "a/b~": "[secret]", "db": {"password": "[secret]", "host": "h"},
                "token": "[secret]",
                "users": [{"pin": "[secret]", "name": "n"}, {"pin": "[secret]"}],
                "pair": [1, "[secret]"], "headers": {"x": "[secret]"}, "plain": "p", "other": "o",
            })
        );
    }

    #[test]
    fn i45_in_doubt_everything_is_secret() {
        let tree = json!({"properties": {"key": {"writeOnly": true}, "child": {"$ref": "#"}}});
        assert_eq!(
            hidden(tree, json!({"key": 1, "child": {"key": 2, "child": {"key": 3}}})),
            json!({"key": "[secret]", "child": "[secret]"})
        );
        let unknown = json!({"$ref": "elsewhere", "properties": {"a": {"writeOnly": true}}});
        assert_eq!(hidden(unknown, json!({"b": 1})), json!("[secret]"));
        assert_eq!(hidden(json!({"writeOnly": true}), json!({"b": 1})), json!("[secret]"));
        assert_eq!(redact(&json!({"a": 1}), &["a".into()]), json!("[secret]"));
    }

    #[test]
    fn nothing_secret_nothing_hidden() {
        let value = json!({"a": [1, {"b": null}]});
        assert_eq!(hidden(json!({"properties": {"a": {}}}), value.clone()), value);
        assert_eq!(redact(&value, &["/a/9".into(), "/a/1/c".into(), "/a/x/y".into()]), value);
    }
}
