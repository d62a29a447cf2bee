//! A store that forgets when the process ends, for tests and simulations. It means the same as the
//! real one, and what it keeps has gone through the same records: what could not be read back from
//! a disk cannot be read back from here. Only secrets are kept as they are: there is no disk to seal them for.

mod data;
mod files;
mod notes;
mod outbox;
mod sight;

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use domain::digest::Digest;
use domain::grant::Grant;
use domain::hold::Hold;
use domain::id::{HoldId, NodeId, RunId, SecretId, SessionId, StreamId};
use domain::secret::Sealed;
use domain::time::Timestamp;
use ports::file_store::FileStore;
use ports::store::{
    AuditEntry, COUNT_MAX, Commit, CommitDone, DueLane, Entry, HoldQuery, KeptReply, LoginSecret,
    Note, OutboxItem, OutboxKind, OutboxLane, OutboxWrite, PutNote, SecretKind, SessionQuery,
    SessionRow, Store, StoreError, Viewer,
};
use ports::unpoisoned::Unpoisoned as _;

use data::Data;

/// One process's view of data in memory.
#[derive(Clone)]
pub struct MemoryStore {
    node: NodeId,
    data: Arc<Mutex<Data>>,
    /// Held while a commit is written and told.
    order: Arc<Mutex<()>>,
}

impl MemoryStore {
    pub fn new(node: NodeId) -> MemoryStore {
        MemoryStore { node, data: Arc::new(Mutex::new(Data::new(node))), order: Arc::default() }
    }

    /// The same data, seen by a new process. The old one is gone: whatever it still tries is
    /// refused, as a dead process could not have tried it.
    #[must_use]
    pub fn again(&self, node: NodeId) -> MemoryStore {
        self.data.lock().unpoisoned().nodes = [node].into();
        MemoryStore { node, data: self.data.clone(), order: self.order.clone() }
    }

    /// The same data, shared with one more process; both go on.
    #[must_use]
    pub fn beside(&self, node: NodeId) -> MemoryStore {
        self.data.lock().unpoisoned().nodes.insert(node);
        MemoryStore { node, data: self.data.clone(), order: self.order.clone() }
    }

    /// That process has died; the others go on.
    pub fn bury(&self, node: NodeId) {
        self.data.lock().unpoisoned().nodes.remove(&node);
    }

    /// A copy of the data as it is now, seen by a new process; the original goes on untouched. For
    /// those who want to crash at every moment of one story.
    #[must_use]
    pub fn fork(&self, node: NodeId) -> MemoryStore {
        let mut data = self.data.lock().unpoisoned().clone();
        data.nodes = [node].into();
        MemoryStore { node, data: Arc::new(Mutex::new(data)), order: Arc::default() }
    }

    fn with<T>(&self, act: impl FnOnce(&mut Data) -> T) -> Result<T, StoreError> {
        let mut data = self.data.lock().unpoisoned();
        if !data.nodes.contains(&self.node) {
            return Err(StoreError::Unavailable("another process has taken over".into()));
        }
        Ok(act(&mut data))
    }
}

impl std::fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MemoryStore").field("node", &self.node).finish_non_exhaustive()
    }
}

#[async_trait]
impl Store for MemoryStore {
    fn enqueue(&self, commit: Commit, done: CommitDone) {
        // Held until `done` has returned: the next commit is told after this one.
        let _order = self.order.lock().unpoisoned();
        let committed = commit.check_events().and_then(|()| self.with(|data| data.commit(&commit)));
        done(committed.unwrap_or_else(|refused| Err(refused.into())));
    }

    async fn load(&self, stream: StreamId) -> Result<Vec<Entry>, StoreError> {
        self.with(|data| data.entries(Some(stream), 0, usize::MAX))
    }

    async fn entries(
        &self,
        stream: Option<StreamId>,
        after: u64,
        limit: usize,
    ) -> Result<Vec<Entry>, StoreError> {
        self.with(|data| data.entries(stream, after, limit))
    }

    async fn last(&self) -> Result<(u64, Option<Timestamp>), StoreError> {
        self.with(|data| data.last())
    }

    async fn hold(&self, id: HoldId) -> Result<Option<Arc<Hold>>, StoreError> {
        self.with(|data| data.holds.get(&id).cloned())
    }

    async fn holds(&self, query: HoldQuery) -> Result<Vec<Arc<Hold>>, StoreError> {
        let mut found = self.with(|data| data.list_holds(&query))?;
        found.truncate(query.limit);
        Ok(found)
    }

