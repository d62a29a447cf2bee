//! Worlds and agents, as the configuration has them. They can be looked at here, and changed there.

use std::sync::Arc;

use axum::extract::Request;
use axum::extract::State;
use axum::response::Response;
use domain::session::{RunStatus, Session};
use serde_json::{Value, json};

use super::chat::{Chat, summary};
use super::fault::{WorldsFault, WorldsResult};
use super::here::{Here, ok};
use super::memory::memory;
use super::name::kebab;
use crate::auth::Who;
use crate::doors::{DoorContext, NamedAgent, World, Worlds};

pub(super) async fn health() -> Response {
    ok(&json!({"status": "healthy"}))
}

/// Servers of tools belong to the configuration; agents have what it gives them.
pub(super) async fn mcp_servers() -> Response {
    ok(&json!({"servers": [], "count": 0}))
}

pub(super) async fn mcp_health() -> Response {
    ok(&json!({"status": "healthy", "servers": []}))
}

/// Everything that would change worlds or agents.
pub(super) async fn read_only(_who: Who, request: Request) -> WorldsFault {
    let path = request.uri().path();
    let what = match () {
        () if path.ends_with("/restart") => "tool servers",
        () if path.contains("/agents") => "agents",
        () => "worlds",
    };
    WorldsFault::read_only(what)
}

pub(super) async fn worlds(State(room): State<DoorContext<Worlds>>, _who: Who) -> Response {
    let world = |world: &World| {
        json!({
            "id": kebab(&world.name), "name": world.name, "agentCount": world.agents.len(),
            "description": null,
        })
    };
    ok(&room.wire.worlds.iter().map(world).collect::<Vec<_>>())
}

pub(super) async fn world(here: Here) -> WorldsResult {
    let chat = current(&here).await?;
    Ok(ok(&serialized(&here, chat.as_ref()).await?))
}

pub(super) async fn agents(here: Here) -> WorldsResult {
    let chat = current(&here).await?;
    let agents = here.world.agents.iter().map(|agent| shown(&here, agent, chat.as_ref()));
    Ok(ok(&agents.collect::<Vec<_>>()))
}

pub(super) async fn agent(here: Here) -> WorldsResult {
    let chat = current(&here).await?;
    let agent = here.agent(here.path("agent")).ok_or_else(WorldsFault::no_agent)?;
    Ok(ok(&shown(&here, agent, chat.as_ref())))
}

pub(super) async fn current(here: &Here) -> WorldsResult<Option<Chat>> {
    let Some(id) = here.current_chat().await? else { return Ok(None) };
    match here.chat(&id).await {
        Ok(chat) => Ok(Some(chat)),
        Err(fault) if fault.is_not_found() => Ok(None),
        Err(fault) => Err(fault),
    }
}

/// A world with its agents, the caller's chats, and what was said in the current one.
pub(super) async fn serialized(here: &Here, chat: Option<&Chat>) -> WorldsResult<Value> {
    let chats = here.chats().await?;
    let chats: Vec<Value> = chats.iter().map(|(id, session)| summary(id, session)).collect();
    let agents: Vec<Value> =
        here.world.agents.iter().map(|agent| shown(here, agent, chat)).collect();
    Ok(json!({
        "id": here.id, "name": here.world.name, "description": null, "turnLimit": null,
        "mainAgent": here.world.agents.first().map(|agent| kebab(&agent.name)),
        "currentChatId": chat.map(|chat| &chat.id), "mcpConfig": null,
        "agents": agents, "chats": chats,
    }))
}

fn shown(here: &Here, agent: &NamedAgent, chat: Option<&Chat>) -> Value {
    let session = chat.and_then(|chat| {
        let name = kebab(&agent.name);
        let own = |session: &&Arc<Session>| here.source(&chat.id, session).agent == name;
        let session = chat.sessions.iter().find(own)?;
        Some((chat, session))
    });
    let memory =
        session.map(|(chat, session)| memory(session, &here.source(&chat.id, session), here.app()));
    let memory = memory.unwrap_or_default();
    json!({
        "id": kebab(&agent.name), "name": agent.name, "autoReply": true, "status": "active",
        "messageCount": memory.len(), "memory": memory, "llmCallCount": 0,
    })
}

/// What is under way in the caller's chats of this world.
pub(super) async fn status(here: Here) -> WorldsResult {
    let engine = &here.app().engine;
    let (mut active, mut queued, mut agents) = (Vec::new(), Vec::new(), Vec::new());
    for (place, id) in here.own_sessions().await? {
        let session = engine.session(here.caller(), id).await?;
        if session.run.as_ref().is_some_and(|run| run.status() == RunStatus::Running) {
            agents.push(here.source(&place.chat, &session).agent);
            active.push(place.chat.clone());
        }
        if !session.queue.is_empty() {
            queued.push(place.chat);
        }
    }
    for list in [&mut active, &mut queued, &mut agents] {
        list.sort();
        list.dedup();
    }
    Ok(ok(&json!({
        "worldId": here.id, "isProcessing": !active.is_empty(), "queueDepth": queued.len(),
        "sendingCount": active.len(), "activeChatIds": active, "queuedChatIds": queued,
        "activeAgentNames": agents,
    })))
}
