//! Answers that people give.

use domain::answer::{Answer, GrantTerms, Scope};

pub(crate) fn approve() -> Answer {
    Answer::Approve { scope: Scope::Once, arguments: None, note: None }
}

pub(crate) fn approve_for_session() -> Answer {
    Answer::Approve { scope: Scope::Session(GrantTerms::default()), arguments: None, note: None }
}

pub(crate) fn deny(reason: &str) -> Answer {
    Answer::Deny { reason: Some(reason.into()), stop: false }
}

pub(crate) fn perform(content: &str) -> Answer {
    Answer::Perform { content: content.into(), is_error: false }
}
