//! Places in the arguments of a call, by JSON pointer.

use serde_json::Value;

/// Arguments, and where in them somebody has looked already: many rules look at the same few places.
pub(super) struct Looked<'a> {
    arguments: &'a Value,
    found: Vec<Option<Found<'a>>>,
}

impl<'a> Looked<'a> {
    /// There are so many places.
    pub(super) fn new(arguments: &'a Value, places: usize) -> Looked<'a> {
        Looked { arguments, found: vec![None; places] }
    }

    pub(super) fn at(&mut self, place: usize, steps: &[Box<str>]) -> Found<'a> {
        match self.found.get_mut(place) {
            Some(found) => *found.get_or_insert_with(|| find(self.arguments, steps)),
            None => find(self.arguments, steps),
        }
    }
}

#[derive(Clone, Copy)]
pub(super) enum Found<'a> {
    Value(&'a Value),
    Missing,
    /// Something stands in the way that the pointer does not fit, such as JSON in a text.
    Unclear,
}

pub(super) fn find<'a>(root: &'a Value, steps: &[Box<str>]) -> Found<'a> {
    let mut value = root;
    for step in steps {
        let next = match value {
            Value::Object(object) => object.get(&**step),
            Value::Array(items) => match index(step) {
                Some(index) => items.get(index),
                None => return Found::Unclear,
            },
            Value::Null => None,
            _ => return Found::Unclear,
        };
        match next {
            Some(next) => value = next,
            None => return Found::Missing,
        }
    }
    Found::Value(value)
}

fn index(step: &str) -> Option<usize> {
    if step.len() > 1 && step.starts_with('0') || !step.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    step.parse().ok()
}

pub(super) fn steps(pointer: &str) -> Result<Box<[Box<str>]>, String> {
    if pointer.is_empty() {
        return Ok(Box::default());
    }
    let Some(rest) = pointer.strip_prefix('/') else {
        return Err("is not at a JSON pointer, which looks like `/path` or `/items/0`".into());
    };
    rest.split('/')
        .map(|step| {
            let tildes = step.matches('~').count();
            if tildes != step.matches("~0").count() + step.matches("~1").count() {
                return Err("has a `~` that is neither `~0` (for ~) nor `~1` (for /)".into());
            }
            Ok(step.replace("~1", "/").replace("~0", "~").into())
        })
        .collect()
}