    async fn count_holds(&self, query: HoldQuery) -> Result<usize, StoreError> {
        let query = HoldQuery { after: None, ..query };
        self.with(|data| data.list_holds(&query).len().min(COUNT_MAX))
    }

    async fn sessions(&self, query: SessionQuery) -> Result<Vec<SessionRow>, StoreError> {
        self.with(|data| data.list_sessions(&query))
    }

    async fn session(&self, id: SessionId) -> Result<Option<SessionRow>, StoreError> {
        self.with(|data| data.sessions.get(&id).cloned())
    }

    async fn session_of_run(&self, run: RunId) -> Result<Option<SessionId>, StoreError> {
        self.with(|data| data.runs.get(&run).copied())
    }

    async fn grants(&self, viewer: Viewer) -> Result<Vec<Arc<Grant>>, StoreError> {
        self.with(|data| data.list_grants(&viewer))
    }

    async fn reply(&self, caller: &str, key: &str) -> Result<Option<KeptReply>, StoreError> {
        let name = (caller.to_owned(), key.to_owned());
        self.with(|data| data.replies.get(&name).cloned())
    }

    async fn forget_replies(&self, before: Timestamp) -> Result<(), StoreError> {
        self.with(|data| data.replies.retain(|_, reply| reply.at >= before))
    }

    async fn due(&self, now: Timestamp, limit: usize) -> Result<Vec<StreamId>, StoreError> {
        self.with(|data| data.due(now, limit))
    }

    async fn next_due(&self) -> Result<Option<Timestamp>, StoreError> {
        self.with(|data| {
            let pending = data.holds.values().filter(|hold| hold.is_pending());
            pending.filter_map(|hold| hold.expires_at).min()
        })
    }

    async fn sessions_with_work(
        &self,
        after: Option<SessionId>,
        limit: usize,
    ) -> Result<Vec<(SessionId, NodeId)>, StoreError> {
        self.with(|data| {
            let owing = data.sessions.values().filter(|row| row.owes);
            let later = owing.filter(|row| after.is_none_or(|after| row.id > after));
            later.map(|row| (row.id, row.owner)).take(limit).collect()
        })
    }

    async fn is_gone(&self, node: NodeId) -> Result<bool, StoreError> {
        self.with(|data| !data.nodes.contains(&node))
    }

    async fn write_outbox(&self, write: OutboxWrite, now: Timestamp) -> Result<bool, StoreError> {
        self.with(|data| data.outbox.write(&mut data.notes, write, now))
    }

    async fn outbox_item(&self, queue: &str, key: &str) -> Result<Option<OutboxItem>, StoreError> {
        self.with(|data| data.outbox.item(queue, key).cloned())
    }

    async fn outbox_lanes(
        &self,
        queue: &str,
        in_order: bool,
        limit: usize,
    ) -> Result<Vec<DueLane>, StoreError> {
        self.with(|data| data.outbox.lanes(queue, in_order, limit))
    }

    async fn outbox_next(
        &self,
        lane: &OutboxLane,
        now: Timestamp,
    ) -> Result<Option<OutboxItem>, StoreError> {
        self.with(|data| data.outbox.next(lane, now))
    }

    async fn outbox_items(
        &self,
        queue: &str,
        ready_by: Timestamp,
        limit: usize,
    ) -> Result<Vec<OutboxItem>, StoreError> {
        self.with(|data| data.outbox.items(queue, ready_by, limit))
    }

    async fn outbox_backlog(&self) -> Result<Vec<(OutboxKind, u64)>, StoreError> {
        self.with(|data| data.outbox.backlog())
    }

    async fn put_secret(&self, secret: LoginSecret) -> Result<(), StoreError> {
        self.with(|data| data.put_secret(secret))
    }

    async fn find_secret(
        &self,
        kind: SecretKind,
        digest: Digest,
    ) -> Result<Option<LoginSecret>, StoreError> {
        self.with(|data| data.secrets.get(&(kind, digest)).cloned())
    }

    async fn prolong_secret(
        &self,
        kind: SecretKind,
        digest: Digest,
        expires_at: Timestamp,
    ) -> Result<(), StoreError> {
        self.with(|data| {
            if let Some(secret) = data.secrets.get_mut(&(kind, digest)) {
                secret.expires_at = expires_at;
            }
        })
    }

