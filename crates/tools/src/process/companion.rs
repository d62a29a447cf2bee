//! A program that we talk with for as long as both live: it serves many calls, and so its output is
//! read as it comes and not kept in a spool.
//!
//! It runs under a supervisor like any command, and what is guaranteed about its tree is the same: it
//! dies when we let go of its input, and when the server dies. The supervisor passes our words on, so
//! that their end is seen at once also when the program has stopped listening.

use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{ExitCode, Stdio};
use std::sync::mpsc::{self, TrySendError};
use std::thread;

use tokio::io::AsyncWriteExt;
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};

use super::descendants::kill_descendants;
use super::job::ProcessJob;
use super::run::{Runner, random_marker};
use super::supervisor::{SupervisorOrder, encode_order};
use super::tree::{MARKER, ProcessTree};
use super::watch::{CommandWaiter, WatchNotice, build_command, wait_in_background};
use crate::blocking::run_blocking;
use crate::limits::{COMPANION_LEAVES_WITHIN, COMPANION_UNREAD_MAX, LAST_WORDS_WITHIN};

/// The program, which ends when this is stopped or dropped.
pub(crate) struct CompanionProcess {
    child: Child,
    marker: String,
}

/// Letting go of `stdin` asks the program to leave.
pub(crate) struct CompanionPipes {
    pub(crate) stdin: ChildStdin,
    pub(crate) stdout: ChildStdout,
    pub(crate) stderr: ChildStderr,
}

impl Runner {
    /// Starts a program to talk with. Its time limit does not count: each request over its pipes has one of its own.
    pub(crate) async fn start_companion(
        &self,
        job: ProcessJob,
    ) -> io::Result<(CompanionProcess, CompanionPipes)> {
        let marker = random_marker().map_err(|_| io::Error::other("no random numbers"))?;
        let mut command = match &self.0.supervisor {
            Some(supervisor) => {
                let mut command = Command::new(&supervisor.program);
                command.args(&supervisor.args).env_clear().current_dir("/");
                command
            }
            None => {
                let direct = build_command(&job, self.0.setpriv.as_deref(), false);
                let mut command = Command::from(direct.map_err(io::Error::other)?);
                command.env_clear().envs(&job.environment).current_dir(&job.directory);
                command
            }
        };
        let mut child = command
            .env(MARKER, &marker)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(self.0.supervisor.is_none())
            .spawn()?;
        let missing = || io::Error::other("the program has no pipes");
        let mut stdin = child.stdin.take().ok_or_else(missing)?;
        let stdout = child.stdout.take().ok_or_else(missing)?;
        let stderr = child.stderr.take().ok_or_else(missing)?;
        if self.0.supervisor.is_some() {
            let order = SupervisorOrder {
                dir: None,
                marker: marker.clone(),
                owner: self.0.me.clone(),
                setpriv: self.0.setpriv.clone(),
                job,
            };
            stdin.write_all(&encode_order(&order)?).await?;
            stdin.flush().await?;
        }
        Ok((CompanionProcess { child, marker }, CompanionPipes { stdin, stdout, stderr }))
    }
}

impl CompanionProcess {
    /// Lets it leave, and when it does not, ends it with everything that it started. Its input must
    /// have been let go of.
    pub(crate) async fn stop(mut self) {
        if tokio::time::timeout(LAST_WORDS_WITHIN, self.child.wait()).await.is_err() {
            let _ = self.child.start_kill();
        }
        let marker = std::mem::take(&mut self.marker);
        run_blocking(move || ProcessTree::with_marker(&marker).kill_all()).await;
    }
}

/// The supervisor's side: passes words on until either end is gone, then leaves nothing running.
pub(super) fn supervise_companion(
    mut ours: impl Read + Send + 'static,
    order: &SupervisorOrder,
) -> ExitCode {
    let started =
        build_command(&order.job, order.setpriv.as_deref(), true).and_then(|mut command| {
            command
                .current_dir(&order.job.directory)
                .env_clear()
                .envs(&order.job.environment)
                .env(MARKER, &order.marker)
                .stdin(Stdio::piped())
                // What it says goes to the server without us.
                .stdout(Stdio::inherit())
                .stderr(Stdio::inherit())
                .process_group(0)
                .spawn()
                .map_err(|error| error.to_string())
        });
    let mut child = match started {
        Ok(child) => child,
        Err(why) => {
            let _ = writeln!(io::stderr(), "`{}`: {why}", order.job.program.display());
            return ExitCode::from(127);
        }
    };
    let theirs = child.stdin.take();
    let (tell, notices) = mpsc::channel();
    let none_left = wait_in_background(child, CommandWaiter::Supervisor, tell.clone());

    let (pass_on, words) = mpsc::sync_channel::<Vec<u8>>(COMPANION_UNREAD_MAX / CHUNK);
    thread::spawn(move || {
        let Some(mut theirs) = theirs else { return };
        for chunk in words {
            if theirs.write_all(&chunk).is_err() {
                return;
            }
        }
    });
    thread::spawn(move || {
        let mut buffer = vec![0; CHUNK];
        loop {
            match ours.read(&mut buffer) {
                Ok(0) => break,
                Ok(read) => match pass_on.try_send(buffer[..read].to_vec()) {
                    Ok(()) => {}
                    // It has not listened for so long that it never will.
                    Err(TrySendError::Full(_)) => {
                        let _ = tell.send(WatchNotice::Stop);
                        return;
                    }
                    Err(TrySendError::Disconnected(_)) => break,
                },
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
        drop(pass_on);
        let _ = tell.send(WatchNotice::OwnerGone);
    });

    if let Ok(WatchNotice::OwnerGone) = notices.recv() {
        // Its input has ended. A program that means well ends, too.
        let _ = notices.recv_timeout(COMPANION_LEAVES_WITHIN);
    }
    kill_descendants(&order.marker, &none_left);
    ExitCode::SUCCESS
}

/// Bytes passed on at once: the capacity of a pipe.
const CHUNK: usize = 64 << 10;
