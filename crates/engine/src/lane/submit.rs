//! The way in, for every stream: take the lane's lock, load, decide, commit. When another node was first, decide again.

use std::sync::Arc;

use domain::digest::Digest;
use domain::external_hold::{ExternalHold, ExternalHoldCommand};
use domain::global_state::GlobalState;
use domain::id::{CommitId, HoldId, SessionId};
use domain::person::Actor;
use domain::refusal::Refusal;
use domain::session::{Command, Session};
use domain::time::Timestamp;
use ports::durable::{CommitParts, Durable, PreparedCommit};
use ports::store::KeptReply;

use crate::calls::changed_tools::ToolRechecks;
use crate::lane::commit::{CommitResult, WhyDecideAgain};
use crate::lane::lanes::LaneGuard;
use crate::stream::{
    DecisionBasis, ExternalHoldInput, GlobalId, SessionCommand, Stream, StreamDecision,
};
use crate::{Engine, Error};

/// Commits that are read at a time when another node was first.
const NEWER_PAGE: usize = 100;

/// How to keep a reply under an idempotency key, in the same transaction as the change.
pub struct Keep<'a, T: ?Sized> {
    pub caller: String,
    pub key: String,
    /// Of method, path and body.
    pub request: Digest,
    /// The reply, as a status and a body.
    pub render: &'a (dyn Fn(&T) -> (u16, Vec<u8>) + Send + Sync),
}

impl<T: ?Sized> Clone for Keep<'_, T> {
    fn clone(&self) -> Self {
        let (caller, key) = (self.caller.clone(), self.key.clone());
        Keep { caller, key, request: self.request, render: self.render }
    }
}

impl<T: ?Sized> Keep<'_, T> {
    /// The same key for a reply that is rendered from something else.
    pub(crate) fn rendered_by<'b, U: ?Sized>(
        &self,
        render: &'b (dyn Fn(&U) -> (u16, Vec<u8>) + Send + Sync),
    ) -> Keep<'b, U> {
        let (caller, key) = (self.caller.clone(), self.key.clone());
        Keep { caller, key, request: self.request, render }
    }

    fn reply(&self, value: &T, at: Timestamp) -> KeptReply {
        let (status, body) = (self.render)(value);
        KeptReply {
            caller: self.caller.clone(),
            key: self.key.clone(),
            request: self.request,
            status,
            body,
            at,
        }
    }
}

/// A stream after a command, and what to tell the caller.
pub(crate) struct Submitted<S: Stream> {
    pub(crate) state: Arc<S>,
    pub(crate) reply: S::Reply,
}

impl Engine {
    /// A command for a session. Before a new attempt of a call, its tool looks at it if the tool has changed.
    pub(crate) async fn submit(
        &self,
        id: SessionId,
        actor: &Actor,
        command: &Command,
        keep: Option<&Keep<'_, Submitted<Session>>>,
    ) -> Result<Submitted<Session>, Error> {
        let rechecks = self.recheck_before_attempt(id, command).await?;
        self.submit_with(id, actor, command, keep, &rechecks).await
    }

    /// The same after changed tools have looked at the session's calls.
    pub(crate) async fn submit_with(
        &self,
        id: SessionId,
        actor: &Actor,
        command: &Command,
        keep: Option<&Keep<'_, Submitted<Session>>>,
        rechecks: &ToolRechecks,
    ) -> Result<Submitted<Session>, Error> {
        self.submit_to(id, actor, &SessionCommand::Do { command, rechecks }, keep).await
    }

    /// A command for a hold that is a stream of its own.
    pub(crate) async fn submit_external(
        &self,
        id: HoldId,
        actor: &Actor,
        command: &ExternalHoldCommand,
        keep: Option<&Keep<'_, Submitted<ExternalHold>>>,
    ) -> Result<Submitted<ExternalHold>, Error> {
        self.submit_to(id, actor, &ExternalHoldInput::Do(command), keep).await
    }

