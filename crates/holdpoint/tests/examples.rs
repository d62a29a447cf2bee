//! The examples, as a reader runs them: real processes with real input.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};

/// Cargo builds the examples together with the tests, beside the program itself.
fn example(name: &str) -> Command {
    let program = PathBuf::from(env!("CARGO_BIN_EXE_holdpoint"));
    let path = program.parent().expect("a folder").join("examples").join(name);
    assert!(path.is_file(), "{} is not built; `cargo test -p holdpoint` builds it", path.display());
    Command::new(path)
}

/// What it says when it is told this.
fn told(name: &str, input: &str) -> String {
    let mut child = example(name)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the example starts");
    child.stdin.take().expect("a pipe").write_all(input.as_bytes()).expect("it listens");
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn the_smallest_asks_in_the_terminal_and_does_what_it_is_told() {
    let approved = told("smallest", "y\n");
    for line in ["asks: approve", "│ refund", "│ order: 7", "│ amount: 1250"] {
        assert!(approved.contains(line), "{line} is not in {approved}");
    }
    assert!(approved.ends_with("1250 cents were paid back for order 7\n"), "{approved}");
    for no in ["n\n", "yes please\n", ""] {
        let denied = told("smallest", no);
        assert!(denied.ends_with("Denied by ana: not now\n"), "{no:?}: {denied}");
    }
}

#[test]
fn own_policy_allows_asks_and_denies_by_code() {
    let said = told("own_policy", "");
    for line in [
        "Buy a cup for 12: {\"street\":\"Main Street 1\",\"zip\":\"80331\"} | card 4711 | ordered a cup for 12 euros",
        "| ordered a chair for 900 euros",
        "| Denied by rule \"credit line 1\".",
        "Cleo: you may see this, but not do it:",
    ] {
        assert!(said.contains(line), "{line} is not in {said}");
    }
    assert_eq!(said.matches("Bea approves").count(), 1, "{said}");
}

/// The stream of one turn, as the Messages API sends it: this block, and this reason to stop.
fn streamed(start: Value, delta: Value, reason: &str) -> String {
    let events = [
        json!({"type": "message_start", "message": {"id": "msg_1", "type": "message", "content": [],
            "stop_reason": null, "usage": {"input_tokens": 10, "output_tokens": 1}}}),
        json!({"type": "content_block_start", "index": 0, "content_block": start}),
        json!({"type": "content_block_delta", "index": 0, "delta": delta}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": null},
            "usage": {"output_tokens": 15}}),
        json!({"type": "message_stop"}),
    ];
    let event =
        |event: &Value| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap());
    events.iter().map(event).collect()
}

/// What a model says that wants to make a table, and then tells what came of it.
async fn think(
    headers: axum::http::HeaderMap,
    axum::Json(request): axum::Json<Value>,
) -> ([(&'static str, &'static str); 1], String) {
    assert_eq!(headers["x-api-key"], "a key of the test");
    assert_eq!(request["max_tokens"], 4_000);
    let last = request["messages"].as_array().and_then(|all| all.last()).expect("a message");
    let result =
        last["content"].as_array().into_iter().flatten().find(|it| it["type"] == "tool_result");
    let body = match result {
        None => {
            let sql = json!({"sql": "CREATE TABLE visits (day TEXT)"}).to_string();
            let start = json!({"type": "tool_use", "id": "c1", "name": "sql_modify", "input": {}});
            streamed(start, json!({"type": "input_json_delta", "partial_json": sql}), "tool_use")
        }
        Some(result) => {
            let text = format!("It is made: {}", result["content"]);
            let start = json!({"type": "text", "text": ""});
            streamed(start, json!({"type": "text_delta", "text": text}), "end_turn")
        }
    };
    ([("content-type", "text/event-stream")], body)
}

#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "the test's runtime ends it")]
async fn own_store_asks_a_vendors_model_and_keeps_what_happened_itself() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let routes = axum::Router::new().route("/v1/messages", axum::routing::post(think));
    let serving = tokio::spawn(async { axum::serve(listener, routes).await });
    let run = |key: Option<&'static str>| {
        let mut command = example("own_store");
        command.arg(&url).env_remove("ANTHROPIC_API_KEY");
        command.envs(key.map(|key| ("ANTHROPIC_API_KEY", key)));
        tokio::task::spawn_blocking(move || command.output().expect("it runs"))
    };
    let output = run(Some("a key of the test")).await.expect("it ends");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{output:?}");
    for line in ["CREATE TABLE visits (day TEXT)", "It is made:", "the next Holdpoint remembers"] {
        assert!(said.contains(line), "{line} is not in {said}");
    }
    assert!(!said.contains("remembers 0 events"), "{said}");
    let keyless = run(None).await.expect("it ends");
    let why = String::from_utf8_lossy(&keyless.stderr).into_owned();
    assert!(!keyless.status.success());
    assert!(why.contains("the environment variable `ANTHROPIC_API_KEY` is not set"), "{why}");
    serving.abort();
}

/// An example that serves, until it is told to stop.
struct Served {
    child: Child,
    out: BufReader<std::process::ChildStdout>,
}

impl Served {
    fn start(mut command: Command) -> Served {
        let mut child = command.stdout(Stdio::piped()).spawn().expect("the example starts");
        let out = BufReader::new(child.stdout.take().expect("a pipe"));
        Served { child, out }
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.out.read_line(&mut line).expect("it speaks");
        line.trim_end().to_owned()
    }

