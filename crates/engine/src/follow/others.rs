//! What other nodes over the same store do, as the store hears of it: followers and waits of this node are told of
//! it, a freeze closes the gate here too, and work of a node that is gone is taken up.
//!
//! Nothing begins here because another node wrote something: whoever wrote it carries out what it owes.

use domain::event::{Event, SessionEvent};
use domain::id::StreamId;
use domain::session::{PendingWork, Session};
use ports::store::{Entry, HeardOfOthers};
use tokio::sync::watch;

use crate::effects::dispatch::Work;
use crate::retry::store_backoff;
use crate::{Engine, Error};

const PAGE: usize = 200;

impl Engine {
    pub(crate) fn start_hearing_others(&self) {
        let Some(mut heard) = self.0.store.hear_others() else { return };
        // What was there at the start is acted by.
        self.0.store.note_global_seen(self.global_state().version);
        let engine = self.clone();
        self.spawn_housekeeping(async move {
            while let Some(heard) = heard.recv().await {
                let mut backoff = store_backoff();
                while let Err(error) = engine.heed(heard).await {
                    tracing::warn!(%error, "what another node did could not be read yet");
                    engine.sleep_before_retry(&mut backoff).await;
                }
            }
        });
    }

    /// Changes whenever another node is gone and this one takes its work over, so that doors do the same with theirs.
    pub fn takeovers(&self) -> watch::Receiver<u64> {
        self.0.takeovers.subscribe()
    }

    async fn heed(&self, heard: HeardOfOthers) -> Result<(), Error> {
        match heard {
            HeardOfOthers::Wrote { after, upto } => self.heed_entries(after, upto).await,
            HeardOfOthers::Gone => {
                tracing::info!("another node is gone: its work is taken up");
                self.start_recovery().await?;
                self.0.timers.note(Some(self.now()));
                self.0.timers.note_delivery();
                self.0.takeovers.send_modify(|count| *count += 1);
                Ok(())
            }
        }
    }

    async fn heed_entries(&self, mut after: u64, upto: u64) -> Result<(), Error> {
        while after < upto {
            let entries = self.0.store.entries(None, after, PAGE).await?;
            for entry in &entries {
                if entry.global > upto {
                    return Ok(());
                }
                self.heed_entry(entry).await?;
                after = entry.global + entry.events.len() as u64 - 1;
            }
            if entries.is_empty() {
                return Ok(());
            }
        }
        Ok(())
    }

    /// In this order: a task that is woken must find the new state.
    async fn heed_entry(&self, entry: &Entry) -> Result<(), Error> {
        let version = entry.first + entry.events.len() as u64 - 1;
        match entry.stream {
            StreamId::Session(id) => {
                self.0.sessions.note_published(id, version);
                if self.0.sessions.last_known(id).is_some() {
                    self.stop_what_is_over(id).await?;
                }
            }
            StreamId::ExternalHold(id) => self.0.external_holds.note_published(id, version),
            StreamId::Global => {
                let seen = self.refresh_global().await?.version;
                // A host that is slow to begin holds up nothing else that is heard.
                let engine = self.clone();
                self.spawn(async move { engine.act_by(seen).await });
            }
        }
        // Whoever wrote it sleeps until then, and may be gone by then.
        let due = entry.events.iter().filter_map(opened_until).min();
        self.0.timers.note(due);
        self.0.bus.publish(entry);
        Ok(())
    }

    /// The global state is known here. Other nodes hear so when nothing is half begun by an older one.
    async fn act_by(&self, version: u64) {
        if self.frozen().is_some() {
            self.0.start_gate.idle().await;
        }
        self.0.store.note_global_seen(version);
    }

    /// Another node changed the session: what this one does for it ends where that is owed.
    async fn stop_what_is_over(&self, id: domain::id::SessionId) -> Result<(), Error> {
        let Some(session) = self.load::<Session>(id).await? else { return Ok(()) };
        let mut thinks = false;
        for owed in session.pending_work_iter() {
            match owed {
                PendingWork::Stop { call, node } if node == self.0.node => {
                    self.stop_execute(&session, call);
                }
                PendingWork::Stop { call, .. } => drop(self.0.at_work.stop(Work::Recover(call))),
                PendingWork::Think => thinks = true,
                PendingWork::Execute { .. } | PendingWork::Waits => {}
            }
        }
        if !thinks {
            self.0.at_work.stop(Work::Think(id));
        }
        Ok(())
    }
}

/// When a hold that this event opens expires.
fn opened_until(event: &Event) -> Option<domain::time::Timestamp> {
    use domain::event::HoldEvent;
    match event {
        Event::Session(SessionEvent::Hold(HoldEvent::Opened { hold }))
        | Event::ExternalHold(HoldEvent::Opened { hold }) => hold.expires_at,
        _ => None,
    }
}
