//! Runs a call whose intent is on disk, and reports what came of it.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use async_trait::async_trait;
use domain::id::CallId;
use domain::outcome::{Outcome, Output};
use domain::person::Actor;
use domain::session::{Command, Session};
use futures_util::FutureExt;
use ports::durable::{ClearedCall, Durable};
use ports::start_gate::{FreezeLook, Start};
use tokio_util::sync::CancellationToken;

use crate::calls::nested_hold::NestedHoldAsker;
use crate::effects::dispatch::Work;
use crate::retry::store_backoff;
use crate::secrets::references::scrubbed;
use crate::{Engine, Error};

/// A look at a store to which other nodes write, for an attempt that is about to begin.
struct SharedFreezeCheck {
    engine: Engine,
    stop: CancellationToken,
}

#[async_trait]
impl FreezeLook for SharedFreezeCheck {
    async fn must_wait(&self) -> bool {
        self.engine.must_wait(&self.stop).await
    }

    fn may_begin(&self) -> bool {
        self.engine.0.store.may_begin()
    }
}

impl Engine {
    /// The state is the newest one, and nothing else can change the session meanwhile: the caller holds the lock of the lane.
    pub(crate) fn start_execute(&self, session: &Durable<Session>, call: CallId) {
        if session.run.as_ref().is_some_and(|run| run.is_stopping()) {
            return;
        }
        let Some(cleared) = session.cleared(call, self.0.node) else { return };
        let (attempt, stored) = (cleared.attempt(), cleared.shared());
        let work = Work::Execute(call, attempt);
        let Some(stop) = self.0.at_work.take(work) else { return };
        let (engine, session_id, session) = (self.clone(), session.id, session.state().clone());
        self.spawn(async move {
            ports::failpoint!("execute.before_run");
            let Some(outcome) = engine.execute_call(&session, cleared, stop).await else {
                engine.report(session_id, &Command::NotBegun { call, attempt }).await;
                return engine.0.at_work.done(work);
            };
            ports::failpoint!("execute.ran");
            let command = Command::Report { call, attempt, outcome };
            let is_stored = engine.report(session_id, &command).await;
            ports::failpoint!("execute.reported");
            engine.0.at_work.done(work);
            // Traces go only when a result is on record. A late report of a superseded attempt is refused, and what lies
            // there then may be the only trace of the attempt that really ran.
            if !is_stored {
                return;
            }
            if let Some(host) = engine.0.tools.get(&stored.tool) {
                host.forget(&stored).await;
            }
            ports::failpoint!("execute.forgotten");
        });
    }

    /// Stops a call whose run was cancelled. One that this process never got round to starting is
    /// reported as what it is.
    pub(crate) fn stop_execute(&self, session: &Durable<Session>, call: CallId) {
        let Some(cleared) = session.cleared(call, self.0.node) else { return };
        let work = Work::Execute(call, cleared.attempt());
        if self.0.at_work.stop(work) || self.0.at_work.take(work).is_none() {
            return;
        }
        let (engine, session) = (self.clone(), session.id);
        self.spawn(async move {
            let outcome =
                Outcome::Failed(Output::text("Stopped before it began: the run was cancelled."));
            let command = Command::Report { call, attempt: cleared.attempt(), outcome };
            engine.report(session, &command).await;
            engine.0.at_work.done(work);
        });
    }

    /// `None`: the host was not given the call or could not begin it, and nothing has happened.
    async fn execute_call(
        &self,
        session: &Session,
        cleared: ClearedCall,
        stop: CancellationToken,
    ) -> Option<Outcome> {
        let Some(host) = self.0.tools.get(&cleared.call().tool) else {
            // It was there a moment ago, when the start was decided.
            return Some(Outcome::Failed(Output::text("the tool is not configured any more")));
        };
        // A tool of a box may have become another since the start was decided: that one nobody approved.
        if host.tool().definition() != cleared.call().definition {
            return Some(Outcome::Failed(Output::text(
                "Nothing was run: the tool has changed since this call was approved. Call it again, and \
                 it is asked about as it is now.",
            )));
        }
        let permit = tokio::select! {
            biased;
            () = stop.cancelled() => return None,
            permit = self.0.executing.acquire() => permit.ok()?,
        };
        let (call, attempt) = (cleared.shared(), cleared.attempt());
        // Only here do references become what they stand for, and only for this one host.
        let (cleared, scrubber) = match self.unsealed(session, cleared).await {
            Ok(unsealed) => unsealed,
            Err(why) => {
                return Some(Outcome::Failed(Output::text(format!("Not run: {why}."))));
            }
        };
        // A freeze may have been acknowledged since the start was decided: then the host need not begin to
        // wait for what it needs. When it has that, it looks once more, at the gate.
        // mutant: a-place-is-enough-to-begin
        if self.must_wait(&stop).await {
            return None;
        }
        let start = self.start_of(&stop);
        let asker = NestedHoldAsker::new(self, call.clone(), attempt, permit, &scrubber);
        // A host that panics may have done half of its work: nobody can say, so a person is asked.
        let run = host.run_asking(cleared, &asker, start.clone(), stop);
        let ran = AssertUnwindSafe(run).catch_unwind().await.unwrap_or_else(|_| {
            let evidence = "the tool host panicked while the call was running".into();
            Ok(Outcome::Unknown { evidence })
        });
        if !start.has_begun() && matches!(ran, Ok(Outcome::Succeeded(_))) {
            tracing::error!(tool = %call.tool, call = %call.id, "tool host ran a call without entering the start gate");
        }
        ran.ok().map(|outcome| scrubbed(outcome, &scrubber))
    }

    /// The way of one attempt through the gate that a freeze closes.
    fn start_of(&self, stop: &CancellationToken) -> Start {
        let start = self.0.start_gate.start(stop.clone());
        match self.0.store.is_shared() {
            true => start
                .looking(Arc::new(SharedFreezeCheck { engine: self.clone(), stop: stop.clone() })),
            false => start,
        }
    }

    /// Whether a call that has a free place must not begin: all is frozen, or it is to stop.
    async fn must_wait(&self, stop: &CancellationToken) -> bool {
        let mut backoff = store_backoff();
        loop {
            if stop.is_cancelled() {
                return true;
            }
            // mutant: a-freeze-elsewhere-is-not-looked-for
            match self.is_frozen_now().await {
                Ok(frozen) => return frozen,
                Err(_) if self.0.closing.has_begun() => return true,
                Err(error) => {
                    tracing::warn!(%error, "a call waits until it is known whether all is frozen");
                }
            }
            self.sleep_before_retry(&mut backoff).await;
        }
    }

    /// A result that cannot be written yet is not dropped: the effect has happened. If the process
    /// ends before it could be written, the next one finds the call in doubt. `false`: it was refused, as another
    /// attempt of the call has taken this one's place.
    pub(crate) async fn report(&self, session: domain::id::SessionId, command: &Command) -> bool {
        let mut backoff = store_backoff();
        loop {
            match self.submit(session, &Actor::Runtime, command, None).await {
                Ok(_) => return true,
                Err(Error::Refused(refusal)) => {
                    tracing::warn!(%session, %refusal, "a report came too late");
                    return false;
                }
                Err(error) => {
                    tracing::error!(%session, %error, "a result could not be written; trying again")
                }
            }
            self.sleep_before_retry(&mut backoff).await;
        }
    }
}
