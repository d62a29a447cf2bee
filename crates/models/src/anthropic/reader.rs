//! Reads the events of the Messages API. Blocks are told apart by their index, and each is only used
//! when its end has come; the turn, when `message_stop` has.

use std::collections::BTreeMap;

use domain::message::Part;
use ports::model::{Delta, TurnUsage, WrittenCall};
use ports::sse::SseEvent;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::AnthropicErrorBody;
use crate::fault::Trouble;
use crate::opaque::{ApiKind, Opaque};
use crate::reply::{DeltaCallback, End, Measure, ModelReply, Progress, Reader, input};

#[derive(Debug, Default)]
pub(crate) struct Messages {
    blocks: BTreeMap<u64, BlockSlot>,
    stop_reason: Option<String>,
    stopped: bool,
    usage: AnthropicUsage,
    measure: Measure,
}

#[derive(Debug)]
struct BlockSlot {
    block: StreamedBlock,
    ended: bool,
}

#[derive(Debug)]
enum StreamedBlock {
    Text(String),
    Thinking {
        text: String,
        signature: String,
    },
    Redacted(String),
    Call {
        id: String,
        name: String,
        given: Option<Box<RawValue>>,
        json: String,
    },
    /// One that we know nothing of: kept only for the case that the turn is paused.
    Other {
        start: Box<RawValue>,
        json: String,
    },
}

#[derive(Deserialize)]
struct AnthropicEventType {
    #[serde(rename = "type")]
    kind: Option<String>,
}

#[derive(Deserialize)]
struct MessageStart {
    message: Option<StartedMessage>,
}

#[derive(Deserialize)]
struct StartedMessage {
    usage: Option<AnthropicUsage>,
}

#[derive(Deserialize)]
struct BlockStart {
    index: u64,
    content_block: Box<RawValue>,
}

#[derive(Deserialize)]
struct StartedBlock {
    #[serde(rename = "type")]
    kind: String,
    text: Option<String>,
    thinking: Option<String>,
    signature: Option<String>,
    data: Option<String>,
    id: Option<String>,
    name: Option<String>,
    input: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
struct BlockDelta {
    index: u64,
    delta: AnthropicDelta,
}

#[derive(Deserialize)]
struct AnthropicDelta {
    #[serde(rename = "type")]
    kind: String,
    text: Option<String>,
    thinking: Option<String>,
    signature: Option<String>,
    partial_json: Option<String>,
}

#[derive(Deserialize)]
struct BlockStop {
    index: u64,
}

#[derive(Deserialize)]
struct MessageDelta {
    delta: Option<Stop>,
    usage: Option<AnthropicUsage>,
}

#[derive(Deserialize)]
struct Stop {
    stop_reason: Option<String>,
}

/// Later counts are of everything so far, and may leave out what has not changed.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
struct AnthropicUsage {
    input_tokens: Option<u64>,
    cache_creation_input_tokens: Option<u64>,
    cache_read_input_tokens: Option<u64>,
    output_tokens: Option<u64>,
}

impl AnthropicUsage {
    fn update(&mut self, later: AnthropicUsage) {
        let all = [
            (&mut self.input_tokens, later.input_tokens),
            (&mut self.cache_creation_input_tokens, later.cache_creation_input_tokens),
            (&mut self.cache_read_input_tokens, later.cache_read_input_tokens),
            (&mut self.output_tokens, later.output_tokens),
        ];
        for (known, later) in all {
            *known = later.or(*known);
        }
    }

