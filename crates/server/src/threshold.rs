//! Around every handler: authentication, a limit of requests at once, a shield against panics, and the headers of
//! every reply. One step does all of it, and where it can it is part of the handler: a router copies every layer
//! for every request.

use std::any::Any;
use std::convert::Infallible;
use std::mem;
use std::panic::AssertUnwindSafe;
use std::task::{Context, Poll};

use axum::extract::{Request, State};
use axum::handler::Handler;
use axum::http::HeaderValue;
use axum::http::header::{CACHE_CONTROL, SET_COOKIE, X_CONTENT_TYPE_OPTIONS};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use tokio::sync::SemaphorePermit;
use tower::{Layer, Service};

use crate::app::App;
use crate::metrics::Measured;
use crate::problem::Problem;
use crate::replay::Need;
use crate::{auth, login};

/// Who gets to a handler, and which places their requests take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Guard {
    /// Everybody; strangers share a few places among themselves.
    Open,
    /// Refuses a request without credentials. `replay`: what a caller must be to get a kept reply. `urgent`: some
    /// places are kept for it, whatever else is going on.
    Caller { replay: Need, urgent: bool },
    /// The routes behind it judge by themselves who is calling. Until they have, nobody takes a place of
    /// a known caller.
    Own,
}

/// A handler with the threshold before it.
#[derive(Clone)]
pub(crate) struct Behind<H> {
    pub(crate) handler: H,
    pub(crate) guard: Guard,
}

impl<T: 'static, H: Handler<T, App>> Handler<T, App> for Behind<H> {
    type Future = BoxFuture<'static, Response>;

    fn call(self, request: Request, app: App) -> Self::Future {
        let Behind { handler, guard } = self;
        Box::pin(async move {
            cross(&app, guard, request, |request| handler.call(request, app.clone())).await
        })
    }
}

/// To be laid around routes that have a guard of their own.
#[derive(Clone)]
pub(crate) struct Threshold(pub(crate) App);

impl<S> Layer<S> for Threshold {
    type Service = Crossing<S>;

    fn layer(&self, inner: S) -> Crossing<S> {
        Crossing { app: self.0.clone(), inner }
    }
}

#[derive(Clone)]
pub(crate) struct Crossing<S> {
    app: App,
    inner: S,
}

impl<S> Service<Request> for Crossing<S>
where
    S: Service<Request, Response = Response, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send,
{
    type Response = Response;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Response, Infallible>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request) -> Self::Future {
        // The one that said it is ready is the one to be called.
        let unasked = self.inner.clone();
        let mut inner = mem::replace(&mut self.inner, unasked);
        let app = self.app.clone();
        let answer = move |request| async move {
            match inner.call(request).await {
                Ok(reply) => reply,
                Err(never) => match never {},
            }
        };
        Box::pin(async move { Ok(cross(&app, Guard::Own, request, answer).await) })
    }
}

async fn cross<A: Future<Output = Response>>(
    app: &App,
    guard: Guard,
    mut request: Request,
    answer: impl FnOnce(Request) -> A,
) -> Response {
    let measured = Measured::begin(&mut request);
    let mut reply = shielded(answered(app, guard, request, answer)).await;
    let headers = reply.headers_mut();
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    measured.end(app, reply.status());
    reply
}

async fn answered<A: Future<Output = Response>>(
    app: &App,
    guard: Guard,
    mut request: Request,
    answer: impl FnOnce(Request) -> A,
) -> Response {
    // Who is calling is known from the head alone: a stranger is turned away before they take a place.
    let mut renewed = None;
    if let Guard::Caller { replay, .. } = guard {
        let (mut parts, body) = request.into_parts();
        let who = match auth::authenticate(app, &parts).await {
            Ok(who) => who,
            Err(refused) => return refused.into_response(),
        };
        renewed = login::renewed(app, &parts, &who).await;
        parts.extensions.insert(who);
        parts.extensions.insert(replay);
        request = Request::from_parts(parts, body);
    }
    // mutant: as-many-at-once-as-come
    let _place = match place(app, guard) {
        Ok(place) => place,
        Err(busy) => return busy.into_response(),
    };
    let mut reply = answer(request).await;
    if let Some(cookie) = renewed {
        reply.headers_mut().entry(SET_COOKIE).or_insert(cookie);
    }
    reply
}

fn place(app: &App, guard: Guard) -> Result<Option<SemaphorePermit<'_>>, Problem> {
    match guard {
        Guard::Open => stranger_place(app).map(Some),
        Guard::Caller { urgent: false, .. } => caller_place(app).map(Some),
        Guard::Caller { urgent: true, .. } => caller_place(app)
            .or_else(|busy| app.urgent_requests.try_acquire().map_err(|_| busy))
            .map(Some),
        Guard::Own => Ok(None),
    }
}

/// For a request of an authenticated caller.
pub(crate) fn caller_place(app: &App) -> Result<SemaphorePermit<'_>, Problem> {
    app.requests.try_acquire().map_err(|_| busy())
}

fn stranger_place(app: &App) -> Result<SemaphorePermit<'_>, Problem> {
    app.stranger_requests.try_acquire().map_err(|_| busy())
}

fn busy() -> Problem {
    Problem::unavailable("too much at once; try again", 1)
}

/// Around routes behind [`Guard::Own`] that are open to everybody.
pub(crate) async fn among_strangers(
    State(app): State<App>,
    request: Request,
    next: Next,
) -> Response {
    match stranger_place(&app) {
        Ok(_place) => next.run(request).await,
        Err(busy) => busy.into_response(),
    }
}

async fn shielded(answer: impl Future<Output = Response>) -> Response {
    // mutant: a-panic-ends-the-connection
    AssertUnwindSafe(answer).catch_unwind().await.unwrap_or_else(panicked)
}

/// Must not be told to the caller.
fn panicked(_: Box<dyn Any + Send + 'static>) -> Response {
    tracing::error!("a handler panicked");
    Problem::internal().into_response()
}

#[cfg(test)]
mod crowd;

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_panic_is_a_fault_of_ours_and_says_nothing_more() {
        for waits_first in [false, true] {
            let reply = shielded(async {
                if waits_first {
                    tokio::task::yield_now().await;
                }
                panic!("index out of bounds: /src/secret.rs:7")
            })
            .await;
            assert_eq!(reply.status(), 500);
            let body = axum::body::to_bytes(reply.into_body(), 1 << 16).await.expect("a body");
            let text = String::from_utf8_lossy(&body);
            assert!(text.contains("\"code\":\"internal\"") && !text.contains("secret"), "{text}");
        }
    }
}
