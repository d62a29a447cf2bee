//! The store port. Events are written through [`Store::enqueue`], against the version they were decided on. Kept
//! replies, grants and the callbacks that a commit causes are in the same transaction; other tables may follow later.
//! Several nodes may share one store: everything here is safe under that.

use std::sync::Arc;

use async_trait::async_trait;
use domain::digest::Digest;
use domain::event::Event;
use domain::grant::Grant;
use domain::hold::Hold;
use domain::id::{CommitId, HoldId, NodeId, RunId, SecretId, SessionId, StreamId};
use domain::person::{Actor, PersonId};
use domain::secret::Sealed;
use domain::session::{Home, RunStatus, Session};
use domain::time::Timestamp;
use tokio::sync::{mpsc, oneshot};

use crate::clock::Clock;
use crate::file_store::FileStore;
pub use crate::hold_query::{HoldFacts, HoldOrder, HoldQuery, PersonWithRoles, deciders};
pub use crate::login_secret::{LoginSecret, SecretKind};
pub use crate::note::{Note, PutNote};
pub use crate::outbox::{
    DueLane, OutboxChange, OutboxItem, OutboxKind, OutboxLane, OutboxLease, OutboxOrder,
    OutboxWrite,
};

/// Everything that one decision changes: all of it becomes durable, or none.
#[derive(Clone, Debug)]
pub struct Commit {
    /// Known before the commit is made, so that one of unknown fate can be looked for.
    pub id: CommitId,
    /// The stream, and what lists show of it after this commit.
    pub rows: StreamRows,
    /// The version of the stream that was decided on. Another one: [`CommitError::Conflict`].
    pub expected: u64,
    /// The version of the global stream that must still stand, for commits that let calls start or leave them
    /// waiting because all is frozen.
    pub global_version: Option<u64>,
    /// What happened, in order. Never empty, and all of the one stream.
    pub events: Arc<Vec<Event>>,
    /// The time of the decision. It becomes the time of the events.
    pub at: Timestamp,
    /// By whom the events came about.
    pub actor: Actor,
    /// Kept with the commit, so that a caller who repeats the request gets this reply.
    pub reply: Option<KeptReply>,
    /// What follows from it for the outside. An item whose key is there already is the same item.
    pub outbox: Vec<OutboxItem>,
    /// For commits in which an answer counts or a call starts: afterwards: [`CommitError::TooLate`].
    pub write_before: Option<WriteBefore>,
}

/// The rows that a commit changes, each as it now is.
#[derive(Clone, Debug)]
pub enum StreamRows {
    /// A session, and of its holds and grants those that the events touched.
    Session {
        /// The session as lists show it.
        row: Arc<SessionRow>,
        /// Of the session's holds those that the events touched.
        holds: Vec<Arc<Hold>>,
        /// Of the session's grants those that the events touched.
        grants: Vec<Arc<Grant>>,
    },
    /// The hold that is the stream.
    ExternalHold(Arc<Hold>),
    /// Nothing of the global stream is listed.
    Global,
}

impl StreamRows {
    /// The stream whose rows these are.
    pub fn stream(&self) -> StreamId {
        match self {
            StreamRows::Session { row, .. } => StreamId::Session(row.id),
            StreamRows::ExternalHold(hold) => StreamId::ExternalHold(hold.id),
            StreamRows::Global => StreamId::Global,
        }
    }
}

impl Commit {
    /// The stream that the events go into.
    pub fn stream(&self) -> StreamId {
        self.rows.stream()
    }

    /// Fails if an event is not one of its stream's: no store takes such a commit, since nobody could read it.
    pub fn check_events(&self) -> Result<(), StoreError> {
        let entry = self.entry();
        let misplaced = entry.events.iter().find(|event| !event.fits_stream(entry.stream));
        misplaced.map_or(Ok(()), |event| Err(entry.misplaced(event)))
    }

    /// The commit as it will be read back, except for its global position.
    pub fn entry(&self) -> Entry {
        Entry {
            id: self.id,
            stream: self.stream(),
            first: self.expected + 1,
            global: 0,
            at: self.at,
            actor: self.actor.clone(),
            events: self.events.clone(),
        }
    }
}

/// The deadline of a commit. The store looks at it as late as it can: immediately before it makes the
/// commit durable. A commit that waited in a queue or behind a slow disk past this time is refused.
#[derive(Clone)]
pub struct WriteBefore {
    /// From this moment on the commit is refused.
    pub at: Timestamp,
    /// The clock by which the commit was decided.
    pub clock: Arc<dyn Clock>,
}

