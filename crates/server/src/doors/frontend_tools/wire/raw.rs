//! The raw format: what the model says goes as events of Anthropic's stream; everything else as in xml.

use serde::Serialize;

use super::say::{StreamItem, json_text};
use super::xml::{safe_name, whole};

pub(crate) struct RawWriter {
    model: String,
    /// Messages begun so far: each has its own id.
    messages: u32,
    speaking: bool,
    open: Option<SpeechBlock>,
    index: u32,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum SpeechBlock {
    Text,
    Thinking,
}

/// An event of Anthropic's stream.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum RawEvent<'a> {
    MessageStart { message: RawMessage<'a> },
    ContentBlockStart { index: u32, content_block: StartedBlock<'a> },
    ContentBlockDelta { index: u32, delta: RawDelta<'a> },
    ContentBlockStop { index: u32 },
    MessageDelta { delta: MessageEnd, usage: OutputUsage },
    MessageStop,
}

#[derive(Serialize)]
struct RawMessage<'a> {
    id: String,
    #[serde(rename = "type")]
    kind: &'static str,
    role: &'static str,
    model: &'a str,
    content: [(); 0],
    stop_reason: Option<&'static str>,
    stop_sequence: Option<&'static str>,
    usage: RawUsage,
}

/// Tokens are counted elsewhere.
#[derive(Serialize)]
struct RawUsage {
    input_tokens: u32,
    output_tokens: u32,
}

#[derive(Serialize)]
struct OutputUsage {
    output_tokens: u32,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum StartedBlock<'a> {
    Text { text: &'static str },
    Thinking { thinking: &'static str, signature: &'static str },
    ToolUse { id: &'a str, name: &'a str, input: NoInput },
}

/// The input follows in pieces.
#[derive(Serialize)]
struct NoInput {}

#[derive(Serialize)]
#[serde(tag = "type")]
enum RawDelta<'a> {
    #[serde(rename = "text_delta")]
    Text { text: &'a str },
    #[serde(rename = "thinking_delta")]
    Thinking { thinking: &'a str },
    #[serde(rename = "input_json_delta")]
    InputJson { partial_json: &'a str },
}

#[derive(Serialize)]
struct MessageEnd {
    stop_reason: &'static str,
    stop_sequence: Option<&'static str>,
}

impl RawWriter {
    pub(super) fn new(model: &str) -> RawWriter {
        RawWriter { model: model.to_owned(), messages: 0, speaking: false, open: None, index: 0 }
    }

    pub(super) fn write(&mut self, say: &StreamItem, items: &mut Vec<String>) {
        match say {
            StreamItem::Text(delta) => self.flow(SpeechBlock::Text, delta, items),
            StreamItem::Thinking(delta) => self.flow(SpeechBlock::Thinking, delta, items),
            StreamItem::Called { id, name, input } => {
                self.begin(items);
                self.close(items);
                let block = StartedBlock::ToolUse { id, name: &safe_name(name), input: NoInput {} };
                self.start(block, items);
                items.push(self.delta(RawDelta::InputJson { partial_json: input }));
                self.stop(items);
            }
            StreamItem::Closed => self.close(items),
            StreamItem::TurnEnded { calls } => {
                self.begin(items);
                self.end(if *calls { "tool_use" } else { "end_turn" }, items);
            }
            // There is no event that takes something back: the message ends here, and another follows.
            StreamItem::Withdrawn => self.end("end_turn", items),
            other => {
                self.end("end_turn", items);
                items.extend(whole(other));
            }
        }
    }

    fn flow(&mut self, block: SpeechBlock, delta: &str, items: &mut Vec<String>) {
        if delta.is_empty() {
            return;
        }
        self.begin(items);
        if self.open != Some(block) {
            self.close(items);
            let start = match block {
                SpeechBlock::Text => StartedBlock::Text { text: "" },
                SpeechBlock::Thinking => StartedBlock::Thinking { thinking: "", signature: "" },
            };
            self.start(start, items);
            self.open = Some(block);
        }
        items.push(self.delta(match block {
            SpeechBlock::Text => RawDelta::Text { text: delta },
            SpeechBlock::Thinking => RawDelta::Thinking { thinking: delta },
        }));
    }

    fn begin(&mut self, items: &mut Vec<String>) {
        if self.speaking {
            return;
        }
        self.speaking = true;
        self.index = 0;
        self.messages += 1;
        let message = RawMessage {
            id: format!("msg_{}", self.messages),
            kind: "message",
            role: "assistant",
            model: &self.model,
            content: [],
            stop_reason: None,
            stop_sequence: None,
            usage: RawUsage { input_tokens: 0, output_tokens: 0 },
        };
        items.push(event(&RawEvent::MessageStart { message }));
    }

    fn start(&mut self, content_block: StartedBlock<'_>, items: &mut Vec<String>) {
        items.push(event(&RawEvent::ContentBlockStart { index: self.index, content_block }));
    }

    fn delta(&self, delta: RawDelta<'_>) -> String {
        event(&RawEvent::ContentBlockDelta { index: self.index, delta })
    }

    fn stop(&mut self, items: &mut Vec<String>) {
        items.push(event(&RawEvent::ContentBlockStop { index: self.index }));
        self.index += 1;
    }

    fn close(&mut self, items: &mut Vec<String>) {
        if self.open.take().is_some() {
            self.stop(items);
        }
    }

    fn end(&mut self, stop_reason: &'static str, items: &mut Vec<String>) {
        if !self.speaking {
            return;
        }
        self.close(items);
        self.speaking = false;
        items.push(event(&RawEvent::MessageDelta {
            delta: MessageEnd { stop_reason, stop_sequence: None },
            usage: OutputUsage { output_tokens: 0 },
        }));
        items.push(event(&RawEvent::MessageStop));
    }
}

/// In JSON both signs stand only in texts; the client looks for tags in an item before it reads it.
fn event(event: &RawEvent<'_>) -> String {
    // mutant: frontend-raw-tags
    json_text(event).replace('<', "\\u003c").replace('>', "\\u003e")
}
