//! What a coding agent waits for before a call that a rule allows: from the start of the hook's process to its end,
//! and over HTTP from the request to the reply. Beside it what a start of the program and a plain request cost by themselves.

use std::process::Stdio;
use std::time::{Duration, Instant};

use reqwest::{Client, Method, Request};
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
    let mut starts = Vec::with_capacity(calls);
    let mut plain = Vec::with_capacity(calls);
    for number in 0..calls {
        starts.push(program_start(&served).await?);
        by_command.push(command_hook(&served, &program, number).await?);
        plain.push(plain_request(&program).await?);
        by_http.push(http_hook(&program, calls + number).await?);
    }
    let row = |what: &str, times: &[Duration], p| {
        Row::new("hooks", format!("{what}, p{p}"), percentile(times, p), "ms")
    };
    let command = "command hook, process start → answer, allowed by a rule";
    report.row(row(command, &by_command, 50).goal(Goal::at_most(40.0)));
    report.row(row(command, &by_command, 99));
    let others = [
        ("the same program, start → end, nothing done (`--version`)", &starts),
        ("HTTP hook, new connection → answer, allowed by a rule", &by_http),
        ("a plain request, new connection → reply (`GET /v1/me`)", &plain),
    ];
    for (what, times) in others {
        for p in [50, 99] {
            report.row(row(what, times, p));
        }
    }
    served.stop().await;
    Ok(())
}

/// What of the command hook is the start and the end of a process.
async fn program_start(served: &Served) -> Result<Duration, Box<dyn std::error::Error>> {
    let start = Instant::now();
    let mut version = served.binary().command();
    let ended = version.arg("--version").stdin(Stdio::null()).output().await?;
    let took = start.elapsed();
    match ended.status.success() {
        true => Ok(took),
        false => Err("the program does not say its version".into()),
    }
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
    let request = program.request(Method::POST, "/hooks/claude");
    let request = request.body(ProposedCall::number(number)).build()?;
    let (took, said) = send_alone(request).await?;
    must_allow(&said)?;
    Ok(took)
}

/// What of the HTTP hook is a connection and a request for which nothing is done but to find out who calls.
async fn plain_request(program: &Caller) -> Result<Duration, Box<dyn std::error::Error>> {
    let (took, said) = send_alone(program.request(Method::GET, "/v1/me").build()?).await?;
    match serde_json::from_slice::<serde_json::Value>(&said)?.get("kind") {
        Some(_) => Ok(took),
        None => Err("the server does not say who calls".into()),
    }
}

/// Over a connection of its own.
async fn send_alone(request: Request) -> Result<(Duration, Vec<u8>), Box<dyn std::error::Error>> {
    let client = Client::builder().no_proxy().pool_max_idle_per_host(0).build()?;
    let start = Instant::now();
    let body = client.execute(request).await?.bytes().await?;
    Ok((start.elapsed(), body.into()))
}

fn must_allow(said: &[u8]) -> Result<(), String> {
    let text = String::from_utf8_lossy(said);
    match text.contains(r#""permissionDecision":"allow""#) {
        true => Ok(()),
        false => Err(format!("the hook did not allow: {text}")),
    }
}
