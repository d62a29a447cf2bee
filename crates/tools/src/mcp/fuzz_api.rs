//! What is made of a server's bytes, without a server around them: the very functions that the wires
//! and hosts call, for whoever tries them with hostile input.

use domain::digest::Digest;
use domain::outcome::Outcome;
use futures_util::FutureExt as _;
use ports::nested_question::NestedQuestion;
use ports::sse::Decoder;
use serde_json::Value;
use tokio::io::BufReader;

use super::catalog::McpDefinition;
use super::content;
use super::elicit::Elicitation;
use super::line::next_line;
use super::link::ServerIdentity;
use super::message::{JsonRpcIncoming, answer_bytes, own_answer};
use super::pins::PinFile;

/// A message, as far as it says whose it is.
#[derive(Clone, Debug, PartialEq)]
pub enum Heard {
    Answered { id: u64, refused: Option<String> },
    Asks { id: Value, method: String },
    Says { method: String },
}

pub fn message(bytes: &[u8]) -> Option<Heard> {
    Some(match JsonRpcIncoming::parse(bytes)? {
        JsonRpcIncoming::Answer { id, answer } => {
            Heard::Answered { id, refused: answer.err().map(|error| error.message) }
        }
        JsonRpcIncoming::Request { id, method, .. } => Heard::Asks { id, method },
        JsonRpcIncoming::Notice { method, .. } => Heard::Says { method },
    })
}

/// What a server's question gets from us without any person.
pub fn own_reply(id: &Value, method: &str) -> Vec<u8> {
    answer_bytes(id, own_answer(method))
}

/// The data of whole events, in a stream that comes in these pieces. `None`: one is too long.
pub fn events<'a>(
    pieces: impl IntoIterator<Item = &'a [u8]>,
    bytes_max: usize,
) -> Option<Vec<Vec<u8>>> {
    let mut decoder = Decoder::new(bytes_max);
    let mut all = Vec::new();
    for piece in pieces {
        all.extend(decoder.feed(piece).ok()?.into_iter().map(|event| event.data));
    }
    Some(all)
}

/// The lines that a server prints, read through a buffer of this size. The error is why it is let go of.
pub fn lines(printed: &[u8], buffer: usize, bytes_max: usize) -> Result<Vec<Vec<u8>>, String> {
    let mut from = BufReader::with_capacity(buffer, printed);
    let mut lines = Vec::new();
    // What is in memory is there at once.
    while let Some(line) = next_line(&mut from, bytes_max).now_or_never().transpose()?.flatten() {
        lines.push(line);
    }
    Ok(lines)
}

/// A tool that a server offers: its name, and what an approval of it is bound to.
pub fn tool(definition: Value) -> Result<(String, Digest), String> {
    let read = McpDefinition::parse(definition)?;
    let digest = read.pin_digest(&ServerIdentity::default());
    Ok((read.name, digest))
}

/// What came of a call, if the tool declared this.
pub fn outcome(result: &Value, definition: Value) -> Option<Outcome> {
    McpDefinition::parse(definition)
        .ok()
        .map(|definition| content::call_outcome(result, &definition))
}

/// A question that a server has for people; the error is why they are not asked.
pub fn question(params: &Value) -> Result<NestedQuestion, String> {
    Elicitation::parse("server", "tool", params).map(|elicited| elicited.asked)
}

/// Definitions that people have agreed to.
#[derive(Clone, Debug, PartialEq)]
pub struct Pinned {
    /// The tools, and what an approval of each is bound to.
    pub tools: Vec<(String, Option<Digest>)>,
    /// The file as it would be written.
    pub written: Vec<u8>,
}

/// A file of pins; the error is what the operator is told.
pub fn pins(file: &[u8]) -> Result<Pinned, String> {
    let read = PinFile::parse(file)?;
    let tools = read.tools.iter().map(|(name, pin)| (name.clone(), pin.parse_digest())).collect();
    Ok(Pinned { tools, written: read.to_bytes().map_err(|error| error.to_string())? })
}
