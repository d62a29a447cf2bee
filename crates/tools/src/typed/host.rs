//! The host of tools whose arguments are a Rust type.

use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use domain::call::Call;
use domain::digest::Digest;
use domain::json::Arguments;
use domain::outcome::{Cut, Outcome, Output};
use domain::phrase::{NoPreviewReason, PhraseCode};
use domain::schema::write_only_pointers;
use domain::tool::{Confirm, Effects, Place, Tool};
use futures_util::FutureExt as _;
use ports::durable::ClearedCall;
use ports::start_gate::{NotBegun, Start};
use ports::tool_host::{PrepareError, Prepared, Recovery, ToolHost};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use tokio_util::sync::CancellationToken;

use super::context::CallContext;
use super::error::ToolError;
use super::preview::Preview;
use super::schema::schema_of;
use crate::bad_tool::BadTool;
use crate::limits::{LOOK_WITHIN, OUTPUT_BYTES_KEPT, STOP_WITHIN};

/// A tool with a type for its arguments. [`super::TypedFn`] makes one of closures.
///
/// ```
/// use std::collections::BTreeMap;
/// use std::sync::Mutex;
///
/// use domain::outcome::Output;
/// use domain::tool::Effects;
/// use holdpoint_tools::typed::{CallContext, Preview, ToolError, TypedHost, TypedTool};
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Move {
///     /// From where.
///     from: String,
///     /// To where.
///     to: String,
/// }
///
/// /// Keeps count of what lies where.
/// struct Warehouse(Mutex<BTreeMap<String, u32>>);
///
/// impl TypedTool for Warehouse {
///     type Arguments = Move;
///
///     fn name(&self) -> &str {
///         "move_pallet"
///     }
///
///     fn description(&self) -> &str {
///         "Moves one pallet."
///     }
///
///     async fn preview(&self, order: Move) -> Result<Preview, ToolError> {
///         let there = self.0.lock().unwrap().get(&order.from).copied().unwrap_or_default();
///         if there == 0 {
///             return Err(ToolError::unsound(format!("there is no pallet at {}", order.from)));
///         }
///         Ok(Preview::new(format!("{there} pallets are there now")))
///     }
///
///     async fn run(&self, order: Move, _: CallContext) -> Result<Output, ToolError> {
///         let mut places = self.0.lock().unwrap();
///         let from = places.get_mut(&order.from).ok_or("nothing is there any more")?;
///         *from = from.checked_sub(1).ok_or("nothing is there any more")?;
///         *places.entry(order.to).or_default() += 1;
///         Ok(Output::text("moved"))
///     }
/// }
///
/// let host = TypedHost::new(Warehouse(Mutex::default())).unwrap();
/// ```
pub trait TypedTool: Send + Sync + 'static {
    /// What the model gives. Its schema is [`schema_of`] this type.
    type Arguments: DeserializeOwned + JsonSchema + Send + 'static;

    /// How the model calls it.
    fn name(&self) -> &str;

    /// What the model is told about it.
    fn description(&self) -> &str;

    /// What it does to the world when it runs twice, which decides what happens after a crash.
    fn effects(&self) -> Effects {
        Effects::AtMostOnce
    }

    /// Whether the call waits for a decision, or is answered at once and made again later.
    fn confirm(&self) -> Confirm {
        Confirm::Held
    }

    /// Changes when the tool comes to do something else under the same name, schema and
    /// description: then whatever was approved before is asked about again.
    fn version(&self) -> &str {
        ""
    }

    /// What to tell people about a call before they decide. It must have no effects.
    fn preview(
        &self,
        arguments: Self::Arguments,
    ) -> impl Future<Output = Result<Preview, ToolError>> + Send {
        drop(arguments);
        async { Ok(Preview::default()) }
    }

    /// Carries out a call that may run.
    fn run(
        &self,
        arguments: Self::Arguments,
        context: CallContext,
    ) -> impl Future<Output = Result<Output, ToolError>> + Send;

    /// Looks for traces of an attempt that a crash interrupted. Not asked where running again is
    /// harmless. Say [`Recovery::NeverHappened`] only of what cannot happen any more either.
    fn recover(
        &self,
        arguments: Self::Arguments,
        context: CallContext,
    ) -> impl Future<Output = Recovery> + Send {
        drop((arguments, context));
        async { no_traces() }
    }
}

/// A [`TypedTool`] as the engine wants it.
pub struct TypedHost<T> {
    tool: Tool,
    inner: T,
    has_secrets: bool,
    /// [`LOOK_WITHIN`], except in tests.
    pub(super) look_within: Duration,
}

impl<T: TypedTool> TypedHost<T> {
    /// Refuses a tool whose schema makes no sense.
    pub fn new(inner: T) -> Result<TypedHost<T>, BadTool> {
        let schema = schema_of::<T::Arguments>();
        let has_secrets = !write_only_pointers(&schema).is_empty();
        let origin = match inner.version() {
            "" => "program".to_owned(),
            version => format!("program {version}"),
        };
        let mut tool = Tool::new(
            inner.name(),
            inner.description(),
            schema,
            inner.effects(),
            Place::Server,
            &origin,
        )
        .map_err(|why| BadTool::new(inner.name(), why))?;
        tool.confirm = inner.confirm();
        Ok(TypedHost { tool, inner, has_secrets, look_within: LOOK_WITHIN })
    }

