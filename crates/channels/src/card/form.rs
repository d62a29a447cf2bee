//! A form that a chat can draw: few fields, flat, and without secrets. Any other form is filled in on
//! the page.

use domain::schema::write_only_pointers;
use serde_json::Value;

use super::shown::line;
use crate::limits::{FIELD_CHARACTERS_MAX, FIELDS_MAX, FORM_OPTIONS_MAX};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CardField {
    /// The property of the schema, as the answer must name it.
    pub name: String,
    pub label: String,
    pub required: bool,
    pub input: CardInput,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CardInput {
    Text,
    Number,
    YesNo,
    /// One of these texts.
    Pick(Vec<String>),
}

/// `None` if this form is not for a chat.
pub(super) fn fields(schema: Option<&Value>, free_text: &str) -> Option<Vec<CardField>> {
    let Some(schema) = schema else {
        let label = free_text.to_owned();
        return Some(vec![CardField {
            name: "text".into(),
            label,
            required: true,
            input: CardInput::Text,
        }]);
    };
    // What is typed into a chat is kept by the chat.
    if !write_only_pointers(schema).is_empty() {
        return None;
    }
    let properties = schema.get("properties")?.as_object()?;
    if properties.is_empty() || properties.len() > FIELDS_MAX {
        return None;
    }
    let required = |name: &str| {
        let names = schema.get("required").and_then(Value::as_array);
        names.is_some_and(|names| names.iter().any(|required| required == name))
    };
    let field = |(name, property): (&String, &Value)| {
        let title = property.get("title").and_then(Value::as_str).unwrap_or(name);
        Some(CardField {
            // A name that a platform would not carry is not drawn.
            name: is_plain(name).then(|| name.clone())?,
            label: line(title, FIELD_CHARACTERS_MAX),
            required: required(name),
            input: input(property)?,
        })
    };
    properties.iter().map(field).collect()
}

fn is_plain(name: &str) -> bool {
    (1..=40).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

fn input(property: &Value) -> Option<CardInput> {
    if let Some(options) = property.get("enum").and_then(Value::as_array) {
        let texts: Option<Vec<String>> = options
            .iter()
            .map(|option| option.as_str().filter(|text| line(text, 75) == **text).map(Into::into))
            .collect();
        return texts
            .filter(|texts| (1..=FORM_OPTIONS_MAX).contains(&texts.len()))
            .map(CardInput::Pick);
    }
    match property.get("type").and_then(Value::as_str)? {
        "string" => Some(CardInput::Text),
        "integer" | "number" => Some(CardInput::Number),
        "boolean" => Some(CardInput::YesNo),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_flat_form_is_drawn() {
        let schema = json!({"type": "object", "required": ["region"], "properties": {
            "region": {"type": "string", "title": "Region\u{202e}"},
            "count": {"type": "integer"},
            "dry": {"type": "boolean"},
            "tier": {"enum": ["a", "b"]},
        }});
        let fields = fields(Some(&schema), "").unwrap();
        let region = fields.iter().find(|field| field.name == "region").unwrap();
        assert_eq!((region.label.as_str(), region.required), ("Region⟦U+202E⟧", true));
        let tier = fields.iter().find(|field| field.name == "tier").unwrap();
        assert_eq!(tier.input, CardInput::Pick(vec!["a".into(), "b".into()]));
    }

    #[test]
    fn i45_a_form_with_a_secret_is_not_for_a_chat() {
        let property = |property: Value| json!({"type": "object", "properties": {"x": property}});
        for schema in [
            property(json!({"type": "string", "writeOnly": true})),
            property(json!({"type": "object"})),
            property(json!({"enum": [1, 2]})),
            property(json!({"enum": ["a\u{202e}"]})),
            json!({"type": "object", "properties": {"a b": {"type": "string"}}}),
            json!({"type": "object"}),
        ] {
            assert_eq!(fields(Some(&schema), ""), None, "{schema}");
        }
        assert_eq!(fields(None, "Answer").unwrap().len(), 1);
    }
}
