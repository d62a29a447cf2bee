//! The store as one process sees it: every operation waits for the story, so that a crash can fall
//! before the write, between write and reply, and after; and each may fail in its own way.

use std::sync::Arc;

use async_trait::async_trait;
use domain::digest::Digest;
use domain::grant::Grant;
use domain::hold::Hold;
use domain::id::{HoldId, NodeId, RunId, SecretId, SessionId, StreamId};
use domain::secret::Sealed;
use domain::time::Timestamp;
use ports::store::{
    AuditEntry, Commit, CommitDone, CommitError, Committed, DueLane, Entry, HoldQuery, KeptReply,
    LoginSecret, Note, OutboxItem, OutboxKind, OutboxLane, OutboxWrite, PutNote, SecretKind,
    SessionQuery, SessionRow, Store, StoreError, Viewer,
};

use super::node::NodeNo;
use super::world::{Standing, World};

#[derive(Clone)]
pub(super) struct NodeStore {
    world: Arc<World>,
    node: NodeNo,
    id: NodeId,
}

/// What becomes of a commit, drawn before it sets out.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    Fine,
    Busy,
    UnknownWritten,
    UnknownLost,
}

impl NodeStore {
    pub(super) fn new(world: Arc<World>, node: NodeNo, id: NodeId) -> NodeStore {
        NodeStore { world, node, id }
    }

    fn fate(&self) -> Fate {
        let mut inside = self.world.inside();
        let (busy, unknown) = (inside.weather.busy, inside.weather.unknown);
        if inside.rng.percent(busy) {
            Fate::Busy
        } else if inside.rng.percent(unknown) {
            if inside.rng.percent(50) { Fate::UnknownWritten } else { Fate::UnknownLost }
        } else {
            Fate::Fine
        }
    }

    async fn wait(&self, what: &'static str) {
        let ms = {
            let mut inside = self.world.inside();
            let slow = inside.weather.slow;
            if inside.rng.percent(slow) {
                inside.fault("slow reply");
                50 + inside.rng.below(3_000)
            } else {
                inside.rng.below(4)
            }
        };
        self.world.wait(self.node, what, ms).await;
    }

    /// What stands before every operation: a process that was replaced can do nothing more.
    fn may(&self) -> Result<(), StoreError> {
        let mut inside = self.world.inside();
        if inside.standing(self.id) == Standing::Fenced {
            inside.fault("zombie: refused by the store");
            return Err(StoreError::Unavailable("another process has taken over".into()));
        }
        Ok(())
    }

    fn has_room(&self) -> Result<(), StoreError> {
        let mut inside = self.world.inside();
        if inside.now < inside.full_until {
            inside.fault("disk full");
            return Err(StoreError::Unavailable("the disk is full".into()));
        }
        Ok(())
    }

    async fn read(&self, what: &'static str) -> Result<(), StoreError> {
        let waits = self.world.inside().rng.percent(40);
        if waits {
            self.wait(what).await;
        }
        self.may()?;
        let mut inside = self.world.inside();
        let unreadable = inside.weather.unreadable;
        if inside.rng.percent(unreadable) {
            inside.fault("read failed");
            return Err(StoreError::Unavailable("the disk did not answer".into()));
        }
        Ok(())
    }

    /// For what is written beside the journal.
    async fn change(&self, what: &'static str) -> Result<(), StoreError> {
        self.wait(what).await;
        self.may()?;
        self.has_room()
    }

    /// What was written beside the journal is there, and sometimes its writer does not hear of it.
    fn may_be_heard_of(&self) -> Result<(), StoreError> {
        let mut inside = self.world.inside();
        let unknown = inside.weather.unknown;
        if inside.has_chats && inside.rng.percent(unknown) {
            inside.fault("record unknown: written");
            return Err(StoreError::Unavailable("the connection broke".into()));
        }
        Ok(())
    }

    async fn write(&self, commit: Commit) -> Result<Committed, CommitError> {
        self.may()?;
        let fate = self.fate();
        let under_way = UnderWay::new(&self.world, self.node, &commit);
        self.wait("commit").await;
        drop(under_way);
        self.may()?;
        self.has_room()?;
        match fate {
            Fate::Busy => {
                self.world.inside().fault("store busy");
                return Err(StoreError::Unavailable("the store is busy".into()).into());
            }
            Fate::UnknownLost => {
                self.world.inside().fault("commit unknown: not written");
                return Err(CommitError::Unknown("the connection broke".into()));
            }
            Fate::Fine | Fate::UnknownWritten => {}
        }
        let written = self.world.write(self.node, commit);
        if let Err(CommitError::Conflict { .. }) = written {
            self.world.inside().fault("commit refused: another was first");
        }
        let committed = written?;
        self.wait("reply").await;
        if fate == Fate::UnknownWritten {
            self.world.inside().fault("commit unknown: written");
            return Err(CommitError::Unknown("the connection broke".into()));
        }
        Ok(committed)
    }
}

