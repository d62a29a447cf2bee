//! What somebody may see, newest first, page by page.

use std::fmt::Write as _;
use std::sync::Arc;

use domain::grant::Grant;
use domain::hold::{Hold, HoldStateName};
use domain::person::PersonId;
use ports::store::{
    COUNT_MAX, HoldFacts, HoldOrder, HoldQuery, PersonWithRoles, SessionQuery, SessionRow, Viewer,
};
use rusqlite::types::Value;
use rusqlite::{Connection, Row, params_from_iter};

use super::audience;
use super::columns::{self, SESSION_COLUMNS, session_row};
use super::error::Failure;
use super::holds::{HOLD_COLUMNS, HOLDS, Holds};
use super::listed::{FACT_COLUMNS, facts};
use crate::record::{key_of, read_grant};

/// Grants have no pages; nobody reads further than this.
const GRANTS_MAX: usize = 10_000;

/// A statement that grows, with its values beside it.
struct Sql {
    text: String,
    values: Vec<Value>,
}

impl Sql {
    fn new(text: &str) -> Sql {
        Sql { text: text.to_owned(), values: Vec::new() }
    }

    /// The next `?n` for this value.
    fn value(&mut self, value: impl Into<Value>) -> String {
        self.values.push(value.into());
        format!("?{}", self.values.len())
    }

    fn and(&mut self, condition: &str) {
        // Writing to a string cannot fail.
        let _ = write!(self.text, " AND {condition}");
    }

    /// `None` if no condition is left that could be met.
    fn any(&mut self, conditions: &[String]) -> Option<()> {
        conditions.first()?;
        self.and(&format!("({})", conditions.join(" OR ")));
        Some(())
    }

    fn count(&self, connection: &Connection) -> Result<usize, Failure> {
        let text = format!("SELECT count(*) FROM ({} LIMIT {COUNT_MAX})", self.text);
        let count: i64 = connection
            .prepare_cached(&text)?
            .query_row(params_from_iter(&self.values), |row| row.get(0))?;
        Ok(usize::try_from(count).unwrap_or_default())
    }

    fn is(&mut self, column: &str, value: impl Into<Value>) {
        let place = self.value(value);
        self.and(&format!("{column} = {place}"));
    }

    /// Whether the audience names this person, and does not leave them out.
    fn may_answer(&mut self, (person, roles): &PersonWithRoles) -> String {
        let names = self.names("h.audience", person, roles);
        let excluded = self.value(audience::excluded(person));
        format!("{names} AND NOT says(h.audience, {excluded})")
    }

    /// Whether a column with an audience names this person, or a role of theirs.
    fn names(&mut self, column: &str, person: &PersonId, roles: &[String]) -> String {
        let place = self.value(audience::names(person, roles));
        format!("says({column}, {place})")
    }
}

/// A hold is seen by its opener, its session's creator, its audience. `None`: nothing is seen.
fn sees_hold(sql: &mut Sql, viewer: &Viewer) -> Option<()> {
    let Viewer::Caller { actor, person } = viewer else { return Some(()) };
    let mut any = Vec::new();
    if let Some(key) = key_of(actor) {
        let key = sql.value(key);
        any.push(format!("h.opener = {key} OR h.creator = {key}"));
    }
    if let Some((person, roles)) = person {
        any.push(sql.names("h.audience", person, roles));
    }
    sql.any(&any)
}

/// A session is seen by its creator and by the audience of any of its holds.
fn sees_session(
    sql: &mut Sql,
    viewer: &Viewer,
    id: &str,
    creator: &str,
    more: Option<String>,
) -> Option<()> {
    let Viewer::Caller { actor, person } = viewer else { return Some(()) };
    let mut any = Vec::from_iter(more);
    if let Some(key) = key_of(actor) {
        let key = sql.value(key);
        any.push(format!("{creator} = {key}"));
    }
    if let Some((person, roles)) = person {
        let names = sql.names("a.audience", person, roles);
        any.push(format!("EXISTS (SELECT 1 FROM holds a WHERE a.session = {id} AND {names})"));
    }
    sql.any(&any)
}

pub(super) fn holds(connection: &Connection, query: &HoldQuery) -> Result<Vec<Arc<Hold>>, Failure> {
    let mut holds = Holds::default();
    page(connection, select_page(HOLD_COLUMNS, query), |row| holds.read(row))
}

/// The same from their columns alone.
pub(super) fn hold_facts(
    connection: &Connection,
    query: &HoldQuery,
) -> Result<Vec<HoldFacts>, Failure> {
    // One that could never be read has no facts.
    let sql = select_page(FACT_COLUMNS, query).map(|(mut sql, order)| {
        sql.and("h.opened_at IS NOT NULL");
        (sql, order)
    });
    page(connection, sql, facts)
}

