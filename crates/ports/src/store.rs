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
use domain::person::{Actor, LinkOrigin, PersonId};
use domain::secret::Sealed;
use domain::session::{Home, RunStatus, Session};
use domain::time::Timestamp;
use tokio::sync::oneshot;

use crate::clock::Clock;
pub use crate::hold_query::{HoldFacts, HoldOrder, HoldQuery, PersonWithRoles, deciders};
pub use crate::outbox::{
    OutboxChange, OutboxItem, OutboxKind, OutboxLane, OutboxLease, OutboxOrder, OutboxTurn,
    OutboxWrite,
};

/// Everything that one decision changes: all of it becomes durable, or none.
#[derive(Clone, Debug)]
pub struct Commit {
    pub id: CommitId,
    /// The stream, and what lists show of it after this commit.
    pub rows: StreamRows,
    /// The version of the stream that was decided on. Another one: [`CommitError::Conflict`].
    pub expected: u64,
    /// The version of the house that must still stand, for commits that let calls start or leave them
    /// waiting because all is frozen.
    pub house: Option<u64>,
    pub events: Arc<Vec<Event>>,
    pub at: Timestamp,
    pub actor: Actor,
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
        row: Arc<SessionRow>,
        holds: Vec<Arc<Hold>>,
        grants: Vec<Arc<Grant>>,
    },
    ExternalHold(Arc<Hold>),
    /// Nothing of the global stream is listed.
    Global,
}

impl StreamRows {
    pub fn stream(&self) -> StreamId {
        match self {
            StreamRows::Session { row, .. } => StreamId::Session(row.id),
            StreamRows::ExternalHold(hold) => StreamId::ExternalHold(hold.id),
            StreamRows::Global => StreamId::Global,
        }
    }
}

impl Commit {
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
    pub at: Timestamp,
    /// The clock by which the commit was decided.
    pub clock: Arc<dyn Clock>,
}

impl WriteBefore {
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
    pub id: SessionId,
    pub agent: Arc<str>,
    pub creator: Actor,
    pub title: Option<String>,
    pub home: Option<Home>,
    pub run: Option<(RunId, RunStatus)>,
    pub opened_at: Timestamp,
    pub changed_at: Timestamp,
    /// There is pending work: a start of the server, or a thaw, looks here.
    pub owes: bool,
    /// The node that took that work on itself.
    pub owner: NodeId,
}

impl SessionRow {
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
    pub key: String,
    /// Of method, path and body: the same key with another request is refused.
    pub request: Digest,
    pub status: u16,
    pub body: Vec<u8>,
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
    pub id: CommitId,
    pub stream: StreamId,
    /// Position of the first event in its stream, counted from 1.
    pub first: u64,
    /// Position of the first event among all events, counted from 1.
    pub global: u64,
    pub at: Timestamp,
    pub actor: Actor,
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
    Conflict { actual: u64 },
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
    #[error(transparent)]
    Store(#[from] StoreError),
}

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Full disk, busy, shutting down: nothing was changed, try again later.
    #[error("the store is unavailable: {0}")]
    Unavailable(String),
    /// What is on disk cannot be read by this version, or not at all.
    #[error("the store cannot be read: {0}")]
    Unreadable(String),
}

/// Holds are counted up to here. Beyond it, "very many" is all that anybody wants to know.
pub const COUNT_MAX: usize = 50_000;

/// Whose eyes a list is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Viewer {
    Everything,
    /// What this person or program created, opened, or is in the audience of.
    Caller {
        actor: Actor,
        person: Option<(PersonId, Vec<String>)>,
    },
}

#[derive(Clone, Debug)]
pub struct SessionQuery {
    pub viewer: Viewer,
    pub agent: Option<String>,
    /// Only sessions of this door or channel, and of this one conversation there if it is named.
    pub home: Option<(Arc<str>, Option<String>)>,
    pub after: Option<SessionId>,
    pub limit: usize,
}

/// Things that expire and are looked up by the digest of a secret: login links, cookies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoginSecret {
    pub kind: SecretKind,
    pub digest: Digest,
    pub person: PersonId,
    /// Who made the link, also of the login that came by it; `None` for those from before that was kept.
    pub origin: Option<LinkOrigin>,
    /// When the login began, however often it was prolonged since.
    pub made_at: Timestamp,
    pub expires_at: Timestamp,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SecretKind {
    /// A one-time login link.
    Login,
    /// A browser's session.
    Cookie,
}

/// A small record that a door or a channel keeps beside the journal: where a prompt stands, which event
/// was seen. Nothing that decides is kept here; losing every note would cost comfort, never safety.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// Whose it is: `chat.feishu.out`.
    pub shelf: String,
    pub key: String,
    pub value: Vec<u8>,
    /// Counted from 1, one more with each write.
    pub version: u64,
    /// When somebody should look at it again.
    pub due_at: Option<Timestamp>,
    pub forget_at: Option<Timestamp>,
}

