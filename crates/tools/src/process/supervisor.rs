//! The small process between the server and a command: it outlives the server just long enough to
//! clean up after it.
//!
//! It is our own binary again, started with a hidden subcommand that calls [`supervise`]. Everything it
//! is told comes over its standard input: an order, then nothing while the server lives; one byte
//! means stop, and the end of the stream means that the server is gone.

use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::mpsc;
use std::thread;

use serde::{Deserialize, Serialize};

use super::companion;
use super::job::ProcessJob;
use super::record::{FirstRecord, StartRecord};
use super::spool::SpooledAttempt;
use super::tree::ProcessIdentity;
use super::watch::{CommandWaiter, WatchNotice, carry_out};

/// How to start a supervisor: usually our own binary and `__run`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Supervisor {
    pub program: PathBuf,
    pub args: Vec<String>,
}

pub(crate) const STOP: &[u8] = b"s";
/// What a supervisor says when its attempt has begun, on its standard output. Nothing follows.
const BEGUN: &[u8] = b"b";

/// What a supervisor is told. The command's input follows as raw bytes.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct SupervisorOrder {
    /// Where the attempt leaves its traces; a companion, which serves many calls, leaves none.
    pub(crate) dir: Option<PathBuf>,
    pub(crate) marker: String,
    pub(crate) owner: ProcessIdentity,
    pub(crate) setpriv: Option<PathBuf>,
    pub(crate) job: ProcessJob,
}

/// An order, its length, the input, its length: nothing is left to guess.
pub(crate) fn encode_order(order: &SupervisorOrder) -> io::Result<Vec<u8>> {
    let text = serde_json::to_vec(order)?;
    let mut frame = Vec::with_capacity(text.len() + order.job.stdin.len() + 16);
    for part in [&text, &order.job.stdin] {
        frame.extend_from_slice(&(part.len() as u64).to_le_bytes());
        frame.extend_from_slice(part);
    }
    Ok(frame)
}

pub(super) fn read_order(from: &mut impl Read) -> io::Result<SupervisorOrder> {
    let mut order: SupervisorOrder = serde_json::from_slice(&read_part(from)?)?;
    order.job.stdin = read_part(from)?;
    Ok(order)
}

fn read_part(from: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut length = [0; 8];
    from.read_exact(&mut length)?;
    let length = u64::from_le_bytes(length);
    let mut part = Vec::new();
    from.take(length).read_to_end(&mut part)?;
    if (part.len() as u64) < length {
        // The server died while it spoke. Half an order is none.
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(part)
}

/// The whole life of a supervisor. The result is in the spool; the exit code is only for an operator who
/// debugs this.
pub fn supervise() -> ExitCode {
    let mut lifeline = io::stdin();
    let Ok(order) = read_order(&mut lifeline) else { return ExitCode::from(2) };
    #[cfg(target_os = "linux")]
    if nix::sys::prctl::set_child_subreaper(true).is_err() {
        return ExitCode::from(3);
    }
    let Some(dir) = order.dir.clone() else {
        return companion::supervise_companion(lifeline, &order);
    };
    let attempt = SpooledAttempt::in_folder(dir);
    ports::failpoint!("supervisor.ordered");
    let began = FirstRecord::Began(StartRecord {
        marker: order.marker.clone(),
        owner: order.owner.clone(),
        keeper: ProcessIdentity::of_myself(),
    });
    // The first record exists already: this attempt was given up before it began.
    let Ok(true) = attempt.say_first(&began) else { return ExitCode::from(4) };
    // The server waits for this before it says that a freeze is in force. It may be gone.
    let _ = io::stdout().write_all(BEGUN).and_then(|()| io::stdout().flush());
    ports::failpoint!("supervisor.began");

    let (tell, notices) = mpsc::channel();
    let to_me = tell.clone();
    thread::spawn(move || {
        let mut byte = [0];
        let stop = lifeline.read_exact(&mut byte).is_ok();
        let _ = tell.send(if stop { WatchNotice::Stop } else { WatchNotice::OwnerGone });
    });
    let setpriv = order.setpriv.as_deref();
    let exit = carry_out(
        &order.job,
        &attempt,
        &order.marker,
        CommandWaiter::Supervisor,
        setpriv,
        (to_me, &notices),
    );
    ports::failpoint!("supervisor.ended");
    let said = attempt.say_last(&exit);
    ports::failpoint!("supervisor.recorded");
    match said {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::from(5),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_arrives_whole_or_not_at_all() {
        let mut job = ProcessJob::new("/bin/true", vec!["a b".into(), "\u{202e}".into()], "/");
        job.stdin = b"\xff\0 input".to_vec();
        let order = SupervisorOrder {
            dir: Some("/spool/x".into()),
            marker: "m".into(),
            owner: ProcessIdentity::of_myself(),
            setpriv: None,
            job: job.clone(),
        };
        let bytes = encode_order(&order).unwrap();
        let read = read_order(&mut bytes.as_slice()).unwrap();
        assert_eq!(read.job, job);
        for cut in 0..bytes.len() {
            assert!(read_order(&mut &bytes[..cut]).is_err(), "cut at {cut}");
        }
    }
}
