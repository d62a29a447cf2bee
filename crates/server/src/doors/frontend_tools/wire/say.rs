//! What is said on this wire, whatever the format.

use serde::{Serialize, Serializer};
use serde_json::Value;

use super::super::transcript::TranscriptMessage;
use crate::doors::Format;

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum StreamItem {
    /// The first item of a run's stream: by its format the client chooses how to read on.
    Opened(Meta),
    Text(String),
    Thinking(String),
    /// A call of the model. The input is JSON.
    Called {
        id: String,
        name: String,
        input: String,
    },
    /// A block of text or thinking ends.
    Closed,
    /// The model's message is complete.
    TurnEnded {
        calls: bool,
    },
    /// What was said of this message is void; it is said anew.
    Withdrawn,
    Result {
        id: String,
        name: String,
        text: String,
    },
    /// The pause. Made from open holds, and from nothing else.
    Awaiting(Vec<Awaited>),
    Failed {
        code: String,
        message: String,
    },
    /// The whole history, for agents that send it.
    Final(FinalWord),
    Done,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Meta {
    #[serde(serialize_with = "format_name")]
    pub(crate) format: Format,
    pub(crate) user_query: String,
    pub(crate) agent_uuid: String,
    pub(crate) model: String,
    #[serde(rename = "message_history", skip_serializing_if = "Option::is_none")]
    pub(crate) history: Option<Vec<TranscriptMessage>>,
}

fn format_name<S: Serializer>(format: &Format, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(format.name())
}

/// The end of a run, with the whole conversation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct FinalWord {
    pub(crate) conversation_history: Vec<TranscriptMessage>,
    pub(crate) stop_reason: &'static str,
    pub(crate) total_steps: usize,
    /// Always empty: files are not made here.
    pub(crate) generated_files: [(); 0],
}

/// One prompt of a pause.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Awaited {
    pub(crate) tool_use_id: String,
    pub(crate) name: String,
    pub(crate) input: Value,
}

/// Why a run failed.
#[derive(Debug, Serialize)]
struct RunError<'a> {
    error: &'a str,
    message: String,
}

/// Without line breaks, which some formats show as they are written.
pub(super) fn error_json(code: &str, message: &str) -> String {
    json_text(&RunError { error: code, message: message.replace(['\r', '\n'], " ") })
}

/// Strings, numbers and JSON values only: writing them cannot fail.
pub(super) fn json_text<T: Serialize + ?Sized>(value: &T) -> String {
    serde_json::to_string(value).unwrap_or_default()
}
