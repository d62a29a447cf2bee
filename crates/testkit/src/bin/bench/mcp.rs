//! What the gate adds to a call that a rule allows, over pipes and over HTTP, and what calls that wait for people cost.
//!
//! The upstream is this program itself: it answers at once, so that what is left is ours. What is subtracted is the same call to
//! the upstream without us, and over HTTP also a plain request to the same server. Each of these is a row of its own, too.

use std::io::{BufRead as _, Write as _};
use std::process::Stdio;
use std::time::{Duration, Instant};

use futures_util::future::try_join_all;
use reqwest::{Client, Method, Response};
use serde_json::{Value, json};
use testkit::served::{Caller, Served};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use crate::goal::Goal;
use crate::machine::resident_of;
use crate::report::{Report, Row, percentile};

/// The word with which this program is started as an upstream.
pub(crate) const UPSTREAM: &str = "mcp-upstream";
const WAITING: usize = 200;
/// One session takes as many calls and no more; clients have a few each.
const WAITING_SESSIONS: usize = 4;
type Failure = Box<dyn std::error::Error>;

const CONFIG: &str = r#"
[server]
listen = "127.0.0.1:@PORT@"

[store]
url = "sqlite:data"

[[people]]
id = "ana"
roles = ["admin"]

[policy]
default = "ask"

[[policy.rules]]
name = "echoes are free"
match = { tool = "bench__echo" }
then = "allow"

[mcp.upstreams.bench]
argv = ["@UPSTREAM@", "mcp-upstream"]
"#;

/// Answers each request at once, until its input ends.
pub(crate) fn answer_as_upstream() -> std::io::Result<()> {
    let tool = |name: &str| json!({"name": name, "inputSchema": {"type": "object"}});
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let message: Value = serde_json::from_str(&line?).unwrap_or_default();
        let result = match message["method"].as_str() {
            Some("initialize") => json!({
                "protocolVersion": message["params"]["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "bench", "version": "1"},
            }),
            Some("tools/list") => json!({"tools": [tool("echo"), tool("write")]}),
            Some(_) => json!({"content": [{"type": "text", "text": "done"}]}),
            None => continue,
        };
        if !message["id"].is_null() {
            let answer = json!({"jsonrpc": "2.0", "id": message["id"], "result": result});
            writeln!(out, "{answer}")?;
            out.flush()?;
        }
    }
    Ok(())
}

pub(crate) async fn run(quick: bool, report: &Report) -> Result<(), Failure> {
    let calls = if quick { 50 } else { 2_000 };
    let upstream = std::env::current_exe()?.display().to_string();
    let mut served = Served::start(&CONFIG.replace("@UPSTREAM@", &upstream), "").await;
    let program = served.program();

    let mut bare = Pipe::start(Command::new(&upstream).arg(UPSTREAM)).await?;
    let mut proxy = Pipe::start(&mut proxy_command(&served, &program, &upstream)).await?;
    let http = HttpSession::start(&program).await?;
    let (mut direct, mut proxied, mut over_http, mut plain) = (vec![], vec![], vec![], vec![]);
    for number in 1..=calls {
        direct.push(bare.call("echo", number).await?);
        proxied.push(proxy.call("echo", number).await?);
        plain.push(http.plain().await?);
        over_http.push(http.call(number).await?);
    }
    let raw = [
        ("an allowed call over stdio, the upstream itself", &direct),
        ("an allowed call over stdio, through `holdpoint mcp proxy`", &proxied),
        ("a plain request over HTTP, `GET /v1/me`", &plain),
        ("an allowed call over HTTP, through `/mcp/NAME`", &over_http),
    ];
    for (what, times) in raw {
        for p in [50, 99] {
            report.row(Row::new("mcp", format!("{what}, p{p}"), percentile(times, p), "ms"));
        }
    }
    let added = |with: &[Duration], without: &[&[Duration]], p| {
        percentile(with, p) - without.iter().map(|times| percentile(times, p)).sum::<f64>()
    };
    for (p, most) in [(50, 1.0), (99, 5.0)] {
        let what = format!("added to an allowed call over stdio, p{p}");
        let figure = added(&proxied, &[&direct], p);
        report.row(Row::new("mcp", what, figure, "ms").goal(Goal::at_most(most)));
    }
    for (p, most) in [(50, 1.0), (99, 5.0)] {
        let what = format!("added to an allowed call over HTTP, beyond a plain request, p{p}");
        let figure = added(&over_http, &[&direct, &plain], p);
        report.row(Row::new("mcp", what, figure, "ms").goal(Goal::at_most(most)));
    }
    waiting_over_stdio(&served, &mut proxy, report).await?;
    waiting_over_http(&served, &program, report).await?;
    drop((bare, proxy, http));
    served.stop().await;
    Ok(())
}

async fn waiting_over_stdio(
    served: &Served,
    proxy: &mut Pipe,
    report: &Report,
) -> Result<(), Failure> {
    let before = resident_of(&served.id().to_string())?;
    for number in 0..WAITING {
        proxy.send("write", 1_000_000 + number).await?;
    }
    wait_for_holds(served, WAITING).await?;
    let process = proxy.child.id().ok_or("the proxy is gone")?;
    let figure = resident_of(&process.to_string())?;
    let what = format!("the proxy with {WAITING} calls that wait for people");
    report.row(Row::new("mcp", what, figure, "MB").goal(Goal::at_most(60.0)));
    let grown = resident_of(&served.id().to_string())? - before;
    let what = format!("the server's growth while {WAITING} calls of the proxy wait");
    report.row(Row::new("mcp", what, grown, "MB"));
    Ok(())
}

