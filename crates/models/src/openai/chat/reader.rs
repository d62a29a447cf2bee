//! Reads the chunks of the Chat API. `finish_reason` ends a turn; what comes after it is only the
//! count. Servers differ in how they cut calls into fragments, and all ways that leave no doubt are
//! taken.

use std::sync::Arc;

use domain::message::Part;
use ports::clock::Rng;
use ports::model::{Delta, TurnUsage, WrittenCall};
use ports::sse::SseEvent;
use serde::Deserialize;
use serde_json::Value;

use crate::fault::Trouble;
use crate::opaque::{ApiKind, Opaque};
use crate::reply::{DeltaCallback, End, Measure, ModelReply, Progress, Reader, input};

pub(crate) struct Chunks {
    text: String,
    /// The name under which it comes, and the thinking itself.
    thinking: Option<(&'static str, String)>,
    calls: Vec<Fragments>,
    finish_reason: Option<String>,
    usage: TurnUsage,
    measure: Measure,
    rng: Arc<dyn Rng>,
}

struct Fragments {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
}

#[derive(Deserialize)]
struct Chunk {
    choices: Option<Vec<ChatChoice>>,
    usage: Option<ChatUsage>,
    error: Option<Value>,
}

#[derive(Deserialize)]
struct ChatChoice {
    index: Option<u64>,
    delta: Option<ChatDelta>,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct ChatDelta {
    content: Option<String>,
    refusal: Option<String>,
    reasoning_content: Option<String>,
    reasoning: Option<String>,
    tool_calls: Option<Vec<Fragment>>,
}

#[derive(Deserialize)]
struct Fragment {
    index: Option<u64>,
    id: Option<String>,
    function: Option<Function>,
}

#[derive(Default, Deserialize)]
struct Function {
    name: Option<String>,
    arguments: Option<Value>,
}

#[derive(Deserialize)]
struct ChatUsage {
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
    prompt_tokens_details: Option<Details>,
}

#[derive(Deserialize)]
struct Details {
    cached_tokens: Option<u64>,
}

impl Chunks {
    pub(crate) fn new(rng: Arc<dyn Rng>) -> Chunks {
        Chunks {
            text: String::new(),
            thinking: None,
            calls: Vec::new(),
            finish_reason: None,
            usage: TurnUsage::default(),
            measure: Measure::default(),
            rng,
        }
    }
}

impl Reader for Chunks {
    fn event(&mut self, event: &SseEvent, say: DeltaCallback<'_>) -> Result<Progress, Trouble> {
        if event.data.trim_ascii() == b"[DONE]" {
            return Ok(Progress::Done);
        }
        let chunk: Chunk =
            serde_json::from_slice(&event.data).map_err(|error| Trouble::not_json(&error))?;
        if let Some(error) = chunk.error.filter(|error| !error.is_null()) {
            return Err(Trouble::Problem(crate::openai::provider_error(&error)));
        }
        if let Some(counted) = chunk.usage {
            self.usage = TurnUsage {
                input_tokens: counted.prompt_tokens.unwrap_or_default(),
                cached_tokens: counted
                    .prompt_tokens_details
                    .and_then(|details| details.cached_tokens)
                    .unwrap_or_default(),
                output_tokens: counted.completion_tokens.unwrap_or_default(),
            };
        }
        // We ask for one answer; a server that gives several is heard only once.
        let choices = chunk.choices.unwrap_or_default();
        for choice in choices.into_iter().filter(|choice| choice.index.unwrap_or(0) == 0) {
            // The turn is over: nothing may be added to what was already shown as whole.
            if self.finish_reason.is_some() {
                break;
            }
            if let Some(piece) = choice.delta {
                self.piece(piece, say)?;
            }
            self.finish_reason = choice.finish_reason.filter(|reason| !reason.is_empty());
        }
        Ok(match self.finish_reason {
            Some(_) => Progress::Complete,
            None => Progress::More,
        })
    }

