//! A real server in a temporary directory, and the real command line against it.

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Output, Stdio};
use std::time::Duration;

use holdpoint::cli::client::Client;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};
use tempfile::TempDir;

pub(crate) const BINARY: &str = env!("CARGO_BIN_EXE_holdpoint");

pub(crate) struct Demo {
    server: Child,
    ready: Value,
    pub(crate) data: TempDir,
}

impl Drop for Demo {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// What a command printed and how it ended.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl From<Output> for Ran {
    fn from(output: Output) -> Ran {
        Ran {
            code: output.status.code().expect("it ended by itself"),
            out: String::from_utf8(output.stdout).expect("text"),
            err: String::from_utf8(output.stderr).expect("text"),
        }
    }
}

impl Ran {
    #[track_caller]
    pub(crate) fn ends_with(self, code: i32) -> Ran {
        assert_eq!(self.code, code, "stdout: {}\nstderr: {}", self.out, self.err);
        self
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

/// The command line as a script without a terminal starts it.
pub(crate) fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(BINARY);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.env_remove("HOLDPOINT_TOKEN").env_remove("HOLDPOINT_SERVER");
    // Nor a token that somebody keeps on this machine.
    command.env("XDG_CONFIG_HOME", "/nonexistent");
    command
}

fn serve(address: &str, data: &Path, more: &[&str]) -> (Child, Value) {
    let data = data.to_str().unwrap();
    let mut server = command(&["demo", "--json", "--listen", address, "--data", data])
        .args(more)
        .stderr(Stdio::inherit())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let ready = serde_json::from_str(&line)
        .unwrap_or_else(|error| panic!("the demo's first line is {line:?}: {error}"));
    (server, ready)
}

impl Demo {
    pub(crate) fn start() -> Demo {
        Demo::start_with(&[])
    }

    pub(crate) fn start_with(more: &[&str]) -> Demo {
        let data = tempfile::tempdir().unwrap();
        let (server, ready) = serve("127.0.0.1:0", data.path(), more);
        Demo { server, ready, data }
    }

    /// Kills the server as hard as it can be killed, and starts it again on the same data.
    pub(crate) fn restart(&mut self) {
        self.server.kill().unwrap();
        self.server.wait().unwrap();
        let address = self.url().strip_prefix("http://").unwrap().to_owned();
        (self.server, self.ready) = serve(&address, self.data.path(), &[]);
    }

    pub(crate) fn ready(&self) -> &Value {
        &self.ready
    }

    fn text(&self, key: &str) -> &str {
        self.ready[key].as_str().unwrap_or_else(|| panic!("no `{key}` in {}", self.ready))
    }

    pub(crate) fn url(&self) -> &str {
        self.text("url")
    }

    pub(crate) fn person(&self) -> &str {
        self.text("person")
    }

    /// A command of the demo's person.
    pub(crate) fn person_runs(&self, arguments: &[&str]) -> Ran {
        self.command(self.text("person_token"), arguments).output().unwrap().into()
    }

    /// A command of a program.
    pub(crate) fn program_runs(&self, arguments: &[&str]) -> Ran {
        self.command(self.text("program_token"), arguments).output().unwrap().into()
    }

    pub(crate) fn command(&self, token: &str, arguments: &[&str]) -> Command {
        let mut command = command(arguments);
        command.env("HOLDPOINT_SERVER", self.url()).env("HOLDPOINT_TOKEN", token);
        command
    }

    /// A command of a program that asks people and waits.
    pub(crate) fn program_asks(&self, arguments: &[&str]) -> Asking {
        Asking::start(self.command(self.text("program_token"), arguments))
    }

    pub(crate) fn client(&self) -> Client {
        Client::with_token(self.url(), Some(self.text("person_token").to_owned())).unwrap()
    }

    pub(crate) async fn hold(&self, id: &str) -> Value {
        self.client().hold(id.parse().unwrap()).await.unwrap()
    }

    /// Says a scenario to the demo's agent and gives the hold that it opens.
    pub(crate) async fn scenario(&self, name: &str) -> Value {
        let scenarios = self.ready["scenarios"].as_array().unwrap();
        let scenario = scenarios.iter().find(|scenario| scenario["name"] == name);
        let say = &scenario.unwrap_or_else(|| panic!("no scenario {name}"))["say"];
        let client = self.client();
        let session =
            client.post("/v1/sessions", &json!({"agent": self.ready["agent"]})).await.unwrap();
        let id = session["id"].as_str().unwrap();
        let path = format!("/v1/sessions/{id}/messages");
        client.post(&path, &json!({"text": say})).await.unwrap();
        first_pending(&client, id).await
    }
}

/// The first hold that opens in a session.
pub(crate) async fn first_pending(client: &Client, session: &str) -> Value {
    for _ in 0..1500 {
        let list = format!("/v1/holds?state=pending&session={session}");
        let holds = client.get(&list).await.unwrap();
        if let Some(hold) = holds["items"].as_array().and_then(|items| items.first()) {
            return hold.clone();
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("the session {session} opened no hold");
}

/// A command that has put its question and waits.
pub(crate) struct Asking {
    child: Child,
    stderr: BufReader<ChildStderr>,
    /// Everything that it said so far.
    said: String,
    pub(crate) hold: String,
}

impl Asking {
    pub(crate) fn start(mut command: Command) -> Asking {
        let mut child = command.spawn().unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let mut said = String::new();
        stderr.read_line(&mut said).unwrap();
        let hold = said
            .strip_prefix("Asked: ")
            .and_then(|rest| rest.split(' ').next())
            .unwrap_or_else(|| panic!("it did not ask: {said}"))
            .to_owned();
        Asking { child, stderr, said, hold }
    }

    /// Waits until it says this on standard error.
    pub(crate) fn says(&mut self, words: &str) {
        let from = self.said.len();
        while !self.said[from..].contains(words) {
            let read = self.stderr.read_line(&mut self.said).unwrap();
            assert!(read > 0, "it never said {words:?}: {}", self.said);
        }
    }

    pub(crate) fn interrupt(&self) {
        let pid = Pid::from_raw(i32::try_from(self.child.id()).unwrap());
        kill(pid, Signal::SIGINT).unwrap();
    }

    pub(crate) fn ended(mut self) -> Ran {
        self.stderr.read_to_string(&mut self.said).unwrap();
        let output = self.child.wait_with_output().unwrap();
        Ran { err: self.said, ..Ran::from(output) }
    }
}
