//! A store that fails as a test wants it to, or holds a caller back at a seam.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering};

use async_trait::async_trait;
use domain::digest::Digest;
use domain::grant::Grant;
use domain::hold::Hold;
use domain::id::{HoldId, NodeId, RunId, SecretId, SessionId, StreamId};
use domain::secret::Sealed;
use domain::time::Timestamp;
use ports::store::*;
use stores::MemoryStore;
use tokio::sync::Semaphore;

/// What the next commits meet.
#[derive(Clone, Copy, PartialEq)]
#[repr(u8)]
pub(crate) enum Fault {
    None = 0,
    /// Refused outright: a full disk, a lock.
    Unavailable = 1,
    /// Written, but the answer gets lost. Once.
    LostReply = 2,
    /// Not written, and nobody can say. Once.
    LostCommit = 3,
    /// Written, but the answer gets lost, and then the store cannot be read. Once.
    LostSight = 4,
    Unreadable = 5,
    /// A session cannot be loaded. Once.
    Unloadable = 6,
}

#[derive(Clone)]
pub(crate) struct Faulty {
    pub(crate) inner: MemoryStore,
    fault: Arc<AtomicU8>,
    /// Whether other nodes may write here.
    is_shared: bool,
    /// A node that lives, and that this one takes for gone.
    given_up: Option<NodeId>,
    /// Whether this node's lease lets it begin calls.
    is_leased: Arc<AtomicBool>,
    /// Commits that were asked for, whatever came of them.
    pub(crate) asked: Arc<AtomicUsize>,
    /// After a read of entries.
    pub(crate) seam: Arc<Seam>,
    /// Before a commit.
    pub(crate) early: Arc<Seam>,
    /// After a commit.
    pub(crate) late: Arc<Seam>,
}

/// Where one caller is held back, until the test lets it go on.
pub(crate) struct Seam {
    /// Which of those to come is held back: 1 for the next one, 0 for none.
    nth: AtomicUsize,
    pub(crate) is_done: Semaphore,
    pub(crate) may_go_on: Semaphore,
}

impl Seam {
    pub(crate) fn new() -> Seam {
        let (is_done, may_go_on) = (Semaphore::new(0), Semaphore::new(0));
        Seam { nth: AtomicUsize::new(0), is_done, may_go_on }
    }

    pub(crate) fn set(&self) {
        self.set_nth(1);
    }

    pub(crate) fn set_nth(&self, nth: usize) {
        self.nth.store(nth, Ordering::SeqCst);
    }

    async fn hold_back(&self) {
        let fewer = |nth: usize| nth.checked_sub(1);
        if self.nth.fetch_update(Ordering::SeqCst, Ordering::SeqCst, fewer) == Ok(1) {
            self.is_done.add_permits(1);
            let _ = self.may_go_on.acquire().await;
        }
    }
}

impl Faulty {
    pub(crate) fn new(node: NodeId) -> Faulty {
        let [seam, early, late] = [(); 3].map(|()| Arc::new(Seam::new()));
        let inner = MemoryStore::new(node);
        let (fault, asked) = Default::default();
        let is_leased = Arc::new(AtomicBool::new(true));
        let (is_shared, given_up) = (false, None);
        Faulty { inner, fault, is_shared, given_up, is_leased, asked, seam, early, late }
    }

    /// One to which other nodes may write.
    pub(crate) fn shared(node: NodeId) -> Faulty {
        Faulty { is_shared: true, ..Faulty::new(node) }
    }

    /// Beside another node, which it takes for gone though that one lives.
    pub(crate) fn giving_up(inner: MemoryStore, node: NodeId, other: NodeId) -> Faulty {
        Faulty { inner, given_up: Some(other), ..Faulty::shared(node) }
    }

    pub(crate) fn set_leased(&self, is_leased: bool) {
        self.is_leased.store(is_leased, Ordering::SeqCst);
    }

    pub(crate) fn set(&self, fault: Fault) {
        self.fault.store(fault as u8, Ordering::SeqCst);
    }

    pub(crate) fn is_now(&self, fault: Fault) -> bool {
        self.fault.load(Ordering::SeqCst) == fault as u8
    }
}

