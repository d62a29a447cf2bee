//! Standing grants.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::IntoResponse as _;
use domain::id::GrantId;

use crate::app::App;
use crate::asked::{Id, json};
use crate::auth::Who;
use crate::problem::Reply;
use crate::wire;

pub(crate) async fn list(State(app): State<App>, who: Who) -> Reply {
    let grants = app.engine.grants(&who.caller).await?;
    let items = grants.iter().map(|grant| wire::Grant::of(grant)).collect();
    Ok(json(StatusCode::OK, &wire::List::<wire::Grant>::whole(items)))
}

pub(crate) async fn revoke(State(app): State<App>, who: Who, Id(id): Id<GrantId>) -> Reply {
    app.engine.revoke_grant(&who.caller, id).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

pub(crate) async fn matches(State(app): State<App>, who: Who, Id(id): Id<GrantId>) -> Reply {
    let found = app.engine.grant_matches(&who.caller, id).await?;
    Ok(json(StatusCode::OK, &wire::GrantMatches::of(&found)))
}
