//! Carries out what is due on one line: in each lane one thing after the other, and in different lanes at
//! the same time, whichever waits the longest first. A lane that was served goes behind the others, so one
//! chat with a thousand messages has its turn as often as one with a single message. Lines know nothing of
//! one another, so one that is dead delays no other.

use std::collections::HashSet;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use domain::time::Timestamp;
use engine::Error;
use ports::store::PutNote;
use ports::unpoisoned::Unpoisoned as _;
use tokio::sync::{Notify, Semaphore};

use crate::delivery::Delivery;
use crate::limits::{Limits, STORE_RETRY, UNREADABLE_MS, UPDATE_ATTEMPTS};
use crate::queue::{self, Kind, Sound, Stand};
use crate::shelf::Read;
use crate::{Switchboard, Wire, shelf};

/// Lanes of one kind, on one line. A cache of nothing: what is due is in the records.
pub(crate) struct Desk {
    /// Something may be due.
    wake: Notify,
    /// Lanes of which something is on its way.
    busy: Mutex<HashSet<String>>,
    room: Arc<Semaphore>,
}

impl Desk {
    pub(crate) fn new(limits: &Limits) -> Desk {
        Desk {
            wake: Notify::new(),
            busy: Mutex::default(),
            room: Arc::new(Semaphore::new(limits.sends_at_once)),
        }
    }

    fn busy(&self) -> MutexGuard<'_, HashSet<String>> {
        self.busy.lock().unpoisoned()
    }
}

impl Wire {
    fn desk(&self, kind: Kind) -> &Desk {
        match kind {
            Kind::News => &self.news,
            Kind::Paints => &self.paints,
        }
    }

    /// Whether it is soon known where a prompt stands that may have been sent: it is on its way, or will be
    /// while somebody waits for it. One that waits for its platform to recover is waited for by nobody.
    pub(crate) fn is_coming(&self, prompt: &Read<Delivery>, key: &str, until: Timestamp) -> bool {
        !self.taken_over.load(Ordering::Acquire)
            || prompt.due_at.is_some_and(|at| at <= until)
            || self.is_on_its_way(&prompt.record, key)
    }

    /// It, or another of its lane.
    pub(crate) fn is_on_its_way(&self, prompt: &Delivery, key: &str) -> bool {
        let stand = Stand::of(prompt, key);
        self.desk(stand.kind).busy().contains(&stand.lane)
    }

    /// Something is to be sent.
    pub(crate) fn wake(&self) {
        self.news.wake.notify_one();
        self.paints.wake.notify_one();
    }
}

impl Switchboard {
    pub(crate) async fn carry_out(self, wire: Arc<Wire>) {
        if let Err(error) = self.take_over(&wire).await {
            // Its leases bring it back.
            tracing::warn!(channel = %wire.name, %error, "what was being sent cannot be read");
        }
        wire.taken_over.store(true, Ordering::Release);
        wire.noted.notify_waiters();
        tokio::join!(self.desk(&wire, Kind::News), self.desk(&wire, Kind::Paints));
    }

