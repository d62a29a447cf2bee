//! The transcript.

use std::borrow::Cow;
use std::sync::Arc;

use domain::file::{FileKind, FileName, FileRef};
use domain::id::{CallId, FileId, MessageId};
use domain::message::{Message, Origin, Part, Role};
use domain::outcome::{ResultKind, ToolResult};
use domain::person::PersonId;
use domain::time::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Broken, Hex, Ms, RowContext, Text, damaged, is_false};

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StoredMessage<'a> {
    id: Text<MessageId>,
    role: StoredRole,
    /// A `user` message that we wrote ourselves.
    #[serde(default, skip_serializing_if = "is_false")]
    runtime: bool,
    /// Who said it, where several people speak.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    by: Option<Cow<'a, str>>,
    /// Who made the login or token by which it was said, if that was another person.
    #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
    login_makers: Vec<Cow<'a, str>>,
    #[serde(borrow)]
    parts: Vec<StoredPart<'a>>,
    /// Absent: when the row was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    at: Option<Ms>,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StoredRole {
    User,
    Assistant,
    Tool,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum StoredPart<'a> {
    Text(#[serde(borrow)] Cow<'a, str>),
    File(#[serde(borrow)] StoredFileRef<'a>),
    Reasoning {
        #[serde(borrow)]
        text: Cow<'a, str>,
        #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
        opaque: Option<Cow<'a, str>>,
    },
    Call {
        call: Text<CallId>,
        #[serde(borrow)]
        tool_use_id: Cow<'a, str>,
        #[serde(borrow)]
        tool: Cow<'a, str>,
        #[serde(borrow)]
        input: Cow<'a, str>,
    },
    Result {
        call: Text<CallId>,
        #[serde(borrow)]
        tool_use_id: Cow<'a, str>,
        #[serde(borrow)]
        tool: Cow<'a, str>,
        #[serde(borrow)]
        result: StoredResult<'a>,
    },
}

impl<'a> StoredMessage<'a> {
    pub(super) fn new(message: &'a Message, frame: RowContext<'_>) -> StoredMessage<'a> {
        StoredMessage {
            id: Text(message.id),
            role: match message.role {
                Role::User => StoredRole::User,
                Role::Assistant => StoredRole::Assistant,
                Role::Tool => StoredRole::Tool,
            },
            runtime: message.origin == Origin::Runtime,
            by: message.by.as_ref().map(|by| by.as_str().into()),
            login_makers: message.login_makers.iter().map(|id| id.as_str().into()).collect(),
            parts: message.parts.iter().map(StoredPart::from).collect(),
            at: (frame.at != Some(message.at)).then(|| message.at.into()),
        }
    }

    pub(super) fn message(self, frame: RowContext<'_>) -> Result<Arc<Message>, Broken> {
        let Some(at) = self.at.map(Timestamp::from).or(frame.at) else {
            return damaged(format!("{} was written at no time", self.id.0));
        };
        Ok(Arc::new(Message {
            id: self.id.0,
            role: match self.role {
                StoredRole::User => Role::User,
                StoredRole::Assistant => Role::Assistant,
                StoredRole::Tool => Role::Tool,
            },
            origin: if self.runtime { Origin::Runtime } else { Origin::Own },
            by: self.by.map(|by| PersonId::new(&by)),
            login_makers: self.login_makers.iter().map(|id| PersonId::new(id)).collect(),
            parts: self.parts.into_iter().map(StoredPart::part).collect::<Result<_, _>>()?,
            at,
        }))
    }
}

impl<'a> From<&'a Part> for StoredPart<'a> {
    fn from(part: &'a Part) -> StoredPart<'a> {
        match part {
            Part::Text(text) => StoredPart::Text(text.into()),
            Part::File(file) => StoredPart::File(file.into()),
            Part::Reasoning { text, opaque } => StoredPart::Reasoning {
                text: text.into(),
                opaque: opaque.as_deref().map(Cow::from),
            },
            Part::ToolCall { call, tool_use_id, tool, input } => StoredPart::Call {
                call: Text(*call),
                tool_use_id: tool_use_id.into(),
                tool: tool.as_ref().into(),
                input: input.into(),
            },
            Part::ToolResult { call, tool_use_id, tool, result } => StoredPart::Result {
                call: Text(*call),
                tool_use_id: tool_use_id.into(),
                tool: tool.as_ref().into(),
                result: result.into(),
            },
        }
    }
}

