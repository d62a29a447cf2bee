//! Writes records as JSON, to the byte as `serde_json` does, at half its cost: every commit is written
//! so, and nearly all of it is names, ids and digests, in which nothing has to be escaped. That is found
//! out for eight bytes at a time.

use serde::Serialize;
use serde::ser::{
    Error as _, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant,
    SerializeTuple, SerializeTupleStruct, SerializeTupleVariant, Serializer,
};
use serde_json::Error;

pub(super) fn write<T: Serialize>(value: &T, out: &mut Vec<u8>) -> Result<(), Error> {
    value.serialize(Writer(out))
}

/// Writes one value.
struct Writer<'a>(&'a mut Vec<u8>);

/// Writes the members of one, and ends it.
struct Members<'a> {
    out: &'a mut Vec<u8>,
    is_first: bool,
    end: &'static [u8],
}

impl<'a> Members<'a> {
    fn begin(out: &'a mut Vec<u8>, begin: u8, end: &'static [u8]) -> Members<'a> {
        out.push(begin);
        Members { out, is_first: true, end }
    }

    /// As the only member of an object, whose name is `variant`.
    fn under(out: &'a mut Vec<u8>, variant: &str, begin: u8, end: &'static [u8]) -> Members<'a> {
        open(out, variant);
        Members::begin(out, begin, end)
    }

    fn comma(&mut self) {
        if !std::mem::replace(&mut self.is_first, false) {
            self.out.push(b',');
        }
    }

    fn item<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.comma();
        value.serialize(Writer(self.out))
    }

    fn member<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) -> Result<(), Error> {
        self.comma();
        text(self.out, name);
        self.out.push(b':');
        value.serialize(Writer(self.out))
    }

    fn finish(self) -> Result<(), Error> {
        self.out.extend_from_slice(self.end);
        Ok(())
    }
}

fn open(out: &mut Vec<u8>, variant: &str) {
    out.push(b'{');
    text(out, variant);
    out.push(b':');
}

fn text(out: &mut Vec<u8>, text: &str) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let bytes = text.as_bytes();
    out.reserve(bytes.len() + 2);
    out.push(b'"');
    let (mut written, mut at) = (0, 0);
    while at < bytes.len() {
        if let Some(eight) = bytes.get(at..at + 8).and_then(|some| some.try_into().ok())
            && !has_to_be_escaped(u64::from_ne_bytes(eight))
        {
            at += 8;
            continue;
        }
        let byte = bytes[at];
        at += 1;
        let short = match byte {
            b'"' | b'\\' => byte,
            b'\n' => b'n',
            b'\r' => b'r',
            b'\t' => b't',
            0x08 => b'b',
            0x0c => b'f',
            0..=0x1f => b'u',
            _ => continue,
        };
        out.extend_from_slice(&bytes[written..at - 1]);
        out.extend_from_slice(&[b'\\', short]);
        if short == b'u' {
            let low = HEX[usize::from(byte & 15)];
            out.extend_from_slice(&[b'0', b'0', HEX[usize::from(byte >> 4)], low]);
        }
        written = at;
    }
    out.extend_from_slice(&bytes[written..]);
    out.push(b'"');
}

/// Whether any of eight bytes is a quote, a backslash or a control character.
fn has_to_be_escaped(eight: u64) -> bool {
    const ONES: u64 = u64::MAX / 255;
    let any_is_zero = |bytes: u64| bytes.wrapping_sub(ONES) & !bytes;
    let control = eight.wrapping_sub(ONES * 0x20) & !eight;
    let quote = any_is_zero(eight ^ (ONES * u64::from(b'"')));
    let backslash = any_is_zero(eight ^ (ONES * u64::from(b'\\')));
    (control | quote | backslash) & (ONES * 0x80) != 0
}

