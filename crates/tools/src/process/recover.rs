//! What can still be found out about an attempt whose server died.

use domain::visible::visible;

use super::captured::Captured;
use super::record::{Began, First};
use super::run::{Runner, blocking};
use super::spool::{Attempt, STDERR, STDOUT};
use super::trace::{Trace, so_far};
use super::tree::{Killed, Tree};

impl Runner {
    /// Reads the traces of an attempt, after making sure that it is over: what still runs is killed,
    /// and what has not begun is kept from beginning.
    pub async fn recover(&self, key: &str, attempt: u32) -> Trace {
        let (runner, traces) = (self.clone(), self.0.spool.attempt(key, attempt));
        blocking(move || {
            // Making the folder is part of the fence: whoever comes later finds it taken.
            let found = match traces.reserve() {
                Ok(made) => !made,
                Err(error) => return unknown(format!("the spool cannot be written: {error}")),
            };
            ports::failpoint!("recover.before_fence");
            let said = traces.say_first(&First::Fenced);
            ports::failpoint!("recover.fenced");
            match said {
                Ok(true) if found || runner.0.spool.is_whole() => {
                    Trace::NeverStarted { why: "no start was recorded".into() }
                }
                Ok(true) => {
                    unknown("This machine has no trace of a start; it may have started elsewhere.")
                }
                Ok(false) => runner.look(&traces),
                Err(error) => unknown(format!("the spool cannot be written: {error}")),
            }
        })
        .await
    }

    /// What an attempt's folder says, once nothing of it is running.
    pub(super) fn look(&self, traces: &Attempt) -> Trace {
        let began = match traces.first() {
            Ok(Some(First::Began(began))) => began,
            Ok(Some(First::Fenced)) => {
                return Trace::NeverStarted { why: "it was given up before it began".into() };
            }
            Ok(None) => {
                // A supervisor that said nothing did nothing; now it cannot start any more either.
                return match traces.say_first(&First::Fenced) {
                    Ok(true) => {
                        Trace::NeverStarted { why: "the supervisor did not start it".into() }
                    }
                    Ok(false) => self.look(traces),
                    Err(error) => unknown(format!("the spool cannot be written: {error}")),
                };
            }
            Err(error) => return unknown(format!("what the spool says cannot be read: {error}")),
        };
        self.await_last_words(traces, &began);
        let killed = match traces.last() {
            Ok(Some(exit)) => return Trace::of_ended(traces, exit),
            Ok(None) => Tree::marked(&began.marker).kill(),
            Err(error) => {
                Tree::marked(&began.marker).kill();
                return unknown(format!("how it ended cannot be read: {error}"));
            }
        };
        // It may have ended, and been written down, just before the kill.
        match traces.last() {
            Ok(Some(exit)) => Trace::of_ended(traces, exit),
            _ => unknown(self.evidence(traces, &began, killed)),
        }
    }

    fn evidence(&self, traces: &Attempt, began: &Began, killed: Killed) -> String {
        let mut text = String::from("It was started");
        if let Some(at) = traces.began_at() {
            text.push_str(&format!(" at {at}"));
        }
        if let Some(pid) = traces.pid() {
            text.push_str(&format!(" as process {}", pid.pid));
        }
        text.push_str(", and no end was recorded.");
        text.push_str(&match killed {
            Killed { killed: 0, left: 0 } => " Nothing of it was found running.".into(),
            Killed { killed, left: 0 } => {
                format!(" {killed} of its processes still ran and were killed.")
            }
            Killed { left, .. } => {
                format!(" {left} of its processes could not be killed: it may still run.")
            }
        });
        if began.owner.is_alive() && !self.is_me(&began.owner) {
            text.push_str(&format!(
                " The server that started it (process {}) is alive: it may still run.",
                began.owner.pid
            ));
        }
        let (stdout, stderr) = (traces.dir().join(STDOUT), traces.dir().join(STDERR));
        match Captured::read(&[&stdout, &stderr]) {
            Ok(output) => text.push_str(&so_far(&output)),
            Err(error) => text
                .push_str(&format!(" Its output cannot be read: {}", visible(&error.to_string()))),
        }
        text
    }
}

fn unknown(evidence: impl Into<String>) -> Trace {
    Trace::Unknown { evidence: evidence.into() }
}
