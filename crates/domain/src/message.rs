//! The transcript.

use std::sync::Arc;

use crate::id::{CallId, MessageId};
use crate::outcome::ToolResult;
use crate::person::PersonId;
use crate::time::Timestamp;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    User,
    Assistant,
    Tool,
}

impl Role {
    pub fn name(self) -> &'static str {
        match self {
            Role::User => "user",
            Role::Assistant => "assistant",
            Role::Tool => "tool",
        }
    }
}

/// Who wrote a message. Filtering goes by this type, never by what a text looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Whoever the role says: a person, the model, a tool.
    Own,
    /// A `user` message that the runtime wrote, such as the word that somebody decided.
    Runtime,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    pub id: MessageId,
    pub role: Role,
    pub origin: Origin,
    /// Who said it, in a session in which several people speak. Elsewhere its creator did.
    pub by: Option<PersonId>,
    pub parts: Vec<Part>,
    pub at: Timestamp,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    Text(String),
    /// Thinking that the provider wants back unchanged: its exact text, and what came with it.
    Reasoning {
        text: String,
        opaque: Option<String>,
    },
    /// A call as the model wrote it. What becomes of it is in the session's calls.
    ToolCall {
        call: CallId,
        tool_use_id: String,
        tool: Arc<str>,
        input: String,
    },
    ToolResult {
        call: CallId,
        tool_use_id: String,
        tool: Arc<str>,
        result: ToolResult,
    },
}

impl Message {
    pub fn text(&self) -> String {
        let texts: Vec<&str> = self
            .parts
            .iter()
            .filter_map(|part| match part {
                Part::Text(text) => Some(text.as_str()),
                _ => None,
            })
            .collect();
        texts.join("\n")
    }
}