impl<'a> Serializer for Writer<'a> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = Members<'a>;
    type SerializeTuple = Members<'a>;
    type SerializeTupleStruct = Members<'a>;
    type SerializeTupleVariant = Members<'a>;
    type SerializeMap = Members<'a>;
    type SerializeStruct = Members<'a>;
    type SerializeStructVariant = Members<'a>;

    fn serialize_bool(self, value: bool) -> Result<(), Error> {
        self.0.extend_from_slice(if value { b"true" } else { b"false" });
        Ok(())
    }

    fn serialize_i8(self, value: i8) -> Result<(), Error> {
        self.serialize_i64(value.into())
    }

    fn serialize_i16(self, value: i16) -> Result<(), Error> {
        self.serialize_i64(value.into())
    }

    fn serialize_i32(self, value: i32) -> Result<(), Error> {
        self.serialize_i64(value.into())
    }

    fn serialize_i64(self, value: i64) -> Result<(), Error> {
        self.0.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
        Ok(())
    }

    fn serialize_u8(self, value: u8) -> Result<(), Error> {
        self.serialize_u64(value.into())
    }

    fn serialize_u16(self, value: u16) -> Result<(), Error> {
        self.serialize_u64(value.into())
    }

    fn serialize_u32(self, value: u32) -> Result<(), Error> {
        self.serialize_u64(value.into())
    }

    fn serialize_u64(self, value: u64) -> Result<(), Error> {
        self.0.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
        Ok(())
    }

    fn serialize_f32(self, value: f32) -> Result<(), Error> {
        serde_json::to_writer(self.0, &value)
    }

    // Rare, and there is more than one good spelling: as the library spells it.
    fn serialize_f64(self, value: f64) -> Result<(), Error> {
        serde_json::to_writer(self.0, &value)
    }

    fn serialize_char(self, value: char) -> Result<(), Error> {
        self.serialize_str(value.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, value: &str) -> Result<(), Error> {
        text(self.0, value);
        Ok(())
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<(), Error> {
        value.serialize(self)
    }

    fn serialize_none(self) -> Result<(), Error> {
        self.serialize_unit()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Error> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), Error> {
        self.0.extend_from_slice(b"null");
        Ok(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), Error> {
        self.serialize_unit()
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
    ) -> Result<(), Error> {
        self.serialize_str(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        open(self.0, variant);
        value.serialize(Writer(self.0))?;
        self.0.push(b'}');
        Ok(())
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Members<'a>, Error> {
        Ok(Members::begin(self.0, b'[', b"]"))
    }

    fn serialize_tuple(self, _: usize) -> Result<Members<'a>, Error> {
        Ok(Members::begin(self.0, b'[', b"]"))
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Members<'a>, Error> {
        Ok(Members::begin(self.0, b'[', b"]"))
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Members<'a>, Error> {
        Ok(Members::under(self.0, variant, b'[', b"]}"))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Members<'a>, Error> {
        Ok(Members::begin(self.0, b'{', b"}"))
    }

    fn serialize_struct(self, name: &'static str, _: usize) -> Result<Members<'a>, Error> {
        // What the library gives a meaning of its own would be written as something else.
        if name.starts_with("$serde_json::private") {
            return Err(Error::custom("raw JSON has no place in a record"));
        }
        Ok(Members::begin(self.0, b'{', b"}"))
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Members<'a>, Error> {
        Ok(Members::under(self.0, variant, b'{', b"}}"))
    }
}

/// A part that is a list, or one that has named members.
macro_rules! parts {
    (list: $($part:ident $step:ident),*) => { $(
        impl $part for Members<'_> {
            type Ok = ();
            type Error = Error;

            fn $step<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
                self.item(value)
            }

            fn end(self) -> Result<(), Error> {
                self.finish()
            }
        }
    )* };
    (named: $($part:ident),*) => { $(
        impl $part for Members<'_> {
            type Ok = ();
            type Error = Error;

            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                name: &'static str,
                value: &T,
            ) -> Result<(), Error> {
                self.member(name, value)
            }

            fn end(self) -> Result<(), Error> {
                self.finish()
            }
        }
    )* };
}

parts!(list: SerializeSeq serialize_element, SerializeTuple serialize_element,
    SerializeTupleStruct serialize_field, SerializeTupleVariant serialize_field);
parts!(named: SerializeStruct, SerializeStructVariant);

impl SerializeMap for Members<'_> {
    type Ok = ();
    type Error = Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Error> {
        self.comma();
        let begin = self.out.len();
        key.serialize(Writer(self.out))?;
        match self.out.get(begin) {
            Some(b'"') => Ok(()),
            _ => Err(Error::custom("a key is text")),
        }
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.out.push(b':');
        value.serialize(Writer(self.out))
    }

    fn end(self) -> Result<(), Error> {
        self.finish()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    #[track_caller]
    fn check<T: Serialize>(value: &T) {
        let mut out = b"before".to_vec();
        write(value, &mut out).unwrap();
        let wanted = format!("before{}", serde_json::to_string(value).unwrap());
        assert_eq!(String::from_utf8(out), Ok(wanted));
    }

    #[derive(Serialize)]
    enum Shape<'a> {
        Unit,
        New(&'a str),
        Tuple(u8, i16, char),
        Named { a: Option<f64>, b: (), c: [u32; 2] },
    }

    #[derive(Serialize)]
    struct Pair(i8, u16);

    #[derive(Serialize)]
    struct Whole<'a> {
        shapes: Vec<Shape<'a>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        absent: Option<bool>,
        pair: Pair,
        map: BTreeMap<&'a str, Shape<'a>>,
        none: [Shape<'a>; 0],
        float: f32,
    }

    #[test]
    fn every_shape_is_written_as_the_library_writes_it() {
        check(&Whole {
            shapes: vec![
                Shape::Unit,
                Shape::New("x\"y"),
                Shape::Tuple(1, -2, 'é'),
                Shape::Named { a: Some(0.1), b: (), c: [0, u32::MAX] },
                Shape::Named { a: None, b: (), c: [1, 2] },
            ],
            absent: None,
            pair: Pair(-8, 9),
            map: [("k\n", Shape::Unit), ("", Shape::New(""))].into(),
            none: [],
            float: 1.5,
        });
        check(&(i64::MIN, u64::MAX, f64::NAN, true, "\u{7f}\u{0}\u{1f}", 'ß'));
    }

    #[test]
    fn keys_are_text() {
        let numbers: BTreeMap<u8, u8> = [(1, 2)].into();
        assert!(write(&numbers, &mut Vec::new()).is_err());
    }

    #[test]
    fn raw_json_is_refused_and_not_written_as_something_else() {
        let raw = serde_json::value::RawValue::from_string("{}".into()).unwrap();
        assert!(write(&raw, &mut Vec::new()).is_err());
    }

    fn any_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            any::<String>().prop_map(Value::from),
            // Where one that must be escaped stands among eight that need not.
            "[a-z]{0,20}[\\\\\"\n\u{0}-\u{20}]?[a-z\u{7f}-\u{200}]{0,20}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 32, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                prop::collection::btree_map(any::<String>(), inner, 0..6)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn every_value_is_written_as_the_library_writes_it(value in any_value()) {
            check(&value);
        }
    }
}
