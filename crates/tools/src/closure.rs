//! A tool that is a Rust closure, for those who embed the engine, and for tests.

use std::future::Future;
use std::pin::Pin;

use async_trait::async_trait;
use domain::call::Call;
use domain::json::Arguments;
use domain::outcome::{Outcome, Output};
use domain::tool::{Effects, Tool};
use ports::durable::ClearedCall;
use ports::start_gate::{NotBegun, Start};
use ports::tool_host::{PrepareError, Prepared, Recovery, ToolHost};
use tokio_util::sync::CancellationToken;

type RunFuture = Pin<Box<dyn Future<Output = Outcome> + Send>>;
type RunFn = Box<dyn Fn(&Call) -> RunFuture + Send + Sync>;
type PrepareFn = Box<dyn Fn(&Arguments) -> Result<Prepared, PrepareError> + Send + Sync>;
type RecoverFn = Box<dyn Fn(&Call, u32) -> Recovery + Send + Sync>;

/// ```
/// use domain::outcome::{Outcome, Output};
/// use domain::tool::{Effects, Place, Tool};
/// use holdpoint_tools::closure::FnTool;
///
/// let schema = serde_json::json!({"type": "object"});
/// let tool = Tool::new("greet", "says hello", schema, Effects::ReadOnly, Place::Server, "example");
/// let greet = FnTool::new(tool.unwrap(), |call| {
///     let name = call.arguments.value()["name"].as_str().unwrap_or("you").to_owned();
///     async move { Outcome::Succeeded(Output::text(format!("hello, {name}"))) }
/// });
/// ```
pub struct FnTool {
    tool: Tool,
    body: RunFn,
    preparing: Option<PrepareFn>,
    recovering: Option<RecoverFn>,
}

impl FnTool {
    /// The closure reads what it needs from the call and returns a future that owns it.
    pub fn new<F>(tool: Tool, body: impl Fn(&Call) -> F + Send + Sync + 'static) -> FnTool
    where
        F: Future<Output = Outcome> + Send + 'static,
    {
        let body: RunFn = Box::new(move |call| Box::pin(body(call)));
        FnTool { tool, body, preparing: None, recovering: None }
    }

    /// What to say about a call before anybody is asked. It must have no effects.
    #[must_use]
    pub fn preparing(
        self,
        prepare: impl Fn(&Arguments) -> Result<Prepared, PrepareError> + Send + Sync + 'static,
    ) -> FnTool {
        FnTool { preparing: Some(Box::new(prepare)), ..self }
    }

    /// What to say about an attempt that a crash interrupted.
    #[must_use]
    pub fn recovering(
        self,
        recover: impl Fn(&Call, u32) -> Recovery + Send + Sync + 'static,
    ) -> FnTool {
        FnTool { recovering: Some(Box::new(recover)), ..self }
    }
}

#[async_trait]
impl ToolHost for FnTool {
    fn tool(&self) -> &Tool {
        &self.tool
    }

    async fn prepare(&self, arguments: &Arguments) -> Result<Prepared, PrepareError> {
        match &self.preparing {
            Some(prepare) => prepare(arguments),
            None => Ok(Prepared::default()),
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
        let starting = start.enter().await?;
        // The closure itself, not only its future, may have effects.
        let running = starting.first_poll(async { (self.body)(call.call()).await });
        Ok(tokio::select! {
            // A tool that has finished keeps its result, also when the stop comes in the same moment.
            biased;
            outcome = running => outcome,
            () = stop.cancelled() => stopped_outcome(self.tool.effects),
        })
    }

    async fn recover(&self, call: &Call, attempt: u32) -> Recovery {
        match &self.recovering {
            Some(recover) => recover(call, attempt),
            None => Recovery::Unknown {
                evidence: "It ran inside the server, which died; nothing was recorded.".into(),
            },
        }
    }
}

/// A future that is dropped in the middle leaves behind whatever it has sent off, so only a tool
/// without effects can be said to have done nothing.
fn stopped_outcome(effects: Effects) -> Outcome {
    match effects {
        Effects::ReadOnly => Outcome::Failed(Output::text("Stopped before it had finished.")),
        _ => Outcome::Unknown { evidence: "It was stopped before it had finished.".into() },
    }
}
