//! What an earlier process left. A call whose start is on disk and whose result is not is made again only if it
//! reads or is idempotent, or if a trace proves that it never began. Otherwise its host looks for traces, and in
//! doubt a person is asked.
//!
//! Nothing waits for this but the calls themselves: the server listens meanwhile, each call is looked at by
//! a task of its own, and a look that does not end leaves its call in doubt. Until it has ended the call
//! stays `Running` on a node that is gone: nobody starts it, its run cannot end, and an answer to another
//! hold of the session changes nothing about it.

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use domain::call::Call;
use domain::id::{CallId, SessionId};
use domain::outcome::{Outcome, Output};
use domain::person::Actor;
use domain::scrub::Scrubber;
use domain::session::{CallState, Command, Recovered, Session};
use domain::tool::Effects;
use futures_util::FutureExt as _;
use ports::tool_host::Recovery;
use ports::unpoisoned::Unpoisoned as _;
use tokio::sync::{Notify, Semaphore};
use tokio_util::sync::CancellationToken;

use crate::calls::changed_tools::RECHECKS_MAX;
use crate::effects::dispatch::Work;
use crate::limits::{CRASHED_ATTEMPTS_MAX, LOOK_AFTER_CANCEL, LOOK_WITHIN, LOOKS_AT_ONCE};
use crate::retry::store_backoff;
use crate::secrets::references::{scrubbed, scrubber};
use crate::{Engine, Error};

/// Recovery that is still to be done.
#[derive(Default)]
pub(crate) struct Recovering {
    left: AtomicUsize,
    over: Notify,
    /// Permits to look, for each tool by itself: a tool that hangs holds up no other.
    looks: Mutex<HashMap<Arc<str>, Arc<Semaphore>>>,
}

impl Recovering {
    fn looks_of(&self, tool: &Arc<str>) -> Arc<Semaphore> {
        let mut looks = self.looks.lock().unpoisoned();
        let permits = || Arc::new(Semaphore::new(LOOKS_AT_ONCE));
        looks.entry(tool.clone()).or_insert_with(permits).clone()
    }
}

/// One piece of it, until it is dropped.
struct RecoveryPart(Engine);

impl RecoveryPart {
    fn of(engine: &Engine) -> RecoveryPart {
        engine.0.recovering.left.fetch_add(1, Ordering::AcqRel);
        RecoveryPart(engine.clone())
    }
}

impl Drop for RecoveryPart {
    fn drop(&mut self) {
        let recovering = &self.0.0.recovering;
        if recovering.left.fetch_sub(1, Ordering::AcqRel) == 1 {
            recovering.over.notify_waiters();
        }
    }
}

/// A call whose executor is gone.
struct Orphan {
    id: CallId,
    attempt: u32,
    /// Attempts that may have begun, this one included.
    begun: u32,
    call: Arc<Call>,
    /// Its run was cancelled already.
    is_stopping: bool,
}

impl Engine {
    /// Finds what earlier processes left, and has it taken up in the background.
    pub(crate) async fn start_recovery(&self) -> Result<(), Error> {
        ports::failpoint!("recover.before");
        let (mut found, mut after) = (Vec::new(), None);
        loop {
            let owing = self.0.store.sessions_with_work(after, 500).await?;
            let Some((last, _)) = owing.last() else { break };
            after = Some(*last);
            for (session, owner) in owing {
                if owner == self.0.node
                    || self.0.store.is_gone(owner).await?
                    || self.has_orphans(session).await?
                {
                    found.push((session, RecoveryPart::of(self)));
                }
            }
        }
        let engine = self.clone();
        self.spawn(async move {
            for (session, part) in found {
                if engine.0.closing.has_begun() {
                    return;
                }
                if let Err(error) = engine.recover_session(session).await {
                    engine.recover_later(session, error, part);
                }
            }
        });
        Ok(())
    }

    /// How many sessions and calls of earlier processes have not been taken up yet.
    pub fn recovering(&self) -> usize {
        self.0.recovering.left.load(Ordering::Acquire)
    }

    /// Returns when nothing is left to recover.
    pub async fn recovered(&self) {
        loop {
            let over = self.0.recovering.over.notified();
            tokio::pin!(over);
            // Listening before looking: what ends in between is heard.
            over.as_mut().enable();
            if self.recovering() == 0 {
                return;
            }
            over.await;
        }
    }