    /// Asks it to stop as Ctrl-C does, and gives what it still says.
    fn stop(mut self) -> String {
        let id = i32::try_from(self.child.id()).expect("a process");
        kill(Pid::from_raw(id), Signal::SIGINT).expect("it is there");
        let mut rest = String::new();
        self.out.read_to_string(&mut rest).expect("it ends");
        assert!(self.child.wait().expect("it ends").success());
        rest
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

struct Browser {
    client: reqwest::Client,
    url: String,
    /// The login's cookie and its proof, or the name that a proxy would vouch for.
    headers: Vec<(&'static str, String)>,
}

impl Browser {
    fn client() -> reqwest::Client {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let no_redirect = reqwest::redirect::Policy::none();
        reqwest::Client::builder().no_proxy().redirect(no_redirect).build().expect("a client")
    }

    /// Opens a login link and presses the button.
    async fn log_in(link: &str) -> Browser {
        let client = Browser::client();
        let (url, code) = link.split_once("/login?code=").expect("a login link");
        let reply = client
            .post(format!("{url}/login"))
            .header("content-type", "application/x-www-form-urlencoded")
            .body(format!("code={code}"))
            .send()
            .await
            .expect("a reply");
        assert_eq!(reply.status(), 303);
        let cookie = reply.headers()["set-cookie"].to_str().expect("text");
        let cookie = cookie.split(';').next().expect("a cookie").to_owned();
        let mut browser = Browser { client, url: url.into(), headers: vec![("cookie", cookie)] };
        let csrf = browser.get("/v1/me").await["csrf"].as_str().expect("a proof").to_owned();
        browser.headers.push(("x-holdpoint-csrf", csrf));
        browser
    }

    async fn get(&self, path: &str) -> Value {
        self.send(self.client.get(format!("{}{path}", self.url))).await
    }

    async fn post(&self, path: &str, body: Value) -> Value {
        self.send(self.client.post(format!("{}{path}", self.url)).json(&body)).await
    }

    async fn send(&self, mut request: reqwest::RequestBuilder) -> Value {
        for (name, value) in &self.headers {
            request = request.header(*name, value);
        }
        let reply = request.send().await.expect("a reply");
        let (status, text) = (reply.status(), reply.text().await.expect("a body"));
        assert!(status.is_success(), "{status}: {text}");
        serde_json::from_str(&text).unwrap_or(Value::String(text))
    }

    /// Approves a hold and waits for what comes of it.
    async fn approve(&self, hold: &Value) -> Value {
        let id = hold["id"].as_str().expect("an id");
        let body = json!({"answer": {"verdict": "approve"}, "digest": hold["digest"]});
        self.post(&format!("/v1/holds/{id}/answer"), body).await;
        self.get(&format!("/v1/holds/{id}/wait?until=settled&timeout_s=30")).await
    }

    async fn one_hold(&self) -> Value {
        let holds = self.get("/v1/holds?mine=true").await;
        match holds["items"].as_array().map(Vec::as_slice) {
            Some([hold]) => hold.clone(),
            _ => panic!("one hold, and not {holds}"),
        }
    }
}

#[tokio::test]
async fn web_serves_two_agents_and_remembers_over_a_restart() {
    let data = tempfile::tempdir().expect("a folder");
    let start = || {
        let mut command = example("web");
        command.arg(data.path());
        Served::start(command)
    };
    let link = |line: String| line.split_once(": ").expect("a link").1.to_owned();
    let mut served = start();
    let ana = Browser::log_in(&link(served.line())).await;
    let agents = ana.get("/v1/me").await["agents"].clone();
    assert_eq!(agents, json!(["clerk", "ops"]));
    let session = ana.post("/v1/sessions", json!({"agent": "ops"})).await;
    let messages = format!("/v1/sessions/{}/messages", session["id"].as_str().expect("an id"));
    // As a stream, which ends when the run pauses.
    let say = ana.client.post(format!("{}{messages}", ana.url));
    let say = say.header("accept", "text/event-stream").json(&json!({"text": "Deploy shop 4.2"}));
    let stream = ana.send(say).await;
    assert!(stream.as_str().is_some_and(|text| text.contains("run.paused")), "{stream}");
    let hold = ana.one_hold().await;
    assert_eq!(hold["title"], "Deploy shop 4.2");
    assert_eq!(hold["preview"]["summary"], "shop 4.2 would be release 1");
    assert!(served.stop().ends_with("closed\n"));
    assert!(!data.path().join("releases.log").exists(), "nothing was deployed yet");

    let mut served = start();
    served.line();
    let bob = Browser::log_in(&link(served.line())).await;
    let settled = bob.approve(&bob.one_hold().await).await;
    assert_eq!(settled["outcome"]["result"], "shop 4.2 is live", "{settled}");
    served.stop();
    let log = std::fs::read_to_string(data.path().join("releases.log")).expect("a release");
    assert_eq!(log.lines().count(), 1, "{log}");
}

#[tokio::test]
async fn mounted_serves_both_and_takes_the_programs_word() {
    let mut served = Served::start(example("mounted"));
    let url = served.line().strip_prefix("listening on ").expect("an address").to_owned();
    let as_user = |user: &str| Browser {
        client: Browser::client(),
        url: url.clone(),
        headers: vec![("x-user", user.to_owned())],
    };
    let ana = as_user("ana");
    assert_eq!(ana.get("/invoices").await, "two invoices are overdue");
    let stranger = Browser::client().post(format!("{url}/remind/bob")).header("x-user", "eve");
    assert_eq!(stranger.send().await.expect("a reply").status(), 401);
    let waits = ana.post("/remind/bob", json!({})).await;
    assert!(waits.as_str().is_some_and(|text| text.contains("waits for approval")), "{waits}");
    let settled = ana.approve(&ana.one_hold().await).await;
    assert_eq!(settled["outcome"]["result"], "bob was reminded");
    assert!(served.stop().ends_with("closed\n"));
}
