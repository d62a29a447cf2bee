//! That the engine is closing. Everything that is done asks whether it is, and hardly anything waits for
//! it: so asking takes no lock that all would share.

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
