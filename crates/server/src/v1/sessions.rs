//! Sessions: opening, listing, looking.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use domain::id::SessionId;
use domain::session::Session;
use serde::Deserialize;

use crate::app::App;
use crate::asked::{ChangeRequest, Id, Params, bytes, json, page};
use crate::auth::Who;
use crate::problem::{Problem, Reply};
use crate::wire::{self, NewSessionBody};

#[derive(Deserialize)]
pub(crate) struct SessionsQuery {
    agent: Option<String>,
    limit: Option<usize>,
    cursor: Option<String>,
}

impl SessionsQuery {
    /// The agent, how many, and after which.
    pub(crate) fn parse(self) -> Result<(Option<String>, usize, Option<SessionId>), Problem> {
        let (limit, after) = page(self.limit, self.cursor.as_deref())?;
        Ok((self.agent, limit, after))
    }
}

pub(crate) async fn list(
    State(app): State<App>,
    who: Who,
    Params(asked): Params<SessionsQuery>,
) -> Reply {
    let (agent, limit, after) = asked.parse()?;
    let rows = app.engine.sessions(&who.caller, agent, after, limit + 1).await?;
    let page = wire::List::cut(rows, limit, |row| row.id.to_string());
    let mut sessions = Vec::with_capacity(page.items.len());
    for row in &page.items {
        match app.engine.session(&who.caller, row.id).await {
            Ok(session) => sessions.push(session),
            // A person who was asked is not any more.
            Err(engine::Error::Refused(_)) => {}
            Err(error) => return Err(error.into()),
        }
    }
    let items = sessions.iter().map(|session| wire::Summary::of(session, &app.engine)).collect();
    Ok(json(StatusCode::OK, &wire::List { items, next: page.next }))
}

pub(crate) async fn open(State(app): State<App>, asked: ChangeRequest<NewSessionBody>) -> Reply {
    let engine = app.engine.clone();
    let render =
        move |session: &Session| (201, bytes(&wire::SessionDocument::of(session, &engine)).into());
    let keep = asked.keep(&render);
    let session = app.engine.open_session(&asked.who.caller, asked.body.parse(), keep).await?;
    ports::failpoint!("http.session_reply");
    Ok(json(StatusCode::CREATED, &wire::SessionDocument::of(&session, &app.engine)))
}

pub(crate) async fn show(
    State(app): State<App>,
    who: Who,
    Id(id): Id<SessionId>,
) -> Reply<Response> {
    let session = app.engine.session(&who.caller, id).await?;
    Ok(json(StatusCode::OK, &wire::SessionDocument::of(&session, &app.engine)))
}
