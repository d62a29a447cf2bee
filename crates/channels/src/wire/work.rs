//! What is done with events that come over a connection. It outlives the connection over which it came: what a
//! person did is not dropped half-way because a line broke.

use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use futures_util::{SinkExt as _, StreamExt as _};
use ports::clock::Clock;
use tokio_tungstenite::tungstenite::Message;
use tokio_util::sync::CancellationToken;

use super::Socket;
use crate::limits::{SOCKET_SEND_WITHIN, STOP_WITHIN};

/// Events that are being worked at, each with an acknowledgement `A`.
pub(crate) type Work<'a, A> = FuturesUnordered<BoxFuture<'a, WorkStep<'a, A>>>;

pub(crate) enum WorkStep<'a, A> {
    /// To be sent if that connection still stands. `rest` is work that took longer than its
    /// acknowledgement may.
    Ack {
        connection: u64,
        ack: A,
        rest: Option<BoxFuture<'a, WorkStep<'a, A>>>,
    },
    Done,
}

/// Why a connection is over.
pub(crate) enum ConnectionEnd {
    Stopped,
    Broken(String),
}

/// Does `what`, and meanwhile whatever is still being worked at. `None` when we are to stop.
pub(crate) async fn beside<A, T>(
    work: &mut Work<'_, A>,
    stop: &CancellationToken,
    what: impl Future<Output = T>,
) -> Option<T> {
    let mut what = Box::pin(what);
    loop {
        tokio::select! {
            biased;
            () = stop.cancelled() => return None,
            done = &mut what => return Some(done),
            Some(step) = work.next(), if !work.is_empty() => {
                // Acknowledgements for a connection that is no more are lost; the events come again.
                if let WorkStep::Ack { rest: Some(rest), .. } = step {
                    work.push(rest);
                }
            }
        }
    }
}

/// What has begun may end; what has not ended by then comes again.
pub(crate) async fn finish<A>(mut work: Work<'_, A>, clock: &dyn Clock) {
    let finished = async { while work.next().await.is_some() {} };
    tokio::select! {
        biased;
        () = finished => {}
        () = clock.sleep(STOP_WITHIN) => {}
    }
}

pub(crate) async fn send(
    socket: &mut Socket,
    message: Message,
    platform: &str,
    clock: &dyn Clock,
) -> Result<(), String> {
    match within(clock, socket.send(message)).await {
        Some(Ok(())) => Ok(()),
        Some(Err(error)) => Err(error.to_string()),
        None => Err(format!("{platform} does not read what we send")),
    }
}

/// A courtesy: they learn of it in any case.
pub(crate) async fn close(socket: &mut Socket, clock: &dyn Clock) {
    let _ = within(clock, socket.close(None)).await;
}

async fn within<T>(clock: &dyn Clock, what: impl Future<Output = T>) -> Option<T> {
    tokio::select! {
        biased;
        done = what => Some(done),
        () = clock.sleep(SOCKET_SEND_WITHIN) => None,
    }
}
