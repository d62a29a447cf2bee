//! The evidence about an attempt, and the outcome that it amounts to.

use domain::outcome::{Outcome, Output};
use domain::visible::visible_multiline;
use ports::tool_host::Recovery;

use super::captured::CapturedOutput;
use super::record::{ExitKind, ExitRecord};
use super::spool::{STDERR, STDOUT, SpooledAttempt};
use crate::limits::EVIDENCE_BYTES_MAX;

/// All that can be said about an attempt, just after it or long after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AttemptTrace {
    Ended(EndedAttempt),
    /// The command did not start, and this attempt never will.
    NeverStarted {
        why: String,
    },
    Unknown {
        evidence: String,
    },
}

/// An attempt that ended, and what it printed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndedAttempt {
    pub exit: ExitRecord,
    pub stdout: CapturedOutput,
    /// Standard output and then standard error.
    pub both: CapturedOutput,
}

impl AttemptTrace {
    pub(crate) fn of_ended(attempt: &SpooledAttempt, exit: ExitRecord) -> AttemptTrace {
        let (stdout, stderr) = (attempt.folder().join(STDOUT), attempt.folder().join(STDERR));
        let is_begun = !matches!(exit.how, ExitKind::NotStarted { .. });
        let missing = [&stdout, &stderr].into_iter().find(|path| is_begun && !path.exists());
        if let Some(why) = exit
            .output_lost
            .clone()
            .or_else(|| missing.map(|path| format!("`{}` is gone", path.display())))
        {
            let evidence = format!("it ended ({:?}), but its output is lost: {why}", exit.how);
            return AttemptTrace::Unknown { evidence };
        }
        let read = || {
            Ok(EndedAttempt {
                stdout: CapturedOutput::read_files(&[&stdout])?,
                both: CapturedOutput::read_files(&[&stdout, &stderr])?,
                exit: exit.clone(),
            })
        };
        match read() {
            Ok(ended) => AttemptTrace::Ended(ended),
            // It did end, but a result without its output would be a lie.
            Err::<_, std::io::Error>(error) => AttemptTrace::Unknown {
                evidence: format!(
                    "it ended ({:?}), but its output cannot be read: {error}",
                    exit.how
                ),
            },
        }
    }

    /// The outcome of a run; `ended` says how a command that ended by itself is to be read.
    pub fn into_outcome(self, ended: impl FnOnce(&EndedAttempt) -> Outcome) -> Outcome {
        match self {
            AttemptTrace::Ended(it) => it.outcome_by(ended),
            AttemptTrace::NeverStarted { why } => {
                Outcome::Failed(Output::text(format!("Nothing was run: {why}")))
            }
            AttemptTrace::Unknown { evidence } => Outcome::Unknown { evidence },
        }
    }

    /// The same for a recovery, where not having started is a proof and not a failure.
    pub fn into_recovery(self, ended: impl FnOnce(&EndedAttempt) -> Outcome) -> Recovery {
        match self {
            AttemptTrace::NeverStarted { .. } => Recovery::NeverHappened,
            other => match other.into_outcome(ended) {
                Outcome::Unknown { evidence } => Recovery::Unknown { evidence },
                outcome => Recovery::Done(outcome),
            },
        }
    }
}

impl EndedAttempt {
    fn outcome_by(&self, ended: impl FnOnce(&EndedAttempt) -> Outcome) -> Outcome {
        let failed = |why: String| Outcome::Failed(self.with_note(why));
        if self.exit.may_still_run > 0 {
            let evidence = format!(
                "It is not proved that all of its processes are gone: {} or more may still run.{}",
                self.exit.may_still_run,
                self.so_far()
            );
            return Outcome::Unknown { evidence };
        }
        if self.exit.unproven {
            let evidence = format!(
                "It was told to stop, and without a supervisor nobody can prove that all of its processes \
                 are gone: it may still run.{}",
                self.so_far()
            );
            return Outcome::Unknown { evidence };
        }
        match &self.exit.how {
            ExitKind::Exited(_) | ExitKind::Signalled(_) => ended(self),
            ExitKind::TimedOut { after_ms } => failed(format!(
                "Stopped at its time limit of {} s, with every process it had started. What it did before stands.",
                *after_ms as f64 / 1000.0
            )),
            ExitKind::Stopped => failed(
                "Stopped before it had finished, with every process it had started. What it did before stands.".into(),
            ),
            ExitKind::TooMuchOutput { bytes_max } => failed(format!(
                "Stopped because it printed more than {bytes_max} bytes. What it did before stands."
            )),
            ExitKind::NotStarted { why } => Outcome::Failed(Output::text(format!("Nothing was run: {why}"))),
            ExitKind::OwnerGone => Outcome::Unknown {
                evidence: format!(
                    "The server died, and the command was killed with all its processes after {} ms.{}",
                    self.exit.ran_ms,
                    self.so_far()
                ),
            },
        }
    }

    /// What it printed, under a first line of ours.
    pub fn with_note(&self, note: String) -> Output {
        let output = self.both.to_output();
        let text = if output.text.is_empty() { note } else { format!("{note}\n{}", output.text) };
        Output { text, cut: output.cut }
    }

    fn so_far(&self) -> String {
        so_far(&self.both)
    }
}

/// The end of what was printed, as evidence for a person.
pub(crate) fn so_far(output: &CapturedOutput) -> String {
    let last = output.last_bytes(EVIDENCE_BYTES_MAX);
    if last.is_empty() {
        return " It had printed nothing.".into();
    }
    format!(" The last it printed:\n{}", visible_multiline(&last))
}