    fn usage(self) -> TurnUsage {
        let cached_tokens = self.cache_read_input_tokens.unwrap_or_default();
        let parts =
            [self.input_tokens, self.cache_creation_input_tokens, self.cache_read_input_tokens];
        TurnUsage {
            input_tokens: parts.into_iter().flatten().fold(0, u64::saturating_add),
            cached_tokens,
            output_tokens: self.output_tokens.unwrap_or_default(),
        }
    }
}

fn parse<'a, T: Deserialize<'a>>(data: &'a [u8]) -> Result<T, Trouble> {
    serde_json::from_slice(data).map_err(|error| Trouble::not_json(&error))
}

impl Reader for Messages {
    fn event(&mut self, event: &SseEvent, say: DeltaCallback<'_>) -> Result<Progress, Trouble> {
        let kind = parse::<AnthropicEventType>(&event.data)?.kind;
        let kind = kind.unwrap_or_else(|| String::from_utf8_lossy(&event.name).into_owned());
        match kind.as_str() {
            "message_start" => {
                let started: MessageStart = parse(&event.data)?;
                if let Some(usage) = started.message.and_then(|message| message.usage) {
                    self.usage.update(usage);
                }
            }
            "content_block_start" => self.start(parse(&event.data)?, say)?,
            "content_block_delta" => self.delta(parse(&event.data)?, say)?,
            "content_block_stop" => {
                let stop: BlockStop = parse(&event.data)?;
                self.open(stop.index)?.ended = true;
            }
            "message_delta" => {
                let delta: MessageDelta = parse(&event.data)?;
                if let Some(usage) = delta.usage {
                    self.usage.update(usage);
                }
                let reason = delta.delta.and_then(|delta| delta.stop_reason);
                self.stop_reason = reason.or_else(|| self.stop_reason.take());
            }
            "message_stop" => {
                self.stopped = true;
                return Ok(Progress::Done);
            }
            "error" => {
                return Err(Trouble::Problem(parse::<AnthropicErrorBody>(&event.data)?.problem()));
            }
            // `ping`, and what may come to the API later.
            _ => {}
        }
        Ok(Progress::More)
    }

    fn finish(self) -> Result<ModelReply, Trouble> {
        // mutant: half-a-turn-counts.stop
        if !self.stopped {
            return Err(Trouble::Ended);
        }
        let reason = self.stop_reason.clone().unwrap_or_default();
        let end = match reason.as_str() {
            "max_tokens" => End::TokenLimit,
            "model_context_window_exceeded" => End::Window,
            "refusal" => End::Declined(reason),
            "end_turn" | "stop_sequence" | "tool_use" => End::Whole,
            "pause_turn" if !self.calls_tools() => End::Paused(self.raw_blocks()?),
            "pause_turn" => End::Whole,
            // mutant: half-a-turn-counts.reason
            "" => return Err(Trouble::garbled("the turn ended without a `stop_reason`")),
            // Its meaning is unknown, so nothing is done because of it.
            _ if self.calls_tools() => {
                return Err(Trouble::garbled("the turn ended for an unknown reason"));
            }
            _ => End::Whole,
        };
        if matches!(end, End::Whole) && self.blocks.values().any(|slot| !slot.ended) {
            return Err(Trouble::garbled("the turn ended in the middle of a block"));
        }
        let usage = self.usage();
        let (mut parts, mut calls) = (Vec::new(), Vec::new());
        for slot in self.blocks.into_values() {
            let opaque = Opaque { after_calls: calls.len(), ..Opaque::of(ApiKind::Anthropic) };
            match slot.block {
                StreamedBlock::Text(text) if text.is_empty() => {}
                StreamedBlock::Text(text) => parts.push(Part::Text(text)),
                StreamedBlock::Thinking { text, signature } => {
                    let opaque = Opaque { signature: Some(signature), ..opaque }.write();
                    parts.push(Part::Reasoning { text, opaque });
                }
                StreamedBlock::Redacted(data) => {
                    let opaque = Opaque { redacted: Some(data), ..opaque }.write();
                    parts.push(Part::Reasoning { text: String::new(), opaque });
                }
                StreamedBlock::Call { id, name, given, json } => calls.push(WrittenCall {
                    tool_use_id: id.into(),
                    tool: name.into(),
                    input: arguments(given, json).into(),
                }),
                StreamedBlock::Other { .. } => {}
            }
        }
        Ok(ModelReply { parts, calls, usage, end })
    }

