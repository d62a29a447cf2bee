//! Starts a command, waits for whatever ends it, and leaves no process behind.

use std::fs::File;
use std::io::{Seek, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::{io, thread};

use nix::errno::Errno;
use nix::sys::memfd::{MFdFlags, memfd_create};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

use super::descendants::{NoneLeft, kill_descendants};
use super::job::ProcessJob;
use super::output_copy::OutputCopy;
use super::record::{ExitKind, ExitRecord};
use super::spool::{STDERR, STDOUT, SpooledAttempt};
use super::tree::{KillResult, MARKER, ProcessIdentity, ProcessTree};
use crate::limits::KILL_WITHIN;
use crate::stopwatch::Stopwatch;

/// What can end a command.
pub(crate) enum WatchNotice {
    Ended(ExitKind),
    TooMuchOutput,
    Stop,
    OwnerGone,
}

/// Who waits for the command.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum CommandWaiter {
    /// A process of its own: all its children belong to the call, orphans that it adopted included.
    Supervisor,
    /// The server, which has other children.
    Server,
}

/// Runs `job` to its end. The attempt's first record is written; the caller writes its exit record.
pub(crate) fn carry_out(
    job: &ProcessJob,
    attempt: &SpooledAttempt,
    marker: &str,
    keeper: CommandWaiter,
    setpriv: Option<&Path>,
    (tell, notices): (Sender<WatchNotice>, &Receiver<WatchNotice>),
) -> ExitRecord {
    let since = Stopwatch::start();
    let StartedCommand { child, leader, output } =
        match start_command(job, attempt, marker, keeper, setpriv, &tell) {
            Ok(started) => started,
            Err(why) => return ExitRecord::not_started(why),
        };
    ports::failpoint!("supervisor.spawned");
    let pid = child.id() as i32;
    let none_left = wait_in_background(child, keeper, tell);

    let how = first_notice(job, notices, &since);
    let ran_ms = since.elapsed().as_millis() as u64;
    let by_itself = matches!(how, ExitKind::Exited(_) | ExitKind::Signalled(_));
    let KillResult { killed, left } = match keeper {
        CommandWaiter::Supervisor => kill_descendants(marker, &none_left),
        CommandWaiter::Server => {
            ProcessTree { marker, ancestor: Some(pid), leader, spare: None }.kill_all()
        }
    };
    if keeper == CommandWaiter::Server && !by_itself && left == 0 {
        // So that the next look does not take a zombie of ours for a live process.
        let _ = notices.recv_timeout(KILL_WITHIN);
    }
    let copied = output.finish(KILL_WITHIN);
    let how = match how {
        // It ended while what it had printed was still being counted.
        ExitKind::Exited(_) | ExitKind::Signalled(_) if copied.is_over => {
            ExitKind::TooMuchOutput { bytes_max: job.spool_bytes_max }
        }
        how => how,
    };
    ExitRecord {
        left_behind: if by_itself { killed } else { 0 },
        may_still_run: left,
        unproven: keeper == CommandWaiter::Server && !(by_itself && copied.has_ended),
        output_lost: copied.lost,
        how,
        ran_ms,
    }
}

struct StartedCommand {
    child: Child,
    leader: Option<ProcessIdentity>,
    output: OutputCopy,
}

fn start_command(
    job: &ProcessJob,
    attempt: &SpooledAttempt,
    marker: &str,
    keeper: CommandWaiter,
    setpriv: Option<&Path>,
    tell: &Sender<WatchNotice>,
) -> Result<StartedCommand, String> {
    let stdin = input_file(&job.stdin)
        .map_err(|error| format!("it could not be given its input: {error}"))?;
    let stream = |name| {
        let opened = io::pipe().and_then(|(reader, writer)| {
            let file = attempt.create_file(name)?;
            Ok(((reader, file), writer))
        });
        opened.map_err(|error| format!("its output could not be stored: {error}"))
    };
    let ((out, stdout), (err, stderr)) = (stream(STDOUT)?, stream(STDERR)?);
    // As late as can be.
    // mutant: a-script-is-looked-at-once begins
    for file in &job.files {
        file.check_unchanged()?;
    }
    // mutant: a-script-is-looked-at-once ends
    // The death signal is bound to the thread that starts the command, and only a supervisor's is
    // sure to live as long as its process.
    let dies_with_us = keeper == CommandWaiter::Supervisor;
    let child = build_command(job, setpriv, dies_with_us)?
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
    let leader = ProcessIdentity::of_pid(child.id() as i32);
    if let Some(leader) = &leader {
        attempt.note_pid(leader);
    }
    let output = OutputCopy::start(job.spool_bytes_max, [out, err], tell);
    Ok(StartedCommand { child, leader, output })
}

