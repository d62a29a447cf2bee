//! What an inbox is made of beside the holds themselves: the words of its query, its counts, and how often a call
//! was asked about before.

use axum::extract::State;
use axum::http::StatusCode;
use domain::hold::{HoldStateName, QuestionKind, Risk};
use domain::id::{HoldId, SessionId};
use domain::person::PersonId;
use domain::time::Timestamp;
use engine::{DAY_MS, HoldFilter, InboxSection};
use ports::store::HoldOrder;
use serde::Deserialize;

use crate::app::App;
use crate::asked::{Id, Params, json, page};
use crate::auth::Who;
use crate::limits::SEARCH_BYTES_MAX;
use crate::problem::{Problem, Reply};
use crate::wire;

#[derive(Deserialize)]
pub(crate) struct HoldsQuery {
    state: Option<String>,
    agent: Option<String>,
    tool: Option<String>,
    requester: Option<String>,
    decided_by: Option<String>,
    session: Option<String>,
    kind: Option<String>,
    risk: Option<String>,
    mine: Option<bool>,
    section: Option<String>,
    sort: Option<String>,
    q: Option<String>,
    limit: Option<usize>,
    cursor: Option<String>,
}

/// Every state but pending.
const DECIDED: &str = "decided";

pub(crate) const STATES: [&str; 7] = {
    let [a, b, c, d, e, f] = HoldStateName::ALL;
    [a.name(), b.name(), c.name(), d.name(), e.name(), f.name(), DECIDED]
};
pub(crate) const KINDS: [&str; 5] = {
    let [a, b, c, d, e] = QuestionKind::ALL;
    [a.name(), b.name(), c.name(), d.name(), e.name()]
};
pub(crate) const SECTIONS: [&str; 4] = {
    let [a, b, c, d] = InboxSection::ALL;
    [a.name(), b.name(), c.name(), d.name()]
};
pub(crate) const SORTS: [&str; 3] = ["newest", "oldest", "urgency"];

impl HoldsQuery {
    pub(crate) fn parse(self) -> Result<HoldFilter, Problem> {
        let (limit, after) = page(self.limit, self.cursor.as_deref())?;
        let decided = self.state.as_deref() == Some(DECIDED);
        let state = self.state.filter(|_| !decided);
        let state = one_of("state", &STATES, state, HoldStateName::parse)?;
        let kind = one_of("kind", &KINDS, self.kind, QuestionKind::parse)?;
        let risk = one_of("risk", &Risk::ALL.map(Risk::name), self.risk, Risk::parse)?;
        let section = one_of("section", &SECTIONS, self.section, InboxSection::parse)?;
        let order = one_of("sort", &SORTS, self.sort, order)?.unwrap_or_default();
        let session = self.session.map(|id| id.parse::<SessionId>()).transpose();
        let open = section.is_some() || order == HoldOrder::Urgency;
        if open && (decided || state.is_some_and(|state| state != HoldStateName::Pending)) {
            let detail = "`section` and `sort=urgency` are for open holds: leave `state` out";
            return Err(Problem::bad_request(detail));
        }
        if self.q.as_ref().is_some_and(|text| text.len() > SEARCH_BYTES_MAX) {
            let detail = format!("`q` has at most {SEARCH_BYTES_MAX} bytes");
            return Err(Problem::bad_request(detail));
        }
        let person = |id: Option<String>| id.map(|id| PersonId::new(&id));
        Ok(HoldFilter {
            state,
            decided,
            agent: self.agent,
            tool: self.tool,
            requester: person(self.requester),
            decided_by: person(self.decided_by),
            session: session.map_err(|error| Problem::bad_request(error.to_string()))?,
            kind,
            risk,
            mine: self.mine.unwrap_or(false),
            section,
            text: self.q.filter(|text| !text.is_empty()),
            order,
            after,
            limit,
        })
    }
}

fn order(name: &str) -> Option<HoldOrder> {
    match name {
        "newest" => Some(HoldOrder::Newest),
        "oldest" => Some(HoldOrder::Oldest),
        "urgency" => Some(HoldOrder::Urgency),
        _ => None,
    }
}

/// What a parameter names, which must be one of the known names.
fn one_of<T>(
    name: &str,
    known: &[&str],
    value: Option<String>,
    parse: fn(&str) -> Option<T>,
) -> Result<Option<T>, Problem> {
    let Some(value) = value else { return Ok(None) };
    let unknown = || Problem::bad_request(format!("`{name}` is one of {}", known.join(", ")));
    parse(&value).map(Some).ok_or_else(unknown)
}

#[derive(Deserialize)]
pub(crate) struct CountsQuery {
    since: Option<String>,
}

impl CountsQuery {
    pub(crate) fn parse(self, now: Timestamp) -> Result<Timestamp, Problem> {
        match self.since {
            None => Ok(now.minus_ms(now.as_ms().unsigned_abs() % DAY_MS)),
            Some(text) => Timestamp::parse(&text)
                .ok_or_else(|| Problem::bad_request("`since` is a moment: 2026-11-18T00:00:00Z")),
        }
    }
}

pub(crate) async fn counts(
    State(app): State<App>,
    who: Who,
    Params(asked): Params<CountsQuery>,
) -> Reply {
    let since = asked.parse(app.engine.now())?;
    let counts = app.engine.count_inbox(&who.caller, since).await?;
    Ok(json(StatusCode::OK, &wire::InboxCounts::of(&counts, since)))
}

pub(crate) async fn asked_before(State(app): State<App>, who: Who, Id(id): Id<HoldId>) -> Reply {
    let before = app.engine.asked_before(&who.caller, id).await?;
    Ok(json(StatusCode::OK, &wire::AskedBefore::of(&before)))
}
