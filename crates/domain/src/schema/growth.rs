//! Refuses schemas whose cost doubles with every level of the value.
//!
//! A schema that contains itself once at a place is a tree, and costs what the value is long. One
//! that contains itself twice at the same place costs twice as much at each level: sixty-four levels
//! would keep us busy for good.

use std::collections::{BTreeMap, HashSet};

use serde_json::{Map, Value};

use super::loops::{address, here, next, reference};

/// Steps that looking for it may take.
const STEPS_MAX: usize = 1_000_000;

/// Only for schemas that [`super::loops::check`] has accepted.
pub(super) fn check(root: &Value) -> Result<(), String> {
    let mut walk = GrowthWalk { root, steps: 0 };
    for schema in walk.all_from(root)? {
        let mut below = Below::default();
        walk.gather(schema, &mut below)?;
        for rivals in below.rivals() {
            let mut recursive = 0;
            for target in rivals {
                recursive += usize::from(
                    walk.all_from(target)?.iter().any(|inner| std::ptr::eq(*inner, schema)),
                );
                if recursive > 1 {
                    return Err("the schema contains itself twice at the same place, which takes \
                                for ever on deep values; say it once"
                        .into());
                }
            }
        }
    }
    Ok(())
}

/// What one schema asks of the values below its place.
#[derive(Default)]
struct Below<'a> {
    members: BTreeMap<&'a str, Vec<&'a Value>>,
    other_members: Vec<&'a Value>,
    elements: BTreeMap<usize, Vec<&'a Value>>,
    other_elements: Vec<&'a Value>,
}

impl<'a> Below<'a> {
    fn add(&mut self, schema: &'a Map<String, Value>) {
        for (name, inner) in
            schema.get("properties").and_then(Value::as_object).into_iter().flatten()
        {
            self.members.entry(name).or_default().push(inner);
        }
        let items = schema.get("prefixItems").and_then(Value::as_array);
        for (index, inner) in items.into_iter().flatten().enumerate() {
            self.elements.entry(index).or_default().push(inner);
        }
        let patterns = schema.get("patternProperties").and_then(Value::as_object);
        self.other_members.extend(patterns.into_iter().flat_map(Map::values));
        let others = ["additionalProperties", "unevaluatedProperties"];
        self.other_members.extend(others.iter().filter_map(|name| schema.get(*name)));
        let others = ["items", "contains", "unevaluatedItems"];
        self.other_elements.extend(others.iter().filter_map(|name| schema.get(*name)));
    }

    /// Schemas that may meet at the same place below.
    fn rivals(&self) -> impl Iterator<Item = Vec<&'a Value>> {
        let members = self.members.values().map(|named| (named, &self.other_members));
        let elements = self.elements.values().map(|placed| (placed, &self.other_elements));
        members
            .chain(elements)
            .map(|(own, others)| own.iter().chain(others).copied().collect::<Vec<_>>())
            .chain([self.other_members.clone(), self.other_elements.clone()])
            .filter(|rivals| rivals.len() > 1)
    }
}

struct GrowthWalk<'a> {
    root: &'a Value,
    steps: usize,
}

impl<'a> GrowthWalk<'a> {
    fn step(&mut self) -> Result<(), String> {
        self.steps += 1;
        match self.steps > STEPS_MAX {
            true => Err("the schema is too entangled to be checked; say it more simply".into()),
            false => Ok(()),
        }
    }

    /// This schema and all that can be reached from it.
    fn all_from(&mut self, schema: &'a Value) -> Result<Vec<&'a Value>, String> {
        let (mut seen, mut found, mut waiting) = (HashSet::new(), Vec::new(), vec![schema]);
        while let Some(schema) = waiting.pop() {
            self.step()?;
            if seen.insert(address(schema)) {
                found.push(schema);
                if let Some(object) = schema.as_object() {
                    waiting.extend(next(self.root, object)?);
                }
            }
        }
        Ok(found)
    }

    /// Everything that holds at the place of this schema, as often as it is said.
    fn gather(&mut self, schema: &'a Value, below: &mut Below<'a>) -> Result<(), String> {
        self.step()?;
        let Some(object) = schema.as_object() else { return Ok(()) };
        below.add(object);
        for part in here(object).into_iter().chain(reference(self.root, object)?) {
            self.gather(part, below)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn trees_are_fine() {
        for schema in [
            json!({"properties": {"left": {"$ref": "#"}, "right": {"$ref": "#"}}}),
            json!({"anyOf": [{"additionalProperties": {"$ref": "#"}}, {"items": {"$ref": "#"}}]}),
            json!({"anyOf": [{"properties": {"and": {"items": {"$ref": "#"}}}},
                             {"properties": {"or": {"items": {"$ref": "#"}}}}]}),
            json!({"prefixItems": [{"$ref": "#"}, {"$ref": "#"}]}),
            // Twice the same, but it ends.
            json!({"properties": {"a": {"allOf": [{"$ref": "#/$defs/x"}, {"$ref": "#/$defs/x"}]}},
                   "$defs": {"x": {"items": {"type": "string"}}}}),
        ] {
            assert_eq!(check(&schema), Ok(()), "{schema}");
        }
    }

    #[test]
    fn doubling_is_refused_however_it_is_said() {
        for schema in [
            json!({"items": {"allOf": [{"$ref": "#"}, {"$ref": "#"}]}}),
            json!({"items": {"$ref": "#"}, "contains": {"$ref": "#"}}),
            json!({"anyOf": [{"properties": {"c": {"$ref": "#"}}},
                             {"properties": {"c": {"$ref": "#"}}}]}),
            json!({"patternProperties": {"a": {"$ref": "#"}, "b": {"$ref": "#"}}}),
            json!({"$ref": "#/$defs/a", "$defs": {
                "a": {"allOf": [{"$ref": "#/$defs/b"}, {"$ref": "#/$defs/b"}]},
                "b": {"properties": {"c": {"$ref": "#/$defs/a"}}}}}),
        ] {
            assert!(check(&schema).unwrap_err().contains("twice"), "{schema}");
        }
    }
}
