//! What all parties of one crash test share.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::broadcast;
use tokio::time::Instant;

use crate::oracle::Oracle;

/// Something a kill can be timed by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Moment {
    /// A message is about to be sent.
    Say,
    HoldSeen,
    /// An answer is about to be sent.
    Answer,
    Acked,
    RunEnded,
}

impl Moment {
    pub(super) const ALL: [Moment; 5] =
        [Moment::Say, Moment::HoldSeen, Moment::Answer, Moment::Acked, Moment::RunEnded];
}

pub(super) struct Stage {
    pub(super) oracle: Oracle,
    moments: broadcast::Sender<Moment>,
    /// No more kills; talkers finish what they began.
    closing: AtomicBool,
    /// Nobody talks any more.
    over: AtomicBool,
}

impl Stage {
    pub(super) fn new() -> Stage {
        // A follower that lags behind only misses moments, of which there are always more.
        let (moments, _) = broadcast::channel(256);
        let (closing, over) = (AtomicBool::new(false), AtomicBool::new(false));
        Stage { oracle: Oracle::default(), moments, closing, over }
    }

    pub(super) fn tell(&self, moment: Moment) {
        // Nobody listens while a server starts.
        let _ = self.moments.send(moment);
    }

    pub(super) fn moments(&self) -> broadcast::Receiver<Moment> {
        self.moments.subscribe()
    }

    pub(super) fn close(&self) {
        self.closing.store(true, Ordering::SeqCst);
    }

    pub(super) fn is_closing(&self) -> bool {
        self.closing.load(Ordering::SeqCst)
    }

    pub(super) fn end(&self) {
        self.over.store(true, Ordering::SeqCst);
    }

    pub(super) fn is_over(&self) -> bool {
        self.over.load(Ordering::SeqCst)
    }

    /// Whether it took longer than `within` since the kills ended. While they go on everything may
    /// take as long as it likes.
    pub(super) fn is_too_late(
        &self,
        calm: &mut Option<Instant>,
        within: Duration,
        what: &str,
    ) -> bool {
        if !self.is_closing() {
            return false;
        }
        let late = calm.get_or_insert_with(Instant::now).elapsed() > within;
        if late {
            self.oracle.wrong(what);
        }
        late
    }
}