impl WriteBefore {
    /// Whether it is too late by the commit's own clock.
    pub fn has_passed(&self) -> bool {
        self.at <= self.clock.now()
    }
}

impl std::fmt::Debug for WriteBefore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "before {:?}", self.at)
    }
}

/// A session as lists and recovery need it.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionRow {
    /// Names the session and its stream.
    pub id: SessionId,
    /// The configured name of the agent.
    pub agent: Arc<str>,
    /// Who opened the session; they see it.
    pub creator: Actor,
    /// As its creator named it.
    pub title: Option<String>,
    /// The door or chat that it was opened through. `None` for our own API.
    pub home: Option<Home>,
    /// The last run. `None` before the first message.
    pub run: Option<(RunId, RunStatus)>,
    /// The time of the first event.
    pub opened_at: Timestamp,
    /// The time of the last event.
    pub changed_at: Timestamp,
    /// There is pending work: a start of the server, or a thaw, looks here.
    pub owes: bool,
    /// The node that took that work on itself.
    pub owner: NodeId,
}

impl SessionRow {
    /// The row for a session whose pending work, if there is any, this node takes on.
    pub fn of(session: &Session, owner: NodeId) -> SessionRow {
        SessionRow {
            id: session.id,
            agent: session.agent.clone(),
            creator: session.creator.clone(),
            title: session.title.clone(),
            home: session.home.clone(),
            run: session.run.as_ref().map(|run| (run.id, run.status())),
            opened_at: session.opened_at,
            changed_at: session.changed_at,
            owes: session.pending_work_iter().next().is_some(),
            owner,
        }
    }
}

/// A reply that a caller can have again under the same `Idempotency-Key`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptReply {
    /// Who asked: keys of different callers never meet.
    pub caller: String,
    /// The caller's `Idempotency-Key`.
    pub key: String,
    /// Of method, path and body: the same key with another request is refused.
    pub request: Digest,
    /// The HTTP status.
    pub status: u16,
    /// To the byte.
    pub body: Vec<u8>,
    /// When it was given. Old replies are forgotten by it.
    pub at: Timestamp,
}

/// Where a commit ended up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Committed {
    /// The stream's version now.
    pub version: u64,
    /// The global position of the commit's first event.
    pub global: u64,
}

/// One commit as it is read back.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// As the commit named itself.
    pub id: CommitId,
    /// The stream that the events are in.
    pub stream: StreamId,
    /// Position of the first event in its stream, counted from 1.
    pub first: u64,
    /// Position of the first event among all events, counted from 1.
    pub global: u64,
    /// The time of the decision.
    pub at: Timestamp,
    /// By whom the events came about.
    pub actor: Actor,
    /// What happened, in order.
    pub events: Arc<Vec<Event>>,
}

impl Entry {
    /// One of its events is not one of its stream's.
    pub fn misplaced(&self, event: &Event) -> StoreError {
        let (id, stream, name) = (self.id, self.stream, event.name());
        StoreError::Unreadable(format!(
            "commit {id} to {stream} has an event that is not one of that stream ({name})"
        ))
    }
}

/// A variant for each remedy.
#[derive(Debug, thiserror::Error)]
pub enum CommitError {
    /// Decide again on the newer state.
    #[error("the stream has moved on to version {actual}")]
    Conflict {
        /// The version that the stream has instead.
        actual: u64,
    },
    /// Decide again: calls were frozen or thawed meanwhile.
    #[error("global state changed concurrently; decide again")]
    GlobalStateChanged,
    /// Decide again: its deadline has passed, and nothing of it was written.
    #[error("the deadline of the commit has passed; decide again")]
    TooLate,
    /// Somebody used this idempotency key first: look the reply up.
    #[error("a reply is already kept under this idempotency key")]
    ReplyKept,
    /// It may or may not be on disk. Re-read by commit id before doing anything else.
    #[error("the fate of the commit is unknown: {0}")]
    Unknown(String),
    /// As for any other read or write.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why a store could not read or write. A variant for each remedy.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Full disk, busy, shutting down: nothing was changed, try again later.
    #[error("the store is unavailable: {0}")]
    Unavailable(String),
    /// What is on disk cannot be read by this version, or not at all.
    #[error("the store cannot be read: {0}")]
    Unreadable(String),
    /// A secret can be neither sealed nor opened before the operator gives the store a key. The text says which, and no
    /// more than a caller may know. Nothing was changed.
    #[error("a sealing key is missing: {0}")]
    SealingKey(String),
}

/// Holds are counted up to here. Beyond it, "very many" is all that anybody wants to know.
pub const COUNT_MAX: usize = 50_000;

