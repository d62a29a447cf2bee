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

/// Many times what a commit takes. A store may take longer with one and have others, and nobody needs to
/// have waited.
const PATIENCE: Duration = Duration::from_millis(50);

#[derive(Clone, Default)]
pub(crate) struct Changing(Arc<Mutex<Sessions>>);

/// Mostly nobody waits.
type Sessions = IdMap<SessionId, Option<Arc<Notify>>>;

/// A change, until it is dropped.
pub(crate) struct Underway {
    changing: Changing,
    id: SessionId,
}

impl Changing {
    /// `None`: another one is on its way already, and came first.
    pub(crate) fn begin(&self, id: SessionId) -> Option<Underway> {
        match self.sessions().entry(id) {
            Entry::Occupied(_) => None,
            Entry::Vacant(place) => {
                place.insert(None);
                Some(Underway { changing: self.clone(), id })
            }
        }
    }

    /// Until none is on its way. Of several who wait, each finds the change of the one before.
    async fn over(&self, id: SessionId) {
        while let Some(end) = self.end_of(id) {
            end.await;
        }
    }

    /// The end of the change that is on its way now, if there is one. It is heard from here on, and nobody
    /// can end it before the lock is free.
    fn end_of(&self, id: SessionId) -> Option<OwnedNotified> {
        let mut sessions = self.sessions();
        Some(sessions.get_mut(&id)?.get_or_insert_default().clone().notified_owned())
    }

    fn sessions(&self) -> MutexGuard<'_, Sessions> {
        // Nothing can be half done in there.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Engine {
    /// Waits while changes are on their way to this session. For a time only, by the engine's clock.
    pub(crate) async fn let_pass(&self, id: SessionId) {
        let changing = &self.0.changing;
        if !changing.sessions().contains_key(&id) {
            return;
        }
        tokio::select! {
            biased;
            () = changing.over(id) => {}
            () = self.0.clock.sleep(PATIENCE) => {}
        }
    }
}

impl Drop for Underway {
    fn drop(&mut self) {
        let waiting = self.changing.sessions().remove(&self.id).flatten();
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
        let (changing, id) = (Changing::default(), SessionId::new(0, 1));
        assert!(changing.end_of(id).is_none());
        let underway = changing.begin(id).expect("the first");
        assert!(changing.begin(id).is_none(), "the second does not end the first");
        let [mut early, late] =
            [(), ()].map(|()| Box::pin(changing.end_of(id).expect("it is on its way")));
        assert!((&mut early).now_or_never().is_none());
        assert!(changing.end_of(SessionId::new(0, 2)).is_none(), "another session");
        drop(underway);
        assert!(early.now_or_never().is_some());
        assert!(late.now_or_never().is_some(), "also if nobody had looked yet");
        assert!(changing.sessions().is_empty());
    }

    #[test]
    fn of_several_who_wait_each_waits_for_the_one_before() {
        let (changing, id) = (Changing::default(), SessionId::new(0, 1));
        let first = changing.begin(id);
        let mut waiting = Box::pin(changing.over(id));
        assert!((&mut waiting).now_or_never().is_none());
        drop(first);
        let second = changing.begin(id);
        assert!((&mut waiting).now_or_never().is_none(), "another one has begun");
        drop(second);
        assert!(waiting.now_or_never().is_some());
    }
}
