//! What the policy in force says of calls that nobody makes now: of one that somebody thought up, of those of the
//! last days, and of those that a grant would have covered. Nothing is stored, and nothing runs.

use std::collections::BTreeMap;
use std::sync::Arc;

use domain::call::Call;
use domain::digest::Digest;
use domain::event::{Event, HoldEvent, SessionEvent};
use domain::grant::{ClearedBy, Grant};
use domain::hold::{Decision, Hold, HoldState};
use domain::id::{GrantId, HoldId};
use domain::json::Arguments;
use domain::policy::{Facts, PolicyDecision, Verdict};
use domain::refusal::Refusal;
use domain::sql_facts::SqlFacts;
use domain::time::Timestamp;
use ports::store::{Entry, HoldQuery};

use crate::accounts::Caller;
use crate::calls::ruling::inspect_call;
use crate::limits::{
    ALIKE_LOOKED_AT, MATCHES_SHOWN, PREVIEW_WITHIN, REPLAY_PAGE, REPLAYED_COMMITS,
};
use crate::reports::asked_before::DAY_MS;
use crate::{Engine, Error};

/// A call that somebody thought up.
#[derive(Clone, Debug)]
pub struct ImaginedCall {
    pub tool: String,
    pub agent: Option<String>,
    pub arguments: Arguments,
    /// As if the statement changed so many rows.
    pub rows: Option<u64>,
}

/// What the policy says of it, and why.
#[derive(Clone, Debug)]
pub struct Explained {
    pub verdict: Verdict,
    /// A line for each rule, and last one for the verdict.
    pub why: Vec<String>,
    pub facts: String,
    /// Otherwise it was taken for a call of an outside program.
    pub is_known_tool: bool,
    /// The tool would not take the call, whatever the policy says.
    pub refused_by_tool: Option<String>,
}

/// How the policy in force differs from what was decided, of the calls of the last days.
#[derive(Clone, Debug)]
pub struct PolicyReplay {
    pub since: Timestamp,
    pub policy: Digest,
    pub calls: u64,
    /// Calls of which the policy says today what was done with them then.
    pub same: u64,
    pub changes: Vec<RulingChange>,
    /// All of that time was looked at.
    pub is_complete: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RulingChange {
    pub tool: Arc<str>,
    pub from: RulingName,
    pub to: RulingName,
    /// The rule that decides now; `None` is the default.
    pub rule: Option<String>,
    pub count: u64,
    /// The newest hold about such a call.
    pub example: Option<HoldId>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RulingName {
    Allow,
    Ask,
    Deny,
}

impl RulingName {
    pub fn name(self) -> &'static str {
        match self {
            RulingName::Allow => "allow",
            RulingName::Ask => "ask",
            RulingName::Deny => "deny",
        }
    }

    pub fn of(decision: &PolicyDecision) -> RulingName {
        match decision {
            PolicyDecision::Allow => RulingName::Allow,
            PolicyDecision::Ask(_) => RulingName::Ask,
            PolicyDecision::Deny => RulingName::Deny,
        }
    }
}

/// What a grant would have covered, of the calls that people were asked about in the last 30 days.
#[derive(Clone, Debug)]
pub struct GrantMatches {
    pub grant: Arc<Grant>,
    pub since: Timestamp,
    pub looked_at: usize,
    pub count: usize,
    /// The newest of them.
    pub newest: Vec<Arc<Hold>>,
    pub is_complete: bool,
}

impl Engine {
    /// What the policy in force says of a call, as `holdpoint policy explain` says it of a file; for admins. A tool
    /// of ours looks at the call as it does before people are asked.
    pub async fn explain_ruling(
        &self,
        caller: &Caller,
        imagined: &ImaginedCall,
    ) -> Result<Explained, Error> {
        caller.must_be_admin()?;
        let host = self.0.tools.get(&imagined.tool);
        let looking = async {
            match &host {
                None => Ok((None, None)),
                Some(host) => match inspect_call(host, &imagined.arguments, None, &[]).await {
                    Ok(looked) => Ok((looked.prepared.context.sql, None)),
                    Err(why) => Ok((None, Some(why.for_the_model()))),
                },
            }
        };
        let (sql, refused_by_tool) = tokio::select! {
            biased;
            looked = looking => looked,
            () = self.0.clock.sleep(PREVIEW_WITHIN) => {
                Err(Error::Unavailable("the tool took too long to look at the call".into()))
            }
        }?;
        let sql = sql.map(|facts| SqlFacts { rows: imagined.rows.or(facts.rows), ..facts });
        let facts = Facts {
            tool: &imagined.tool,
            agent: imagined.agent.as_deref().unwrap_or_default(),
            effects: host.as_ref().map(|host| host.tool().effects).unwrap_or_default(),
            arguments: imagined.arguments.value(),
            sql: sql.as_ref(),
        };
        Ok(Explained {
            verdict: self.0.policy.rule(&facts),
            why: self.0.policy.explain(&facts),
            facts: facts.describe(),
            is_known_tool: host.is_some(),
            refused_by_tool,
        })
    }

