//! Reading bodies field by field. What is wrong is listed, all of it at once, as clients of this wire
//! expect; what has no meaning is passed over, as their server did.

use domain::json::Arguments;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::doors::unique_keys::UniqueKeys;

/// What is wrong with one field.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Detail {
    pub(super) path: Vec<String>,
    pub(super) message: String,
}

impl Detail {
    pub(super) fn new(path: &str, message: impl Into<String>) -> Detail {
        Detail { path: vec![path.to_owned()], message: message.into() }
    }
}

/// A body, read as strictly as the arguments of a call: two readers must not see two things.
pub(super) fn object(bytes: &[u8]) -> Result<Map<String, Value>, Vec<Detail>> {
    let empty = bytes.iter().all(u8::is_ascii_whitespace);
    let bytes = if empty { b"{}" } else { bytes };
    match Arguments::parse(bytes) {
        Ok(read) => Ok(read.value().as_object().cloned().unwrap_or_default()),
        Err(why) => Err(vec![Detail { path: Vec::new(), message: why.to_string() }]),
    }
}

/// A body of which most is passed over, however large or odd it is.
pub(super) fn loose(bytes: &[u8]) -> Result<Map<String, Value>, Vec<Detail>> {
    match serde_json::from_slice(bytes) {
        // mutant: worlds-body-read-twice.keys
        Ok(UniqueKeys(Value::Object(read))) => Ok(read),
        _ => {
            let message = "the body must be a JSON object, with each key once".into();
            Err(vec![Detail { path: Vec::new(), message }])
        }
    }
}

/// The fields of an object, and what was found wrong with them so far.
pub(super) struct Fields<'a> {
    object: &'a Map<String, Value>,
    wrong: Vec<Detail>,
}

impl<'a> Fields<'a> {
    pub(super) fn of(object: &'a Map<String, Value>) -> Fields<'a> {
        Fields { object, wrong: Vec::new() }
    }

    pub(super) fn done(self) -> Result<(), Vec<Detail>> {
        if self.wrong.is_empty() { Ok(()) } else { Err(self.wrong) }
    }

    pub(super) fn wrong(&mut self, path: &[&str], message: impl Into<String>) {
        let path = path.iter().map(|step| (*step).to_owned()).collect();
        self.wrong.push(Detail { path, message: message.into() });
    }

    /// What was wrong further in.
    pub(super) fn within(&mut self, path: &[&str], details: Vec<Detail>) {
        for detail in details {
            let outer = path.iter().map(|step| (*step).to_owned());
            let path = outer.chain(detail.path).collect();
            self.wrong.push(Detail { path, message: detail.message });
        }
    }

    /// `null` counts as absent: clients send it for what they do not know.
    pub(super) fn get(&self, name: &str) -> Option<&'a Value> {
        self.object.get(name).filter(|value| !value.is_null())
    }

    /// A text that must be there and not be empty.
    pub(super) fn text(&mut self, name: &str) -> String {
        match self.get(name) {
            Some(Value::String(text)) if !text.is_empty() => return text.clone(),
            Some(Value::String(_)) => self.wrong(&[name], "must not be empty"),
            Some(_) => self.wrong(&[name], "must be a text"),
            None => self.wrong(&[name], "is required"),
        }
        String::new()
    }

    pub(super) fn maybe_text(&mut self, name: &str) -> Option<String> {
        match self.get(name)? {
            Value::String(text) => Some(text.clone()),
            _ => {
                self.wrong(&[name], "must be a text");
                None
            }
        }
    }

    pub(super) fn flag(&mut self, name: &str) -> Option<bool> {
        match self.get(name)? {
            Value::Bool(flag) => Some(*flag),
            _ => {
                self.wrong(&[name], "must be true or false");
                None
            }
        }
    }

    /// A list whose items are read one by one.
    pub(super) fn list<T>(
        &mut self,
        name: &str,
        read: impl Fn(usize, &Value, &mut Fields<'a>) -> Option<T>,
    ) -> Option<Vec<T>> {
        match self.get(name)? {
            Value::Array(items) => {
                let items = items.iter().enumerate();
                Some(items.filter_map(|(index, item)| read(index, item, self)).collect())
            }
            _ => {
                self.wrong(&[name], "must be a list");
                None
            }
        }
    }

    pub(super) fn texts(&mut self, name: &str) -> Option<Vec<String>> {
        let name = name.to_owned();
        self.list(&name.clone(), |index, item, fields| match item {
            Value::String(text) => Some(text.clone()),
            _ => {
                fields.wrong(&[&name, &index.to_string()], "must be a text");
                None
            }
        })
    }
}
