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

/// Which holds to list. What is `None` or false restricts nothing; all that is set must hold.
///
/// ```
/// use domain::hold::{HoldStateName, Risk};
/// use holdpoint_ports::hold_query::{HoldOrder, HoldQuery};
/// use holdpoint_ports::store::Viewer;
///
/// /// What waits and is dangerous, the most urgent first.
/// let query = HoldQuery {
///     state: Some(HoldStateName::Pending),
///     risk: Some(Risk::Critical),
///     order: HoldOrder::Urgency,
///     ..HoldQuery::all(Viewer::Everything, 50)
/// };
/// assert!(query.session.is_none(), "of every session");
/// ```
#[derive(Clone, Debug)]
pub struct HoldQuery {
    /// Whose eyes the list is for. Holds that they may not see are neither listed nor counted.
    pub viewer: Viewer,
    /// Only those in this state.
    pub state: Option<HoldStateName>,
    /// Only those that are decided, whichever way.
    pub decided: bool,
    /// Only those of this agent's sessions and running calls.
    pub agent: Option<String>,
    /// Only calls of this tool.
    pub tool: Option<String>,
    /// Only calls of this agent or program, as the call names it.
    pub source: Option<String>,
    /// Only those asked in this person's name.
    pub requester: Option<PersonId>,
    /// Only those that this person decided, alone or with others.
    pub decided_by: Option<PersonId>,
    /// Only those that are part of this session.
    pub session: Option<SessionId>,
    /// Only those that ask this kind of question.
    pub kind: Option<QuestionKind>,
    /// Only those of this risk.
    pub risk: Option<Risk>,
    /// Only those of a lower risk than this.
    pub risk_below: Option<Risk>,
    /// Only holds that this person may answer, by name or role, and has not answered yet.
    pub audience: Option<PersonWithRoles>,
    /// Only the others.
    pub not_for: Option<PersonWithRoles>,
    /// Free text in title, tool, agent, requester or tag.
    pub text: Option<String>,
    /// This one and newer ones. Ids sort by time.
    pub from: Option<HoldId>,
    /// Only those that were decided then or later.
    pub decided_since: Option<Timestamp>,
    /// Only those that expire then or earlier.
    pub expires_by: Option<Timestamp>,
    /// Only those that expire later, or never.
    pub expires_after: Option<Timestamp>,
    /// In which order they are listed; also what `after` means.
    pub order: HoldOrder,
    /// Continue after this one.
    pub after: Option<HoldId>,
    /// When that one expires, for [`HoldOrder::Urgency`].
    pub after_expires_at: Option<Timestamp>,
    /// At most so many. A count does not look at it.
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

/// The orders in which holds are listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HoldOrder {
    /// The hold that was opened last is first.
    #[default]
    Newest,
    /// The hold that was opened first is first.
    Oldest,
    /// What expires first is first, and what never does is last. Only of pending ones.
    Urgency,
}

impl HoldOrder {
    /// Which of two holds comes first in this order.
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
    /// Names the hold.
    pub id: HoldId,
    /// Its state now.
    pub state: HoldStateName,
    /// Its risk now; an edit may have changed it.
    pub risk: Risk,
    /// The tool of its call. `None` for a bare question.
    pub tool: Option<Arc<str>>,
    /// The agent or program of its call.
    pub source: Option<Arc<str>>,
    /// Equal for two calls that are the same: the beginning of their match key.
    pub likeness: Option<i64>,
    /// When people were asked.
    pub opened_at: Timestamp,
    /// When the first answer came.
    pub answered_at: Option<Timestamp>,
    /// When it came to its end. `None` while it is pending.
    pub decided_at: Option<Timestamp>,
    /// Those whose votes decided; nobody if a rule, a grant or time did.
    pub decided_by: Vec<PersonId>,
}

impl HoldFacts {
    /// The facts of a hold that was read whole.
    pub fn of(hold: &Hold) -> HoldFacts {
        let call = hold.call().map(|call| &**call);
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