    /// A session that the store could not tell about holds up no other.
    fn recover_later(&self, session: SessionId, error: Error, part: RecoveryPart) {
        if let Error::Refused(_) = error {
            return;
        }
        tracing::error!(%session, %error, "a session could not be recovered; trying again");
        let engine = self.clone();
        self.spawn(async move {
            let mut backoff = store_backoff();
            while !engine.0.closing.has_begun() {
                engine.sleep_before_retry(&mut backoff).await;
                match engine.recover_session(session).await {
                    Ok(()) | Err(Error::Refused(_)) => break,
                    Err(_) => {}
                }
            }
            drop(part);
        });
    }

    /// The node that wrote to a session last owns it, and need not be the one that runs its calls: a
    /// node that takes a message does not finish what another was doing when it died.
    async fn has_orphans(&self, id: SessionId) -> Result<bool, Error> {
        let session = self.load_session(id).await?;
        Ok(!self.orphans(&session).await?.is_empty())
    }

    async fn orphans(&self, session: &Session) -> Result<Vec<Orphan>, Error> {
        let is_stopping = session.run.as_ref().is_some_and(|run| run.is_stopping());
        let mut orphans = Vec::new();
        for (id, record) in session.calls.iter() {
            if let (CallState::Running { attempt, node, .. }, Some(call)) =
                (&record.state, &record.call)
                && *node != self.0.node
                && self.0.store.is_gone(*node).await?
            {
                let (attempt, call) = (*attempt, call.clone());
                let begun = record.begun;
                orphans.push(Orphan { id: *id, attempt, begun, call, is_stopping });
            }
        }
        Ok(orphans)
    }

    /// Lets a session go on, and has its orphaned calls looked at. Waits for no look.
    pub(crate) async fn recover_session(&self, id: SessionId) -> Result<(), Error> {
        ports::failpoint!("recover.session");
        let session = self.load_session(id).await?;
        for orphan in self.orphans(&session).await? {
            // Both the start and a thaw may come by.
            let Some(stop) = self.0.at_work.take(Work::Recover(orphan.id)) else { continue };
            let (engine, session, part) = (self.clone(), session.clone(), RecoveryPart::of(self));
            // mutant: calls-are-looked-at-in-turn begins
            self.spawn(async move {
                engine.recover_call(&session, &orphan, stop).await;
                engine.0.at_work.done(Work::Recover(orphan.id));
                drop(part);
            });
            // mutant: calls-are-looked-at-in-turn ends
        }
        // Whatever else waited, a turn to be thought or a call to be started, goes on.
        self.submit(id, &Actor::Runtime, &Command::Wake, None).await?;
        ports::failpoint!("recover.woken");
        Ok(())
    }

    /// Finds out what became of a call, and writes it down. A stop of the engine leaves it as it is: the
    /// next start finds it again.
    async fn recover_call(&self, session: &Session, orphan: &Orphan, stop: CancellationToken) {
        let Orphan { id, attempt, call, .. } = orphan;
        self.withdraw_questions(*id, *attempt).await;
        let mut backoff = store_backoff();
        let known = loop {
            match self.secrets_of(session).await {
                Ok(known) => break known,
                Err(_) if self.0.closing.has_begun() => return,
                Err(error) => {
                    tracing::error!(call = %id, %error, "a call could not be recovered; trying again");
                }
            }
            self.sleep_before_retry(&mut backoff).await;
        };
        let Some(found) = self.look_bounded(orphan, &stop).await else { return };
        let found = clean(found, &scrubber(Some(call), &known));
        ports::failpoint!("recover.looked");
        tracing::info!(session = %session.id, call = %id, found = found.name(), "a call was interrupted");
        self.report_found(session.id, orphan, found).await;
        ports::failpoint!("recover.wrote");
    }

    /// A call that is to be made again is looked at by its tool first if the tool has changed. A tool that is
    /// another one after every look leaves the call in doubt.
    async fn report_found(&self, session: SessionId, orphan: &Orphan, found: Recovered) {
        let Orphan { id, attempt, .. } = *orphan;
        let is_again = matches!(found, Recovered::Again);
        let command = Command::Recover { call: id, attempt, found };
        let mut backoff = store_backoff();
        for _ in 0..RECHECKS_MAX {
            let is_stored = self.report(session, &command).await;
            if !(is_stored && is_again && self.awaits_recheck(session, id).await) {
                return;
            }
            if self.0.closing.has_begun() {
                return;
            }
            self.sleep_before_retry(&mut backoff).await;
        }
        let evidence = "The server ended while this call was running, and its tool has changed since, more \
                        than once while it was looked at.";
        let found = Recovered::Unknown { evidence: evidence.to_owned() };
        self.report(session, &Command::Recover { call: id, attempt, found }).await;
    }

