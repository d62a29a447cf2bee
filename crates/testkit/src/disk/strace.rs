//! A running server whose calls to the system fail, wait, kill it, or are only written down.
//!
//! `strace` comes and goes while the server runs, so a fault has an end without a restart. It counts
//! the calls of each thread by themselves; the store has one thread that writes.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tokio::process::{Child, Command};
use tokio::time::{Instant, sleep, timeout};

use super::trace::Trace;

const WITHIN: Duration = Duration::from_secs(20);
/// A page of the database and its frame, so that what is written can be searched.
const TEXT_MAX: &str = "4200";

/// Whatever makes bytes safe: which of them SQLite calls depends on how it was built.
pub const SYNCS: &str = "fsync,fdatasync";

/// One thing that goes wrong.
#[derive(Clone, Debug)]
pub struct Fault {
    calls: &'static str,
    how: String,
    when: String,
}

impl Fault {
    /// The calls, with commas between them, are not made, and say `ENOSPC`, `EIO` or the like.
    pub fn error(calls: &'static str, error: &str) -> Fault {
        Fault { calls, how: format!("error={error}"), when: String::new() }
    }

    /// The whole process is killed in the place of a call.
    pub fn kill(calls: &'static str) -> Fault {
        Fault { calls, how: "error=EIO:signal=KILL".into(), when: String::new() }
    }

    /// The calls wait before they begin.
    pub fn delay(calls: &'static str, time: Duration) -> Fault {
        Fault { calls, how: format!("delay_enter={}", time.as_micros()), when: String::new() }
    }

    /// Only the n-th of each thread.
    pub fn at(self, number: u32) -> Fault {
        Fault { when: format!(":when={number}"), ..self }
    }

    fn words(&self) -> String {
        format!("inject={}:{}{}", self.calls, self.how, self.when)
    }
}

/// A tracer that is attached to a server and to all that it starts.
#[derive(Debug)]
pub struct Strace {
    child: Child,
    log: PathBuf,
}

impl Strace {
    /// Returns when the fault is in force. `calls` are written to `log`. If files are named, all
    /// other calls are neither seen nor touched.
    pub async fn attach(
        id: u32,
        calls: &str,
        files: &[PathBuf],
        faults: &[Fault],
        log: &Path,
    ) -> Strace {
        let mut command = Command::new("strace");
        command.args(["-f", "-y", "-s", TEXT_MAX, "-e", "signal=none", "-o"]).arg(log);
        command.args(["-e", &format!("trace={calls}")]);
        for file in files {
            command.arg("-P").arg(file);
        }
        for fault in faults {
            command.args(["-e", &fault.words()]);
        }
        let words = log.with_extension("words");
        let to = File::create(&words).expect("a file beside the log");
        command.args(["-p", &id.to_string()]).stdin(Stdio::null()).stderr(to);
        let spawned = command.kill_on_drop(true).spawn();
        let mut child = spawned.expect("`strace` is needed for this test; install it");
        let until = Instant::now() + WITHIN;
        loop {
            let said = std::fs::read_to_string(&words).unwrap_or_default();
            if said.contains(" attached") {
                break;
            }
            let over = child.try_wait().is_ok_and(|status| status.is_some());
            let cannot = "strace cannot trace here, and so this test cannot run";
            assert!(!over && Instant::now() < until, "{cannot}: {said}");
            sleep(Duration::from_millis(2)).await;
        }
        Strace { child, log: log.to_owned() }
    }

    /// Returns when the server has died under it.
    pub async fn ended(&mut self) {
        self.child.wait().await.expect("our own child");
    }

    /// Lets go of the server, which goes on without faults, and says what was seen.
    pub async fn detach(mut self) -> Trace {
        if let Some(id) = self.child.id() {
            // It may have ended by itself, with the server.
            let _ = kill(Pid::from_raw(id as i32), Signal::SIGINT);
        }
        timeout(WITHIN, self.child.wait()).await.expect("strace ends").expect("our own child");
        let text = std::fs::read(&self.log).expect("what strace saw");
        Trace::read(&String::from_utf8_lossy(&text))
    }
}