#[async_trait]
impl Store for NodeStore {
    #[expect(clippy::disallowed_methods, reason = "the node's runtime owns it, and ends it")]
    fn enqueue(&self, commit: Commit, done: CommitDone) {
        let store = self.clone();
        tokio::spawn(async move { done(store.write(commit).await) });
    }

    async fn load(&self, stream: StreamId) -> Result<Vec<Entry>, StoreError> {
        self.read("load").await?;
        self.world.disk.load(stream).await
    }

    async fn entries(
        &self,
        stream: Option<StreamId>,
        after: u64,
        limit: usize,
    ) -> Result<Vec<Entry>, StoreError> {
        self.read("entries").await?;
        self.world.disk.entries(stream, after, limit).await
    }

    async fn last(&self) -> Result<(u64, Option<Timestamp>), StoreError> {
        self.read("last").await?;
        self.world.disk.last().await
    }

    async fn hold(&self, id: HoldId) -> Result<Option<Arc<Hold>>, StoreError> {
        self.read("hold").await?;
        self.world.disk.hold(id).await
    }

    async fn holds(&self, query: HoldQuery) -> Result<Vec<Arc<Hold>>, StoreError> {
        self.read("holds").await?;
        self.world.disk.holds(query).await
    }

    async fn count_holds(&self, query: HoldQuery) -> Result<usize, StoreError> {
        self.read("count_holds").await?;
        self.world.disk.count_holds(query).await
    }

    async fn sessions(&self, query: SessionQuery) -> Result<Vec<SessionRow>, StoreError> {
        self.read("sessions").await?;
        self.world.disk.sessions(query).await
    }

    async fn session(&self, id: SessionId) -> Result<Option<SessionRow>, StoreError> {
        self.read("session").await?;
        self.world.disk.session(id).await
    }

    async fn session_of_run(&self, run: RunId) -> Result<Option<SessionId>, StoreError> {
        self.read("session_of_run").await?;
        self.world.disk.session_of_run(run).await
    }

    async fn grants(&self, viewer: Viewer) -> Result<Vec<Arc<Grant>>, StoreError> {
        self.read("grants").await?;
        self.world.disk.grants(viewer).await
    }

    async fn reply(&self, caller: &str, key: &str) -> Result<Option<KeptReply>, StoreError> {
        self.read("reply").await?;
        self.world.disk.reply(caller, key).await
    }

    async fn forget_replies(&self, before: Timestamp) -> Result<(), StoreError> {
        self.change("forget_replies").await?;
        self.world.disk.forget_replies(before).await
    }

    async fn due(&self, now: Timestamp, limit: usize) -> Result<Vec<StreamId>, StoreError> {
        self.read("due").await?;
        self.world.disk.due(now, limit).await
    }

    async fn next_due(&self) -> Result<Option<Timestamp>, StoreError> {
        self.read("next_due").await?;
        self.world.disk.next_due().await
    }

    async fn sessions_with_work(
        &self,
        after: Option<SessionId>,
        limit: usize,
    ) -> Result<Vec<(SessionId, NodeId)>, StoreError> {
        self.read("sessions_with_work").await?;
        self.world.disk.sessions_with_work(after, limit).await
    }

    async fn is_gone(&self, node: NodeId) -> Result<bool, StoreError> {
        self.read("is_gone").await?;
        Ok(self.world.inside().standing(node) != Standing::Alive)
    }

    async fn write_outbox(&self, write: OutboxWrite, now: Timestamp) -> Result<bool, StoreError> {
        self.change("write_outbox").await?;
        let written = self.world.disk.write_outbox(write, now).await?;
        self.may_be_heard_of()?;
        Ok(written)
    }

    async fn outbox_item(&self, queue: &str, key: &str) -> Result<Option<OutboxItem>, StoreError> {
        self.read("outbox_item").await?;
        self.world.disk.outbox_item(queue, key).await
    }

    async fn outbox_lanes(
        &self,
        queue: &str,
        in_order: bool,
        limit: usize,
    ) -> Result<Vec<DueLane>, StoreError> {
        self.read("outbox_lanes").await?;
        self.world.disk.outbox_lanes(queue, in_order, limit).await
    }

    async fn outbox_next(
        &self,
        lane: &OutboxLane,
        now: Timestamp,
    ) -> Result<Option<OutboxItem>, StoreError> {
        self.read("outbox_next").await?;
        self.world.disk.outbox_next(lane, now).await
    }

