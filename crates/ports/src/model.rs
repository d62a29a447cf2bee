//! What thinks: a vendor's model, a local one, a script.
//!
//! ```
//! use std::sync::Arc;
//!
//! use async_trait::async_trait;
//! use domain::message::Part;
//! use holdpoint_ports::model::{DeltaSink, Model, ModelError, ModelRequest, ModelTurn};
//! use tokio_util::sync::CancellationToken;
//!
//! /// Has one thing to say.
//! struct Stubborn;
//!
//! #[async_trait]
//! impl Model for Stubborn {
//!     async fn think(
//!         &self,
//!         _: &ModelRequest<'_>,
//!         _: DeltaSink,
//!         stop: CancellationToken,
//!     ) -> Result<ModelTurn, ModelError> {
//!         if stop.is_cancelled() {
//!             return Err(ModelError::Stopped);
//!         }
//!         Ok(ModelTurn { parts: vec![Part::Text("No.".into())], ..ModelTurn::default() })
//!     }
//! }
//!
//! # #[tokio::main]
//! # async fn main() {
//! let asked = ModelRequest { system: None, messages: Vec::new(), tools: Vec::new().into() };
//! let turn = Stubborn.think(&asked, Arc::new(|_| {}), CancellationToken::new()).await.unwrap();
//! assert!(turn.calls.is_empty());
//! # }
//! ```

use std::borrow::Cow;
use std::sync::Arc;

use async_trait::async_trait;
use domain::message::Part;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

/// One request, rebuilt from our own transcript every time. The validator in `agent` has passed it.
///
/// It borrows what was said: a long conversation is not copied for every thought. To keep a
/// request for longer, take [`ModelRequest::into_owned`].
#[derive(Clone, Debug, PartialEq)]
pub struct ModelRequest<'a> {
    /// The agent's instructions.
    pub system: Option<Cow<'a, str>>,
    /// All that was said so far, oldest first.
    pub messages: Vec<ModelMessage<'a>>,
    /// What the model may call.
    pub tools: Cow<'a, [ToolOffer]>,
}

/// A message in the order that providers demand: results directly after the calls they belong to.
#[derive(Clone, Debug, PartialEq)]
pub enum ModelMessage<'a> {
    /// What people said.
    User {
        /// Their words.
        text: Cow<'a, str>,
    },
    /// A picture that came with what they said next, for a model that takes images.
    Image {
        /// Its name and size, for the model to speak of it.
        label: Cow<'a, str>,
        /// As providers call its format: `image/png`, `image/jpeg`, `image/gif` or `image/webp`.
        media_type: &'static str,
        /// The file.
        bytes: Arc<[u8]>,
    },
    /// What the model said.
    Assistant {
        /// In the order in which it said them.
        parts: Vec<AssistantPart<'a>>,
    },
    /// What came of its calls.
    Results {
        /// One for each call of the turn before.
        results: Vec<CallResult<'a>>,
    },
}

/// A piece of what a model said.
#[derive(Clone, Debug, PartialEq)]
pub enum AssistantPart<'a> {
    /// Words for people.
    Text(Cow<'a, str>),
    /// What it thought.
    Reasoning {
        /// In words.
        text: Cow<'a, str>,
        /// What only its provider understands, and gets back as it came.
        opaque: Option<Cow<'a, str>>,
    },
    /// What it wanted to do.
    Call(WrittenCall<'a>),
}

/// A call exactly as the model wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenCall<'a> {
    /// The provider's own id of it.
    pub tool_use_id: Cow<'a, str>,
    /// The tool's name.
    pub tool: Cow<'a, str>,
    /// Its arguments, as JSON if the model wrote any.
    pub input: Cow<'a, str>,
}

/// What came of a call, as the model is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallResult<'a> {
    /// The provider's own id of the call.
    pub tool_use_id: Cow<'a, str>,
    /// The tool's name.
    pub tool: Cow<'a, str>,
    /// What the model reads.
    pub content: Cow<'a, str>,
    /// It did not work, or was not allowed to.
    pub is_error: bool,
}