/// Whose eyes a list is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Viewer {
    /// Ours alone: whatever there is.
    Everything,
    /// What this person or program created, opened, or is in the audience of.
    Caller {
        /// Who looks.
        actor: Actor,
        /// With the person's roles, if a person looks: holds ask people by role as well.
        person: Option<(PersonId, Vec<String>)>,
    },
}

/// Which sessions to list. What is `None` restricts nothing; all that is set must hold.
#[derive(Clone, Debug)]
pub struct SessionQuery {
    /// Whose eyes the list is for.
    pub viewer: Viewer,
    /// Only sessions of this agent.
    pub agent: Option<String>,
    /// Only sessions of this door or channel, and of this one conversation there if it is named.
    pub home: Option<(Arc<str>, Option<String>)>,
    /// Continue after this one.
    pub after: Option<SessionId>,
    /// At most so many.
    pub limit: usize,
}

/// One entry of the audit log, to the byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditEntry {
    /// Counted from 1, without a gap.
    pub seq: u64,
    /// Of this entry and all before it: the chain.
    pub hash: [u8; 32],
    /// The exact bytes that the hash is over.
    pub bytes: Vec<u8>,
}

/// What a store tells of other nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeardOfOthers {
    /// Between these global positions there are commits of others.
    Wrote {
        /// The last position that was known before.
        after: u64,
        /// The last position that is theirs.
        upto: u64,
    },
    /// One of them is gone, and its work may be taken over.
    Gone,
}

/// Hears once what became of a commit. Called by the store, mostly on the thread that writes, so it must be
/// quick and must not call the store. Dropped without being called: the fate is unknown.
pub type CommitDone = Box<dyn FnOnce(Result<Committed, CommitError>) + Send>;

/// What remembers: the journal of events, and beside it rows for lists, the outbox, secrets of logins, notes and the
/// audit log. The suite `stores::conformance` says what each call promises, and every store passes it.
///
/// ```
/// use std::sync::Arc;
///
/// use domain::event::{Event, GlobalEvent};
/// use domain::id::{CommitId, StreamId};
/// use domain::person::{Actor, PersonId};
/// use domain::time::Timestamp;
/// use holdpoint_ports::store::{Commit, CommitError, Store, StoreError, StreamRows};
///
/// /// Commits a freeze, with something to do about each way in which a commit may end.
/// async fn freeze(store: &dyn Store, id: CommitId, at: Timestamp) -> Result<u64, StoreError> {
///     loop {
///         let entries = store.load(StreamId::Global).await?;
///         let expected = entries.iter().map(|entry| entry.events.len() as u64).sum();
///         let by = Actor::Person(PersonId::new("root"));
///         let frozen = GlobalEvent::Frozen { by: by.clone(), reason: "fire drill".into() };
///         let commit = Commit {
///             id,
///             rows: StreamRows::Global,
///             expected,
///             global_version: None,
///             events: Arc::new(vec![Event::Global(frozen)]),
///             at,
///             actor: by,
///             reply: None,
///             outbox: Vec::new(),
///             write_before: None,
///         };
///         match store.commit(commit).await {
///             Ok(committed) => return Ok(committed.version),
///             // Another commit was first: decide again on the newer state.
///             Err(CommitError::Conflict { .. } | CommitError::GlobalStateChanged) => continue,
///             Err(CommitError::Store(error)) => return Err(error),
///             // Of unknown fate: it may be on disk, and the entries tell, by the commit's id.
///             Err(other) => return Err(StoreError::Unavailable(other.to_string())),
///         }
///     }
/// }
/// ```
#[async_trait]
pub trait Store: Send + Sync {
    /// Queues a commit. `done` is told when the commit is durable, or why it is not; an error other than
    /// `Unknown` means that nothing of it was written. Commits that were written are told in the order of
    /// the journal, each before the next one, so that what follows from them happens in that order.
    fn enqueue(&self, commit: Commit, done: CommitDone);

    /// The same for a caller who waits for it and has nothing to do before others hear of it.
    async fn commit(&self, commit: Commit) -> Result<Committed, CommitError> {
        let (told, fate) = oneshot::channel();
        // A caller who has gone needs no answer.
        self.enqueue(commit, Box::new(|fate| drop(told.send(fate))));
        fate.await.unwrap_or_else(|_| Err(CommitError::Unknown("the store stopped".into())))
    }

    /// A whole stream, oldest first.
    async fn load(&self, stream: StreamId) -> Result<Vec<Entry>, StoreError>;

