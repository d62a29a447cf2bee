//! Following what happens.

use axum::extract::State;
use axum::http::HeaderMap;
use domain::id::SessionId;
use serde::Deserialize;

use crate::app::App;
use crate::asked::{Id, Params};
use crate::auth::Who;
use crate::problem::Reply;
use crate::sse::{self, Scene};

#[derive(Deserialize)]
pub(crate) struct After {
    pub(crate) after: Option<u64>,
}

pub(crate) async fn of_session(
    State(app): State<App>,
    who: Who,
    Id(id): Id<SessionId>,
    Params(asked): Params<After>,
    headers: HeaderMap,
) -> Reply {
    app.engine.session(&who.caller, id).await?;
    let after = sse::position(&headers, asked.after)?;
    let place = app.streams.take(who.caller.stable_name())?;
    let follow = app.engine.follow_session(id, after).await?;
    Ok(sse::stream(&app, who, place, follow, Scene::Session(id)))
}

pub(crate) async fn of_all(
    State(app): State<App>,
    who: Who,
    Params(asked): Params<After>,
    headers: HeaderMap,
) -> Reply {
    let after = sse::position(&headers, asked.after)?;
    let place = app.streams.take(who.caller.stable_name())?;
    let follow = app.engine.follow_all(&who.caller, after).await?;
    Ok(sse::stream(&app, who, place, follow, Scene::Everything))
}
