//! States that a store has, and calls that may run because of it.
//!
//! A state in memory proves nothing: any crate can fill a [`Session`] with events of its own making, or keep
//! what a decision would have led to. [`Durable`] is a state that came out of a [`Store`]: it was read from the
//! store's entries, or the store acknowledged the commit of its last events. Only the functions of this module
//! make one, and each of them asks a store. [`ClearedCall`] in turn comes only from a durable session.
//!
//! What this does not keep out: a [`Store`] that lies. A program that implements the trait decides what is on
//! record, and one that holds a store can commit whatever it likes; both are the ground that everything
//! stands on. With the feature `test-support`, which nothing that ships enables, tests can assume that a
//! state is durable.

mod prepared_commit;

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use domain::call::{Call, StartedCall};
use domain::event::{Event, GlobalEvent, HoldEvent, SessionEvent};
use domain::external_hold::ExternalHold;
use domain::global_state::GlobalState;
use domain::id::{CallId, CommitId, NodeId, StreamId};
use domain::secret::{NotUnsealed, Sealed};
use domain::session::Session;

pub use prepared_commit::{CommitParts, PreparedCommit};

use crate::store::{Committed, Entry, Store, StoreError};

/// The state of a stream, as its entries tell it. The three kinds of streams have one, and nothing else.
pub trait Replay:
    sealed::StreamState + Clone + PartialEq + fmt::Debug + Send + Sync + 'static
{
    /// What can happen in such a stream.
    type Event: Clone + Send + Sync;

    /// An event of such a stream as the journal keeps it.
    fn journal_event(event: Self::Event) -> Event;

    /// The position of its last event.
    fn version(&self) -> u64;

    /// The state after these entries, which follow on `before`; the first of them may begin earlier. `None`:
    /// there is no such stream. An event that is not one of this stream's makes the stream unreadable.
    fn replay(
        stream: StreamId,
        before: Option<&Self>,
        entries: &[Entry],
    ) -> Result<Option<Self>, StoreError>;
}

mod sealed {
    pub trait StreamState {}
    impl StreamState for domain::session::Session {}
    impl StreamState for domain::external_hold::ExternalHold {}
    impl StreamState for domain::global_state::GlobalState {}
}

impl Replay for Session {
    type Event = SessionEvent;

    fn journal_event(event: SessionEvent) -> Event {
        Event::Session(event)
    }

    fn version(&self) -> u64 {
        self.version
    }

    fn replay(
        stream: StreamId,
        before: Option<&Session>,
        entries: &[Entry],
    ) -> Result<Option<Session>, StoreError> {
        let mut session = match (before, stream) {
            (Some(before), _) => before.clone(),
            (None, StreamId::Session(id)) if !entries.is_empty() => Session::begin(id),
            _ => return Ok(None),
        };
        for entry in entries {
            for event in entry.events_after(session.version) {
                let Event::Session(event) = event else { return Err(entry.misplaced(event)) };
                session.apply(event, entry.at);
            }
        }
        Ok(Some(session))
    }
}

impl Replay for ExternalHold {
    type Event = HoldEvent;

    fn journal_event(event: HoldEvent) -> Event {
        Event::ExternalHold(event)
    }

    fn version(&self) -> u64 {
        self.version
    }

    fn replay(
        stream: StreamId,
        before: Option<&ExternalHold>,
        entries: &[Entry],
    ) -> Result<Option<ExternalHold>, StoreError> {
        let mut outside = before.cloned();
        for entry in entries {
            let version = outside.as_ref().map_or(0, |outside| outside.version);
            for event in entry.events_after(version) {
                match (event, &mut outside) {
                    (event, _) if !event.fits_stream(stream) => return Err(entry.misplaced(event)),
                    (Event::ExternalHold(HoldEvent::Opened { hold }), None) => {
                        outside = Some(ExternalHold::begin(hold.clone()));
                    }
                    (Event::ExternalHold(event), Some(outside)) => outside.apply(event),
                    (event, _) => return Err(entry.misplaced(event)),
                }
            }
        }
        Ok(outside)
    }
}

impl Replay for GlobalState {
    type Event = GlobalEvent;

    fn journal_event(event: GlobalEvent) -> Event {
        Event::Global(event)
    }

    fn version(&self) -> u64 {
        self.version
    }

    /// It exists from the beginning.
    fn replay(
        _: StreamId,
        before: Option<&GlobalState>,
        entries: &[Entry],
    ) -> Result<Option<GlobalState>, StoreError> {
        let mut global = before.cloned().unwrap_or_default();
        for entry in entries {
            for event in entry.events_after(global.version) {
                let Event::Global(event) = event else { return Err(entry.misplaced(event)) };
                global.apply(event);
            }
        }
        Ok(Some(global))
    }
}

impl Entry {
    /// Its events that a state of this version does not have yet.
    fn events_after(&self, version: u64) -> impl Iterator<Item = &Event> {
        self.events.iter().skip(version.saturating_sub(self.first - 1) as usize)
    }
}

