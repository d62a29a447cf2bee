//! The conversation as messages of the Anthropic kind, for clients that show what was said before.

use std::sync::Arc;

use domain::file::FileRef;
use domain::message::{Message, Part, Role};
use domain::session::Session;
use domain::shared_vec::Iter;
use engine::Engine;
use serde::Serialize;
use serde_json::Value;

/// Messages one after the other; results of tools are said by the user there.
pub(super) fn messages<'a>(
    messages: impl IntoIterator<Item = &'a Message>,
    session: &Session,
    engine: &Engine,
) -> Vec<TranscriptMessage> {
    messages.into_iter().map(|message| transcript_message(message, session, engine)).collect()
}

/// A message of the Anthropic kind.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct TranscriptMessage {
    role: &'static str,
    content: Vec<TranscriptBlock>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum TranscriptBlock {
    Text {
        text: String,
    },
    Thinking {
        thinking: String,
    },
    ToolUse {
        id: String,
        name: String,
        input: Value,
    },
    ToolResult {
        tool_use_id: String,
        content: String,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        is_error: bool,
    },
}

fn transcript_message(message: &Message, session: &Session, engine: &Engine) -> TranscriptMessage {
    let role = match message.role {
        Role::Assistant => "assistant",
        Role::User | Role::Tool => "user",
    };
    let content = message.parts.iter().map(|part| block(part, session, engine)).collect();
    TranscriptMessage { role, content }
}

fn block(part: &Part, session: &Session, engine: &Engine) -> TranscriptBlock {
    match part {
        Part::Text(text) => TranscriptBlock::Text { text: text.clone() },
        Part::File(file) => TranscriptBlock::Text { text: file_line(file) },
        Part::Reasoning { text, .. } => TranscriptBlock::Thinking { thinking: text.clone() },
        Part::ToolCall { call, tool_use_id, tool, input } => TranscriptBlock::ToolUse {
            id: tool_use_id.clone(),
            name: tool.to_string(),
            input: crate::wire::call_input(*call, tool, input, session, engine),
        },
        Part::ToolResult { tool_use_id, result, .. } => TranscriptBlock::ToolResult {
            tool_use_id: tool_use_id.clone(),
            content: result.content.clone(),
            is_error: result.is_error,
        },
    }
}

/// The messages of the run that is under way or was the last: from what began it.
pub(super) fn of_latest_run(session: &Session) -> Iter<'_, Arc<Message>> {
    let begins = session.transcript.iter().rposition(|message| is_prompt(message));
    session.transcript.after(begins.unwrap_or(session.transcript.len()))
}

/// Said by a person, and not written by the runtime in their place.
pub(super) fn is_prompt(message: &Message) -> bool {
    message.role == Role::User && message.origin == domain::message::Origin::Own
}

/// What a reader of the transcript sees in the place of a file.
fn file_line(file: &FileRef) -> String {
    let name = domain::visible::visible(file.name.as_str());
    format!("[{name}, {}, {} bytes]", file.kind.media_type(), file.bytes)
}
