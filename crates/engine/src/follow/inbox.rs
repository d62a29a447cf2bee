//! The inbox: which holds a caller wants to see, in which order, in which section, and how many there are.

use std::sync::Arc;

use domain::hold::{Hold, HoldStateName, QuestionKind, Risk};
use domain::id::{HoldId, SessionId};
use domain::person::PersonId;
use domain::time::Timestamp;
use ports::store::{COUNT_MAX, HoldOrder, HoldQuery, PersonWithRoles, Viewer};

use crate::accounts::Caller;
use crate::limits::EXPIRING_SOON_MS;
use crate::{Engine, Error};

/// What an inbox shows.
#[derive(Clone, Debug, Default)]
pub struct HoldFilter {
    pub state: Option<HoldStateName>,
    /// Every state but pending.
    pub decided: bool,
    pub agent: Option<String>,
    pub tool: Option<String>,
    pub requester: Option<PersonId>,
    pub decided_by: Option<PersonId>,
    pub session: Option<SessionId>,
    pub kind: Option<QuestionKind>,
    pub risk: Option<Risk>,
    /// Only what the caller may answer now.
    pub mine: bool,
    pub section: Option<InboxSection>,
    pub text: Option<String>,
    pub order: HoldOrder,
    pub after: Option<HoldId>,
    pub limit: usize,
}

/// Each open hold is in the first of these that fits it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InboxSection {
    /// The caller may answer it, and not for long.
    ExpiringSoon,
    /// The caller may answer it, and its risk is critical.
    Critical,
    Mine,
    /// Others may answer it, or the caller did already.
    Others,
}

impl InboxSection {
    pub const ALL: [InboxSection; 4] = [
        InboxSection::ExpiringSoon,
        InboxSection::Critical,
        InboxSection::Mine,
        InboxSection::Others,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            InboxSection::ExpiringSoon => "expiring_soon",
            InboxSection::Critical => "critical",
            InboxSection::Mine => "mine",
            InboxSection::Others => "others",
        }
    }

    pub fn parse(text: &str) -> Option<InboxSection> {
        InboxSection::ALL.into_iter().find(|section| section.name() == text)
    }
}

/// How many open holds a caller sees, by section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InboxCounts {
    pub open: usize,
    /// What the caller may answer now: the first three sections together.
    pub mine: usize,
    pub expiring_soon: usize,
    pub critical: usize,
    pub decided: usize,
    /// Nothing was too much to be counted.
    pub is_exact: bool,
}

impl Engine {
    pub async fn holds(
        &self,
        caller: &Caller,
        filter: HoldFilter,
    ) -> Result<Vec<Arc<Hold>>, Error> {
        let after_expires_at = match (filter.order, filter.after) {
            // Only a hold that the caller sees can be the end of a page of theirs.
            (HoldOrder::Urgency, Some(after)) => self.hold(caller, after).await?.expires_at,
            _ => None,
        };
        let (mine, section) = (filter.mine, filter.section);
        let pending = mine || section.is_some() || filter.order == HoldOrder::Urgency;
        let query = HoldQuery {
            state: if pending { Some(HoldStateName::Pending) } else { filter.state },
            decided: filter.decided && !pending,
            agent: filter.agent,
            tool: filter.tool,
            requester: filter.requester,
            decided_by: filter.decided_by,
            session: filter.session,
            kind: filter.kind,
            risk: filter.risk,
            text: filter.text,
            order: filter.order,
            after: filter.after,
            after_expires_at,
            ..HoldQuery::all(caller.viewer(), filter.limit)
        };
        let mut query = match (section, mine_of(caller)) {
            (Some(section), Some(who)) => self.in_section(query, section, who),
            // A program may answer nothing.
            (Some(InboxSection::Others), None) => query,
            (Some(_), None) => return Ok(Vec::new()),
            (None, _) => query,
        };
        match (mine, mine_of(caller)) {
            (true, None) => return Ok(Vec::new()),
            (true, who) => query.audience = query.audience.or(who),
            (false, _) => {}
        }
        let (Some(person), Some(_)) = (&caller.person, &query.audience) else {
            return Ok(self.0.store.holds(query).await?);
        };
        // Whether somebody may answer is judged by looking at each, so a page of the store may
        // hold less than a page of ours: read on until it is full.
        let mut holds = Vec::new();
        loop {
            let found = self.0.store.holds(query.clone()).await?;
            let more = found.len() == query.limit;
            query.after = found.last().map(|hold| hold.id);
            query.after_expires_at = found.last().and_then(|hold| hold.expires_at);
            let mine = |hold: &Arc<Hold>| {
                hold.admits(person.id(), &self.0.people)
                    && hold.votes.iter().all(|vote| vote.by != *person.id())
                    && !hold.is_overdue(self.now())
            };
            holds.extend(found.into_iter().filter(mine));
            if !more || holds.len() >= filter.limit {
                break;
            }
        }
        holds.truncate(filter.limit);
        Ok(holds)
    }

