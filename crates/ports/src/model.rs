//! Whoever thinks: a vendor's model, a local one, a script.

use std::borrow::Cow;
use std::sync::Arc;

use async_trait::async_trait;
use domain::message::Part;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

/// One request, rebuilt from our own transcript every time. The validator in `agent` has passed it.
///
/// It borrows what was said: a long conversation is not copied for every thought. Whoever keeps a
/// request longer than the thought takes [`ModelRequest::into_owned`].
#[derive(Clone, Debug, PartialEq)]
pub struct ModelRequest<'a> {
    pub system: Option<Cow<'a, str>>,
    pub messages: Vec<ModelMessage<'a>>,
    pub tools: Cow<'a, [ToolOffer]>,
}

/// A message in the order that providers demand: results directly after the calls they belong to.
#[derive(Clone, Debug, PartialEq)]
pub enum ModelMessage<'a> {
    User { text: Cow<'a, str> },
    Assistant { parts: Vec<AssistantPart<'a>> },
    Results { results: Vec<CallResult<'a>> },
}

#[derive(Clone, Debug, PartialEq)]
pub enum AssistantPart<'a> {
    Text(Cow<'a, str>),
    Reasoning { text: Cow<'a, str>, opaque: Option<Cow<'a, str>> },
    Call(WrittenCall<'a>),
}

/// A call exactly as the model wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenCall<'a> {
    pub tool_use_id: Cow<'a, str>,
    pub tool: Cow<'a, str>,
    pub input: Cow<'a, str>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallResult<'a> {
    pub tool_use_id: Cow<'a, str>,
    pub tool: Cow<'a, str>,
    pub content: Cow<'a, str>,
    pub is_error: bool,
}

/// A tool as a model sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolOffer {
    pub name: Arc<str>,
    pub description: String,
    pub input_schema: Value,
}

impl ModelRequest<'_> {
    /// The same request, for whoever keeps it.
    pub fn into_owned(self) -> ModelRequest<'static> {
        ModelRequest {
            system: self.system.map(owned),
            messages: self.messages.into_iter().map(ModelMessage::into_owned).collect(),
            tools: Cow::Owned(self.tools.into_owned()),
        }
    }
}

impl ModelMessage<'_> {
    pub fn into_owned(self) -> ModelMessage<'static> {
        match self {
            ModelMessage::User { text } => ModelMessage::User { text: owned(text) },
            ModelMessage::Assistant { parts } => {
                let parts = parts.into_iter().map(AssistantPart::into_owned);
                ModelMessage::Assistant { parts: parts.collect() }
            }
            ModelMessage::Results { results } => {
                let results = results.into_iter().map(CallResult::into_owned);
                ModelMessage::Results { results: results.collect() }
            }
        }
    }
}

impl AssistantPart<'_> {
    pub fn into_owned(self) -> AssistantPart<'static> {
        match self {
            AssistantPart::Text(text) => AssistantPart::Text(owned(text)),
            AssistantPart::Reasoning { text, opaque } => {
                AssistantPart::Reasoning { text: owned(text), opaque: opaque.map(owned) }
            }
            AssistantPart::Call(call) => AssistantPart::Call(call.into_owned()),
        }
    }
}

impl WrittenCall<'_> {
    pub fn into_owned(self) -> WrittenCall<'static> {
        WrittenCall {
            tool_use_id: owned(self.tool_use_id),
            tool: owned(self.tool),
            input: owned(self.input),
        }
    }
}

impl CallResult<'_> {
    pub fn into_owned(self) -> CallResult<'static> {
        CallResult {
            tool_use_id: owned(self.tool_use_id),
            tool: owned(self.tool),
            content: owned(self.content),
            is_error: self.is_error,
        }
    }
}

fn owned(text: Cow<'_, str>) -> Cow<'static, str> {
    Cow::Owned(text.into_owned())
}

/// A complete turn. There is no way to report half of one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelTurn {
    /// Text and reasoning only; calls are apart.
    pub parts: Vec<Part>,
    pub calls: Vec<WrittenCall<'static>>,
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
    #[error(
        "the conversation is too long for the model: {0}; start a new session, or take a model with a larger window"
    )]
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
        request: &ModelRequest<'_>,
        deltas: DeltaSink,
        stop: CancellationToken,
    ) -> Result<ModelTurn, ModelError>;
}
