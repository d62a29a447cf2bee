//! From our transcript to a request of the Messages API. The same transcript gives the same bytes.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ports::model::{AssistantPart, CallResult, ModelMessage, ModelRequest};
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::Anthropic;
use crate::limits::MAX_TOKENS;
use crate::names::Names;
use crate::opaque::{ApiKind, Opaque, in_place};
use crate::settings::ModelSettings;
use crate::written::object;

/// Whether the provider is asked to remember the beginning of a conversation, and for how long.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cache {
    Off,
    #[default]
    Minutes,
    /// Dearer to write, but a run that waits for a person outlives minutes.
    Hour,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Thinking {
    #[default]
    Off,
    /// So many tokens at most.
    Budget(u32),
    /// As much as the model finds right.
    Adaptive,
}

#[derive(Serialize)]
struct MessagesRequest<'a> {
    model: &'a str,
    max_tokens: u32,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    system: Option<[RequestBlock<'a>; 1]>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<AnthropicTool<'a>>,
    messages: Vec<AnthropicMessage<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking: Option<ThinkingBody>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_config: Option<OutputConfig<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
}

#[derive(Serialize)]
struct OutputConfig<'a> {
    effort: &'a str,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum ThinkingBody {
    Enabled { budget_tokens: u32 },
    Adaptive,
}

#[derive(Serialize)]
struct AnthropicTool<'a> {
    name: &'a str,
    description: &'a str,
    input_schema: &'a Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<Mark>,
}

#[derive(Serialize)]
struct AnthropicMessage<'a> {
    role: &'static str,
    content: Vec<RequestBlock<'a>>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum RequestBlock<'a> {
    Ours(Ours<'a>),
    /// Exactly as it came.
    Theirs(&'a RawValue),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Ours<'a> {
    Text {
        text: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<Mark>,
    },
    Image {
        source: ImageSource,
    },
    Thinking {
        thinking: &'a str,
        signature: String,
    },
    RedactedThinking {
        data: String,
    },
    ToolUse {
        id: &'a str,
        name: &'a str,
        input: Box<RawValue>,
    },
    ToolResult {
        tool_use_id: &'a str,
        content: &'a str,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        is_error: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<Mark>,
    },
}

#[derive(Serialize)]
struct ImageSource {
    #[serde(rename = "type")]
    kind: &'static str,
    media_type: &'static str,
    data: String,
}

#[derive(Clone, Copy, Serialize)]
struct Mark {
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    ttl: Option<&'static str>,
}

impl Cache {
    fn mark(self) -> Option<Mark> {
        match self {
            Cache::Off => None,
            Cache::Minutes => Some(Mark { kind: "ephemeral", ttl: None }),
            Cache::Hour => Some(Mark { kind: "ephemeral", ttl: Some("1h") }),
        }
    }
}

pub(super) fn messages_body(
    api: &Anthropic,
    settings: &ModelSettings,
    request: &ModelRequest<'_>,
    names: &Names,
    paused: &[Box<RawValue>],
) -> Result<Vec<u8>, serde_json::Error> {
    let mark = api.cache.mark();
    let mut messages = messages(request, names)?;
    let may_think = may_think(&messages);
    // Three of the four marks that a request may have: what stays, and everything so far.
    if let Some(RequestBlock::Ours(last)) =
        messages.last_mut().and_then(|last| last.content.last_mut())
    {
        last.mark(mark);
    }
    if !paused.is_empty() {
        let content = paused.iter().map(|block| RequestBlock::Theirs(block)).collect();
        messages.push(AnthropicMessage { role: "assistant", content });
    }
    let mut tools: Vec<AnthropicTool<'_>> = request
        .tools
        .iter()
        .map(|tool| AnthropicTool {
            name: names.tool(&tool.name),
            description: &tool.description,
            input_schema: &tool.input_schema,
            cache_control: None,
        })
        .collect();
    if let Some(last) = tools.last_mut() {
        last.cache_control = mark;
    }
    let system = request.system.as_deref();
    let thinking = match api.thinking {
        _ if !may_think => None,
        Thinking::Off => None,
        Thinking::Budget(budget_tokens) => Some(ThinkingBody::Enabled { budget_tokens }),
        Thinking::Adaptive => Some(ThinkingBody::Adaptive),
    };
    serde_json::to_vec(&MessagesRequest {
        model: &settings.model,
        max_tokens: settings.max_tokens.unwrap_or(MAX_TOKENS),
        stream: true,
        system: system.map(|text| [RequestBlock::Ours(Ours::Text { text, cache_control: mark })]),
        tools,
        messages,
        thinking,
        output_config: settings.effort.as_deref().map(|effort| OutputConfig { effort }),
        temperature: settings.temperature,
    })
}

impl Ours<'_> {
    fn mark(&mut self, mark: Option<Mark>) {
        match self {
            Ours::Text { cache_control, .. } | Ours::ToolResult { cache_control, .. } => {
                *cache_control = mark;
            }
            Ours::Image { .. }
            | Ours::Thinking { .. }
            | Ours::RedactedThinking { .. }
            | Ours::ToolUse { .. } => {}
        }
    }
}

/// Roles take turns: results and what was said after them are one message, results first.
fn messages<'a>(
    request: &'a ModelRequest<'_>,
    names: &'a Names,
) -> Result<Vec<AnthropicMessage<'a>>, serde_json::Error> {
    let mut messages: Vec<AnthropicMessage<'_>> = Vec::new();
    for message in &request.messages {
        let (role, content) = match message {
            ModelMessage::User { text } => ("user", vec![text_block(text)]),
            ModelMessage::Image { label, media_type, bytes } => {
                ("user", vec![text_block(label), image_block(media_type, bytes)])
            }
            ModelMessage::Assistant { parts } => ("assistant", assistant(parts, names)?),
            ModelMessage::Results { results } => {
                ("user", results.iter().map(|result| result_block(result, names)).collect())
            }
        };
        match messages.last_mut() {
            _ if content.is_empty() => {}
            Some(last) if last.role == role => last.content.extend(content),
            _ => messages.push(AnthropicMessage { role, content }),
        }
    }
    Ok(messages)
}

