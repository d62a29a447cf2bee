//! What MCP servers say. A server is not trusted: its words name a request of ours or nothing, its
//! events are whole ones, its tools have names that can be spelled, and it cannot ask for secrets.

use domain::hold::Question;
use domain::outcome::Outcome;
use serde_json::{Value, json};
use tools::mcp::fuzz_api::{Heard, events, lines, message, outcome, own_reply, question, tool};

use super::{Pieces, told_plainly};

const EVENT_BYTES_MAX: usize = 1_024;
/// As much of an output as is kept, with the words around it.
const OUTPUT_BYTES_MAX: usize = 1 << 20;

pub(super) fn run(bytes: &[u8]) {
    let mut pieces = Pieces::new(bytes);
    let size = usize::from(pieces.byte()).max(1);
    let said = pieces.rest();
    heard(said);
    streamed(said, size);
    printed(said, size);
    let Ok(value) = serde_json::from_slice::<Value>(said) else { return };
    offered(value.clone());
    asked(&value);
    let declared = json!({"name": "t", "inputSchema": {}, "outputSchema": value});
    for definition in [json!({"name": "t", "inputSchema": {}}), declared] {
        if let Some(Outcome::Succeeded(output) | Outcome::Failed(output)) =
            outcome(&value, definition)
        {
            assert!(output.text.len() <= OUTPUT_BYTES_MAX, "{} bytes", output.text.len());
        }
    }
}

fn heard(said: &[u8]) {
    let Some(heard) = message(said) else { return };
    let value: Value = serde_json::from_slice(said).expect("a message is JSON");
    assert_eq!(value["jsonrpc"], "2.0");
    match heard {
        Heard::Answered { id, refused } => {
            assert_eq!(value["id"], id, "an answer to what was asked");
            assert_eq!(refused.is_some(), value.get("error").is_some());
            assert!(refused.is_none_or(|why| why.chars().count() <= 2_000));
        }
        Heard::Asks { id, method } => {
            assert!(value["id"] == id && value["method"] == *method);
            let reply = own_reply(&id, &method);
            assert!(!reply.contains(&b'\n'), "a reply is one line");
            let reply: Value = serde_json::from_slice(&reply).expect("JSON");
            assert_eq!(reply["id"], id, "given back as it is");
            let refused = reply["error"]["message"].as_str().unwrap_or_default();
            told_plainly(refused, said.len());
        }
        Heard::Says { method } => assert_eq!(value["method"], *method),
    }
}

fn streamed(said: &[u8], size: usize) {
    let whole = events([said], EVENT_BYTES_MAX);
    assert_eq!(whole, events(said.chunks(size), EVENT_BYTES_MAX), "cut into pieces of {size}");
    for event in whole.into_iter().flatten() {
        assert!(event.len() <= EVENT_BYTES_MAX);
    }
}

/// Whole lines, each as it was printed, and none that is too long.
fn printed(said: &[u8], size: usize) {
    match lines(said, size, EVENT_BYTES_MAX) {
        Err(told) => told_plainly(&told, 0),
        Ok(lines) => {
            let mut whole: Vec<&[u8]> = said.split(|byte| *byte == b'\n').collect();
            whole.pop();
            assert_eq!(lines, whole, "read in pieces of {size}");
            assert!(lines.iter().all(|line| line.len() <= EVENT_BYTES_MAX));
        }
    }
}

fn offered(definition: Value) {
    match tool(definition.clone()) {
        Err(told) => told_plainly(&told, 0),
        Ok((name, digest)) => {
            assert_eq!(definition["name"], *name);
            assert!(name.bytes().all(|byte| byte.is_ascii_graphic()), "{name:?}");
            let mut other = definition;
            other["description"] = json!(format!("{} more", other["description"]));
            let (_, changed) = tool(other).expect("still a tool");
            assert_ne!(changed, digest, "another word is another definition");
        }
    }
}

fn asked(params: &Value) {
    match question(params) {
        Err(told) => told_plainly(&told, params.to_string().len()),
        Ok(asked) => {
            told_plainly(&asked.title, 0);
            told_plainly(asked.shown["message"].as_str().unwrap_or_default(), 16_000);
            if let Question::Fill { schema } = &asked.question {
                let fields = schema.as_ref().map(|schema| schema["properties"].to_string());
                let fields = fields.unwrap_or_default().to_lowercase();
                assert!(!fields.contains("\"password\":"), "a secret is asked for: {fields}");
            }
        }
    }
}
