//! What a person can say to a hold.

mod deny_reason;

use std::fmt;

use serde_json::Value;

pub use deny_reason::{DenyReason, StatedReason};

use crate::json::Arguments;
use crate::limits::{GRANT_MS_MAX, GRANT_USES_MAX};
use crate::policy::Conditions;

/// One answer as a person gave it. Which of these a hold takes depends on its question.
///
/// ```
/// use holdpoint_domain::answer::Answer;
/// use holdpoint_domain::hold::{Choice, Question};
///
/// let option = |id: &str| Choice { id: id.into(), label: id.to_uppercase(), description: None };
/// let options = vec![option("stage"), option("prod")];
/// let question = Question::Choose { options, multiple: false, allow_other: false };
///
/// assert!(question.fits(&Answer::Choose(vec!["prod".into()])).is_ok());
/// // Whatever is asked, a person may say no.
/// assert!(question.fits(&Answer::Deny { reason: None, stop: true }).is_ok());
/// let wrong = question.fits(&Answer::Choose(vec!["moon".into()])).unwrap_err();
/// assert_eq!(wrong.why.to_string(), "`moon` is none of the options");
/// ```
#[derive(Clone, PartialEq)]
pub enum Answer {
    /// The call may run; without a call, the run that used up a budget may go on.
    Approve {
        /// Whether later calls are covered as well.
        scope: ApprovalScope,
        /// An edited call: these run in place of those that were proposed, after they were ruled on anew.
        arguments: Option<Arguments>,
        /// For the record and for other people. It changes nothing about the call.
        note: Option<String>,
    },
    /// The call does not run, or the question stays unanswered.
    Deny {
        /// The model is told it. `None`: the person gave none.
        reason: Option<DenyReason>,
        /// The run ends as well, if the hold is part of the run that is active.
        stop: bool,
    },
    /// The model gets this in the tool's place.
    Respond {
        /// The text of the result, as if the tool had said it.
        content: String,
    },
    /// Option ids or labels; with `allow_other`, free text.
    Choose(Vec<String>),
    /// A form that fits the schema of the question; for free text `{"text": "…"}`.
    Fill(Value),
    /// The result of a client tool, from whoever carried it out.
    Perform {
        /// The text of the result.
        content: String,
        /// The client tried and failed. The model gets `content` as an error.
        is_error: bool,
    },
    /// What really happened to a call whose outcome was unknown.
    Settle {
        /// The finding. It decides what the model gets.
        how: Settlement,
        /// What the tool would have returned, if the person knows it.
        content: Option<String>,
    },
}

impl fmt::Debug for Answer {
    // A form may hold secrets that nobody has taken out yet, and debug output ends up in logs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Answer::Approve { scope, arguments, note } => f
                .debug_struct("Approve")
                .field("scope", scope)
                .field("arguments", arguments)
                .field("note", note)
                .finish(),
            Answer::Deny { reason, stop } => {
                f.debug_struct("Deny").field("reason", reason).field("stop", stop).finish()
            }
            Answer::Respond { content } => {
                f.debug_struct("Respond").field("content", content).finish()
            }
            Answer::Choose(chosen) => f.debug_tuple("Choose").field(chosen).finish(),
            Answer::Fill(_) => f.write_str("Fill(‹form›)"),
            Answer::Perform { content, is_error } => f
                .debug_struct("Perform")
                .field("content", content)
                .field("is_error", is_error)
                .finish(),
            Answer::Settle { how, content } => {
                f.debug_struct("Settle").field("how", how).field("content", content).finish()
            }
        }
    }
}

impl Answer {
    /// The word by which records and the API tell it.
    pub fn name(&self) -> &'static str {
        match self {
            Answer::Approve { .. } => "approve",
            Answer::Deny { .. } => "deny",
            Answer::Respond { .. } => "respond",
            Answer::Choose(_) => "choose",
            Answer::Fill(_) => "fill",
            Answer::Perform { .. } => "perform",
            Answer::Settle { .. } => "settle",
        }
    }
}

/// How far an approval reaches.
#[derive(Clone, Debug, PartialEq)]
pub enum ApprovalScope {
    /// This call alone.
    Once,
    /// Also later calls of this session, within these bounds.
    Session(GrantTerms),
}

/// The bounds of a standing grant, as a person wishes them. The grant gets no more than `limits` allow.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GrantTerms {
    /// `None`: the longest that a grant may live, [`GRANT_MS_MAX`].
    pub expires_in_ms: Option<u64>,
    /// `None`: [`GRANT_USES_DEFAULT`](crate::limits::GRANT_USES_DEFAULT).
    pub uses: Option<u32>,
    /// Absent: only the very same call again.
    pub conditions: Option<Conditions>,
}

impl GrantTerms {
    /// What a grant has in place of what was asked for, where that is less; in words.
    pub fn clamped(&self) -> Option<String> {
        let mut given = Vec::new();
        if let Some(ms) = self.expires_in_ms.filter(|ms| *ms > GRANT_MS_MAX) {
            given.push(format!(
                "it ends after {} s, and {} s were asked for",
                GRANT_MS_MAX / 1000,
                ms / 1000
            ));
        }
        if let Some(uses) = self.uses.filter(|uses| *uses > GRANT_USES_MAX) {
            given.push(format!("it has {GRANT_USES_MAX} uses, and {uses} were asked for"));
        }
        match given.is_empty() {
            true => None,
            false => Some(format!("the grant is shorter than asked for: {}", given.join("; "))),
        }
    }
}

/// What a person found out about a call whose outcome was unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settlement {
    /// The effect happened.
    Succeeded,
    /// The tool ran and failed.
    Failed,
    /// It did not happen: propose it again.
    Retry,
}

impl Settlement {
    /// The word by which records and the API tell it.
    pub fn name(self) -> &'static str {
        match self {
            Settlement::Succeeded => "succeeded",
            Settlement::Failed => "failed",
            Settlement::Retry => "retry",
        }
    }

    /// The finding of this name. `None`: there is none.
    pub fn parse(text: &str) -> Option<Settlement> {
        [Settlement::Succeeded, Settlement::Failed, Settlement::Retry]
            .into_iter()
            .find(|how| how.name() == text)
    }
}
