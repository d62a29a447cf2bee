//! Writes JSON, to the byte as `serde_json` does, at half its cost: every commit and every reply is
//! written so, and nearly all of it is names, ids and digests, in which nothing has to be escaped. That
//! is found out for eight bytes at a time. What neither records nor replies have is refused, and not
//! written in another way: keys that are no text, raw JSON, numbers of 128 bits.

use serde::Serialize;
use serde::ser::{
    Error as _, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant,
    SerializeTuple, SerializeTupleStruct, SerializeTupleVariant, Serializer,
};
use serde_json::Error;

/// At the end of what is there. If it is refused, nothing of it is.
pub fn write<T: Serialize + ?Sized>(value: &T, out: &mut Vec<u8>) -> Result<(), Error> {
    let begin = out.len();
    value.serialize(Writer(out)).inspect_err(|_| out.truncate(begin))
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
    fn under(
        out: &'a mut Vec<u8>,
        variant: &'static str,
        begin: u8,
        end: &'static [u8],
    ) -> Members<'a> {
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

    fn member<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        self.comma();
        named(self.out, name);
        value.serialize(Writer(self.out))
    }

    fn finish(self) -> Result<(), Error> {
        self.out.extend_from_slice(self.end);
        Ok(())
    }
}

fn open(out: &mut Vec<u8>, variant: &'static str) {
    out.push(b'{');
    named(out, variant);
}

/// The name of a member. Those are in our own source, and none has to be escaped.
fn named(out: &mut Vec<u8>, name: &'static str) {
    debug_assert!(is_plain(name.as_bytes()), "`{name}` is no name for a member");
    out.reserve(name.len() + 3);
    out.push(b'"');
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b"\":");
}

fn text(out: &mut Vec<u8>, text: &str) {
    let bytes = text.as_bytes();
    out.reserve(bytes.len() + 2);
    out.push(b'"');
    match is_plain(bytes) {
        true => out.extend_from_slice(bytes),
        false => escaped(out, bytes),
    }
    out.push(b'"');
}

fn escaped(out: &mut Vec<u8>, bytes: &[u8]) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let (mut written, mut at) = (0, 0);
    while at < bytes.len() {
        if let Some(eight) = bytes[at..].first_chunk()
            && !has_to_be_escaped(u64::from_ne_bytes(*eight))
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
}

/// Whether nothing in it has to be escaped. The last eight bytes may be looked at twice.
fn is_plain(bytes: &[u8]) -> bool {
    let (eights, rest) = bytes.as_chunks();
    let last = match bytes.last_chunk() {
        Some(last) => !has_to_be_escaped(u64::from_ne_bytes(*last)),
        None => rest.iter().all(|byte| *byte >= 0x20 && *byte != b'"' && *byte != b'\\'),
    };
    last && eights.iter().all(|eight| !has_to_be_escaped(u64::from_ne_bytes(*eight)))
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

macro_rules! numbers {
    ($($step:ident $number:ty),*) => { $(
        fn $step(self, value: $number) -> Result<(), Error> {
            self.0.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
            Ok(())
        }
    )* };
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

    numbers!(serialize_i8 i8, serialize_i16 i16, serialize_i32 i32, serialize_i64 i64,
        serialize_u8 u8, serialize_u16 u16, serialize_u32 u32, serialize_u64 u64);

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
            return Err(Error::custom("raw JSON is not written here"));
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
mod tests;
