//! From our transcript to a request of the Responses API. The same transcript gives the same bytes.

use ports::model::{AssistantPart, CallResult, ModelMessage, ModelRequest};
use serde::Serialize;
use serde_json::Value;

use super::Responses;
use super::item::returned;
use crate::names::Names;
use crate::opaque::{ApiKind, Opaque, in_place};
use crate::settings::ModelSettings;
use crate::written::{data_url, object};

#[derive(Serialize)]
struct ResponsesRequest<'a> {
    model: &'a str,
    stream: bool,
    store: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    instructions: Option<&'a str>,
    input: Vec<ResponsesInput<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<ResponsesTool<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    include: Vec<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning: Option<Reasoning<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_output_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
}

#[derive(Serialize)]
struct Reasoning<'a> {
    effort: &'a str,
    /// So that those who watch see something while it thinks.
    summary: &'static str,
}

#[derive(Serialize)]
#[serde(untagged)]
enum ResponsesInput<'a> {
    Ours(Ours<'a>),
    /// As it came.
    Theirs(Value),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Ours<'a> {
    Message { role: &'static str, content: Vec<Content<'a>> },
    FunctionCall { call_id: &'a str, name: &'a str, arguments: String },
    FunctionCallOutput { call_id: &'a str, output: &'a str },
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Content<'a> {
    InputText { text: &'a str },
    InputImage { detail: &'static str, image_url: String },
    OutputText { text: &'a str },
}

#[derive(Serialize)]
struct ResponsesTool<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    name: &'a str,
    description: &'a str,
    parameters: &'a Value,
    /// Our schemas say more than the strict mode knows.
    strict: bool,
}

pub(super) fn responses_body(
    api: &Responses,
    settings: &ModelSettings,
    request: &ModelRequest<'_>,
    names: &Names,
) -> Result<Vec<u8>, serde_json::Error> {
    let mut input = Vec::new();
    for message in &request.messages {
        match message {
            ModelMessage::User { text } => input.push(ResponsesInput::Ours(Ours::Message {
                role: "user",
                content: vec![Content::InputText { text }],
            })),
            ModelMessage::Image { label, media_type, bytes } => {
                let image_url = data_url(media_type, bytes);
                let image = Content::InputImage { detail: "auto", image_url };
                let content = vec![Content::InputText { text: label }, image];
                input.push(ResponsesInput::Ours(Ours::Message { role: "user", content }));
            }
            ModelMessage::Assistant { parts } => assistant(parts, settings, names, &mut input)?,
            ModelMessage::Results { results } => {
                input.extend(results.iter().map(|result| tool_result_input(result, names)));
            }
        }
    }
    let tools = request.tools.iter().map(|tool| ResponsesTool {
        kind: "function",
        name: names.tool(&tool.name),
        description: &tool.description,
        parameters: &tool.input_schema,
        strict: false,
    });
    let effort = settings.effort.as_deref();
    serde_json::to_vec(&ResponsesRequest {
        model: &settings.model,
        stream: true,
        store: false,
        instructions: request.system.as_deref(),
        input,
        tools: tools.collect(),
        include: if api.keep_thinking { vec!["reasoning.encrypted_content"] } else { Vec::new() },
        reasoning: effort.map(|effort| Reasoning { effort, summary: "auto" }),
        max_output_tokens: settings.max_tokens,
        temperature: settings.temperature,
    })
}

fn assistant<'a>(
    parts: &'a [AssistantPart<'_>],
    settings: &ModelSettings,
    names: &'a Names,
    input: &mut Vec<ResponsesInput<'a>>,
) -> Result<(), serde_json::Error> {
    for part in in_place(parts, ApiKind::Responses) {
        match part {
            AssistantPart::Text(text) => input.push(ResponsesInput::Ours(Ours::Message {
                role: "assistant",
                content: vec![Content::OutputText { text }],
            })),
            AssistantPart::Reasoning { opaque, .. } => {
                // Another model cannot read it, and the provider refuses it there.
                let own = Opaque::read(opaque.as_deref(), ApiKind::Responses)
                    .filter(|opaque| opaque.model.as_deref() == Some(&settings.model));
                let item = own.and_then(|opaque| returned(&opaque.item?));
                input.extend(item.map(ResponsesInput::Theirs));
            }
            AssistantPart::Call(call) => input.push(ResponsesInput::Ours(Ours::FunctionCall {
                call_id: names.id(&call.tool_use_id),
                name: names.tool(&call.tool),
                arguments: object(&call.input)?.get().to_owned(),
            })),
        }
    }
    Ok(())
}

/// The API has no mark for a failure; the text says it.
fn tool_result_input<'a>(result: &'a CallResult<'_>, names: &'a Names) -> ResponsesInput<'a> {
    let output = match result.content.trim().is_empty() && result.is_error {
        true => "The tool failed and said nothing.",
        false => &*result.content,
    };
    ResponsesInput::Ours(Ours::FunctionCallOutput {
        call_id: names.id(&result.tool_use_id),
        output,
    })
}
