//! The one switch that stops everything.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;

use crate::app::App;
use crate::asked::{ChangeRequest, bytes, json};
use crate::auth::Who;
use crate::problem::{Problem, Reply};
use crate::wire;

/// Everybody may know: an approved call that does not start wants an explanation.
pub(crate) async fn show(State(app): State<App>, _: Who) -> Response {
    json(StatusCode::OK, &wire::Freeze::of(app.engine.frozen()))
}

pub(crate) async fn freeze(State(app): State<App>, asked: ChangeRequest<wire::NewFreeze>) -> Reply {
    let reason = asked.body.reason.trim();
    asked.who.caller.must_be_admin()?;
    if reason.is_empty() || reason.len() > domain::limits::REASON_BYTES_MAX {
        return Err(Problem::invalid("reason", "say why, for those who find it frozen").into());
    }
    let act = async {
        app.engine.freeze(&asked.who.caller, reason).await?;
        Ok((StatusCode::OK, bytes(&wire::Freeze::of(app.engine.frozen()))))
    };
    app.recent.once(asked.key.as_ref(), false, act).await
}

pub(crate) async fn thaw(State(app): State<App>, who: Who) -> Reply {
    app.engine.thaw(&who.caller).await?;
    Ok(json(StatusCode::OK, &wire::Freeze::of(app.engine.frozen())))
}
