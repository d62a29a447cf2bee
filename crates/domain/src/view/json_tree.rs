//! JSON with names of our own and texts that are borrowed. A view is spelled for its digest with every vote, and
//! `serde_json::Value` would copy and hash each name at every level for that.

use std::borrow::Cow;

use serde_json::Value;

use crate::json::spell;

/// What the parts of a view are as JSON.
#[derive(Clone, Debug)]
pub(super) enum ViewJson<'a> {
    Null,
    Bool(bool),
    Number(u64),
    Text(Cow<'a, str>),
    List(Vec<ViewJson<'a>>),
    /// In the order in which they are sent. No name is there twice.
    Object(Vec<(&'static str, ViewJson<'a>)>),
}

impl<'a> ViewJson<'a> {
    /// One more member of an object.
    pub(super) fn insert(&mut self, name: &'static str, value: impl Into<ViewJson<'a>>) {
        if let ViewJson::Object(members) = self {
            members.push((name, value.into()));
        }
    }

    /// As [`crate::json::canonical`] spells the same value.
    pub(super) fn write_canonical(&self, out: &mut Vec<u8>) {
        match self {
            ViewJson::Null => out.extend(b"null"),
            ViewJson::Bool(value) => spell(value, out),
            ViewJson::Number(value) => spell(value, out),
            ViewJson::Text(text) => spell(&**text, out),
            ViewJson::List(items) => {
                out.push(b'[');
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        out.push(b',');
                    }
                    item.write_canonical(out);
                }
                out.push(b']');
            }
            ViewJson::Object(members) => {
                let mut members: Vec<_> = members.iter().collect();
                members.sort_unstable_by_key(|(name, _)| *name);
                out.push(b'{');
                for (index, (name, value)) in members.into_iter().enumerate() {
                    if index > 0 {
                        out.push(b',');
                    }
                    spell(*name, out);
                    out.push(b':');
                    value.write_canonical(out);
                }
                out.push(b'}');
            }
        }
    }
}

impl From<ViewJson<'_>> for Value {
    fn from(tree: ViewJson<'_>) -> Value {
        match tree {
            ViewJson::Null => Value::Null,
            ViewJson::Bool(value) => Value::Bool(value),
            ViewJson::Number(value) => Value::from(value),
            ViewJson::Text(text) => Value::String(text.into_owned()),
            ViewJson::List(items) => items.into_iter().map(Value::from).collect(),
            ViewJson::Object(members) => {
                let owned =
                    members.into_iter().map(|(name, value)| (name.to_owned(), value.into()));
                Value::Object(owned.collect())
            }
        }
    }
}

impl<'a> FromIterator<ViewJson<'a>> for ViewJson<'a> {
    fn from_iter<I: IntoIterator<Item = ViewJson<'a>>>(items: I) -> ViewJson<'a> {
        ViewJson::List(items.into_iter().collect())
    }
}

/// Values that are copied, also from where they are borrowed.
macro_rules! from_copied {
    ($($kind:ty: $value:ident => $tree:expr;)*) => {$(
        impl From<$kind> for ViewJson<'_> {
            fn from($value: $kind) -> Self {
                $tree
            }
        }

        impl From<&$kind> for ViewJson<'_> {
            fn from(value: &$kind) -> Self {
                ViewJson::from(*value)
            }
        }
    )*};
}

from_copied! {
    bool: value => ViewJson::Bool(value);
    u64: value => ViewJson::Number(value);
    u32: value => ViewJson::Number(value.into());
    usize: value => ViewJson::Number(value as u64);
}

impl<'a> From<&'a str> for ViewJson<'a> {
    fn from(text: &'a str) -> Self {
        ViewJson::Text(text.into())
    }
}

impl From<String> for ViewJson<'_> {
    fn from(text: String) -> Self {
        ViewJson::Text(text.into())
    }
}

impl<'a, T: Into<ViewJson<'a>>> From<Option<T>> for ViewJson<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(ViewJson::Null, Into::into)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::canonical;

    #[test]
    fn it_is_spelled_as_the_same_value_is() {
        let list =
            ViewJson::List(vec!["a\"\\\n\u{202e}ä".into(), String::from("").into(), 7_u32.into()]);
        let none: Option<u64> = None;
        let mut tree = ViewJson::Object(vec![("type", "fact".into()), ("depth", 0_usize.into())]);
        tree.insert("by", list);
        tree.insert("Text", none);
        tree.insert("empty", ViewJson::Object(Vec::new()));
        tree.insert("some", Some(&true));
        let mut spelled = Vec::new();
        tree.write_canonical(&mut spelled);
        let value = Value::from(tree);
        assert_eq!(
            String::from_utf8(spelled).unwrap(),
            String::from_utf8(canonical(&value)).unwrap()
        );
        let names: Vec<_> = value.as_object().unwrap().keys().collect();
        assert_eq!(names, ["type", "depth", "by", "Text", "empty", "some"], "sent in this order");
    }
}
