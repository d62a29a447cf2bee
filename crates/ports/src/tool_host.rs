//! Tool hosts: what carries calls out.

use async_trait::async_trait;
use domain::call::{Call, ExecutionContext};
use domain::caption::Caption;
use domain::hold::{Preview, Question, Risk};
use domain::json::Arguments;
use domain::outcome::Outcome;
use domain::phrase::NoPreviewReason;
use domain::sql_facts::SqlFacts;
use domain::tool::Tool;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::durable::ClearedCall;
use crate::nested_question::NestedAsker;
use crate::start_gate::{NotBegun, Start};

/// What a host says about a call before anybody is asked. Preparing has no effects.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Prepared {
    /// Where and how it would run; part of the digest.
    pub context: ExecutionContext,
    /// What would happen, as far as the host can see.
    pub preview: Preview,
    /// A headline for people, such as `Delete 214 rows from orders`; ours, never the model's.
    pub title: Option<Caption>,
    /// The host itself wants a person to look, even where policy would allow the call.
    pub ask: Option<AskAnyway>,
    /// For tools that are questions: what is asked in place of "may this run?".
    pub question: Option<Question>,
    /// Shown beside the question.
    pub shown: Value,
    /// How long the question waits, where the call says so itself.
    pub expires_in_ms: Option<u64>,
}

/// Why a host wants a person to look.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskAnyway {
    /// In one line.
    pub summary: Caption,
    /// How much depends on it.
    pub risk: Risk,
}

/// Why a call could not be prepared. A variant for each remedy.
#[derive(Debug, thiserror::Error)]
pub enum PrepareError {
    /// The call can never work; the text tells the model what to change. No hold is opened.
    #[error("{0}")]
    Unsound(String),
    /// The host cannot look at present. The call is held, with a warning in place of a preview.
    #[error("{why}")]
    Blind {
        /// What people are told in place of a preview.
        why: NoPreviewReason,
        /// What an SQL tool knows all the same, from the statement alone.
        sql: Option<SqlFacts>,
    },
}

impl PrepareError {
    /// [`PrepareError::Blind`] of a tool that has nothing to do with SQL.
    ///
    /// ```
    /// use holdpoint_ports::tool_host::PrepareError;
    ///
    /// let blind = PrepareError::blind("the bank does not answer");
    /// assert_eq!(blind.to_string(), "the bank does not answer");
    /// ```
    pub fn blind(why: impl Into<NoPreviewReason>) -> PrepareError {
        PrepareError::Blind { why: why.into(), sql: None }
    }
}

/// What a host can say about a call whose executor died.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Recovery {
    /// Proof that it happened (a marker row, an exit file), and what came of it.
    Done(Outcome),
    /// Proof that it never happened: it may be started again.
    NeverHappened,
    /// Neither: a person is asked.
    Unknown {
        /// What that person is shown.
        evidence: String,
    },
}

/// What carries out the calls of one tool.
///
/// ```
/// use async_trait::async_trait;
/// use domain::json::Arguments;
/// use domain::outcome::Outcome;
/// use domain::tool::{Effects, Place, Tool};
/// use holdpoint_ports::durable::ClearedCall;
/// use holdpoint_ports::start_gate::{NotBegun, Start};
/// use holdpoint_ports::tool_host::{PrepareError, Prepared, ToolHost};
/// use tokio_util::sync::CancellationToken;
///
/// struct Valve(Tool);
///
/// #[async_trait]
/// impl ToolHost for Valve {
///     fn tool(&self) -> &Tool {
///         &self.0
///     }
///
///     async fn prepare(&self, arguments: &Arguments) -> Result<Prepared, PrepareError> {
///         match arguments.value()["percent"].as_u64() {
///             Some(0..=100) => Ok(Prepared::default()),
///             _ => Err(PrepareError::Unsound("`percent` is a number from 0 to 100".into())),
///         }
///     }
///
///     async fn run(
///         &self,
///         call: ClearedCall,
///         start: Start,
///         _: CancellationToken,
///     ) -> Result<Outcome, NotBegun> {
///         // All waits come before this; a freeze that came first keeps the valve as it is.
///         let starting = start.enter().await?;
///         let percent = &call.call().arguments.value()["percent"];
///         // … here the valve turns …
///         drop(starting);
///         Ok(Outcome::Succeeded(format!("The valve stands at {percent} %.").into()))
///     }
/// }
///
/// # #[tokio::main]
/// # async fn main() {
/// let schema = serde_json::json!({"type": "object"});
/// let tool = Tool::new("valve", "", schema, Effects::Idempotent, Place::Server, "hall 2").unwrap();
/// let wild = Arguments::parse(br#"{"percent": 400}"#).unwrap();
/// assert!(matches!(Valve(tool).prepare(&wild).await, Err(PrepareError::Unsound(_))));
/// # }
/// ```
#[async_trait]
pub trait ToolHost: Send + Sync {
    /// Its definition, which is part of what is approved.
    fn tool(&self) -> &Tool;

    /// Looks at a call that is only proposed, without any effect.
    async fn prepare(&self, arguments: &Arguments) -> Result<Prepared, PrepareError>;

    /// Runs a call that may run: only a state that a store has makes a [`ClearedCall`]. After its own waits and immediately
    /// before the first byte of effect it enters `start`; refused there, it has left the world and its own
    /// traces as they were and returns [`NotBegun`], and the same call comes again later. When `stop` fires,
    /// the whole effect is stopped (every process of it) before this returns.
    async fn run(
        &self,
        call: ClearedCall,
        start: Start,
        stop: CancellationToken,
    ) -> Result<Outcome, NotBegun>;

    /// As [`ToolHost::run`], for hosts whose other side may have questions to people meanwhile.
    async fn run_asking(
        &self,
        call: ClearedCall,
        asker: &dyn NestedAsker,
        start: Start,
        stop: CancellationToken,
    ) -> Result<Outcome, NotBegun> {
        let _ = asker;
        self.run(call, start, stop).await
    }

    /// Leaves a trace that this attempt has not begun. Called before the intent to make it is on disk, and
    /// perhaps more than once. After a crash only such a trace, and never one that is missing, lets
    /// [`ToolHost::recover`] say [`Recovery::NeverHappened`].
    async fn announce(&self, call: &Call, attempt: u32) -> Result<(), String> {
        let _ = (call, attempt);
        Ok(())
    }

    /// Looks for traces of an attempt whose executor is gone. Not called for `read_only`; for `idempotent` only when
    /// the call is given up after several crashes.
    async fn recover(&self, call: &Call, attempt: u32) -> Recovery {
        let _ = (call, attempt);
        Recovery::Unknown { evidence: String::new() }
    }

    /// The call's result is in the store: whatever was kept for [`ToolHost::recover`] may go.
    async fn forget(&self, call: &Call) {
        let _ = call;
    }
}
