//! A JSON value as a flat list of named lines, in the order in which it was written.

use serde_json::Value;

use super::foreign::ForeignText;

/// One member of an object, one element of a list, or the whole value if it is neither.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// How many objects and lists it is inside of.
    pub depth: usize,
    /// `None` for an element of a list, and for a value that stands alone.
    pub name: Option<ForeignText>,
    /// What stands behind the name.
    pub value: FieldValue,
}

/// One value of foreign data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FieldValue {
    /// Its members follow, one level deeper.
    Group,
    /// A string. Surfaces show it so that `"1"` and `1`, `"true"` and `true` look different.
    Text(ForeignText),
    /// A number, `true`, `false`, `null`, or an empty list or object, as JSON.
    Scalar(ForeignText),
}

/// In the order in which they were written.
pub fn fields_of(value: &Value) -> Vec<Field> {
    let mut fields = Vec::new();
    match value {
        Value::Object(map) if !map.is_empty() => {
            map.iter().for_each(|(key, inner)| field(&mut fields, Some(key), inner, 0));
        }
        Value::Array(items) if !items.is_empty() => {
            items.iter().for_each(|inner| field(&mut fields, None, inner, 0));
        }
        scalar => field(&mut fields, None, scalar, 0),
    }
    fields
}

fn field(fields: &mut Vec<Field>, name: Option<&str>, value: &Value, depth: usize) {
    let mut push = |value| fields.push(Field { depth, name: name.map(ForeignText::line), value });
    match value {
        Value::Object(map) if !map.is_empty() => {
            push(FieldValue::Group);
            map.iter().for_each(|(key, inner)| field(fields, Some(key), inner, depth + 1));
        }
        Value::Array(items) if !items.is_empty() => {
            push(FieldValue::Group);
            items.iter().for_each(|inner| field(fields, None, inner, depth + 1));
        }
        Value::String(text) => push(FieldValue::Text(ForeignText::new(text))),
        scalar => push(FieldValue::Scalar(ForeignText::line(&scalar.to_string()))),
    }
}