    /// Commits of one stream (or of all, then `after` is a global position) that contain events
    /// after a position, oldest first. The first entry may begin before it.
    async fn entries(
        &self,
        stream: Option<StreamId>,
        after: u64,
        limit: usize,
    ) -> Result<Vec<Entry>, StoreError>;

    /// The last global position and the time of the last commit.
    async fn last(&self) -> Result<(u64, Option<Timestamp>), StoreError>;

    /// The newest version of one hold. `None` if there is none of this id.
    async fn hold(&self, id: HoldId) -> Result<Option<Arc<Hold>>, StoreError>;
    /// Holds that match, in the order that the query names.
    async fn holds(&self, query: HoldQuery) -> Result<Vec<Arc<Hold>>, StoreError>;
    /// The same, with no more of each than figures need. For stores that can say it without reading whole holds.
    async fn hold_facts(&self, query: HoldQuery) -> Result<Vec<HoldFacts>, StoreError> {
        Ok(self.holds(query).await?.iter().map(|hold| HoldFacts::of(hold)).collect())
    }
    /// How many match, up to [`COUNT_MAX`].
    async fn count_holds(&self, query: HoldQuery) -> Result<usize, StoreError>;
    /// Sessions that match, the newest first.
    async fn sessions(&self, query: SessionQuery) -> Result<Vec<SessionRow>, StoreError>;
    /// The row of one session. `None` if there is none of this id.
    async fn session(&self, id: SessionId) -> Result<Option<SessionRow>, StoreError>;
    /// The session that a run is or was part of.
    async fn session_of_run(&self, run: RunId) -> Result<Option<SessionId>, StoreError>;
    /// Grants that this viewer gave, and those of sessions that they may see; the newest first, also those that ended.
    async fn grants(&self, viewer: Viewer) -> Result<Vec<Arc<Grant>>, StoreError>;

    /// What this caller was told under an idempotency key. `None` if nothing, or no longer.
    async fn reply(&self, caller: &str, key: &str) -> Result<Option<KeptReply>, StoreError>;
    /// Replies older than this are forgotten.
    async fn forget_replies(&self, before: Timestamp) -> Result<(), StoreError>;

    /// Streams with a pending hold that is due.
    async fn due(&self, now: Timestamp, limit: usize) -> Result<Vec<StreamId>, StoreError>;
    /// When the first pending hold expires. `None` if none ever does.
    async fn next_due(&self) -> Result<Option<Timestamp>, StoreError>;
    /// Sessions for which the runtime has work, with the node that took it on.
    async fn sessions_with_work(
        &self,
        after: Option<SessionId>,
        limit: usize,
    ) -> Result<Vec<(SessionId, NodeId)>, StoreError>;
    /// Whether other nodes may write here too. If not, whoever wrote everything need not look for
    /// what was written.
    fn is_shared(&self) -> bool {
        true
    }
    /// Whether this node may begin the effect of a call at this moment. Where others may take its work over, they wait
    /// until this has been `false` for a while. Asked last of all, so it looks at nothing but a clock.
    fn may_begin(&self) -> bool {
        true
    }
    /// The time by the one clock of all nodes that share this store, so that a deadline is the same moment on each of them.
    /// `None`: there is only one node, and its machine's clock counts.
    fn shared_now(&self) -> Option<Timestamp> {
        None
    }
    /// From here on this node acts by that version of the global state, and nothing is half begun by an older one.
    fn note_global_seen(&self, _version: u64) {}
    /// Whether every living node acts by that version of the global state, or a newer one.
    async fn all_have_seen(&self, _version: u64) -> Result<bool, StoreError> {
        Ok(true)
    }
    /// What other nodes do, as it is heard of. `None` where there are none, and for whoever asks a second time.
    fn hear_others(&self) -> Option<mpsc::Receiver<HeardOfOthers>> {
        None
    }
    /// What the data takes on disk, where that can be said.
    fn size_bytes(&self) -> Option<u64> {
        None
    }
    /// Whether a node is provably gone, so that its work may be taken over.
    async fn is_gone(&self, node: NodeId) -> Result<bool, StoreError>;

