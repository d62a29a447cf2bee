//! Sessions with a change on its way to the disk. Whoever decided on one meanwhile would decide on what is
//! about to be old, be refused by the store, and do it all again: waiting until it is known is cheaper. Only
//! ever a head start, as the cache is: the store refuses whoever did not wait.

use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use domain::id::SessionId;
use domain::id_map::IdMap;
use tokio::sync::Notify;
use tokio::sync::futures::OwnedNotified;

use crate::Engine;

const PATIENCE: Duration = Duration::from_millis(50);

#[derive(Clone, Default)]
pub(crate) struct Underway(Arc<Mutex<Changes>>);

/// Mostly nobody waits.
type Changes = IdMap<SessionId, Option<Arc<Notify>>>;

/// Over when it is dropped, whatever became of the change.
pub(crate) struct Change {
    underway: Underway,
    id: SessionId,
}

impl Underway {
    /// `None`: there is one already, which has come first and is worth waiting for.
    pub(crate) fn begin(&self, id: SessionId) -> Option<Change> {
        match self.changes().entry(id) {
            Entry::Occupied(_) => None,
            Entry::Vacant(place) => {
                place.insert(None);
                Some(Change { underway: self.clone(), id })
            }
        }
    }

    /// The end of the change that is on its way now, if there is one. It is heard from here on, and nobody
    /// can end it before the lock is free.
    fn end(&self, id: SessionId) -> Option<OwnedNotified> {
        let mut changes = self.changes();
        Some(changes.get_mut(&id)?.get_or_insert_default().clone().notified_owned())
    }

    fn changes(&self) -> MutexGuard<'_, Changes> {
        // Nothing can be half done in there.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Engine {
    /// Waits for a change that is on its way to this session. Not for long: a store may take its time with
    /// one and have others, and nobody needs to have waited.
    pub(crate) async fn let_pass(&self, id: SessionId) {
        if let Some(end) = self.0.underway.end(id) {
            tokio::select! {
                biased;
                () = end => {}
                () = self.0.clock.sleep(PATIENCE) => {}
            }
        }
    }
}

impl Drop for Change {
    fn drop(&mut self) {
        let waiting = self.underway.changes().remove(&self.id).flatten();
        if let Some(waiting) = waiting {
            waiting.notify_waiters();
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    #[test]
    fn whoever_comes_meanwhile_hears_the_end_and_others_do_not_wait() {
        let (underway, id) = (Underway::default(), SessionId::new(0, 1));
        assert!(underway.end(id).is_none());
        let change = underway.begin(id).expect("the first");
        assert!(underway.begin(id).is_none(), "the second does not end the first");
        let [mut early, late] =
            [(), ()].map(|()| Box::pin(underway.end(id).expect("it is on its way")));
        assert!((&mut early).now_or_never().is_none());
        assert!(underway.end(SessionId::new(0, 2)).is_none(), "another session");
        drop(change);
        assert!(early.now_or_never().is_some());
        assert!(late.now_or_never().is_some(), "also if nobody had looked yet");
        assert!(underway.changes().is_empty());
    }
}