/// A state that is on record in a store. To be read like the state that it is, and changed by a commit alone.
///
/// ```compile_fail,E0423
/// fn forge(session: domain::session::Session) -> holdpoint_ports::durable::Durable<domain::session::Session> {
///     holdpoint_ports::durable::Durable(session.into())
/// }
/// ```
///
/// ```compile_fail,E0594
/// fn change(mut session: holdpoint_ports::durable::Durable<domain::session::Session>) {
///     session.calls = Default::default();
/// }
/// ```
pub struct Durable<S>(Arc<S>);

impl<S> Clone for Durable<S> {
    fn clone(&self) -> Durable<S> {
        Durable(self.0.clone())
    }
}

impl<S> Deref for Durable<S> {
    type Target = S;

    fn deref(&self) -> &S {
        &self.0
    }
}

impl<S: fmt::Debug> fmt::Debug for Durable<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<S: Replay> Durable<S> {
    /// All that a store has of a stream. `None`: there is no such stream.
    pub async fn load(
        store: &dyn Store,
        stream: StreamId,
    ) -> Result<Option<Durable<S>>, StoreError> {
        let entries = store.load(stream).await?;
        Ok(S::replay(stream, None, &entries)?.map(|state| Durable(state.into())))
    }

    /// The same state with what was committed since, read `page` commits at a time.
    pub async fn read_on(
        &self,
        store: &dyn Store,
        stream: StreamId,
        page: usize,
    ) -> Result<Durable<S>, StoreError> {
        let mut newest = self.clone();
        loop {
            let entries = store.entries(Some(stream), newest.version(), page).await?;
            if let Some(state) = S::replay(stream, Some(&newest), &entries)? {
                newest = Durable(state.into());
            }
            if entries.len() < page {
                return Ok(newest);
            }
        }
    }

    /// The state after one commit, if the store has that commit: for one whose fate was unknown.
    pub async fn look_up(
        store: &dyn Store,
        before: Option<&Durable<S>>,
        entry: &Entry,
    ) -> Result<Option<(Durable<S>, Committed)>, StoreError> {
        let CommitPlace { stream, first, id } = entry.place();
        let found = store.entries(Some(stream), first - 1, 1).await?;
        // mutant: commit-unknown-is-failure
        let Some(found) = found.into_iter().next().filter(|found| found.id == id) else {
            return Ok(None);
        };
        let committed = Committed {
            version: found.first + found.events.len() as u64 - 1,
            global: found.global,
        };
        let next = S::replay(stream, before.map(|before| &**before), &[found])?;
        Ok(next.map(|state| (Durable(state.into()), committed)))
    }

    /// The state itself, which proves nothing to others.
    pub fn state(&self) -> &Arc<S> {
        &self.0
    }
}

/// Where a commit is to be found.
struct CommitPlace {
    stream: StreamId,
    first: u64,
    id: CommitId,
}

impl Entry {
    fn place(&self) -> CommitPlace {
        CommitPlace { stream: self.stream, first: self.first, id: self.id }
    }
}

#[cfg(feature = "test-support")]
impl<S> Durable<S> {
    /// For tests: takes a state for durable that no store has.
    pub fn assumed(state: impl Into<Arc<S>>) -> Durable<S> {
        Durable(state.into())
    }
}

impl Durable<Session> {
    /// The call whose start by `node` is on record: what a tool host may run. The one place where a
    /// [`ClearedCall`] is made.
    pub fn cleared(&self, call: CallId, node: NodeId) -> Option<ClearedCall> {
        self.started(call, node).map(ClearedCall)
    }
}

/// A call that somebody had the right to allow, and whose start is on record. Only [`Durable::cleared`] makes
/// one, so a tool host that asks for a `ClearedCall` cannot run an unapproved call.
///
/// ```compile_fail,E0423
/// fn forge(call: domain::call::StartedCall) -> holdpoint_ports::durable::ClearedCall {
///     holdpoint_ports::durable::ClearedCall(call)
/// }
/// ```
///
/// Events of one's own making lead to a session, and not to a cleared call:
///
/// ```compile_fail,E0599
/// use domain::{event::SessionEvent, id::{CallId, NodeId}, session::Session, time::Timestamp};
///
/// fn forge(mut session: Session, event: &SessionEvent, call: CallId, node: NodeId) {
///     session.apply(event, Timestamp::from_ms(0));
///     session.cleared(call, node);
/// }
/// ```
#[derive(Debug)]
pub struct ClearedCall(StartedCall);

impl ClearedCall {
    /// What was approved.
    pub fn call(&self) -> &Call {
        self.0.call()
    }

    /// The call itself, for what clears up after it. It clears nothing.
    pub fn shared(&self) -> Arc<Call> {
        self.0.shared()
    }

    /// Which attempt at it this is, counted from 1.
    pub fn attempt(&self) -> u32 {
        self.0.attempt()
    }

    /// The call as its tool gets it; see [`StartedCall::unsealed`].
    pub fn unsealed(self, known: &[Sealed]) -> Result<ClearedCall, NotUnsealed> {
        self.0.unsealed(known).map(ClearedCall)
    }
}
