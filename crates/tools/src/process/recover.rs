//! What can still be found out about an attempt whose server died.

use domain::visible::visible;

use super::captured::CapturedOutput;
use super::record::{FirstRecord, StartRecord};
use super::run::Runner;
use super::spool::{STDERR, STDOUT, SpooledAttempt};
use super::trace::{AttemptTrace, so_far};
use super::tree::{KillResult, ProcessTree};
use crate::blocking::run_blocking;

impl Runner {
    /// Reads the traces of an attempt, after making sure that it is over: what still runs is killed,
    /// and what has not begun is kept from beginning.
    pub async fn recover_attempt(&self, key: &str, attempt: u32) -> AttemptTrace {
        let (runner, traces) = (self.clone(), self.0.spool.attempt(key, attempt));
        run_blocking(move || {
            // Looked at before the first word is said: saying it takes the announcement away.
            let is_announced = traces.is_announced();
            match traces.read_first() {
                Ok(None) => runner.give_up(&traces, is_announced),
                _ => runner.read_trace(&traces),
            }
        })
        .await
    }

    /// Keeps an attempt without a first word from beginning. Only its announcement proves that it has not.
    fn give_up(&self, traces: &SpooledAttempt, is_announced: bool) -> AttemptTrace {
        let word = if is_announced { FirstRecord::Fenced } else { FirstRecord::Lost };
        // Making the folder is part of the fence: an executor that comes later finds it taken.
        let made = traces.make_folder();
        ports::failpoint!("recover.before_fence");
        let said = made.and_then(|_| traces.say_first(&word));
        ports::failpoint!("recover.fenced");
        match said {
            Ok(true) if is_announced => {
                AttemptTrace::NeverStarted { why: "no start was recorded".into() }
            }
            Ok(true) => lost_trace(),
            Ok(false) => self.read_trace(traces),
            Err(error) => unknown_trace(format!("the spool cannot be written: {error}")),
        }
    }

    /// What an attempt's folder says, once nothing of it is running.
    pub(super) fn read_trace(&self, traces: &SpooledAttempt) -> AttemptTrace {
        let is_announced = traces.is_announced();
        let began = match traces.read_first() {
            Ok(Some(FirstRecord::Began(began))) => began,
            Ok(Some(FirstRecord::Fenced)) => {
                return AttemptTrace::NeverStarted {
                    why: "it was given up before it began".into(),
                };
            }
            Ok(Some(FirstRecord::Lost)) => return lost_trace(),
            // A supervisor that said nothing did nothing; now it cannot start any more either.
            Ok(None) => return self.give_up(traces, is_announced),
            Err(error) => {
                return unknown_trace(format!("what the spool says cannot be read: {error}"));
            }
        };
        self.await_last_words(traces, &began);
        let killed = match traces.read_exit() {
            Ok(Some(exit)) => return AttemptTrace::of_ended(traces, exit),
            Ok(None) => ProcessTree::with_marker(&began.marker).kill_all(),
            Err(error) => {
                ProcessTree::with_marker(&began.marker).kill_all();
                return unknown_trace(format!("how it ended cannot be read: {error}"));
            }
        };
        // It may have ended, and been written down, just before the kill.
        match traces.read_exit() {
            Ok(Some(exit)) => AttemptTrace::of_ended(traces, exit),
            _ => unknown_trace(self.gather_evidence(traces, &began, killed)),
        }
    }

    fn gather_evidence(
        &self,
        traces: &SpooledAttempt,
        began: &StartRecord,
        killed: KillResult,
    ) -> String {
        let mut text = String::from("It was started");
        if let Some(at) = traces.began_at() {
            text.push_str(&format!(" at {at}"));
        }
        if let Some(pid) = traces.read_pid() {
            text.push_str(&format!(" as process {}", pid.pid));
        }
        text.push_str(", and no end was recorded.");
        text.push_str(&match killed {
            KillResult { killed: 0, left: 0 } => {
                " Nothing of it was found running, which does not prove that nothing is.".into()
            }
            KillResult { killed, left: 0 } => format!(
                " {killed} of its processes still ran and were killed. Others, which could not be found, may \
                 still run."
            ),
            KillResult { left, .. } => {
                format!(" {left} of its processes could not be killed: it may still run.")
            }
        });
        if began.owner.is_alive() && !self.is_me(&began.owner) {
            text.push_str(&format!(
                " The server that started it (process {}) is alive: it may still run.",
                began.owner.pid
            ));
        }
        let (stdout, stderr) = (traces.folder().join(STDOUT), traces.folder().join(STDERR));
        match CapturedOutput::read_files(&[&stdout, &stderr]) {
            Ok(output) => text.push_str(&so_far(&output)),
            Err(error) => text
                .push_str(&format!(" Its output cannot be read: {}", visible(&error.to_string()))),
        }
        text
    }
}

fn unknown_trace(evidence: impl Into<String>) -> AttemptTrace {
    AttemptTrace::Unknown { evidence: evidence.into() }
}

fn lost_trace() -> AttemptTrace {
    unknown_trace(
        "No trace of this attempt is left, neither of a start nor that there was none: it may have started \
         elsewhere, or its traces were removed. It may have been carried out.",
    )
}
