//! `GET /agent/sessions`: what was talked about on this door, the newest first.

use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::response::Response;
use domain::session::Session;
use ports::store::SessionRow;
use serde::{Deserialize, Serialize};

use super::limits::{PAGE, SESSIONS_COUNTED, SESSIONS_DEFAULT, SESSIONS_MAX};
use super::transcript::is_prompt;
use super::{Frontend, NAME, body};
use crate::asked::json as reply;
use crate::auth::Who;
use crate::doors::DoorContext;
use crate::problem::{Problem, Reply};

#[derive(Deserialize)]
pub(super) struct Wanted {
    limit: Option<usize>,
    offset: Option<usize>,
    agent_type: Option<String>,
}

impl Wanted {
    /// How many, after how many, and of which type.
    pub(super) fn read(
        wanted: QueryResult<Wanted>,
    ) -> Result<(usize, usize, Option<String>), Problem> {
        let Query(wanted) = wanted.map_err(|no| Problem::invalid("query", no.body_text()))?;
        let limit = within("limit", wanted.limit, SESSIONS_DEFAULT, SESSIONS_MAX)?;
        Ok((limit, wanted.offset.unwrap_or(0), wanted.agent_type))
    }
}

/// A query, or what is wrong with it.
pub(super) type QueryResult<T> = Result<Query<T>, QueryRejection>;

pub(super) async fn list(
    State(room): State<DoorContext<Frontend>>,
    who: Who,
    wanted: QueryResult<Wanted>,
) -> Reply<Response> {
    let (limit, offset, agent_type) = Wanted::read(wanted)?;
    let place = match &agent_type {
        Some(name) => Some(room.wire.kind(Some(name))?.name.clone()),
        None => None,
    };
    let engine = &room.app.engine;
    let mut rows: Vec<SessionRow> = Vec::new();
    loop {
        let after = rows.last().map(|row| row.id);
        let page = engine.sessions_at(&who.caller, NAME, place.clone(), after, PAGE).await?;
        let more = page.len() == PAGE;
        rows.extend(page);
        if !more || rows.len() >= SESSIONS_COUNTED {
            break;
        }
    }
    let mut sessions = Vec::new();
    for row in rows.iter().skip(offset).take(limit) {
        let session = engine.session(&who.caller, row.id).await?;
        sessions.push(listed_session(row, &session));
    }
    let total = rows.len();
    Ok(reply(StatusCode::OK, &SessionsPage { sessions, total }))
}

#[derive(Debug, Serialize)]
struct SessionsPage {
    sessions: Vec<ListedSession>,
    total: usize,
}

#[derive(Debug, Serialize)]
struct ListedSession {
    agent_uuid: String,
    title: Option<String>,
    created_at: String,
    updated_at: String,
    total_runs: usize,
}

fn listed_session(row: &SessionRow, session: &Session) -> ListedSession {
    let runs = session.transcript.iter().filter(|message| is_prompt(message)).count();
    ListedSession {
        agent_uuid: body::uuid(row.id),
        title: row.title.clone(),
        created_at: row.opened_at.to_string(),
        updated_at: row.changed_at.to_string(),
        total_runs: runs + session.queue.len(),
    }
}

/// How many are wanted, if that many can be had.
pub(super) fn within(
    field: &str,
    wanted: Option<usize>,
    default: usize,
    most: usize,
) -> Result<usize, Problem> {
    match wanted.unwrap_or(default) {
        number if (1..=most).contains(&number) => Ok(number),
        _ => Err(Problem::invalid(field, format!("`{field}` is between 1 and {most}"))),
    }
}
