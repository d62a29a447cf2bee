//! What goes over this wire, in its three formats. Whatever a model or a tool wrote passes through
//! here, and none of it can end an item, open a tag, or pass for a prompt.

mod json;
mod raw;
mod say;
#[cfg(test)]
mod tests;
mod text;
mod xml;

pub(crate) use say::{Awaited, Meta, Say};

use crate::doors::Format;
use crate::doors::stream::{Heartbeat, Style};

/// Writes what is said as items of one format. It remembers what is open.
pub(crate) enum Writer {
    Xml(xml::Writer),
    Raw(raw::Writer),
    Json(json::Writer),
}

impl Writer {
    pub(crate) fn new(format: Format, agent: &str, model: &str) -> Writer {
        match format {
            Format::Xml => Writer::Xml(xml::Writer::default()),
            Format::Raw => Writer::Raw(raw::Writer::new(model)),
            Format::Json => Writer::Json(json::Writer::new(agent)),
        }
    }

    /// The items for one thing said, in order; often one, sometimes none.
    pub(crate) fn write(&mut self, say: &Say) -> Vec<String> {
        let mut items = Vec::new();
        match self {
            Writer::Xml(writer) => writer.write(say, &mut items),
            Writer::Raw(writer) => writer.write(say, &mut items),
            Writer::Json(writer) => writer.write(say, &mut items),
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
