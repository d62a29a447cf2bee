//! Lanes: each stream changes in one place, one command after another.
//!
//! A task that wants to change a stream waits for the lane's lock. It keeps the lock while it loads, decides and
//! commits, and then hands it over with the commit to what follows (`commit.rs`); only after that the next
//! task gets it. So the state in memory never goes back, what follows from commits happens in their order, and
//! a version conflict can only come from another node.
//!
//! Reading takes no lock: a commit that is slow keeps nobody from looking.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};

use domain::hold::Hold;
use domain::id::HoldId;
use domain::id_map::IdMap;
use ports::durable::Durable;
use ports::unpoisoned::Unpoisoned as _;
use tokio::sync::OwnedMutexGuard;

use crate::stream::Stream;

/// Candidates that are looked at for one new lane: few, since others wait for the lock.
const EVICTION_STEPS: usize = 64;

/// The lanes of one kind of stream: recently used ones, and those in use.
pub(crate) struct Lanes<S: Stream> {
    room: usize,
    slots: Mutex<Slots<S>>,
}

struct Slots<S: Stream> {
    by_id: IdMap<S::Id, LaneSlot<S>>,
    /// Which of them a hold belongs to.
    holds: IdMap<HoldId, S::Id>,
    /// Lanes with a state, as candidates for eviction, the oldest first.
    order: VecDeque<S::Id>,
}

struct LaneSlot<S> {
    /// Cloned by tasks that have the lock or wait for it.
    lock: Arc<tokio::sync::Mutex<()>>,
    newest: Option<Durable<S>>,
    /// A follower was told of this version: an older state must not be shown any more.
    published_version: u64,
    /// What is on disk may be newer: it must be read before the next decision.
    is_stale: bool,
    /// Since the last look for one to evict.
    is_used: bool,
}

impl<S: Stream> LaneSlot<S> {
    fn new() -> LaneSlot<S> {
        LaneSlot {
            lock: Arc::default(),
            newest: None,
            published_version: 0,
            is_stale: false,
            is_used: true,
        }
    }

    fn valid(&self) -> Option<&Durable<S>> {
        let newest = self.newest.as_ref()?;
        (!self.is_stale && newest.version() >= self.published_version).then_some(newest)
    }

    /// Of the tasks that have the lock or wait for it, how many there are.
    fn users(&self) -> usize {
        Arc::strong_count(&self.lock) - 1
    }
}

impl<S: Stream> Lanes<S> {
    pub(crate) fn new(room: usize) -> Lanes<S> {
        let slots =
            Slots { by_id: IdMap::default(), holds: IdMap::default(), order: VecDeque::new() };
        Lanes { room: room.max(1), slots: Mutex::new(slots) }
    }

    /// The newest state, if it is known here.
    pub(crate) fn newest(&self, id: S::Id) -> Option<Durable<S>> {
        let mut slots = self.slots();
        let slot = slots.by_id.get_mut(&id)?;
        slot.is_used = true;
        slot.valid().cloned()
    }

    /// The last state that was known here, also if there may be a newer one on disk.
    pub(crate) fn last_known(&self, id: S::Id) -> Option<Durable<S>> {
        self.slots().by_id.get(&id)?.newest.clone()
    }

    /// As it was when its stream was last seen. Where other nodes write to the same store it may have
    /// changed since: then this is for finding it, not for showing it.
    pub(crate) fn hold(&self, id: HoldId) -> Option<Arc<Hold>> {
        let slots = self.slots();
        let stream = slots.holds.get(&id)?;
        slots.by_id.get(stream)?.valid()?.hold(id).cloned()
    }

    /// A follower has been told of this version: a task that hears of an event and then looks must not find
    /// the state before it.
    pub(crate) fn note_published(&self, id: S::Id, version: u64) {
        if let Some(slot) = self.slots().by_id.get_mut(&id) {
            slot.published_version = slot.published_version.max(version);
        }
    }

