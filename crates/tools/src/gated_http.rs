//! Sending the first byte of a call on a connection that an HTTP client makes while the start gate is held.

use std::error::Error;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll};

use ports::start_gate::{NotBegun, Start, Starting};
use ports::unpoisoned::Unpoisoned as _;
use tower::{Layer, Service};

tokio::task_local! {
    static REQUEST: Arc<GatedRequest>;
}

struct GatedRequest {
    start: Start,
    held: Mutex<Option<Starting>>,
}

impl GatedRequest {
    fn lock_starting(&self) -> MutexGuard<'_, Option<Starting>> {
        self.held.lock().unpoisoned()
    }
}

/// Sends a request over a client with a [`ConnectGate`] and without a pool: looking up, connecting and shaking
/// hands come before the gate, and the request after it. What follows a first request (a redirect, another try)
/// belongs to a call that has begun.
///
/// The guard is held until the poll returns in which the connection came to stand. The request is then with the
/// tasks of the HTTP client, which wait for nothing but their turn. Holding it until the bytes are written could
/// take as long as the other side does not read.
pub(crate) async fn send_gated<T>(start: &Start, sending: impl Future<Output = T>) -> T {
    let request = Arc::new(GatedRequest { start: start.clone(), held: Mutex::default() });
    let mut sending = pin!(sending);
    let polling = poll_fn(|cx| {
        let polled = sending.as_mut().poll(cx);
        drop(REQUEST.with(|request| request.lock_starting().take()));
        polled
    });
    REQUEST.scope(request, polling).await
}

/// Whether the gate was what stopped a request, somewhere below the layers of the HTTP client.
pub(crate) fn find_refusal(error: &(dyn Error + 'static)) -> Option<NotBegun> {
    let chain = std::iter::successors(Some(error), |&error| error.source());
    chain.filter_map(|cause| cause.downcast_ref::<NotBegun>()).next().copied()
}

/// Lets a connection through only when its request may begin.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ConnectGate;

#[derive(Clone, Debug)]
pub(crate) struct GatedConnector<S>(S);

impl<S> Layer<S> for ConnectGate {
    type Service = GatedConnector<S>;

    fn layer(&self, inner: S) -> GatedConnector<S> {
        GatedConnector(inner)
    }
}

type BoxError = Box<dyn Error + Send + Sync>;

impl<S, To> Service<To> for GatedConnector<S>
where
    S: Service<To, Error = BoxError>,
    S::Response: Send,
    S::Future: Send + 'static,
{
    type Response = S::Response;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<S::Response, BoxError>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.0.poll_ready(cx)
    }

    fn call(&mut self, to: To) -> Self::Future {
        let request = REQUEST.try_with(Arc::clone);
        let connecting = self.0.call(to);
        Box::pin(async move {
            let connection = connecting.await?;
            // A connection for nobody's request would be one that no gate was asked about.
            let request = request.map_err(|_| "it was sent past the start gate")?;
            if !request.start.has_begun() {
                let starting = request.start.enter().await?;
                *request.lock_starting() = Some(starting);
            }
            Ok(connection)
        })
    }
}
