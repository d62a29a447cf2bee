//! One commit on its way, and all that follows from it: the lock of the lane travels with it. A caller may
//! hang up at any moment; what is on disk is followed up all the same.

use std::panic::{AssertUnwindSafe, catch_unwind};

#[cfg(feature = "failpoints")]
use domain::id::StreamId;
use ports::durable::{Durable, PreparedCommit};
use ports::store::{CommitError, Committed, Entry};
use tokio::sync::oneshot;
use tokio_util::task::task_tracker::TaskTrackerToken;

use crate::lane::lanes::LaneGuard;
use crate::retry::store_backoff;
use crate::stream::Stream;
use crate::{Engine, Error};

/// What became of a commit.
pub(crate) enum CommitResult<S: Stream> {
    /// It is on disk, and followed up.
    Done,
    /// Nothing was written: decide again on what is there now.
    DecideAgain(LaneGuard<S>, WhyDecideAgain),
    /// The idempotency key was used already.
    Replayed,
}

/// Why to decide again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WhyDecideAgain {
    /// Another node was first.
    Conflict,
    /// All was frozen or thawed meanwhile.
    GlobalStateChanged,
    /// Its deadline has passed.
    Late,
}

/// A commit that was handed to the store and is not settled yet, with everything that its follow-up needs.
struct InFlight<S: Stream> {
    engine: Engine,
    /// What it was decided on.
    before: Option<Durable<S>>,
    entry: Entry,
    /// Gone once it is settled.
    pending: Option<Pending<S>>,
    /// The engine waits for it when it closes.
    _counted: TaskTrackerToken,
}

struct Pending<S: Stream> {
    guard: LaneGuard<S>,
    /// A caller who has gone needs no answer.
    result_sender: oneshot::Sender<Result<CommitResult<S>, Error>>,
}

impl Engine {
    /// Queues the commit together with the lock, and waits for its result. The follow-up runs even if the caller hangs up.
    pub(crate) async fn commit_and_follow_up<S: Stream>(
        &self,
        guard: LaneGuard<S>,
        commit: PreparedCommit<S>,
        before: Option<Durable<S>>,
    ) -> Result<CommitResult<S>, Error> {
        let entry = commit.entry();
        #[cfg(feature = "failpoints")]
        crate::lane::failpoint_names::before_commit(&entry);
        let (result_sender, result_receiver) = oneshot::channel();
        let in_flight = InFlight {
            engine: self.clone(),
            before,
            entry,
            pending: Some(Pending { guard, result_sender }),
            _counted: self.0.tasks.token(),
        };
        commit.enqueue(&*self.0.store, move |result| in_flight.on_result(result));
        let unsettled = || Error::Unavailable("the change could not be made; try again".into());
        result_receiver.await.unwrap_or_else(|_| Err(unsettled()))
    }

    /// After a failure nobody knows what is on disk: it is read as soon as that is possible, and the work that
    /// it asks for is started.
    fn look_again<S: Stream>(&self, id: S::Id) {
        // A deadline may be on disk that was not noted, or a callback to send.
        self.0.timers.note(Some(self.now()));
        self.0.timers.note_delivery();
        self.0.bus.unsure(S::stream_id(id));
        let engine = self.clone();
        self.spawn(async move {
            let mut backoff = store_backoff();
            while !engine.0.closing.has_begun() {
                match engine.refresh::<S>(id).await {
                    Ok(_) | Err(Error::Refused(_)) => return,
                    Err(_) => engine.sleep_before_retry(&mut backoff).await,
                }
            }
        });
    }
}

impl<S: Stream> InFlight<S> {
    fn on_result(mut self, result: Result<(Durable<S>, Committed), CommitError>) {
        let Some(pending) = self.pending.take() else { return };
        let Pending { guard, result_sender } = pending;
        let written = match result {
            Ok((next, committed)) => {
                self.follow_up_whole(guard, &next, committed);
                Ok(CommitResult::Done)
            }
            Err(CommitError::Conflict { .. }) => {
                Ok(CommitResult::DecideAgain(guard, WhyDecideAgain::Conflict))
            }
            Err(CommitError::GlobalStateChanged) => {
                Ok(CommitResult::DecideAgain(guard, WhyDecideAgain::GlobalStateChanged))
            }
            Err(CommitError::TooLate) => Ok(CommitResult::DecideAgain(guard, WhyDecideAgain::Late)),
            Err(CommitError::ReplyKept) => Ok(CommitResult::Replayed),
            Err(CommitError::Store(error)) => Err(error.into()),
            Err(CommitError::Unknown(why)) => {
                self.pending = Some(Pending { guard, result_sender });
                return self.find_out(&why);
            }
        };
        drop(result_sender.send(written));
    }

    /// If a part of it fails badly, the state is read again and its work is taken up.
    fn follow_up_whole(&mut self, guard: LaneGuard<S>, next: &Durable<S>, committed: Committed) {
        let id = guard.id();
        let followed = catch_unwind(AssertUnwindSafe(|| self.follow_up(guard, next, committed)));
        if followed.is_err() {
            tracing::error!(stream = %self.entry.stream, "what follows from a commit has failed");
            self.engine.look_again::<S>(id);
        }
    }

    /// In this order: a task that is woken must find the new state.
    fn follow_up(&mut self, mut guard: LaneGuard<S>, next: &Durable<S>, committed: Committed) {
        let engine = &self.engine;
        self.entry.global = committed.global;
        #[cfg(feature = "failpoints")]
        let is_walked = matches!(self.entry.stream, StreamId::Session(_));
        #[cfg(feature = "failpoints")]
        crate::lane::failpoint_names::committed(&self.entry);
        ports::failpoint!("followup.before_cache", if is_walked);
        next.becomes_newest(engine);
        guard.set(next.clone());
        next.tell_story(&self.entry);
        ports::failpoint!("followup.cached", if is_walked);
        // Wakes the followers of the log: SSE streams, waits, chats.
        engine.0.bus.publish(&self.entry);
        ports::failpoint!("followup.published", if is_walked);
        S::follow_up(engine, next, &self.entry);
        ports::failpoint!("followup.dispatched", if is_walked);
    }

    /// The commit may be on disk: asks the store, and answers the caller only then.
    fn find_out(mut self, why: &str) {
        let Some(Pending { mut guard, result_sender }) = self.pending.take() else { return };
        let stream = self.entry.stream;
        tracing::warn!(%stream, %why, "the fate of a commit is unknown: reading again");
        guard.mark_stale();
        let engine = self.engine.clone();
        engine.clone().spawn(async move {
            let before = self.before.clone();
            let found = Durable::look_up(&*engine.0.store, before.as_ref(), &self.entry).await;
            let written = match found {
                Ok(Some((next, committed))) => {
                    self.follow_up_whole(guard, &next, committed);
                    Ok(CommitResult::Done)
                }
                // mutant: commit-unknown-is-success
                Ok(None) => Ok(CommitResult::DecideAgain(guard, WhyDecideAgain::Conflict)),
                Err(error) => {
                    let id = guard.id();
                    drop(guard);
                    engine.look_again::<S>(id);
                    Err(error.into())
                }
            };
            drop(result_sender.send(written));
        });
    }
}

impl<S: Stream> Drop for InFlight<S> {
    /// The store has dropped it without a word.
    fn drop(&mut self) {
        let Some(pending) = self.pending.take() else { return };
        let in_flight = InFlight {
            engine: self.engine.clone(),
            before: self.before.clone(),
            entry: self.entry.clone(),
            pending: Some(pending),
            _counted: self._counted.clone(),
        };
        in_flight.find_out("the store stopped");
    }
}
