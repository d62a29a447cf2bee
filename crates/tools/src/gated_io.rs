//! Sending the first byte of a call while the start gate is held: on a pipe, and on a connection that an HTTP
//! client makes.

use std::error::Error;
use std::future::{Future, poll_fn};
use std::io;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll};

use ports::start_gate::{NotBegun, Start, Starting};
use ports::unpoisoned::Unpoisoned as _;
use tokio::io::AsyncWrite;
use tower::{Layer, Service};

/// Writes the first of `bytes` as soon as there is room for any, and says how many. Each try is made under the
/// guard. A try without room has written nothing, so the guard is let go while room is waited for: nobody knows
/// how long the other side does not read. The guard comes with the answer, for hosts that need it for longer.
pub(crate) async fn first_write(
    start: &Start,
    to: &mut (impl AsyncWrite + Unpin),
    bytes: &[u8],
) -> Result<(Starting, io::Result<usize>), NotBegun> {
    loop {
        let starting = start.enter().await?;
        let tried = poll_fn(|cx| Poll::Ready(Pin::new(&mut *to).poll_write(cx, bytes))).await;
        if let Poll::Ready(written) = tried {
            return Ok((starting, written));
        }
        drop(starting);
        wait_for_wake().await;
    }
}

/// Until whatever was just polled says that it can go on.
async fn wait_for_wake() {
    let mut has_waited = false;
    poll_fn(|_| match std::mem::replace(&mut has_waited, true) {
        true => Poll::Ready(()),
        false => Poll::Pending,
    })
    .await;
}

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

#[cfg(test)]
mod tests {
    use std::task::Waker;

    use ports::start_gate::StartGate;
    use tokio::io::{AsyncReadExt as _, duplex};
    use tokio_util::sync::CancellationToken;

    use super::*;

    #[tokio::test]
    async fn i52_what_waits_for_room_in_a_pipe_begins_only_while_the_gate_is_open() {
        let gate = StartGate::default();
        let start = gate.start(CancellationToken::new());
        let (mut ours, mut theirs) = duplex(4);
        let full = first_write(&start, &mut ours, b"full").await.unwrap().1;
        assert_eq!(full.unwrap(), 4);
        let mut late = Box::pin(first_write(&start, &mut ours, b"late"));
        let polled = late.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        assert!(polled.is_pending());
        gate.close();
        // No guard is held while it waits.
        gate.idle().await;
        let mut read = [0; 4];
        theirs.read_exact(&mut read).await.unwrap();
        assert!(late.await.is_err());
        drop(ours);
        let mut rest = Vec::new();
        theirs.read_to_end(&mut rest).await.unwrap();
        assert!(rest.is_empty(), "{rest:?}");
    }
}
