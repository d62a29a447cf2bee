//! What a wire is told.

use std::sync::Arc;

use domain::hold::Hold;
use domain::id::{CallId, HoldId, MessageId};
use domain::message::Message;
use domain::outcome::ToolResult;
use serde_json::Value;

#[derive(Clone, Debug)]
pub(crate) enum FlowStep {
    RunStarted,
    /// A message of the person's, or of the runtime's, became part of the conversation.
    Said {
        message: Arc<Message>,
    },
    /// A block of text or of thinking begins, goes on, ends. One is open at a time.
    Open {
        id: String,
        kind: SpeechKind,
    },
    Delta {
        id: String,
        kind: SpeechKind,
        text: String,
    },
    Close {
        id: String,
        kind: SpeechKind,
    },
    /// What was streamed of this message is void; it is written anew.
    Withdrawn {
        message: MessageId,
    },
    /// The model's turn is whole: its text has been told, its calls follow.
    Thought {
        message: Arc<Message>,
    },
    Called(Called),
    Settled(Settled),
    HoldOpened(Arc<Hold>),
    HoldChanged(Arc<Hold>),
    HoldDecided(Arc<Hold>),
    /// Nothing moves until a person does something. Told also of pauses that are over by now.
    Paused,
    Resumed,
    /// Nothing moves now, and this flow goes on when something does.
    Rests,
    End(End),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SpeechKind {
    Text,
    Reasoning,
}

/// A call as the model wrote it, without its secrets.
#[derive(Clone, Debug)]
pub(crate) struct Called {
    pub(crate) call: CallId,
    pub(crate) tool_use_id: String,
    pub(crate) tool: Arc<str>,
    pub(crate) input: Value,
    /// The hold under which it stands, if people are or were asked.
    pub(crate) held: Option<HoldId>,
}

#[derive(Clone, Debug)]
pub(crate) struct Settled {
    pub(crate) call: CallId,
    pub(crate) tool_use_id: String,
    pub(crate) tool: Arc<str>,
    pub(crate) result: ToolResult,
    /// From its start, or from when it was put to somebody.
    pub(crate) took_ms: u64,
}

/// How a flow ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Paused,
    Completed,
    Failed(String),
    Cancelled,
    /// Its message waits behind another run, which rests.
    Waiting,
    /// The server stops. The run goes on at the next start.
    Closed,
}
