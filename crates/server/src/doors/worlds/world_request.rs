//! Where a request is: which world its path names, who calls, and what it brings.

use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, RawPathParams, Request};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::http::request::Parts;
use axum::response::{IntoResponse as _, Response};
use engine::Caller;
use serde::Serialize;
use serde_json::{Map, Value};

use super::body::{loose, object};
use super::fault::{WorldsFault, WorldsResult};
use super::name::kebab;
use crate::app::App;
use crate::asked::{bytes, read_body};
use crate::auth::Who;
use crate::doors::{DoorContext, NamedAgent, World, Worlds};

/// A request that was let in, in a world that there is.
pub(super) struct WorldRequest {
    pub(super) room: DoorContext<Worlds>,
    pub(super) who: Who,
    pub(super) world: World,
    /// As clients name it.
    pub(super) id: String,
    /// What else the path names.
    path: Vec<(String, String)>,
}

impl WorldRequest {
    pub(super) fn app(&self) -> &App {
        &self.room.app
    }

    pub(super) fn caller(&self) -> &Caller {
        &self.who.caller
    }

    pub(super) fn path(&self, name: &str) -> &str {
        let found = self.path.iter().find(|(key, _)| key == name);
        found.map_or("", |(_, value)| value.as_str())
    }

    /// The agent who answers where nobody else is addressed.
    pub(super) fn main_agent(&self) -> WorldsResult<&NamedAgent> {
        self.world.agents.first().ok_or_else(WorldsFault::no_agent)
    }

    pub(super) fn agent(&self, name: &str) -> Option<&NamedAgent> {
        let name = kebab(name);
        self.world.agents.iter().find(|agent| kebab(&agent.name) == name)
    }

    pub(super) fn is_main(&self, agent: &NamedAgent) -> bool {
        self.world.agents.first() == Some(agent)
    }
}

impl FromRequestParts<DoorContext<Worlds>> for WorldRequest {
    type Rejection = WorldsFault;

    async fn from_request_parts(
        parts: &mut Parts,
        room: &DoorContext<Worlds>,
    ) -> WorldsResult<WorldRequest> {
        let who = Who::from_request_parts(parts, room).await?;
        let path = RawPathParams::from_request_parts(parts, room).await;
        let path = path.map_err(|_| WorldsFault::no_world())?;
        let path: Vec<(String, String)> =
            path.iter().map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
        let named = path.iter().find(|(key, _)| key == "world").map(|(_, value)| kebab(value));
        let id = named.ok_or_else(WorldsFault::no_world)?;
        let world = room.wire.worlds.iter().find(|world| kebab(&world.name) == id);
        let world = world.ok_or_else(WorldsFault::no_world)?.clone();
        Ok(WorldRequest { room: room.clone(), who, world, id, path })
    }
}

/// The same, with a body.
pub(super) struct PostRequest {
    pub(super) here: WorldRequest,
    bytes: Bytes,
}

impl PostRequest {
    /// A body that decides something: read as strictly as the arguments of a call.
    pub(super) fn strict(&self) -> WorldsResult<Map<String, Value>> {
        Ok(object(&self.bytes)?)
    }

    /// A body of which most is passed over, however large or odd it is.
    pub(super) fn loose(&self) -> WorldsResult<Map<String, Value>> {
        Ok(loose(&self.bytes)?)
    }
}

impl FromRequest<DoorContext<Worlds>> for PostRequest {
    type Rejection = WorldsFault;

    async fn from_request(
        request: Request,
        room: &DoorContext<Worlds>,
    ) -> WorldsResult<PostRequest> {
        let (mut parts, body) = request.into_parts();
        let here = WorldRequest::from_request_parts(&mut parts, room).await?;
        let bytes = read_body(&room.app, body).await?;
        Ok(PostRequest { here, bytes })
    }
}

pub(super) fn ok<T: Serialize>(value: &T) -> Response {
    let mut reply = (StatusCode::OK, bytes(value)).into_response();
    let json = axum::http::HeaderValue::from_static("application/json");
    reply.headers_mut().insert(CONTENT_TYPE, json);
    reply
}
