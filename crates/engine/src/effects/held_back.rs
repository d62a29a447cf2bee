//! Sessions with work that may not begin because this node's lease has run out. Nothing is started meanwhile, and each
//! of them is looked at again when the lease is renewed.
//!
//! Kept in memory only: a node that ends before that leaves them to whoever takes its work over.

use std::collections::BTreeSet;
use std::sync::Mutex;

use domain::id::SessionId;
use futures_util::{StreamExt as _, stream};
use ports::unpoisoned::Unpoisoned as _;

use crate::limits::{LOOK_AT_LEASE_EVERY, WAKES_AT_ONCE};
use crate::retry::store_backoff;
use crate::{Engine, Error};

#[derive(Default)]
pub(crate) struct HeldBackSessions(Mutex<BTreeSet<SessionId>>);

impl HeldBackSessions {
    /// Whether it is the first one.
    fn add(&self, session: SessionId) -> bool {
        let mut sessions = self.0.lock().unpoisoned();
        let is_first = sessions.is_empty();
        sessions.insert(session);
        is_first
    }

    fn take_all(&self) -> BTreeSet<SessionId> {
        std::mem::take(&mut *self.0.lock().unpoisoned())
    }
}

impl Engine {
    /// Called with the lock of the session's lane, before the commit that leaves the work undone: the wake takes the same
    /// lock, so that it finds what that commit wrote.
    pub(crate) fn wake_when_leased(&self, session: SessionId) {
        if !self.0.held_back.add(session) {
            return;
        }
        tracing::warn!("this node's lease has run out: calls wait until it is renewed");
        let engine = self.clone();
        self.spawn_housekeeping(async move { engine.wake_held_back().await });
    }

    async fn wake_held_back(&self) {
        while !self.0.store.may_begin() {
            self.0.clock.sleep(LOOK_AT_LEASE_EVERY).await;
        }
        let waking = self.0.held_back.take_all().into_iter().map(|session| async move {
            let mut backoff = store_backoff();
            while let Err(error) = self.wake(session).await {
                if let Error::Refused(_) = error {
                    return;
                }
                tracing::warn!(%session, %error, "a session that waited for this node's lease cannot go on yet");
                self.sleep_before_retry(&mut backoff).await;
            }
        });
        stream::iter(waking).buffer_unordered(WAKES_AT_ONCE).collect::<Vec<()>>().await;
    }
}
