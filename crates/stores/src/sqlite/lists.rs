//! What somebody may see, newest first, page by page.

use std::fmt::Write as _;
use std::sync::Arc;

use domain::grant::Grant;
use domain::hold::{Hold, HoldStateName};
use domain::person::PersonId;
use ports::store::{HoldQuery, SessionQuery, SessionRow, Viewer};
use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

use super::audience;
use super::cells::{self, SESSION_COLUMNS, session_row};
use super::error::Failure;
use super::holds::{HOLD_COLUMNS, HOLDS, Holds};
use crate::mentions;
use crate::record::{key_of, read_grant};

/// Grants have no pages; nobody reads further than this.
const GRANTS_MAX: usize = 10_000;
/// Beyond this many, "too many" is all that anybody wants to know.
const COUNT_MAX: usize = 10_000;

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
    let Some(mut sql) = select_holds(HOLD_COLUMNS, query) else { return Ok(Vec::new()) };
    sql.text.push_str(" ORDER BY h.id DESC");
    let wanted = query.text.as_deref().map(str::to_lowercase);
    let (mut found, mut holds) = (Vec::new(), Holds::default());
    let mut statement = connection.prepare_cached(&sql.text)?;
    let mut rows = statement.query(params_from_iter(&sql.values))?;
    // Counted here and not by SQLite: text is compared as people read it, not as ASCII.
    while found.len() < query.limit
        && let Some(row) = rows.next()?
    {
        let hold = holds.read(row)?;
        if wanted.as_deref().is_none_or(|wanted| mentions(&hold, wanted)) {
            found.push(hold);
        }
    }
    Ok(found)
}

/// How SQLite goes about it.
#[cfg(test)]
pub(super) fn plan(connection: &Connection, query: &HoldQuery) -> Result<Vec<String>, Failure> {
    let Some(mut sql) = select_holds(HOLD_COLUMNS, query) else { return Ok(Vec::new()) };
    sql.text = format!("EXPLAIN QUERY PLAN {} ORDER BY h.id DESC", sql.text);
    let mut statement = connection.prepare(&sql.text)?;
    let steps = statement.query_map(params_from_iter(&sql.values), |row| row.get(3))?;
    Ok(steps.collect::<Result<_, _>>()?)
}

/// Whatever page was asked for, all that match are counted.
pub(super) fn count_holds(connection: &Connection, query: &HoldQuery) -> Result<usize, Failure> {
    let query = HoldQuery { after: None, limit: COUNT_MAX, ..query.clone() };
    if query.text.is_some() {
        return holds(connection, &query).map(|holds| holds.len());
    }
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

/// `None` if nothing can match.
fn select_holds(columns: &str, query: &HoldQuery) -> Option<Sql> {
    let index = match (query.session, is_pending(query)) {
        (Some(_), _) => "holds_session",
        (None, true) => "holds_pending",
        (None, false) => "holds_id",
    };
    let mut sql = filter_holds(columns, index, query)?;
    sees_hold(&mut sql, &query.viewer)?;
    Some(sql)
}

/// All but who sees it. The plan is ours and not the planner's: it has no statistics, and a partial
/// index is only used for a state that stands in the text.
fn filter_holds(columns: &str, index: &str, query: &HoldQuery) -> Option<Sql> {
    let (holds, journal) = HOLDS;
    let mut sql =
        Sql::new(&format!("SELECT {columns} FROM {holds} INDEXED BY {index} {journal} WHERE 1"));
    if let Some(session) = query.session {
        sql.is("h.session", cells::id(session.0).to_vec());
    }
    if let Some(state) = query.state {
        let code = cells::state_code(state);
        sql.and(&format!("h.state = {code}"));
    }
    if let Some(kind) = query.kind {
        sql.is("h.kind", cells::kind_code(kind));
    }
    if let Some(risk) = query.risk {
        sql.is("h.risk", cells::risk_code(risk));
    }
    if let Some(agent) = &query.agent {
        sql.is("h.agent", agent.clone());
    }
    if let Some((person, roles)) = &query.audience {
        let names = sql.names("h.audience", person, roles);
        let excluded = sql.value(audience::excluded(person));
        sql.and(&format!("{names} AND NOT says(h.audience, {excluded})"));
    }
    if let Some(after) = query.after {
        let place = sql.value(cells::id(after.0).to_vec());
        sql.and(&format!("h.id < {place}"));
    }
    Some(sql)
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
        let place = sql.value(cells::id(after.0).to_vec());
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
