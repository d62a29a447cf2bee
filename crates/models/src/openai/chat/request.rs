//! From our transcript to a request of the Chat API. The same transcript gives the same bytes.

use std::collections::BTreeMap;

use ports::model::{AssistantPart, CallResult, ModelMessage, ModelRequest};
use serde::Serialize;
use serde_json::Value;

use super::Chat;
use crate::names::Names;
use crate::opaque::{ApiKind, Opaque};
use crate::settings::ModelSettings;
use crate::written::{data_url, object};

#[derive(Serialize)]
struct ChatRequest<'a> {
    model: &'a str,
    stream: bool,
    stream_options: StreamOptions,
    messages: Vec<ChatRequestMessage<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<ChatTool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_effort: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

#[derive(Serialize)]
#[serde(tag = "role", rename_all = "lowercase")]
enum ChatRequestMessage<'a> {
    System {
        content: &'a str,
    },
    User {
        content: UserContent<'a>,
    },
    Assistant {
        content: Option<String>,
        /// Under the name under which the server sent it.
        #[serde(flatten)]
        thinking: BTreeMap<String, String>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<ChatToolCall<'a>>,
    },
    Tool {
        tool_call_id: &'a str,
        content: &'a str,
    },
}

/// A text alone goes as a string: many servers take nothing else.
#[derive(Serialize)]
#[serde(untagged)]
enum UserContent<'a> {
    Text(&'a str),
    Parts([UserPart<'a>; 2]),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum UserPart<'a> {
    Text { text: &'a str },
    ImageUrl { image_url: ImageUrl },
}

#[derive(Serialize)]
struct ImageUrl {
    url: String,
}

#[derive(Serialize)]
struct ChatToolCall<'a> {
    id: &'a str,
    #[serde(rename = "type")]
    kind: &'static str,
    function: Function<'a>,
}

#[derive(Serialize)]
struct Function<'a> {
    name: &'a str,
    arguments: String,
}

#[derive(Serialize)]
struct ChatTool<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    function: ChatFunction<'a>,
}

#[derive(Serialize)]
struct ChatFunction<'a> {
    name: &'a str,
    description: &'a str,
    parameters: &'a Value,
}

pub(super) fn chat_body(
    api: &Chat,
    settings: &ModelSettings,
    request: &ModelRequest<'_>,
    names: &Names,
) -> Result<Vec<u8>, serde_json::Error> {
    let mut messages = Vec::new();
    if let Some(content) = &request.system {
        messages.push(ChatRequestMessage::System { content });
    }
    for message in &request.messages {
        match message {
            ModelMessage::User { text } => {
                messages.push(ChatRequestMessage::User { content: UserContent::Text(text) });
            }
            ModelMessage::Image { label, media_type, bytes } => {
                let image_url = ImageUrl { url: data_url(media_type, bytes) };
                let parts = [UserPart::Text { text: label }, UserPart::ImageUrl { image_url }];
                messages.push(ChatRequestMessage::User { content: UserContent::Parts(parts) });
            }
            ModelMessage::Assistant { parts } => {
                messages.extend(assistant(api, parts, names)?);
            }
            ModelMessage::Results { results } => {
                messages.extend(results.iter().map(|result| tool_result_message(result, names)));
            }
        }
    }
    let tools = request.tools.iter().map(|tool| ChatTool {
        kind: "function",
        function: ChatFunction {
            name: names.tool(&tool.name),
            description: &tool.description,
            parameters: &tool.input_schema,
        },
    });
    // The vendor's newer models refuse the old name, and most other servers know only that.
    let (newer, older) = match api.at_vendor {
        true => (settings.max_tokens, None),
        false => (None, settings.max_tokens),
    };
    serde_json::to_vec(&ChatRequest {
        model: &settings.model,
        stream: true,
        stream_options: StreamOptions { include_usage: true },
        messages,
        tools: tools.collect(),
        max_completion_tokens: newer,
        max_tokens: older,
        reasoning_effort: settings.effort.as_deref(),
        temperature: settings.temperature,
    })
}

/// One message for the whole turn; none, if nothing of it is for this API.
fn assistant<'a>(
    api: &Chat,
    parts: &'a [AssistantPart<'_>],
    names: &'a Names,
) -> Result<Option<ChatRequestMessage<'a>>, serde_json::Error> {
    let mut texts = Vec::new();
    let mut thinking: BTreeMap<String, String> = BTreeMap::new();
    let mut tool_calls = Vec::new();
    for part in parts {
        match part {
            AssistantPart::Text(text) => texts.push(&**text),
            AssistantPart::Reasoning { text, opaque } => {
                let opaque = Opaque::read(opaque.as_deref(), ApiKind::Chat);
                if let Some(field) = opaque.and_then(|opaque| opaque.field)
                    && api.send_thinking
                {
                    thinking.entry(field).or_default().push_str(text);
                }
            }
            AssistantPart::Call(call) => tool_calls.push(ChatToolCall {
                id: names.id(&call.tool_use_id),
                kind: "function",
                function: Function {
                    name: names.tool(&call.tool),
                    // Templates of local models read it, and fail on what is no object.
                    arguments: object(&call.input)?.get().to_owned(),
                },
            }),
        }
    }
    if texts.is_empty() && tool_calls.is_empty() {
        return Ok(None);
    }
    let content = (!texts.is_empty()).then(|| texts.join("\n"));
    Ok(Some(ChatRequestMessage::Assistant { content, thinking, tool_calls }))
}

/// The API has no mark for a failure; the text says it.
fn tool_result_message<'a>(result: &'a CallResult<'_>, names: &'a Names) -> ChatRequestMessage<'a> {
    let content = match result.content.trim().is_empty() && result.is_error {
        true => "The tool failed and said nothing.",
        false => &*result.content,
    };
    ChatRequestMessage::Tool { tool_call_id: names.id(&result.tool_use_id), content }
}