    fn usage(&self) -> TurnUsage {
        self.usage.usage()
    }
}

impl Messages {
    fn start(&mut self, start: BlockStart, say: DeltaCallback<'_>) -> Result<(), Trouble> {
        if self.blocks.contains_key(&start.index) {
            return Err(Trouble::garbled("a block of the turn began twice"));
        }
        self.measure.part()?;
        self.measure.bytes(start.content_block.get().len())?;
        let begun: StartedBlock = parse(start.content_block.get().as_bytes())?;
        let block = match begun.kind.as_str() {
            "text" => {
                let text = begun.text.unwrap_or_default();
                say(Delta::Text(text.clone()));
                StreamedBlock::Text(text)
            }
            "thinking" => {
                let text = begun.thinking.unwrap_or_default();
                say(Delta::Reasoning(text.clone()));
                StreamedBlock::Thinking { text, signature: begun.signature.unwrap_or_default() }
            }
            "redacted_thinking" => StreamedBlock::Redacted(begun.data.unwrap_or_default()),
            "tool_use" => {
                let (id, name) = (begun.id.unwrap_or_default(), begun.name.unwrap_or_default());
                self.measure.call(&id, &name)?;
                StreamedBlock::Call { id, name, given: begun.input, json: String::new() }
            }
            _ => StreamedBlock::Other { start: start.content_block, json: String::new() },
        };
        self.blocks.insert(start.index, BlockSlot { block, ended: false });
        Ok(())
    }

    fn delta(&mut self, delta: BlockDelta, say: DeltaCallback<'_>) -> Result<(), Trouble> {
        let AnthropicDelta { kind, text, thinking, signature, partial_json } = delta.delta;
        let mut measure = std::mem::take(&mut self.measure);
        let slot = self.open(delta.index)?;
        match (kind.as_str(), &mut slot.block) {
            ("text_delta", StreamedBlock::Text(known)) => {
                let text = text.unwrap_or_default();
                measure.bytes(text.len())?;
                known.push_str(&text);
                say(Delta::Text(text));
            }
            ("thinking_delta", StreamedBlock::Thinking { text: known, .. }) => {
                let text = thinking.unwrap_or_default();
                measure.bytes(text.len())?;
                known.push_str(&text);
                say(Delta::Reasoning(text));
            }
            ("signature_delta", StreamedBlock::Thinking { signature: known, .. }) => {
                let more = signature.unwrap_or_default();
                measure.bytes(more.len())?;
                known.push_str(&more);
            }
            (
                "input_json_delta",
                StreamedBlock::Call { json, .. } | StreamedBlock::Other { json, .. },
            ) => {
                let more = partial_json.unwrap_or_default();
                measure.arguments(json.len(), more.len())?;
                json.push_str(&more);
            }
            ("text_delta" | "thinking_delta" | "signature_delta" | "input_json_delta", _) => {
                return Err(Trouble::garbled("a piece of the turn does not fit its block"));
            }
            // Citations, and what may come to the API later.
            _ => {}
        }
        self.measure = measure;
        Ok(())
    }

    /// A block that has begun and not ended.
    fn open(&mut self, index: u64) -> Result<&mut BlockSlot, Trouble> {
        match self.blocks.get_mut(&index) {
            Some(slot) if !slot.ended => Ok(slot),
            _ => Err(Trouble::garbled("a piece of the turn belongs to no open block")),
        }
    }

    fn calls_tools(&self) -> bool {
        self.blocks.values().any(|slot| matches!(slot.block, StreamedBlock::Call { .. }))
    }

    /// All blocks, to be sent back as they are.
    fn raw_blocks(&self) -> Result<Vec<Box<RawValue>>, Trouble> {
        use serde_json::json;
        let mut blocks = Vec::new();
        for slot in self.blocks.values() {
            let value = match &slot.block {
                StreamedBlock::Text(text) if text.trim().is_empty() => continue,
                StreamedBlock::Text(text) => json!({"type": "text", "text": text}),
                StreamedBlock::Thinking { text, signature } => {
                    json!({"type": "thinking", "thinking": text, "signature": signature})
                }
                StreamedBlock::Redacted(data) => json!({"type": "redacted_thinking", "data": data}),
                StreamedBlock::Call { .. } => continue,
                StreamedBlock::Other { start, json } if json.is_empty() => {
                    blocks.push(start.clone());
                    continue;
                }
                StreamedBlock::Other { start, json } => {
                    let mut value: Value = parse(start.get().as_bytes())?;
                    value["input"] = parse(json.as_bytes())?;
                    value
                }
            };
            let raw = serde_json::value::to_raw_value(&value);
            blocks.push(raw.map_err(|error| Trouble::not_json(&error))?);
        }
        Ok(blocks)
    }
}

/// Compatible servers may give the arguments whole, where a block begins.
fn arguments(given: Option<Box<RawValue>>, json: String) -> String {
    match given {
        Some(given) if json.is_empty() && given.get() != "null" => input(given.get().to_owned()),
        _ => input(json),
    }
}
