//! Until when a commit may be written (I-54). An answer counts only if it is durable before the deadline of
//! its hold, and a call starts only while its clearance holds. The decision looked at the clock; the commit
//! may then wait behind others or on a slow disk. So it carries its deadline, and the store refuses it
//! afterwards; it is decided again, and by then the hold has expired.

use domain::event::{HoldEvent, SessionEvent};
use domain::grant::ClearedBy;
use domain::hold::{Hold, HoldChange, HoldState};
use domain::id::{CallId, HoldId};
use domain::session::{CallState, Session};
use domain::time::Timestamp;
use ports::store::WriteBefore;

use crate::Engine;

impl Engine {
    /// For a commit that leads to this state of a session.
    pub(crate) fn write_before(
        &self,
        next: &Session,
        events: &[SessionEvent],
    ) -> Option<WriteBefore> {
        let deadline = |event: &SessionEvent| match event {
            SessionEvent::CallStarted { call, .. } => start_by(next, *call),
            SessionEvent::Hold(event) => next.holds.get(&answered_hold(event)?)?.expires_at,
            _ => None,
        };
        self.with_clock(events.iter().filter_map(deadline).min())
    }

    /// The same for a hold that is a stream of its own.
    pub(crate) fn write_hold_before(
        &self,
        hold: &Hold,
        events: &[HoldEvent],
    ) -> Option<WriteBefore> {
        let is_answered = events.iter().any(|event| answered_hold(event).is_some());
        self.with_clock(hold.expires_at.filter(|_| is_answered))
    }

    fn with_clock(&self, at: Option<Timestamp>) -> Option<WriteBefore> {
        at.map(|at| WriteBefore { at, clock: self.0.clock.clone() })
    }
}

/// The hold in which somebody's answer counts by this event.
fn answered_hold(event: &HoldEvent) -> Option<HoldId> {
    match event {
        HoldEvent::Opened { .. } => None,
        HoldEvent::Decided { hold, state } => match state {
            HoldState::Approved(_) | HoldState::Denied(_) | HoldState::Answered(_) => Some(*hold),
            HoldState::Pending | HoldState::Expired { .. } | HoldState::Cancelled { .. } => None,
        },
        HoldEvent::Updated { hold, change } => match change {
            HoldChange::Voted(_) | HoldChange::Revised { .. } => Some(*hold),
            HoldChange::Claimed(_)
            | HoldChange::Unclaimed
            | HoldChange::Outcome(_)
            | HoldChange::Revealed(_)
            | HoldChange::Commented(_) => None,
        },
    }
}

fn start_by(next: &Session, call: CallId) -> Option<Timestamp> {
    let CallState::Running { clearance, .. } = &next.calls.get(&call)?.state else { return None };
    let granted_until = match clearance.by {
        ClearedBy::Grant(grant) => next.grants.get(&grant).map(|grant| grant.expires_at),
        ClearedBy::People(_) | ClearedBy::Rule(_) => None,
    };
    granted_until.into_iter().chain([clearance.execute_by]).min()
}
