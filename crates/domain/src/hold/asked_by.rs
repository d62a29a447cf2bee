//! Who asks, as people are told it: the program or the agent, and the person it acts for.

use super::Hold;
use crate::person::{Actor, PersonId};

/// Who asks, in the parts that people are told: a program, an agent, and a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AskedBy<'a> {
    /// The name of the token with which a program opened the hold, or the hold's session.
    pub program: Option<&'a str>,
    /// The agent whose call it is. `None` for a program that opened the hold itself.
    pub agent: Option<&'a str>,
    /// Who answers for it. For a program it is the maker of its token, who did not ask themselves.
    pub on_behalf_of: Option<&'a PersonId>,
}

impl Hold {
    /// The askers of this hold, from what is stored with it.
    pub fn asked_by(&self) -> AskedBy<'_> {
        AskedBy {
            program: match &self.opener {
                Actor::Program { name, .. } => Some(name),
                Actor::Person(_) | Actor::Runtime => None,
            },
            agent: self.agent(),
            on_behalf_of: self.requester.as_ref().or_else(|| self.opener.accountable()),
        }
    }
}
