//! The names of a hold's states and of the kinds of question, for those who list and filter holds.
//! Doors parse them once; behind a door they are compared as what they are and not as text.

use std::fmt;

/// Which state a hold is in, without what is true in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HoldStateName {
    Pending,
    Approved,
    Denied,
    Answered,
    Expired,
    Cancelled,
}

impl HoldStateName {
    pub const ALL: [HoldStateName; 6] = [
        HoldStateName::Pending,
        HoldStateName::Approved,
        HoldStateName::Denied,
        HoldStateName::Answered,
        HoldStateName::Expired,
        HoldStateName::Cancelled,
    ];

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

    pub fn parse(text: &str) -> Option<HoldStateName> {
        HoldStateName::ALL.into_iter().find(|state| state.name() == text)
    }
}

impl fmt::Display for HoldStateName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Which kind of question a hold asks, without the question itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum QuestionKind {
    Approve,
    Choose,
    Fill,
    Perform,
    Settle,
}

impl QuestionKind {
    pub const ALL: [QuestionKind; 5] = [
        QuestionKind::Approve,
        QuestionKind::Choose,
        QuestionKind::Fill,
        QuestionKind::Perform,
        QuestionKind::Settle,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            QuestionKind::Approve => "approve",
            QuestionKind::Choose => "choose",
            QuestionKind::Fill => "fill",
            QuestionKind::Perform => "perform",
            QuestionKind::Settle => "settle",
        }
    }

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
}
