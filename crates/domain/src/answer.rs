//! What a person can say to a hold.

use serde_json::Value;

use crate::json::Arguments;
use crate::policy::Conditions;

#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    Approve {
        scope: Scope,
        arguments: Option<Arguments>,
        note: Option<String>,
    },
    Deny {
        reason: Option<String>,
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
