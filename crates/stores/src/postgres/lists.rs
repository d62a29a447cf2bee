//! What somebody may see, page by page.

use domain::hold::HoldStateName;
use domain::person::PersonId;
use ports::store::{COUNT_MAX, HoldOrder, HoldQuery, PersonWithRoles, SessionQuery, Viewer};

use super::cells;
use super::commit::word;
use super::limits::GRANTS_MAX;
use super::reads::{SESSION_COLUMNS, number};
use super::sql::TypedSql;
use crate::record::key_of;

/// What `holds_due` is ordered by: what never expires is last.
const DUE: &str = "coalesce(h.expires_at, 9223372036854775807)";

fn words(person: &PersonId, roles: &[String]) -> Vec<Vec<u8>> {
    let roles = roles.iter().map(|role| word('r', role));
    [word('p', person.as_str())].into_iter().chain(roles).collect()
}

/// Whether the hold in this column names one of them.
fn says(sql: &mut TypedSql, hold: &str, words: Vec<Vec<u8>>) -> String {
    let place = sql.value(words);
    format!(
        "EXISTS (SELECT 1 FROM holdpoint.hold_names n WHERE n.hold = {hold} AND n.name = ANY({place}))"
    )
}

/// Whether the audience names this person, and does not leave them out.
fn may_answer(sql: &mut TypedSql, (person, roles): &PersonWithRoles) -> String {
    let names = says(sql, "h.id", words(person, roles));
    let left_out = ['x', 'v'].map(|kind| word(kind, person.as_str())).to_vec();
    let excluded = says(sql, "h.id", left_out);
    format!("{names} AND NOT {excluded}")
}

fn any(sql: &mut TypedSql, conditions: &[String]) -> Option<()> {
    conditions.first()?;
    sql.and(&format!("({})", conditions.join(" OR ")));
    Some(())
}

/// A hold is seen by its opener, its session's creator, its audience. `None`: nothing is seen.
fn sees_hold(sql: &mut TypedSql, viewer: &Viewer) -> Option<()> {
    let Viewer::Caller { actor, person } = viewer else { return Some(()) };
    let mut ways = Vec::new();
    if let Some(key) = key_of(actor) {
        let key = sql.value(key.into_bytes());
        ways.push(format!("h.opener = {key} OR h.creator = {key}"));
    }
    if let Some((person, roles)) = person {
        ways.push(says(sql, "h.id", words(person, roles)));
    }
    any(sql, &ways)
}

/// A session is seen by its creator and by the audience of any of its holds.
fn sees_session(sql: &mut TypedSql, viewer: &Viewer, id: &str, more: Option<String>) -> Option<()> {
    let Viewer::Caller { actor, person } = viewer else { return Some(()) };
    let mut ways = Vec::from_iter(more);
    if let Some(key) = key_of(actor) {
        let key = sql.value(key.into_bytes());
        ways.push(format!("s.creator = {key}"));
    }
    if let Some((person, roles)) = person {
        let names = says(sql, "a.id", words(person, roles));
        ways.push(format!(
            "EXISTS (SELECT 1 FROM holdpoint.holds a WHERE a.session = {id} AND {names})"
        ));
    }
    any(sql, &ways)
}

/// A page of holds; `None` if nothing can match.
pub(super) fn holds(columns: &str, query: &HoldQuery) -> Option<TypedSql> {
    let mut sql = select(columns, query)?;
    let limit = sql.value(number(query.limit));
    let order = match query.order {
        HoldOrder::Newest => "h.id DESC".to_owned(),
        HoldOrder::Oldest => "h.id".to_owned(),
        HoldOrder::Urgency => format!("{DUE}, h.id"),
    };
    sql.push(&format!(" ORDER BY {order} LIMIT {limit}"));
    Some(sql)
}

/// Whatever page was asked for, all that match are counted.
pub(super) fn count_holds(query: &HoldQuery) -> Option<TypedSql> {
    let query = HoldQuery { after: None, limit: COUNT_MAX, ..query.clone() };
    Some(select("1", &query)?.counted(COUNT_MAX))
}

