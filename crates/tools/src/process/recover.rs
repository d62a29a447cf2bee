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
            // Looked at before the first word is said: saying it takes the announcement away.
            let is_announced = traces.is_announced();
            match traces.first() {
                Ok(None) => runner.give_up(&traces, is_announced),
                _ => runner.look(&traces),
            }
        })
        .await
    }

    /// Keeps an attempt without a first word from beginning. Only its announcement proves that it has not.
    fn give_up(&self, traces: &Attempt, is_announced: bool) -> Trace {
        let word = if is_announced { First::Fenced } else { First::Lost };
        // Making the folder is part of the fence: whoever comes later finds it taken.
        let made = traces.make_folder();
        ports::failpoint!("recover.before_fence");
        let said = made.and_then(|_| traces.say_first(&word));
        ports::failpoint!("recover.fenced");
        match said {
            Ok(true) if is_announced => Trace::NeverStarted { why: "no start was recorded".into() },
            Ok(true) => lost(),
            Ok(false) => self.look(traces),
            Err(error) => unknown(format!("the spool cannot be written: {error}")),
        }
    }

    /// What an attempt's folder says, once nothing of it is running.
    pub(super) fn look(&self, traces: &Attempt) -> Trace {
        let is_announced = traces.is_announced();
        let began = match traces.first() {
            Ok(Some(First::Began(began))) => began,
            Ok(Some(First::Fenced)) => {
                return Trace::NeverStarted { why: "it was given up before it began".into() };
            }
            Ok(Some(First::Lost)) => return lost(),
            // A supervisor that said nothing did nothing; now it cannot start any more either.
            Ok(None) => return self.give_up(traces, is_announced),
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
            Killed { killed: 0, left: 0 } => {
                " Nothing of it was found running, which does not prove that nothing is.".into()
            }
            Killed { killed, left: 0 } => format!(
                " {killed} of its processes still ran and were killed. Others, which could not be found, may \
                 still run."
            ),
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

fn lost() -> Trace {
    unknown(
        "No trace of this attempt is left, neither of a start nor that there was none: it may have started \
         elsewhere, or its traces were removed. It may have been carried out.",
    )
}
