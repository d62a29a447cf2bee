//! `/mcp` and `/mcp/{upstream}`: MCP over HTTP, before the servers that the gate fronts.
//!
//! Who is calling is found out here, by a token and by nothing else: no page of another site can send one. What is then said is
//! handed on to the byte. A stream that stays open ends when its token does.

use std::sync::Arc;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Path, Request, State};
use axum::http::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE};
use axum::http::request::Parts;
use axum::http::{HeaderName, HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse as _, Response};
use axum::routing::any;
use domain::digest::Digest;
use domain::event::TokenScope;
use engine::Caller;
use futures_util::future::BoxFuture;
use futures_util::stream::{BoxStream, StreamExt as _, unfold};

use crate::app::App;
use crate::asked::read_body;
use crate::auth::{Credential, Who, authenticate, must_name_our_host};
use crate::problem::{Problem, Reply};
use crate::threshold::caller_place;

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const NO_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");
/// What an answer given in an MCP client was given by.
const VIA: &str = "mcp";

/// The gate before MCP servers. It is handed in, as it needs hands that a door does not see.
pub trait McpGate: Send + Sync {
    /// The empty name is the address of all of them.
    fn has_upstream(&self, name: &str) -> bool;

    fn take<'a>(
        &'a self,
        name: &'a str,
        caller: McpCaller,
        request: McpRequest,
    ) -> BoxFuture<'a, McpReply>;

    /// Ends all sessions.
    fn close(&self) -> BoxFuture<'_, ()>;
}

/// The owner of a token.
#[derive(Clone)]
pub struct McpCaller {
    /// Of the token itself: nothing of one token is shown to another.
    pub token: Digest,
    /// Whose name questions are kept under.
    pub stable_name: String,
    /// Asked before each step: `None` as soon as the token is revoked or has expired.
    pub find: Arc<dyn Fn() -> Option<Caller> + Send + Sync>,
    /// Where people reach the page.
    pub origin: String,
}

pub struct McpRequest {
    pub method: Method,
    pub headers: Vec<(String, String)>,
    pub body: Bytes,
}

pub struct McpReply {
    pub status: u16,
    pub session: Option<String>,
    pub body: McpBody,
}

pub enum McpBody {
    Empty,
    Json(Vec<u8>),
    Events(BoxStream<'static, McpEvent>),
}

pub struct McpEvent {
    pub id: Option<String>,
    pub data: Vec<u8>,
}

#[derive(Clone)]
struct McpRoutes {
    app: App,
    gate: Arc<dyn McpGate>,
}

pub(crate) fn router(app: &App, gate: Arc<dyn McpGate>) -> Router {
    Router::new()
        .route("/mcp", any(take_all))
        .route("/mcp/{upstream}", any(take_one))
        .with_state(McpRoutes { app: app.clone(), gate })
}

async fn take_all(State(routes): State<McpRoutes>, request: Request) -> Response {
    respond(&routes, "", request).await
}

async fn take_one(
    State(routes): State<McpRoutes>,
    Path(name): Path<String>,
    request: Request,
) -> Response {
    respond(&routes, &name, request).await
}

async fn respond(routes: &McpRoutes, name: &str, request: Request) -> Response {
    match take(routes, name, request).await {
        Ok(reply) => reply,
        Err(refused) => refused.into_response(),
    }
}

async fn take(routes: &McpRoutes, name: &str, request: Request) -> Reply<Response> {
    let app = &routes.app;
    let (parts, body) = request.into_parts();
    must_name_our_host(app, &parts)?;
    let caller = find_caller(app, &parts).await?;
    let _place = caller_place(app)?;
    if !routes.gate.has_upstream(name) {
        return Err(Problem::not_found("MCP server").into());
    }
    let request = McpRequest {
        method: parts.method.clone(),
        headers: parts.headers.iter().filter_map(header_text).collect(),
        body: read_body(app, body).await?,
    };
    let reply = routes.gate.take(name, caller.clone(), request).await;
    Ok(write_reply(app, caller, reply))
}

/// Without the credentials: nobody beyond this needs them.
fn header_text((name, value): (&HeaderName, &HeaderValue)) -> Option<(String, String)> {
    let is_secret = matches!(name.as_str(), "authorization" | "cookie");
    (!is_secret)
        .then(|| (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned()))
}

async fn find_caller(app: &App, parts: &Parts) -> Reply<McpCaller> {
    let Who { caller, credential } = authenticate(app, parts).await?;
    let Credential::Token { secret, .. } = credential else {
        let why =
            "send the header `Authorization: Bearer <token>`; a login's cookie does not do here";
        return Err(Problem::unauthenticated(why).into());
    };
    // What else a client asks of an upstream is as much its owner's as its tools are.
    caller.must_have(TokenScope::Ask)?;
    let token = Digest::of(secret.as_bytes());
    let engine = app.engine.clone();
    let find = Arc::new(move || engine.caller_by_token(&secret, VIA));
    let (stable_name, origin) = (caller.stable_name(), app.origin.clone());
    Ok(McpCaller { token, stable_name, find, origin })
}

fn write_reply(app: &App, caller: McpCaller, reply: McpReply) -> Response {
    let status = StatusCode::from_u16(reply.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = match reply.body {
        McpBody::Empty => status.into_response(),
        McpBody::Json(body) => {
            let kind = [(CONTENT_TYPE, HeaderValue::from_static("application/json"))];
            (status, kind, Body::from(body)).into_response()
        }
        McpBody::Events(events) => {
            let headers = [
                (CONTENT_TYPE, HeaderValue::from_static("text/event-stream")),
                (CACHE_CONTROL, HeaderValue::from_static("no-store")),
                (NO_BUFFERING, HeaderValue::from_static("no")),
            ];
            (
                status,
                headers,
                Body::from_stream(
                    write_events(app, caller, events).map(Ok::<_, std::convert::Infallible>),
                ),
            )
                .into_response()
        }
    };
    if status == StatusCode::METHOD_NOT_ALLOWED {
        response.headers_mut().insert(ALLOW, HeaderValue::from_static("POST"));
    }
    if let Some(session) = reply.session.and_then(|id| HeaderValue::from_str(&id).ok()) {
        response.headers_mut().insert(SESSION, session);
    }
    response
}

/// Shows life while nothing is said, and ends with the token or with the server.
fn write_events(
    app: &App,
    caller: McpCaller,
    events: BoxStream<'static, McpEvent>,
) -> BoxStream<'static, Bytes> {
    let app = app.clone();
    let step = move |mut events: BoxStream<'static, McpEvent>| {
        let (app, caller) = (app.clone(), caller.clone());
        async move {
            let said = tokio::select! {
                biased;
                event = events.next() => {
                    (caller.find)()?;
                    write_event(&event?)
                }
                () = app.closing.cancelled() => return None,
                () = tokio::time::sleep(app.limits.heartbeat) => {
                    (caller.find)()?;
                    Bytes::from_static(b": still here\n\n")
                }
            };
            Some((said, events))
        }
    };
    let opening = futures_util::stream::iter([Bytes::from_static(b": open\n\n")]);
    opening.chain(unfold(events, step)).boxed()
}

/// Messages are one line each.
fn write_event(event: &McpEvent) -> Bytes {
    let mut text = Vec::with_capacity(event.data.len() + 64);
    if let Some(id) = &event.id {
        text.extend_from_slice(format!("id: {id}\n").as_bytes());
    }
    text.extend_from_slice(b"event: message\ndata: ");
    text.extend_from_slice(&event.data);
    text.extend_from_slice(b"\n\n");
    text.into()
}
