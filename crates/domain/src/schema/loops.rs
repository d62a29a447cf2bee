//! Refuses schemas that would run for ever, or nearly so.
//!
//! A reference that leads back to itself without going deeper into the value never ends, and one
//! that is doubled at each of forty steps does not end in our lifetime either. Only references
//! within the document are followed, which is also all that we support.

use std::collections::HashMap;

use serde_json::{Map, Value};

/// Schemas that one place of a value may have to be held against.
const SCHEMAS_PER_PLACE_MAX: u64 = 10_000;
/// References and keywords one within the other at one place: each costs stack.
const CHAIN_MAX: usize = 100;

/// Keywords that apply a schema to the same place of the value.
const HERE: [&str; 4] = ["not", "if", "then", "else"];
const HERE_LISTS: [&str; 3] = ["allOf", "anyOf", "oneOf"];
const HERE_MAPS: [&str; 1] = ["dependentSchemas"];
/// Keywords that apply a schema further down. `$defs` is here because its schemas wait to be used.
const BELOW: [&str; 7] = [
    "additionalProperties",
    "unevaluatedProperties",
    "propertyNames",
    "items",
    "contains",
    "unevaluatedItems",
    "contentSchema",
];
const BELOW_LISTS: [&str; 1] = ["prefixItems"];
const BELOW_MAPS: [&str; 4] = ["properties", "patternProperties", "$defs", "definitions"];

pub(super) fn check(schema: &Value) -> Result<(), String> {
    let mut walk = LoopWalk { root: schema, weights: HashMap::new() };
    let mut waiting = vec![schema];
    let mut seen = std::collections::HashSet::new();
    while let Some(schema) = waiting.pop() {
        if !seen.insert(address(schema)) {
            continue;
        }
        walk.weight(schema, 0)?;
        let Some(object) = schema.as_object() else { continue };
        if !std::ptr::eq(schema, walk.root) && object.contains_key("$id") {
            return Err("the schema has a `$id` inside, which is not supported".into());
        }
        waiting.extend(next(walk.root, object)?);
    }
    Ok(())
}

/// Every schema that is within or referred to by this one.
pub(super) fn next<'a>(
    root: &'a Value,
    schema: &'a Map<String, Value>,
) -> Result<impl Iterator<Item = &'a Value>, String> {
    let below = keywords(schema, &BELOW, &BELOW_LISTS, &BELOW_MAPS);
    Ok(here(schema).into_iter().chain(reference(root, schema)?).chain(below))
}

/// The schema that `$ref` names, if there is one.
pub(super) fn reference<'a>(
    root: &'a Value,
    schema: &'a Map<String, Value>,
) -> Result<Option<&'a Value>, String> {
    if schema.contains_key("$dynamicRef") || schema.contains_key("$recursiveRef") {
        return Err("the schema has a `$dynamicRef`, which is not supported".into());
    }
    let Some(Value::String(reference)) = schema.get("$ref") else { return Ok(None) };
    let target = match reference.strip_prefix('#') {
        Some(pointer) if pointer.is_empty() || pointer.starts_with('/') => root.pointer(pointer),
        _ => {
            return Err(format!(
                "the schema refers to `{reference}`; only `#` and `#/…` are followed, and nothing \
                 is fetched"
            ));
        }
    };
    target
        .map(Some)
        .ok_or_else(|| format!("the schema refers to `{reference}`, which is not there"))
}

/// Schemas that hold at the same place, without references.
pub(super) fn here(schema: &Map<String, Value>) -> Vec<&Value> {
    keywords(schema, &HERE, &HERE_LISTS, &HERE_MAPS)
}

fn keywords<'a>(
    schema: &'a Map<String, Value>,
    single: &[&str],
    lists: &[&str],
    maps: &[&str],
) -> Vec<&'a Value> {
    let mut found: Vec<&Value> = single.iter().filter_map(|name| schema.get(*name)).collect();
    for list in lists.iter().filter_map(|name| schema.get(*name)?.as_array()) {
        found.extend(list);
    }
    for map in maps.iter().filter_map(|name| schema.get(*name)?.as_object()) {
        found.extend(map.values());
    }
    found
}

/// Two equal schemas at different places are different nodes.
pub(super) fn address(schema: &Value) -> usize {
    std::ptr::from_ref(schema) as usize
}

struct LoopWalk<'a> {
    root: &'a Value,
    /// `None` while its parts are being counted.
    weights: HashMap<usize, Option<u64>>,
}

impl<'a> LoopWalk<'a> {
    /// How many schemas this one comes to at one place of a value, references followed.
    fn weight(&mut self, schema: &'a Value, chain: usize) -> Result<u64, String> {
        match self.weights.get(&address(schema)) {
            Some(Some(weight)) => return Ok(*weight),
            Some(None) => return Err("the schema refers to itself without an end".into()),
            None => {}
        }
        let Some(object) = schema.as_object() else { return Ok(1) };
        if chain > CHAIN_MAX {
            return Err(format!("the schema chains more than {CHAIN_MAX} references"));
        }
        self.weights.insert(address(schema), None);
        let mut weight: u64 = 1;
        let parts = here(object).into_iter().chain(reference(self.root, object)?);
        for part in parts {
            weight = weight.saturating_add(self.weight(part, chain + 1)?);
        }
        if weight > SCHEMAS_PER_PLACE_MAX {
            return Err(format!(
                "the schema comes to more than {SCHEMAS_PER_PLACE_MAX} parts when its references \
                 are followed; say it more simply"
            ));
        }
        self.weights.insert(address(schema), Some(weight));
        Ok(weight)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn endless_references_are_refused() {
        for schema in [
            json!({"$ref": "#"}),
            json!({"allOf": [{"$ref": "#"}]}),
            json!({"properties": {"x": {"$ref": "#/$defs/a"}},
                   "$defs": {"a": {"not": {"$ref": "#/$defs/b"}}, "b": {"if": {"$ref": "#/$defs/a"}}}}),
        ] {
            assert_eq!(check(&schema), Err("the schema refers to itself without an end".into()));
        }
    }

    #[test]
    fn recursion_into_the_value_is_fine() {
        assert_eq!(check(&json!({"properties": {"child": {"$ref": "#"}}})), Ok(()));
        assert_eq!(check(&json!({"items": {"anyOf": [{"type": "null"}, {"$ref": "#"}]}})), Ok(()));
        // Property names are not keywords.
        let names = json!({"properties": {"$ref": {}, "$id": {}, "not": {"$ref": "#"}}});
        assert_eq!(check(&names), Ok(()));
    }

    #[test]
    fn long_chains_are_refused() {
        let defs: Map<String, Value> = (0..1000)
            .map(|step| (step.to_string(), json!({"$ref": format!("#/$defs/{}", step + 1)})))
            .chain([("1000".into(), json!({}))])
            .collect();
        let refusal = check(&json!({"$ref": "#/$defs/0", "$defs": defs})).unwrap_err();
        assert!(refusal.contains("chains"), "{refusal}");
    }

    #[test]
    fn doubling_is_refused() {
        let mut defs = Map::new();
        for step in 0..40 {
            let next = json!({"$ref": format!("#/$defs/{}", step + 1)});
            defs.insert(step.to_string(), json!({"allOf": [next, next]}));
        }
        defs.insert("40".into(), json!({}));
        let refusal = check(&json!({"$ref": "#/$defs/0", "$defs": defs})).unwrap_err();
        assert!(refusal.contains("say it more simply"), "{refusal}");
    }
}
