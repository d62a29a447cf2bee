//! Recently used sessions. For whoever decides only ever a head start: a commit on a stale one is refused by
//! the store. What is found here is never older than what was here before, also if that was lost meanwhile:
//! whoever runs a call relies on it.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use domain::hold::Hold;
use domain::id::{HoldId, SessionId};
use domain::id_map::IdMap;
use domain::session::Session;

pub(crate) struct Cache {
    room: usize,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    sessions: IdMap<SessionId, Arc<Session>>,
    /// Which of them a hold belongs to.
    holds: IdMap<HoldId, SessionId>,
    /// Oldest first. Entries may be stale: a session put again is queued again.
    order: VecDeque<(SessionId, u64)>,
    /// Versions that may be on disk though nobody here knows: what is older is not remembered, also if
    /// somebody read it before that and comes with it only now.
    doubtful: IdMap<SessionId, u64>,
    /// Sessions of which somebody will bring a state that may be old by then.
    coming: IdMap<SessionId, Coming>,
}

#[derive(Default)]
struct Coming {
    /// How many will.
    count: usize,
    /// The newest state that was lost in the meantime: what is older comes too late.
    lost: u64,
}

/// Somebody who reads or writes a state and will put it here, until they have.
pub(crate) struct Bringing<'a> {
    cache: &'a Cache,
    id: SessionId,
}

impl Drop for Bringing<'_> {
    fn drop(&mut self) {
        let mut kept = self.cache.kept();
        if let Some(coming) = kept.coming.get_mut(&self.id) {
            coming.count -= 1;
            if coming.count == 0 {
                kept.coming.remove(&self.id);
            }
        }
    }
}

impl Kept {
    fn remove(&mut self, id: SessionId) {
        if let Some(session) = self.sessions.remove(&id) {
            if let Some(coming) = self.coming.get_mut(&id) {
                coming.lost = coming.lost.max(session.version);
            }
            for hold in session.holds.keys() {
                self.holds.remove(hold);
            }
        }
    }
}

impl Cache {
    pub(crate) fn new(room: usize) -> Cache {
        Cache { room: room.max(1), kept: Mutex::default() }
    }

    pub(crate) fn get(&self, id: SessionId) -> Option<Arc<Session>> {
        self.kept().sessions.get(&id).cloned()
    }

