//! One pass over the text that refuses whatever two readers could read differently.

use std::cell::Cell;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::map::Entry;
use serde_json::value::RawValue;
use serde_json::{Map, Number, Value};

use super::arguments::{ARGUMENTS_BYTES_MAX, BadArguments, DEPTH_MAX};
use super::number;

/// serde_json reads an object with such a key as something else (raw text, a number), so a person
/// could be shown one thing and a later reader see another.
pub(super) const RESERVED: &str = "$serde_json::private::";

pub(super) fn object(bytes: &[u8]) -> Result<Value, BadArguments> {
    if bytes.len() > ARGUMENTS_BYTES_MAX {
        return Err(BadArguments::TooLong { bytes: bytes.len() });
    }
    let text = std::str::from_utf8(bytes)
        .map_err(|error| BadArguments::NotUtf8 { at: error.valid_up_to() })?;
    let fault = Cell::new(None);
    let mut reader = serde_json::Deserializer::from_str(text);
    let value = Strict { depth: 0, fault: &fault }
        .deserialize(&mut reader)
        .and_then(|value| reader.end().map(|()| value))
        .map_err(|error| fault.take().unwrap_or_else(|| diagnose(text, &error)))?;
    match number::first_unfaithful(text) {
        Some(at) => Err(BadArguments::Number { at }),
        None if value.is_object() => Ok(value),
        None => Err(BadArguments::NotAnObject { found: kind(&value) }),
    }
}

/// serde_json reports these two as syntax errors, but they have a remedy of their own.
fn diagnose(text: &str, error: &serde_json::Error) -> BadArguments {
    if has_lone_surrogate(text) {
        BadArguments::LoneSurrogate
    } else if let Some(at) = number::first_unfaithful(text) {
        BadArguments::Number { at }
    } else {
        BadArguments::NotJson { line: error.line(), column: error.column() }
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

fn has_lone_surrogate(text: &str) -> bool {
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        rest = &rest[at + 1..];
        let Some(unit) = utf16_unit(rest) else {
            // The next character is the escaped one, be it a backslash.
            let mut after = rest.chars();
            after.next();
            rest = after.as_str();
            continue;
        };
        rest = &rest[5..];
        match unit {
            0xD800..=0xDBFF => {
                let low = rest.strip_prefix('\\').and_then(utf16_unit);
                if !low.is_some_and(|low| (0xDC00..=0xDFFF).contains(&low)) {
                    return true;
                }
                rest = &rest[6..];
            }
            0xDC00..=0xDFFF => return true,
            _ => {}
        }
    }
    false
}

fn utf16_unit(after_backslash: &str) -> Option<u32> {
    let digits = after_backslash.strip_prefix('u')?.get(..4)?;
    digits.bytes().all(|digit| digit.is_ascii_hexdigit()).then_some(())?;
    u32::from_str_radix(digits, 16).ok()
}

/// Leaves one top-level member out of an object that [`object`] has accepted.
pub(super) fn without_member(bytes: &[u8], key: &str) -> Vec<u8> {
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let members = reader.deserialize_map(Members).unwrap_or_default();
    let mut text = String::with_capacity(bytes.len());
    for (name, raw) in members.iter().filter(|(name, _)| name != key) {
        text.push(if text.is_empty() { '{' } else { ',' });
        text.push_str(&Value::from(name.as_str()).to_string());
        text.push(':');
        text.push_str(raw.get());
    }
    text.push_str(if text.is_empty() { "{}" } else { "}" });
    text.into_bytes()
}

struct Members;

impl<'de> Visitor<'de> for Members {
    type Value = Vec<(String, &'de RawValue)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Self::Value, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = access.next_entry()? {
            members.push(member);
        }
        Ok(members)
    }
}

/// Builds the value by hand, since serde_json's own visitor keeps the last of two equal keys.
#[derive(Clone, Copy)]
struct Strict<'f> {
    depth: usize,
    fault: &'f Cell<Option<BadArguments>>,
}

impl Strict<'_> {
    fn refuse<E: Error>(self, fault: BadArguments) -> E {
        self.fault.set(Some(fault));
        E::custom("refused")
    }

    fn deeper<E: Error>(self) -> Result<Self, E> {
        if self.depth == DEPTH_MAX {
            return Err(self.refuse(BadArguments::TooDeep));
        }
        Ok(Strict { depth: self.depth + 1, fault: self.fault })
    }

    fn text<E: Error>(self, text: &str) -> Result<(), E> {
        if text.contains('\0') { Err(self.refuse(BadArguments::Nul)) } else { Ok(()) }
    }
}

impl<'de> DeserializeSeed<'de> for Strict<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Value, D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("not finite"))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Value, E> {
        self.text(text)?;
        Ok(Value::from(text))
    }

    fn visit_string<E: Error>(self, text: String) -> Result<Value, E> {
        self.text(&text)?;
        Ok(Value::String(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let inner = self.deeper()?;
        let mut items = Vec::new();
        while let Some(item) = access.next_element_seed(inner)? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let inner = self.deeper()?;
        let mut object = Map::new();
        while let Some(key) = access.next_key::<String>()? {
            self.text(&key)?;
            if key.starts_with(RESERVED) {
                return Err(self.refuse(BadArguments::ReservedKey));
            }
            match object.entry(key) {
                Entry::Vacant(place) => {
                    place.insert(access.next_value_seed(inner)?);
                }
                Entry::Occupied(first) => {
                    let key = first.key().clone();
                    // mutant: repeated-keys-taken
                    return Err(self.refuse(BadArguments::DuplicateKey { key }));
                }
            }
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_lone_surrogates_only_where_they_are_escapes() {
        for text in [r"\ud800", r"\udc00", r"x\ud83d\u0041", r"\\\ud800", r"\ud83d\ud83d\ude00"] {
            assert!(has_lone_surrogate(text), "{text}");
        }
        for text in ["", r"\\ud800", r"\ud83d\ude00", r"\u0041", r"\n", r"\", r"\u", r"\ué000"] {
            assert!(!has_lone_surrogate(text), "{text}");
        }
    }
}