    async fn desk(&self, wire: &Arc<Wire>, kind: Kind) {
        loop {
            let pause = self.start_due(wire, kind).await.unwrap_or_else(|error| {
                tracing::warn!(channel = %wire.name, %error, "what is to be sent cannot be read");
                Some(STORE_RETRY)
            });
            let slept = async {
                match pause {
                    Some(pause) => self.0.clock.sleep(pause).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                () = self.0.closing.cancelled() => return,
                () = wire.desk(kind).wake.notified() => {}
                () = slept => {}
            }
        }
    }

    /// Starts whatever can be, and says when something else falls due. Whoever is on its way wakes us
    /// when it has arrived.
    async fn start_due(&self, wire: &Arc<Wire>, kind: Kind) -> Result<Option<Duration>, Error> {
        let desk = wire.desk(kind);
        // So many that, after those on their way, there is one for each place and the one after.
        let looked_at = desk.busy().len() + desk.room.available_permits() + 1;
        let now = self.0.clock.now();
        let lanes = wire.shelves.lanes(kind);
        let whenever = Timestamp::from_ms(i64::MAX);
        for lane in self.store().due_notes(lanes, whenever, looked_at).await? {
            if desk.busy().contains(&lane.key) {
                continue;
            }
            let wait = lane.due_at.unwrap_or(now).ms_since(now);
            if wait > 0 {
                return Ok(Some(Duration::from_millis(wait)));
            }
            let Ok(place) = desk.room.clone().try_acquire_owned() else { return Ok(None) };
            let going = OnItsWay::new(wire.clone(), kind, lane.key);
            let board = self.clone();
            self.spawn(async move {
                if let Err(error) = board.serve(&going.wire, kind, &going.lane).await {
                    let channel = &going.wire.name;
                    tracing::warn!(%channel, %error, "what was sent could not be written down");
                    // The lease brings it back; but not at once.
                    board.0.clock.sleep(STORE_RETRY).await;
                }
                drop(place);
                drop(going);
            });
        }
        Ok(None)
    }

    /// Sends one thing of a lane.
    async fn serve(&self, wire: &Arc<Wire>, kind: Kind, lane: &str) -> Result<(), Error> {
        let (store, shelves, now) = (self.store(), &wire.shelves, self.0.clock.now());
        let first = queue::first(store, shelves, kind, lane, now).await?;
        if let Some(first) = first.filter(|first| first.due <= now) {
            match first.is_sound(store, shelves, now).await? {
                Sound::Yes => self.send(wire, &first.key).await?,
                Sound::Stale(mended) => {
                    queue::write(store, shelves, mended).await?;
                    wire.wake();
                }
                // Not lost; but nobody looks at it all the time, and nothing waits for it.
                Sound::Unreadable => {
                    let until = now.plus_ms(UNREADABLE_MS);
                    let aside = first.steps_aside(shelves, lane, now, until);
                    queue::write(store, shelves, aside).await?;
                    wire.wake();
                }
            }
        }
        self.lane_is_due(wire, kind, lane, now).await
    }

    /// Writes down when a lane is due next: behind those that are due already.
    async fn lane_is_due(
        &self,
        wire: &Wire,
        kind: Kind,
        lane: &str,
        began: Timestamp,
    ) -> Result<(), Error> {
        let (store, shelves) = (self.store(), &wire.shelves);
        for _ in 0..UPDATE_ATTEMPTS {
            // Read before its entries: whoever puts one in meanwhile is not overlooked.
            let noted = store.note(shelves.lanes(kind), lane).await?;
            let version = noted.as_ref().map_or(0, |note| note.version);
            let now = self.0.clock.now();
            let next = queue::first(store, shelves, kind, lane, now).await?;
            // What was sent has put the lane behind the others when it was written down: mostly that is all.
            let since = noted.and_then(|note| note.due_at).filter(|at| (began..=now).contains(at));
            if since.is_some() && next.as_ref().is_some_and(|first| first.due <= now) {
                return Ok(());
            }
            let put = match next {
                Some(first) => PutNote {
                    due_at: Some(first.due.max(now)),
                    ..shelf::put(shelves.lanes(kind), lane, &())
                },
                None => shelf::remove(shelves.lanes(kind), lane),
            };
            let put = PutNote { expected: Some(version), ..put };
            if store.put_notes(vec![put]).await? {
                return Ok(());
            }
        }
        // It is still due, and looked at again.
        Ok(())
    }
}

/// Nothing else of this lane goes meanwhile.
struct OnItsWay {
    wire: Arc<Wire>,
    kind: Kind,
    lane: String,
}

impl OnItsWay {
    fn new(wire: Arc<Wire>, kind: Kind, lane: String) -> OnItsWay {
        wire.desk(kind).busy().insert(lane.clone());
        OnItsWay { wire, kind, lane }
    }
}

impl Drop for OnItsWay {
    fn drop(&mut self) {
        self.wire.desk(self.kind).busy().remove(&self.lane);
        // Whoever waited for it need not any more.
        self.wire.noted.notify_waiters();
        // What was sent may have gone over into the other kind of lane.
        self.wire.wake();
    }
}
