//! The names of a hold's states and of the kinds of question, for those who list and filter holds.
//! Doors parse them once; behind a door they are compared as what they are and not as text.

use std::fmt;

use serde::Deserialize;
use serde_json::Value;

/// Which state a hold is in, without what is true in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HoldStateName {
    /// See [`HoldState::Pending`](super::HoldState::Pending).
    Pending,
    /// See [`HoldState::Approved`](super::HoldState::Approved).
    Approved,
    /// See [`HoldState::Denied`](super::HoldState::Denied).
    Denied,
    /// See [`HoldState::Answered`](super::HoldState::Answered).
    Answered,
    /// See [`HoldState::Expired`](super::HoldState::Expired).
    Expired,
    /// See [`HoldState::Cancelled`](super::HoldState::Cancelled).
    Cancelled,
}

impl HoldStateName {
    /// Every state, the open one first.
    pub const ALL: [HoldStateName; 6] = [
        HoldStateName::Pending,
        HoldStateName::Approved,
        HoldStateName::Denied,
        HoldStateName::Answered,
        HoldStateName::Expired,
        HoldStateName::Cancelled,
    ];

    /// The word by which records and the API tell it.
    pub const fn name(self) -> &'static str {
        match self {
            HoldStateName::Pending => "pending",
            HoldStateName::Approved => "approved",
            HoldStateName::Denied => "denied",
            HoldStateName::Answered => "answered",
            HoldStateName::Expired => "expired",
            HoldStateName::Cancelled => "cancelled",
        }
    }

    /// The state of this name. `None`: there is none.
    pub fn parse(text: &str) -> Option<HoldStateName> {
        HoldStateName::ALL.into_iter().find(|state| state.name() == text)
    }
}

impl fmt::Display for HoldStateName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The state of a hold as another process tells it, which may be newer than the one that reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HoldReplyState {
    /// People can still answer.
    Pending,
    /// The only state by which the other process may go on with its call.
    Approved,
    /// The call must not run.
    Denied,
    /// There is content in place of leave.
    Answered,
    /// The deadline passed without a decision.
    Expired,
    /// The question was taken back.
    Cancelled,
    /// A state that is not known here, or none at all. It is no approval.
    #[serde(other)]
    Other,
}

impl HoldReplyState {
    /// Of a hold in the shape of the HTTP API.
    pub fn of(hold: &Value) -> HoldReplyState {
        hold["state"]
            .as_str()
            .and_then(HoldStateName::parse)
            .map_or(HoldReplyState::Other, HoldReplyState::from)
    }
}

impl From<HoldStateName> for HoldReplyState {
    fn from(state: HoldStateName) -> HoldReplyState {
        match state {
            HoldStateName::Pending => HoldReplyState::Pending,
            HoldStateName::Approved => HoldReplyState::Approved,
            HoldStateName::Denied => HoldReplyState::Denied,
            HoldStateName::Answered => HoldReplyState::Answered,
            HoldStateName::Expired => HoldReplyState::Expired,
            HoldStateName::Cancelled => HoldReplyState::Cancelled,
        }
    }
}

/// Which kind of question a hold asks, without the question itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum QuestionKind {
    /// May this call, or this run, go on?
    Approve,
    /// Which of these options?
    Choose,
    /// What belongs into this form?
    Fill,
    /// What came of it when you did this?
    Perform,
    /// What really happened?
    Settle,
}

impl QuestionKind {
    /// Every kind.
    pub const ALL: [QuestionKind; 5] = [
        QuestionKind::Approve,
        QuestionKind::Choose,
        QuestionKind::Fill,
        QuestionKind::Perform,
        QuestionKind::Settle,
    ];

    /// The word by which records and the API tell it.
    pub const fn name(self) -> &'static str {
        match self {
            QuestionKind::Approve => "approve",
            QuestionKind::Choose => "choose",
            QuestionKind::Fill => "fill",
            QuestionKind::Perform => "perform",
            QuestionKind::Settle => "settle",
        }
    }

    /// The kind of this name. `None`: there is none.
    pub fn parse(text: &str) -> Option<QuestionKind> {
        QuestionKind::ALL.into_iter().find(|kind| kind.name() == text)
    }
}

impl fmt::Display for QuestionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_parsed_back_and_no_other_text_is() {
        for state in HoldStateName::ALL {
            assert_eq!(HoldStateName::parse(state.name()), Some(state));
        }
        for kind in QuestionKind::ALL {
            assert_eq!(QuestionKind::parse(kind.name()), Some(kind));
        }
        assert_eq!(HoldStateName::parse("nonsense"), None);
        assert_eq!(QuestionKind::parse("Approve"), None);
    }

    #[test]
    fn a_state_of_a_newer_server_is_none_of_ours() {
        for state in HoldStateName::ALL {
            let told = serde_json::json!({"state": state.name()});
            assert_eq!(HoldReplyState::of(&told), HoldReplyState::from(state));
            assert_eq!(HoldReplyState::deserialize(&told["state"]).unwrap(), state.into());
        }
        for unknown in
            [Value::Null, serde_json::json!({"state": "Approved"}), serde_json::json!({})]
        {
            assert_eq!(HoldReplyState::of(&unknown), HoldReplyState::Other);
        }
        let newer = serde_json::json!("postponed");
        assert_eq!(HoldReplyState::deserialize(&newer).unwrap(), HoldReplyState::Other);
    }
}
