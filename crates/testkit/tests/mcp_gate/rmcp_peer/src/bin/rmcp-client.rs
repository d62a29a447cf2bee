//! Calls tools of a program. The job is read from standard input, and what came of it is printed.

use std::collections::HashMap;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ClientCapabilities, ClientConfig,
    ElicitRequestParams, ElicitResult, ElicitationAction, GetTaskParams, Implementation,
    JsonObject, ProtocolVersion, TaskPayload,
};
use rmcp::service::{RequestContext, RunningService};
use rmcp::transport::TokioChildProcess;
use rmcp::{ClientHandler, ClientLifecycleMode, ClientServiceExt, ErrorData, RoleClient};
use serde::{Deserialize, Serialize};
use tokio::process::Command;

#[derive(Deserialize)]
struct Job {
    command: String,
    args: Vec<String>,
    env: HashMap<String, String>,
    cwd: String,
    way: Way,
    calls: Vec<(String, JsonObject)>,
}

/// The era, and how the client lets a call wait.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Way {
    Legacy,
    Modern,
    /// Modern, and declares tasks.
    Task,
    /// Modern, and approves in a form.
    Form,
}

#[derive(Serialize)]
struct Told {
    version: String,
    tools: Vec<String>,
    results: Vec<CallToolResult>,
    forms: usize,
    polls: usize,
}

struct Client {
    way: Way,
    forms: std::sync::atomic::AtomicUsize,
}

impl ClientHandler for Client {
    fn get_info(&self) -> ClientConfig {
        let capabilities = match self.way {
            Way::Task => ClientCapabilities::builder().enable_tasks().build(),
            Way::Form => ClientCapabilities::builder().enable_elicitation().build(),
            Way::Legacy | Way::Modern => ClientCapabilities::default(),
        };
        ClientConfig::new(capabilities, Implementation::new("rmcp-client", "1.0"))
    }

    async fn create_elicitation(
        &self,
        _request: ElicitRequestParams,
        _context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        self.forms.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let approved = serde_json::json!({"decision": "approve"});
        Ok(ElicitResult::new(ElicitationAction::Accept).with_content(approved))
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let job: Job = serde_json::from_reader(std::io::stdin())?;
    let mut command = Command::new(&job.command);
    command.args(&job.args).current_dir(&job.cwd).env_clear().envs(&job.env);
    let lifecycle = match job.way {
        Way::Legacy => ClientLifecycleMode::Initialize,
        _ => ClientLifecycleMode::Discover {
            preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        },
    };
    let client = Client { way: job.way, forms: 0.into() };
    let client = client.serve_with_lifecycle(TokioChildProcess::new(command)?, lifecycle).await?;
    let version = client
        .peer_info()
        .context("the server said nothing of itself")?
        .protocol_version
        .to_string();
    let tools =
        client.list_all_tools().await?.into_iter().map(|tool| tool.name.into_owned()).collect();
    let mut told = Told { version, tools, results: Vec::new(), forms: 0, polls: 0 };
    for (name, arguments) in job.calls {
        let call = CallToolRequestParams::new(name).with_arguments(arguments);
        let result = match job.way {
            Way::Task => in_task(&client, call, &mut told.polls).await?,
            _ => client.call_tool(call).await?,
        };
        told.results.push(result);
    }
    told.forms = client.service().forms.load(std::sync::atomic::Ordering::Relaxed);
    println!("{}", serde_json::to_string(&told)?);
    client.cancel().await?;
    Ok(())
}

async fn in_task(
    client: &RunningService<RoleClient, Client>,
    call: CallToolRequestParams,
    polls: &mut usize,
) -> Result<CallToolResult> {
    let task = match client.call_tool_once(call).await? {
        CallToolResponse::Complete(result) => return Ok(result),
        CallToolResponse::Task(created) => created.task,
        other => bail!("neither a result nor a task: {other:?}"),
    };
    loop {
        *polls += 1;
        match client.get_task(GetTaskParams::new(task.task_id.clone())).await?.task.payload {
            TaskPayload::Completed { result } => {
                return Ok(serde_json::from_value(serde_json::to_value(result)?)?);
            }
            TaskPayload::Working => tokio::time::sleep(Duration::from_millis(50)).await,
            other => bail!("the task ended without a result: {other:?}"),
        }
    }
}