fn select(columns: &str, query: &HoldQuery) -> Option<TypedSql> {
    let mut sql = TypedSql::new(format!("SELECT {columns} FROM holdpoint.holds h WHERE true"));
    if let Some(session) = query.session {
        sql.is("h.session", cells::id(session.0));
    }
    // Only what waits has urgency.
    match (query.state, query.order) {
        (Some(state), _) => sql.and(&format!("h.state = {}", cells::state_code(state))),
        (None, HoldOrder::Urgency) => {
            sql.and(&format!("h.state = {}", cells::state_code(HoldStateName::Pending)));
        }
        (None, _) => {}
    }
    if query.decided {
        sql.and("h.state <> 0");
    }
    if let Some(kind) = query.kind {
        sql.is("h.kind", cells::kind_code(kind));
    }
    if let Some(risk) = query.risk {
        sql.is("h.risk", cells::risk_code(risk));
    }
    if let Some(risk) = query.risk_below {
        let code = sql.value(cells::risk_code(risk));
        sql.and(&format!("h.risk < {code}"));
    }
    for (column, wanted) in
        [("h.agent", &query.agent), ("h.tool", &query.tool), ("h.source", &query.source)]
    {
        if let Some(wanted) = wanted {
            sql.is(column, cells::name(wanted));
        }
    }
    if let Some(requester) = &query.requester {
        sql.is("h.requester", cells::name(requester.as_str()));
    }
    if let Some(person) = &query.decided_by {
        let decided = says(&mut sql, "h.id", vec![word('d', person.as_str())]);
        sql.and(&decided);
    }
    if let Some(who) = &query.audience {
        let may_answer = may_answer(&mut sql, who);
        sql.and(&may_answer);
    }
    if let Some(who) = &query.not_for {
        let may_answer = may_answer(&mut sql, who);
        sql.and(&format!("NOT ({may_answer})"));
    }
    if let Some(text) = &query.text {
        let text = sql.value(text.to_lowercase().into_bytes());
        sql.and(&format!("position({text} IN h.search) > 0"));
    }
    in_time(&mut sql, query);
    if let Some(after) = query.after {
        let id = sql.value(cells::id(after.0));
        let is_after = match query.order {
            HoldOrder::Newest => format!("h.id < {id}"),
            HoldOrder::Oldest => format!("h.id > {id}"),
            HoldOrder::Urgency => {
                let at = query.after_expires_at.map_or(i64::MAX, |at| at.as_ms());
                let at = sql.value(at);
                format!("({DUE}, h.id) > ({at}, {id})")
            }
        };
        sql.and(&is_after);
    }
    sees_hold(&mut sql, &query.viewer)?;
    Some(sql)
}

fn in_time(sql: &mut TypedSql, query: &HoldQuery) {
    if let Some(from) = query.from {
        let from = sql.value(cells::id(from.0));
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

pub(super) fn sessions(query: &SessionQuery) -> Option<TypedSql> {
    let mut sql =
        TypedSql::new(format!("SELECT {SESSION_COLUMNS} FROM holdpoint.sessions s WHERE true"));
    if let Some(agent) = &query.agent {
        sql.is("s.agent", cells::name(agent));
    }
    if let Some((door, place)) = &query.home {
        sql.is("s.door", cells::name(door));
        if let Some(place) = place {
            sql.is("s.place", cells::name(place));
        }
    }
    if let Some(after) = query.after {
        let after = sql.value(cells::id(after.0));
        sql.and(&format!("s.id < {after}"));
    }
    sees_session(&mut sql, &query.viewer, "s.id", None)?;
    let limit = sql.value(number(query.limit));
    sql.push(&format!(" ORDER BY s.id DESC LIMIT {limit}"));
    Some(sql)
}

/// A grant is seen by whoever gave it and by whoever sees its session.
pub(super) fn grants(viewer: &Viewer) -> Option<TypedSql> {
    let mut sql = TypedSql::new(
        "SELECT g.record FROM holdpoint.grants g \
         LEFT JOIN holdpoint.sessions s ON s.id = g.session WHERE true",
    );
    let giver = match viewer {
        Viewer::Caller { person: Some((person, _)), .. } => {
            let place = sql.value(cells::name(person.as_str()));
            Some(format!("g.giver = {place}"))
        }
        _ => None,
    };
    sees_session(&mut sql, viewer, "g.session", giver)?;
    sql.push(&format!(" ORDER BY g.id DESC LIMIT {GRANTS_MAX}"));
    Some(sql)
}