impl StoredPart<'_> {
    fn part(self) -> Result<Part, Broken> {
        Ok(match self {
            StoredPart::Text(text) => Part::Text(text.into_owned()),
            StoredPart::File(file) => Part::File(file.file_ref()?),
            StoredPart::Reasoning { text, opaque } => {
                Part::Reasoning { text: text.into_owned(), opaque: opaque.map(Cow::into_owned) }
            }
            StoredPart::Call { call: Text(call), tool_use_id, tool, input } => Part::ToolCall {
                call,
                tool_use_id: tool_use_id.into_owned(),
                tool: tool.into(),
                input: input.into_owned(),
            },
            StoredPart::Result { call: Text(call), tool_use_id, tool, result } => {
                Part::ToolResult {
                    call,
                    tool_use_id: tool_use_id.into_owned(),
                    tool: tool.into(),
                    result: result.into(),
                }
            }
        })
    }
}

/// A file by reference: the digest stands for the bytes, so that the log covers them.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StoredFileRef<'a> {
    id: Text<FileId>,
    sha256: Hex,
    bytes: u64,
    #[serde(borrow)]
    media_type: Cow<'a, str>,
    /// Of an image: its width and height.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    size: Option<(u32, u32)>,
    #[serde(borrow)]
    name: Cow<'a, str>,
}

impl<'a> From<&'a FileRef> for StoredFileRef<'a> {
    fn from(file: &'a FileRef) -> StoredFileRef<'a> {
        StoredFileRef {
            id: Text(file.id),
            sha256: Hex(file.digest),
            bytes: file.bytes,
            media_type: file.kind.media_type().into(),
            size: file.kind.size(),
            name: file.name.as_str().into(),
        }
    }
}

impl StoredFileRef<'_> {
    fn file_ref(self) -> Result<FileRef, Broken> {
        let Some(kind) = FileKind::stored(&self.media_type, self.size) else {
            return damaged(format!("{} is of a kind that never was", self.id.0));
        };
        Ok(FileRef {
            id: self.id.0,
            digest: self.sha256.0,
            bytes: self.bytes,
            kind,
            name: FileName::given(&self.name),
        })
    }
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StoredResult<'a> {
    kind: StoredKind,
    #[serde(default, skip_serializing_if = "is_false")]
    is_error: bool,
    #[serde(borrow)]
    content: Cow<'a, str>,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StoredKind {
    Output,
    Error,
    Denied,
    Expired,
    Cancelled,
    Pending,
}

impl<'a> From<&'a ToolResult> for StoredResult<'a> {
    fn from(result: &'a ToolResult) -> StoredResult<'a> {
        StoredResult {
            kind: match result.kind {
                ResultKind::Output => StoredKind::Output,
                ResultKind::Error => StoredKind::Error,
                ResultKind::Denied => StoredKind::Denied,
                ResultKind::Expired => StoredKind::Expired,
                ResultKind::Cancelled => StoredKind::Cancelled,
                ResultKind::Pending => StoredKind::Pending,
            },
            is_error: result.is_error,
            content: result.content.as_str().into(),
        }
    }
}

impl From<StoredResult<'_>> for ToolResult {
    fn from(stored: StoredResult<'_>) -> ToolResult {
        ToolResult {
            content: stored.content.into_owned(),
            is_error: stored.is_error,
            kind: match stored.kind {
                StoredKind::Output => ResultKind::Output,
                StoredKind::Error => ResultKind::Error,
                StoredKind::Denied => ResultKind::Denied,
                StoredKind::Expired => ResultKind::Expired,
                StoredKind::Cancelled => ResultKind::Cancelled,
                StoredKind::Pending => ResultKind::Pending,
            },
        }
    }
}
