//! Reads the events of the Responses API. Deltas are shown; what counts are whole items, and only
//! when `response.completed` has come and the response itself says that it is whole.

use std::collections::BTreeMap;
use std::sync::Arc;

use domain::message::Part;
use ports::clock::Rng;
use ports::model::{Delta, TurnUsage, WrittenCall};
use ports::sse::SseEvent;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::item::Item;
use crate::fault::Trouble;
use crate::opaque::{ApiKind, Opaque};
use crate::reply::{DeltaCallback, End, Measure, ModelReply, Progress, Reader, input};

pub(crate) struct Items {
    /// By `output_index`. `None`: begun and not ended.
    items: BTreeMap<u64, Option<Item>>,
    /// Bytes of arguments so far, of calls that are still coming.
    coming: BTreeMap<u64, usize>,
    end: Option<End>,
    usage: TurnUsage,
    measure: Measure,
    model: String,
    rng: Arc<dyn Rng>,
}

#[derive(Deserialize)]
struct ResponsesEventType {
    #[serde(rename = "type")]
    kind: Option<String>,
}

#[derive(Deserialize)]
struct ResponsesDelta {
    delta: Option<String>,
    output_index: Option<u64>,
}

#[derive(Deserialize)]
struct Added {
    output_index: u64,
    item: Box<RawValue>,
}

#[derive(Deserialize)]
struct ResponseEndedEvent {
    response: Option<Response>,
}

#[derive(Deserialize)]
struct Response {
    status: Option<String>,
    output: Option<Vec<Box<RawValue>>>,
    usage: Option<ResponsesUsage>,
    error: Option<Value>,
    incomplete_details: Option<Incomplete>,
}

#[derive(Deserialize)]
struct Incomplete {
    reason: Option<String>,
}

#[derive(Deserialize)]
struct ResponsesUsage {
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    input_tokens_details: Option<Details>,
}

#[derive(Deserialize)]
struct Details {
    cached_tokens: Option<u64>,
}

fn parse<'a, T: Deserialize<'a>>(data: &'a [u8]) -> Result<T, Trouble> {
    serde_json::from_slice(data).map_err(|error| Trouble::not_json(&error))
}

impl Items {
    pub(crate) fn new(model: &str, rng: Arc<dyn Rng>) -> Items {
        Items {
            items: BTreeMap::new(),
            coming: BTreeMap::new(),
            end: None,
            usage: TurnUsage::default(),
            measure: Measure::default(),
            model: model.to_owned(),
            rng,
        }
    }
}

impl Reader for Items {
    fn event(&mut self, event: &SseEvent, say: DeltaCallback<'_>) -> Result<Progress, Trouble> {
        // Compatible servers like to say goodbye as the other API does.
        if event.data.trim_ascii() == b"[DONE]" {
            return Ok(Progress::Done);
        }
        let kind = parse::<ResponsesEventType>(&event.data)?.kind;
        let kind = kind.unwrap_or_else(|| String::from_utf8_lossy(&event.name).into_owned());
        match kind.as_str() {
            "response.output_text.delta" | "response.refusal.delta" => {
                let text = self.piece(&event.data)?;
                say(Delta::Text(text));
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                let text = self.piece(&event.data)?;
                say(Delta::Reasoning(text));
            }
            "response.function_call_arguments.delta" => {
                let piece: ResponsesDelta = parse(&event.data)?;
                let more = piece.delta.unwrap_or_default().len();
                let have = self.coming.entry(piece.output_index.unwrap_or_default()).or_default();
                self.measure.arguments(*have, more)?;
                *have += more;
            }
            "response.output_item.added" => {
                let added: Added = parse(&event.data)?;
                if self.items.contains_key(&added.output_index) {
                    return Err(Trouble::garbled("an item of the turn began twice"));
                }
                self.measure.part()?;
                self.items.insert(added.output_index, None);
            }
            "response.output_item.done" => {
                let done: Added = parse(&event.data)?;
                if !self.items.contains_key(&done.output_index) {
                    self.measure.part()?;
                }
                self.whole(done.output_index, &done.item)?;
            }
            "response.completed" => {
                self.end = Some(match self.ended(&event.data)? {
                    Completeness::Whole => End::Whole,
                    // The event says one thing and the response another: nothing of it runs.
                    Completeness::Incomplete { reason } => incomplete(&reason),
                });
                return Ok(Progress::Done);
            }
            "response.incomplete" => {
                self.end = Some(match self.ended(&event.data)? {
                    Completeness::Whole => incomplete(""),
                    Completeness::Incomplete { reason } => incomplete(&reason),
                });
                return Ok(Progress::Done);
            }
            "response.failed" => {
                let failed: ResponseEndedEvent = parse(&event.data)?;
                let error = failed.response.and_then(|response| response.error);
                return Err(Trouble::Problem(crate::openai::provider_error(
                    &error.unwrap_or_default(),
                )));
            }
            "error" => {
                let error: Value = parse(&event.data)?;
                // Some have it in an envelope, some have it flat.
                let inner = error.get("error").filter(|inner| inner.is_object());
                let mut problem = crate::openai::provider_error(inner.unwrap_or(&error));
                problem.kind = problem.kind.filter(|kind| kind != "error");
                return Err(Trouble::Problem(problem));
            }
            _ => {}
        }
        Ok(Progress::More)
    }

