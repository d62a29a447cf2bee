//! The door for clients that run some tools themselves, in the browser: `/agent/*`. The run pauses, the
//! stream says which tools are awaited, the client posts their results, the run goes on.
//!
//! Nothing of a stream is stored: what is told, also to a client that comes back after a restart, is made
//! anew from the session's own log. Whether an answer counts is judged where all answers are.

mod answering;
mod attached;
mod awaiting;
mod body;
mod conversations;
mod files;
mod format;
#[cfg(feature = "fuzz-api")]
pub(in crate::doors) mod fuzz_api;
mod limits;
mod multipart;
mod repeats;
mod results;
mod run;
mod sessions;
mod telling;
mod transcript;
mod wire;

use std::sync::Arc;

use axum::Router;
use axum::response::IntoResponse as _;
use axum::routing::{get, post};
use domain::session::Session;
use engine::Caller;

use super::delivered::Delivered;
use super::{Door, DoorContext, DoorSetup, FrontendTools};
use crate::app::App;
use crate::problem::{Problem, Reply};
use attached::Attached;

pub(crate) const NAME: &str = "frontend_tools";

/// What only this door has.
pub(crate) struct Frontend {
    setup: FrontendTools,
    attached: Attached,
}

pub(super) fn router(app: &App, setup: &DoorSetup, own: &FrontendTools) -> Router {
    let door = Door {
        name: NAME,
        via: "frontend",
        act_as: setup.act_as.clone(),
        origins: setup.origins.clone(),
        token_header: None,
        refuse: |problem: Problem| problem.into_response(),
        delivered: Delivered::default(),
    };
    let wire = Frontend { setup: own.clone(), attached: Attached::default() };
    let room = DoorContext { app: app.clone(), door: Arc::new(door), wire: Arc::new(wire) };
    let open = room.clone().open_to_all(Router::new().route("/health", get(health)));
    let guarded = Router::new()
        .route("/agent/run", post(run::run))
        .route("/agent/run/multipart", post(files::run))
        .route("/agent/tool_results", post(results::answer))
        .route("/agent/upload", post(files::upload))
        .route("/agent/sessions", get(sessions::list))
        .route("/agent/{uuid}/conversations", get(conversations::list))
        .route("/agent/{uuid}/images/{image}", get(files::image));
    room.guarded(guarded).merge(open)
}

async fn health() -> &'static str {
    "ok"
}

/// The session that a client means, if the caller may see it.
async fn find(room: &DoorContext<Frontend>, caller: &Caller, uuid: &str) -> Reply<Arc<Session>> {
    let Some(id) = body::session_id(uuid) else {
        return Err(Problem::not_found("conversation").into());
    };
    Ok(room.app.engine.session(caller, id).await?)
}
