//! Sends an answer as its manner says: in pieces, slowly, broken off, or never to its end.

use std::convert::Infallible;
use std::future::pending;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use futures_util::stream;
use tokio::time::sleep;

use super::manner::{Manner, Then};
use super::record::Ended;
use super::server::Shared;

/// Time for the last bytes before a cut to leave: what is still in a buffer when a connection breaks
/// is lost, and the cut would be somewhere else than the script says.
const FLUSH: Duration = Duration::from_millis(2);

/// An answer on its way, one piece after the other.
pub(super) struct Pour {
    pub(super) pieces: Box<dyn Iterator<Item = Vec<u8>> + Send>,
    pub(super) manner: Manner,
    /// What an error in the middle looks like.
    pub(super) error: Vec<u8>,
    pub(super) watch: Watch,
}

/// Notes how the answer ended, also when nobody reads it any more.
pub(super) struct Watch {
    pub(super) shared: Arc<Shared>,
    pub(super) index: usize,
}

struct Flow {
    pour: Pour,
    buffer: Vec<u8>,
    sent: usize,
}

enum Next {
    Piece(Vec<u8>),
    Broken,
    Over,
}

impl Pour {
    pub(super) fn body(self) -> Body {
        let flow = Flow { pour: self, buffer: Vec::new(), sent: 0 };
        Body::from_stream(stream::unfold(Some(flow), |flow| async move {
            let mut flow = flow?;
            match flow.next().await {
                Next::Piece(bytes) => Some((Ok(Bytes::from(bytes)), Some(flow))),
                Next::Broken => Some((Err(io::Error::other("cut by the script")), None)),
                Next::Over => None,
            }
        }))
    }
}

impl Flow {
    async fn next(&mut self) -> Next {
        let manner = &self.pour.manner;
        if manner.drip_ms > 0 {
            sleep(Duration::from_millis(manner.drip_ms)).await;
        }
        if let Some(after) = manner.after.clone().filter(|after| self.sent >= after.bytes) {
            match after.then {
                Then::Cut => {
                    sleep(FLUSH).await;
                    self.pour.watch.end(Ended::Cut);
                    return Next::Broken;
                }
                Then::End => {
                    self.pour.watch.end(Ended::Cut);
                    return Next::Over;
                }
                Then::Stall => match pending::<Infallible>().await {},
                Then::Error { .. } if self.buffer.is_empty() => {
                    self.buffer = std::mem::take(&mut self.pour.error);
                    self.pour.pieces = Box::new(std::iter::empty());
                    self.pour.manner.after = None;
                }
                Then::Garbage(bytes) if self.buffer.is_empty() => {
                    self.buffer = bytes.into_bytes();
                    self.pour.manner.after = None;
                }
                Then::Error { .. } | Then::Garbage(_) => {}
            }
        }
        if self.buffer.is_empty() {
            match self.pour.pieces.next() {
                Some(piece) => self.buffer = piece,
                None => {
                    self.pour.watch.end(Ended::Whole);
                    return Next::Over;
                }
            }
        }
        let mut take = self.pour.manner.chunk.map_or(usize::MAX, |chunk| chunk.max(1));
        if let Some(after) = &self.pour.manner.after
            && matches!(after.then, Then::Cut | Then::End | Then::Stall)
        {
            take = take.min(after.bytes - self.sent);
        }
        let rest = self.buffer.split_off(take.min(self.buffer.len()));
        let piece = std::mem::replace(&mut self.buffer, rest);
        self.sent += piece.len();
        Next::Piece(piece)
    }
}

impl Watch {
    pub(super) fn end(&self, ended: Ended) {
        self.shared.ended(self.index, ended);
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        // Whatever ended has said so already, and that stays.
        self.end(Ended::HungUp);
    }
}
