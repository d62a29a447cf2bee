//! Carries word of decided holds to the programs that opened them, until they accept it.

use std::time::Duration;

use ports::backoff::wait_after;
use ports::courier::CourierError;
use ports::store::Delivery;

use crate::Engine;

/// Deliveries that are looked through while all is frozen, for those that may go out.
const FROZEN_PAGE: usize = 5_000;
/// How often to look whether another node has thawed it.
const LOOK_FOR_THAW: Duration = Duration::from_secs(5);

impl Engine {
    pub(crate) fn start_deliveries(&self) {
        let engine = self.clone();
        self.spawn(async move {
            loop {
                let pause = match engine.deliver_due().await {
                    Ok(pause) => pause,
                    Err(error) => {
                        tracing::error!(%error, "callbacks could not be read");
                        Some(Duration::from_secs(5))
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

    /// Delivers what is due and says how long to wait for the next.
    async fn deliver_due(&self) -> Result<Option<Duration>, crate::Error> {
        loop {
            if self.is_frozen_now().await? {
                return self.deliver_due_frozen().await;
            }
            let due = self.0.store.deliveries(self.now(), 50).await?;
            if due.is_empty() {
                break;
            }
            for delivery in due {
                self.deliver(delivery).await?;
            }
        }
        let next = self.0.store.next_delivery().await?;
        Ok(next.map(|at| Duration::from_millis(at.ms_since(self.now()).max(1))))
    }

    /// While all is frozen, word that lets a program go on stays where it is; other word goes out. The thaw
    /// wakes whoever delivers; a thaw by another node is found by looking.
    async fn deliver_due_frozen(&self) -> Result<Option<Duration>, crate::Error> {
        let end = domain::time::Timestamp::from_ms(i64::MAX);
        let all = self.0.store.deliveries(end, FROZEN_PAGE).await?;
        let mut next: Option<domain::time::Timestamp> = None;
        for delivery in all {
            if delivery.due_at > self.now() {
                next = Some(next.map_or(delivery.due_at, |next| next.min(delivery.due_at)));
            } else {
                self.deliver(delivery).await?;
            }
        }
        let pause = next.map(|at| Duration::from_millis(at.ms_since(self.now()).max(1)));
        let look = self.0.store.is_shared().then_some(LOOK_FOR_THAW);
        Ok(pause.into_iter().chain(look).min())
    }

    async fn deliver(&self, delivery: Delivery) -> Result<(), crate::Error> {
        let Some(hold) = self.0.store.hold(delivery.hold).await? else {
            return Ok(self.0.store.delivered(&delivery.key, None).await?);
        };
        // Nothing to wait for between this and the sending.
        if hold.state.releases() && self.is_frozen_now().await? {
            return Ok(());
        }
        ports::failpoint!("deliver.before_send");
        let again_at = match self.0.courier.deliver(&delivery.key, &hold).await {
            Ok(()) => None,
            Err(CourierError::Never(why)) => {
                tracing::error!(hold = %hold.id, %why, "a callback was given up");
                None
            }
            Err(CourierError::Again(why))
                if delivery.attempts + 1 >= self.0.limits.delivery_attempts =>
            {
                tracing::error!(hold = %hold.id, %why, attempts = delivery.attempts + 1, "a callback was given up");
                None
            }
            Err(CourierError::Again(why)) => {
                tracing::warn!(hold = %hold.id, %why, "a callback will be tried again");
                let (first, most) =
                    (self.0.limits.delivery_retry, self.0.limits.delivery_retry_max);
                let pause = wait_after(delivery.attempts, first, most, self.0.chance.bits());
                Some(self.now().plus_ms(pause.as_millis() as u64))
            }
        };
        ports::failpoint!("deliver.sent");
        self.0.store.delivered(&delivery.key, again_at).await?;
        ports::failpoint!("deliver.marked");
        Ok(())
    }
}
