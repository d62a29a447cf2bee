//! How a call ended, in the words that the model gets.

use crate::digest::Digest;
use crate::tool::Effects;

/// What a tool printed. Whatever was cut is said to be cut.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Output {
    /// What was kept.
    pub text: String,
    /// Set if something is missing.
    pub cut: Option<Cut>,
}

/// The part of an output that was not kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cut {
    /// Of the whole output.
    pub total_bytes: u64,
    /// Of the whole output, so that a copy kept elsewhere can be recognised.
    pub digest: Digest,
}

impl Output {
    /// Output of which nothing was cut.
    pub fn text(text: impl Into<String>) -> Output {
        Output { text: text.into(), cut: None }
    }

    /// The text, with an explicit last line if something is missing.
    pub fn whole(&self) -> String {
        match &self.cut {
            None => self.text.clone(),
            Some(Cut { total_bytes, digest }) => {
                let shown = match self.text.len() as u64 {
                    shown if shown < *total_bytes => format!("{shown} of {total_bytes}"),
                    // What is no text is shown by signs that are longer than it.
                    _ => format!("not all of {total_bytes}"),
                };
                format!("{}\n[output cut: {shown} bytes shown; {digest} of the whole]", self.text)
            }
        }
    }
}

impl From<String> for Output {
    fn from(text: String) -> Output {
        Output::text(text)
    }
}

impl From<&str> for Output {
    fn from(text: &str) -> Output {
        Output::text(text)
    }
}

/// As JSON.
impl From<serde_json::Value> for Output {
    fn from(value: serde_json::Value) -> Output {
        Output::text(value.to_string())
    }
}

/// For tools that have nothing to say: a model that gets no text wonders whether it worked.
impl From<()> for Output {
    fn from((): ()) -> Output {
        Output::text("Done.")
    }
}

/// What really happened when a tool ran.
///
/// ```
/// use holdpoint_domain::outcome::{Outcome, Output};
///
/// /// A host knows what happened, or says that it does not.
/// fn of_reply(reply: Result<u16, std::io::Error>) -> Outcome {
///     match reply {
///         Ok(200) => Outcome::Succeeded("Sent.".into()),
///         Ok(status) => Outcome::Failed(Output::text(format!("The server said {status}."))),
///         // The request has left, and no reply came: it may have been carried out.
///         Err(error) => Outcome::Unknown { evidence: error.to_string() },
///     }
/// }
/// assert_eq!(of_reply(Ok(200)), Outcome::Succeeded(Output::text("Sent.")));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The effect happened.
    Succeeded(Output),
    /// It ran and did not do what it was to do. The model may try something else.
    Failed(Output),
    /// The tool host cannot say. A person is asked; it is never run again by itself.
    Unknown {
        /// What the host knows, for the people who are asked. It may be empty.
        evidence: String,
    },
}

/// What the model gets for one call: always exactly one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolResult {
    /// As the model reads it.
    pub content: String,
    /// The model is told that the call failed or did not run.
    pub is_error: bool,
    /// Why it is what it is.
    pub kind: ResultKind,
}

/// Why a result is what it is, for surfaces that show denials, expiries and errors apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultKind {
    /// The tool's own words.
    Output,
    /// The tool ran and failed, or the call was no good.
    Error,
    /// A person or a rule said no.
    Denied,
    /// The deadline passed without a decision, or the call could not start in time.
    Expired,
    /// The question or the run was taken back.
    Cancelled,
    /// Two-phase: nothing ran yet.
    Pending,
}

impl ResultKind {
    /// Every kind.
    pub const ALL: [ResultKind; 6] = [
        ResultKind::Output,
        ResultKind::Error,
        ResultKind::Denied,
        ResultKind::Expired,
        ResultKind::Cancelled,
        ResultKind::Pending,
    ];

    /// The word by which records and the API tell it.
    pub fn name(self) -> &'static str {
        match self {
            ResultKind::Output => "output",
            ResultKind::Error => "error",
            ResultKind::Denied => "denied",
            ResultKind::Expired => "expired",
            ResultKind::Cancelled => "cancelled",
            ResultKind::Pending => "pending",
        }
    }
}

