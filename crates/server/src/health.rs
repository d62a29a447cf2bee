//! Whether the process lives, and whether it can work.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;

use crate::app::App;
use crate::asked::json as reply;
use crate::problem::Reply;
use crate::wire::Health;

pub(crate) async fn alive() -> Response {
    reply(StatusCode::OK, &Health { status: "alive", recovering: None })
}

pub(crate) async fn ready(State(app): State<App>) -> Reply {
    app.engine.ready().await?;
    let recovering = Some(app.engine.recovering()).filter(|left| *left > 0);
    Ok(reply(StatusCode::OK, &Health { status: "ready", recovering }))
}