    fn finish(self) -> Result<ModelReply, Trouble> {
        let reason = self.finish_reason.ok_or(Trouble::Ended)?;
        let end = match reason.as_str() {
            "stop" | "tool_calls" | "function_call" => End::Whole,
            "length" => End::TokenLimit,
            "content_filter" => End::Declined(reason),
            "error" => return Err(Trouble::Ended),
            // Its meaning is unknown, so nothing is done because of it.
            _ if !self.calls.is_empty() => {
                return Err(Trouble::garbled("the turn ended for an unknown reason"));
            }
            _ => End::Whole,
        };
        let mut parts = Vec::new();
        if let Some((field, text)) = self.thinking {
            let opaque = Opaque { field: Some(field.to_owned()), ..Opaque::of(ApiKind::Chat) };
            parts.push(Part::Reasoning { text, opaque: opaque.write() });
        }
        if !self.text.is_empty() {
            parts.push(Part::Text(self.text));
        }
        let rng = self.rng;
        let calls = self.calls.into_iter().map(|call| WrittenCall {
            tool_use_id: match call.id.is_empty() {
                true => format!("call_{:032x}", rng.bits()),
                false => call.id,
            }
            .into(),
            tool: call.name.into(),
            input: input(call.arguments).into(),
        });
        Ok(ModelReply { parts, calls: calls.collect(), usage: self.usage, end })
    }

    fn usage(&self) -> TurnUsage {
        self.usage
    }
}

impl Chunks {
    fn piece(&mut self, piece: ChatDelta, say: DeltaCallback<'_>) -> Result<(), Trouble> {
        let thinking =
            [("reasoning_content", piece.reasoning_content), ("reasoning", piece.reasoning)];
        // Some servers send both names with the same words.
        let thought =
            thinking.into_iter().find_map(|(field, text)| Some((field, non_empty(text)?)));
        if let Some((field, text)) = thought {
            self.measure.bytes(text.len())?;
            self.thinking.get_or_insert_with(|| (field, String::new())).1.push_str(&text);
            say(Delta::Reasoning(text));
        }
        // A refusal is what the model says, in another field.
        for text in [non_empty(piece.content), non_empty(piece.refusal)].into_iter().flatten() {
            self.measure.bytes(text.len())?;
            self.text.push_str(&text);
            say(Delta::Text(text));
        }
        for fragment in piece.tool_calls.unwrap_or_default() {
            self.fragment(fragment)?;
        }
        Ok(())
    }

    fn fragment(&mut self, fragment: Fragment) -> Result<(), Trouble> {
        let function = fragment.function.unwrap_or_default();
        let id = fragment.id.unwrap_or_default();
        let name = function.name.unwrap_or_default();
        let arguments = match function.arguments {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => text,
            // Whole, and not as text.
            Some(value) => value.to_string(),
        };
        let at = match self.belongs_to(fragment.index, &id, &name) {
            Some(at) => at,
            None => {
                if name.is_empty() {
                    return Err(Trouble::garbled("a piece of a call belongs to no call"));
                }
                self.measure.call(&id, &name)?;
                let index = fragment.index;
                self.calls.push(Fragments { index, id, name, arguments: String::new() });
                self.calls.len() - 1
            }
        };
        let call = &mut self.calls[at];
        self.measure.arguments(call.arguments.len(), arguments.len())?;
        call.arguments.push_str(&arguments);
        Ok(())
    }

    /// The call that a fragment continues, if it does not begin one.
    fn belongs_to(&self, index: Option<u64>, id: &str, name: &str) -> Option<usize> {
        let begins = !name.is_empty();
        let at = match index {
            Some(_) => self.calls.iter().rposition(|call| call.index == index)?,
            // Without numbers, what begins is new and what does not belongs to the last.
            None if begins && (id.is_empty() || !self.calls.iter().any(|call| call.id == id)) => {
                return None;
            }
            None if !id.is_empty() => self.calls.iter().rposition(|call| call.id == id)?,
            None => self.calls.len().checked_sub(1)?,
        };
        let known = &self.calls[at];
        // Some servers number every call 0. Another id is another call, and so is a name after
        // arguments that are whole already.
        let other_id = !id.is_empty() && !known.id.is_empty() && known.id != id;
        let whole = || serde_json::from_str::<Value>(&known.arguments).is_ok();
        let other = begins && (other_id || id.is_empty() && whole());
        (!other).then_some(at)
    }
}

fn non_empty(text: Option<String>) -> Option<String> {
    text.filter(|text| !text.is_empty())
}
