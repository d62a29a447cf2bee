//! The transcript.

use std::borrow::Cow;
use std::collections::BTreeSet;
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
    /// The one that the role says: a person, the model, a tool.
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
    /// Who made the login or token by which it was said, if that was another person than the speaker.
    pub login_makers: BTreeSet<PersonId>,
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
    /// All that is said in it. Most messages have one text, which is not copied.
    pub fn text(&self) -> Cow<'_, str> {
        let mut texts = self.parts.iter().filter_map(|part| match part {
            Part::Text(text) => Some(text.as_str()),
            _ => None,
        });
        let mut whole = Cow::Borrowed(texts.next().unwrap_or_default());
        for text in texts {
            let whole = whole.to_mut();
            whole.push('\n');
            whole.push_str(text);
        }
        whole
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_texts_of_a_message_are_its_lines() {
        for (texts, whole) in [
            (&[][..], ""),
            (&["one"], "one"),
            (&["", "two"], "\ntwo"),
            (&["one", "", "two\n"], "one\n\ntwo\n"),
        ] {
            let thought = Part::Reasoning { text: "hm".into(), opaque: None };
            let texts = texts.iter().map(|text| Part::Text((*text).into()));
            let message = Message {
                id: MessageId::new(1, 1),
                role: Role::User,
                origin: Origin::Own,
                by: None,
                login_makers: Default::default(),
                parts: [thought].into_iter().chain(texts).collect(),
                at: Timestamp::from_ms(1),
            };
            assert_eq!(message.text(), whole);
        }
    }
}
