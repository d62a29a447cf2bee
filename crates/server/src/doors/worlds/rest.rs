//! Worlds and agents, as the configuration has them. They can be looked at here, and changed there.

use std::sync::Arc;

use axum::extract::Request;
use axum::extract::State;
use axum::response::Response;
use domain::session::{RunStatus, Session};

use super::chat::{Chat, summary};
use super::fault::{WorldsFault, WorldsResult};
use super::memory::memory;
use super::name::kebab;
use super::replies::{
    AgentDocument, Health, ListedWorld, ToolServers, ToolServersHealth, WorldDocument, WorldStatus,
};
use super::world_request::{WorldRequest, ok};
use crate::auth::Who;
use crate::doors::{DoorContext, NamedAgent, World, Worlds};

pub(super) async fn health() -> Response {
    ok(&Health { status: "healthy" })
}

/// Servers of tools belong to the configuration; agents have what it gives them.
pub(super) async fn mcp_servers() -> Response {
    ok(&ToolServers { servers: [], count: 0 })
}

pub(super) async fn mcp_health() -> Response {
    ok(&ToolServersHealth { status: "healthy", servers: [] })
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
    ok(&room.wire.worlds.iter().map(listed).collect::<Vec<_>>())
}

fn listed(world: &World) -> ListedWorld<'_> {
    ListedWorld {
        id: kebab(&world.name),
        name: &world.name,
        agent_count: world.agents.len(),
        description: None,
    }
}

pub(super) async fn world(here: WorldRequest) -> WorldsResult {
    let chat = current(&here).await?;
    Ok(ok(&serialized(&here, chat.as_ref()).await?))
}

pub(super) async fn agents(here: WorldRequest) -> WorldsResult {
    let chat = current(&here).await?;
    let agents = here.world.agents.iter().map(|agent| agent_document(&here, agent, chat.as_ref()));
    Ok(ok(&agents.collect::<Vec<_>>()))
}

pub(super) async fn agent(here: WorldRequest) -> WorldsResult {
    let chat = current(&here).await?;
    let agent = here.agent(here.path("agent")).ok_or_else(WorldsFault::no_agent)?;
    Ok(ok(&agent_document(&here, agent, chat.as_ref())))
}

pub(super) async fn current(here: &WorldRequest) -> WorldsResult<Option<Chat>> {
    let Some(id) = here.current_chat().await? else { return Ok(None) };
    match here.chat(&id).await {
        Ok(chat) => Ok(Some(chat)),
        Err(fault) if fault.is_not_found() => Ok(None),
        Err(fault) => Err(fault),
    }
}

/// A world with its agents, the caller's chats, and what was said in the current one.
pub(super) async fn serialized(
    here: &WorldRequest,
    chat: Option<&Chat>,
) -> WorldsResult<WorldDocument> {
    let chats = here.chats().await?;
    Ok(WorldDocument {
        id: here.id.clone(),
        name: here.world.name.clone(),
        description: None,
        turn_limit: None,
        main_agent: here.world.agents.first().map(|agent| kebab(&agent.name)),
        current_chat_id: chat.map(|chat| chat.id.clone()),
        mcp_config: None,
        agents: here.world.agents.iter().map(|agent| agent_document(here, agent, chat)).collect(),
        chats: chats.iter().map(|(id, session)| summary(id, session)).collect(),
    })
}

fn agent_document(here: &WorldRequest, agent: &NamedAgent, chat: Option<&Chat>) -> AgentDocument {
    let session = chat.and_then(|chat| {
        let name = kebab(&agent.name);
        let own = |session: &&Arc<Session>| here.source(&chat.id, session).agent == name;
        let session = chat.sessions.iter().find(own)?;
        Some((chat, session))
    });
    let memory =
        session.map(|(chat, session)| memory(session, &here.source(&chat.id, session), here.app()));
    let memory = memory.unwrap_or_default();
    AgentDocument {
        id: kebab(&agent.name),
        name: agent.name.clone(),
        auto_reply: true,
        status: "active",
        message_count: memory.len(),
        memory,
        llm_call_count: 0,
    }
}

/// What is under way in the caller's chats of this world.
pub(super) async fn status(here: WorldRequest) -> WorldsResult {
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
    Ok(ok(&WorldStatus {
        world_id: &here.id,
        is_processing: !active.is_empty(),
        queue_depth: queued.len(),
        sending_count: active.len(),
        active_chat_ids: active,
        queued_chat_ids: queued,
        active_agent_names: agents,
    }))
}