    async fn take_secret(
        &self,
        kind: SecretKind,
        digest: Digest,
    ) -> Result<Option<LoginSecret>, StoreError> {
        self.with(|data| data.secrets.remove(&(kind, digest)))
    }

    async fn seal(&self, sealed: Vec<Sealed>) -> Result<(), StoreError> {
        self.with(|data| {
            if sealed.iter().any(|one| data.sealed.contains_key(&one.id)) {
                return Err(StoreError::Unavailable("a secret of this id is kept already".into()));
            }
            data.sealed.extend(sealed.into_iter().map(|one| (one.id, one)));
            Ok(())
        })?
    }

    async fn sealed(&self, scope: StreamId) -> Result<Vec<Sealed>, StoreError> {
        self.with(|data| data.sealed.values().filter(|one| one.scope == scope).cloned().collect())
    }

    async fn forget_sealed(&self, ids: &[SecretId]) -> Result<(), StoreError> {
        self.with(|data| data.sealed.retain(|id, _| !ids.contains(id)))
    }

    async fn note(&self, shelf: &str, key: &str) -> Result<Option<Note>, StoreError> {
        self.with(|data| data.notes.one(shelf, key))
    }

    async fn notes(
        &self,
        shelf: &str,
        prefix: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Note>, StoreError> {
        self.with(|data| data.notes.some(shelf, prefix, after, limit))
    }

    async fn due_notes(
        &self,
        shelf: &str,
        now: Timestamp,
        limit: usize,
    ) -> Result<Vec<Note>, StoreError> {
        self.with(|data| data.notes.due(shelf, now, limit))
    }

    async fn next_due_note(&self, shelf: &str) -> Result<Option<Timestamp>, StoreError> {
        self.with(|data| data.notes.next_due(shelf))
    }

    async fn put_notes(&self, puts: Vec<PutNote>) -> Result<bool, StoreError> {
        self.with(|data| data.notes.put(puts))
    }

    async fn forget_notes(&self, now: Timestamp) -> Result<(), StoreError> {
        self.with(|data| data.notes.forget(now))
    }

    async fn audit(&self, after: u64, limit: usize) -> Result<Vec<AuditEntry>, StoreError> {
        self.with(|data| data.audit(after, limit))
    }

    async fn checkpoints(&self, after: u64) -> Result<Vec<Vec<u8>>, StoreError> {
        self.with(|data| {
            let later = data.checkpoints.iter().filter(|(seq, _)| **seq > after);
            later.map(|(_, bytes)| bytes.clone()).collect()
        })
    }

    async fn checkpoint_now(&self, at: Timestamp) -> Result<Vec<u8>, StoreError> {
        self.with(|data| data.end(at))
    }

    fn audit_key(&self) -> Vec<u8> {
        data::signer().public_key().to_string().into_bytes()
    }

    fn files(&self) -> Option<&dyn FileStore> {
        Some(self)
    }

    async fn probe(&self) -> Result<(), StoreError> {
        self.with(|_| ())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::stage::{Stage, node, person, session_id};
    use ports::store::CommitError;

    #[tokio::test]
    async fn a_process_that_was_replaced_can_do_nothing_more() {
        let first = MemoryStore::new(node(1));
        let mut stage = Stage::new(session_id(1), node(1));
        first.commit(stage.open(person("ana"))).await.unwrap();
        let second = first.again(node(2));
        let late = first.commit(stage.clone().say(1)).await;
        assert!(matches!(late, Err(CommitError::Store(StoreError::Unavailable(_)))));
        second.commit(stage.say(1)).await.unwrap();
        assert_eq!(second.last().await.unwrap().0, 3);
    }

    #[tokio::test]
    async fn a_fork_goes_its_own_way() {
        let store = MemoryStore::new(node(1));
        let mut stage = Stage::new(session_id(1), node(1));
        store.commit(stage.open(person("ana"))).await.unwrap();
        let fork = store.fork(node(2));
        assert!(fork.is_gone(node(1)).await.unwrap());
        fork.commit(stage.clone().say(1)).await.unwrap();
        store.commit(stage.say(2)).await.unwrap();
        let stream = StreamId::Session(session_id(1));
        let (mine, theirs) = (store.load(stream).await.unwrap(), fork.load(stream).await.unwrap());
        assert_eq!(mine[0], theirs[0]);
        assert_ne!(mine[1], theirs[1]);
    }
}
