//! What is kept for a while only, and goes when its time is up: replies under idempotency keys,
//! notes that say themselves until when, and files that nothing refers to.

use std::time::Duration;

use crate::Engine;
use crate::limits::REPLIES_ON_DISK_MS;

const EVERY_MS: u64 = 3_600_000;
/// A machine that slept, or a clock that was set forward, is noticed within this time.
const LOOK_EVERY: Duration = Duration::from_secs(60);

impl Engine {
    pub(crate) fn start_forgetting(&self) {
        let engine = self.clone();
        self.spawn(async move {
            loop {
                let now = engine.now();
                if let Err(error) =
                    engine.0.store.forget_replies(now.minus_ms(REPLIES_ON_DISK_MS)).await
                {
                    tracing::warn!(%error, "old replies could not be forgotten; the next try is in an hour");
                }
                if let Err(error) = engine.0.store.forget_notes(now).await {
                    tracing::warn!(%error, "old notes could not be forgotten; the next try is in an hour");
                }
                if let Err(error) = engine.forget_files().await {
                    tracing::warn!(%error, "unused files could not be removed; the next try is in an hour");
                }
                while engine.now().ms_since(now) < EVERY_MS {
                    tokio::select! {
                        biased;
                        () = engine.0.closing.begins() => return,
                        () = engine.0.clock.sleep(LOOK_EVERY) => {}
                    }
                }
            }
        });
    }
}
