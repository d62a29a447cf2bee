//! A judge: a program beside us that speaks JSON, one object a line.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

/// Python or Node and an SDK take seconds to begin on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

fn judges() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/channels/judges")
}

pub(crate) struct Judge {
    /// Killed when it is dropped.
    _child: Child,
    stdin: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Judge {
    /// `variable` names the Python in which the platform's packages are installed.
    pub(crate) fn start(platform: &str, variable: &str, words: &[&str]) -> Judge {
        Judge::with(platform, variable, words, &[])
    }

    pub(crate) fn with(
        platform: &str,
        variable: &str,
        words: &[&str],
        environment: &[(&str, &str)],
    ) -> Judge {
        let python: OsString = std::env::var_os(variable).unwrap_or_else(|| {
            panic!("{variable} is not set; `cargo xtask test --only channels` sets it")
        });
        let mut command = Command::new(python);
        command.arg("-B").arg(judges().join(platform).join("judge.py")).args(words);
        command.envs(environment.iter().copied());
        Judge::begin(command)
    }

    /// `variable` names the folder in which the platform's packages for Node are installed.
    pub(crate) fn node(platform: &str, variable: &str, words: &[&str]) -> Judge {
        let modules: OsString = std::env::var_os(variable).unwrap_or_else(|| {
            panic!("{variable} is not set; `cargo xtask test --only channels` sets it")
        });
        let mut command = Command::new("node");
        command.arg(judges().join(platform).join("judge.mjs")).args(words);
        command.env("NODE_MODULES", modules);
        Judge::begin(command)
    }

    fn begin(mut command: Command) -> Judge {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("the judge starts");
        let stdin = child.stdin.take().expect("piped");
        let lines = BufReader::new(child.stdout.take().expect("piped")).lines();
        Judge { _child: child, stdin, lines }
    }

    pub(crate) async fn ask(&mut self, line: &Value) -> Value {
        self.tell(line).await;
        self.hear().await
    }

    pub(crate) async fn tell(&mut self, line: &Value) {
        self.stdin.write_all(format!("{line}\n").as_bytes()).await.expect("the judge reads");
        self.stdin.flush().await.expect("the judge reads");
    }

    pub(crate) async fn hear(&mut self) -> Value {
        let line = tokio::time::timeout(PATIENCE, self.lines.next_line()).await;
        let line = line.expect("the judge is silent").expect("a pipe");
        let line = line.expect("the judge has ended; see above");
        serde_json::from_str(&line).unwrap_or_else(|_| panic!("not JSON: {line}"))
    }
}
