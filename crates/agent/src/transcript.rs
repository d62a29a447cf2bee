//! From a session's transcript to the request that a model gets.
//!
//! Only what somebody said goes in: messages, calls as the model wrote them, and one result for
//! each. Holds, grants, titles and metadata are never looked at, so they cannot leak. The builder
//! puts things in order but neither invents nor hides one: a transcript that lacks a result gives
//! a request that lacks it, and the validator refuses to send that.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use domain::digest::Digest;
use domain::grown::Grown;
use domain::id::CallId;
use domain::message::{Message, Part, Role};
use domain::outcome::ToolResult;
use domain::session::Session;
use domain::tool::{Confirm, Tool};
use ports::model::{AssistantPart, CallResult, ModelMessage, ModelRequest, ToolOffer, WrittenCall};
use serde_json::{Map, Value, json};

/// The next request for this session's model. The same session gives the same request, to the byte.
pub fn request(session: &Session, instructions: Option<&str>, tools: &[&Tool]) -> ModelRequest {
    ModelRequest {
        system: instructions.filter(|text| !text.trim().is_empty()).map(str::to_owned),
        messages: messages(&session.transcript),
        tools: tools.iter().map(|tool| offer(tool)).collect(),
    }
}

fn messages(transcript: &Grown<Arc<Message>>) -> Vec<ModelMessage> {
    let mut results = Results::of(transcript);
    let mut names = Names::default();
    let mut messages = Vec::new();
    for message in transcript {
        match message.role {
            // What the runtime wrote is told apart in our own records; a provider knows only users.
            Role::User => {
                let text = message.text();
                if !text.trim().is_empty() {
                    messages.push(ModelMessage::User { text });
                }
            }
            Role::Assistant => {
                let (parts, called) = assistant(message, &mut names);
                // Providers refuse a message without content, and one adds nothing.
                if !parts.is_empty() {
                    messages.push(ModelMessage::Assistant { parts });
                }
                // Directly after the calls, wherever the results stand in the transcript: what was
                // said meanwhile comes after them.
                let results = results.take(&called);
                if !results.is_empty() {
                    messages.push(ModelMessage::Results { results });
                }
            }
            Role::Tool => {}
        }
    }
    let orphans = results.left();
    if !orphans.is_empty() {
        messages.push(ModelMessage::Results { results: orphans });
    }
    messages
}

/// A call in the order of its message: our name for it, and the one that goes out.
type Called = (CallId, String);

fn assistant(message: &Message, names: &mut Names) -> (Vec<AssistantPart>, Vec<Called>) {
    let (mut parts, mut called) = (Vec::new(), Vec::new());
    for part in &message.parts {
        match part {
            Part::Text(text) if text.trim().is_empty() => {}
            Part::Text(text) => parts.push(AssistantPart::Text(text.clone())),
            Part::Reasoning { text, opaque } => {
                parts.push(AssistantPart::Reasoning { text: text.clone(), opaque: opaque.clone() })
            }
            Part::ToolCall { call, tool_use_id, tool, input } => {
                let tool_use_id = names.name(tool_use_id);
                called.push((*call, tool_use_id.clone()));
                parts.push(AssistantPart::Call(WrittenCall {
                    tool_use_id,
                    tool: tool.clone(),
                    input: input.clone(),
                }));
            }
            // Only messages of role `tool` carry results.
            Part::ToolResult { .. } => {}
        }
    }
    (parts, called)
}

/// Names for calls that are unique in one request. Some servers number the calls of each turn
/// anew or leave the id empty; sending that back would brick the session, so a repeated name is
/// told apart, in the same way every time. Pairing goes by our own ids and not by these.
#[derive(Default)]
struct Names(HashSet<String>);

impl Names {
    fn name(&mut self, wanted: &str) -> String {
        let base = if wanted.is_empty() { "call" } else { wanted };
        let mut name = base.to_owned();
        let mut count = 1;
        while wanted.is_empty() && count == 1 || self.0.contains(&name) {
            name = format!("{base}_{count}");
            count += 1;
        }
        self.0.insert(name.clone());
        name
    }
}

/// The results of a transcript, each until it is placed. All of them are kept, also a second one
/// for the same call, so that the validator sees what is wrong.
struct Results<'a>(BTreeMap<CallId, Vec<(&'a Part, &'a ToolResult)>>);

