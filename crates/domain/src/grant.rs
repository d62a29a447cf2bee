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
///
/// ```
/// # use holdpoint_domain::call::{Call, ExecutionContext, Proposal};
/// # use holdpoint_domain::digest::Digest;
/// # use holdpoint_domain::grant::{Covers, Grant};
/// # use holdpoint_domain::id::{CallId, GrantId, HoldId, SessionId};
/// # use holdpoint_domain::json::Arguments;
/// # use holdpoint_domain::person::PersonId;
/// # use holdpoint_domain::time::Timestamp;
/// # use holdpoint_domain::tool::{Effects, Place, Tool};
/// # let schema = serde_json::json!({"type": "object"});
/// # let tool = Tool::new("mail", "", schema, Effects::AtMostOnce, Place::Server, "").unwrap();
/// # let call = |arguments: &str| {
/// #     let proposal = Proposal {
/// #         id: CallId::new(1, 1),
/// #         tool_use_id: "toolu_1".into(),
/// #         agent: "ops".into(),
/// #         session: Some(SessionId::new(1, 1)),
/// #         arguments: Arguments::parse(arguments.as_bytes()).unwrap(),
/// #         context: ExecutionContext::default(),
/// #         policy: Digest::of(b"policy"),
/// #     };
/// #     Call::propose(proposal, &tool)
/// # };
/// let approved = call(r#"{"to": "ana"}"#);
/// let grant = Grant {
///     id: GrantId::new(1, 1),
///     session: SessionId::new(1, 1),
///     tool: approved.tool.clone(),
///     definition: approved.definition,
///     covers: Covers::Same(approved.match_key()),
///     by: PersonId::new("bob"),
///     hold: HoldId::new(1, 1),
///     made_at: Timestamp::from_ms(0),
///     expires_at: Timestamp::from_ms(60_000),
///     uses_left: 3,
///     revoked: false,
/// };
/// // The same arguments in another spelling are the same call; others are another.
/// assert!(grant.covers(&call(r#"{ "to":"ana" }"#)));
/// assert!(!grant.covers(&call(r#"{"to": "eve"}"#)));
/// assert!(grant.is_live(Timestamp::from_ms(59_999)) && !grant.is_live(grant.expires_at));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Grant {
    /// Names the grant.
    pub id: GrantId,
    /// The only session in which it counts.
    pub session: SessionId,
    /// The name of the only tool that it covers.
    pub tool: Arc<str>,
    /// The tool as it was when the grant was given; a changed tool is asked about again.
    pub definition: Digest,
    /// Which calls of the tool it covers.
    pub covers: Covers,
    /// Who approved. With the grant they approve the later calls, too.
    pub by: PersonId,
    /// The hold whose approval made it.
    pub hold: HoldId,
    /// When it was made.
    pub made_at: Timestamp,
    /// From this moment on it covers nothing.
    pub expires_at: Timestamp,
    /// Calls that it may still let run.
    pub uses_left: u32,
    /// A person ended it early.
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
    /// Whether it can cover anything at `now`: not revoked, not used up, not expired.
    pub fn is_live(&self, now: Timestamp) -> bool {
        // mutant: grant-outlives-its-time
        !self.revoked && self.uses_left > 0 && now < self.expires_at
    }

    /// Whether the call is one of those that were granted. Whether the grant is still live is [`Grant::is_live`]'s to say.
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
