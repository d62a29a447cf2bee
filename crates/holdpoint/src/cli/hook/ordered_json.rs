//! JSON that keeps the order of its keys and the spelling of its values: for files that belong to others.

use std::fmt;

use anyhow::Context as _;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// Settings are flat; more is a mistake.
const DEPTH_MAX: usize = 64;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum OrderedJson {
    Object(Vec<(String, OrderedJson)>),
    Array(Vec<OrderedJson>),
    /// Text, number, true, false or null, as it is written.
    Scalar(String),
}

struct Entries(Vec<(String, Box<RawValue>)>);

impl<'de> Deserialize<'de> for Entries {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Entries, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Entries;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entries, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Entries(entries))
            }
        }
        deserializer.deserialize_map(InOrder)
    }
}

impl OrderedJson {
    pub(super) fn parse(text: &str) -> anyhow::Result<OrderedJson> {
        let raw: &RawValue = serde_json::from_str(text)?;
        OrderedJson::read(raw.get(), 0)
    }

    fn read(text: &str, depth: usize) -> anyhow::Result<OrderedJson> {
        anyhow::ensure!(depth < DEPTH_MAX, "it is nested more than {DEPTH_MAX} deep");
        Ok(match text.as_bytes().first() {
            Some(b'{') => {
                let Entries(entries) = serde_json::from_str(text)?;
                let mut keys: Vec<&str> = entries.iter().map(|(key, _)| key.as_str()).collect();
                keys.sort_unstable();
                if let Some(pair) = keys.windows(2).find(|pair| pair[0] == pair[1]) {
                    anyhow::bail!("`{}` stands there twice; take one of them out", pair[0]);
                }
                let read = |(key, raw): (String, Box<RawValue>)| {
                    Ok((key, OrderedJson::read(raw.get(), depth + 1)?))
                };
                OrderedJson::Object(entries.into_iter().map(read).collect::<anyhow::Result<_>>()?)
            }
            Some(b'[') => {
                let items: Vec<Box<RawValue>> = serde_json::from_str(text)?;
                let read = |raw: Box<RawValue>| OrderedJson::read(raw.get(), depth + 1);
                OrderedJson::Array(items.into_iter().map(read).collect::<anyhow::Result<_>>()?)
            }
            _ => OrderedJson::Scalar(text.to_owned()),
        })
    }

    /// The value under a key of this object, made as `default` if it is not there.
    pub(super) fn entry(
        &mut self,
        key: &str,
        default: OrderedJson,
    ) -> anyhow::Result<&mut OrderedJson> {
        let OrderedJson::Object(entries) = self else {
            anyhow::bail!("`{key}` is to stand in something that is no object");
        };
        let at = match entries.iter().position(|(name, _)| name == key) {
            Some(at) => at,
            None => {
                entries.push((key.to_owned(), default));
                entries.len() - 1
            }
        };
        entries.get_mut(at).map(|(_, value)| value).context("it was just put there")
    }

    pub(super) fn items(&mut self) -> anyhow::Result<&mut Vec<OrderedJson>> {
        match self {
            OrderedJson::Array(items) => Ok(items),
            _ => anyhow::bail!("there is something else where a list of hooks should be"),
        }
    }

    pub(super) fn pretty(&self, indent: &str) -> String {
        let mut text = String::new();
        self.write(&mut text, indent, 0);
        text.push('\n');
        text
    }

    fn write(&self, text: &mut String, indent: &str, depth: usize) {
        let line = |text: &mut String, depth: usize| {
            text.push('\n');
            (0..depth).for_each(|_| text.push_str(indent));
        };
        match self {
            OrderedJson::Scalar(raw) => text.push_str(raw),
            OrderedJson::Object(entries) if entries.is_empty() => text.push_str("{}"),
            OrderedJson::Array(items) if items.is_empty() => text.push_str("[]"),
            OrderedJson::Object(entries) => {
                text.push('{');
                for (index, (key, value)) in entries.iter().enumerate() {
                    text.push_str(if index > 0 { "," } else { "" });
                    line(text, depth + 1);
                    text.push_str(&format!("{}: ", serde_json::Value::from(key.as_str())));
                    value.write(text, indent, depth + 1);
                }
                line(text, depth);
                text.push('}');
            }
            OrderedJson::Array(items) => {
                text.push('[');
                for (index, item) in items.iter().enumerate() {
                    text.push_str(if index > 0 { "," } else { "" });
                    line(text, depth + 1);
                    item.write(text, indent, depth + 1);
                }
                line(text, depth);
                text.push(']');
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_and_spelling_stay() {
        let text =
            "{\n  \"z\": 1.10,\n  \"a\": [\n    true,\n    \"\\u00e9\"\n  ],\n  \"m\": {}\n}\n";
        let mut json = OrderedJson::parse(text).unwrap();
        assert_eq!(json.pretty("  "), text);
        json.entry("m", OrderedJson::Object(vec![])).unwrap();
        assert_eq!(json.pretty("  "), text);
        json.entry("new", OrderedJson::Scalar("1".into())).unwrap();
        assert!(json.pretty("  ").ends_with("\"m\": {},\n  \"new\": 1\n}\n"));
        for bad in ["", "{", "{} x", "// c\n{}"] {
            assert!(OrderedJson::parse(bad).is_err(), "{bad}");
        }
        assert!(
            OrderedJson::parse(
                &"[".repeat(500).chars().chain("]".repeat(500).chars()).collect::<String>()
            )
            .is_err()
        );
    }
}
