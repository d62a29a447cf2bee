//! A JSON object whose members keep their order and their spelling: what is passed on for others, who may
//! understand more of it than we do, must not be read and written anew.

use std::fmt;

use serde::de::{Error as _, MapAccess, Visitor};
use serde::ser::SerializeMap as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::{RawValue, to_raw_value};

/// Members as they were written. No key stands twice: two readers would see two different objects.
#[derive(Clone, Debug, Default)]
pub struct RawObject {
    members: Vec<(String, Box<RawValue>)>,
}

impl RawObject {
    pub fn parse(text: &str) -> serde_json::Result<RawObject> {
        serde_json::from_str(text)
    }

    pub fn get(&self, key: &str) -> Option<&RawValue> {
        self.members.iter().find(|(name, _)| name == key).map(|(_, value)| &**value)
    }

    /// The names of its members, in their order.
    pub fn keys(&self) -> Vec<String> {
        self.members.iter().map(|(key, _)| key.clone()).collect()
    }

    /// A member that is itself an object.
    pub fn get_object(&self, key: &str) -> Option<RawObject> {
        RawObject::parse(self.get(key)?.get()).ok()
    }

    /// A member that is a string.
    pub fn get_text(&self, key: &str) -> Option<String> {
        serde_json::from_str(self.get(key)?.get()).ok()
    }

    /// In its place, or as the last one.
    pub fn set(&mut self, key: &str, value: Box<RawValue>) {
        match self.members.iter_mut().find(|(name, _)| name == key) {
            Some((_, old)) => *old = value,
            None => self.members.push((key.to_owned(), value)),
        }
    }

    /// The same, for a value that is ours.
    pub fn set_value(&mut self, key: &str, value: &impl Serialize) -> serde_json::Result<()> {
        self.set(key, to_raw_value(value)?);
        Ok(())
    }

    /// Whether another reader may take one member for another: it is spelled almost like one of `known`, or
    /// like another member. Some parsers fold the case of keys, and the last one counts.
    pub fn has_look_alike(&self, known: &[&str]) -> bool {
        let mut folded: Vec<String> = self.members.iter().map(|(key, _)| fold_key(key)).collect();
        let is_almost = |(key, folded): (&(String, Box<RawValue>), &String)| {
            !known.contains(&key.0.as_str()) && known.iter().any(|known| fold_key(known) == *folded)
        };
        let is_almost_known = self.members.iter().zip(&folded).any(is_almost);
        folded.sort_unstable();
        is_almost_known || folded.windows(2).any(|pair| pair[0] == pair[1])
    }

    /// Without these members, as text: what else a call says.
    pub fn others_text(&self, known: &[&str]) -> String {
        let mut others = self.clone();
        others.members.retain(|(key, _)| !known.contains(&key.as_str()));
        if others.members.is_empty() {
            return String::new();
        }
        String::from_utf8_lossy(&others.to_line()).into_owned()
    }

    pub fn remove(&mut self, key: &str) -> Option<Box<RawValue>> {
        let at = self.members.iter().position(|(name, _)| name == key)?;
        Some(self.members.remove(at).1)
    }

    pub fn to_raw(&self) -> serde_json::Result<Box<RawValue>> {
        to_raw_value(self)
    }

    /// One line without its end. Line ends within, which may only stand between tokens, become blanks: the
    /// other side may split lines where we do not.
    pub fn to_line(&self) -> Vec<u8> {
        super::message::json_line(self)
    }
}

/// As the most generous reader sees a key: letters and digits without case, and without what looks like nothing.
fn fold_key(key: &str) -> String {
    let fold = |letter: char| match letter {
        '\u{17f}' => Some('s'),
        '\u{212a}' => Some('k'),
        letter if letter.is_ascii_alphanumeric() => Some(letter.to_ascii_lowercase()),
        letter if letter.is_ascii() => None,
        letter => Some(letter),
    };
    key.chars().filter_map(fold).collect()
}

impl Serialize for RawObject {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.members.len()))?;
        for (key, value) in &self.members {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for RawObject {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<RawObject, D::Error> {
        struct MembersVisitor;
        impl<'de> Visitor<'de> for MembersVisitor {
            type Value = RawObject;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RawObject, A::Error> {
                let mut object = RawObject::default();
                while let Some((key, value)) = map.next_entry::<String, Box<RawValue>>()? {
                    if object.get(&key).is_some() {
                        return Err(A::Error::custom("a key stands twice in the same object"));
                    }
                    object.members.push((key, value));
                }
                Ok(object)
            }
        }
        deserializer.deserialize_map(MembersVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_and_spelling_stay() {
        let text = r#"{"z":1.10,"a":{"n":1e2, "k":"\u0041"},"m":[]}"#;
        let mut object = RawObject::parse(text).unwrap();
        assert_eq!(object.to_line(), text.as_bytes());
        object.set_value("a", &1).unwrap();
        object.set_value("new", &"x").unwrap();
        assert_eq!(object.to_line(), br#"{"z":1.10,"a":1,"m":[],"new":"x"}"#);
        object.remove("z").unwrap();
        assert_eq!(object.to_line(), br#"{"a":1,"m":[],"new":"x"}"#);
    }

    #[test]
    fn a_repeated_key_is_refused_also_when_it_is_spelled_otherwise() {
        assert!(RawObject::parse(r#"{"method":"ping","method":"tools/call"}"#).is_err());
        assert!(RawObject::parse(r#"{"method":"ping","m\u0065thod":"tools/call"}"#).is_err());
        assert!(RawObject::parse("[]").is_err());
    }

    #[test]
    fn keys_that_another_reader_takes_for_one_are_found() {
        let known = ["method", "params", "_meta", "tasks"];
        let is_found = |text: &str| RawObject::parse(text).unwrap().has_look_alike(&known);
        assert!(!is_found(r#"{"method":1,"params":2,"_meta":3,"tasks":4,"other":5}"#));
        for text in [
            r#"{"method":1,"Method":2}"#,
            r#"{"METHOD":1}"#,
            r#"{"method\u0000":1}"#,
            r#"{"task\u017f":1}"#,
            r#"{"meta":1}"#,
            r#"{"other":1,"Other":2}"#,
        ] {
            assert!(is_found(text), "{text}");
        }
    }

    #[test]
    fn no_line_end_is_passed_on() {
        let inner = r#"{"jsonrpc":"2.0","id":9,"method":"tools/call"}"#;
        let object = RawObject::parse(&format!("{{\"a\":\r{inner}\r\n}}")).unwrap();
        let line = String::from_utf8(object.to_line()).unwrap();
        assert!(!line.contains(['\r', '\n']), "{line}");
    }
}