    fn finish(self) -> Result<ModelReply, Trouble> {
        let end = self.end.ok_or(Trouble::Ended)?;
        if matches!(end, End::Whole) && self.items.values().any(Option::is_none) {
            return Err(Trouble::garbled("the turn ended in the middle of an item"));
        }
        let (mut parts, mut calls) = (Vec::new(), Vec::new());
        for item in self.items.into_values().flatten() {
            match item {
                Item::Text(text) if text.is_empty() => {}
                Item::Text(text) => parts.push(Part::Text(text)),
                Item::Thinking { text, raw } => {
                    let opaque = Opaque {
                        after_calls: calls.len(),
                        item: Some(raw),
                        model: Some(self.model.clone()),
                        ..Opaque::of(ApiKind::Responses)
                    };
                    parts.push(Part::Reasoning { text, opaque: opaque.write() });
                }
                Item::Call { call_id, name, arguments } => calls.push(WrittenCall {
                    tool_use_id: match call_id.is_empty() {
                        true => format!("call_{:032x}", self.rng.bits()),
                        false => call_id,
                    }
                    .into(),
                    tool: name.into(),
                    input: input(arguments).into(),
                }),
                Item::Other => {}
            }
        }
        Ok(ModelReply { parts, calls, usage: self.usage, end })
    }

    fn usage(&self) -> TurnUsage {
        self.usage
    }
}

impl Items {
    fn piece(&mut self, data: &[u8]) -> Result<String, Trouble> {
        let text = parse::<ResponsesDelta>(data)?.delta.unwrap_or_default();
        self.measure.bytes(text.len())?;
        Ok(text)
    }

    fn whole(&mut self, index: u64, raw: &RawValue) -> Result<(), Trouble> {
        let item = Item::parse(raw)?;
        match &item {
            // What came piece by piece is counted twice; a turn has room for that.
            Some(Item::Call { call_id, name, arguments }) => {
                self.measure.call(call_id, name)?;
                self.measure.arguments(0, arguments.len())?;
            }
            Some(Item::Text(text)) => self.measure.bytes(text.len())?,
            Some(Item::Thinking { raw, .. }) => self.measure.bytes(raw.len())?,
            Some(Item::Other) | None => {}
        }
        // One that is said to be unfinished stays open, and so ends no turn.
        if item.is_some() || !self.items.contains_key(&index) {
            self.items.insert(index, item);
        }
        Ok(())
    }

    /// Takes the count and whatever items did not come one by one; says what the response calls itself.
    fn ended(&mut self, data: &[u8]) -> Result<Completeness, Trouble> {
        let Some(response) = parse::<ResponseEndedEvent>(data)?.response else {
            return Ok(Completeness::Whole);
        };
        if let Some(counted) = response.usage {
            let details = counted.input_tokens_details;
            self.usage = TurnUsage {
                input_tokens: counted.input_tokens.unwrap_or_default(),
                cached_tokens: details.and_then(|d| d.cached_tokens).unwrap_or_default(),
                output_tokens: counted.output_tokens.unwrap_or_default(),
            };
        }
        for (index, raw) in response.output.into_iter().flatten().enumerate() {
            let index = index as u64;
            if self.items.get(&index).is_none_or(Option::is_none) {
                self.measure.part()?;
                self.whole(index, &raw)?;
            }
        }
        let reason = response.incomplete_details.map(|details| details.reason.unwrap_or_default());
        Ok(match (response.status.as_deref(), reason) {
            (None | Some("completed"), None) => Completeness::Whole,
            (_, Some(reason)) => Completeness::Incomplete { reason },
            (Some(status), None) => Completeness::Incomplete { reason: status.to_owned() },
        })
    }
}

/// What a response says about itself, whatever event brought it.
enum Completeness {
    Whole,
    Incomplete { reason: String },
}

fn incomplete(reason: &str) -> End {
    match reason {
        "max_output_tokens" | "max_tokens" => End::TokenLimit,
        reason => End::Declined(format!("incomplete, {reason}")),
    }
}