fn page<T>(
    connection: &Connection,
    page: Option<(Sql, String)>,
    mut read: impl FnMut(&Row<'_>) -> Result<T, Failure>,
) -> Result<Vec<T>, Failure> {
    let Some((mut sql, order)) = page else { return Ok(Vec::new()) };
    sql.text.push_str(&order);
    let mut statement = connection.prepare_cached(&sql.text)?;
    let mut rows = statement.query(params_from_iter(&sql.values))?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(read(row)?);
    }
    Ok(found)
}

/// A page, and apart from it its order and length, which come last.
fn select_page(columns: &str, query: &HoldQuery) -> Option<(Sql, String)> {
    let mut sql = select_holds(columns, query)?;
    let limit = sql.value(i64::try_from(query.limit).unwrap_or(i64::MAX));
    let order = match query.order {
        HoldOrder::Newest => "h.id DESC".to_owned(),
        HoldOrder::Oldest => "h.id".to_owned(),
        HoldOrder::Urgency => format!("{DUE}, h.id"),
    };
    Some((sql, format!(" ORDER BY {order} LIMIT {limit}")))
}

/// How SQLite goes about it.
#[cfg(test)]
pub(super) fn plan(connection: &Connection, query: &HoldQuery) -> Result<Vec<String>, Failure> {
    let Some((sql, order)) = select_page(HOLD_COLUMNS, query) else { return Ok(Vec::new()) };
    let text = format!("EXPLAIN QUERY PLAN {}{order}", sql.text);
    let mut statement = connection.prepare(&text)?;
    let steps = statement.query_map(params_from_iter(&sql.values), |row| row.get(3))?;
    Ok(steps.collect::<Result<_, _>>()?)
}

/// Whatever page was asked for, all that match are counted.
pub(super) fn count_holds(connection: &Connection, query: &HoldQuery) -> Result<usize, Failure> {
    let query = HoldQuery { after: None, limit: COUNT_MAX, ..query.clone() };
    match &query.viewer {
        // This is asked whenever a program opens a hold, however many others are open.
        Viewer::Caller { actor, person: None } if is_pending(&query) && query.session.is_none() => {
            let Some(key) = key_of(actor) else { return Ok(0) };
            let mut sum = 0;
            // Nobody is in both: a creator is only written down where it is not the opener.
            for column in ["opener", "creator"] {
                let index = format!("holds_{column}");
                let Some(mut sql) = filter_holds("1", &index, &query) else { return Ok(0) };
                sql.is(&format!("h.{column}"), key.clone());
                sum += sql.count(connection)?;
            }
            Ok(sum)
        }
        _ => match select_holds("1", &query) {
            Some(sql) => sql.count(connection),
            None => Ok(0),
        },
    }
}

fn is_pending(query: &HoldQuery) -> bool {
    query.state == Some(HoldStateName::Pending)
}

/// What `holds_due` is ordered by: what never expires is last.
const DUE: &str = "coalesce(h.expires_at, 9223372036854775807)";

/// `None` if nothing can match.
fn select_holds(columns: &str, query: &HoldQuery) -> Option<Sql> {
    let index = match query {
        HoldQuery { session: Some(_), .. } => "holds_session",
        HoldQuery {
            order: HoldOrder::Urgency, state: None | Some(HoldStateName::Pending), ..
        } => "holds_due",
        HoldQuery { tool: Some(_), source: Some(_), .. } => "holds_alike",
        HoldQuery { decided_since: Some(_), .. } => "holds_decided",
        query if is_pending(query) => "holds_pending",
        _ => "holds_id",
    };
    let mut sql = filter_holds(columns, index, query)?;
    sees_hold(&mut sql, &query.viewer)?;
    Some(sql)
}

