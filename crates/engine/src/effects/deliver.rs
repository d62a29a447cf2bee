//! Sends the callbacks of decided holds to the programs that opened them, until they accept them. They wait in
//! the outbox, written by the commit that decides the hold, and each is claimed under a lease before it is sent.

use std::time::Duration;

use domain::hold::Hold;
use domain::id::{Bits, HoldId};
use domain::time::Timestamp;
use ports::backoff::wait_after;
use ports::callback::CallbackError;
use ports::store::{DueLane, OutboxChange, OutboxItem, OutboxKind, OutboxLease, OutboxWrite};

use crate::Engine;

/// The queue of callbacks in the outbox. Each address is a lane.
const QUEUE: &str = "callbacks";
/// Lanes that are looked at in one go.
const PAGE: usize = 50;
/// Callbacks that are looked through while all is frozen, for those that may go out.
const FROZEN_PAGE: usize = 5_000;
/// How often to look whether another node has thawed it.
const LOOK_FOR_THAW: Duration = Duration::from_secs(5);
/// How long a claimed callback is nobody else's business. The sender gives up sooner.
const LEASE_MS: u64 = 60_000;
/// Until the store is asked again that could not be reached.
const STORE_RETRY: Duration = Duration::from_secs(5);

/// Word of a decided hold. Due at once: the node that opened the hold may have had a clock that was ahead of
/// ours.
pub(crate) fn callback_item(hold: &Hold, url: &str, now: Timestamp) -> OutboxItem {
    let key = format!("{}-{}", hold.id, hold.state.name());
    OutboxItem {
        lane: url.to_owned(),
        payload: hold.id.0.0.to_be_bytes().to_vec(),
        ..OutboxItem::new(QUEUE, &key, OutboxKind::Callback, hold.opened_at.min(now))
    }
}

fn hold_of(item: &OutboxItem) -> Option<HoldId> {
    let bytes = <[u8; 16]>::try_from(item.payload.as_slice()).ok()?;
    Some(HoldId(Bits(u128::from_be_bytes(bytes))))
}

impl Engine {
    pub(crate) fn start_deliveries(&self) {
        let engine = self.clone();
        self.spawn(async move {
            let mut leases_are_known = false;
            loop {
                let pause = match engine.deliver_due(&mut leases_are_known).await {
                    Ok(pause) => pause,
                    Err(error) => {
                        tracing::error!(%error, "callbacks could not be read");
                        // One of ours may be left over.
                        leases_are_known = false;
                        Some(STORE_RETRY)
                    }
                };
                let woken = engine.0.timers.delivery_noted();
                let slept = async {
                    match pause {
                        Some(pause) => engine.0.clock.sleep(pause).await,
                        None => std::future::pending().await,
                    }
                };
                tokio::select! {
                    biased;
                    () = woken => {}
                    () = slept => {}
                    () = engine.0.closing.begins() => return,
                }
            }
        });
    }

    /// Sends what is due and says how long to wait for the next.
    async fn deliver_due(
        &self,
        leases_are_known: &mut bool,
    ) -> Result<Option<Duration>, crate::Error> {
        if !*leases_are_known {
            self.release_left_over().await?;
            *leases_are_known = true;
        }
        loop {
            if self.is_frozen_now().await? {
                return self.deliver_due_frozen().await;
            }
            let now = self.now();
            let lanes = self.0.store.outbox_lanes(QUEUE, false, PAGE).await?;
            let next = lanes.first().map(|lane| lane.due_at);
            if next.is_none_or(|at| at > now) {
                return Ok(next.map(|at| Duration::from_millis(at.ms_since(now).max(1))));
            }
            for DueLane { lane, .. } in lanes.into_iter().filter(|lane| lane.due_at <= now) {
                match self.0.store.outbox_next(&lane, self.now()).await? {
                    Some(item) => self.deliver(item).await?,
                    None => {
                        let write = OutboxWrite { recheck: vec![lane], ..OutboxWrite::default() };
                        self.0.store.write_outbox(write, self.now()).await?;
                    }
                }
            }
        }
    }

