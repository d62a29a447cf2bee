//! Connecting MCP servers with OAuth, for admins.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::StatusCode;
use domain::person::{Actor, PersonId};
use engine::Caller;
use ports::mcp_connections::{ConnectError, McpConnections};
use serde::Deserialize;

use crate::app::App;
use crate::asked::{ChangeRequest, Params, bytes, json};
use crate::auth::Who;
use crate::limits::{WAIT_S_DEFAULT, WAIT_S_MAX};
use crate::problem::{Problem, Reply};
use crate::wire::{self, McpAttemptDocument, McpConnectDocument, McpServerBody, McpServerDocument};

#[derive(Deserialize)]
pub(crate) struct AttemptQuery {
    server: String,
    attempt: u64,
    timeout_s: Option<u64>,
}

pub(crate) async fn list(State(app): State<App>, who: Who) -> Reply {
    who.caller.must_be_admin()?;
    let connections = app.mcp_connections.get().map(|desk| desk.list()).unwrap_or_default();
    let items = connections.into_iter().map(McpServerDocument::of).collect();
    Ok(json(StatusCode::OK, &wire::List::<McpServerDocument>::whole(items)))
}

pub(crate) async fn connect(State(app): State<App>, asked: ChangeRequest<McpServerBody>) -> Reply {
    let by = admin_person(&asked.who.caller)?;
    let desk = desk(&app)?;
    let server = asked.body.server.as_str();
    let act = async {
        let begun = desk.begin(server, &by, &app.origin).await.map_err(problem)?;
        Ok((StatusCode::CREATED, bytes(&McpConnectDocument::of(server, begun))))
    };
    app.recent.once(asked.key.as_ref(), true, act).await
}

/// Waits until the attempt is over.
pub(crate) async fn wait(
    State(app): State<App>,
    who: Who,
    Params(asked): Params<AttemptQuery>,
) -> Reply {
    who.caller.must_be_admin()?;
    let within = Duration::from_secs(asked.timeout_s.unwrap_or(WAIT_S_DEFAULT).min(WAIT_S_MAX));
    let desk = desk(&app)?;
    let attempt = tokio::select! {
        attempt = desk.wait(&asked.server, asked.attempt, within) => attempt.map_err(problem)?,
        () = app.closing.cancelled() => {
            return Err(Problem::unavailable("the server is stopping; ask again", 1).into());
        }
    };
    Ok(json(StatusCode::OK, &McpAttemptDocument::of(&asked.server, attempt)))
}

pub(crate) async fn disconnect(
    State(app): State<App>,
    asked: ChangeRequest<McpServerBody>,
) -> Reply {
    let by = admin_person(&asked.who.caller)?;
    let desk = desk(&app)?;
    let server = asked.body.server.as_str();
    let act = async {
        desk.disconnect(server, &by).await.map_err(problem)?;
        let now = desk.list().into_iter().find(|one| one.server == server);
        let now = now.ok_or_else(|| problem(ConnectError::UnknownServer))?;
        Ok((StatusCode::OK, bytes(&McpServerDocument::of(now))))
    };
    app.recent.once(asked.key.as_ref(), false, act).await
}

/// An admin, and a person: a program consents to nothing.
pub(crate) fn admin_person(caller: &Caller) -> Reply<PersonId> {
    caller.must_be_admin()?;
    match caller.actor() {
        Actor::Person(person) => Ok(person.clone()),
        Actor::Program { .. } | Actor::Runtime => {
            let detail = "a person connects a server, with a login or a token of their own";
            Err(Problem::not_entitled(detail).into())
        }
    }
}

fn desk(app: &App) -> Result<&Arc<dyn McpConnections>, Problem> {
    app.mcp_connections.get().ok_or_else(|| problem(ConnectError::UnknownServer))
}

fn problem(error: ConnectError) -> Problem {
    let detail = error.to_string();
    match error {
        ConnectError::UnknownServer => Problem::not_found_as(&detail),
        ConnectError::Refused(_) | ConnectError::Failed(_) => Problem::invalid("server", detail),
    }
}