impl<'a> Results<'a> {
    fn of(transcript: &'a Grown<Arc<Message>>) -> Results<'a> {
        let mut results: BTreeMap<CallId, Vec<_>> = BTreeMap::new();
        let messages = transcript.iter();
        for part in messages.filter(|m| m.role == Role::Tool).flat_map(|m| &m.parts) {
            if let Part::ToolResult { call, result, .. } = part {
                results.entry(*call).or_default().push((part, result));
            }
        }
        Results(results)
    }

    /// The results of these calls, in the order of the calls.
    fn take(&mut self, called: &[Called]) -> Vec<CallResult> {
        let mut taken = Vec::new();
        for (call, tool_use_id) in called {
            for (part, result) in self.0.remove(call).unwrap_or_default() {
                taken.push(outgoing(part, tool_use_id.clone(), result));
            }
        }
        taken
    }

    fn left(self) -> Vec<CallResult> {
        let left = self.0.into_values().flatten();
        left.map(|(part, result)| {
            let id = match part {
                Part::ToolResult { tool_use_id, .. } => tool_use_id.clone(),
                _ => String::new(),
            };
            outgoing(part, id, result)
        })
        .collect()
    }
}

fn outgoing(part: &Part, tool_use_id: String, result: &ToolResult) -> CallResult {
    let tool = match part {
        Part::ToolResult { tool, .. } => tool.clone(),
        _ => "".into(),
    };
    CallResult { tool_use_id, tool, content: result.content.clone(), is_error: result.is_error }
}

fn offer(tool: &Tool) -> ToolOffer {
    let input_schema = match tool.confirm {
        Confirm::Held => offered(&tool.input_schema),
        Confirm::TwoPhase => with_confirmed(&offered(&tool.input_schema)),
    };
    ToolOffer { name: tool.name.clone(), description: tool.description.clone(), input_schema }
}

/// The schema as providers take it: one that they refuse would end every request of the agent. What is
/// left out here still holds: the arguments are checked against the whole.
fn offered(schema: &Value) -> Value {
    let mut schema = schema.clone();
    let Some(object) = schema.as_object_mut() else { return schema };
    for at_the_root in ["oneOf", "anyOf", "allOf"] {
        object.remove(at_the_root);
    }
    object.entry("properties").or_insert_with(|| Value::Object(Map::new()));
    schema
}

/// The schema of a two-phase tool as the model sees it. The tool's own schema never has the key:
/// the configuration refuses such a tool.
fn with_confirmed(schema: &Value) -> Value {
    let mut schema = schema.clone();
    let Some(object) = schema.as_object_mut() else { return schema };
    let properties = object.entry("properties").or_insert_with(|| Value::Object(Map::new()));
    if let Some(properties) = properties.as_object_mut() {
        let confirmed = json!({
            "type": "boolean",
            "description": "Leave this out at first. Set it to true only when you are told that a person has approved this call.",
        });
        properties.insert("confirmed".into(), confirmed);
    }
    schema
}

/// The whole request as one text, in which equal requests are equal: for replays and snapshots.
pub fn canonical(request: &ModelRequest) -> String {
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
pub fn fingerprint(request: &ModelRequest) -> String {
    Digest::of(canonical(request).as_bytes()).to_string()
}

fn message_value(message: &ModelMessage) -> Value {
    match message {
        ModelMessage::User { text } => json!({"user": text}),
        ModelMessage::Assistant { parts } => {
            json!({"assistant": parts.iter().map(part_value).collect::<Vec<_>>()})
        }
        ModelMessage::Results { results } => {
            let results = results.iter().map(|result| {
                json!({"id": result.tool_use_id, "tool": &*result.tool,
                       "content": result.content, "is_error": result.is_error})
            });
            json!({"results": results.collect::<Vec<_>>()})
        }
    }
}

fn part_value(part: &AssistantPart) -> Value {
    match part {
        AssistantPart::Text(text) => json!({"text": text}),
        AssistantPart::Reasoning { text, opaque } => json!({"reasoning": text, "opaque": opaque}),
        AssistantPart::Call(call) => {
            json!({"call": call.tool_use_id, "tool": &*call.tool, "input": call.input})
        }
    }
}

#[cfg(test)]
mod tests;
