//! Before the intent to run a call is on disk, its host writes down that it has not begun. After a crash
//! only that proves that the call may be started again: a trace that is missing proves nothing.

use domain::event::Event;
use domain::session::Session;
use domain::tool::{Effects, Place};

use crate::Engine;
use crate::limits::ANNOUNCE_WITHIN;

impl Engine {
    /// A host that cannot write it down keeps no call from starting; a crash then leaves it in doubt.
    pub(crate) async fn announce_starts(&self, events: &[Event], next: &Session) {
        for event in events {
            let Event::CallStarted { call: id, attempt, .. } = event else { continue };
            let record = next.calls.get(id);
            let Some(call) = record.and_then(|record| record.call.as_ref()) else { continue };
            let is_run_again = matches!(call.effects, Effects::ReadOnly | Effects::Idempotent);
            if is_run_again || call.place != Place::Server {
                continue;
            }
            let Some(host) = self.0.tools.get(&call.tool) else { continue };
            let announced = tokio::select! {
                biased;
                announced = host.announce(call, *attempt) => announced,
                () = self.0.clock.sleep(ANNOUNCE_WITHIN) => Err("it takes too long".into()),
            };
            if let Err(why) = announced {
                tracing::warn!(call = %id, %why, "that a call has not begun could not be written down");
            }
        }
    }
}