/// One change of [`Store::put_notes`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PutNote {
    pub shelf: String,
    pub key: String,
    /// `None` takes it away.
    pub value: Option<Vec<u8>>,
    /// The version that it was decided on, 0 for a note that must not be there; `None` for whatever is.
    pub expected: Option<u64>,
    pub due_at: Option<Timestamp>,
    pub forget_at: Option<Timestamp>,
}

/// One entry of the audit log, to the byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditEntry {
    pub seq: u64,
    pub hash: [u8; 32],
    pub bytes: Vec<u8>,
}

/// Hears once what became of a commit. Called by the store, mostly on the thread that writes, so it must be
/// quick and must not call the store. Dropped without being called: the fate is unknown.
pub type CommitDone = Box<dyn FnOnce(Result<Committed, CommitError>) + Send>;

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

    async fn hold(&self, id: HoldId) -> Result<Option<Arc<Hold>>, StoreError>;
    async fn holds(&self, query: HoldQuery) -> Result<Vec<Arc<Hold>>, StoreError>;
    /// The same, with no more of each than figures need. For stores that can say it without reading whole holds.
    async fn hold_facts(&self, query: HoldQuery) -> Result<Vec<HoldFacts>, StoreError> {
        Ok(self.holds(query).await?.iter().map(|hold| HoldFacts::of(hold)).collect())
    }
    /// How many match, up to [`COUNT_MAX`].
    async fn count_holds(&self, query: HoldQuery) -> Result<usize, StoreError>;
    async fn sessions(&self, query: SessionQuery) -> Result<Vec<SessionRow>, StoreError>;
    async fn session(&self, id: SessionId) -> Result<Option<SessionRow>, StoreError>;
    async fn session_of_run(&self, run: RunId) -> Result<Option<SessionId>, StoreError>;
    async fn grants(&self, viewer: Viewer) -> Result<Vec<Arc<Grant>>, StoreError>;

    async fn reply(&self, caller: &str, key: &str) -> Result<Option<KeptReply>, StoreError>;
    /// Replies older than this are forgotten.
    async fn forget_replies(&self, before: Timestamp) -> Result<(), StoreError>;

    /// Streams with a pending hold that is due.
    async fn due(&self, now: Timestamp, limit: usize) -> Result<Vec<StreamId>, StoreError>;
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
    /// What the data takes on disk, where that can be said.
    fn size_bytes(&self) -> Option<u64> {
        None
    }
    /// Whether a node is provably gone, so that its work may be taken over.
    async fn is_gone(&self, node: NodeId) -> Result<bool, StoreError>;

    /// All changes, durably, or (`false`) none, because one was not as expected. `now` is the time of the
    /// decision, by which lanes get their turns.
    async fn write_outbox(&self, write: OutboxWrite, now: Timestamp) -> Result<bool, StoreError>;
    async fn outbox_item(&self, queue: &str, key: &str) -> Result<Option<OutboxItem>, StoreError>;
    /// Lanes of a queue in which something is to be sent, the one whose turn is first.
    async fn outbox_turns(
        &self,
        queue: &str,
        in_order: bool,
        limit: usize,
    ) -> Result<Vec<OutboxTurn>, StoreError>;
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

    /// Keeps secrets that somebody gave, durably, before the answer that refers to them is written.
    /// They are never part of an [`Entry`].
    async fn seal(&self, sealed: Vec<Sealed>) -> Result<(), StoreError>;
    /// The secrets of a session or of an outside hold, oldest first.
    async fn sealed(&self, scope: StreamId) -> Result<Vec<Sealed>, StoreError>;
    /// The answer that was to refer to them did not count.
    async fn forget_sealed(&self, ids: &[SecretId]) -> Result<(), StoreError>;

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
    async fn next_due_note(&self, shelf: &str) -> Result<Option<Timestamp>, StoreError>;
    /// All of them, durably, or (`false`) none, because one was not as expected.
    async fn put_notes(&self, puts: Vec<PutNote>) -> Result<bool, StoreError>;
    /// Takes away what was to be forgotten by now.
    async fn forget_notes(&self, now: Timestamp) -> Result<(), StoreError>;

    async fn audit(&self, after: u64, limit: usize) -> Result<Vec<AuditEntry>, StoreError>;
    /// Signed checkpoints after a sequence number, and on demand one that covers the head.
    async fn checkpoints(&self, after: u64) -> Result<Vec<Vec<u8>>, StoreError>;
    async fn checkpoint_now(&self, at: Timestamp) -> Result<Vec<u8>, StoreError>;
    /// The public key that checkpoints are signed with.
    fn audit_key(&self) -> Vec<u8>;

    /// Whether a write would work now: disk, lock, health.
    async fn probe(&self) -> Result<(), StoreError>;
}