    /// What would have happened with the calls of the last days under the policy in force; for admins.
    pub async fn replay_policy(&self, caller: &Caller, days: u32) -> Result<PolicyReplay, Error> {
        caller.must_be_admin()?;
        let since = self.now().minus_ms(u64::from(days) * DAY_MS);
        let mut after = self.first_position_since(since).await?;
        let mut tally = ReplayTally::default();
        let mut commits = 0;
        let mut is_complete = true;
        loop {
            let page = self.0.store.entries(None, after, REPLAY_PAGE).await?;
            let Some(last) = page.last() else { break };
            after = last.global + (last.events.len() as u64).max(1) - 1;
            for entry in &page {
                for (call, then, hold) in rulings_of(entry) {
                    tally.add(self.verdict(call), call, then, hold);
                }
            }
            commits += page.len();
            if commits >= REPLAYED_COMMITS {
                is_complete = page.len() < REPLAY_PAGE;
                break;
            }
        }
        let policy = self.0.policy.version();
        let ReplayTally { calls, same, changes } = tally;
        let mut changes: Vec<RulingChange> = changes.into_values().collect();
        changes.sort_by_key(|change| std::cmp::Reverse(change.count));
        Ok(PolicyReplay { since, policy, calls, same, changes, is_complete })
    }

    /// The last position before a time, or the one from which no more than the bound is left to read.
    async fn first_position_since(&self, since: Timestamp) -> Result<u64, Error> {
        let (last, _) = self.0.store.last().await?;
        let (mut low, mut high) = (0, last);
        while low < high {
            let middle = low + (high - low) / 2;
            let next = self.0.store.entries(None, middle, 1).await?;
            match next.first() {
                Some(entry) if entry.at < since => {
                    low = (entry.global + entry.events.len() as u64 - 1).max(middle + 1);
                }
                _ => high = middle,
            }
        }
        Ok(low)
    }

    /// What a grant that the caller may see would have covered; among the holds that they may see.
    pub async fn grant_matches(&self, caller: &Caller, id: GrantId) -> Result<GrantMatches, Error> {
        let grants = self.grants(caller).await?;
        let grant = grants.into_iter().find(|grant| grant.id == id);
        let grant = grant.ok_or(Refusal::NotFound { what: "grant" })?;
        let since = self.now().minus_ms(30 * DAY_MS);
        let query = HoldQuery {
            tool: Some(grant.tool.to_string()),
            from: Some(HoldId::new(since.as_ms(), 0)),
            ..HoldQuery::all(caller.viewer(), ALIKE_LOOKED_AT)
        };
        let found = self.0.store.holds(query).await?;
        let (looked_at, is_complete) = (found.len(), found.len() < ALIKE_LOOKED_AT);
        let covered = |hold: &Arc<Hold>| hold.call().is_some_and(|call| grant.covers(call));
        let mut newest: Vec<Arc<Hold>> = found.into_iter().filter(covered).collect();
        let count = newest.len();
        newest.truncate(MATCHES_SHOWN);
        Ok(GrantMatches { grant, since, looked_at, count, newest, is_complete })
    }
}

#[derive(Default)]
struct ReplayTally {
    calls: u64,
    same: u64,
    changes: BTreeMap<(Arc<str>, RulingName, RulingName, Option<String>), RulingChange>,
}

impl ReplayTally {
    fn add(&mut self, now: Verdict, call: &Call, from: RulingName, example: Option<HoldId>) {
        self.calls += 1;
        let to = RulingName::of(&now.decision);
        if to == from {
            self.same += 1;
            return;
        }
        let (tool, rule) = (call.tool.clone(), now.rule().map(str::to_owned));
        let change = self
            .changes
            .entry((tool.clone(), from, to, rule.clone()))
            .or_insert(RulingChange { tool, from, to, rule, count: 0, example: None });
        change.count += 1;
        // Oldest first, so the last one is the newest.
        change.example = example.or(change.example);
    }
}

/// The calls that a commit ruled on for the first time, and what was ruled.
fn rulings_of(entry: &Entry) -> Vec<(&Call, RulingName, Option<HoldId>)> {
    let opened = || {
        entry.events.iter().filter_map(|event| match event.hold_event() {
            Some(HoldEvent::Opened { hold }) => Some(hold),
            _ => None,
        })
    };
    let mut rulings = Vec::new();
    for event in entry.events.iter() {
        match event {
            Event::Session(SessionEvent::CallProposed { call, clearance, .. }) => {
                let hold = opened().find(|hold| hold.call_id() == Some(call.id));
                let ruling = match (clearance.as_ref().map(|clearance| &clearance.by), hold) {
                    (Some(ClearedBy::Rule(_)), _) => RulingName::Allow,
                    // A grant answers what the policy asks.
                    (Some(ClearedBy::Grant(_)), _) | (None, Some(_)) => RulingName::Ask,
                    // A start that was taken back: it was ruled on before.
                    (Some(ClearedBy::People(_)), _) => continue,
                    (None, None) => RulingName::Deny,
                };
                rulings.push((&**call, ruling, hold.map(|hold| hold.id)));
            }
            Event::ExternalHold(HoldEvent::Opened { hold }) => {
                let Some(call) = hold.call() else { continue };
                let ruling = match &hold.state {
                    HoldState::Approved(Decision::Automatic { by: ClearedBy::Rule(_), .. }) => {
                        RulingName::Allow
                    }
                    HoldState::Denied(Decision::Automatic { .. }) => RulingName::Deny,
                    _ => RulingName::Ask,
                };
                rulings.push((&**call, ruling, Some(hold.id)));
            }
            _ => {}
        }
    }
    rulings
}
