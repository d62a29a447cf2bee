//! How things stand, in numbers that are taken when somebody asks for them. Pending holds are followed, so that
//! asking costs the store nothing but a look at its outbox.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use domain::event::HoldEvent;
use domain::hold::{HoldChange, Risk};
use domain::id::HoldId;
use domain::time::Timestamp;
use engine::{Engine, Error};
use ports::store::OutboxKind;
use ports::unpoisoned::Unpoisoned as _;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::Registry;

/// Holds that are read at a time, once at the start.
const PAGE: usize = 500;

#[derive(Default)]
pub(crate) struct StateGauges {
    /// By id, and so by the time at which they were opened.
    pending: Mutex<BTreeMap<HoldId, Risk>>,
    holds_pending: Family<[(&'static str, &'static str); 1], Gauge>,
    oldest_age: Gauge<f64, AtomicU64>,
    frozen: Gauge,
    deliveries_pending: Gauge,
    outbox_pending: Family<[(&'static str, &'static str); 1], Gauge>,
    store_size: Gauge,
}

impl StateGauges {
    pub(crate) fn register(registry: &mut Registry) -> StateGauges {
        let gauges = StateGauges::default();
        let help = "Holds that wait for an answer, by risk";
        registry.register("holds_pending", help, gauges.holds_pending.clone());
        let help = "Age of the hold that has waited longest; 0 if none waits";
        registry.register("holds_oldest_pending_age_seconds", help, gauges.oldest_age.clone());
        let help = "1 while everything is frozen";
        registry.register("frozen", help, gauges.frozen.clone());
        let help = "Callbacks that are not delivered yet";
        registry.register("deliveries_pending", help, gauges.deliveries_pending.clone());
        let help = "What is not sent yet: callbacks, and prompts, repaints and texts of chats";
        registry.register("outbox_pending", help, gauges.outbox_pending.clone());
        // A kind of which nothing waits is 0, and not absent: an alert on it would not know the difference.
        for kind in OutboxKind::ALL {
            gauges.outbox_pending.get_or_create(&[("kind", kind.name())]).set(0);
        }
        let help = "What the data takes on disk";
        registry.register("store_size_bytes", help, gauges.store_size.clone());
        let version = [("version", env!("CARGO_PKG_VERSION"))];
        registry.register("build", "The program that runs", Info::new(version));
        gauges
    }

    /// Every hold that waits. To be called after somebody follows what happens: what is decided meanwhile is
    /// heard of afterwards.
    pub(crate) async fn load(&self, engine: &Engine) -> Result<(), Error> {
        let mut after = None;
        loop {
            let holds = engine.read_pending_holds(after, PAGE).await?;
            let Some(last) = holds.last() else { return Ok(()) };
            after = Some(last.id);
            let mut pending = self.pending.lock().unpoisoned();
            pending.extend(holds.iter().map(|hold| (hold.id, hold.risk)));
        }
    }

    pub(crate) fn apply(&self, event: &HoldEvent) {
        let pending = || self.pending.lock().unpoisoned();
        match event {
            HoldEvent::Opened { hold } if hold.is_pending() => {
                pending().insert(hold.id, hold.risk);
            }
            HoldEvent::Updated { hold, change: HoldChange::Revised { risk, .. } } => {
                if let Some(known) = pending().get_mut(hold) {
                    *known = *risk;
                }
            }
            HoldEvent::Decided { hold, .. } => {
                pending().remove(hold);
            }
            _ => {}
        }
    }

    /// Takes the numbers.
    pub(crate) async fn take(&self, engine: &Engine) {
        self.count(engine.now());
        self.frozen.set(i64::from(engine.frozen().is_some()));
        // A store that cannot be read has no news.
        for (kind, count) in engine.read_outbox_backlog().await.unwrap_or_default() {
            self.outbox_pending.get_or_create(&[("kind", kind.name())]).set(count as i64);
            if kind == OutboxKind::Callback {
                self.deliveries_pending.set(count as i64);
            }
        }
        if let Some(size) = engine.store_size_bytes() {
            self.store_size.set(size as i64);
        }
    }

    #[cfg(test)]
    pub(crate) fn count_for_test(&self) {
        self.count(Timestamp::from_ms(0));
    }

    fn count(&self, now: Timestamp) {
        let pending = self.pending.lock().unpoisoned();
        for risk in Risk::ALL {
            let count = pending.values().filter(|pending| **pending == risk).count();
            self.holds_pending.get_or_create(&[("risk", risk.name())]).set(count as i64);
        }
        let oldest = pending.keys().next().map(|id| Timestamp::from_ms((id.0.0 >> 80) as i64));
        let age = oldest.map_or(0, |opened| now.ms_since(opened));
        self.oldest_age.set(Duration::from_millis(age).as_secs_f64());
    }
}