    /// A look that ends, whatever its host does. `None`: the engine is closing.
    async fn look_bounded(&self, orphan: &Orphan, stop: &CancellationToken) -> Option<Recovered> {
        let unknown = |why: &str| {
            let evidence = format!(
                "The server ended while this call was running, and {why}. It may have been carried out, and \
                 it may still run."
            );
            Some(Recovered::Unknown { evidence })
        };
        let permits = self.0.recovering.looks_of(&orphan.call.tool);
        let look = async {
            let _permit = permits.acquire().await;
            // From here, so that no call is given up while others look.
            tokio::select! {
                biased;
                found = AssertUnwindSafe(self.look_for(orphan)).catch_unwind() => Some(found),
                () = self.0.clock.sleep(LOOK_WITHIN) => None,
            }
        };
        let cancelled = async {
            if !orphan.is_stopping {
                stop.cancelled().await;
            }
            self.0.clock.sleep(LOOK_AFTER_CANCEL).await;
        };
        tokio::select! {
            biased;
            // mutant: the-end-waits-for-the-look
            () = self.0.closing.begins() => None,
            found = look => match found {
                Some(Ok(found)) => Some(found),
                Some(Err(_)) => unknown("its tool host panicked when it was asked what became of it"),
                None => unknown("its tool host did not say in time what became of it"),
            },
            () = cancelled => unknown("its run was cancelled before it was known what became of it"),
        }
    }

    async fn look_for(&self, orphan: &Orphan) -> Recovered {
        let Orphan { call, attempt, begun, .. } = orphan;
        let Some(host) = self.0.tools.get(&call.tool) else {
            return Recovered::Unknown {
                evidence: format!("the tool `{}` is not configured any more", call.tool),
            };
        };
        // mutant: begun-a-fourth-time
        let is_last = *begun >= CRASHED_ATTEMPTS_MAX;
        let found = match call.effects {
            // mutant: retry-at-most-once
            Effects::ReadOnly => Recovered::Again,
            Effects::Idempotent if !is_last => Recovered::Again,
            Effects::Idempotent | Effects::Transactional | Effects::AtMostOnce => {
                match host.recover(call, *attempt).await {
                    Recovery::Done(Outcome::Unknown { evidence })
                    // mutant: retry-on-unknown
                    | Recovery::Unknown { evidence } => Recovered::Unknown { evidence },
                    Recovery::Done(outcome) => Recovered::Done(outcome),
                    Recovery::NeverHappened => Recovered::Again,
                }
            }
        };
        if is_last { given_up(call, *begun, found) } else { found }
    }
}

/// What ended the server each time it ran may be the call itself.
fn given_up(call: &Call, begun: u32, found: Recovered) -> Recovered {
    let why = format!(
        "it was begun {begun} times, and each time the server ended before the call did. It may be what \
         ends the server, and is not begun again"
    );
    match (call.effects, found) {
        (Effects::ReadOnly, Recovered::Again) => Recovered::Done(Outcome::Failed(Output::text(
            format!("There is no result: {why}. It only reads, so nothing was changed."),
        ))),
        (Effects::Transactional, Recovered::Again) => {
            Recovered::Done(Outcome::Failed(Output::text(format!("Nothing was changed: {why}."))))
        }
        (Effects::Idempotent, Recovered::Done(Outcome::Succeeded(output))) => {
            Recovered::Done(Outcome::Succeeded(output))
        }
        // That the last attempt did nothing says nothing about those before it.
        (Effects::Idempotent, found) => {
            let last = match found {
                Recovered::Unknown { evidence } => format!(" {evidence}"),
                Recovered::Done(_) => " The last attempt failed.".to_owned(),
                Recovered::Again => String::new(),
            };
            Recovered::Unknown {
                evidence: format!("It is not known how far it came: {why}.{last}"),
            }
        }
        // For these nothing is begun again without proof that it was never begun.
        (_, found) => found,
    }
}

/// What traces say may hold what the tool was given.
fn clean(found: Recovered, scrubber: &Scrubber) -> Recovered {
    match found {
        Recovered::Again => Recovered::Again,
        Recovered::Done(outcome) => Recovered::Done(scrubbed(outcome, scrubber)),
        Recovered::Unknown { evidence } => {
            Recovered::Unknown { evidence: scrubber.scrub_cut(&evidence) }
        }
    }
}