    pub(crate) async fn enter(self: &Arc<Self>, id: S::Id) -> LaneGuard<S> {
        let lock = self.slots().lock_of(id, self.room);
        // mutant: two-commands-at-once
        let guard = lock.lock_owned().await;
        LaneGuard { lanes: self.clone(), id, _guard: guard }
    }

    /// `None`: another task has the lock.
    pub(crate) fn try_enter(self: &Arc<Self>, id: S::Id) -> Option<LaneGuard<S>> {
        let lock = self.slots().lock_of(id, self.room);
        let guard = lock.try_lock_owned().ok()?;
        Some(LaneGuard { lanes: self.clone(), id, _guard: guard })
    }

    fn slots(&self) -> MutexGuard<'_, Slots<S>> {
        // Each change in there is whole before anything can panic.
        self.slots.lock().unpoisoned()
    }
}

impl<S: Stream> Slots<S> {
    fn lock_of(&mut self, id: S::Id, room: usize) -> Arc<tokio::sync::Mutex<()>> {
        if let Some(slot) = self.by_id.get_mut(&id) {
            slot.is_used = true;
            return slot.lock.clone();
        }
        self.evict_down_to(room - 1);
        self.by_id.entry(id).or_insert_with(LaneSlot::new).lock.clone()
    }

    /// Lanes that were not used since the last time go first. One in use stays, however many there are.
    fn evict_down_to(&mut self, room: usize) {
        // Each lane is passed at most twice: the first time takes its mark away. With many in use the rest is
        // left for the next time.
        for _ in 0..(self.order.len() * 2).min(EVICTION_STEPS) {
            if self.by_id.len() <= room {
                return;
            }
            let Some(id) = self.order.pop_front() else { return };
            let Some(slot) = self.by_id.get_mut(&id) else { continue };
            // mutant: lane-in-use-evicted
            if slot.users() > 0 || std::mem::take(&mut slot.is_used) {
                self.order.push_back(id);
            } else {
                self.remove(id);
            }
        }
    }

    fn remove(&mut self, id: S::Id) {
        let removed = self.by_id.remove(&id).and_then(|slot| slot.newest);
        for hold in removed.iter().flat_map(|state| state.hold_ids(0)) {
            self.holds.remove(&hold);
        }
    }

    fn set(&mut self, id: S::Id, state: Durable<S>) {
        let Slots { by_id, holds, order } = self;
        let Some(slot) = by_id.get_mut(&id) else { return };
        if slot.newest.is_none() {
            order.push_back(id);
        }
        // A stream never loses a hold, and the new ones are the last ones.
        let known = slot.newest.as_ref().map_or(0, |before| before.hold_count());
        holds.extend(state.hold_ids(known).map(|hold| (hold, id)));
        slot.newest = Some(state);
        slot.is_stale = false;
    }
}

/// The right to change a stream: the lock of its lane.
pub(crate) struct LaneGuard<S: Stream> {
    lanes: Arc<Lanes<S>>,
    id: S::Id,
    _guard: OwnedMutexGuard<()>,
}

impl<S: Stream> LaneGuard<S> {
    pub(crate) fn id(&self) -> S::Id {
        self.id
    }

    pub(crate) fn newest(&self) -> Option<Durable<S>> {
        self.lanes.newest(self.id)
    }

    /// What was known before it came into doubt: a true beginning of the stream.
    pub(crate) fn last_known(&self) -> Option<Durable<S>> {
        self.lanes.last_known(self.id)
    }

    pub(crate) fn set(&mut self, state: Durable<S>) {
        self.lanes.slots().set(self.id, state);
    }

    /// What is on disk must be read before the next decision.
    pub(crate) fn mark_stale(&mut self) {
        if let Some(slot) = self.lanes.slots().by_id.get_mut(&self.id) {
            slot.is_stale = true;
        }
    }
}

