//! What a coding agent waits for before a call that a rule allows: from the start of the hook's process to its end,
//! and over HTTP from the request to the reply.

use std::process::Stdio;
use std::time::{Duration, Instant};

use reqwest::{Client, Method};
use serde::Serialize;
use testkit::served::{Caller, Served};
use tokio::io::AsyncWriteExt as _;

use crate::goal::Goal;
use crate::report::{Report, Row, percentile};

const CONFIG: &str = r#"
[server]
listen = "127.0.0.1:@PORT@"

[store]
url = "sqlite:data"

[[people]]
id = "ana"
roles = ["admin"]

[policy]
include = ["builtin:coding-agent"]
"#;

/// A call as Claude Code hands it over.
#[derive(Serialize)]
struct ProposedCall<'a> {
    hook_event_name: &'static str,
    session_id: &'static str,
    cwd: &'a str,
    tool_name: &'static str,
    tool_input: ShellInput,
    tool_use_id: String,
}

#[derive(Serialize)]
struct ShellInput {
    command: &'static str,
}

impl ProposedCall<'_> {
    /// Each is a call of its own: a repeated one would find its hold.
    fn number(number: usize) -> Vec<u8> {
        let call = ProposedCall {
            hook_event_name: "PreToolUse",
            session_id: "bench",
            cwd: "/",
            tool_name: "Bash",
            tool_input: ShellInput { command: "git status" },
            tool_use_id: format!("toolu_{number}"),
        };
        serde_json::to_vec(&call).unwrap_or_default()
    }
}

pub(crate) async fn run(quick: bool, report: &Report) -> Result<(), Box<dyn std::error::Error>> {
    let calls = if quick { 20 } else { 300 };
    let mut served = Served::start(CONFIG, "").await;
    let program = served.program();
    let mut by_command = Vec::with_capacity(calls);
    let mut by_http = Vec::with_capacity(calls);
    for number in 0..calls {
        by_command.push(command_hook(&served, &program, number).await?);
        by_http.push(http_hook(&program, calls + number).await?);
    }
    let row =
        |what: String, times: &[Duration], p| Row::new("hooks", what, percentile(times, p), "ms");
    let what = |kind: &str, p| format!("{kind}, allowed by a rule, p{p}");
    let command = "command hook, process start → answer";
    let http = "HTTP hook, new connection → answer";
    report.row(row(what(command, 50), &by_command, 50).goal(Goal::at_most(40.0)));
    report.row(row(what(command, 99), &by_command, 99));
    report.row(row(what(http, 50), &by_http, 50));
    report.row(row(what(http, 99), &by_http, 99));
    served.stop().await;
    Ok(())
}

async fn command_hook(
    served: &Served,
    program: &Caller,
    number: usize,
) -> Result<Duration, Box<dyn std::error::Error>> {
    let start = Instant::now();
    let mut hook = served.binary().command();
    hook.args(["hook", "claude", "--server", &served.url()])
        .env("HOLDPOINT_TOKEN", program.token().unwrap_or_default())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let mut hook = hook.spawn()?;
    let mut input = hook.stdin.take().ok_or("the hook has no standard input")?;
    input.write_all(&ProposedCall::number(number)).await?;
    drop(input);
    let ended = hook.wait_with_output().await?;
    let took = start.elapsed();
    must_allow(&ended.stdout)?;
    Ok(took)
}

/// As an agent does it: each call over a connection of its own.
async fn http_hook(
    program: &Caller,
    number: usize,
) -> Result<Duration, Box<dyn std::error::Error>> {
    let client = Client::builder().no_proxy().pool_max_idle_per_host(0).build()?;
    let request = program.request(Method::POST, "/hooks/claude");
    let request = request.body(ProposedCall::number(number)).build()?;
    let start = Instant::now();
    let said = client.execute(request).await?.bytes().await?;
    let took = start.elapsed();
    must_allow(&said)?;
    Ok(took)
}

fn must_allow(said: &[u8]) -> Result<(), String> {
    let text = String::from_utf8_lossy(said);
    match text.contains(r#""permissionDecision":"allow""#) {
        true => Ok(()),
        false => Err(format!("the hook did not allow: {text}")),
    }
}
