//! A form as people read it, instead of its JSON Schema.

use serde_json::Value;

use super::foreign::ForeignText;
use crate::schema::write_only_pointers;

/// One field of a form that people fill in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormField {
    /// As the answer must name it.
    pub name: ForeignText,
    /// The schema's own title for it.
    pub title: Option<ForeignText>,
    /// The schema's own explanation.
    pub description: Option<ForeignText>,
    /// What is to be typed.
    pub input: Input,
    /// The values to pick from; empty if any will do.
    pub choices: Vec<ForeignText>,
    /// What the schema proposes.
    pub default: Option<ForeignText>,
    /// The form is refused without it.
    pub required: bool,
    /// What is typed is kept sealed, and shown to nobody.
    pub secret: bool,
}

impl FormField {
    pub(super) fn words(&self) -> &'static str {
        if self.choices.is_empty() { self.input.words() } else { "one of these" }
    }
}

/// What is to be typed, in a word of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// Any text.
    Text,
    /// A number, also with a fraction.
    Number,
    /// A number without a fraction.
    WholeNumber,
    /// One of two: true or false.
    YesNo,
    /// An array, as JSON.
    List,
    /// An object, as JSON.
    Group,
    /// Whatever the schema takes, as JSON.
    Any,
}

impl Input {
    /// The word by which the API tells it.
    pub fn name(self) -> &'static str {
        match self {
            Input::Text => "text",
            Input::Number => "number",
            Input::WholeNumber => "whole_number",
            Input::YesNo => "yes_no",
            Input::List => "list",
            Input::Group => "group",
            Input::Any => "any",
        }
    }

    fn words(self) -> &'static str {
        match self {
            Input::WholeNumber => "whole number",
            Input::YesNo => "yes or no",
            Input::Any => "any value",
            input => input.name(),
        }
    }

    fn of(schema: &Value) -> Input {
        match schema.get("type").and_then(Value::as_str) {
            Some("string") => Input::Text,
            Some("number") => Input::Number,
            Some("integer") => Input::WholeNumber,
            Some("boolean") => Input::YesNo,
            Some("array") => Input::List,
            Some("object") => Input::Group,
            _ => Input::Any,
        }
    }
}

/// What a form shows of a schema says everything about it.
const SHOWN: [&str; 6] = ["type", "title", "description", "enum", "default", "writeOnly"];

/// The fields, and whether the schema has rules beyond them. `None` if it is no object with named
/// properties, which only its JSON can tell.
pub(super) fn form(schema: &Value) -> Option<(Vec<FormField>, bool)> {
    let properties = schema.get("properties")?.as_object().filter(|all| !all.is_empty())?;
    let secrets = write_only_pointers(schema);
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .map(|names| names.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default();
    let mut more = schema
        .as_object()?
        .keys()
        .any(|key| !["type", "properties", "required", "title", "$schema"].contains(&key.as_str()));
    let text =
        |schema: &Value, key: &str| schema.get(key).and_then(Value::as_str).map(ForeignText::line);
    let mut fields = Vec::with_capacity(properties.len());
    for (name, property) in properties {
        more |= property
            .as_object()
            .is_none_or(|all| all.keys().any(|key| !SHOWN.contains(&key.as_str())));
        let pointer = format!("/{}", name.replace('~', "~0").replace('/', "~1"));
        let inside = format!("{pointer}/");
        let choices = property.get("enum").and_then(Value::as_array);
        fields.push(FormField {
            name: ForeignText::line(name),
            title: text(property, "title"),
            description: text(property, "description"),
            input: Input::of(property),
            choices: choices.into_iter().flatten().map(json_line).collect(),
            default: property.get("default").map(json_line),
            required: required.contains(&name.as_str()),
            secret: secrets
                .iter()
                .any(|one| one.is_empty() || *one == pointer || one.starts_with(&inside)),
        });
    }
    Some((fields, more))
}

fn json_line(value: &Value) -> ForeignText {
    match value {
        Value::String(text) => ForeignText::line(text),
        other => ForeignText::line(&other.to_string()),
    }
}