/// A tool as a model sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolOffer {
    /// By which it is called.
    pub name: Arc<str>,
    /// What it does.
    pub description: String,
    /// JSON Schema of its arguments.
    pub input_schema: Value,
}

impl ModelRequest<'_> {
    /// The same request, which borrows nothing.
    pub fn into_owned(self) -> ModelRequest<'static> {
        ModelRequest {
            system: self.system.map(owned),
            messages: self.messages.into_iter().map(ModelMessage::into_owned).collect(),
            tools: Cow::Owned(self.tools.into_owned()),
        }
    }
}

impl ModelMessage<'_> {
    /// The same message, which borrows nothing.
    pub fn into_owned(self) -> ModelMessage<'static> {
        match self {
            ModelMessage::User { text } => ModelMessage::User { text: owned(text) },
            ModelMessage::Image { label, media_type, bytes } => {
                ModelMessage::Image { label: owned(label), media_type, bytes }
            }
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
    /// The same part, which borrows nothing.
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
    /// The same call, which borrows nothing.
    pub fn into_owned(self) -> WrittenCall<'static> {
        WrittenCall {
            tool_use_id: owned(self.tool_use_id),
            tool: owned(self.tool),
            input: owned(self.input),
        }
    }
}

impl CallResult<'_> {
    /// The same result, which borrows nothing.
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
    /// What it wants to do, in its order.
    pub calls: Vec<WrittenCall<'static>>,
    /// What it cost.
    pub usage: TurnUsage,
}

/// What a turn cost, as the provider counted it; every attempt that was paid for is in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TurnUsage {
    /// All of the request, cached or not.
    pub input_tokens: u64,
    /// Of these, read from the provider's cache.
    pub cached_tokens: u64,
    /// What the model wrote, thinking included.
    pub output_tokens: u64,
}

/// A piece of text on its way, for those who watch; nothing is built on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Delta {
    /// Words for people.
    Text(String),
    /// What it thinks.
    Reasoning(String),
    /// The attempt failed and starts over: what was shown of it is void.
    Discard,
}

/// Hears pieces as they come. It must not wait for anything.
pub type DeltaSink = Arc<dyn Fn(Delta) + Send + Sync>;

/// A variant for each remedy. The run ends in a state from which a person can retry.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// Nothing is wrong with the request: the same works later.
    #[error("the model is busy or cannot be reached: {0}; retry the run in a while")]
    Unavailable(String),
    /// The same request would be refused again.
    #[error("the model refused the request: {0}; mend the configuration, then retry the run")]
    Refused(String),
    /// What came was not what the API promises.
    #[error("the model's answer makes no sense: {0}; retry the run")]
    Malformed(String),
    /// The token limit ended the turn. Nothing of it is kept, and no call of it runs: a call that
    /// looks whole may be half of what the model meant.
    #[error("the model's answer was cut off: {0}; allow it more, then retry the run")]
    CutOff(String),
    /// More was said than the model can read.
    #[error(
        "the conversation is too long for the model: {0}; start a new session, or take a model with a larger window"
    )]
    TooLong(String),
    /// The provider's own rules keep it from answering.
    #[error("the model declined to answer: {0}; say it in other words, in a new session")]
    Declined(String),
    /// It was told to stop.
    #[error("stopped")]
    Stopped,
}

/// What an agent thinks with. A model keeps nothing between two requests.
#[async_trait]
pub trait Model: Send + Sync {
    /// Whether a request may have [`ModelMessage::Image`]. If not, a line of text stands in the place of each.
    fn takes_images(&self) -> bool {
        false
    }

    /// One whole turn, or an error. `deltas` hears pieces of it on their way; when `stop` fires, this returns
    /// soon with [`ModelError::Stopped`].
    async fn think(
        &self,
        request: &ModelRequest<'_>,
        deltas: DeltaSink,
        stop: CancellationToken,
    ) -> Result<ModelTurn, ModelError>;
}