    fn in_section(
        &self,
        query: HoldQuery,
        section: InboxSection,
        who: PersonWithRoles,
    ) -> HoldQuery {
        let soon = self.now().plus_ms(EXPIRING_SOON_MS);
        match section {
            InboxSection::Others => HoldQuery { not_for: Some(who), ..query },
            InboxSection::ExpiringSoon => {
                HoldQuery { audience: Some(who), expires_by: Some(soon), ..query }
            }
            InboxSection::Critical => HoldQuery {
                audience: Some(who),
                expires_after: Some(soon),
                // With another risk asked for there is nothing.
                risk_below: query.risk.filter(|risk| *risk != Risk::Critical),
                risk: Some(Risk::Critical),
                ..query
            },
            InboxSection::Mine => HoldQuery {
                audience: Some(who),
                expires_after: Some(soon),
                risk_below: Some(Risk::Critical),
                ..query
            },
        }
    }

    /// How many there are in each section, and how many were decided since then.
    pub async fn count_inbox(
        &self,
        caller: &Caller,
        decided_since: Timestamp,
    ) -> Result<InboxCounts, Error> {
        let now = self.now();
        let soon = now.plus_ms(EXPIRING_SOON_MS);
        let all = || HoldQuery::all(caller.viewer(), 1);
        let pending = || HoldQuery { state: Some(HoldStateName::Pending), ..all() };
        let count = |query| self.0.store.count_holds(query);
        let open = count(pending()).await?;
        let decided =
            count(HoldQuery { decided: true, decided_since: Some(decided_since), ..all() }).await?;
        let (mine, expiring_soon, critical) = match mine_of(caller) {
            None => (0, 0, 0),
            audience => {
                let mine = HoldQuery { audience, expires_after: Some(now), ..pending() };
                let expiring = HoldQuery { expires_by: Some(soon), ..mine.clone() };
                let critical = HoldQuery {
                    risk: Some(Risk::Critical),
                    expires_after: Some(soon),
                    ..mine.clone()
                };
                (count(mine).await?, count(expiring).await?, count(critical).await?)
            }
        };
        let is_exact = open < COUNT_MAX && decided < COUNT_MAX;
        // What is opened between two of these counts must not make one of the sections negative.
        let mine = mine.min(open);
        let expiring_soon = expiring_soon.min(mine);
        let critical = critical.min(mine - expiring_soon);
        Ok(InboxCounts { open, mine, expiring_soon, critical, decided, is_exact })
    }
}

impl Engine {
    /// How many holds wait for an answer of this person, who need not be here.
    pub(crate) async fn count_waiting(&self, who: &PersonId) -> Result<usize, Error> {
        let Some(person) = self.people().get(who) else { return Ok(0) };
        let query = HoldQuery {
            state: Some(HoldStateName::Pending),
            audience: Some((who.clone(), person.roles.iter().cloned().collect())),
            expires_after: Some(self.now()),
            ..HoldQuery::all(Viewer::Everything, 1)
        };
        Ok(self.0.store.count_holds(query).await?)
    }
}

/// The person of a caller, with their roles; a program has none.
fn mine_of(caller: &Caller) -> Option<PersonWithRoles> {
    caller.person.as_ref().map(|person| (person.id().clone(), caller.roles.clone()))
}
