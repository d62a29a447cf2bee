//! From a session's transcript to the request that a model gets.
//!
//! Only what somebody said goes in: messages, calls as the model wrote them, and one result for
//! each. Holds, grants, titles and metadata are never looked at, so they cannot leak. The builder
//! puts things in order but neither invents nor hides one: a transcript that lacks a result gives
//! a request that lacks it, and the validator refuses to send that.
//!
//! Nothing is copied that can be borrowed: every thought builds the whole request anew.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

use domain::digest::Digest;
use domain::id::CallId;
use domain::message::{Message, Part, Role};
use domain::outcome::ToolResult;
use domain::session::Session;
use ports::model::{AssistantPart, CallResult, ModelMessage, ModelRequest, ToolOffer, WrittenCall};
use serde_json::{Value, json};

use crate::attached::{self, LoadedFiles};
use crate::{are_distinct, is_blank};

/// The next request for this session's model. The same session gives the same request, to the byte.
pub fn build_request<'a>(
    session: &'a Session,
    instructions: Option<&'a str>,
    tools: &'a [ToolOffer],
) -> ModelRequest<'a> {
    build_request_with(session, instructions, tools, &LoadedFiles::default())
}

/// The same, with the bytes of files that were attached.
pub fn build_request_with<'a>(
    session: &'a Session,
    instructions: Option<&'a str>,
    tools: &'a [ToolOffer],
    files: &LoadedFiles,
) -> ModelRequest<'a> {
    ModelRequest {
        // mutant: titles-reach-the-model
        system: instructions.filter(|text| !is_blank(text)).map(Cow::Borrowed),
        messages: model_messages(session.transcript.iter(), files),
        tools: Cow::Borrowed(tools),
    }
}

fn model_messages<'a>(
    transcript: impl ExactSizeIterator<Item = &'a Arc<Message>> + Clone,
    files: &LoadedFiles,
) -> Vec<ModelMessage<'a>> {
    let mut results = UnplacedResults::from_transcript(transcript.clone());
    let mut names = ToolUseIds::from_transcript(transcript.clone());
    let mut messages = Vec::with_capacity(transcript.len());
    for message in transcript {
        match message.role {
            // What the runtime wrote is told apart in our own records; a provider knows only users.
            Role::User => {
                let text = attached::push_files(message, files, &mut messages);
                if !is_blank(&text) {
                    messages.push(ModelMessage::User { text });
                }
            }
            Role::Assistant => {
                let (parts, results) = assistant_parts(message, &mut names, &mut results);
                // Providers refuse a message without content, and one adds nothing.
                if !parts.is_empty() {
                    messages.push(ModelMessage::Assistant { parts });
                }
                // Directly after the calls, wherever the results stand in the transcript: what was
                // said meanwhile comes after them.
                if !results.is_empty() {
                    messages.push(ModelMessage::Results { results });
                }
            }
            Role::Tool => {}
        }
    }
    let orphans = results.into_leftover();
    if !orphans.is_empty() {
        messages.push(ModelMessage::Results { results: orphans });
    }
    messages
}

/// What a model said in one message, and the results of its calls, in the order of the calls.
fn assistant_parts<'a>(
    message: &'a Message,
    names: &mut ToolUseIds<'a>,
    results: &mut UnplacedResults<'a>,
) -> (Vec<AssistantPart<'a>>, Vec<CallResult<'a>>) {
    let mut parts = Vec::with_capacity(message.parts.len());
    let mut given = Vec::with_capacity(calls_of(message).count());
    for part in &message.parts {
        match part {
            Part::Text(text) if is_blank(text) => {}
            Part::Text(text) => parts.push(AssistantPart::Text(text.into())),
            Part::Reasoning { text, opaque } => parts.push(AssistantPart::Reasoning {
                text: text.into(),
                opaque: opaque.as_deref().map(Cow::Borrowed),
            }),
            Part::ToolCall { call, tool_use_id, tool, input } => {
                let tool_use_id = names.unique_name(tool_use_id);
                let taken = results.take_results(*call).iter();
                given.extend(taken.map(|result| result.to_call_result(tool_use_id.clone())));
                let (tool, input) = (Cow::Borrowed(&**tool), input.into());
                parts.push(AssistantPart::Call(WrittenCall { tool_use_id, tool, input }));
            }
            // Only messages of role `tool` carry results, and only people attach files.
            Part::ToolResult { .. } | Part::File(_) => {}
        }
    }
    (parts, given)
}

/// The calls of a message, by the names that the model gave them.
fn calls_of(message: &Message) -> impl Iterator<Item = &str> {
    message.parts.iter().filter_map(|part| match part {
        Part::ToolCall { tool_use_id, .. } => Some(tool_use_id.as_str()),
        _ => None,
    })
}

/// Names for calls that are unique in one request. Some servers number the calls of each turn
/// anew or leave the id empty; sending that back would brick the session, so a repeated name is
/// told apart, in the same way every time. Pairing goes by our own ids and not by these.
enum ToolUseIds<'a> {
    /// The model itself told its calls apart, as nearly all do.
    AsWritten,
    Given(HashSet<Cow<'a, str>>),
}