    /// Takes the lock of the lane, loads, decides and commits. Decides again after a conflict, a freeze or a passed deadline.
    pub(crate) async fn submit_to<S: Stream>(
        &self,
        id: S::Id,
        actor: &Actor,
        command: &S::Command<'_>,
        keep: Option<&Keep<'_, Submitted<S>>>,
    ) -> Result<Submitted<S>, Error> {
        let mut guard = S::lanes(self).enter(id).await;
        for _ in 0..self.0.limits.commit_attempts {
            let before = self.load_in(&mut guard).await?;
            let basis = DecisionBasis { global: self.global_state(), now: self.now() };
            let StreamDecision { decided, reply } =
                S::decide(self, id, before.as_ref().map(Durable::state), command, &basis);
            let Some(decided) = decided else {
                // Another node may have changed it: that there is nothing to do is believed only of what is
                // on disk.
                if self.read_newer(&mut guard).await? {
                    continue;
                }
                let reply = reply?;
                let state = before.ok_or(Refusal::Overtaken)?.state().clone();
                return Ok(Submitted { state, reply });
            };
            let (events, next) = (decided.events(), decided.next().clone());
            if events.is_empty() {
                if self.read_newer(&mut guard).await? {
                    continue;
                }
                // Work that no task does yet, for instance after a restart, is not forgotten.
                before.iter().for_each(|before| S::resume(self, before));
                let state = before.map_or(next, |before| before.state().clone());
                return Ok(Submitted { state, reply: reply? });
            }
            S::before_commit(self, events, &next).await;
            let rows = S::rows(self, before.as_deref(), events, &next, &basis);
            let kept = match (&reply, keep) {
                (Ok(reply), Some(keep)) => {
                    let submitted = Submitted { state: next.clone(), reply: reply.clone() };
                    Some(keep.reply(&submitted, basis.now))
                }
                _ => None,
            };
            let parts = CommitParts {
                id: CommitId::new(basis.now.as_ms(), self.0.rng.bits()),
                rows: rows.stream,
                global_version: rows.relies_on_global.then_some(basis.global.version),
                actor: actor.clone(),
                // mutant: reply-not-kept
                reply: kept,
                outbox: rows.outbox,
                write_before: rows.write_before,
            };
            let Ok(commit) = PreparedCommit::decided(before.as_ref(), decided, parts) else {
                guard.mark_stale();
                continue;
            };
            // mutant: acknowledged-from-memory
            match self.commit_and_follow_up(guard, commit, before).await? {
                CommitResult::Done => return Ok(Submitted { state: next, reply: reply? }),
                CommitResult::Replayed => return Err(self.replay(keep).await),
                CommitResult::DecideAgain(again, why) => {
                    guard = again;
                    match why {
                        WhyDecideAgain::Conflict => guard.mark_stale(),
                        WhyDecideAgain::GlobalStateChanged => drop(self.refresh_global().await?),
                        WhyDecideAgain::Late => {}
                    }
                }
            }
        }
        Err(Error::Unavailable(format!("too many changes to {id} at once; try again")))
    }

    /// The kept reply that made a commit fail: the caller gets it again, if they ask for the same.
    async fn replay<T: ?Sized>(&self, keep: Option<&Keep<'_, T>>) -> Error {
        let Some(keep) = keep else { return Error::Unavailable("no reply was to be kept".into()) };
        match self.kept(&keep.caller, &keep.key, keep.request).await {
            Ok(Some(reply)) => Error::Replayed(Box::new(reply)),
            Ok(None) => Error::Unavailable("the earlier reply is gone; try again".into()),
            Err(error) => error,
        }
    }

    /// The reply kept under an idempotency key, if this is the same request.
    pub async fn kept(
        &self,
        caller: &str,
        key: &str,
        request: Digest,
    ) -> Result<Option<KeptReply>, Error> {
        match self.0.store.reply(caller, key).await? {
            Some(reply) if reply.request == request => Ok(Some(reply)),
            Some(_) => Err(Error::KeyReused),
            None => Ok(None),
        }
    }

    pub(crate) async fn load_session(&self, id: SessionId) -> Result<Arc<Session>, Error> {
        let session = self.load::<Session>(id).await?.map(|session| session.state().clone());
        session.ok_or_else(|| Refusal::NotFound { what: "session" }.into())
    }

    /// The newest state that this node knows, or else what is on disk.
    pub(crate) async fn load<S: Stream>(&self, id: S::Id) -> Result<Option<Durable<S>>, Error> {
        let lanes = S::lanes(self);
        if let Some(known) = lanes.newest(id) {
            return Ok(Some(known));
        }
        match lanes.try_enter(id) {
            Some(mut guard) => self.load_in(&mut guard).await,
            // It is being loaded, or a commit is in flight: nothing is remembered of this look.
            None => Ok(Durable::load(&*self.0.store, S::stream_id(id)).await?),
        }
    }

    async fn load_in<S: Stream>(
        &self,
        guard: &mut LaneGuard<S>,
    ) -> Result<Option<Durable<S>>, Error> {
        if let Some(known) = guard.newest() {
            return Ok(Some(known));
        }
        let before = guard.last_known();
        let (store, stream) = (&*self.0.store, S::stream_id(guard.id()));
        let read = match &before {
            Some(before) => Some(before.read_on(store, stream, NEWER_PAGE).await?),
            None => Durable::load(store, stream).await?,
        };
        let Some(read) = read else { return Ok(None) };
        read.becomes_newest(self);
        guard.set(read.clone());
        if let Some(before) = before.filter(|before| before.version() < read.version()) {
            S::changed_elsewhere(self, &before, &read);
        }
        Ok(Some(read))
    }

    /// Reads what other nodes have written since, and says whether there was anything. Where no other node
    /// writes, what is known here is all there is.
    async fn read_newer<S: Stream>(&self, guard: &mut LaneGuard<S>) -> Result<bool, Error> {
        let version = |state: Option<Durable<S>>| state.map_or(0, |state| state.version());
        let known = version(guard.last_known());
        if self.0.store.is_shared() {
            guard.mark_stale();
        }
        Ok(version(self.load_in(guard).await?) > known)
    }

    /// The state on disk now, whatever is remembered; work that it asks for is started.
    pub(crate) async fn refresh<S: Stream>(&self, id: S::Id) -> Result<Option<Durable<S>>, Error> {
        let mut guard = S::lanes(self).enter(id).await;
        self.read_newer(&mut guard).await?;
        let newest = self.load_in(&mut guard).await?;
        newest.iter().for_each(|newest| S::resume(self, newest));
        Ok(newest)
    }

    pub(crate) async fn refresh_global(&self) -> Result<Arc<GlobalState>, Error> {
        let global = self.refresh::<GlobalState>(GlobalId).await?;
        Ok(global.map(|global| global.state().clone()).unwrap_or_default())
    }
}
