//! Starts a command, waits for whatever ends it, and leaves no process behind.

use std::fs::File;
use std::io::{Seek, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::{io, thread};

use nix::errno::Errno;
use nix::sys::memfd::{MFdFlags, memfd_create};
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::Pid;

use super::job::Job;
use super::record::{Exit, How};
use super::spool::{Attempt, STDERR, STDOUT};
use super::stopwatch::Stopwatch;
use super::tree::{Identity, Killed, MARKER, Tree};
use crate::limits::{KILL_WITHIN, OUTPUT_CHECK};

/// What can end a command.
pub(crate) enum Notice {
    Ended(How),
    Stop,
    OwnerGone,
}

/// Who waits for the command.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keeper {
    /// A process of its own: all its children belong to the call, orphans that it adopted included.
    Supervisor,
    /// The server, which has other children.
    Server,
}

/// Runs `job` to its end. The attempt's first word has been said; saying its last is up to the caller.
pub(crate) fn carry_out(
    job: &Job,
    attempt: &Attempt,
    marker: &str,
    keeper: Keeper,
    setpriv: Option<&Path>,
    (tell, notices): (Sender<Notice>, &Receiver<Notice>),
) -> Exit {
    let since = Stopwatch::start();
    let (child, leader) = match start(job, attempt, marker, keeper, setpriv) {
        Ok(started) => started,
        Err(why) => return Exit::not_started(why),
    };
    ports::failpoint!("supervisor.spawned");
    let pid = child.id() as i32;
    wait_in_background(child, keeper, tell);

    let how = first_notice(job, attempt, notices, &since);
    let ran_ms = since.elapsed().as_millis() as u64;
    let tree = match keeper {
        Keeper::Supervisor => {
            let me = Pid::this().as_raw();
            Tree { marker, ancestor: Some(me), leader, spare: Some(me) }
        }
        Keeper::Server => Tree { marker, ancestor: Some(pid), leader, spare: None },
    };
    let Killed { killed, left } = tree.kill();
    let by_itself = matches!(how, How::Exited(_) | How::Signalled(_));
    if !by_itself && left == 0 {
        // So that no zombie of ours is taken for a live process by whoever looks next.
        let _ = notices.recv_timeout(KILL_WITHIN);
    }
    let left_behind = if by_itself { killed } else { 0 };
    Exit { how, ran_ms, left_behind, may_still_run: left }
}

fn start(
    job: &Job,
    attempt: &Attempt,
    marker: &str,
    keeper: Keeper,
    setpriv: Option<&Path>,
) -> Result<(Child, Option<Identity>), String> {
    let stdin =
        input(&job.stdin).map_err(|error| format!("it could not be given its input: {error}"))?;
    let files = || Ok((attempt.create(STDOUT)?, attempt.create(STDERR)?));
    let (stdout, stderr) =
        files().map_err(|error: io::Error| format!("its output could not be stored: {error}"))?;
    // The death signal is bound to the thread that starts the command, and only a supervisor's is
    // sure to live as long as its process.
    let dies_with_us = keeper == Keeper::Supervisor;
    let child = command(job, setpriv, dies_with_us)?
        .current_dir(&job.directory)
        .env_clear()
        .envs(&job.environment)
        .env(MARKER, marker)
        .stdin(stdin)
        .stdout(stdout)
        .stderr(stderr)
        .process_group(0)
        .spawn()
        .map_err(|error| format!("`{}` could not be started: {error}", job.program.display()))?;
    let leader = Identity::of(child.id() as i32);
    if let Some(leader) = &leader {
        attempt.note_pid(leader);
    }
    Ok((child, leader))
}

/// What a command reads. All of it is there before the command is: if it came through a pipe, the death of
/// whoever writes would look like its end, and what ran would not be what was approved. It is in memory
/// only, for there may be secrets in it.
fn input(bytes: &[u8]) -> io::Result<Stdio> {
    if bytes.is_empty() {
        return Ok(Stdio::null());
    }
    let mut file = File::from(memfd_create("input", MFdFlags::MFD_CLOEXEC)?);
    file.write_all(bytes)?;
    file.rewind()?;
    Ok(file.into())
}

pub(super) fn command(
    job: &Job,
    setpriv: Option<&Path>,
    dies_with_us: bool,
) -> Result<Command, String> {
    let setpriv = match (setpriv, &job.run_as) {
        (None, Some(user)) => {
            return Err(format!("it must run as `{}`, and `setpriv` is missing", user.name()));
        }
        (None, None) => None,
        (Some(setpriv), Some(_)) => Some(setpriv),
        (Some(setpriv), None) => dies_with_us.then_some(setpriv),
    };
    let Some(setpriv) = setpriv else {
        let mut command = Command::new(&job.program);
        command.args(&job.args);
        return Ok(command);
    };
    let mut command = Command::new(setpriv);
    if let Some(user) = &job.run_as {
        command.args(user.setpriv_args());
    }
    if dies_with_us {
        command.args(["--pdeathsig", "KILL"]);
    }
    command.arg("--").arg(&job.program).args(&job.args);
    Ok(command)
}

/// Tells how the command itself ended.
pub(super) fn wait_in_background(mut child: Child, keeper: Keeper, tell: Sender<Notice>) {
    let pid = Pid::from_raw(child.id() as i32);
    thread::spawn(move || match keeper {
        Keeper::Server => {
            if let Ok(status) = child.wait() {
                let _ = tell.send(Notice::Ended(how(status)));
            }
        }
        // Adopted orphans are waited for too, or they would stay as zombies.
        Keeper::Supervisor => loop {
            match waitpid(None, None) {
                Ok(WaitStatus::Exited(ended, code)) if ended == pid => {
                    let _ = tell.send(Notice::Ended(How::Exited(code)));
                }
                Ok(WaitStatus::Signaled(ended, signal, _)) if ended == pid => {
                    let _ = tell.send(Notice::Ended(How::Signalled(signal as i32)));
                }
                Ok(_) | Err(Errno::EINTR) => {}
                Err(_) => break,
            }
        },
    });
}

fn how(status: ExitStatus) -> How {
    match (status.code(), status.signal()) {
        (Some(code), _) => How::Exited(code),
        (None, signal) => How::Signalled(signal.unwrap_or_default()),
    }
}

fn first_notice(
    job: &Job,
    attempt: &Attempt,
    notices: &Receiver<Notice>,
    since: &Stopwatch,
) -> How {
    loop {
        match notices.recv_timeout(since.left(job.time_limit).min(OUTPUT_CHECK)) {
            Ok(Notice::Ended(how)) => return how,
            Ok(Notice::Stop) => return How::Stopped,
            Ok(Notice::OwnerGone) | Err(RecvTimeoutError::Disconnected) => return How::OwnerGone,
            Err(RecvTimeoutError::Timeout) => {}
        }
        if since.elapsed() >= job.time_limit {
            return How::TimedOut { after_ms: job.time_limit.as_millis() as u64 };
        }
        if attempt.output_bytes() > job.spool_bytes_max {
            return How::TooMuchOutput { bytes_max: job.spool_bytes_max };
        }
    }
}
