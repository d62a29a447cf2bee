//! Sending the first byte of a call on a pipe while the start gate is held.

use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::task::Poll;

use ports::start_gate::{NotBegun, Start, Starting};
use tokio::io::AsyncWrite;

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

#[cfg(test)]
mod tests {
    use std::task::{Context, Waker};

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
