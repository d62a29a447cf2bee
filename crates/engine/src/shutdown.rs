//! Shutdown flag. Read on every operation and awaited rarely, so the read is one atomic load.

use std::sync::atomic::{AtomicBool, Ordering};

use tokio_util::sync::{CancellationToken, WaitForCancellationFuture};

#[derive(Default)]
pub(crate) struct Closing {
    has_begun: AtomicBool,
    token: CancellationToken,
}

impl Closing {
    pub(crate) fn begin(&self) {
        self.has_begun.store(true, Ordering::Release);
        self.token.cancel();
    }

    pub(crate) fn has_begun(&self) -> bool {
        self.has_begun.load(Ordering::Acquire)
    }

    /// Returns once it has begun.
    pub(crate) fn begins(&self) -> WaitForCancellationFuture<'_> {
        self.token.cancelled()
    }
}
