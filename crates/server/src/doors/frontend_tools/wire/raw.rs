//! The raw format: what the model says goes as events of Anthropic's stream; everything else as in xml.

use serde_json::{Value, json};

use super::say::StreamItem;
use super::xml::{named, whole};

pub(crate) struct RawWriter {
    model: String,
    /// Messages begun so far: each has its own id.
    messages: u32,
    speaking: bool,
    open: Option<&'static str>,
    index: u32,
}

impl RawWriter {
    pub(super) fn new(model: &str) -> RawWriter {
        RawWriter { model: model.to_owned(), messages: 0, speaking: false, open: None, index: 0 }
    }

    pub(super) fn write(&mut self, say: &StreamItem, items: &mut Vec<String>) {
        match say {
            StreamItem::Text(delta) => self.flow("text", delta, items),
            StreamItem::Thinking(delta) => self.flow("thinking", delta, items),
            StreamItem::Called { id, name, input } => {
                self.begin(items);
                self.close(items);
                let block = json!({"type": "tool_use", "id": id, "name": named(name), "input": {}});
                self.start(block, items);
                items.push(self.delta(json!({"type": "input_json_delta", "partial_json": input})));
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

    fn flow(&mut self, block: &'static str, delta: &str, items: &mut Vec<String>) {
        if delta.is_empty() {
            return;
        }
        self.begin(items);
        if self.open != Some(block) {
            self.close(items);
            let mut start = json!({"type": block, block: ""});
            if block == "thinking" {
                start["signature"] = Value::from("");
            }
            self.start(start, items);
            self.open = Some(block);
        }
        items.push(self.delta(json!({"type": format!("{block}_delta"), block: delta})));
    }

    fn begin(&mut self, items: &mut Vec<String>) {
        if self.speaking {
            return;
        }
        self.speaking = true;
        self.index = 0;
        self.messages += 1;
        items.push(event(&json!({"type": "message_start", "message": {
            "id": format!("msg_{}", self.messages), "type": "message", "role": "assistant",
            "model": self.model, "content": [], "stop_reason": null, "stop_sequence": null,
            "usage": {"input_tokens": 0, "output_tokens": 0},
        }})));
    }

    fn start(&mut self, block: Value, items: &mut Vec<String>) {
        let start =
            json!({"type": "content_block_start", "index": self.index, "content_block": block});
        items.push(event(&start));
    }

    fn delta(&self, delta: Value) -> String {
        event(&json!({"type": "content_block_delta", "index": self.index, "delta": delta}))
    }

    fn stop(&mut self, items: &mut Vec<String>) {
        items.push(event(&json!({"type": "content_block_stop", "index": self.index})));
        self.index += 1;
    }

    fn close(&mut self, items: &mut Vec<String>) {
        if self.open.take().is_some() {
            self.stop(items);
        }
    }

    fn end(&mut self, why: &str, items: &mut Vec<String>) {
        if !self.speaking {
            return;
        }
        self.close(items);
        self.speaking = false;
        items.push(event(&json!({
            "type": "message_delta", "delta": {"stop_reason": why, "stop_sequence": null},
            "usage": {"output_tokens": 0},
        })));
        items.push(event(&json!({"type": "message_stop"})));
    }
}

/// In JSON both signs stand only in texts; the client looks for tags in an item before it reads it.
fn event(event: &Value) -> String {
    event.to_string().replace('<', "\\u003c").replace('>', "\\u003e")
}
