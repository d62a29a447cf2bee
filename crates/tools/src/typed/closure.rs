//! A typed tool made of closures.

use std::future::Future;

use domain::outcome::Output;
use domain::tool::{Confirm, Effects};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use ports::tool_host::Recovery;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use super::context::CallContext;
use super::error::ToolError;
use super::host::TypedTool;
use super::preview::Preview;

type RunClosure<A, R> = Box<dyn Fn(A, CallContext) -> BoxFuture<'static, R> + Send + Sync>;
type PreviewClosure<A> =
    Box<dyn Fn(A) -> BoxFuture<'static, Result<Preview, ToolError>> + Send + Sync>;

/// A tool that is a closure, with what else there is to say about it.
///
/// Unless told otherwise it runs at most once: a crash in the middle asks a person what happened.
///
/// ```
/// use holdpoint_tools::typed::{Preview, TypedFn};
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Refund {
///     /// The order's number.
///     order: u64,
///     /// In cents.
///     amount: u64,
/// }
///
/// let refund = TypedFn::new("refund", "Pays money back.", |refund: Refund, context| async move {
///     // `context.idempotency_key()` goes to the bank, which recognises repeats.
///     let key = context.idempotency_key();
///     Ok(format!("paid {} cents for order {} under {key}", refund.amount, refund.order))
/// })
/// .idempotent()
/// .preview(|refund: Refund| async move {
///     Ok(Preview::new(format!("Order {} was paid by card", refund.order)))
/// });
/// ```
pub struct TypedFn<A> {
    name: String,
    description: String,
    version: String,
    effects: Effects,
    confirm: Confirm,
    body: RunClosure<A, Result<Output, ToolError>>,
    preview: Option<PreviewClosure<A>>,
    recover: Option<RunClosure<A, Recovery>>,
}

impl<A: DeserializeOwned + JsonSchema + Send + 'static> TypedFn<A> {
    /// The closure gets the approved arguments and returns a future that owns what it needs.
    pub fn new<F, R>(
        name: impl Into<String>,
        description: impl Into<String>,
        body: impl Fn(A, CallContext) -> F + Send + Sync + 'static,
    ) -> TypedFn<A>
    where
        F: Future<Output = Result<R, ToolError>> + Send + 'static,
        R: Into<Output>,
    {
        TypedFn {
            name: name.into(),
            description: description.into(),
            version: String::new(),
            effects: Effects::default(),
            confirm: Confirm::default(),
            body: Box::new(move |arguments, context| {
                body(arguments, context).map(|result| result.map(Into::into)).boxed()
            }),
            preview: None,
            recover: None,
        }
    }

    /// It changes nothing: after a crash it is simply run again.
    #[must_use]
    pub fn read_only(self) -> TypedFn<A> {
        TypedFn { effects: Effects::ReadOnly, ..self }
    }

    /// Running it again under the same [`CallContext::idempotency_key`] changes nothing more: after a
    /// crash it is run again under that key.
    #[must_use]
    pub fn idempotent(self) -> TypedFn<A> {
        TypedFn { effects: Effects::Idempotent, ..self }
    }

    /// The call is answered at once with `pending_confirmation`, and made again when somebody has
    /// decided.
    #[must_use]
    pub fn two_phase(self) -> TypedFn<A> {
        TypedFn { confirm: Confirm::TwoPhase, ..self }
    }

    /// See [`TypedTool::version`].
    #[must_use]
    pub fn version(self, version: impl Into<String>) -> TypedFn<A> {
        TypedFn { version: version.into(), ..self }
    }

    /// What to tell people about a call before they decide. It must have no effects.
    #[must_use]
    pub fn preview<F>(self, preview: impl Fn(A) -> F + Send + Sync + 'static) -> TypedFn<A>
    where
        F: Future<Output = Result<Preview, ToolError>> + Send + 'static,
    {
        TypedFn { preview: Some(Box::new(move |arguments| preview(arguments).boxed())), ..self }
    }

    /// What to say about an attempt that a crash interrupted; see [`TypedTool::recover`].
    #[must_use]
    pub fn recover<F>(
        self,
        recover: impl Fn(A, CallContext) -> F + Send + Sync + 'static,
    ) -> TypedFn<A>
    where
        F: Future<Output = Recovery> + Send + 'static,
    {
        TypedFn {
            recover: Some(Box::new(move |arguments, context| recover(arguments, context).boxed())),
            ..self
        }
    }
}

impl<A: DeserializeOwned + JsonSchema + Send + 'static> TypedTool for TypedFn<A> {
    type Arguments = A;

    fn name(&self) -> &str {
        &self.name
    }

    fn description(&self) -> &str {
        &self.description
    }

    fn effects(&self) -> Effects {
        self.effects
    }

    fn confirm(&self) -> Confirm {
        self.confirm
    }

    fn version(&self) -> &str {
        &self.version
    }

    async fn preview(&self, arguments: A) -> Result<Preview, ToolError> {
        match &self.preview {
            Some(preview) => preview(arguments).await,
            None => Ok(Preview::default()),
        }
    }

    async fn run(&self, arguments: A, context: CallContext) -> Result<Output, ToolError> {
        (self.body)(arguments, context).await
    }

    async fn recover(&self, arguments: A, context: CallContext) -> Recovery {
        match &self.recover {
            Some(recover) => recover(arguments, context).await,
            None => super::host::no_traces(),
        }
    }
}
