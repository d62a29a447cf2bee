//! The door `worlds`: `/api/worlds/*`, for clients of a server in which agents live in worlds and talk
//! in chats. A world is a named group of agents from the configuration, a chat is a session.
//!
//! Two generations of clients are served side by side: those that post `tool-results` for a `client.*`
//! call in a message, and those that post `hitl/respond` for a list of questions. Both answer the same
//! holds. Kind, options and arguments come from the store; a client says only which hold it means, and
//! what the person chose.

mod body;
mod chat;
mod edit;
mod event;
mod export;
mod fault;
mod files;
mod find;
#[cfg(feature = "fuzz-api")]
pub(in crate::doors) mod fuzz_api;
mod hitl;
mod limits;
mod memory;
mod message;
mod name;
mod prompt;
mod replies;
mod respond;
mod rest;
mod telling;
mod tool_result;
mod tool_results;
mod wire;
mod world_request;

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::{delete, get, post};

use super::delivered::Delivered;
use super::{Door, DoorContext, DoorSetup, PageFiles, Worlds};
use crate::app::App;
use crate::threshold::among_strangers;

/// What answers record, and what sessions are at home at.
const DOOR: &str = "worlds";

pub(super) fn worlds_router(app: &App, setup: &DoorSetup, worlds: &Worlds) -> Router {
    let routes = room(app, setup, worlds).guarded(routes());
    match &worlds.files {
        Some(PageFiles { folder, listen: None }) => {
            let files = files::router(folder);
            routes.merge(files.layer(from_fn_with_state(app.clone(), among_strangers)))
        }
        _ => routes,
    }
}

/// The page on an address of its own, and what it calls there.
pub(super) fn page(app: &App, setup: &DoorSetup, worlds: &Worlds) -> Option<(SocketAddr, Router)> {
    let PageFiles { folder, listen } = worlds.files.as_ref()?;
    let routes = room(app, setup, worlds).guarded(routes());
    let files = files::page_router(folder);
    let files = files.layer(from_fn_with_state(app.clone(), among_strangers));
    Some(((*listen)?, routes.merge(files)))
}

fn room(app: &App, setup: &DoorSetup, worlds: &Worlds) -> DoorContext<Worlds> {
    DoorContext {
        app: app.clone(),
        door: Arc::new(Door {
            name: DOOR,
            via: DOOR,
            act_as: setup.act_as.clone(),
            origins: setup.origins.clone(),
            token_header: None,
            refuse: fault::refuse,
            delivered: Delivered::default(),
        }),
        wire: Arc::new(worlds.clone()),
    }
}

fn routes() -> Router<DoorContext<Worlds>> {
    Router::new()
        .route("/api/health", get(rest::health))
        .route("/api/mcp/servers", get(rest::mcp_servers))
        .route("/api/mcp/servers/{id}/restart", post(rest::read_only))
        .route("/api/mcp/health", get(rest::mcp_health))
        .route("/api/worlds", get(rest::worlds).post(rest::read_only))
        .route(
            "/api/worlds/{world}",
            get(rest::world).patch(rest::read_only).delete(rest::read_only),
        )
        .route("/api/worlds/{world}/agents", get(rest::agents).post(rest::read_only))
        .route(
            "/api/worlds/{world}/agents/{agent}",
            get(rest::agent).patch(rest::read_only).delete(rest::read_only),
        )
        .route("/api/worlds/{world}/agents/{agent}/memory", delete(edit::forget))
        .route("/api/worlds/{world}/export", get(export::export))
        .route("/api/worlds/{world}/status", get(rest::status))
        .route("/api/worlds/{world}/chats", get(chat::list).post(chat::open))
        .route("/api/worlds/{world}/chats/{chat}", delete(chat::remove))
        .route("/api/worlds/{world}/setChat/{chat}", post(chat::set))
        .route(
            "/api/worlds/{world}/messages",
            post(async |it| message::post(it).await.map_err(|no| no.named("CHAT_ERROR"))),
        )
        .route("/api/worlds/{world}/messages/stop", post(edit::stop))
        .route("/api/worlds/{world}/messages/{message}", delete(edit::remove).put(edit::change))
        .route(
            "/api/worlds/{world}/tool-results",
            post(async |it| {
                tool_results::post(it).await.map_err(|no| no.named("TOOL_RESULT_ERROR"))
            }),
        )
        .route(
            "/api/worlds/{world}/hitl/respond",
            post(async |it| hitl::respond(it).await.map_err(|no| no.named("HITL_RESPONSE_ERROR"))),
        )
}
