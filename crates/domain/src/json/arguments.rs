//! The exact bytes of a call's arguments, with what they mean.

use std::fmt;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::strict;
use crate::visible::visible;

/// Larger arguments cannot be reviewed by a person; what is this long belongs in a file.
pub const ARGUMENTS_BYTES_MAX: usize = 1 << 20;
/// Deeper nesting is an attack on parsers, not a call.
pub const DEPTH_MAX: usize = 64;

/// Arguments that were parsed once and are kept exactly as they were written.
///
/// ```
/// use holdpoint_domain::json::Arguments;
/// let arguments = Arguments::parse(br#"{"path": "/tmp/x"}"#).unwrap();
/// assert_eq!(arguments.value()["path"], "/tmp/x");
/// assert_eq!(arguments.bytes(), br#"{"path": "/tmp/x"}"#);
/// assert!(Arguments::parse(br#"{"path": "/tmp/x", "path": "/etc"}"#).is_err());
/// ```
#[derive(Clone)]
pub struct Arguments {
    bytes: Arc<[u8]>,
    value: Arc<Value>,
}

impl Arguments {
    /// The only way in: a strict reading, after which bytes and value say the same.
    pub fn parse(bytes: &[u8]) -> Result<Arguments, BadArguments> {
        let value = strict::object(bytes)?;
        Ok(Arguments { bytes: bytes.into(), value: Arc::new(value) })
    }

    /// For arguments that were built here, such as an edited form. They go through the same door.
    pub fn from_value(value: Value) -> Result<Arguments, BadArguments> {
        Arguments::parse(value.to_string().as_bytes())
    }

    /// As the model or the program wrote them. These are what digests cover and tools get.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Always an object.
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// The same arguments without one top-level key. If they do not have it these are the original
    /// bytes; otherwise the other members stand in their order, each spelled as it was.
    #[must_use]
    pub fn without(&self, key: &str) -> Arguments {
        let Some(object) = self.value.as_object().filter(|object| object.contains_key(key)) else {
            return self.clone();
        };
        // Not `Map::remove`, which may move the last member into the gap.
        let kept: Map<String, Value> = object
            .iter()
            .filter(|(name, _)| *name != key)
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        let bytes = strict::without_member(&self.bytes, key);
        Arguments { bytes: bytes.into(), value: Arc::new(Value::Object(kept)) }
    }
}

impl PartialEq for Arguments {
    fn eq(&self, other: &Arguments) -> bool {
        self.bytes == other.bytes
    }
}

impl Eq for Arguments {}

impl fmt::Debug for Arguments {
    // Arguments may hold secrets, and debug output ends up in logs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Arguments({} bytes)", self.bytes.len())
    }
}

