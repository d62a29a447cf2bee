//! A second opinion on the state machines: what a hold, a call, a run, a grant and a freeze are to
//! somebody who has only read the documentation. Deliberately naive: no events, no ids, no digests,
//! no sharing of code with the domain. Random commands go through both, and after each step both
//! must have given the same reply and show the same state.

mod drive;
mod outside;
mod register;
mod session;
mod steps;
mod two_phase;

/// Who there is. Ana asks for things in her own name.
pub(super) const PEOPLE: [&str; 5] = ["ana", "bob", "cyd", "eve", "root"];

/// Whom a rule asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Circle {
    Dbas,
    DbasButNotTheRequester,
    Admins,
    /// What is asked when no rule says whom: the requester and the admins.
    RequesterAndAdmins,
}

impl Circle {
    pub(super) fn admits(self, who: &str, dbas: &[&str]) -> bool {
        match self {
            Circle::Dbas => dbas.contains(&who),
            Circle::DbasButNotTheRequester => who != "ana" && dbas.contains(&who),
            Circle::Admins => who == "root",
            Circle::RequesterAndAdmins => who == "ana" || who == "root",
        }
    }
}

/// What somebody says to a hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Said {
    /// Two of them differ in their note only.
    Approve(u8),
    /// Also the same call again, for an hour and twice.
    ApproveForSession,
    /// Also other calls with this argument.
    ApproveForSessionIf(u8),
    /// With another argument.
    Edit(u8),
    Deny,
    DenyAndStop,
    Respond,
    Succeeded,
    Failed,
    Retry,
}

/// The call that somebody says they were shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shown {
    Nothing,
    /// The hold as it was so many edits after it was opened.
    Revision(usize),
    /// Something else altogether.
    Another,
}

/// A reply, by name.
pub(super) type Told = &'static str;
pub(super) const OK: Told = "ok";
