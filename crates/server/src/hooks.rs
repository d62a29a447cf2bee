//! Requests of chat platforms, to `/channels/{name}/…`. They are handed on to the byte: who really sent
//! one is judged by the channel, over its raw body.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};
use axum::routing::any;
use futures_util::future::BoxFuture;
use ports::channel::{HookReply, WebhookRequest};
use tokio::sync::Semaphore;

use crate::app::App;
use crate::asked::read_strangers;
use crate::limits::{HOOK_BURST, HOOK_BYTES_MAX, HOOKS_AT_ONCE, HOOKS_PER_SECOND};
use crate::peer;
use crate::problem::{Problem, Reply};
use crate::rate::Buckets;

/// The channels, as webhook requests reach them.
pub trait Hooks: Send + Sync {
    /// `None`: there is no such channel.
    fn hook<'a>(
        &'a self,
        channel: &'a str,
        request: WebhookRequest,
    ) -> BoxFuture<'a, Option<HookReply>>;
}

struct Hooking {
    app: App,
    hooks: Arc<dyn Hooks>,
    /// These requests have no credentials, so strangers share what callers have for themselves.
    buckets: Buckets,
    places: Semaphore,
}

pub(crate) fn router(app: &App, hooks: Arc<dyn Hooks>) -> Router {
    let hooking = Hooking {
        app: app.clone(),
        hooks,
        buckets: Buckets::with(HOOKS_PER_SECOND, HOOK_BURST, app.limits.callers_remembered),
        places: Semaphore::new(HOOKS_AT_ONCE),
    };
    Router::new().route("/channels/{name}/{*path}", any(take)).with_state(Arc::new(hooking))
}

async fn take(
    State(hooking): State<Arc<Hooking>>,
    Path((name, path)): Path<(String, String)>,
    request: Request,
) -> Response {
    match hand_over(&hooking, &name, path, request).await {
        Ok(reply) => reply,
        Err(refused) => refused.into_response(),
    }
}

async fn hand_over(
    hooking: &Hooking,
    name: &str,
    path: String,
    request: Request,
) -> Reply<Response> {
    let app = &hooking.app;
    let at = app.engine.now();
    let address = peer::address(app, request.extensions(), request.headers());
    if let Err(seconds) = hooking.buckets.take(&address.to_string(), at) {
        return Err(Problem::too_many("you send too many requests; slow down", seconds).into());
    }
    let (parts, body) = request.into_parts();
    // Until a channel has judged it, it is a stranger's: it has its place among their bodies, then one of
    // the few in which signatures are looked at, and never one of a known caller.
    let body = read_strangers(app, address, body, HOOK_BYTES_MAX).await?;
    let Ok(_place) = hooking.places.try_acquire() else {
        return Err(Problem::unavailable("too much at once; try again", 1).into());
    };
    let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    let hooked = WebhookRequest {
        method: parts.method.to_string(),
        path,
        query: parts.uri.query().map(str::to_owned),
        headers: parts
            .headers
            .iter()
            .map(|(name, value)| (name.to_string(), text(value)))
            .chain([(WebhookRequest::PEER.to_owned(), address.to_string())])
            .collect(),
        body: body.to_vec(),
        at,
    };
    let Some(reply) = hooking.hooks.hook(name, hooked).await else {
        return Err(Problem::not_found("address").into());
    };
    let status = StatusCode::from_u16(reply.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let kind = [(CONTENT_TYPE, HeaderValue::from_static(reply.content_type))];
    Ok((status, kind, Body::from(reply.body)).into_response())
}