/// All but who sees it. The plan is ours and not the planner's: it has no statistics, and a partial
/// index is only used for a state that stands in the text.
fn filter_holds(columns: &str, index: &str, query: &HoldQuery) -> Option<Sql> {
    let (holds, journal) = HOLDS;
    // Without a record to read, there is none to look for.
    let journal = if columns == HOLD_COLUMNS { journal } else { "" };
    let mut sql =
        Sql::new(&format!("SELECT {columns} FROM {holds} INDEXED BY {index} {journal} WHERE 1"));
    if let Some(session) = query.session {
        sql.is("h.session", columns::id(session.0).to_vec());
    }
    // Only what waits has urgency.
    match (query.state, query.order) {
        (Some(state), _) => sql.and(&format!("h.state = {}", columns::state_code(state))),
        (None, HoldOrder::Urgency) => sql.and("h.state = 0"),
        (None, _) => {}
    }
    if query.decided {
        sql.and("h.state <> 0");
    }
    if let Some(kind) = query.kind {
        sql.is("h.kind", columns::kind_code(kind));
    }
    if let Some(risk) = query.risk {
        sql.is("h.risk", columns::risk_code(risk));
    }
    if let Some(risk) = query.risk_below {
        let code = sql.value(columns::risk_code(risk));
        sql.and(&format!("h.risk < {code}"));
    }
    for (column, wanted) in
        [("h.agent", &query.agent), ("h.tool", &query.tool), ("h.source", &query.source)]
    {
        if let Some(wanted) = wanted {
            sql.is(column, wanted.clone());
        }
    }
    if let Some(requester) = &query.requester {
        sql.is("h.requester", requester.to_string());
    }
    if let Some(person) = &query.decided_by {
        let names = sql.names("h.decided_by", person, &[]);
        sql.and(&format!("h.decided_by IS NOT NULL AND {names}"));
    }
    if let Some(who) = &query.audience {
        let may_answer = sql.may_answer(who);
        sql.and(&may_answer);
    }
    if let Some(who) = &query.not_for {
        let may_answer = sql.may_answer(who);
        sql.and(&format!("NOT ({may_answer})"));
    }
    if let Some(text) = &query.text {
        let text = sql.value(text.to_lowercase());
        sql.and(&format!("instr(h.search, {text}) > 0"));
    }
    in_time(&mut sql, query);
    if let Some(after) = query.after {
        let id = sql.value(columns::id(after.0).to_vec());
        let is_after = match query.order {
            HoldOrder::Newest => format!("h.id < {id}"),
            HoldOrder::Oldest => format!("h.id > {id}"),
            HoldOrder::Urgency => {
                let at = query.after_expires_at.map_or(i64::MAX, |at| at.as_ms());
                let at = sql.value(at);
                // The first says where to begin in the index, which the pair alone does not.
                format!("{DUE} >= {at} AND ({DUE}, h.id) > ({at}, {id})")
            }
        };
        sql.and(&is_after);
    }
    Some(sql)
}

fn in_time(sql: &mut Sql, query: &HoldQuery) {
    if let Some(from) = query.from {
        let from = sql.value(columns::id(from.0).to_vec());
        sql.and(&format!("h.id >= {from}"));
    }
    if let Some(since) = query.decided_since {
        let since = sql.value(since.as_ms());
        sql.and(&format!("h.decided_at >= {since}"));
    }
    if let Some(by) = query.expires_by {
        let by = sql.value(by.as_ms());
        sql.and(&format!("h.expires_at <= {by}"));
    }
    if let Some(after) = query.expires_after {
        let after = sql.value(after.as_ms());
        sql.and(&format!("{DUE} > {after}"));
    }
}

pub(super) fn sessions(
    connection: &Connection,
    query: &SessionQuery,
) -> Result<Vec<SessionRow>, Failure> {
    let mut sql = Sql::new(&format!("SELECT {SESSION_COLUMNS} FROM sessions s WHERE 1"));
    if let Some(agent) = &query.agent {
        sql.is("s.agent", agent.clone());
    }
    if let Some((door, place)) = &query.home {
        sql.is("s.door", door.to_string());
        if let Some(place) = place {
            sql.is("s.place", place.clone());
        }
    }
    if let Some(after) = query.after {
        let place = sql.value(columns::id(after.0).to_vec());
        sql.and(&format!("s.id < {place}"));
    }
    if sees_session(&mut sql, &query.viewer, "s.id", "s.creator", None).is_none() {
        return Ok(Vec::new());
    }
    let limit = sql.value(i64::try_from(query.limit).unwrap_or(i64::MAX));
    let _ = write!(sql.text, " ORDER BY s.id DESC LIMIT {limit}");
    let mut statement = connection.prepare_cached(&sql.text)?;
    let mut rows = statement.query(params_from_iter(&sql.values))?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(session_row(row)?);
    }
    Ok(found)
}

/// A grant is seen by whoever gave it and by whoever sees its session.
pub(super) fn grants(connection: &Connection, viewer: &Viewer) -> Result<Vec<Arc<Grant>>, Failure> {
    let mut sql =
        Sql::new("SELECT g.record FROM grants g LEFT JOIN sessions s ON s.id = g.session WHERE 1");
    let giver = match viewer {
        Viewer::Caller { person: Some((person, _)), .. } => {
            let place = sql.value(person.to_string());
            Some(format!("g.giver = {place}"))
        }
        _ => None,
    };
    if sees_session(&mut sql, viewer, "g.session", "s.creator", giver).is_none() {
        return Ok(Vec::new());
    }
    let _ = write!(sql.text, " ORDER BY g.id DESC LIMIT {GRANTS_MAX}");
    let mut statement = connection.prepare_cached(&sql.text)?;
    let mut rows = statement.query(params_from_iter(&sql.values))?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(read_grant(row.get_ref(0)?.as_blob()?)?);
    }
    Ok(found)
}