/// Why arguments were refused. The model reads the message, so it says what to write instead; it
/// never repeats a value, which may be a secret.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadArguments {
    #[error(
        "the arguments have {bytes} bytes, and at most {ARGUMENTS_BYTES_MAX} are taken; send less, \
         or put the data in a file and name it"
    )]
    /// More than any tool should be given by value.
    TooLong {
        /// How many there are.
        bytes: usize,
    },
    /// Bytes that are no text.
    #[error("the arguments are not valid UTF-8 (at byte {at}); send them as UTF-8 text")]
    NotUtf8 {
        /// The position of the first bad byte, from 0.
        at: usize,
    },
    #[error(
        "the arguments are not JSON (line {line}, column {column}); send one complete JSON object"
    )]
    /// Something else, or only a part.
    NotJson {
        /// Where reading stopped, from 1.
        line: usize,
        /// Where in the line reading stopped, from 1.
        column: usize,
    },
    /// JSON of another kind.
    #[error("the arguments are {found}, and must be a JSON object, such as {{\"key\": \"value\"}}")]
    NotAnObject {
        /// What it is instead, in a word: `an array`.
        found: &'static str,
    },
    /// Readers disagree about which of the two counts.
    #[error("the key `{}` stands twice in the same object; write each key once", visible(key))]
    DuplicateKey {
        /// The key, as it was written.
        key: String,
    },
    #[error(
        "the arguments contain a NUL character (\\u0000), which programs cut text at; leave it out"
    )]
    /// A character at which programs cut texts.
    Nul,
    #[error(
        "the arguments contain half of a surrogate pair (such as \\ud83d alone); write the \
         character itself, or both halves"
    )]
    /// Text that no encoding but JSON's escapes can hold.
    LoneSurrogate,
    /// Deeper than our readers go.
    #[error("the arguments are nested deeper than {DEPTH_MAX} levels; send a flatter structure")]
    TooDeep,
    #[error(
        "a number (at byte {at}) would not be read back as written; write it with fewer digits, or \
         as a string"
    )]
    /// A number that would be another after reading and writing.
    Number {
        /// The position of its first byte, from 0.
        at: usize,
    },
    /// A name that the JSON library keeps for itself.
    #[error("keys that begin with `{}` are reserved; use another name", strict::RESERVED)]
    ReservedKey,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn refused(text: &str) -> BadArguments {
        Arguments::parse(text.as_bytes()).expect_err(text)
    }

    fn parsed(text: &str) -> Arguments {
        Arguments::parse(text.as_bytes()).unwrap_or_else(|refusal| panic!("{text}: {refusal}"))
    }

    #[test]
    fn keeps_bytes_and_meaning() {
        let text = " { \"b\" : [1, 2.50, \"\\u00e9\"], \"a\" : {\"n\": null, \"t\": true} }\n";
        let arguments = parsed(text);
        assert_eq!(arguments.bytes(), text.as_bytes());
        assert_eq!(*arguments.value(), json!({"b": [1, 2.5, "é"], "a": {"n": null, "t": true}}));
    }

    #[test]
    fn refuses_what_is_not_one_json_object() {
        for text in ["", "{", "{\"a\":1", "{\"a\":1} x", "{'a':1}", "{\"a\":01}", "{\"a\":1,}"] {
            assert!(matches!(refused(text), BadArguments::NotJson { .. }), "{text}");
        }
        for (text, found) in [
            ("[1]", "an array"),
            ("\"a\"", "a string"),
            ("1", "a number"),
            ("null", "null"),
            ("true", "a boolean"),
        ] {
            assert_eq!(refused(text), BadArguments::NotAnObject { found });
        }
        assert_eq!(Arguments::parse(b"{\"a\":\"\xff\"}"), Err(BadArguments::NotUtf8 { at: 6 }));
    }

    #[test]
    fn refuses_what_two_readers_would_read_differently() {
        let twice = BadArguments::DuplicateKey { key: "a".into() };
        assert_eq!(refused(r#"{"a":1,"a":1}"#), twice);
        assert_eq!(refused(r#"{"x":[{"a":1,"b":2,"\u0061":3}]}"#), twice);
        assert_eq!(refused(r#"{"a":"x\u0000y"}"#), BadArguments::Nul);
        assert_eq!(refused(r#"{"a\u0000":1}"#), BadArguments::Nul);
        for text in [
            r#"{"a":"\ud800"}"#,
            r#"{"a":"\udc00"}"#,
            r#"{"a":"\ud83dx"}"#,
            r#"{"a":"\uD83D\u0041"}"#,
            r#"{"\ude00\ud83d":1}"#,
        ] {
            assert_eq!(refused(text), BadArguments::LoneSurrogate, "{text}");
        }
        assert_eq!(parsed(r#"{"a":"\ud83d\ude00"}"#).value()["a"], "😀");
    }

    #[test]
    fn refuses_keys_that_serde_json_would_read_as_more_than_a_key() {
        // Read as a plain `Value`, this is the object that hides in the string.
        let text = r#"{"a":{"$serde_json::private::RawValue":"{\"b\":1}"}}"#;
        assert_eq!(refused(text), BadArguments::ReservedKey);
    }

    #[test]
    fn refuses_numbers_that_change_when_read() {
        for number in [
            "18446744073709551616",
            "-9223372036854775809",
            "100000000000000000000",
            "1e400",
            "-1e400",
            "1e-400",
            "0.1000000000000000055511151231257827",
            "9007199254740993.0",
            "1e99999999999999999999",
            "1e-99999999999999999999",
        ] {
            let text = format!("{{\"a\":[{number}]}}");
            assert_eq!(refused(&text), BadArguments::Number { at: 6 }, "{number}");
        }
        for number in [
            "0",
            "-0",
            "-0.0",
            "18446744073709551615",
            "-9223372036854775808",
            "0.1",
            "1.10",
            "1e3",
            "1E+3",
            "0.000",
            "0e999999999999999999999",
            "5e-324",
            "31.245270191439438",
            "1.7976931348623157e308",
        ] {
            parsed(&format!("{{\"a\":{number}}}"));
        }
    }

    #[test]
    fn refuses_depth_and_length() {
        let nested =
            |depth: usize| format!("{{\"a\":{}{}}}", "[".repeat(depth - 1), "]".repeat(depth - 1));
        parsed(&nested(DEPTH_MAX));
        assert_eq!(refused(&nested(DEPTH_MAX + 1)), BadArguments::TooDeep);
        assert_eq!(refused(&nested(10_000)), BadArguments::TooDeep);
        let long = |bytes: usize| format!("{{\"a\":\"{}\"}}", "x".repeat(bytes - 8));
        parsed(&long(ARGUMENTS_BYTES_MAX));
        assert_eq!(
            refused(&long(ARGUMENTS_BYTES_MAX + 1)),
            BadArguments::TooLong { bytes: ARGUMENTS_BYTES_MAX + 1 }
        );
    }

    #[test]
    fn messages_say_what_to_do_and_debug_says_nothing() {
        assert_eq!(
            refused("{\"a\u{202e}\":1,\"a\u{202e}\":2}").to_string(),
            "the key `a⟦U+202E⟧` stands twice in the same object; write each key once"
        );
        assert_eq!(format!("{:?}", parsed(r#"{"password":"hunter2"}"#)), "Arguments(22 bytes)");
        assert!(!format!("{:?}", refused(r#"{"password":"hunter2""#)).contains("hunter2"));
    }

    #[test]
    fn leaves_out_one_key_and_touches_nothing_else() {
        let arguments = parsed(r#"{"z": 1.50, "confirmed" : true, "a":{"confirmed": [1, 2]}}"#);
        let rest = arguments.without("confirmed");
        assert_eq!(rest.bytes(), br#"{"z":1.50,"a":{"confirmed": [1, 2]}}"#);
        assert_eq!(*rest.value(), json!({"z": 1.5, "a": {"confirmed": [1, 2]}}));
        assert_eq!(arguments.without("other"), arguments);
        assert_eq!(parsed(r#"{"\u0061":1}"#).without("a").bytes(), b"{}");
    }

    #[test]
    fn built_values_go_through_the_same_door() {
        assert_eq!(Arguments::from_value(json!({"a": 1})).unwrap().bytes(), br#"{"a":1}"#);
        assert_eq!(
            Arguments::from_value(json!([1])),
            Err(BadArguments::NotAnObject { found: "an array" })
        );
        assert_eq!(Arguments::from_value(json!({"a": "\0"})), Err(BadArguments::Nul));
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<u64>().prop_map(Value::from),
            any::<f64>().prop_filter("finite", |n| n.is_finite()).prop_map(Value::from),
            "[^\0]{0,8}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 32, 5, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                proptest::collection::btree_map("[^\0]{0,4}", inner, 0..5)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn every_value_survives(value in any_json()) {
            let object = json!({"a": value});
            let arguments = Arguments::from_value(object.clone()).unwrap();
            prop_assert_eq!(arguments.value(), &object);
        }

        #[test]
        fn never_panics_and_agrees_with_serde_json(
            text in r#"[{}\[\]:, "a\\u0d8-9c.eE+\-\x00é]{0,40}"#,
        ) {
            for text in [text.clone(), format!("{{\"a\":{text}}}"), format!("{{\"a\":\"{text}\"}}")] {
                if let Ok(arguments) = Arguments::parse(text.as_bytes()) {
                    let theirs: Value = serde_json::from_str(&text).unwrap();
                    prop_assert_eq!(arguments.value(), &theirs);
                }
            }
        }

        #[test]
        fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
            let _ = Arguments::parse(&bytes);
        }

        #[test]
        fn leaving_out_a_key_equals_never_having_had_it(
            before in "[b-d]{1}", after in "[e-g]{1}", number in any::<f64>(),
        ) {
            prop_assume!(number.is_finite());
            let with = format!("{{\"{before}\":{number:e},\"a\":[1],\"{after}\":{{}}}}");
            let without = format!("{{\"{before}\":{number:e},\"{after}\":{{}}}}");
            let rest = parsed(&with).without("a");
            prop_assert_eq!(rest.bytes(), without.as_bytes());
            let again = parsed(&without);
            prop_assert_eq!(rest.value(), again.value());
        }
    }
}
