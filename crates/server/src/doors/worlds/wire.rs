//! The shapes that this wire sends: events of a stream, messages, and prompts of both generations. Which of
//! them is sent when is decided elsewhere. The names of members are those of the origin, in its mixed style.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub(super) enum WorldsEvent {
    World { data: WorldActivity },
    Message { data: ChatMessage },
    Sse { data: SseData },
    Error { message: String },
    ToolResultSubmitted { data: SubmittedResult },
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WorldActivity {
    #[serde(rename = "type")]
    pub(super) kind: &'static str,
    pub(super) pending_operations: u32,
    pub(super) activity_id: u64,
    pub(super) timestamp: String,
    pub(super) source: String,
    /// Always empty: what waits here waits in sessions.
    pub(super) queue: [(); 0],
    pub(super) chat_id: String,
}

/// A message of the transcript, as an agent's memory has it too.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ChatMessage {
    #[serde(rename = "type")]
    pub(super) kind: &'static str,
    pub(super) sender: String,
    pub(super) content: String,
    pub(super) message_id: String,
    pub(super) created_at: String,
    pub(super) role: &'static str,
    pub(super) agent_id: String,
    pub(super) chat_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reply_to_message_id: Option<String>,
    #[serde(rename = "tool_calls", skip_serializing_if = "Vec::is_empty")]
    pub(super) tool_calls: Vec<FunctionCall>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tool_call_status: Option<BTreeMap<String, CallStatus>>,
    #[serde(rename = "tool_call_id", skip_serializing_if = "Option::is_none")]
    pub(super) tool_call_id: Option<String>,
}

/// A call in the form of OpenAI's: the arguments are JSON in a string.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct FunctionCall {
    pub(super) id: String,
    #[serde(rename = "type")]
    kind: &'static str,
    pub(super) function: CalledFunction,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct CalledFunction {
    pub(super) name: String,
    pub(super) arguments: String,
}

impl FunctionCall {
    pub(super) fn new(id: String, name: &str, arguments: String) -> FunctionCall {
        let function = CalledFunction { name: name.to_owned(), arguments };
        FunctionCall { id, kind: "function", function }
    }
}

/// Whether a prompt is still to be answered, and how it was.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct CallStatus {
    complete: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<CallChoice>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct CallChoice {
    choice: String,
    timestamp: Option<String>,
}

impl CallStatus {
    pub(super) fn open() -> CallStatus {
        CallStatus { complete: false, result: None }
    }

    pub(super) fn complete(choice: String, timestamp: Option<String>) -> CallStatus {
        CallStatus { complete: true, result: Some(CallChoice { choice, timestamp }) }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SseData {
    #[serde(rename = "type")]
    pub(super) kind: &'static str,
    pub(super) agent_name: String,
    pub(super) message_id: String,
    pub(super) chat_id: String,
    #[serde(flatten)]
    pub(super) told: SseTold,
    /// What was said is withdrawn.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) discard: bool,
}

/// What differs between the kinds of `sse` events.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged, rename_all_fields = "camelCase")]
pub(super) enum SseTold {
    Nothing {},
    Chunk {
        content: String,
        accumulated_content: String,
    },
    Calls {
        content: &'static str,
        #[serde(rename = "tool_calls")]
        tool_calls: Vec<FunctionCall>,
    },
    Whole {
        final_content: String,
    },
    Error {
        error: String,
    },
    Tool {
        tool_execution: Box<ToolExecution>,
    },
    Log {
        log_event: LogEvent,
    },
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ToolExecution {
    pub(super) tool_name: String,
    pub(super) tool_call_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) input: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) metadata: Option<PromptMetadata>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) result: Option<String>,
    /// In milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) duration: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PromptMetadata {
    pub(super) hitl_prompt: HitlPrompt,
}

/// A prompt as clients of the second generation read it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct HitlPrompt {
    pub(super) request_id: String,
    #[serde(rename = "type")]
    pub(super) kind: &'static str,
    pub(super) allow_skip: bool,
    pub(super) questions: Vec<HitlQuestion>,
    pub(super) metadata: PromptContext,
    pub(super) agent_name: String,
    pub(super) chat_id: String,
    pub(super) tool_name: String,
    pub(super) tool_call_id: String,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct HitlQuestion {
    pub(super) id: String,
    pub(super) header: String,
    pub(super) question: String,
    pub(super) options: Vec<HitlOption>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct HitlOption {
    pub(super) id: String,
    pub(super) label: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) description: Option<String>,
}

/// What stands beside a question.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged, rename_all_fields = "camelCase")]
pub(super) enum PromptContext {
    /// What the model said.
    Stated(Value),
    /// The call that is asked about.
    Call {
        original_tool_call: OriginalCall,
    },
    /// Where it is answered.
    Page {
        url: String,
    },
    Nothing {},
}

/// The call behind a prompt, as it may be shown.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct OriginalCall {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) args: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) working_directory: Option<String>,
}

/// Arguments of the call that asks clients of the first generation for an approval.
#[derive(Debug, Serialize)]
pub(super) struct ApprovalArguments {
    #[serde(rename = "originalToolCall")]
    pub(super) original: OriginalCall,
    pub(super) message: String,
    pub(super) options: Vec<&'static str>,
}

/// The same for a choice.
#[derive(Debug, Serialize)]
pub(super) struct ChoiceArguments<'a> {
    #[serde(rename = "originalToolCall")]
    pub(super) original: OriginalCall,
    pub(super) prompt: &'a str,
    pub(super) options: Vec<&'a str>,
    pub(super) context: &'a PromptContext,
    pub(super) multiple: bool,
    pub(super) allow_other: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct LogEvent {
    pub(super) level: &'static str,
    pub(super) category: &'static str,
    pub(super) message: String,
    pub(super) timestamp: String,
    pub(super) chat_id: String,
}

/// That an answer is stored.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SubmittedResult {
    #[serde(rename = "tool_call_id")]
    pub(super) tool_call_id: String,
    pub(super) agent_id: String,
    pub(super) decision: &'static str,
    pub(super) scope: &'static str,
}

/// A reply that is not a stream.
#[derive(Debug, Serialize)]
pub(super) struct Success<T> {
    pub(super) success: bool,
    pub(super) message: &'static str,
    pub(super) data: T,
}

/// The last message, as JSON in a string.
#[derive(Debug, Serialize)]
pub(super) struct Processed {
    pub(super) content: String,
    pub(super) timestamp: String,
}

/// What the caller of `messages` without a stream gets: a message, or the prompt at which everything waits.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub(super) enum LastTold {
    Message(Box<ChatMessage>),
    Prompt(Box<PromptMetadata>),
}

/// The reply of `hitl/respond`, in every case that was decided.
#[derive(Debug, Serialize)]
pub(super) struct HitlReply {
    pub(super) accepted: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) metadata: Option<EmptyObject>,
}

#[derive(Debug, Serialize)]
pub(super) struct EmptyObject {}
