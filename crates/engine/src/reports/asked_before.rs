//! How often calls like that of a hold were asked about, and what became of them. Only holds that the caller may
//! see are counted.

use domain::answer::Answer;
use domain::hold::{Hold, HoldStateName};
use domain::id::HoldId;
use domain::person::PersonId;
use domain::time::Timestamp;
use ports::store::{HoldFacts, HoldQuery};

use crate::accounts::Caller;
use crate::limits::{ALIKE_LOOKED_AT, ALIKE_REASON_CHARS};
use crate::{Engine, Error};

pub const DAY_MS: u64 = 24 * 3_600_000;

/// What became of several holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OutcomeCounts {
    pub asked: u64,
    pub approved: u64,
    pub denied: u64,
    pub answered: u64,
    pub expired: u64,
    pub cancelled: u64,
    pub open: u64,
}

impl OutcomeCounts {
    pub fn add(&mut self, state: HoldStateName) {
        self.asked += 1;
        let count = match state {
            HoldStateName::Pending => &mut self.open,
            HoldStateName::Approved => &mut self.approved,
            HoldStateName::Denied => &mut self.denied,
            HoldStateName::Answered => &mut self.answered,
            HoldStateName::Expired => &mut self.expired,
            HoldStateName::Cancelled => &mut self.cancelled,
        };
        *count += 1;
    }
}

/// The same over two times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecentCounts {
    pub days_7: OutcomeCounts,
    pub days_30: OutcomeCounts,
}

impl RecentCounts {
    fn add(&mut self, facts: &HoldFacts, now: Timestamp) {
        self.days_30.add(facts.state);
        if now.ms_since(facts.opened_at) < 7 * DAY_MS {
            self.days_7.add(facts.state);
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AskedBefore {
    /// Calls of the same tool by the same agent or program.
    pub alike: RecentCounts,
    /// Of these, the same calls.
    pub same: RecentCounts,
    pub last_denial: Option<LastDenial>,
    /// Whether all of them were looked at.
    pub is_complete: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastDenial {
    pub hold: HoldId,
    /// It was the same call, and not only one alike.
    pub is_same: bool,
    pub by: PersonId,
    pub by_name: String,
    pub at: Timestamp,
    /// Their own words, which are foreign to every reader.
    pub reason: Option<String>,
}

impl Engine {
    pub async fn asked_before(&self, caller: &Caller, id: HoldId) -> Result<AskedBefore, Error> {
        let hold = self.hold(caller, id).await?;
        let Some(call) = hold.call() else {
            return Ok(AskedBefore { is_complete: true, ..AskedBefore::default() });
        };
        let now = self.now();
        let since = now.minus_ms(30 * DAY_MS);
        let query = HoldQuery {
            tool: Some(call.tool.to_string()),
            source: Some(call.agent.to_string()),
            // Ids begin with their time.
            from: Some(HoldId::new(since.as_ms(), 0)),
            ..HoldQuery::all(caller.viewer(), ALIKE_LOOKED_AT)
        };
        let found = self.0.store.hold_facts(query).await?;
        let is_complete = found.len() < ALIKE_LOOKED_AT;
        let likeness = HoldFacts::of(&hold).likeness;
        // What was asked later is no history of this one. Siblings of one moment count for each other.
        let others =
            || found.iter().filter(|facts| facts.id != id && facts.opened_at <= hold.opened_at);
        let mut before = AskedBefore { is_complete, ..AskedBefore::default() };
        for facts in others() {
            before.alike.add(facts, now);
            if facts.likeness == likeness {
                before.same.add(facts, now);
            }
        }
        // Newest first.
        let mut denials = others()
            .filter(|facts| facts.state == HoldStateName::Denied && !facts.decided_by.is_empty());
        let same = denials.clone().find(|facts| facts.likeness == likeness);
        if let Some(facts) = same.or_else(|| denials.next()) {
            let denied = self.0.store.hold(facts.id).await?;
            let is_same = facts.likeness == likeness;
            before.last_denial = denied.and_then(|denied| self.denial(&denied, is_same));
        }
        Ok(before)
    }

    fn denial(&self, hold: &Hold, is_same: bool) -> Option<LastDenial> {
        let vote = hold.state.decision()?.vote()?;
        let Answer::Deny { reason, .. } = &vote.answer else { return None };
        let reason = reason.as_deref().map(str::trim).filter(|reason| !reason.is_empty());
        Some(LastDenial {
            hold: hold.id,
            is_same,
            by: vote.by.clone(),
            by_name: self.0.people.name_of(&vote.by).to_owned(),
            at: vote.at,
            reason: reason.map(shortened),
        })
    }
}

fn shortened(reason: &str) -> String {
    let mut kept: String = reason.chars().take(ALIKE_REASON_CHARS).collect();
    if kept.len() < reason.len() {
        kept.push('…');
    }
    kept
}
