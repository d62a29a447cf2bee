//! The MCP client at the other end of standard input and output.

use tokio::io::{AsyncBufRead, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tools::mcp::limits::MESSAGE_BYTES_MAX;
use tools::mcp::{BadRpc, INVALID_REQUEST, RpcMessage, next_line, skip_line};

use super::limits::OUTBOX_MAX;

/// The way to the client. Clones write to the same pipe, one whole line after another.
#[derive(Clone, Debug)]
pub(super) struct PeerOut(mpsc::Sender<Vec<u8>>);

impl PeerOut {
    /// The end of the pipe must be kept running: it ends when the last clone is gone, or the client is.
    pub(super) fn new() -> (PeerOut, PeerLines) {
        let (lines, from) = mpsc::channel(OUTBOX_MAX);
        (PeerOut(lines), PeerLines(from))
    }

    /// Waits while the client does not read. A client that is gone hears nothing.
    pub(super) async fn send(&self, line: Vec<u8>) {
        let _ = self.0.send(line).await;
    }

    /// For what may as well be left out.
    pub(super) fn try_send(&self, line: Vec<u8>) {
        let _ = self.0.try_send(line);
    }
}

pub(super) struct PeerLines(mpsc::Receiver<Vec<u8>>);

impl PeerLines {
    /// Until the last sender is gone, or the client is `leaving`: then what was sent before is still written.
    pub(super) async fn write_to(
        mut self,
        mut out: impl AsyncWrite + Unpin,
        leaving: CancellationToken,
    ) {
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
pub(super) enum PeerLine {
    Message(RpcMessage),
    Bad(BadRpc),
    End,
}

/// Blank lines are none. A line that is too long is left out, and said to be.
pub(super) async fn read_line(from: &mut (impl AsyncBufRead + Unpin)) -> PeerLine {
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