/// Each call has its stream: the server sends its head after a while, and events as long as the call waits.
async fn waiting_over_http(
    served: &Served,
    program: &Caller,
    report: &Report,
) -> Result<(), Failure> {
    let before = resident_of(&served.id().to_string())?;
    let sessions = (0..WAITING_SESSIONS).map(|_| HttpSession::start(program));
    let sessions = try_join_all(sessions).await?;
    let posts = (0..WAITING).map(|number| {
        let session = &sessions[number % WAITING_SESSIONS];
        async move { session.post(&call("write", 2_000_000 + number)).await }
    });
    let streams = try_join_all(posts).await?;
    for stream in &streams {
        must_be_a_stream(stream)?;
    }
    // Those of the proxy are among them.
    wait_for_holds(served, 2 * WAITING).await?;
    let grown = resident_of(&served.id().to_string())? - before;
    let what = format!("the server's growth while {WAITING} calls wait at `/mcp/NAME`");
    report.row(Row::new("mcp", what, grown, "MB").goal(Goal::at_most(60.0)));
    drop(streams);
    Ok(())
}

fn proxy_command(served: &Served, program: &Caller, upstream: &str) -> Command {
    let mut command = served.binary().command();
    command
        .args(["mcp", "proxy", "--server", &served.url(), "--name", "bench", "--wait", "10m"])
        .args(["--", upstream, UPSTREAM])
        .env("HOLDPOINT_TOKEN", program.token().unwrap_or_default())
        .env("XDG_STATE_HOME", served.path("state"));
    command
}

/// A server on pipes, past its handshake.
struct Pipe {
    child: Child,
    to: ChildStdin,
    from: Lines<BufReader<ChildStdout>>,
}

impl Pipe {
    async fn start(command: &mut Command) -> Result<Pipe, Failure> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn()?;
        let to = child.stdin.take().ok_or("no standard input")?;
        let from = BufReader::new(child.stdout.take().ok_or("no standard output")?).lines();
        let mut pipe = Pipe { child, to, from };
        pipe.write(&json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello()}))
            .await?;
        pipe.from.next_line().await?;
        pipe.write(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await?;
        Ok(pipe)
    }

    async fn write(&mut self, message: &Value) -> Result<(), Failure> {
        self.to.write_all(format!("{message}\n").as_bytes()).await?;
        Ok(self.to.flush().await?)
    }

    async fn send(&mut self, tool: &str, number: usize) -> Result<(), Failure> {
        self.write(&call(tool, number)).await
    }

    async fn call(&mut self, tool: &str, number: usize) -> Result<Duration, Failure> {
        let start = Instant::now();
        self.send(tool, number).await?;
        let answer = self.from.next_line().await?.unwrap_or_default();
        let took = start.elapsed();
        must_be_done(&answer)?;
        Ok(took)
    }
}

/// A session at the server's own door.
struct HttpSession<'a> {
    client: Client,
    program: &'a Caller,
    session: String,
}

impl HttpSession<'_> {
    async fn start(program: &Caller) -> Result<HttpSession<'_>, Failure> {
        let client = Client::builder().no_proxy().build()?;
        let mut http = HttpSession { client, program, session: String::new() };
        let hello = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello()});
        let reply = http.post(&hello).await?;
        let session = reply.headers().get("mcp-session-id").ok_or("there is no session")?;
        http.session = session.to_str()?.to_owned();
        reply.bytes().await?;
        http.post(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await?;
        Ok(http)
    }

    async fn post(&self, message: &Value) -> Result<Response, Failure> {
        let mut request = self.program.request(Method::POST, "/mcp/bench");
        if !self.session.is_empty() {
            request = request.header("mcp-session-id", &self.session);
        }
        let request = request
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .body(message.to_string());
        Ok(self.client.execute(request.build()?).await?)
    }

    async fn call(&self, number: usize) -> Result<Duration, Failure> {
        let start = Instant::now();
        let answer = self.post(&call("echo", number)).await?.text().await?;
        let took = start.elapsed();
        must_be_done(&answer)?;
        Ok(took)
    }

    /// A request that nothing is done for but to find out who calls.
    async fn plain(&self) -> Result<Duration, Failure> {
        let request = self.program.request(Method::GET, "/v1/me").build()?;
        let start = Instant::now();
        self.client.execute(request).await?.bytes().await?;
        Ok(start.elapsed())
    }
}

fn hello() -> Value {
    json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}})
}

fn call(tool: &str, number: usize) -> Value {
    let params = json!({"name": tool, "arguments": {"number": number}});
    json!({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params})
}

fn must_be_done(answer: &str) -> Result<(), String> {
    match answer.contains("\"done\"") {
        true => Ok(()),
        false => Err(format!("the call was not made: {answer}")),
    }
}

/// What is answered at once does not wait for a person.
fn must_be_a_stream(reply: &Response) -> Result<(), String> {
    let kind = reply.headers().get("content-type").and_then(|kind| kind.to_str().ok());
    match kind.is_some_and(|kind| kind.starts_with("text/event-stream")) {
        true => Ok(()),
        false => Err(format!("a call was answered with {} at once", reply.status())),
    }
}

async fn wait_for_holds(served: &Served, count: usize) -> Result<(), Failure> {
    for _ in 0..600 {
        if pending_holds(served).await? >= count {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    Err("the calls do not wait".into())
}

async fn pending_holds(served: &Served) -> Result<usize, Failure> {
    let admin = served.admin();
    let client = Client::builder().no_proxy().build()?;
    let (mut count, mut cursor) = (0, String::new());
    loop {
        let path = format!("/v1/holds?state=pending&limit=200{cursor}");
        let request = admin.request(Method::GET, &path).build()?;
        let page: Value = serde_json::from_slice(&client.execute(request).await?.bytes().await?)?;
        count += page["items"].as_array().map_or(0, Vec::len);
        match page["next"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return Ok(count),
        }
    }
}