    fn parse_arguments(&self, arguments: &Arguments) -> Result<T::Arguments, String> {
        serde_json::from_slice(arguments.bytes()).map_err(|error| match self.has_secrets {
            // The message may repeat a value.
            true => "The arguments cannot be read.".into(),
            false => format!("The arguments cannot be read: {error}."),
        })
    }
}

#[async_trait]
impl<T: TypedTool> ToolHost for TypedHost<T> {
    fn tool(&self) -> &Tool {
        &self.tool
    }

    async fn prepare(&self, arguments: &Arguments) -> Result<Prepared, PrepareError> {
        let parsed = self.parse_arguments(arguments).map_err(PrepareError::Unsound)?;
        let looking = AssertUnwindSafe(async { self.inner.preview(parsed).await }).catch_unwind();
        match tokio::time::timeout(self.look_within, looking).await {
            Ok(Ok(Ok(preview))) => Ok(preview.prepared()),
            Ok(Ok(Err(error))) => Err(error.of_preview()),
            Ok(Err(_)) => {
                Err(PrepareError::blind(NoPreviewReason::new(PhraseCode::PreviewFailed, &[])))
            }
            Err(_) => Err(PrepareError::blind(NoPreviewReason::new(
                PhraseCode::PreviewTooSlow,
                &[&self.look_within.as_secs().to_string()],
            ))),
        }
    }

    async fn run(
        &self,
        call: ClearedCall,
        start: Start,
        stop: CancellationToken,
    ) -> Result<Outcome, NotBegun> {
        if stop.is_cancelled() {
            return Ok(Outcome::Failed(Output::text("Stopped before it started.")));
        }
        let arguments = match self.parse_arguments(&call.call().arguments) {
            Ok(arguments) => arguments,
            Err(why) => return Ok(Outcome::Failed(Output::text(why))),
        };
        let context =
            CallContext { call: call.shared(), attempt: call.attempt(), stop: stop.clone() };
        let starting = start.enter().await?;
        // What the tool does up to its first wait is its start; nobody outside sees what it waits for later.
        let running = starting.first_poll(async { self.inner.run(arguments, context).await });
        let running = AssertUnwindSafe(running).catch_unwind();
        tokio::pin!(running);
        let ended = tokio::select! {
            // A tool that has finished keeps its result, also when the stop comes in the same moment.
            biased;
            ended = &mut running => Some(ended),
            () = stop.cancelled() => tokio::time::timeout(STOP_WITHIN, &mut running).await.ok(),
        };
        Ok(match ended {
            Some(Ok(Ok(output))) => Outcome::Succeeded(bound_output(output)),
            Some(Ok(Err(error))) => error.into_outcome(),
            Some(Err(_)) => self.cut_short("It panicked before it had finished."),
            None => self.cut_short("It was stopped before it had finished."),
        })
    }

    async fn recover(&self, call: &Call, attempt: u32) -> Recovery {
        let Ok(arguments) = self.parse_arguments(&call.arguments) else { return no_traces() };
        let context =
            CallContext { call: Arc::new(call.clone()), attempt, stop: CancellationToken::new() };
        let looking = async { self.inner.recover(arguments, context).await };
        let looking = AssertUnwindSafe(looking).catch_unwind();
        match tokio::time::timeout(self.look_within, looking).await {
            Ok(Ok(recovery)) => recovery,
            Ok(Err(_)) | Err(_) => Recovery::Unknown {
                evidence: "The tool was asked what happened, and could not say.".into(),
            },
        }
    }
}

impl<T> TypedHost<T> {
    /// A future that is dropped in the middle leaves behind whatever it has sent off, so only a tool
    /// without effects can be said to have done nothing.
    fn cut_short(&self, what: &str) -> Outcome {
        match self.tool.effects {
            Effects::ReadOnly => Outcome::Failed(Output::text(what)),
            _ => Outcome::Unknown { evidence: what.into() },
        }
    }
}

pub(super) fn no_traces() -> Recovery {
    Recovery::Unknown {
        evidence: "It ran inside the program, which died; nothing was recorded.".into(),
    }
}

/// More than this drowns the conversation: the rest is counted and digested.
fn bound_output(output: Output) -> Output {
    if output.cut.is_some() || output.text.len() <= OUTPUT_BYTES_KEPT {
        return output;
    }
    let cut =
        Cut { total_bytes: output.text.len() as u64, digest: Digest::of(output.text.as_bytes()) };
    let mut text = output.text;
    text.truncate(text.floor_char_boundary(OUTPUT_BYTES_KEPT));
    Output { text, cut: Some(cut) }
}
