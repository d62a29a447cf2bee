//! The global state: freeze and thaw, and the policy in force.

use std::sync::Arc;
use std::time::Duration;

use domain::global_state::{GlobalCommand, GlobalState};
use domain::id::SessionId;
use domain::person::Actor;
use domain::session::Session;
use futures_util::{StreamExt as _, stream};

use crate::accounts::Caller;
use crate::limits::{LOOK_AT_OTHERS_EVERY, SEEN_BY_ALL_WITHIN, STARTS_WITHIN, WAKES_AT_ONCE};
use crate::retry::store_backoff;
use crate::stream::GlobalId;
use crate::{Engine, Error};

/// How long a thaw waits until everything was looked at.
const WAKES_WITHIN: Duration = Duration::from_secs(2);

impl Engine {
    /// The global state as this node last knew it. Commits that depend on it name its version, and the store
    /// refuses a stale one.
    pub(crate) fn global_state(&self) -> Arc<GlobalState> {
        self.0.global.last_known(GlobalId).map(|global| global.state().clone()).unwrap_or_default()
    }

    pub(crate) async fn change_global(
        &self,
        actor: &Actor,
        command: GlobalCommand,
    ) -> Result<(), Error> {
        self.submit_to::<GlobalState>(GlobalId, actor, &command, None).await.map(drop)
    }

    /// Whether all is frozen, as the store has it: other nodes may have frozen it. Asked right before
    /// something starts; where no other node writes, what is known here is all there is.
    pub(crate) async fn is_frozen_now(&self) -> Result<bool, Error> {
        let global = match self.0.store.is_shared() {
            true => self.refresh_global().await?,
            false => self.global_state(),
        };
        Ok(global.frozen.is_some())
    }

    /// Whether anybody ever logged in.
    pub fn somebody_logged_in(&self) -> bool {
        self.global_state().used
    }

    pub fn frozen(&self) -> Option<domain::global_state::Freeze> {
        self.global_state().frozen.clone()
    }

    /// When this returns no call begins on any living node before the thaw, whatever its tool host waits for.
    pub async fn freeze(&self, caller: &Caller, reason: &str) -> Result<(), Error> {
        caller.must_be_admin()?;
        let by = caller.actor.clone();
        let reason = reason.to_owned();
        self.change_global(&caller.actor, GlobalCommand::Freeze { by, reason }).await?;
        // The gate is closed. A call that entered it just before has begun when its guard is gone.
        tokio::select! {
            biased;
            // mutant: freeze-does-not-wait-for-starts
            () = self.0.start_gate.idle() => {}
            () = self.0.clock.sleep(STARTS_WITHIN) => {
                tracing::warn!("a tool host is slow to begin a call that it was given before the freeze");
            }
        }
        self.frozen_everywhere(self.global_state().version).await
    }

    /// Waits until every other node acts by it. One that is not heard of is taken for gone before this gives up.
    async fn frozen_everywhere(&self, version: u64) -> Result<(), Error> {
        self.0.store.note_global_seen(version);
        let all = async {
            while !self.0.store.all_have_seen(version).await? {
                self.0.clock.sleep(LOOK_AT_OTHERS_EVERY).await;
            }
            Ok::<(), Error>(())
        };
        tokio::select! {
            biased;
            seen = all => seen,
            () = self.0.clock.sleep(SEEN_BY_ALL_WITHIN) => Err(Error::Unavailable(
                "it is frozen, but not every node has confirmed that yet; try again".into(),
            )),
        }
    }

    /// Thawing lets everything go on that waited: it is looked at again first. A session with a slow commit does
    /// not hold the reply up for long.
    pub async fn thaw(&self, caller: &Caller) -> Result<(), Error> {
        caller.must_be_admin()?;
        let by = caller.actor.clone();
        let was_frozen = self.frozen().is_some();
        self.change_global(&caller.actor, GlobalCommand::Thaw { by }).await?;
        // Otherwise the follow-up of the thaw does it.
        if !was_frozen {
            self.start_waking();
        }
        let mut waking = self.0.waking.subscribe();
        tokio::select! {
            biased;
            _ = waking.wait_for(|tasks| *tasks == 0) => {}
            () = self.0.clock.sleep(WAKES_WITHIN) => {}
        }
        Ok(())
    }

    pub(crate) fn start_waking(&self) {
        self.0.timers.note_delivery();
        self.start_waking_outside();
        let engine = self.clone();
        self.0.waking.send_modify(|tasks| *tasks += 1);
        self.spawn(async move {
            let mut backoff = store_backoff();
            while let Err(error) = engine.wake_waiting().await {
                if engine.0.closing.has_begun() {
                    break;
                }
                tracing::warn!(%error, "calls that waited for a thaw cannot go on yet");
                engine.sleep_before_retry(&mut backoff).await;
            }
            engine.0.waking.send_modify(|tasks| *tasks -= 1);
        });
    }

    /// Looks again at every session in which something waits that is not a person.
    async fn wake_waiting(&self) -> Result<(), Error> {
        let mut after = None;
        loop {
            let owing = self.0.store.sessions_with_work(after, 500).await?;
            let Some((last, _)) = owing.last() else { return Ok(()) };
            after = Some(*last);
            // Side by side: a session with a slow commit holds up no other.
            let waking = owing.into_iter().map(|(session, _)| self.wake(session));
            let woken: Vec<_> =
                stream::iter(waking).buffer_unordered(WAKES_AT_ONCE).collect().await;
            woken.into_iter().collect::<Result<(), Error>>()?;
        }
    }

    pub(crate) async fn wake(&self, session: SessionId) -> Result<(), Error> {
        // What is remembered may be older than the row that says what is owed.
        self.refresh::<Session>(session).await?;
        // Also calls of a node that died, which could not start again while it was frozen. This does not wait
        // for what hosts find out about them.
        self.recover_session(session).await
    }

    /// Writes down under which policy things happen from here on, if it is another than before.
    pub(crate) async fn note_policy(&self) -> Result<(), Error> {
        let (policy, node) = (self.0.policy.version(), self.0.node);
        self.change_global(&Actor::Runtime, GlobalCommand::UsePolicy { policy, node }).await
    }
}
