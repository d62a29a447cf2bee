//! Leave to run.

use std::sync::Arc;

use crate::call::Call;
use crate::digest::Digest;
use crate::id::{GrantId, HoldId, SessionId};
use crate::person::PersonId;
use crate::policy::Conditions;
use crate::time::Timestamp;

/// On whose word a call was cleared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClearedBy {
    /// A rule of the policy allows it without asking; `None` is the configured default.
    Rule(Option<String>),
    /// A standing grant that a person gave earlier.
    Grant(GrantId),
    /// People, through this hold.
    People(HoldId),
}

/// A bounded standing grant: further calls of this kind in this session need not be asked about.
#[derive(Clone, Debug, PartialEq)]
pub struct Grant {
    pub id: GrantId,
    pub session: SessionId,
    pub tool: Arc<str>,
    /// The tool as it was when the grant was given; a changed tool is asked about again.
    pub definition: Digest,
    pub covers: Covers,
    pub by: PersonId,
    /// The hold whose approval made it.
    pub hold: HoldId,
    pub made_at: Timestamp,
    pub expires_at: Timestamp,
    pub uses_left: u32,
    pub revoked: bool,
}

/// Which calls a grant covers.
#[derive(Clone, Debug, PartialEq)]
pub enum Covers {
    /// The very same call again: tool, canonical arguments, working directory.
    Same(Digest),
    /// Calls whose arguments meet these conditions, as the person saw them stated.
    Stated(Conditions),
}

impl Grant {
    pub fn is_live(&self, now: Timestamp) -> bool {
        // mutant: grant-outlives-its-time
        !self.revoked && self.uses_left > 0 && now < self.expires_at
    }

    pub fn covers(&self, call: &Call) -> bool {
        // mutant: grant-for-another-tool begins
        self.tool == call.tool
            && self.definition == call.definition
            && match &self.covers {
                // mutant: grant-for-another-tool ends
                // mutant: grant-for-other-arguments
                Covers::Same(key) => *key == call.match_key(),
                Covers::Stated(conditions) => conditions.hold_for(call.arguments.value()),
            }
    }
}
