//! JSON for scripts that may still end up on somebody's terminal.
//!
//! Every character that has no picture, or turns the writing around, is written as an escape. That
//! is the same JSON, so a script reads exactly what the server said.

use std::io::{self, Write};

use domain::visible::visible;
use serde::Serialize;
use serde_json::Value;
use serde_json::ser::{Formatter, PrettyFormatter};

/// Indented, ending in a line break.
pub fn pretty(value: &Value) -> String {
    let mut bytes = Vec::new();
    let mut serializer = serde_json::Serializer::with_formatter(
        &mut bytes,
        Escaping { layout: PrettyFormatter::new() },
    );
    // A value in memory has text keys and finite numbers, and a vector takes all that is written.
    let written = value.serialize(&mut serializer);
    debug_assert!(written.is_ok());
    let mut text = String::from_utf8(bytes).unwrap_or_default();
    text.push('\n');
    text
}

/// On one line, for scripts that read line by line.
pub fn line(value: &Value) -> String {
    // No text of it has a line break that is not escaped.
    let mut text: String = pretty(value).lines().map(str::trim_start).collect();
    text.push('\n');
    text
}

struct Escaping {
    layout: PrettyFormatter<'static>,
}

impl Formatter for Escaping {
    fn write_string_fragment<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        if fragment.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
            return writer.write_all(fragment.as_bytes());
        }
        for c in fragment.chars() {
            let mut room = [0u8; 4];
            let text: &str = c.encode_utf8(&mut room);
            if visible(text) == text {
                writer.write_all(text.as_bytes())?;
            } else {
                for unit in c.encode_utf16(&mut [0u16; 2]) {
                    write!(writer, "\\u{unit:04x}")?;
                }
            }
        }
        Ok(())
    }

    fn begin_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.layout.begin_array(writer)
    }

    fn end_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.layout.end_array(writer)
    }

    fn begin_array_value<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        self.layout.begin_array_value(writer, first)
    }

    fn end_array_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.layout.end_array_value(writer)
    }

    fn begin_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.layout.begin_object(writer)
    }

    fn end_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.layout.end_object(writer)
    }

    fn begin_object_key<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        self.layout.begin_object_key(writer, first)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.layout.begin_object_value(writer)
    }

    fn end_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.layout.end_object_value(writer)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn hostile_characters_are_escaped_and_mean_the_same() {
        let value = json!({"a\u{9b}": ["x\u{202e}y\u{7f}\u{1b}[2J", "删除 é \u{e0041}", 1.5, null, {}, []]});
        let text = pretty(&value);
        assert!(text.contains(r"x\u202ey\u007f\u001b[2J"), "{text}");
        assert!(text.contains("删除 é"), "{text}");
        assert!(text.contains(r"\udb40\udc41"), "{text}");
        assert!(text.chars().all(|c| c == '\n' || visible(&c.to_string()) == c.to_string()));
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
    }

    #[test]
    fn it_is_indented_as_people_expect() {
        assert_eq!(
            pretty(&json!({"a": [1, {"b": true}], "c": []})),
            "{\n  \"a\": [\n    1,\n    {\n      \"b\": true\n    }\n  ],\n  \"c\": []\n}\n"
        );
    }
}