/// Every way of not running, each said in its own words and attributed to its cause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotRun {
    /// A person said no.
    DeniedBy {
        /// The person's name as the model and others read it.
        name: String,
        /// In their words, if they gave any.
        reason: Option<String>,
    },
    /// The policy said no, and no person was asked.
    DeniedByRule {
        /// The name of the rule. `None`: the default.
        rule: Option<String>,
    },
    /// The deadline passed without a decision.
    Expired,
    /// Approved, but it could not start in time.
    ExpiredBeforeStart,
    /// A newer message took its place.
    Superseded,
    /// The question or the run was taken back.
    Cancelled {
        /// In the words of whoever did it, if they gave any.
        reason: Option<String>,
    },
    /// The arguments or the tool's name were no good; the text says what to change.
    Invalid {
        /// What to change. The model reads it.
        why: String,
    },
    /// A client tool of the same turn was refused, and nobody approved this call by itself.
    SiblingRefused {
        /// The client tool that was refused.
        tool: String,
    },
    /// The leave was taken back before the call began.
    Revoked {
        /// Who took it back, as the model and others read it.
        name: String,
    },
    /// An attempt was interrupted, and it is not made again. It may have done its work all the same.
    Interrupted {
        /// What is known about the attempt.
        why: String,
    },
}

impl NotRun {
    /// Why a call is not started again whose earlier attempt nobody has looked into, because running
    /// it again would have been harmless. That it was not run is then more than anybody knows.
    #[must_use]
    pub fn after_an_attempt(self, effects: Effects) -> NotRun {
        let why = match self {
            _ if effects != Effects::Idempotent => return self,
            NotRun::ExpiredBeforeStart => "its approval is too old by now".into(),
            NotRun::DeniedByRule { rule: Some(rule) } => format!("rule \"{rule}\" denies it now"),
            NotRun::DeniedByRule { rule: None } => "the default policy denies it now".into(),
            NotRun::Cancelled { reason: Some(reason) } => reason,
            NotRun::SiblingRefused { tool } => format!("`{tool}` of the same turn was refused"),
            other => return other,
        };
        NotRun::Interrupted { why }
    }

    /// The result for the model. It is always an error.
    pub fn result(&self) -> ToolResult {
        let (content, kind) = match self {
            NotRun::DeniedBy { name, reason: Some(reason) } => {
                (format!("Denied by {name}: {reason}"), ResultKind::Denied)
            }
            NotRun::DeniedBy { name, reason: None } => (
                format!("Denied by {name}. No reason was given. The call was not run."),
                ResultKind::Denied,
            ),
            NotRun::DeniedByRule { rule: Some(rule) } => {
                (format!("Denied by rule \"{rule}\". The call was not run."), ResultKind::Denied)
            }
            NotRun::DeniedByRule { rule: None } => {
                ("Denied by the default policy. The call was not run.".into(), ResultKind::Denied)
            }
            NotRun::Expired => (
                "Expired: nobody decided in time. The call was not run.".into(),
                ResultKind::Expired,
            ),
            NotRun::ExpiredBeforeStart => (
                "Expired: the call was approved, but could not start in time. It was not run."
                    .into(),
                ResultKind::Expired,
            ),
            NotRun::Superseded => (
                "Superseded: a new message arrived before anybody decided. The call was not run."
                    .into(),
                ResultKind::Cancelled,
            ),
            NotRun::Cancelled { reason: Some(reason) } => {
                (format!("Cancelled: {reason}. The call was not run."), ResultKind::Cancelled)
            }
            NotRun::Cancelled { reason: None } => {
                ("Cancelled. The call was not run.".into(), ResultKind::Cancelled)
            }
            NotRun::Invalid { why } => (why.clone(), ResultKind::Error),
            NotRun::SiblingRefused { tool } => (
                format!(
                    "Not run: `{tool}`, called in the same turn, was refused, and nobody approved this call by itself."
                ),
                ResultKind::Cancelled,
            ),
            NotRun::Revoked { name } => (
                format!("Not run: {name} took the approval back before the call started."),
                ResultKind::Denied,
            ),
            NotRun::Interrupted { why } => (
                format!(
                    "Not run again: {why}. An earlier attempt was interrupted, and may have been carried out."
                ),
                ResultKind::Cancelled,
            ),
        };
        ToolResult { content, is_error: true, kind }
    }
}

impl ToolResult {
    /// A result of a tool that did what it was to do.
    pub fn output(content: impl Into<String>) -> ToolResult {
        ToolResult { content: content.into(), is_error: false, kind: ResultKind::Output }
    }

    /// A result of a tool that failed.
    pub fn error(content: impl Into<String>) -> ToolResult {
        ToolResult { content: content.into(), is_error: true, kind: ResultKind::Error }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn i20_nobody_is_told_of_more_bytes_than_there_were() {
        let cut = |total_bytes| Some(Cut { total_bytes, digest: Digest::of(b"") });
        let whole = |text: &str, total| Output { text: text.into(), cut: cut(total) }.whole();
        assert!(whole("abc", 9).starts_with("abc\n[output cut: 3 of 9 bytes shown; sha256:"));
        assert!(whole("\u{fffd}", 2).contains("[output cut: not all of 2 bytes shown; sha256:"));
    }
}
