//! Something that agents can do.

use std::future::Future;
use std::sync::Arc;

use domain::outcome::Output;
use domain::tool::{Confirm, Effects};
use ports::tool_host::ToolHost;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tools::human::{HumanTool, HumanToolKind, NAME};
use tools::typed::{CallContext, FormTool, ToolError, TypedFn, TypedHost, TypedTool, schema_of};

use crate::checks;

/// A tool of any kind. A mistake in it is told by [`crate::Builder::build`].
///
/// ```
/// use holdpoint::prelude::*;
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Refund {
///     /// The order's number.
///     order: u64,
///     /// In cents.
///     amount: u64,
///     /// A secret: people are shown `[secret]` in its place.
///     #[schemars(extend("writeOnly" = true))]
///     pin: String,
/// }
///
/// let refund = Tool::from_fn("refund", "Pays money back.", |refund: Refund, context| async move {
///     let key = context.idempotency_key();
///     Ok(format!("paid {} cents back for order {} ({key})", refund.amount, refund.order))
/// })
/// .idempotent()
/// .preview(|refund: Refund| async move {
///     Ok(Preview::new(format!("Order {} was paid by card", refund.order)))
/// });
/// ```
#[derive(Clone)]
pub struct Tool {
    source: Result<ToolSource, String>,
    /// It starts processes or sends requests, and so could call a door of this machine.
    #[cfg_attr(not(feature = "server"), allow(dead_code, reason = "only doors ask for it"))]
    reaches: bool,
}

/// A tool, or what it takes to make one.
#[derive(Clone)]
pub(super) enum ToolSource {
    Ready(Arc<dyn ToolHost>),
    #[cfg(feature = "process")]
    OnRunner(Arc<super::built_in::ProcessTool>),
}

impl ToolSource {
    pub(super) fn name(&self) -> Arc<str> {
        match self {
            ToolSource::Ready(host) => host.tool().name.clone(),
            #[cfg(feature = "process")]
            ToolSource::OnRunner(tool) => tool.name.clone(),
        }
    }

    pub(super) fn is_same(&self, other: &ToolSource) -> bool {
        match (self, other) {
            (ToolSource::Ready(one), ToolSource::Ready(other)) => Arc::ptr_eq(one, other),
            #[cfg(feature = "process")]
            (ToolSource::OnRunner(one), ToolSource::OnRunner(other)) => Arc::ptr_eq(one, other),
            #[cfg(feature = "process")]
            _ => false,
        }
    }
}

impl Tool {
    /// A closure that gets the approved arguments as a Rust type, and what else there is to know about
    /// the call. The schema is made from the type and its doc comments.
    pub fn from_fn<A, F, R>(
        name: impl Into<String>,
        description: impl Into<String>,
        body: impl Fn(A, CallContext) -> F + Send + Sync + 'static,
    ) -> TypedFn<A>
    where
        A: DeserializeOwned + JsonSchema + Send + 'static,
        F: Future<Output = Result<R, ToolError>> + Send + 'static,
        R: Into<Output>,
    {
        TypedFn::new(name, description, body)
    }

    /// A type that implements [`TypedTool`]: like a closure, with a place for its state.
    pub fn typed(tool: impl TypedTool) -> Tool {
        match TypedHost::new(tool) {
            Ok(host) => Tool::host(Arc::new(host)),
            Err(bad) => Tool::broken(bad),
        }
    }

    /// Full control: a [`ToolHost`] of the program's own.
    pub fn host(host: Arc<dyn ToolHost>) -> Tool {
        Tool::from_source(Ok(ToolSource::Ready(host)), false)
    }

    /// A tool that the other side carries out (a browser, an app), with a Rust type for its arguments.
    /// Its calls become `perform` holds; what is answered is the result.
    pub fn client<A: JsonSchema>(
        name: impl Into<String>,
        description: impl Into<String>,
    ) -> ClientTool {
        Tool::client_by_schema(name, description, schema_of::<A>())
    }

    /// The same, with a JSON Schema at hand.
    pub fn client_by_schema(
        name: impl Into<String>,
        description: impl Into<String>,
        schema: Value,
    ) -> ClientTool {
        ClientTool {
            name: name.into(),
            description: description.into(),
            schema,
            effects: Effects::default(),
            deny_values: Vec::new(),
        }
    }

    /// Lets the model ask people: a choice, free text, or a form that the model writes. It is called
    /// `human_intervention.request`.
    pub fn human() -> Tool {
        match HumanTool::new(NAME, HumanToolKind::Anything) {
            Ok(host) => Tool::host(Arc::new(host)),
            Err(bad) => Tool::broken(bad),
        }
    }

    /// Lets the model ask a person to fill in a form by a Rust type.
    pub fn form<A: JsonSchema>(name: &str, description: &str, title: &str) -> Tool {
        match FormTool::new::<A>(name, description, title) {
            Ok(host) => Tool::host(Arc::new(host)),
            Err(bad) => Tool::broken(bad),
        }
    }

    pub(super) fn from_source(source: Result<ToolSource, String>, reaches: bool) -> Tool {
        Tool { source, reaches }
    }

    fn broken(why: impl std::fmt::Display) -> Tool {
        Tool::from_source(Err(why.to_string()), false)
    }

    #[cfg(feature = "server")]
    pub(super) fn reaches(&self) -> bool {
        self.reaches
    }

    /// What it is made of, if there is nothing wrong with it so far.
    pub(super) fn checked(&self) -> Result<&ToolSource, String> {
        let source = self.source.as_ref().map_err(Clone::clone)?;
        match source {
            ToolSource::Ready(host) => Tool::check_host(host.as_ref())?,
            #[cfg(feature = "process")]
            ToolSource::OnRunner(tool) => checks::tool_name(&tool.name)?,
        }
        Ok(source)
    }

    pub(super) fn check_host(host: &dyn ToolHost) -> Result<(), String> {
        let tool = host.tool();
        checks::tool_name(&tool.name)?;
        if !checks::takes_an_object(&tool.input_schema) {
            return Err(format!(
                "tool `{}`: its arguments must be an object: use a struct with named fields",
                tool.name
            ));
        }
        if tool.confirm == Confirm::TwoPhase && !checks::leaves_confirmed_to_us(&tool.input_schema)
        {
            return Err(format!(
                "tool `{}`: a two-phase tool gets the argument `confirmed` from us; take the field out",
                tool.name
            ));
        }
        Ok(())
    }
}

impl<A: DeserializeOwned + JsonSchema + Send + 'static> From<TypedFn<A>> for Tool {
    fn from(tool: TypedFn<A>) -> Tool {
        Tool::typed(tool)
    }
}

