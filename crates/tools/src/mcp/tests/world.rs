//! A stub server in a folder of its own, and calls to it that are cleared as the engine clears them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use domain::call::{Call, Proposal};
use domain::digest::Digest;
use domain::id::CallId;
use domain::json::Arguments;
use domain::outcome::Outcome;
use ports::nested_question::NestedAsker;
use ports::tool_host::{PrepareError, Prepared, ToolHost};
use ports::toolbox::Toolbox;
use serde_json::Value;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use crate::cleared::{clear_call, open_gate};
use crate::mcp::{McpConfig, McpEndpoint, McpServer};
use crate::process::{Environment, Runner, Spool};

pub(super) struct World {
    pub(super) folder: TempDir,
    pub(super) server: McpServer,
    service: Option<Child>,
}

impl Drop for World {
    fn drop(&mut self) {
        if let Some(service) = &mut self.service {
            let _ = service.kill();
            let _ = service.wait();
        }
    }
}

impl McpServer {
    pub(super) fn boxed_len(&self) -> usize {
        self.boxed_tools().hosts.len()
    }
}

fn stub() -> String {
    concat!(env!("CARGO_MANIFEST_DIR"), "/src/mcp/tests/stub.py").to_owned()
}

/// What must come, comes within this, also on a busy machine.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);

impl World {
    pub(super) async fn start(habits: &[&str]) -> World {
        World::with(habits, |_| {}).await
    }

    pub(super) async fn with(habits: &[&str], change: impl FnOnce(&mut McpConfig)) -> World {
        World::within(tempfile::tempdir().unwrap(), habits, change).await
    }

    /// In a folder in which there may be pins already.
    pub(super) async fn within(
        folder: TempDir,
        habits: &[&str],
        change: impl FnOnce(&mut McpConfig),
    ) -> World {
        let mut argv = vec!["python3".to_owned(), "-B".into(), stub()];
        argv.push(folder.path().display().to_string());
        argv.extend(habits.iter().map(|habit| (*habit).to_owned()));
        let mut service = None;
        let reach = if habits.contains(&"http") {
            let _ = std::fs::remove_file(folder.path().join("port"));
            let child = Command::new(&argv[0]).args(&argv[1..]).stdin(Stdio::null()).spawn();
            service = Some(child.unwrap());
            let port = until(|| std::fs::read_to_string(folder.path().join("port")).ok()).await;
            let headers = vec![("Authorization".to_owned(), "Bearer stub-secret".to_owned())];
            McpEndpoint::Service { url: format!("http://127.0.0.1:{port}/mcp"), headers }
        } else {
            let set = BTreeMap::from([("STUB_KEY".to_owned(), "stub-key-value".to_owned())]);
            let environment = Environment::new(vec![], set).unwrap();
            McpEndpoint::Program { argv, cwd: folder.path().to_owned(), environment, run_as: None }
        };
        let mut config = McpConfig::new("mcp", reach);
        change(&mut config);
        let runner = runner(folder.path());
        let server = McpServer::open(config, &folder.path().join("pins"), runner).unwrap();
        server.first_look().await;
        World { folder, server, service }
    }

    pub(super) async fn close(self) -> TempDir {
        self.server.close().await;
        let mut this = std::mem::ManuallyDrop::new(self);
        if let Some(service) = &mut this.service {
            let _ = service.kill();
            let _ = service.wait();
        }
        std::mem::replace(&mut this.folder, tempfile::tempdir().unwrap())
    }

    pub(super) fn write(&self, name: &str, text: &str) {
        let new = self.folder.path().join(format!("{name}.new"));
        std::fs::write(&new, text).unwrap();
        std::fs::rename(new, self.folder.path().join(name)).unwrap();
    }

    /// From now on these are the server's tools.
    pub(super) fn show(&self, tools: Value) {
        self.write("tools.json", &tools.to_string());
    }

    pub(super) fn notes(&self) -> Vec<String> {
        let notes = std::fs::read_to_string(self.folder.path().join("notes")).unwrap_or_default();
        notes.lines().map(str::to_owned).collect()
    }

    pub(super) fn offered(&self) -> Vec<String> {
        self.server.boxed_tools().offered.iter().map(|name| name.to_string()).collect()
    }

    pub(super) fn host(&self, tool: &str) -> Arc<dyn ToolHost> {
        let name = format!("mcp__{tool}");
        let in_box = self.server.boxed_tools();
        in_box.hosts.get(name.as_str()).cloned().unwrap_or_else(|| panic!("no {name}"))
    }

    pub(super) async fn prepare(&self, tool: &str) -> Result<Prepared, PrepareError> {
        self.host(tool).prepare(&Arguments::parse(b"{}").unwrap()).await
    }

    pub(super) async fn run(&self, tool: &str, arguments: Value) -> Outcome {
        self.run_text(tool, &arguments.to_string()).await
    }

    pub(super) async fn run_text(&self, tool: &str, arguments: &str) -> Outcome {
        run(&self.host(tool), arguments, None, CancellationToken::new()).await
    }

    pub(super) async fn run_asking(&self, tool: &str, asker: &dyn NestedAsker) -> Outcome {
        run(&self.host(tool), "{}", Some(asker), CancellationToken::new()).await
    }
}

fn runner(folder: &Path) -> Runner {
    Runner::open(Spool::open(folder.join("spool")).unwrap(), None)
}

/// Proposes, clears and runs a call of exactly this host.
pub(super) async fn run(
    host: &Arc<dyn ToolHost>,
    arguments: &str,
    asker: Option<&dyn NestedAsker>,
    stop: CancellationToken,
) -> Outcome {
    let arguments = Arguments::parse(arguments.as_bytes()).unwrap();
    let context = host.prepare(&arguments).await.map(|prepared| prepared.context);
    let proposal = Proposal {
        id: CallId::new(1, 7),
        tool_use_id: "t1".into(),
        agent: "a".into(),
        session: None,
        arguments,
        context: context.unwrap_or_default(),
        policy: Digest::of(b"p"),
    };
    let call = clear_call(Call::propose(proposal, host.tool()), 1);
    let ran = match asker {
        Some(asker) => host.run_asking(call, asker, open_gate(), stop).await,
        None => host.run(call, open_gate(), stop).await,
    };
    ran.unwrap()
}

#[track_caller]
pub(super) fn succeeded(outcome: Outcome) -> String {
    match outcome {
        Outcome::Succeeded(output) => output.text,
        other => panic!("{other:?}"),
    }
}

#[track_caller]
pub(super) fn failed(outcome: Outcome) -> String {
    match outcome {
        Outcome::Failed(output) => output.text,
        other => panic!("{other:?}"),
    }
}

#[track_caller]
pub(super) fn unknown(outcome: Outcome) -> String {
    match outcome {
        Outcome::Unknown { evidence } => evidence,
        other => panic!("{other:?}"),
    }
}

pub(super) async fn until<T>(look: impl Fn() -> Option<T>) -> T {
    let waited = tokio::time::timeout(PATIENCE, async {
        loop {
            if let Some(found) = look() {
                return found;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    });
    waited.await.expect("it comes in time")
}

pub(super) fn is_alive(pid: &str) -> bool {
    let stat = std::fs::read_to_string(PathBuf::from("/proc").join(pid).join("stat"));
    stat.is_ok_and(|stat| !stat.rsplit(')').next().unwrap_or_default().starts_with(" Z"))
}
