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
use super::job::Job;
use super::output_copy::OutputCopy;
use super::record::{Exit, How};
use super::spool::{Attempt, STDERR, STDOUT};
use super::stopwatch::Stopwatch;
use super::tree::{Identity, Killed, MARKER, Tree};
use crate::limits::KILL_WITHIN;

/// What can end a command.
pub(crate) enum Notice {
    Ended(How),
    TooMuchOutput,
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
    let Started { child, leader, output } =
        match start(job, attempt, marker, keeper, setpriv, &tell) {
            Ok(started) => started,
            Err(why) => return Exit::not_started(why),
        };
    ports::failpoint!("supervisor.spawned");
    let pid = child.id() as i32;
    let none_left = wait_in_background(child, keeper, tell);

    let how = first_notice(job, notices, &since);
    let ran_ms = since.elapsed().as_millis() as u64;
    let by_itself = matches!(how, How::Exited(_) | How::Signalled(_));
    let Killed { killed, left } = match keeper {
        Keeper::Supervisor => kill_descendants(marker, &none_left),
        Keeper::Server => Tree { marker, ancestor: Some(pid), leader, spare: None }.kill(),
    };
    if keeper == Keeper::Server && !by_itself && left == 0 {
        // So that no zombie of ours is taken for a live process by whoever looks next.
        let _ = notices.recv_timeout(KILL_WITHIN);
    }
    let copied = output.finish(KILL_WITHIN);
    let how = match how {
        // It ended while what it had printed was still being counted.
        How::Exited(_) | How::Signalled(_) if copied.is_over => {
            How::TooMuchOutput { bytes_max: job.spool_bytes_max }
        }
        how => how,
    };
    Exit {
        left_behind: if by_itself { killed } else { 0 },
        may_still_run: left,
        unproven: keeper == Keeper::Server && !(by_itself && copied.has_ended),
        output_lost: copied.lost,
        how,
        ran_ms,
    }
}

struct Started {
    child: Child,
    leader: Option<Identity>,
    output: OutputCopy,
}

fn start(
    job: &Job,
    attempt: &Attempt,
    marker: &str,
    keeper: Keeper,
    setpriv: Option<&Path>,
    tell: &Sender<Notice>,
) -> Result<Started, String> {
    let stdin =
        input(&job.stdin).map_err(|error| format!("it could not be given its input: {error}"))?;
    let stream = |name| {
        let opened = io::pipe().and_then(|(reader, writer)| {
            let file = attempt.create(name)?;
            Ok(((reader, file), writer))
        });
        opened.map_err(|error| format!("its output could not be stored: {error}"))
    };
    let ((out, stdout), (err, stderr)) = (stream(STDOUT)?, stream(STDERR)?);
    // As late as can be.
    for file in &job.files {
        file.check()?;
    }
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
    let output = OutputCopy::start(job.spool_bytes_max, [out, err], tell);
    Ok(Started { child, leader, output })
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

/// Tells how the command itself ended and, to a supervisor, that no process of the call is left.
pub(super) fn wait_in_background(
    mut child: Child,
    keeper: Keeper,
    tell: Sender<Notice>,
) -> NoneLeft {
    let pid = Pid::from_raw(child.id() as i32);
    let (prove, none_left) = mpsc::channel();
    thread::spawn(move || match keeper {
        Keeper::Server => {
            if let Ok(status) = child.wait() {
                let _ = tell.send(Notice::Ended(how(status)));
            }
        }
        // Adopted orphans are waited for too, or they would stay as zombies.
        Keeper::Supervisor => loop {
            // All kinds of children: some are made so that their end is not signalled.
            match waitpid(None, Some(WaitPidFlag::__WALL)) {
                Ok(WaitStatus::Exited(ended, code)) if ended == pid => {
                    let _ = tell.send(Notice::Ended(How::Exited(code)));
                }
                Ok(WaitStatus::Signaled(ended, signal, _)) if ended == pid => {
                    let _ = tell.send(Notice::Ended(How::Signalled(signal as i32)));
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

fn how(status: ExitStatus) -> How {
    match (status.code(), status.signal()) {
        (Some(code), _) => How::Exited(code),
        (None, signal) => How::Signalled(signal.unwrap_or_default()),
    }
}

fn first_notice(job: &Job, notices: &Receiver<Notice>, since: &Stopwatch) -> How {
    match notices.recv_timeout(since.left(job.time_limit)) {
        Ok(Notice::Ended(how)) => how,
        Ok(Notice::TooMuchOutput) => How::TooMuchOutput { bytes_max: job.spool_bytes_max },
        Ok(Notice::Stop) => How::Stopped,
        Ok(Notice::OwnerGone) | Err(RecvTimeoutError::Disconnected) => How::OwnerGone,
        Err(RecvTimeoutError::Timeout) => {
            How::TimedOut { after_ms: job.time_limit.as_millis() as u64 }
        }
    }
}
