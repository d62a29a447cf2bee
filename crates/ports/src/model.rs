//! Whoever thinks: a vendor's model, a local one, a script.

use std::sync::Arc;

use async_trait::async_trait;
use domain::message::Part;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

/// One request, rebuilt from our own transcript every time. The validator in `agent` has passed it.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelRequest {
    pub system: Option<String>,
    pub messages: Vec<ModelMessage>,
    pub tools: Vec<ToolOffer>,
}

/// A message in the order that providers demand: results directly after the calls they belong to.
#[derive(Clone, Debug, PartialEq)]
pub enum ModelMessage {
    User { text: String },
    Assistant { parts: Vec<AssistantPart> },
    Results { results: Vec<CallResult> },
}

#[derive(Clone, Debug, PartialEq)]
pub enum AssistantPart {
    Text(String),
    Reasoning { text: String, opaque: Option<String> },
    Call(WrittenCall),
}

/// A call exactly as the model wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenCall {
    pub tool_use_id: String,
    pub tool: Arc<str>,
    pub input: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallResult {
    pub tool_use_id: String,
    pub tool: Arc<str>,
    pub content: String,
    pub is_error: bool,
}

/// A tool as a model sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolOffer {
    pub name: Arc<str>,
    pub description: String,
    pub input_schema: Value,
}

/// A complete turn. There is no way to report half of one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelTurn {
    /// Text and reasoning only; calls are apart.
    pub parts: Vec<Part>,
    pub calls: Vec<WrittenCall>,
    pub usage: Usage,
}

/// What a turn cost, as the provider counted it; every attempt that was paid for is in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// All of the request, cached or not.
    pub input_tokens: u64,
    /// Of these, read from the provider's cache.
    pub cached_tokens: u64,
    pub output_tokens: u64,
}

/// A piece of text on its way, for those who watch; nothing is built on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Delta {
    Text(String),
    Reasoning(String),
    /// The attempt failed and starts over: what was shown of it is void.
    Discard,
}

pub type DeltaSink = Arc<dyn Fn(Delta) + Send + Sync>;

/// A variant for each remedy. The run ends in a state from which a person can retry.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    #[error("the model is busy or cannot be reached: {0}; retry the run in a while")]
    Unavailable(String),
    #[error("the model refused the request: {0}; mend the configuration, then retry the run")]
    Refused(String),
    #[error("the model's answer makes no sense: {0}; retry the run")]
    Malformed(String),
    /// The token limit ended the turn. Nothing of it is kept, and no call of it runs: a call that
    /// looks whole may be half of what the model meant.
    #[error("the model's answer was cut off: {0}; allow it more, then retry the run")]
    CutOff(String),
    #[error("the conversation is too long for the model: {0}; start a new session")]
    TooLong(String),
    #[error("the model declined to answer: {0}; say it in other words, in a new session")]
    Declined(String),
    #[error("stopped")]
    Stopped,
}

#[async_trait]
pub trait Model: Send + Sync {
    async fn think(
        &self,
        request: &ModelRequest,
        deltas: DeltaSink,
        stop: CancellationToken,
    ) -> Result<ModelTurn, ModelError>;
}
