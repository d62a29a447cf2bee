//! Carries word of decided holds to the programs that opened them, until they accept it.

use std::time::Duration;

use ports::courier::CourierError;
use ports::store::Delivery;

use crate::Engine;

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

    async fn deliver(&self, delivery: Delivery) -> Result<(), crate::Error> {
        let Some(hold) = self.0.store.hold(delivery.hold).await? else {
            return Ok(self.0.store.delivered(&delivery.key, None).await?);
        };
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
                let doubled =
                    self.0.limits.delivery_retry * 2u32.saturating_pow(delivery.attempts.min(16));
                let pause = doubled.min(self.0.limits.delivery_retry_max);
                Some(self.now().plus_ms(pause.as_millis() as u64))
            }
        };
        ports::failpoint!("deliver.sent");
        self.0.store.delivered(&delivery.key, again_at).await?;
        ports::failpoint!("deliver.marked");
        Ok(())
    }
}