impl<'a> ToolUseIds<'a> {
    fn from_transcript(transcript: impl Iterator<Item = &'a Arc<Message>>) -> ToolUseIds<'a> {
        let turns = transcript.filter(|message| message.role == Role::Assistant);
        let wanted: Vec<&str> = turns.flat_map(|message| calls_of(message)).collect();
        match wanted.iter().all(|name| !name.is_empty()) && are_distinct(wanted) {
            true => ToolUseIds::AsWritten,
            false => ToolUseIds::Given(HashSet::new()),
        }
    }

    fn unique_name(&mut self, wanted: &'a str) -> Cow<'a, str> {
        let ToolUseIds::Given(given) = self else { return Cow::Borrowed(wanted) };
        let base = if wanted.is_empty() { "call" } else { wanted };
        let mut name = Cow::Borrowed(base);
        let mut count = 1;
        while wanted.is_empty() && count == 1 || given.contains(&name) {
            name = Cow::Owned(format!("{base}_{count}"));
            count += 1;
        }
        given.insert(name.clone());
        name
    }
}

/// The results of a transcript, each until it is placed. All of them are kept, also a second one
/// for the same call, so that the validator sees what is wrong.
struct UnplacedResults<'a>(Vec<TranscriptResult<'a>>);

struct TranscriptResult<'a> {
    call: CallId,
    tool_use_id: &'a str,
    tool: &'a str,
    result: &'a ToolResult,
    is_placed: bool,
}

impl<'a> UnplacedResults<'a> {
    fn from_transcript(
        transcript: impl Iterator<Item = &'a Arc<Message>> + Clone,
    ) -> UnplacedResults<'a> {
        let messages = transcript.filter(|message| message.role == Role::Tool);
        let mut results = Vec::with_capacity(messages.clone().count());
        for part in messages.flat_map(|message| &message.parts) {
            if let Part::ToolResult { call, tool_use_id, tool, result } = part {
                results.push(TranscriptResult {
                    call: *call,
                    tool_use_id,
                    tool,
                    result,
                    is_placed: false,
                });
            }
        }
        // Those of one call stay in their order.
        results.sort_by_key(|given| given.call);
        UnplacedResults(results)
    }

    /// The results of a call, which are placed with this.
    fn take_results(&mut self, call: CallId) -> &[TranscriptResult<'a>] {
        let from = self.0.partition_point(|given| given.call < call);
        let of_call = |given: &&TranscriptResult<'_>| given.call == call && !given.is_placed;
        let count = self.0[from..].iter().take_while(of_call).count();
        let taken = &mut self.0[from..from + count];
        taken.iter_mut().for_each(|given| given.is_placed = true);
        taken
    }

    fn into_leftover(self) -> Vec<CallResult<'a>> {
        let left = self.0.iter().filter(|given| !given.is_placed);
        left.map(|given| given.to_call_result(Cow::Borrowed(given.tool_use_id))).collect()
    }
}

impl<'a> TranscriptResult<'a> {
    fn to_call_result(&self, tool_use_id: Cow<'a, str>) -> CallResult<'a> {
        CallResult {
            tool_use_id,
            tool: Cow::Borrowed(self.tool),
            content: Cow::Borrowed(&self.result.content),
            is_error: self.result.is_error,
        }
    }
}

/// The whole request as one text, in which equal requests are equal: for replays and snapshots.
pub fn canonical_text(request: &ModelRequest<'_>) -> String {
    let messages: Vec<Value> = request.messages.iter().map(message_value).collect();
    let tools: Vec<Value> = request
        .tools
        .iter()
        .map(|tool| {
            json!({"name": &*tool.name, "description": tool.description, "input_schema": tool.input_schema})
        })
        .collect();
    let value = json!({"system": request.system, "messages": messages, "tools": tools});
    String::from_utf8_lossy(&domain::json::canonical(&value)).into_owned()
}

/// Says which request is meant, in a line.
pub fn request_fingerprint(request: &ModelRequest<'_>) -> String {
    Digest::of(canonical_text(request).as_bytes()).to_string()
}

fn message_value(message: &ModelMessage<'_>) -> Value {
    match message {
        ModelMessage::User { text } => json!({"user": text}),
        ModelMessage::Image { label, media_type, bytes } => {
            json!({"image": label, "media_type": media_type, "digest": Digest::of(bytes).to_string()})
        }
        ModelMessage::Assistant { parts } => {
            json!({"assistant": parts.iter().map(part_value).collect::<Vec<_>>()})
        }
        ModelMessage::Results { results } => {
            let results = results.iter().map(|result| {
                json!({"id": result.tool_use_id, "tool": result.tool,
                       "content": result.content, "is_error": result.is_error})
            });
            json!({"results": results.collect::<Vec<_>>()})
        }
    }
}

fn part_value(part: &AssistantPart<'_>) -> Value {
    match part {
        AssistantPart::Text(text) => json!({"text": text}),
        AssistantPart::Reasoning { text, opaque } => json!({"reasoning": text, "opaque": opaque}),
        AssistantPart::Call(call) => {
            json!({"call": call.tool_use_id, "tool": call.tool, "input": call.input})
        }
    }
}

#[cfg(test)]
mod tests;
