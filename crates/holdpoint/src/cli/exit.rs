//! How a command ends, in the one number that a script sees.

use std::fmt;

use domain::hold::HoldReplyState;
use serde_json::Value;

use super::problem::Problem;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Done, answered or approved.
    Done,
    Failed,
    /// The command line itself makes no sense.
    Usage,
    Denied,
    Expired,
    Cancelled,
    /// The question found nobody who may answer it.
    NobodyAsked,
    /// A server that can do nothing more, and is as good as new when it is started again.
    StartAgain,
    Interrupted,
    /// What the command behind a gate said.
    Command(u8),
}

impl Exit {
    pub fn code(self) -> u8 {
        match self {
            Exit::Done => 0,
            Exit::Failed => 1,
            Exit::Usage => 2,
            Exit::Denied => 10,
            Exit::Expired => 11,
            Exit::Cancelled => 12,
            Exit::NobodyAsked => 13,
            Exit::StartAgain => 75,
            Exit::Interrupted => 130,
            Exit::Command(code) => code,
        }
    }

    /// Where a hold stands, as an exit code.
    pub fn of_hold(hold: &Value) -> Exit {
        match HoldReplyState::of(hold) {
            HoldReplyState::Pending | HoldReplyState::Approved | HoldReplyState::Answered => {
                Exit::Done
            }
            HoldReplyState::Denied => Exit::Denied,
            HoldReplyState::Expired => Exit::Expired,
            HoldReplyState::Cancelled => Exit::Cancelled,
            HoldReplyState::Other => Exit::Failed,
        }
    }
}

/// Something that the person who typed the command can mend by typing another.
#[derive(Debug)]
pub struct UsageError(pub String);

impl fmt::Display for UsageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for UsageError {}

/// The user left a prompt without answering it.
#[derive(Debug)]
pub struct Abandoned;

impl fmt::Display for Abandoned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("nothing was answered")
    }
}

impl std::error::Error for Abandoned {}

pub fn of_error(error: &anyhow::Error) -> Exit {
    if error.is::<UsageError>() {
        return Exit::Usage;
    }
    if error.is::<Abandoned>() {
        return Exit::Interrupted;
    }
    match error.downcast_ref::<Problem>() {
        Some(problem) if problem.code == "hold_expired" => Exit::Expired,
        Some(problem) if problem.is_about_audience() => Exit::NobodyAsked,
        _ => Exit::Failed,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_codes_are_those_of_the_contract() {
        let codes = [
            (Exit::Done, 0),
            (Exit::Failed, 1),
            (Exit::Usage, 2),
            (Exit::Denied, 10),
            (Exit::Expired, 11),
            (Exit::Cancelled, 12),
            (Exit::NobodyAsked, 13),
            (Exit::StartAgain, 75),
            (Exit::Interrupted, 130),
            (Exit::Command(77), 77),
        ];
        for (exit, code) in codes {
            assert_eq!(exit.code(), code, "{exit:?}");
        }
    }

    #[test]
    fn a_hold_that_nobody_can_read_is_no_success() {
        assert_eq!(Exit::of_hold(&json!({"state": "denied"})), Exit::Denied);
        assert_eq!(Exit::of_hold(&json!({"state": "frobnicated"})), Exit::Failed);
        assert_eq!(Exit::of_hold(&json!({})), Exit::Failed);
    }

    #[test]
    fn errors_end_with_their_own_codes() {
        let usage = anyhow::Error::new(UsageError("x".into())).context("while parsing");
        assert_eq!(of_error(&usage), Exit::Usage);
        assert_eq!(of_error(&Abandoned.into()), Exit::Interrupted);
        assert_eq!(of_error(&anyhow::anyhow!("disk on fire")), Exit::Failed);
    }
}
