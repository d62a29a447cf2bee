//! Doors for clients that were written for other systems. Each is a thin translation between its wire
//! and the same sessions and holds: what is opened through one can be answered through any other.
//!
//! A door decides nothing. Who calls (`identity`), which session is meant (`conversation`), what was
//! shown (`shown`) and what happens in a run (`flow`) are told here once for all of them. Doors are
//! off unless the configuration opens them, and are no part of the API that `/openapi.json` describes.

mod agreed;
mod ai_sdk;
mod conversation;
mod cors;
mod delivered;
mod flow;
mod frontend_tools;
#[cfg(feature = "fuzz-api")]
pub(crate) mod fuzz_api;
mod identity;
mod kept;
mod limits;
mod setup;
mod shown;
mod stream;
mod unique_keys;
mod words;
mod worlds;

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::http::HeaderName;
use axum::middleware::from_fn_with_state;
use axum::response::Response;
use domain::person::PersonId;

pub use setup::{
    AgentType, AiSdk, DoorSetup, Format, FrontendTools, NamedAgent, PageFiles, Ui, Wire, World,
    Worlds,
};
pub use words::{DoorWords, ToolWords};

use crate::app::App;
use crate::problem::Problem;
use crate::threshold::among_strangers;

/// What every door has.
pub(crate) struct Door {
    pub(crate) name: &'static str,
    /// What answers record as the surface that they came by.
    pub(crate) via: &'static str,
    pub(crate) act_as: Option<PersonId>,
    /// Web pages of other origins that may call it.
    pub(crate) origins: Vec<String>,
    /// Where else clients of this wire put their token.
    pub(crate) token_header: Option<HeaderName>,
    /// How this wire words a refusal.
    pub(crate) refuse: fn(Problem) -> Response,
    /// Which of its replies were delivered to the end.
    pub(crate) delivered: delivered::Delivered,
}

/// Where the handlers of one door work.
pub(crate) struct DoorContext<S> {
    pub(crate) app: App,
    pub(crate) door: Arc<Door>,
    pub(crate) wire: Arc<S>,
}

impl<S> Clone for DoorContext<S> {
    fn clone(&self) -> DoorContext<S> {
        DoorContext { app: self.app.clone(), door: self.door.clone(), wire: self.wire.clone() }
    }
}

impl<S: Send + Sync + 'static> DoorContext<S> {
    /// Every route of a door goes through here: nobody gets in without a name, and no page of a
    /// foreign origin gets an answer.
    fn guarded(self, routes: Router<DoorContext<S>>) -> Router {
        routes
            .route_layer(from_fn_with_state(self.clone(), identity::guard::<S>))
            .layer(from_fn_with_state(self.door.clone(), cors::shared))
            .with_state(self)
    }

    /// For what is about nobody.
    fn open_to_all(self, routes: Router<DoorContext<S>>) -> Router {
        routes
            .layer(from_fn_with_state(self.app.clone(), among_strangers))
            .layer(from_fn_with_state(self.door.clone(), cors::shared))
            .with_state(self)
    }
}

/// The routes of every door that is open.
pub(crate) fn router(app: &App) -> Router {
    app.doors.iter().fold(Router::new(), |router, setup| router.merge(open_door(app, setup)))
}

/// Addresses of their own that doors serve a client's page on, with the routes for each.
pub(crate) fn page_routers(app: &App) -> Vec<(SocketAddr, Router)> {
    let page = |setup: &DoorSetup| match &setup.wire {
        Wire::Worlds(wire) => worlds::page(app, setup, wire),
        Wire::FrontendTools(_) | Wire::AiSdk(_) => None,
    };
    app.doors.iter().filter_map(page).collect()
}

fn open_door(app: &App, setup: &DoorSetup) -> Router {
    match &setup.wire {
        Wire::FrontendTools(own) => frontend_tools::router(app, setup, own),
        Wire::Worlds(wire) => worlds::worlds_router(app, setup, wire),
        Wire::AiSdk(wire) => ai_sdk::router(app, setup, wire),
    }
}
