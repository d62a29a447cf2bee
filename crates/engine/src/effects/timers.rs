//! Deadlines. They are rows in the store; this only knows when to look next, so nothing polls.

use std::sync::Mutex;
use std::time::Duration;

use domain::id::StreamId;
use domain::person::Actor;
use domain::session::Command;
use domain::time::Timestamp;
use ports::unpoisoned::Unpoisoned as _;
use tokio::sync::Notify;

use crate::Engine;

#[derive(Default)]
pub(crate) struct Timers {
    next: Mutex<Option<Timestamp>>,
    earlier: Notify,
    delivery: Notify,
}

impl Timers {
    /// A deadline was written. If it is the earliest, the sleeper must know.
    pub(crate) fn note(&self, due: Option<Timestamp>) {
        let Some(due) = due else { return };
        let mut next = self.next.lock().unpoisoned();
        if next.is_none_or(|next| due < next) {
            *next = Some(due);
            self.earlier.notify_one();
        }
    }

    pub(crate) fn note_delivery(&self) {
        self.delivery.notify_one();
    }

    pub(crate) async fn delivery_noted(&self) {
        self.delivery.notified().await;
    }

    fn forget(&self) {
        *self.next.lock().unpoisoned() = None;
    }

    /// Set by the sleeper itself, who need not be woken by it.
    fn set_at_most(&self, due: Option<Timestamp>) {
        let mut next = self.next.lock().unpoisoned();
        *next = [*next, due].into_iter().flatten().min();
    }

    fn get(&self) -> Option<Timestamp> {
        *self.next.lock().unpoisoned()
    }
}

/// A clock that is set forward is noticed within this time. Waking up costs nothing measurable, and
/// the store is asked only where others write deadlines into it that were not noted here.
const LOOK_AT_LEAST_EVERY: Duration = Duration::from_secs(60);
const TRY_AGAIN: Duration = Duration::from_secs(1);

impl Engine {
    pub(crate) fn start_timers(&self) {
        let engine = self.clone();
        self.spawn(async move {
            loop {
                // After a failure not even a deadline that has come is a reason to try at once.
                let (again, deadline) = match engine.expire_due().await {
                    Ok(()) if engine.0.store.is_shared() => (Some(LOOK_AT_LEAST_EVERY), true),
                    Ok(()) => (None, true),
                    Err(error) => {
                        tracing::error!(%error, "deadlines could not be read");
                        (Some(TRY_AGAIN), false)
                    }
                };
                let again = async {
                    match again {
                        Some(again) => engine.0.clock.sleep(again).await,
                        None => std::future::pending().await,
                    }
                };
                tokio::select! {
                    biased;
                    () = engine.deadline(), if deadline => {}
                    () = again => {}
                    () = engine.0.closing.begins() => return,
                }
            }
        });
    }

    /// Returns when the earliest deadline that was noted has come.
    async fn deadline(&self) {
        loop {
            let now = self.now();
            let pause = match self.0.timers.get() {
                Some(due) if due <= now => return,
                Some(due) => Duration::from_millis(due.ms_since(now)).min(LOOK_AT_LEAST_EVERY),
                None => LOOK_AT_LEAST_EVERY,
            };
            tokio::select! {
                biased;
                () = self.0.timers.earlier.notified() => {}
                () = self.0.clock.sleep(pause) => {}
            }
        }
    }

    async fn expire_due(&self) -> Result<(), crate::Error> {
        // Notes that arrive from here on are of use, however old the last look is.
        self.0.timers.forget();
        let mut last = Vec::new();
        loop {
            let due = self.0.store.due(self.now(), 100).await?;
            if due.is_empty() {
                break;
            }
            if due == last {
                // Nothing came of it. Trying at once would only keep the processor warm.
                return Err(crate::Error::Unavailable(
                    "some deadlines could not be applied".into(),
                ));
            }
            for stream in &due {
                ports::failpoint!("expire.due");
                // One that fails does not hold up the others.
                let applied = match *stream {
                    StreamId::Session(id) => {
                        self.submit(id, &Actor::Runtime, &Command::Expire, None).await.map(drop)
                    }
                    StreamId::ExternalHold(id) => self.expire_outside(id).await,
                    StreamId::Global => Ok(()),
                };
                ports::failpoint!("expire.applied");
                if let Err(error) = applied {
                    tracing::error!(%stream, %error, "a deadline could not be applied");
                }
            }
            last = due;
        }
        let next = self.0.store.next_due().await?;
        self.0.timers.set_at_most(next);
        Ok(())
    }
}
