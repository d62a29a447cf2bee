//! A Holdpoint with an MCP server, and a model that calls whatever it is told to.

use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};
use testkit::served::{Caller, PATIENCE, Served};
use tokio::time::{Instant, sleep};

/// A model that calls one of these tools when it is told `call TOOL {…}`, and says what came of it.
pub(crate) fn script(tools: &[&str]) -> String {
    let mut script = String::new();
    for tool in tools {
        script.push_str(&format!(
            "[[turn]]\nwhen = {{ says_regex = '(?s)^call {tool} (\\{{.*\\}})$' }}\n\
             calls = [{{ tool = \"mcp__{tool}\", json = \"{{1}}\" }}]\n\n"
        ));
    }
    for (is_error, word) in [(false, "Done"), (true, "Failed")] {
        script.push_str(&format!(
            "[[turn]]\nwhen = {{ is_error = {is_error} }}\ntext = \"{word}: {{result}}\"\n\n"
        ));
    }
    script
}

/// Everything but the MCP server itself, which `tools` describes.
pub(crate) fn config(tools: &str, rules: &str) -> String {
    format!(
        r#"
@SERVER@
@SCRIPTED@

[[agents]]
id = "worker"
model = "scripted"
tools = ["mcp"]

{tools}

{rules}

[[people]]
id = "ana"
name = "Ana"
roles = ["admin"]
"#
    )
}

pub(crate) const ALLOW: &str = r#"
[[policy.rules]]
name = "all is free"
match = { tool = "mcp__*" }
then = "allow"
"#;

/// A program of the packages that `cargo xtask test --only mcp` installs.
pub(crate) fn npm(package: &str) -> String {
    let modules = PathBuf::from(needed("MCP_NODE_MODULES"));
    modules.join("@modelcontextprotocol").join(package).join("dist/index.js").display().to_string()
}

pub(crate) fn python() -> String {
    needed("MCP_PYTHON")
}

fn needed(variable: &str) -> String {
    std::env::var(variable)
        .unwrap_or_else(|_| panic!("{variable} is not set: run `cargo xtask test --only mcp`"))
}

/// A `[[tools]]` table of a server that is a program.
pub(crate) fn program(argv: &[&str], more: &str) -> String {
    format!("[[tools]]\nname = \"mcp\"\nkind = \"mcp\"\nargv = {}\n{more}\n", json!(argv))
}

/// A `[[tools]]` table of a server that is a service.
pub(crate) fn service(url: &str, more: &str) -> String {
    format!("[[tools]]\nname = \"mcp\"\nkind = \"mcp\"\nurl = {}\n{more}\n", json!(url))
}

/// A server that is about to start, with a folder `room` for its tools.
pub(crate) fn prepare(server: &str, rules: &str, tools: &[&str]) -> Served {
    let served = Served::prepare(&config(server, rules), &script(tools));
    std::fs::create_dir(served.path("room")).expect("a folder");
    served
}

/// Has the model make a call, in a session of its own.
pub(crate) async fn call(caller: &Caller, tool: &str, arguments: &Value) -> String {
    let session = caller.session("worker").await;
    caller.say(&session, &format!("call {tool} {arguments}")).await;
    session
}

/// What the model said in the end.
pub(crate) async fn last_words(caller: &Caller, session: &str) -> String {
    let read = caller.run_is(session, "completed").await;
    let messages = read["messages"].as_array().expect("messages");
    let parts = messages.last().expect("a message")["parts"].as_array().expect("parts");
    parts.iter().filter_map(|part| part["text"].as_str()).collect()
}

/// The names of what the agent is offered.
pub(crate) async fn offered(caller: &Caller) -> Vec<String> {
    let agents = caller.get("/v1/agents").await.must(200);
    let tools = agents["items"][0]["tools"].as_array().cloned().unwrap_or_default();
    tools.iter().filter_map(|tool| tool["name"].as_str().map(str::to_owned)).collect()
}

/// An open hold that is no call's own: a question of the server.
pub(crate) async fn question(caller: &Caller) -> Value {
    let end = Instant::now() + PATIENCE;
    loop {
        let holds = caller.get("/v1/holds?state=pending").await.must(200);
        let found = holds["items"].as_array().and_then(|items| {
            items
                .iter()
                .find(|hold| hold["kind"] != "approve" && hold["session"].is_null())
                .cloned()
        });
        if let Some(found) = found {
            return found;
        }
        assert!(Instant::now() < end, "no question is open: {holds:#}");
        sleep(std::time::Duration::from_millis(20)).await;
    }
}

/// The stub of the client's own tests: it does as badly as it is told.
pub(crate) const STUB: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../tools/src/mcp/tests/stub.py");

/// An MCP server that somebody else started. Dropping it ends it.
pub(crate) struct Service {
    child: Child,
    port: u16,
}

impl Service {
    pub(crate) async fn start(command: impl FnOnce(u16) -> Command) -> Service {
        let port = TcpListener::bind("127.0.0.1:0").and_then(|it| it.local_addr()).expect("a port");
        let port = port.port();
        let mut command = command(port);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let service = Service { child: command.spawn().expect("the server starts"), port };
        let end = Instant::now() + PATIENCE;
        while tokio::net::TcpStream::connect(("127.0.0.1", port)).await.is_err() {
            assert!(Instant::now() < end, "the MCP server does not listen");
            sleep(std::time::Duration::from_millis(20)).await;
        }
        service
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
