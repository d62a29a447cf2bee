//! The MCP client at the other end of standard input and output.

use async_trait::async_trait;
use tokio::io::{AsyncBufRead, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tools::mcp::limits::MESSAGE_BYTES_MAX;
use tools::mcp::{BadRpc, INVALID_REQUEST, RpcId, RpcMessage, next_line, skip_line};

use crate::limits::OUTBOX_MAX;

/// The way to the client. Clones write to the same pipe, one whole line after another.
#[derive(Clone, Debug)]
pub struct PeerOut(mpsc::Sender<Vec<u8>>);

impl PeerOut {
    /// The end of the pipe must be kept running: it ends when the last clone is gone, or the client is.
    pub fn new() -> (PeerOut, PeerLines) {
        let (lines, from) = mpsc::channel(OUTBOX_MAX);
        (PeerOut(lines), PeerLines(from))
    }

    /// Waits while the client does not read. A client that is gone hears nothing.
    pub async fn send_line(&self, line: Vec<u8>) {
        let _ = self.0.send(line).await;
    }
}

/// The way to a client, over whatever it speaks.
#[async_trait]
pub trait ClientLink: Send + Sync {
    /// Waits while the client does not read. `about` is the request of the client in whose course this is said. Whether
    /// it can be said at all: a client may be gone, or hear nothing that it did not ask for.
    async fn send(&self, about: Option<&RpcId>, line: Vec<u8>) -> bool;

    /// The answer to a request: nothing more is said about that one.
    async fn finish(&self, id: &RpcId, line: Vec<u8>);

    /// For what may as well be left out.
    fn try_send(&self, about: Option<&RpcId>, line: Vec<u8>);
}

/// One pipe for everything.
#[async_trait]
impl ClientLink for PeerOut {
    async fn send(&self, _: Option<&RpcId>, line: Vec<u8>) -> bool {
        self.0.send(line).await.is_ok()
    }

    async fn finish(&self, _: &RpcId, line: Vec<u8>) {
        self.send_line(line).await;
    }

    fn try_send(&self, _: Option<&RpcId>, line: Vec<u8>) {
        let _ = self.0.try_send(line);
    }
}

pub struct PeerLines(mpsc::Receiver<Vec<u8>>);

impl PeerLines {
    /// Until the last sender is gone, or the client is `leaving`: then what was sent before is still written.
    pub async fn write_to(mut self, mut out: impl AsyncWrite + Unpin, leaving: CancellationToken) {
        loop {
            let line = tokio::select! {
                line = self.0.recv() => line,
                () = leaving.cancelled(), if !self.0.is_closed() => {
                    self.0.close();
                    continue;
                }
            };
            let Some(mut line) = line else { return };
            line.push(b'\n');
            if out.write_all(&line).await.is_err() || out.flush().await.is_err() {
                return;
            }
        }
    }
}

/// A line of the other side.
pub enum PeerLine {
    Message(RpcMessage),
    Bad(BadRpc),
    End,
}

/// Blank lines are none. A line that is too long is left out, and said to be.
pub async fn read_line(from: &mut (impl AsyncBufRead + Unpin)) -> PeerLine {
    loop {
        match next_line(from, MESSAGE_BYTES_MAX).await {
            Ok(None) => return PeerLine::End,
            Ok(Some(line)) if line.iter().all(u8::is_ascii_whitespace) => {}
            Ok(Some(line)) => {
                return match RpcMessage::parse(&line) {
                    Ok(message) => PeerLine::Message(message),
                    Err(bad) => PeerLine::Bad(bad),
                };
            }
            Err(_) if skip_line(from).await => {
                let why = "the line is longer than 16 MiB";
                return PeerLine::Bad(BadRpc { code: INVALID_REQUEST, why, id: None });
            }
            Err(_) => return PeerLine::End,
        }
    }
}