impl Faulty {
    async fn write(&self, commit: Commit) -> Result<Committed, CommitError> {
        match self.fault.load(Ordering::SeqCst) {
            1 => Err(StoreError::Unavailable("the disk is full".into()).into()),
            2 => {
                self.set(Fault::None);
                self.inner.commit(commit).await?;
                Err(CommitError::Unknown("the connection broke".into()))
            }
            3 => {
                self.set(Fault::None);
                Err(CommitError::Unknown("the connection broke".into()))
            }
            4 => {
                self.inner.commit(commit).await?;
                self.set(Fault::Unreadable);
                Err(CommitError::Unknown("the connection broke".into()))
            }
            _ => {
                self.early.hold_back().await;
                let committed = self.inner.commit(commit).await;
                self.late.hold_back().await;
                committed
            }
        }
    }
}

#[async_trait]
impl Store for Faulty {
    #[expect(clippy::disallowed_methods, reason = "the test's runtime owns it, and ends it")]
    fn enqueue(&self, commit: Commit, done: CommitDone) {
        self.asked.fetch_add(1, Ordering::SeqCst);
        let store = self.clone();
        tokio::spawn(async move { done(store.write(commit).await) });
    }

    async fn load(&self, stream: StreamId) -> Result<Vec<Entry>, StoreError> {
        if self.is_now(Fault::Unloadable) {
            self.set(Fault::None);
            return Err(StoreError::Unavailable("it is being opened again".into()));
        }
        self.inner.load(stream).await
    }
    async fn entries(
        &self,
        stream: Option<StreamId>,
        after: u64,
        limit: usize,
    ) -> Result<Vec<Entry>, StoreError> {
        if self.is_now(Fault::Unreadable) {
            self.set(Fault::None);
            return Err(StoreError::Unavailable("it is being opened again".into()));
        }
        let read = self.inner.entries(stream, after, limit).await;
        self.seam.hold_back().await;
        read
    }
    async fn last(&self) -> Result<(u64, Option<Timestamp>), StoreError> {
        self.inner.last().await
    }
    async fn hold(&self, id: HoldId) -> Result<Option<Arc<Hold>>, StoreError> {
        self.inner.hold(id).await
    }
    async fn holds(&self, query: HoldQuery) -> Result<Vec<Arc<Hold>>, StoreError> {
        self.inner.holds(query).await
    }
    async fn count_holds(&self, query: HoldQuery) -> Result<usize, StoreError> {
        self.inner.count_holds(query).await
    }
    async fn sessions(&self, query: SessionQuery) -> Result<Vec<SessionRow>, StoreError> {
        self.inner.sessions(query).await
    }
    async fn session(&self, id: SessionId) -> Result<Option<SessionRow>, StoreError> {
        self.inner.session(id).await
    }
    async fn session_of_run(&self, run: RunId) -> Result<Option<SessionId>, StoreError> {
        self.inner.session_of_run(run).await
    }
    async fn grants(&self, viewer: Viewer) -> Result<Vec<Arc<Grant>>, StoreError> {
        self.inner.grants(viewer).await
    }
    async fn reply(&self, caller: &str, key: &str) -> Result<Option<KeptReply>, StoreError> {
        self.inner.reply(caller, key).await
    }
    async fn forget_replies(&self, before: Timestamp) -> Result<(), StoreError> {
        self.inner.forget_replies(before).await
    }
    async fn due(&self, now: Timestamp, limit: usize) -> Result<Vec<StreamId>, StoreError> {
        self.inner.due(now, limit).await
    }
    async fn next_due(&self) -> Result<Option<Timestamp>, StoreError> {
        self.inner.next_due().await
    }
    async fn sessions_with_work(
        &self,
        after: Option<SessionId>,
        limit: usize,
    ) -> Result<Vec<(SessionId, NodeId)>, StoreError> {
        self.inner.sessions_with_work(after, limit).await
    }
    /// By default as on one machine: no other node writes deadlines, so none are looked for now and then.
    fn is_shared(&self) -> bool {
        self.is_shared
    }
    fn may_begin(&self) -> bool {
        self.is_leased.load(Ordering::SeqCst)
    }
    async fn is_gone(&self, node: NodeId) -> Result<bool, StoreError> {
        Ok(self.given_up == Some(node) || self.inner.is_gone(node).await?)
    }
    async fn write_outbox(&self, write: OutboxWrite, now: Timestamp) -> Result<bool, StoreError> {
        self.inner.write_outbox(write, now).await
    }
    async fn outbox_item(&self, queue: &str, key: &str) -> Result<Option<OutboxItem>, StoreError> {
        self.inner.outbox_item(queue, key).await
    }
    async fn outbox_lanes(
        &self,
        queue: &str,
        in_order: bool,
        limit: usize,
    ) -> Result<Vec<DueLane>, StoreError> {
        self.inner.outbox_lanes(queue, in_order, limit).await
    }
    async fn outbox_next(
        &self,
        lane: &OutboxLane,
        now: Timestamp,
    ) -> Result<Option<OutboxItem>, StoreError> {
        self.inner.outbox_next(lane, now).await
    }
    async fn outbox_items(
        &self,
        queue: &str,
        ready_by: Timestamp,
        limit: usize,
    ) -> Result<Vec<OutboxItem>, StoreError> {
        self.inner.outbox_items(queue, ready_by, limit).await
    }
    async fn outbox_backlog(&self) -> Result<Vec<(OutboxKind, u64)>, StoreError> {
        self.inner.outbox_backlog().await
    }
    async fn put_secret(&self, secret: LoginSecret) -> Result<(), StoreError> {
        self.inner.put_secret(secret).await
    }
    async fn find_secret(
        &self,
        kind: SecretKind,
        digest: Digest,
    ) -> Result<Option<LoginSecret>, StoreError> {
        self.inner.find_secret(kind, digest).await
    }
    async fn prolong_secret(
        &self,
        kind: SecretKind,
        digest: Digest,
        expires_at: Timestamp,
    ) -> Result<(), StoreError> {
        self.inner.prolong_secret(kind, digest, expires_at).await
    }
    async fn take_secret(
        &self,
        kind: SecretKind,
        digest: Digest,
    ) -> Result<Option<LoginSecret>, StoreError> {
        self.inner.take_secret(kind, digest).await
    }
    async fn seal(&self, sealed: Vec<Sealed>) -> Result<(), StoreError> {
        self.inner.seal(sealed).await
    }
    async fn sealed(&self, scope: StreamId) -> Result<Vec<Sealed>, StoreError> {
        self.inner.sealed(scope).await
    }
    async fn forget_sealed(&self, ids: &[SecretId]) -> Result<(), StoreError> {
        self.inner.forget_sealed(ids).await
    }
    async fn note(&self, shelf: &str, key: &str) -> Result<Option<Note>, StoreError> {
        self.inner.note(shelf, key).await
    }
    async fn notes(
        &self,
        shelf: &str,
        prefix: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Note>, StoreError> {
        self.inner.notes(shelf, prefix, after, limit).await
    }
    async fn due_notes(
        &self,
        shelf: &str,
        now: Timestamp,
        limit: usize,
    ) -> Result<Vec<Note>, StoreError> {
        self.inner.due_notes(shelf, now, limit).await
    }
    async fn next_due_note(&self, shelf: &str) -> Result<Option<Timestamp>, StoreError> {
        self.inner.next_due_note(shelf).await
    }
    async fn put_notes(&self, puts: Vec<PutNote>) -> Result<bool, StoreError> {
        self.inner.put_notes(puts).await
    }
    async fn forget_notes(&self, now: Timestamp) -> Result<(), StoreError> {
        self.inner.forget_notes(now).await
    }
    async fn audit(&self, after: u64, limit: usize) -> Result<Vec<AuditEntry>, StoreError> {
        self.inner.audit(after, limit).await
    }
    async fn checkpoints(&self, after: u64) -> Result<Vec<Vec<u8>>, StoreError> {
        self.inner.checkpoints(after).await
    }
    async fn checkpoint_now(&self, at: Timestamp) -> Result<Vec<u8>, StoreError> {
        self.inner.checkpoint_now(at).await
    }
    fn audit_key(&self) -> Vec<u8> {
        self.inner.audit_key()
    }
    async fn probe(&self) -> Result<(), StoreError> {
        self.inner.probe().await
    }
}