/// What a command reads. All of it is there before the command is: if it came through a pipe, the death of
/// the writer would look like its end, and what ran would not be what was approved. It is in memory
/// only, for there may be secrets in it.
fn input_file(bytes: &[u8]) -> io::Result<Stdio> {
    if bytes.is_empty() {
        return Ok(Stdio::null());
    }
    let mut file = File::from(memfd_create("input", MFdFlags::MFD_CLOEXEC)?);
    file.write_all(bytes)?;
    file.rewind()?;
    Ok(file.into())
}

pub(super) fn build_command(
    job: &ProcessJob,
    setpriv: Option<&Path>,
    dies_with_us: bool,
) -> Result<Command, String> {
    let setpriv = match (setpriv, &job.run_as) {
        (None, Some(user)) => {
            return Err(format!("it must run as `{}`, and `setpriv` is missing", user.user_name()));
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

/// Tells how the command itself ended and, to a supervisor, that no process of the call is left.
pub(super) fn wait_in_background(
    mut child: Child,
    keeper: CommandWaiter,
    tell: Sender<WatchNotice>,
) -> NoneLeft {
    let pid = Pid::from_raw(child.id() as i32);
    let (prove, none_left) = mpsc::channel();
    thread::spawn(move || match keeper {
        CommandWaiter::Server => {
            if let Ok(status) = child.wait() {
                let _ = tell.send(WatchNotice::Ended(exit_kind(status)));
            }
        }
        // Adopted orphans are waited for too, or they would stay as zombies.
        CommandWaiter::Supervisor => loop {
            // All kinds of children: some are made so that their end is not signalled.
            match waitpid(None, Some(WaitPidFlag::__WALL)) {
                Ok(WaitStatus::Exited(ended, code)) if ended == pid => {
                    let _ = tell.send(WatchNotice::Ended(ExitKind::Exited(code)));
                }
                Ok(WaitStatus::Signaled(ended, signal, _)) if ended == pid => {
                    let _ = tell.send(WatchNotice::Ended(ExitKind::Signalled(signal as i32)));
                }
                Ok(_) | Err(Errno::EINTR) => {}
                Err(Errno::ECHILD) => {
                    let _ = prove.send(());
                    break;
                }
                Err(_) => break,
            }
        },
    });
    none_left
}

fn exit_kind(status: ExitStatus) -> ExitKind {
    match (status.code(), status.signal()) {
        (Some(code), _) => ExitKind::Exited(code),
        (None, signal) => ExitKind::Signalled(signal.unwrap_or_default()),
    }
}

fn first_notice(job: &ProcessJob, notices: &Receiver<WatchNotice>, since: &Stopwatch) -> ExitKind {
    match notices.recv_timeout(since.time_left(job.time_limit)) {
        Ok(WatchNotice::Ended(how)) => how,
        Ok(WatchNotice::TooMuchOutput) => {
            ExitKind::TooMuchOutput { bytes_max: job.spool_bytes_max }
        }
        Ok(WatchNotice::Stop) => ExitKind::Stopped,
        Ok(WatchNotice::OwnerGone) | Err(RecvTimeoutError::Disconnected) => ExitKind::OwnerGone,
        Err(RecvTimeoutError::Timeout) => {
            ExitKind::TimedOut { after_ms: job.time_limit.as_millis() as u64 }
        }
    }
}
