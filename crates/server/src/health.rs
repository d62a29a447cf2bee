//! Whether the process lives, and whether it can work.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use serde_json::json;

use crate::app::App;
use crate::asked::json as reply;
use crate::problem::Reply;

pub(crate) async fn alive() -> Response {
    reply(StatusCode::OK, &json!({"status": "alive"}))
}

pub(crate) async fn ready(State(app): State<App>) -> Reply {
    app.engine.ready().await?;
    Ok(reply(StatusCode::OK, &json!({"status": "ready"})))
}
