//! The state of the house at hand: freezing and tokens.

use std::sync::{Arc, RwLock};
use std::time::Duration;

use domain::event::Event;
use domain::house::House;
use domain::id::{CommitId, StreamId};
use domain::person::Actor;
use domain::refusal::Refusal;
use ports::start_gate::StartGate;
use ports::store::{Commit, Entry};

use crate::accounts::Caller;
use crate::limits::STARTS_WITHIN;
use crate::submit::Written;
use crate::{Engine, Error};

/// A copy; commits that depend on it name its version, and the store refuses a stale one.
#[derive(Default)]
pub(crate) struct HouseCache {
    kept: RwLock<Arc<House>>,
    /// Closed exactly while the copy is frozen.
    pub(crate) start_gate: StartGate,
}

impl HouseCache {
    pub(crate) fn get(&self) -> Arc<House> {
        self.kept.read().unwrap_or_else(|poisoned| poisoned.into_inner()).clone()
    }

    fn set(&self, house: Arc<House>) {
        let mut kept = self.kept.write().unwrap_or_else(|poisoned| poisoned.into_inner());
        if kept.version <= house.version {
            match house.frozen {
                Some(_) => self.start_gate.close(),
                None => self.start_gate.open(),
            }
            *kept = house;
        }
    }
}

impl Engine {
    pub(crate) async fn load_house(&self) -> Result<(), Error> {
        let mut house = House::default();
        for entry in self.0.store.load(StreamId::House).await? {
            for event in entry.events.iter() {
                house.apply(event);
            }
        }
        let was_frozen = self.0.house.get().frozen.is_some();
        self.0.house.set(Arc::new(house));
        // Another node has thawed it, and may have died before it woke what waited.
        if was_frozen && self.0.house.get().frozen.is_none() {
            self.start_waking();
        }
        Ok(())
    }

    /// Writes to the house stream what `decide` makes of its state; nothing, if it says so.
    pub(crate) async fn change_house(
        &self,
        actor: &Actor,
        decide: impl Fn(&House) -> Result<Option<Event>, Refusal> + Send,
    ) -> Result<(), Error> {
        for _ in 0..self.0.limits.commit_attempts {
            let house = self.0.house.get();
            let Some(event) = decide(&house)? else {
                // Another node may have changed it: that all is as wanted is only believed of what is on
                // disk, or somebody is told that all is frozen, and it is not.
                if !self.is_house_newer(&house).await? {
                    return Ok(());
                }
                self.load_house().await?;
                continue;
            };
            let now = self.now();
            let commit = Commit {
                id: CommitId::new(now.as_ms(), self.0.chance.bits()),
                stream: StreamId::House,
                expected: house.version,
                house: None,
                events: vec![event.clone()].into(),
                at: now,
                actor: actor.clone(),
                session: None,
                holds: Vec::new(),
                grants: Vec::new(),
                reply: None,
                deliveries: Vec::new(),
                write_before: None,
            };
            let mut next = (*house).clone();
            next.apply(&event);
            let next = Arc::new(next);
            let done = move |engine: &Engine, entry: Entry| {
                engine.0.house.set(next);
                crate::story::tell_house(&entry);
                engine.0.bus.publish(entry);
            };
            match self.write(commit, done).await? {
                Written::Done => return Ok(()),
                _ => self.load_house().await?,
            }
        }
        Err(Error::Unavailable("too many changes at once; try again".into()))
    }

    async fn is_house_newer(&self, than: &House) -> Result<bool, Error> {
        let newer = self.0.store.entries(Some(StreamId::House), than.version, 1).await?;
        Ok(!newer.is_empty())
    }

    /// Whether all is frozen, as the store has it: other nodes may have frozen it. Whoever asks right before
    /// something starts need not ask where nobody else writes.
    pub(crate) async fn is_frozen_now(&self) -> Result<bool, Error> {
        if self.0.store.is_shared() {
            let house = self.0.house.get();
            if self.is_house_newer(&house).await? {
                self.load_house().await?;
            }
        }
        Ok(self.0.house.get().frozen.is_some())
    }

    /// Whether anybody ever logged in.
    pub fn somebody_logged_in(&self) -> bool {
        self.0.house.get().used
    }

    pub fn frozen(&self) -> Option<domain::house::Freeze> {
        self.0.house.get().frozen.clone()
    }

    /// When this returns no call begins on this node before the thaw, whatever its tool host waits for.
    pub async fn freeze(&self, caller: &Caller, reason: &str) -> Result<(), Error> {
        caller.must_be_admin()?;
        let by = caller.actor.clone();
        self.change_house(&by.clone(), |house| {
            Ok(house
                .frozen
                .is_none()
                .then(|| Event::Frozen { by: by.clone(), reason: reason.to_owned() }))
        })
        .await?;
        // The gate is closed. A call that entered it just before has begun when its guard is gone.
        tokio::select! {
            biased;
            () = self.0.house.start_gate.idle() => {}
            () = self.0.clock.sleep(STARTS_WITHIN) => {
                tracing::warn!("a tool host is slow to begin a call that it was given before the freeze");
            }
        }
        Ok(())
    }

    /// Thawing lets everything go on that waited: it is looked at again first.
    pub async fn thaw(&self, caller: &Caller) -> Result<(), Error> {
        caller.must_be_admin()?;
        let by = caller.actor.clone();
        self.change_house(&by.clone(), |house| {
            Ok(house.frozen.is_some().then(|| Event::Thawed { by: by.clone() }))
        })
        .await?;
        self.0.timers.note_delivery();
        self.start_waking_outside();
        self.wake_waiting().await
    }

    fn start_waking(&self) {
        self.0.timers.note_delivery();
        self.start_waking_outside();
        let engine = self.clone();
        self.spawn(async move {
            let mut pause = Duration::from_millis(100);
            while let Err(error) = engine.wake_waiting().await {
                if engine.0.closing.has_begun() {
                    return;
                }
                tracing::warn!(%error, "calls that waited for a thaw cannot go on yet");
                engine.0.clock.sleep(pause).await;
                pause = (pause * 2).min(Duration::from_secs(5));
            }
        });
    }

    /// Looks again at every session in which something waits that is not a person.
    async fn wake_waiting(&self) -> Result<(), Error> {
        let mut after = None;
        loop {
            let owing = self.0.store.owing(after, 500).await?;
            let Some((last, _)) = owing.last() else { return Ok(()) };
            after = Some(*last);
            for (session, _) in owing {
                // What is remembered may be older than the row that says what is owed.
                self.fresh_session(session).await?;
                // Also calls of a node that died, which could not start again while it was frozen. Nobody
                // waits for what hosts find out about them.
                self.recover_session(session).await?;
            }
        }
    }

    /// Writes down under which policy things happen from here on, if it is another than before.
    pub(crate) async fn note_policy(&self) -> Result<(), Error> {
        let (policy, node) = (self.0.policy.version(), self.0.node);
        self.change_house(&Actor::Runtime, |house| {
            Ok((house.policy != Some(policy)).then_some(Event::PolicyInForce { policy, node }))
        })
        .await
    }
}