impl<S: Stream> Drop for LaneGuard<S> {
    /// A lane without a state is kept only while it is in use: ids of streams that do not exist must not fill
    /// the memory.
    fn drop(&mut self) {
        let mut slots = self.lanes.slots();
        if std::thread::panicking()
            && let Some(slot) = slots.by_id.get_mut(&self.id)
        {
            slot.is_stale = true;
        }
        let is_idle = |slot: &LaneSlot<S>| slot.newest.is_none() && slot.users() == 1;
        if slots.by_id.get(&self.id).is_some_and(is_idle) {
            slots.remove(self.id);
        }
    }
}

#[cfg(test)]
mod tests {
    use domain::id::SessionId;
    use domain::session::Session;
    use futures_util::FutureExt as _;

    use super::*;

    fn id(number: u128) -> SessionId {
        SessionId::new(0, number)
    }

    fn session(number: u128, version: u64) -> Durable<Session> {
        Durable::assumed(Session { version, ..Session::begin(id(number)) })
    }

    fn lanes(room: usize) -> Arc<Lanes<Session>> {
        Arc::new(Lanes::new(room))
    }

    fn version(lanes: &Lanes<Session>, number: u128) -> Option<u64> {
        lanes.newest(id(number)).map(|session| session.version)
    }

    #[tokio::test]
    async fn a_stream_is_locked_by_one_command_at_a_time_and_others_do_not_wait_for_it() {
        let lanes = lanes(4);
        let mut first = lanes.enter(id(1)).await;
        first.set(session(1, 5));
        assert!(lanes.try_enter(id(1)).is_none());
        assert!(lanes.try_enter(id(2)).is_some(), "another stream");
        assert_eq!(version(&lanes, 1), Some(5), "reading takes no lock");
        let mut second = Box::pin(lanes.enter(id(1)));
        assert!((&mut second).now_or_never().is_none());
        drop(first);
        assert!(second.now_or_never().is_some());
    }

    #[tokio::test]
    async fn only_lanes_that_are_not_in_use_are_evicted() {
        let lanes = lanes(2);
        let mut in_use = lanes.enter(id(0)).await;
        in_use.set(session(0, 7));
        for number in 1..10 {
            lanes.enter(id(number)).await.set(session(number, 1));
        }
        assert_eq!(version(&lanes, 0), Some(7), "its lock is taken");
        assert_eq!(version(&lanes, 1), None);
        assert_eq!(version(&lanes, 9), Some(1));
        assert!(lanes.slots().by_id.len() <= 2 && lanes.slots().order.len() <= 3);
        drop(in_use);
        for number in 10..20 {
            lanes.enter(id(number)).await.set(session(number, 1));
        }
        assert_eq!(version(&lanes, 0), None);
    }

    #[tokio::test]
    async fn a_state_in_doubt_is_read_on_from_and_not_shown() {
        let lanes = lanes(2);
        let mut guard = lanes.enter(id(1)).await;
        guard.set(session(1, 5));
        guard.mark_stale();
        assert_eq!((version(&lanes, 1), guard.newest().is_none()), (None, true));
        assert_eq!(guard.last_known().unwrap().version, 5);
        guard.set(session(1, 6));
        assert_eq!(version(&lanes, 1), Some(6));
    }

    #[tokio::test]
    async fn a_state_before_one_that_was_told_is_not_shown() {
        let lanes = lanes(2);
        let mut guard = lanes.enter(id(1)).await;
        guard.set(session(1, 5));
        lanes.note_published(id(1), 6);
        assert_eq!(version(&lanes, 1), None);
        guard.set(session(1, 5));
        assert_eq!(version(&lanes, 1), None, "it was read before the follower was told");
        guard.set(session(1, 6));
        assert_eq!(version(&lanes, 1), Some(6));
    }

    #[tokio::test]
    async fn streams_that_do_not_exist_leave_nothing_behind() {
        let lanes = lanes(2);
        let first = lanes.enter(id(1)).await;
        let mut second = Box::pin(lanes.enter(id(1)));
        assert!((&mut second).now_or_never().is_none());
        drop(first);
        assert_eq!(lanes.slots().by_id.len(), 1, "the second one waits for it");
        drop(second.await);
        assert!(lanes.slots().by_id.is_empty() && lanes.slots().order.is_empty());
    }
}