    /// All changes, durably, or (`false`) none, because one was not as expected. `now` is the time of the
    /// decision, by which lanes are due.
    async fn write_outbox(&self, write: OutboxWrite, now: Timestamp) -> Result<bool, StoreError>;
    /// One item. `None` if it was sent, given up or never there.
    async fn outbox_item(&self, queue: &str, key: &str) -> Result<Option<OutboxItem>, StoreError>;
    /// Lanes of a queue in which something is to be sent, the one that is due first in front.
    async fn outbox_lanes(
        &self,
        queue: &str,
        in_order: bool,
        limit: usize,
    ) -> Result<Vec<DueLane>, StoreError>;
    /// What is claimed next in a lane, if anything of it can be now: the first in order, and without an
    /// order the one that is ready the longest. A prompt overtakes a text that cannot be delivered
    /// ([`OutboxItem::lets_prompts_pass`]). While one of them is leased there is no next.
    async fn outbox_next(
        &self,
        lane: &OutboxLane,
        now: Timestamp,
    ) -> Result<Option<OutboxItem>, StoreError>;
    /// Items that are ready by then, whichever is first, so many of them.
    async fn outbox_items(
        &self,
        queue: &str,
        ready_by: Timestamp,
        limit: usize,
    ) -> Result<Vec<OutboxItem>, StoreError>;
    /// How many items of each kind are not sent yet, for an operator.
    async fn outbox_backlog(&self) -> Result<Vec<(OutboxKind, u64)>, StoreError>;

    /// Replaces one of the same kind and digest.
    async fn put_secret(&self, secret: LoginSecret) -> Result<(), StoreError>;
    /// One that is there, even if it has expired: who asks must look. `None` if it was taken.
    async fn find_secret(
        &self,
        kind: SecretKind,
        digest: Digest,
    ) -> Result<Option<LoginSecret>, StoreError>;
    /// Lets it end later. One that was taken stays taken.
    async fn prolong_secret(
        &self,
        kind: SecretKind,
        digest: Digest,
        expires_at: Timestamp,
    ) -> Result<(), StoreError>;
    /// Removes it and says what it was: of two who come at once, one gets it.
    async fn take_secret(
        &self,
        kind: SecretKind,
        digest: Digest,
    ) -> Result<Option<LoginSecret>, StoreError>;

    /// Whether secrets would be taken, for those who would otherwise find out too late. An error says which key is missing.
    fn check_sealing(&self) -> Result<(), StoreError> {
        Ok(())
    }
    /// Keeps secrets that somebody gave, durably, before the answer that refers to them is written: all of them, or none,
    /// and none in the place of another. They are never part of an [`Entry`]. On a disk they are encrypted, and so that
    /// each opens only as what it was kept as; without a key for it they are refused.
    async fn seal(&self, sealed: Vec<Sealed>) -> Result<(), StoreError>;
    /// The secrets of a session or of an external hold, oldest first. An error if one of them cannot be opened: it is
    /// there, and must not be taken for gone.
    async fn sealed(&self, scope: StreamId) -> Result<Vec<Sealed>, StoreError>;
    /// The answer that was to refer to them did not count.
    async fn forget_sealed(&self, ids: &[SecretId]) -> Result<(), StoreError>;

    /// One note. `None` if there is none.
    async fn note(&self, shelf: &str, key: &str) -> Result<Option<Note>, StoreError>;
    /// Notes whose key begins so, by key, after this one.
    async fn notes(
        &self,
        shelf: &str,
        prefix: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Note>, StoreError>;
    /// Notes that somebody should look at again, the longest due first.
    async fn due_notes(
        &self,
        shelf: &str,
        now: Timestamp,
        limit: usize,
    ) -> Result<Vec<Note>, StoreError>;
    /// When a note of the shelf is due first.
    async fn next_due_note(&self, shelf: &str) -> Result<Option<Timestamp>, StoreError>;
    /// All of them, durably, or (`false`) none, because one was not as expected.
    async fn put_notes(&self, puts: Vec<PutNote>) -> Result<bool, StoreError>;
    /// Takes away what was to be forgotten by now.
    async fn forget_notes(&self, now: Timestamp) -> Result<(), StoreError>;

    /// Entries of the log after a sequence number, in order, at most so many.
    async fn audit(&self, after: u64, limit: usize) -> Result<Vec<AuditEntry>, StoreError>;
    /// Signed checkpoints after a sequence number, and on demand one that covers the head.
    async fn checkpoints(&self, after: u64) -> Result<Vec<Vec<u8>>, StoreError>;
    /// A signed checkpoint that covers all that is committed now.
    async fn checkpoint_now(&self, at: Timestamp) -> Result<Vec<u8>, StoreError>;
    /// The public key that checkpoints are signed with.
    fn audit_key(&self) -> Vec<u8>;

    /// Where it keeps files, if it keeps any.
    fn files(&self) -> Option<&dyn FileStore> {
        None
    }

    /// Whether a write would work now: disk, lock, health.
    async fn probe(&self) -> Result<(), StoreError>;
}
