//! Which sessions have a client connected now. Only in memory: after a restart nobody is.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use domain::id::SessionId;
use ports::unpoisoned::Unpoisoned as _;
use tokio::sync::Notify;

#[derive(Clone, Default)]
pub(super) struct Attached(Arc<AttachedInner>);

#[derive(Default)]
struct AttachedInner {
    counts: Mutex<HashMap<SessionId, usize>>,
    left: Notify,
}

/// One connection; dropping it ends it.
pub(super) struct Connection {
    attached: Attached,
    session: SessionId,
}

impl Attached {
    pub(super) fn enter(&self, session: SessionId) -> Connection {
        *self.counts().entry(session).or_insert(0) += 1;
        Connection { attached: self.clone(), session }
    }

    /// Enters unless somebody is there already: of two at once, one gets it.
    pub(super) fn enter_alone(&self, session: SessionId) -> Option<Connection> {
        let mut counts = self.counts();
        if counts.contains_key(&session) {
            return None;
        }
        counts.insert(session, 1);
        Some(Connection { attached: self.clone(), session })
    }

    /// The same, after waiting a little for the other to be gone.
    pub(super) async fn enter_after(
        &self,
        session: SessionId,
        patience: Duration,
    ) -> Option<Connection> {
        let waiting = async {
            loop {
                // First listen, then look: who leaves in between is heard.
                let left = self.0.left.notified();
                tokio::pin!(left);
                left.as_mut().enable();
                if let Some(connection) = self.enter_alone(session) {
                    return connection;
                }
                left.await;
            }
        };
        tokio::time::timeout(patience, waiting).await.ok()
    }

    fn counts(&self) -> std::sync::MutexGuard<'_, HashMap<SessionId, usize>> {
        self.0.counts.lock().unpoisoned()
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        let mut counts = self.attached.counts();
        if let Some(count) = counts.get_mut(&self.session) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.session);
            }
        }
        drop(counts);
        self.attached.0.left.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn whoever_waits_gets_in_when_the_other_leaves() {
        let attached = Attached::default();
        let session = SessionId::new(1, 1);
        let first = attached.enter_alone(session).expect("nobody is there");
        assert!(attached.enter_alone(session).is_none());
        assert!(attached.enter_after(session, Duration::from_millis(20)).await.is_none());
        let (entered, ()) =
            tokio::join!(attached.enter_after(session, Duration::from_secs(60)), async move {
                drop(first)
            });
        let second = entered.expect("the first has left");
        let third = attached.enter(session);
        drop(second);
        assert!(attached.enter_alone(session).is_none(), "one is still there");
        drop(third);
        assert!(attached.counts().is_empty());
    }
}