impl From<ClientTool> for Tool {
    fn from(tool: ClientTool) -> Tool {
        let ClientTool { name, description, schema, effects, deny_values } = tool;
        match tools::client::ClientTool::new(&name, &description, schema, effects, deny_values) {
            Ok(host) => Tool::host(Arc::new(host)),
            Err(bad) => Tool::broken(bad),
        }
    }
}

/// A tool without code: what the other side should do is in its schema.
///
/// ```
/// use holdpoint::prelude::*;
///
/// #[derive(JsonSchema)]
/// struct Confirm {
///     /// What the dialog says.
///     text: String,
/// }
/// let dialog = Tool::client::<Confirm>("confirm_dialog", "Asks in the browser.")
///     .deny_value("cancelled");
/// ```
#[derive(Clone, Debug)]
pub struct ClientTool {
    name: String,
    description: String,
    schema: Value,
    effects: Effects,
    deny_values: Vec<String>,
}

impl ClientTool {
    /// It changes nothing.
    #[must_use]
    pub fn read_only(self) -> ClientTool {
        ClientTool { effects: Effects::ReadOnly, ..self }
    }

    /// A result that means no: calls with effects of the same turn then do not run.
    #[must_use]
    pub fn deny_value(mut self, value: impl Into<String>) -> ClientTool {
        self.deny_values.push(value.into());
        self
    }
}