fn text_block(text: &str) -> RequestBlock<'_> {
    RequestBlock::Ours(Ours::Text { text, cache_control: None })
}

fn image_block(media_type: &'static str, bytes: &[u8]) -> RequestBlock<'static> {
    let source = ImageSource { kind: "base64", media_type, data: STANDARD.encode(bytes) };
    RequestBlock::Ours(Ours::Image { source })
}

fn assistant<'a>(
    parts: &'a [AssistantPart<'_>],
    names: &'a Names,
) -> Result<Vec<RequestBlock<'a>>, serde_json::Error> {
    let mut blocks = Vec::new();
    for part in in_place(parts, ApiKind::Anthropic) {
        match part {
            AssistantPart::Text(text) => blocks.push(text_block(text)),
            AssistantPart::Reasoning { text, opaque } => {
                // What came without a signature is not this provider's, and would be refused.
                let Some(opaque) = Opaque::read(opaque.as_deref(), ApiKind::Anthropic) else {
                    continue;
                };
                if let Some(data) = opaque.redacted {
                    blocks.push(RequestBlock::Ours(Ours::RedactedThinking { data }));
                } else if let Some(signature) = opaque.signature {
                    blocks.push(RequestBlock::Ours(Ours::Thinking { thinking: text, signature }));
                }
            }
            AssistantPart::Call(call) => blocks.push(RequestBlock::Ours(Ours::ToolUse {
                id: names.id(&call.tool_use_id),
                name: names.tool(&call.tool),
                input: object(&call.input)?,
            })),
        }
    }
    Ok(blocks)
}

fn result_block<'a>(result: &'a CallResult<'_>, names: &'a Names) -> RequestBlock<'a> {
    // The API refuses a failure that says nothing.
    let content = match result.content.trim().is_empty() && result.is_error {
        true => "The tool failed and said nothing.",
        false => &*result.content,
    };
    RequestBlock::Ours(Ours::ToolResult {
        tool_use_id: names.id(&result.tool_use_id),
        content,
        is_error: result.is_error,
        cache_control: None,
    })
}

/// While results are due, the API wants the thinking that led to the calls, or none at all. A turn
/// of another model, or one from before thinking was turned on, has none: then this one goes without.
fn may_think(messages: &[AnthropicMessage<'_>]) -> bool {
    let answers_calls = messages.last().is_some_and(|last| {
        last.content
            .iter()
            .any(|block| matches!(block, RequestBlock::Ours(Ours::ToolResult { .. })))
    });
    if !answers_calls {
        return true;
    }
    let called = messages.iter().rev().find(|message| message.role == "assistant");
    called.and_then(|message| message.content.first()).is_some_and(|first| {
        matches!(first, RequestBlock::Ours(Ours::Thinking { .. } | Ours::RedactedThinking { .. }))
    })
}
