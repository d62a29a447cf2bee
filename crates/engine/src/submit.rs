//! The way in: let pass what is on its way, load, decide, commit; when somebody else was first, decide again.

use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use domain::context::{Context, Renewal};
use domain::digest::Digest;
use domain::event::Event;
use domain::hold::Question;
use domain::house::House;
use domain::id::{CallId, CommitId, SessionId, StreamId};
use domain::person::Actor;
use domain::refusal::Refusal;
use domain::session::{Command, Decided, Reply, Session};
use domain::time::Timestamp;
use futures_util::FutureExt as _;
use ports::store::{Commit, CommitError, Committed, Entry, KeptReply, SessionRow};

use crate::renew::Looks;
use crate::tools::ToolsNow;
use crate::underway::Underway;
use crate::{Engine, Error};

/// Commits that are read at a time by whoever was overtaken.
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
    pub(crate) fn reply(&self, value: &T, at: Timestamp) -> KeptReply {
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

/// A session after a command, and what to tell whoever gave it.
pub(crate) struct Submitted {
    pub(crate) session: Arc<Session>,
    pub(crate) reply: Reply,
}

impl Engine {
    pub(crate) async fn submit(
        &self,
        id: SessionId,
        actor: &Actor,
        command: &Command,
        keep: Option<&Keep<'_, Submitted>>,
    ) -> Result<Submitted, Error> {
        self.submit_with(id, actor, command, keep, &Looks::default()).await
    }

    /// The same, for whoever had changed tools look at the session's calls.
    pub(crate) async fn submit_with(
        &self,
        id: SessionId,
        actor: &Actor,
        command: &Command,
        keep: Option<&Keep<'_, Submitted>>,
        looks: &Looks,
    ) -> Result<Submitted, Error> {
        self.let_pass(id).await;
        let mut session = self.load_session(id).await?;
        for _ in 0..self.0.limits.commit_attempts {
            let house = self.0.house.get();
            let now = self.now();
            let tools = self.0.tools.now();
            let mut renewals = looks.of(&session, &tools);
            renewals.extend(self.looks_for(&session, &tools, command).await.of(&session, &tools));
            let decided = self.decide(&session, &house, (&tools, &renewals), command, now);
            if decided.events.is_empty() {
                // What is asked about may be on disk and not in memory yet: a refusal is only
                // believed if nothing newer is there.
                if decided.reply.is_err() {
                    let newer = self.newer(&session).await?;
                    if newer.version > session.version {
                        session = newer;
                        continue;
                    }
                }
                // Work that nobody took up yet, for instance after a restart, is not forgotten.
                self.dispatch(&session);
                let reply = decided.reply?;
                return Ok(Submitted { session, reply });
            }
            let Decided { events, next, reply } = decided;
            if starts_calls(&events) {
                // By its address: most commands start nothing.
                Box::pin(self.announce_starts(&events, &next)).await;
            }
            let next = Arc::new(next);
            let kept = match (&reply, keep) {
                (Ok(reply), Some(keep)) => {
                    let submitted = Submitted { session: next.clone(), reply: reply.clone() };
                    Some(keep.reply(&submitted, now))
                }
                _ => None,
            };
            let commit = Commit {
                id: CommitId::new(now.as_ms(), self.0.chance.bits()),
                stream: StreamId::Session(id),
                expected: session.version,
                // What is decided while all is frozen waits for the thaw; a thaw meanwhile has passed it by.
                house: (starts_calls(&events)
                    || asks_to_perform(&events)
                    || house.frozen.is_some())
                .then_some(house.version),
                session: Some(self.row(&next)),
                holds: next.holds.changed_since(&session.holds).cloned().collect(),
                grants: next.grants.changed_since(&session.grants).cloned().collect(),
                write_before: self.write_before(&next, &events),
                events: events.into(),
                at: now,
                actor: actor.clone(),
                reply: kept,
                deliveries: Vec::new(),
            };
            let after = next.clone();
            let done = move |engine: &Engine, entry: Entry| {
                // In this order: whoever is woken must find the new state.
                ports::failpoint!("followup.before_cache");
                crate::story::tell_session(&entry, &after);
                engine.0.cache.put(after.clone());
                ports::failpoint!("followup.cached");
                engine.0.bus.publish(entry);
                ports::failpoint!("followup.published");
                engine.0.timers.note(after.due_at());
                engine.dispatch(&after);
                ports::failpoint!("followup.dispatched");
            };
            match self.write(commit, done).await? {
                Written::Done => return Ok(Submitted { session: next, reply: reply? }),
                Written::Overtaken => session = self.newer(&session).await?,
                Written::Replayed => return Err(self.replay(keep).await),
            }
        }
        Err(Error::Unavailable("too many changes to this session at once; try again".into()))
    }

    pub(crate) fn decide(
        &self,
        session: &Session,
        house: &House,
        (tools, renewals): (&ToolsNow<'_>, &BTreeMap<CallId, Renewal>),
        command: &Command,
        now: Timestamp,
    ) -> Decided {
        let agent = self.0.agents.get(&session.agent);
        let tool_of = |name: &str| tools.tool(name);
        let chance = || self.0.chance.bits();
        let context = Context {
            now,
            node: self.0.node,
            frozen: house.frozen.as_ref().map(|freeze| freeze.reason.as_str()),
            people: &self.0.people,
            policy: &self.0.policy,
            closing: self.0.closing.has_begun(),
            tool_of: &tool_of,
            renewals,
            run_as_decided: agent.is_some_and(|agent| agent.run_as_decided),
            budgets: agent.map(|agent| agent.budgets).unwrap_or_default(),
            while_pending: agent.map(|agent| agent.while_pending).unwrap_or_default(),
            expires_ms: self.expires_ms(session.home.as_ref()),
            chance: &chance,
        };
        session.decide(command, &context)
    }

    /// Commits, and does what follows from that. A caller may hang up at any moment; what is on disk
    /// must be followed up all the same, so nobody can hang up on this part of it.
    pub(crate) async fn write(
        &self,
        commit: Commit,
        done: impl FnOnce(&Engine, Entry) + Send + 'static,
    ) -> Result<Written, Error> {
        let engine = self.clone();
        // By its address, through all that waits for it.
        let commit = Box::new(commit);
        let (stream, leads_to) = (commit.stream, commit.expected + 1);
        let mut underway = match stream {
            StreamId::Session(id) => self.0.changing.begin(id),
            _ => None,
        };
        let work = async move {
            let _bringing = match stream {
                StreamId::Session(id) => Some(engine.0.cache.bring(id)),
                _ => None,
            };
            let written = engine.write_now(commit, &mut underway, done);
            let written = AssertUnwindSafe(written).catch_unwind().await;
            let result = written.unwrap_or_else(|_| {
                Err(Error::Unavailable("the change could not be made; try again".into()))
            });
            if result.is_err() {
                engine.look_again(stream, leads_to);
            }
            result
        };
        self.unstoppable(work).await
    }

    /// Whatever fate the commit met, this finds out before it returns.
    async fn write_now(
        &self,
        commit: Box<Commit>,
        underway: &mut Option<Underway>,
        done: impl FnOnce(&Engine, Entry),
    ) -> Result<Written, Error> {
        let (id, stream, expected) = (commit.id, commit.stream, commit.expected);
        let mut entry = Entry {
            id,
            stream,
            first: expected + 1,
            global: 0,
            at: commit.at,
            actor: commit.actor.clone(),
            events: commit.events.clone(),
        };
        #[cfg(feature = "failpoints")]
        crate::step::before_commit(stream, &entry.events);
        let committed = match self.0.store.commit(*commit).await {
            Ok(committed) => committed,
            Err(CommitError::Conflict { .. } | CommitError::TooLate) => {
                return Ok(Written::Overtaken);
            }
            Err(CommitError::HouseMoved) => {
                self.load_house().await?;
                return Ok(Written::Overtaken);
            }
            Err(CommitError::ReplyKept) => return Ok(Written::Replayed),
            Err(CommitError::Unknown(why)) => {
                tracing::warn!(%stream, %why, "the fate of a commit is unknown: reading again");
                // It may be on disk. Only the store knows; nothing is acknowledged before it said so.
                let after = self.0.store.entries(Some(stream), expected, 1).await?;
                match after.into_iter().next() {
                    Some(found) if found.id == id => {
                        let version = found.first + found.events.len() as u64 - 1;
                        Committed { version, global: found.global }
                    }
                    _ => return Ok(Written::Overtaken),
                }
            }
            Err(CommitError::Store(error)) => return Err(error.into()),
        };
        entry.global = committed.global;
        #[cfg(feature = "failpoints")]
        crate::step::committed(stream, &entry.events);
        // First, so that whoever can see what it came to has nothing to wait for.
        drop(underway.take());
        done(self, entry);
        Ok(Written::Done)
    }

    /// After a failure nobody knows what is on disk: what was remembered is forgotten, and what the
    /// session owes is taken up once the store can be read again.
    fn look_again(&self, stream: StreamId, leads_to: u64) {
        // A deadline may be on disk that nobody noted, or word to be carried.
        self.0.timers.note(Some(self.now()));
        self.0.timers.note_delivery();
        self.0.bus.unsure(stream);
        let StreamId::Session(id) = stream else { return };
        self.0.cache.doubt(id, leads_to);
        let engine = self.clone();
        self.spawn(async move {
            let mut pause = Duration::from_millis(100);
            while !engine.0.closing.has_begun() {
                match engine.fresh_session(id).await {
                    Ok(session) => return engine.dispatch(&session),
                    Err(Error::Refused(_)) => return,
                    Err(_) => engine.0.clock.sleep(pause).await,
                }
                pause = (pause * 2).min(Duration::from_secs(5));
            }
        });
    }

    /// The kept reply that made a commit fail: the caller gets it again, if they ask for the same.
    pub(crate) async fn replay<T: ?Sized>(&self, keep: Option<&Keep<'_, T>>) -> Error {
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
        if let Some(session) = self.0.cache.get(id) {
            return Ok(session);
        }
        let _bringing = self.0.cache.bring(id);
        let entries = self.0.store.load(StreamId::Session(id)).await?;
        if entries.is_empty() {
            return Err(Refusal::NotFound { what: "session" }.into());
        }
        let mut session = Session::begin(id);
        for entry in &entries {
            for event in entry.events.iter() {
                session.apply(event, entry.at);
            }
        }
        let session = Arc::new(session);
        self.0.cache.put(session.clone());
        Ok(session)
    }

    /// The session as it is after something that happened meanwhile. Whoever was first has mostly put
    /// it where it is found; otherwise only what is new is read.
    async fn newer(&self, session: &Session) -> Result<Arc<Session>, Error> {
        let id = session.id;
        // Winner and loser of one transaction are told at the same moment, and the winner may not have
        // come to it yet.
        self.let_pass(id).await;
        let cached = self.0.cache.get(id);
        if let Some(newer) = cached.filter(|found| found.version > session.version) {
            return Ok(newer);
        }
        self.renewed(session).await
    }

    /// The session as it is on disk now, whatever is remembered.
    pub(crate) async fn fresh_session(&self, id: SessionId) -> Result<Arc<Session>, Error> {
        self.renewed(&*self.load_session(id).await?).await
    }

    /// The same for whoever has it as it was. Whoever looks next finds it so, too.
    async fn renewed(&self, session: &Session) -> Result<Arc<Session>, Error> {
        let _bringing = self.0.cache.bring(session.id);
        let newest = Arc::new(self.read_on(session).await?);
        self.0.cache.put(newest.clone());
        Ok(newest)
    }

    /// The same, and nothing is remembered of it.
    pub(crate) async fn read_on(&self, session: &Session) -> Result<Session, Error> {
        let stream = StreamId::Session(session.id);
        let mut newer = session.clone();
        loop {
            let entries = self.0.store.entries(Some(stream), newer.version, NEWER_PAGE).await?;
            let is_all = entries.len() < NEWER_PAGE;
            for entry in &entries {
                let seen = newer.version.saturating_sub(entry.first - 1) as usize;
                for event in entry.events.iter().skip(seen) {
                    newer.apply(event, entry.at);
                }
            }
            if is_all {
                return Ok(newer);
            }
        }
    }

    pub(crate) fn row(&self, session: &Session) -> SessionRow {
        SessionRow::of(session, self.0.node)
    }
}

/// What became of a commit.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Written {
    /// It is on disk, and followed up.
    Done,
    /// Somebody else was first: decide again.
    Overtaken,
    /// The idempotency key was used already.
    Replayed,
}

/// A call that a client runs begins when it is shown.
fn asks_to_perform(events: &[Event]) -> bool {
    events.iter().any(|event| match event {
        Event::HoldOpened { hold } => matches!(hold.question, Question::Perform { .. }),
        _ => false,
    })
}

fn starts_calls(events: &[Event]) -> bool {
    events.iter().any(|event| matches!(event, Event::CallStarted { .. }))
}
