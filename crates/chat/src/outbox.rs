//! Carries out what is due on one channel: in each lane one thing after the other, and in different lanes at
//! the same time, whichever waits the longest first. A lane that was served goes behind the others, so one
//! chat with a thousand messages is served as often as one with a single message: the store sees to that. Channels know nothing of
//! one another, so one that is dead delays no other.

use std::collections::HashSet;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use domain::time::Timestamp;
use engine::Error;
use ports::store::{DueLane, OutboxChange, OutboxItem, OutboxKind, OutboxLane, OutboxWrite};
use ports::unpoisoned::Unpoisoned as _;
use tokio::sync::{Notify, Semaphore};

use crate::item::{LoadedRecord, lane_of};
use crate::limits::{Limits, STORE_RETRY, UNREADABLE_MS};
use crate::prompt_record::PromptRecord;
use crate::{ChannelRuntime, ChatService};

/// The lanes of one channel that have an order, or those that have none. Scheduling state only; what is due is in
/// the outbox.
pub(crate) struct LaneScheduler {
    /// Something may be due.
    wake: Notify,
    /// Lanes of which something is on its way.
    busy: Mutex<HashSet<String>>,
    room: Arc<Semaphore>,
}

impl LaneScheduler {
    pub(crate) fn new(limits: &Limits) -> LaneScheduler {
        LaneScheduler {
            wake: Notify::new(),
            busy: Mutex::default(),
            room: Arc::new(Semaphore::new(limits.sends_at_once)),
        }
    }

    fn busy(&self) -> MutexGuard<'_, HashSet<String>> {
        self.busy.lock().unpoisoned()
    }
}

impl ChannelRuntime {
    fn scheduler(&self, in_order: bool) -> &LaneScheduler {
        if in_order { &self.news } else { &self.repaints }
    }

    /// Whether it is soon known where a prompt stands that may have been sent: it is on its way, or will be
    /// while somebody waits for it. One that waits for its platform to recover is waited for by nobody.
    pub(crate) fn is_coming(&self, prompt: &LoadedRecord<PromptRecord>, until: Timestamp) -> bool {
        !self.taken_over.load(Ordering::Acquire)
            || prompt.due_at.is_some_and(|at| at <= until)
            || self.is_on_its_way(&prompt.record)
    }

    /// Whether this prompt, or another item of its lane, is being sent.
    pub(crate) fn is_on_its_way(&self, prompt: &PromptRecord) -> bool {
        let lane = lane_of(&self.shelves, prompt);
        self.scheduler(lane.in_order).busy().contains(&lane.name)
    }

    /// Something is to be sent.
    pub(crate) fn wake(&self) {
        self.news.wake.notify_one();
        self.repaints.wake.notify_one();
    }
}

impl ChatService {
    pub(crate) async fn carry_out(self, runtime: Arc<ChannelRuntime>) {
        if !self.upgraded(&runtime).await {
            return;
        }
        // From here on, so that none is missed.
        let takeovers = self.0.engine.takeovers();
        if let Err(error) = self.take_over(&runtime).await {
            // Its leases bring it back.
            tracing::warn!(channel = %runtime.name, %error, "what was being sent cannot be read");
        }
        runtime.taken_over.store(true, Ordering::Release);
        runtime.noted.notify_waiters();
        tokio::join!(
            self.serve_lanes(&runtime, true),
            self.serve_lanes(&runtime, false),
            self.serve_takeovers(&runtime, takeovers),
        );
    }

    async fn serve_lanes(&self, runtime: &Arc<ChannelRuntime>, in_order: bool) {
        loop {
            let pause = self.start_due(runtime, in_order).await.unwrap_or_else(|error| {
                tracing::warn!(channel = %runtime.name, %error, "what is to be sent cannot be read");
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
                () = runtime.scheduler(in_order).wake.notified() => {}
                () = slept => {}
            }
        }
    }

    /// Starts whatever can be, and says when something else falls due. A message on its way wakes us
    /// when it has arrived.
    async fn start_due(
        &self,
        runtime: &Arc<ChannelRuntime>,
        in_order: bool,
    ) -> Result<Option<Duration>, Error> {
        let scheduler = runtime.scheduler(in_order);
        // Busy lanes, one for each free permit, and one more: the last tells when to wake.
        let looked_at = scheduler.busy().len() + scheduler.room.available_permits() + 1;
        let now = self.0.clock.now();
        let queue = &runtime.shelves.queue;
        for due in self.0.records.outbox_lanes(queue, in_order, looked_at).await? {
            let DueLane { lane, due_at } = due;
            if scheduler.busy().contains(&lane.name) {
                continue;
            }
            let wait = due_at.ms_since(now);
            if wait > 0 {
                return Ok(Some(Duration::from_millis(wait)));
            }
            let Ok(place) = scheduler.room.clone().try_acquire_owned() else { return Ok(None) };
            let going = OnItsWay::new(runtime.clone(), lane);
            let chats = self.clone();
            self.spawn(async move {
                if let Err(error) = chats.serve(&going.runtime, &going.lane).await {
                    let channel = &going.runtime.name;
                    tracing::warn!(%channel, %error, "what was sent could not be written down");
                    // The lease brings it back; but not at once.
                    chats.0.clock.sleep(STORE_RETRY).await;
                }
                drop(place);
                drop(going);
            });
        }
        Ok(None)
    }

    /// Sends one item of a lane.
    async fn serve(&self, runtime: &Arc<ChannelRuntime>, lane: &OutboxLane) -> Result<(), Error> {
        let now = self.0.clock.now();
        match self.0.records.outbox_next(lane, now).await? {
            None => {
                let write = OutboxWrite { recheck: vec![lane.clone()], ..OutboxWrite::default() };
                self.0.records.write_outbox(write, now).await?;
            }
            Some(item) => {
                if !self.send(runtime, &item.key).await? {
                    self.put_aside(runtime, item, now).await?;
                }
            }
        }
        Ok(())
    }

    /// A record that cannot be read, by this version at least. It is not lost; but nobody looks at it all the
    /// time, and nothing waits for it. One that is not there any more is not sent.
    async fn put_aside(
        &self,
        runtime: &ChannelRuntime,
        item: OutboxItem,
        now: Timestamp,
    ) -> Result<(), Error> {
        let is_there = item.kind == OutboxKind::Text
            || self.0.records.note(&runtime.shelves.out, &item.key).await?.is_some();
        let aside = is_there.then(|| OutboxItem {
            order: None,
            due_at: now.plus_ms(UNREADABLE_MS),
            lease: None,
            ..item.clone()
        });
        let change = OutboxChange { item: aside, ..item.remove() };
        self.0.records.write_outbox(change.into(), now).await?;
        Ok(())
    }
}

/// Nothing else of this lane goes meanwhile.
struct OnItsWay {
    runtime: Arc<ChannelRuntime>,
    lane: OutboxLane,
}

impl OnItsWay {
    fn new(runtime: Arc<ChannelRuntime>, lane: OutboxLane) -> OnItsWay {
        runtime.scheduler(lane.in_order).busy().insert(lane.name.clone());
        OnItsWay { runtime, lane }
    }
}

impl Drop for OnItsWay {
    fn drop(&mut self) {
        self.runtime.scheduler(self.lane.in_order).busy().remove(&self.lane.name);
        // Those who waited for it go on.
        self.runtime.noted.notify_waiters();
        // What was sent may have gone over into the other lane of its chat.
        self.runtime.wake();
    }
}
