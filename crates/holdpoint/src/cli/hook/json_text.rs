//! Edits of JSON files that belong to others: one value more or less, and every other byte stays.

use std::fmt;
use std::ops::Range;

use anyhow::Context as _;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// An object or a list in a text, and where its values stand.
#[derive(Debug)]
pub(super) struct JsonSpan<'a> {
    text: &'a str,
    /// With its brackets.
    span: Range<usize>,
    pub(super) members: Vec<JsonMember<'a>>,
}

/// A value as it is written. In a list the key is empty.
#[derive(Debug)]
pub(super) struct JsonMember<'a> {
    pub(super) key: String,
    pub(super) value: &'a str,
}

struct RawMembers<'a>(Vec<JsonMember<'a>>);

impl<'de> Deserialize<'de> for RawMembers<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<RawMembers<'de>, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = RawMembers<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some((key, raw)) = map.next_entry::<String, &'de RawValue>()? {
                    members.push(JsonMember { key, value: raw.get() });
                }
                Ok(RawMembers(members))
            }
        }
        deserializer.deserialize_map(InOrder)
    }
}

impl<'a> JsonSpan<'a> {
    /// The whole text, which is one object.
    pub(super) fn of_object(text: &'a str) -> anyhow::Result<JsonSpan<'a>> {
        let whole: &RawValue = serde_json::from_str(text)?;
        let RawMembers(members) = serde_json::from_str(whole.get())?;
        let mut keys: Vec<&str> = members.iter().map(|member| member.key.as_str()).collect();
        keys.sort_unstable();
        if let Some(pair) = keys.windows(2).find(|pair| pair[0] == pair[1]) {
            anyhow::bail!("`{}` stands there twice; take one of them out", pair[0]);
        }
        Ok(JsonSpan { text, span: place(text, whole.get()), members })
    }

    pub(super) fn position(&self, key: &str) -> Option<usize> {
        self.members.iter().position(|member| member.key == key)
    }

    /// A value of this one that is an object itself.
    pub(super) fn object_at(&self, number: usize) -> anyhow::Result<JsonSpan<'a>> {
        let member = self.members.get(number).context("there is no such value")?;
        let inner = JsonSpan::of_object(member.value)?;
        Ok(JsonSpan { text: self.text, span: place(self.text, member.value), ..inner })
    }

    /// A value of this one that is a list.
    pub(super) fn list_at(&self, number: usize) -> anyhow::Result<JsonSpan<'a>> {
        let member = self.members.get(number).context("there is no such value")?;
        let items: Vec<&'a RawValue> = serde_json::from_str(member.value)
            .context("there is something else where a list of hooks should be")?;
        let items =
            items.into_iter().map(|raw| JsonMember { key: String::new(), value: raw.get() });
        let span = place(self.text, member.value);
        Ok(JsonSpan { text: self.text, span, members: items.collect() })
    }

    /// The whole text with one value more at the end of this one. `depth`: how many brackets stand around its values.
    pub(super) fn with(&self, added: &str, indent: &str, depth: usize) -> String {
        let margin = format!("\n{}", indent.repeat(depth));
        let added = added.replace('\n', &margin);
        match self.members.last() {
            Some(last) => {
                let end = place(self.text, last.value).end;
                self.replaced(end..end, &format!(",{margin}{added}"))
            }
            None => {
                let inside = self.span.start + 1..self.span.end - 1;
                let closing = format!("\n{}", indent.repeat(depth.saturating_sub(1)));
                self.replaced(inside, &format!("{margin}{added}{closing}"))
            }
        }
    }

    /// The whole text without one value of this one: what [`JsonSpan::with`] added goes, and nothing else.
    pub(super) fn without(&self, number: usize) -> String {
        let end_of = |number: usize| {
            self.members.get(number).map(|member| place(self.text, member.value).end)
        };
        let inside = self.span.start + 1..self.span.end - 1;
        let (begin, end) = match (number.checked_sub(1).and_then(end_of), end_of(number)) {
            _ if self.members.len() == 1 => (inside.start, inside.end),
            (Some(before), Some(end)) => (before, end),
            (None, Some(end)) => {
                let comma = self.text[end..].find(',').map_or(end, |comma| end + comma + 1);
                (inside.start, comma)
            }
            (_, None) => return self.text.to_owned(),
        };
        self.replaced(begin..end, "")
    }

    fn replaced(&self, range: Range<usize>, with: &str) -> String {
        [&self.text[..range.start], with, &self.text[range.end..]].concat()
    }
}

/// Where a piece of a text stands in it.
fn place(text: &str, piece: &str) -> Range<usize> {
    let start = piece.as_ptr().addr() - text.as_ptr().addr();
    start..start + piece.len()
}

/// One value in brackets of its own, on lines of its own.
pub(super) fn enclosed([open, close]: [char; 2], inner: &str, indent: &str) -> String {
    let margin = format!("\n{indent}");
    format!("{open}{margin}{}\n{close}", inner.replace('\n', &margin))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_added_goes_again_and_nothing_else_changes() {
        for (text, with) in [
            ("{}", "{\n  \"new\": 1\n}"),
            (
                "{\"z\":1.10,\"a\":[true,\"\\u00e9\"]}",
                "{\"z\":1.10,\"a\":[true,\"\\u00e9\"],\n  \"new\": 1}",
            ),
            ("{\n\t\"m\" : {}\r\n}\r\n", "{\n\t\"m\" : {},\n  \"new\": 1\r\n}\r\n"),
        ] {
            let added = JsonSpan::of_object(text).unwrap().with("\"new\": 1", "  ", 1);
            assert_eq!(added, with);
            let top = JsonSpan::of_object(&added).unwrap();
            assert_eq!(top.without(top.position("new").unwrap()), text);
        }
    }

    #[test]
    fn values_go_from_every_place() {
        let text = "{\"a\": {\"b\": [1, [2, 3] , {\"c\": \"],}\"}]}}";
        let top = JsonSpan::of_object(text).unwrap();
        let list = top.object_at(0).unwrap().list_at(0).unwrap();
        let values: Vec<&str> = list.members.iter().map(|member| member.value).collect();
        assert_eq!(values, ["1", "[2, 3]", "{\"c\": \"],}\"}"]);
        assert_eq!(list.without(0), "{\"a\": {\"b\": [ [2, 3] , {\"c\": \"],}\"}]}}");
        assert_eq!(list.without(1), "{\"a\": {\"b\": [1 , {\"c\": \"],}\"}]}}");
        assert_eq!(list.without(2), "{\"a\": {\"b\": [1, [2, 3]]}}");
        assert_eq!(
            list.with("{\n  \"d\": 4\n}", "  ", 3),
            "{\"a\": {\"b\": [1, [2, 3] , {\"c\": \"],}\"},\n      {\n        \"d\": 4\n      }]}}"
        );
    }

    #[test]
    fn what_is_no_object_is_refused() {
        for bad in ["", "{", "{} x", "// c\n{}", "[]", "1", "{\"a\": 1, \"a\": 2}"] {
            assert!(JsonSpan::of_object(bad).is_err(), "{bad}");
        }
        let top = JsonSpan::of_object("{\"a\": 1}").unwrap();
        assert!(top.object_at(0).is_err() && top.list_at(0).is_err() && top.list_at(1).is_err());
    }
}
