//! Which holds a list is to have, in which order, and what a list of many needs to know of each.

use std::cmp::{Ordering, Reverse};
use std::sync::Arc;

use domain::digest::Digest;
use domain::hold::{Decision, Hold, HoldState, HoldStateName, QuestionKind, Risk};
use domain::id::{HoldId, SessionId};
use domain::person::PersonId;
use domain::time::Timestamp;

use crate::store::Viewer;

/// A person by name, with their roles.
pub type PersonWithRoles = (PersonId, Vec<String>);

#[derive(Clone, Debug)]
pub struct HoldQuery {
    pub viewer: Viewer,
    pub state: Option<HoldStateName>,
    /// Only those that are decided, whichever way.
    pub decided: bool,
    pub agent: Option<String>,
    /// Only calls of this tool.
    pub tool: Option<String>,
    /// Only calls of this agent or program, as the call names it.
    pub source: Option<String>,
    pub requester: Option<PersonId>,
    /// Only those that this person decided, alone or with others.
    pub decided_by: Option<PersonId>,
    pub session: Option<SessionId>,
    pub kind: Option<QuestionKind>,
    pub risk: Option<Risk>,
    pub risk_below: Option<Risk>,
    /// Only holds that this person may answer, by name or role, and has not answered yet.
    pub audience: Option<PersonWithRoles>,
    /// Only the others.
    pub not_for: Option<PersonWithRoles>,
    /// Free text in title, tool, agent, requester or tag.
    pub text: Option<String>,
    /// This one and newer ones. Ids sort by time.
    pub from: Option<HoldId>,
    pub decided_since: Option<Timestamp>,
    /// Only those that expire then or earlier.
    pub expires_by: Option<Timestamp>,
    /// Only those that expire later, or never.
    pub expires_after: Option<Timestamp>,
    pub order: HoldOrder,
    /// Continue after this one.
    pub after: Option<HoldId>,
    /// When that one expires, for [`HoldOrder::Urgency`].
    pub after_expires_at: Option<Timestamp>,
    pub limit: usize,
}

impl HoldQuery {
    /// Every hold that this viewer may see, so many of them.
    pub const fn all(viewer: Viewer, limit: usize) -> HoldQuery {
        HoldQuery {
            viewer,
            state: None,
            decided: false,
            agent: None,
            tool: None,
            source: None,
            requester: None,
            decided_by: None,
            session: None,
            kind: None,
            risk: None,
            risk_below: None,
            audience: None,
            not_for: None,
            text: None,
            from: None,
            decided_since: None,
            expires_by: None,
            expires_after: None,
            order: HoldOrder::Newest,
            after: None,
            after_expires_at: None,
            limit,
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HoldOrder {
    #[default]
    Newest,
    Oldest,
    /// What expires first is first, and what never does is last. Only of pending ones.
    Urgency,
}

impl HoldOrder {
    pub fn compare(self, one: &Hold, other: &Hold) -> Ordering {
        let place = |hold: &Hold| (hold.expires_at, hold.id);
        self.compare_places(place(one), place(other))
    }

    /// The same of two holds by expiry and id.
    pub fn compare_places(
        self,
        one: (Option<Timestamp>, HoldId),
        other: (Option<Timestamp>, HoldId),
    ) -> Ordering {
        let urgency = |(at, id): (Option<Timestamp>, HoldId)| (at.is_none(), at, id);
        match self {
            HoldOrder::Newest => Reverse(one.1).cmp(&Reverse(other.1)),
            HoldOrder::Oldest => one.1.cmp(&other.1),
            HoldOrder::Urgency => urgency(one).cmp(&urgency(other)),
        }
    }
}

/// What figures and histories need to know of a hold, without its call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HoldFacts {
    pub id: HoldId,
    pub state: HoldStateName,
    pub risk: Risk,
    pub tool: Option<Arc<str>>,
    /// The agent or program of its call.
    pub source: Option<Arc<str>>,
    /// Equal for two calls that are the same: the beginning of their match key.
    pub likeness: Option<i64>,
    pub opened_at: Timestamp,
    /// When the first answer came.
    pub answered_at: Option<Timestamp>,
    pub decided_at: Option<Timestamp>,
    /// Those whose votes decided; nobody if a rule, a grant or time did.
    pub decided_by: Vec<PersonId>,
}

impl HoldFacts {
    pub fn of(hold: &Hold) -> HoldFacts {
        let call = hold.call.as_deref();
        HoldFacts {
            id: hold.id,
            state: hold.state.state_name(),
            risk: hold.risk,
            tool: call.map(|call| call.tool.clone()),
            source: call.map(|call| call.agent.clone()),
            likeness: call.map(|call| likeness(call.match_key())),
            opened_at: hold.opened_at,
            answered_at: hold.votes.iter().map(|vote| vote.at).min(),
            decided_at: decided_at(&hold.state),
            decided_by: deciders(&hold.state).to_vec(),
        }
    }
}

/// Eight bytes are enough to count by, and short enough to stand in every row.
fn likeness(match_key: Digest) -> i64 {
    let bytes = match_key.as_bytes();
    bytes[..8].iter().fold(0, |number, byte| (number << 8) | i64::from(*byte))
}

fn decided_at(state: &HoldState) -> Option<Timestamp> {
    match state {
        HoldState::Pending => None,
        HoldState::Approved(decision)
        | HoldState::Denied(decision)
        | HoldState::Answered(decision) => Some(decision.at()),
        HoldState::Expired { at } | HoldState::Cancelled { at, .. } => Some(*at),
    }
}

/// Everybody whose vote counted towards what stands.
pub fn deciders(state: &HoldState) -> &[PersonId] {
    match state.decision() {
        Some(Decision::People { voters, .. }) => voters,
        Some(Decision::Automatic { .. }) | None => &[],
    }
}
