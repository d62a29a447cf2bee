//! What goes over this wire, in its three formats. Whatever a model or a tool wrote passes through
//! here, and none of it can end an item, open a tag, or pass for a prompt.

mod json;
mod raw;
mod say;
#[cfg(test)]
mod tests;
mod text;
mod xml;

pub(crate) use say::{Awaited, FinalWord, Meta, StreamItem};

use crate::doors::Format;
use crate::doors::stream::{Heartbeat, Style};

/// Writes what is said as items of one format. It remembers what is open.
pub(crate) enum FormatWriter {
    Xml(xml::XmlWriter),
    Raw(raw::RawWriter),
    Json(json::JsonWriter),
}

impl FormatWriter {
    pub(crate) fn new(format: Format, agent: &str, model: &str) -> FormatWriter {
        match format {
            Format::Xml => FormatWriter::Xml(xml::XmlWriter::default()),
            Format::Raw => FormatWriter::Raw(raw::RawWriter::new(model)),
            Format::Json => FormatWriter::Json(json::JsonWriter::new(agent)),
        }
    }

    /// The items for one thing said, in order; often one, sometimes none.
    pub(crate) fn write(&mut self, say: &StreamItem) -> Vec<String> {
        let mut items = Vec::new();
        match self {
            FormatWriter::Xml(writer) => writer.write(say, &mut items),
            FormatWriter::Raw(writer) => writer.write(say, &mut items),
            FormatWriter::Json(writer) => writer.write(say, &mut items),
        }
        items
    }
}

/// An item as an event of the stream.
pub(crate) fn framed(item: &str) -> String {
    // Nothing gets here with one: a line break would end the item in the middle.
    debug_assert!(!item.contains(['\r', '\n']), "a line break in an item");
    format!("data: {item}\n\n")
}

/// Between items goes a sign of life. An empty line after it would be an empty message to the client.
pub(crate) const STYLE: Style = Style { heartbeat: Heartbeat(b": hb\n"), headers: &[] };

pub(super) const DONE: &str = "[DONE]";
