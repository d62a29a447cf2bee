//! Before the intent to run a call is on disk, its host writes down that it has not begun (not for `read_only` and
//! `idempotent` calls, which are run again anyway). After a crash only that proves that the call may be started
//! again: a trace that is missing proves nothing.

use domain::event::SessionEvent;
use domain::session::Session;
use domain::tool::{Effects, Place};
use futures_util::future::join_all;

use crate::Engine;
use crate::limits::ANNOUNCE_WITHIN;

impl Engine {
    /// A host that cannot write it down keeps no call from starting; a crash then leaves it in doubt.
    pub(crate) async fn announce_starts(&self, events: &[SessionEvent], next: &Session) {
        let announcing = events.iter().filter_map(|event| {
            let SessionEvent::CallStarted { call: id, attempt, .. } = event else { return None };
            let call = next.calls.get(id)?.call.as_ref()?;
            let is_run_again = matches!(call.effects, Effects::ReadOnly | Effects::Idempotent);
            if is_run_again || call.place != Place::Server {
                return None;
            }
            let host = self.0.tools.get(&call.tool)?;
            Some(async move {
                let announced = tokio::select! {
                    biased;
                    announced = host.announce(call, *attempt) => announced,
                    () = self.0.clock.sleep(ANNOUNCE_WITHIN) => Err("it takes too long".into()),
                };
                if let Err(why) = announced {
                    tracing::warn!(call = %id, %why, "that a call has not begun could not be written down");
                }
            })
        });
        // Side by side: a person waits for the answer, and one host that is away takes the time of all.
        join_all(announcing).await;
    }
}
