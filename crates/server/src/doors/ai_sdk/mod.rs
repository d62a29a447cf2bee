//! The door for front ends of the AI SDK, versions 5, 6 and 7: `useChat` and `Chat` post their messages
//! here and read a stream of chunks. One assistant message of theirs is one run of ours.
//!
//! The client posts its whole history, and nothing of it is believed: only what is new counts, a call
//! is looked up in our own record, and its stored arguments are what runs.

mod answers;
mod chat;
mod chunk_writer;
mod chunks;
mod confirm;
mod edits;
#[cfg(feature = "fuzz-api")]
pub(in crate::doors) mod fuzz_api;
mod history;
mod messages;
mod outcome;
mod project;
mod read;
mod refusal;
mod resume;
mod values;
mod wire;

use axum::Router;
use axum::http::HeaderName;
use axum::routing::{delete, get, post};
use std::sync::Arc;

use super::delivered::Delivered;
use super::setup::{AiSdk, DoorSetup, Ui};
use super::{Door, DoorContext};
use crate::app::App;

pub(crate) const NAME: &str = "ai_sdk";

type AiSdkContext = DoorContext<AiSdk>;

pub(crate) fn router(app: &App, setup: &DoorSetup, wire: &AiSdk) -> Router {
    let delivered = Delivered::default();
    let door = |refuse| {
        Arc::new(Door {
            name: NAME,
            via: NAME,
            act_as: setup.act_as.clone(),
            origins: setup.origins.clone(),
            token_header: Some(HeaderName::from_static("x-chat-token")),
            refuse,
            delivered: delivered.clone(),
        })
    };
    let room =
        |refuse| DoorContext { app: app.clone(), door: door(refuse), wire: Arc::new(wire.clone()) };
    let at = |path: &str| format!("{}{path}", wire.prefix);
    let chats = Router::new()
        .route(&at("/chat"), post(chat::say).get(resume::by_query))
        .route(&at("/chat/{chat}/stream"), get(resume::chat))
        .route(&at("/chat/{chat}/messages"), get(messages::list))
        .route(&at("/chat/{chat}/run"), delete(chat::stop));
    let projects = Router::new()
        .route(&at("/v1/chat"), post(project::say))
        .route(&at("/v1/chat/{project}/stream"), get(resume::project).delete(project::stop))
        .route(&at("/v1/chat/{project}/hitl-confirm"), post(confirm::confirm));
    // The two generations word their refusals differently.
    room(refusal::problem).guarded(chats).merge(room(refusal::success_false).guarded(projects))
}

/// Which generation of the client this is: it does not say by itself, so the address or a header may.
fn version(here: &AiSdkContext, asked: Option<&str>, headers: &axum::http::HeaderMap) -> Ui {
    let header = headers.get("x-ai-sdk-version").and_then(|value| value.to_str().ok());
    let told = asked.and_then(Ui::parse).or_else(|| header.and_then(Ui::parse));
    told.unwrap_or(here.wire.ui)
}