    /// To be called before a state is read or written that is then put here.
    pub(crate) fn bring(&self, id: SessionId) -> Bringing<'_> {
        self.kept().coming.entry(id).or_default().count += 1;
        Bringing { cache: self, id }
    }

    /// Keeps the newer of what is there and what is given.
    pub(crate) fn put(&self, session: Arc<Session>) {
        let mut kept = self.kept();
        let Kept { sessions, holds, order, doubtful, coming } = &mut *kept;
        if coming.get(&session.id).is_some_and(|coming| session.version < coming.lost) {
            return;
        }
        if doubtful.get(&session.id).is_some_and(|least| session.version < *least) {
            return;
        }
        doubtful.remove(&session.id);
        let old = sessions.get(&session.id);
        if old.is_some_and(|old| old.version >= session.version) {
            return;
        }
        order.push_back((session.id, session.version));
        // A session never loses a hold, and the new ones are the last ones.
        let known = old.map_or(0, |old| old.holds.len());
        let new = session.holds.keys().rev().take(session.holds.len().saturating_sub(known));
        holds.extend(new.map(|hold| (*hold, session.id)));
        kept.sessions.insert(session.id, session);
        while kept.sessions.len() > self.room || kept.order.len() > self.room * 8 {
            let Some((id, version)) = kept.order.pop_front() else { break };
            if kept.sessions.get(&id).is_some_and(|session| session.version == version) {
                kept.remove(id);
            }
        }
    }

    /// Forgets what is older than a version that somebody has already been told of: whoever hears of
    /// an event and then looks must not find the state before it.
    pub(crate) fn forget_older(&self, id: SessionId, version: u64) {
        let mut kept = self.kept();
        if kept.sessions.get(&id).is_some_and(|session| session.version < version) {
            kept.remove(id);
        }
        // Nor what somebody has read before it and will bring only now.
        if let Some(coming) = kept.coming.get_mut(&id) {
            coming.lost = coming.lost.max(version);
        }
    }

    pub(crate) fn forget(&self, id: SessionId) {
        self.kept().remove(id);
    }

    /// A commit that leads to this version may be on disk, and may not.
    pub(crate) fn doubt(&self, id: SessionId, version: u64) {
        let mut kept = self.kept();
        kept.remove(id);
        // So many only if the disk is failing, and then a stale head start is the least of it.
        if kept.doubtful.len() >= self.room && !kept.doubtful.contains_key(&id) {
            kept.doubtful.clear();
        }
        let least = kept.doubtful.entry(id).or_default();
        *least = version.max(*least);
    }

    /// As it was when its session was last seen. Where others write to the same store it may have
    /// changed since: then this is for finding it, not for showing it.
    pub(crate) fn hold(&self, id: HoldId) -> Option<Arc<Hold>> {
        let kept = self.kept();
        let session = kept.holds.get(&id).and_then(|session| kept.sessions.get(session))?;
        session.holds.get(&id).cloned()
    }

    fn kept(&self) -> std::sync::MutexGuard<'_, Kept> {
        // Nothing can be half done in there: a poisoned lock holds a sound cache.
        self.kept.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(n: u128, version: u64) -> Arc<Session> {
        let mut session = Session::begin(SessionId::new(0, n));
        session.version = version;
        Arc::new(session)
    }

    #[test]
    fn the_cache_is_bounded_and_keeps_the_newest() {
        let cache = Cache::new(2);
        for n in 0..10 {
            cache.put(session(n, 1));
        }
        assert!(cache.get(SessionId::new(0, 0)).is_none());
        assert!(cache.get(SessionId::new(0, 9)).is_some());
        cache.put(session(9, 5));
        cache.put(session(9, 3));
        assert_eq!(cache.get(SessionId::new(0, 9)).unwrap().version, 5);
    }

    #[test]
    fn what_was_read_before_something_newer_was_lost_comes_too_late() {
        let cache = Cache::new(1);
        let id = SessionId::new(0, 1);
        let lose: [fn(&Cache); 3] = [
            |cache| cache.put(session(2, 1)),
            |cache| cache.forget(SessionId::new(0, 1)),
            |cache| cache.forget_older(SessionId::new(0, 1), 9),
        ];
        for lose in lose {
            let early = cache.bring(id);
            cache.put(session(1, 5));
            lose(&cache);
            cache.put(session(1, 4));
            assert!(cache.get(id).is_none(), "it would be older than what was here");
            let late = cache.bring(id);
            drop(early);
            cache.put(session(1, 4));
            assert!(cache.get(id).is_none(), "one is still coming");
            cache.put(session(1, 9));
            assert_eq!(cache.get(id).unwrap().version, 9);
            drop(late);
            cache.forget(id);
            assert!(cache.kept().coming.is_empty());
        }
        let coming = cache.bring(id);
        cache.forget_older(id, 5);
        cache.put(session(1, 4));
        assert!(cache.get(id).is_none(), "somebody has been told of what came after it");
        drop(coming);
        cache.doubt(id, 8);
        cache.doubt(id, 6);
        cache.put(session(1, 7));
        assert!(cache.get(id).is_none(), "the greater doubt stays");
    }

    #[test]
    fn what_was_read_before_a_commit_of_unknown_fate_is_not_remembered_after_it() {
        let cache = Cache::new(2);
        let id = SessionId::new(0, 1);
        cache.put(session(1, 5));
        cache.doubt(id, 6);
        cache.put(session(1, 5));
        assert!(cache.get(id).is_none());
        cache.put(session(1, 6));
        assert_eq!(cache.get(id).unwrap().version, 6);
    }
}