    async fn outbox_items(
        &self,
        queue: &str,
        ready_by: Timestamp,
        limit: usize,
    ) -> Result<Vec<OutboxItem>, StoreError> {
        self.read("outbox_items").await?;
        self.world.disk.outbox_items(queue, ready_by, limit).await
    }

    async fn outbox_backlog(&self) -> Result<Vec<(OutboxKind, u64)>, StoreError> {
        self.read("outbox_backlog").await?;
        self.world.disk.outbox_backlog().await
    }

    async fn put_secret(&self, secret: LoginSecret) -> Result<(), StoreError> {
        self.change("put_secret").await?;
        self.world.disk.put_secret(secret).await
    }

    async fn find_secret(
        &self,
        kind: SecretKind,
        digest: Digest,
    ) -> Result<Option<LoginSecret>, StoreError> {
        self.read("find_secret").await?;
        self.world.disk.find_secret(kind, digest).await
    }

    async fn prolong_secret(
        &self,
        kind: SecretKind,
        digest: Digest,
        expires_at: Timestamp,
    ) -> Result<(), StoreError> {
        self.change("prolong_secret").await?;
        self.world.disk.prolong_secret(kind, digest, expires_at).await
    }

    async fn take_secret(
        &self,
        kind: SecretKind,
        digest: Digest,
    ) -> Result<Option<LoginSecret>, StoreError> {
        self.change("take_secret").await?;
        self.world.disk.take_secret(kind, digest).await
    }

    async fn seal(&self, sealed: Vec<Sealed>) -> Result<(), StoreError> {
        self.change("seal").await?;
        self.world.disk.seal(sealed).await
    }

    async fn sealed(&self, scope: StreamId) -> Result<Vec<Sealed>, StoreError> {
        self.read("sealed").await?;
        self.world.disk.sealed(scope).await
    }

    async fn forget_sealed(&self, ids: &[SecretId]) -> Result<(), StoreError> {
        self.change("forget_sealed").await?;
        self.world.disk.forget_sealed(ids).await
    }

    async fn note(&self, shelf: &str, key: &str) -> Result<Option<Note>, StoreError> {
        self.read("note").await?;
        self.world.disk.note(shelf, key).await
    }

    async fn notes(
        &self,
        shelf: &str,
        prefix: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Note>, StoreError> {
        self.read("notes").await?;
        self.world.disk.notes(shelf, prefix, after, limit).await
    }

    async fn due_notes(
        &self,
        shelf: &str,
        now: Timestamp,
        limit: usize,
    ) -> Result<Vec<Note>, StoreError> {
        self.read("due_notes").await?;
        self.world.disk.due_notes(shelf, now, limit).await
    }

    async fn next_due_note(&self, shelf: &str) -> Result<Option<Timestamp>, StoreError> {
        self.read("next_due_note").await?;
        self.world.disk.next_due_note(shelf).await
    }

    async fn put_notes(&self, puts: Vec<PutNote>) -> Result<bool, StoreError> {
        self.change("put_notes").await?;
        let written = self.world.disk.put_notes(puts).await?;
        self.may_be_heard_of()?;
        Ok(written)
    }

    async fn forget_notes(&self, now: Timestamp) -> Result<(), StoreError> {
        self.change("forget_notes").await?;
        self.world.disk.forget_notes(now).await
    }

    async fn audit(&self, after: u64, limit: usize) -> Result<Vec<AuditEntry>, StoreError> {
        self.read("audit").await?;
        self.world.disk.audit(after, limit).await
    }

    async fn checkpoints(&self, after: u64) -> Result<Vec<Vec<u8>>, StoreError> {
        self.read("checkpoints").await?;
        self.world.disk.checkpoints(after).await
    }

    async fn checkpoint_now(&self, at: Timestamp) -> Result<Vec<u8>, StoreError> {
        self.change("checkpoint_now").await?;
        self.world.disk.checkpoint_now(at).await
    }

    fn audit_key(&self) -> Vec<u8> {
        self.world.disk.audit_key()
    }

    async fn probe(&self) -> Result<(), StoreError> {
        self.change("probe").await
    }
}

/// A commit that is neither written nor refused yet.
struct UnderWay {
    world: Arc<World>,
    id: u64,
}

impl UnderWay {
    fn new(world: &Arc<World>, node: NodeNo, commit: &Commit) -> UnderWay {
        let mut inside = world.inside();
        let id = inside.next_serial();
        inside.under_way.insert(id, (node, commit.clone()));
        UnderWay { world: world.clone(), id }
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.world.inside().under_way.remove(&self.id);
    }
}
