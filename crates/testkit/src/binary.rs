//! The real program, started as a child process and ended by its id.

use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tokio::process::{Child, Command};
use tokio::time::{Instant, sleep, timeout};

use crate::http::Api;

/// Where the program is.
#[derive(Clone, Debug)]
pub struct Binary(PathBuf);

impl Binary {
    /// The one that `HOLDPOINT_BIN` names, else the one that was built beside this executable.
    pub fn find() -> Binary {
        Binary::look_for("HOLDPOINT_BIN", "holdpoint", "cargo build -p holdpoint")
    }

    /// The same program with fail points in it. `HOLDPOINT_FAILING_BIN` names it, or it lies beside
    /// this executable.
    pub fn failing() -> Binary {
        let build = "cargo build --workspace --features testkit/failpoints --bin holdpoint-failing";
        Binary::look_for("HOLDPOINT_FAILING_BIN", "holdpoint-failing", build)
    }

    fn look_for(variable: &str, name: &str, build: &str) -> Binary {
        if let Some(named) = std::env::var_os(variable) {
            let named = PathBuf::from(named);
            assert!(named.is_file(), "{variable} names {}, which is no file", named.display());
            return Binary(named);
        }
        let here = std::env::current_exe().expect("an executable knows where it is");
        // A test lies in `deps`, one folder below the programs.
        let beside = here.ancestors().skip(1).take(2).map(|folder| folder.join(name));
        match beside.into_iter().find(|file| file.is_file()) {
            Some(found) => Binary(found),
            None => panic!("there is no `{name}` beside {}: run `{build}`", here.display()),
        }
    }

    /// A program that behaves as ours, such as a script that starts it in other surroundings.
    pub fn at(path: impl Into<PathBuf>) -> Binary {
        Binary(path.into())
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    /// A command of the program that knows nothing of the settings of whoever runs the tests.
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.0);
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("HOLDPOINT_") {
                command.env_remove(name);
            }
        }
        command.stdin(Stdio::null()).kill_on_drop(true);
        command
    }
}

/// A server that was started. Dropping it kills it.
#[derive(Debug)]
pub struct Server {
    child: Child,
    log: PathBuf,
    pid: u32,
}

impl Server {
    /// Starts `holdpoint serve`. What it prints is appended to `log`.
    pub fn start(binary: &Binary, config: &Path, tokens: &Path, log: &Path) -> Server {
        Server::start_told(binary, config, tokens, log, &[])
    }

    /// The same, with more in its environment.
    pub fn start_told(
        binary: &Binary,
        config: &Path,
        tokens: &Path,
        log: &Path,
        told: &[(&str, &str)],
    ) -> Server {
        let out: File = OpenOptions::new().create(true).append(true).open(log).expect("a log");
        let child = binary
            .command()
            .args(["serve", "--config"])
            .arg(config)
            .env("HOLDPOINT_BOOTSTRAP_TOKENS_FILE", tokens)
            .envs(told.iter().copied())
            .stdout(out.try_clone().expect("another handle"))
            .stderr(out)
            .spawn()
            .expect("the program starts");
        let pid = child.id().unwrap_or_default();
        Server { child, log: log.to_owned(), pid }
    }

    /// Returns when the server takes requests, or says why it does not.
    pub async fn ready(&mut self, api: &Api, within: Duration) -> Result<(), String> {
        let until = Instant::now() + within;
        loop {
            if let Ok(Some(status)) = self.child.try_wait() {
                return Err(format!(
                    "the server ended by itself ({status}); its last words:\n{}",
                    self.last_words()
                ));
            }
            if api.get("/readyz").await.is_ok_and(|reply| reply.status == 200) {
                return Ok(());
            }
            if Instant::now() > until {
                let words = self.last_words();
                return Err(format!(
                    "the server is not ready after {within:?}; its last words:\n{words}"
                ));
            }
            sleep(Duration::from_millis(4)).await;
        }
    }

    pub fn id(&self) -> u32 {
        self.child.id().unwrap_or_default()
    }

    /// The id that it has, or had.
    pub fn started_as(&self) -> u32 {
        self.pid
    }

    /// Waits until it ends by itself. Whoever stops waiting may wait again.
    pub async fn ended(&mut self) -> ExitStatus {
        self.child.wait().await.expect("a child can be waited for")
    }

    pub fn signal(&self, signal: Signal) -> Result<(), String> {
        let id = self.child.id().ok_or("it has ended already")?;
        kill(Pid::from_raw(id as i32), signal).map_err(|error| error.to_string())
    }

    /// SIGKILL, and waits until it is gone.
    pub async fn kill(mut self) {
        self.child.kill().await.expect("a child can be killed");
    }

    /// SIGTERM, as an operator stops it.
    pub async fn stop(mut self, within: Duration) -> Result<ExitStatus, String> {
        if let Some(id) = self.child.id() {
            kill(Pid::from_raw(id as i32), Signal::SIGTERM).map_err(|error| error.to_string())?;
        }
        match timeout(within, self.child.wait()).await {
            Ok(status) => status.map_err(|error| error.to_string()),
            Err(_) => {
                Err(format!("the server did not stop within {within:?}:\n{}", self.last_words()))
            }
        }
    }

    pub fn last_words(&self) -> String {
        let text = std::fs::read(&self.log).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let from = text.len().saturating_sub(4_000);
        text[text.ceil_char_boundary(from)..].to_owned()
    }
}
