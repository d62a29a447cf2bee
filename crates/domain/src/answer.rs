//! What a person can say to a hold.

mod deny_reason;

use std::fmt;

use serde_json::Value;

pub use deny_reason::{DenyReason, StatedReason};

use crate::json::Arguments;
use crate::limits::{GRANT_MS_MAX, GRANT_USES_MAX};
use crate::policy::Conditions;

#[derive(Clone, PartialEq)]
pub enum Answer {
    Approve {
        scope: Scope,
        arguments: Option<Arguments>,
        note: Option<String>,
    },
    Deny {
        reason: Option<DenyReason>,
        stop: bool,
    },
    /// The model gets this in the tool's place.
    Respond {
        content: String,
    },
    /// Option ids or labels; with `allow_other`, free text.
    Choose(Vec<String>),
    Fill(Value),
    Perform {
        content: String,
        is_error: bool,
    },
    Settle {
        how: Settlement,
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
pub enum Scope {
    Once,
    /// Also later calls of this session, within these bounds.
    Session(GrantTerms),
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct GrantTerms {
    pub expires_in_ms: Option<u64>,
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
    Succeeded,
    Failed,
    /// It did not happen: propose it again.
    Retry,
}

impl Settlement {
    pub fn name(self) -> &'static str {
        match self {
            Settlement::Succeeded => "succeeded",
            Settlement::Failed => "failed",
            Settlement::Retry => "retry",
        }
    }

    pub fn parse(text: &str) -> Option<Settlement> {
        [Settlement::Succeeded, Settlement::Failed, Settlement::Retry]
            .into_iter()
            .find(|how| how.name() == text)
    }
}
