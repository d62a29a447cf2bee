//! The transcript.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use crate::file::FileRef;
use crate::id::{CallId, MessageId};
use crate::outcome::ToolResult;
use crate::person::PersonId;
use crate::time::Timestamp;

/// Whose words a message is to a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A person's, or the runtime's in their place.
    User,
    /// The model's own.
    Assistant,
    /// The results of the model's calls.
    Tool,
}

impl Role {
    /// The word by which records and wires tell it.
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

/// One message of a transcript.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// Names the message.
    pub id: MessageId,
    /// Whose words it is to the model.
    pub role: Role,
    /// Who really wrote it.
    pub origin: Origin,
    /// Who said it, in a session in which several people speak. Elsewhere its creator did.
    pub by: Option<PersonId>,
    /// Who made the login or token by which it was said, if that was another person than the speaker.
    pub login_makers: BTreeSet<PersonId>,
    /// What it consists of, in order.
    pub parts: Vec<Part>,
    /// When it was said, by our clock. It may have waited in the queue since.
    pub at: Timestamp,
}

/// One piece of a message.
#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    /// Words.
    Text(String),
    /// A file that somebody attached. Its bytes are elsewhere; the digest says which they are.
    File(FileRef),
    /// Thinking that the provider wants back unchanged: its exact text, and what came with it.
    Reasoning {
        /// The exact text, as the provider sent it.
        text: String,
        /// The provider's signature or sealed content, to be sent back unread.
        opaque: Option<String>,
    },
    /// A call as the model wrote it. What becomes of it is in the session's calls.
    ToolCall {
        /// Our id for it.
        call: CallId,
        /// The model's own name for it, which its result must repeat.
        tool_use_id: String,
        /// The name that the model called, which may be no tool's.
        tool: Arc<str>,
        /// The arguments to the byte, also where they are no JSON.
        input: String,
    },
    /// The result of one call of the turn before.
    ToolResult {
        /// Our id for the call.
        call: CallId,
        /// The model's own name for the call.
        tool_use_id: String,
        /// The name that the model called.
        tool: Arc<str>,
        /// What the model gets.
        result: ToolResult,
    },
}

impl Message {
    /// The files that came with it, in order.
    pub fn files(&self) -> impl Iterator<Item = &FileRef> {
        self.parts.iter().filter_map(|part| match part {
            Part::File(file) => Some(file),
            _ => None,
        })
    }

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
