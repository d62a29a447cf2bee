//! Sends what waits in the outbox: several browsers at once, one notice after the other for each.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use ports::backoff::wait_after;
use ports::push::{PushError, PushKind, PushNotice, Pusher};
use ports::store::{OutboxChange, OutboxItem, OutboxLane, OutboxLease, OutboxWrite};

use super::plan::{PlannedNotice, waits_for};
use super::subscription::{Subscription, remove};
use super::{QUEUE, SOON, SUBSCRIPTIONS};
use crate::limits::{PUSH_AT_ONCE, PUSH_LEASE_MS, PUSH_LOOK_EVERY, STORE_RETRY_MAX};
use crate::{Engine, Error};

impl Engine {
    pub(super) async fn send_notices(&self) {
        let Some(pusher) = self.0.push.pusher().cloned() else { return };
        loop {
            let pause = match self.send_due_notices(&pusher).await {
                Ok(pause) => pause,
                Err(error) => {
                    tracing::warn!(%error, "notices cannot be read");
                    STORE_RETRY_MAX
                }
            };
            tokio::select! {
                biased;
                () = self.0.closing.begins() => return,
                () = self.0.push.wake.notified() => {}
                () = self.0.clock.sleep(pause) => {}
            }
        }
    }

    /// Sends what is due and says how long to wait for the next.
    async fn send_due_notices(&self, pusher: &Arc<dyn Pusher>) -> Result<Duration, Error> {
        loop {
            self.plan_expiries().await?;
            let now = self.now();
            let lanes = self.0.store.outbox_lanes(QUEUE, false, PUSH_AT_ONCE).await?;
            let next = lanes.first().map(|lane| lane.due_at);
            if next.is_none_or(|at| at > now) {
                let soon = self.0.store.next_due_note(SOON).await?;
                let next = [next, soon].into_iter().flatten().min();
                let wait = next.map(|at| Duration::from_millis(at.ms_since(now).max(1)));
                return Ok(wait.map_or(PUSH_LOOK_EVERY, |wait| wait.min(PUSH_LOOK_EVERY)));
            }
            let due = lanes.into_iter().filter(|lane| lane.due_at <= now);
            let sent = join_all(due.map(|due| self.send_next_notice(pusher, due.lane))).await;
            sent.into_iter().collect::<Result<Vec<()>, Error>>()?;
        }
    }

    async fn plan_expiries(&self) -> Result<(), Error> {
        for note in self.0.store.due_notes(SOON, self.now(), PUSH_AT_ONCE).await? {
            let mut write = OutboxWrite::default();
            if let Ok(id) = note.key.parse()
                && let Some(hold) = self.0.store.hold(id).await?
            {
                write = self.plan_asks(&hold, PushKind::Soon).await?;
            }
            write.notes.push(remove(SOON, note.key));
            self.0.store.write_outbox(write, self.now()).await?;
        }
        Ok(())
    }

    async fn send_next_notice(
        &self,
        pusher: &Arc<dyn Pusher>,
        lane: OutboxLane,
    ) -> Result<(), Error> {
        let Some(item) = self.0.store.outbox_next(&lane, self.now()).await? else {
            let write = OutboxWrite { recheck: vec![lane], ..OutboxWrite::default() };
            self.0.store.write_outbox(write, self.now()).await?;
            return Ok(());
        };
        let until = self.now().plus_ms(PUSH_LEASE_MS);
        if !self.change_notice(item.claim(OutboxLease { owner: self.0.node, until })).await? {
            return Ok(());
        }
        let item = OutboxItem { version: item.version + 1, ..item };
        let planned = PlannedNotice::read(&item.payload);
        let change = match planned {
            None => item.remove(),
            Some(planned) => match self.send_notice(pusher, &planned).await? {
                Ok(()) => item.remove(),
                Err(why) if item.attempts + 1 >= self.0.limits.delivery_attempts => {
                    tracing::warn!(hold = %planned.hold, %why, "a notice was given up");
                    item.remove()
                }
                Err(_) => {
                    let limits = &self.0.limits;
                    let (first, most) = (limits.delivery_retry, limits.delivery_retry_max);
                    let pause = wait_after(item.attempts, first, most, self.0.rng.bits());
                    item.retry_at(self.now().plus_ms(pause.as_millis() as u64))
                }
            },
        };
        // Newer news of the same hold may have taken its place meanwhile; then that is sent.
        self.change_notice(change).await?;
        Ok(())
    }

    /// The inner error is worth another attempt.
    async fn send_notice(
        &self,
        pusher: &Arc<dyn Pusher>,
        planned: &PlannedNotice,
    ) -> Result<Result<(), String>, Error> {
        let note = self.0.store.note(SUBSCRIPTIONS, &planned.key).await?;
        let hold = self.0.store.hold(planned.hold).await?;
        let (Some(to), Some(hold)) = (note.as_ref().and_then(Subscription::read), hold) else {
            return Ok(Ok(()));
        };
        // It may have been a while, and what is told must be so now.
        let is_so = match planned.kind {
            PushKind::Asks | PushKind::Soon => waits_for(self, &hold, &to.person),
            PushKind::Said => hold.is_seen_by(&to.person, self.people()),
            PushKind::Settled => true,
        };
        if !is_so {
            return Ok(Ok(()));
        }
        let waiting = self.count_waiting(&to.person).await?;
        let (kind, language) = (planned.kind, to.language);
        let notice = PushNotice { kind, hold: &hold, waiting, language };
        match pusher.push(&to.target, notice).await {
            Ok(()) => Ok(Ok(())),
            Err(PushError::Gone) => {
                self.forget_subscription(&to).await?;
                Ok(Ok(()))
            }
            Err(PushError::Never(why)) => {
                tracing::warn!(hold = %hold.id, %why, "a notice cannot be delivered");
                Ok(Ok(()))
            }
            Err(PushError::Again(why)) => Ok(Err(why)),
        }
    }

    async fn change_notice(&self, change: OutboxChange) -> Result<bool, Error> {
        Ok(self.0.store.write_outbox(change.into(), self.now()).await?)
    }
}