    /// While all is frozen, word that lets a program go on stays where it is; other word goes out. The thaw
    /// wakes the sender; a thaw by another node is found by looking.
    async fn deliver_due_frozen(&self) -> Result<Option<Duration>, crate::Error> {
        let end = Timestamp::from_ms(i64::MAX);
        let all = self.0.store.outbox_items(QUEUE, end, FROZEN_PAGE).await?;
        let mut next: Option<Timestamp> = None;
        for item in all {
            let at = item.ready_at();
            if at > self.now() {
                next = Some(next.map_or(at, |next| next.min(at)));
            } else {
                self.deliver(item).await?;
            }
        }
        let pause = next.map(|at| Duration::from_millis(at.ms_since(self.now()).max(1)));
        let look = self.0.store.is_shared().then_some(LOOK_FOR_THAW);
        Ok(pause.into_iter().chain(look).min())
    }

    /// Nobody sends what a node had claimed that is gone, nor what we claimed and could not write down.
    async fn release_left_over(&self) -> Result<(), crate::Error> {
        let end = Timestamp::from_ms(i64::MAX);
        for item in self.0.store.outbox_items(QUEUE, end, FROZEN_PAGE).await? {
            let Some(lease) = item.lease else { continue };
            if lease.owner == self.0.node || self.0.store.is_gone(lease.owner).await? {
                self.change_callback(item.release()).await?;
            }
        }
        Ok(())
    }

    async fn deliver(&self, item: OutboxItem) -> Result<(), crate::Error> {
        let hold = match hold_of(&item) {
            Some(id) => self.0.store.hold(id).await?,
            None => None,
        };
        let Some(hold) = hold else {
            return self.change_callback(item.remove()).await.map(drop);
        };
        if self.waits_for_thaw(&hold).await? {
            return Ok(());
        }
        let until = self.now().plus_ms(LEASE_MS);
        if !self.change_callback(item.claim(OutboxLease { owner: self.0.node, until })).await? {
            return Ok(());
        }
        let item = OutboxItem { version: item.version + 1, ..item };
        // Nothing to wait for between this and the sending.
        if self.waits_for_thaw(&hold).await? {
            return self.change_callback(item.release()).await.map(drop);
        }
        ports::failpoint!("deliver.before_send");
        let again_at = match self.0.callback_sender.deliver(&item.key, &hold).await {
            Ok(()) => None,
            Err(CallbackError::Never(why)) => {
                tracing::error!(hold = %hold.id, %why, "a callback was given up");
                None
            }
            Err(CallbackError::Again(why))
                if item.attempts + 1 >= self.0.limits.delivery_attempts =>
            {
                tracing::error!(hold = %hold.id, %why, attempts = item.attempts + 1, "a callback was given up");
                None
            }
            Err(CallbackError::Again(why)) => {
                tracing::warn!(hold = %hold.id, %why, "a callback will be tried again");
                let (first, most) =
                    (self.0.limits.delivery_retry, self.0.limits.delivery_retry_max);
                let pause = wait_after(item.attempts, first, most, self.0.rng.bits());
                Some(self.now().plus_ms(pause.as_millis() as u64))
            }
        };
        ports::failpoint!("deliver.sent");
        let change = match again_at {
            None => item.remove(),
            Some(at) => item.retry_at(at),
        };
        self.change_callback(change).await?;
        ports::failpoint!("deliver.marked");
        Ok(())
    }

    /// It lets a program go on, and all is frozen.
    async fn waits_for_thaw(&self, hold: &Hold) -> Result<bool, crate::Error> {
        // mutant: the-outbox-goes-on-while-frozen
        Ok(hold.state.releases() && self.is_frozen_now().await?)
    }

    /// `false` if somebody else was first.
    async fn change_callback(&self, change: OutboxChange) -> Result<bool, crate::Error> {
        Ok(self.0.store.write_outbox(change.into(), self.now()).await?)
    }
}
