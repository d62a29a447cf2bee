//! The port, over the writer and the readers.

use std::sync::Arc;

use async_trait::async_trait;
use domain::digest::Digest;
use domain::grant::Grant;
use domain::hold::Hold;
use domain::id::{HoldId, NodeId, RunId, SecretId, SessionId, StreamId};
use domain::secret::Sealed;
use domain::time::Timestamp;
use ports::file_store::FileStore;
use ports::store::{
    AuditEntry, Commit, CommitDone, DueLane, Entry, HoldFacts, HoldQuery, KeptReply, LoginSecret,
    Note, OutboxItem, OutboxKind, OutboxLane, OutboxWrite, PutNote, SecretKind, SessionQuery,
    SessionRow, Store, StoreError, Viewer,
};

use super::aux_write::{self, AuxOutcome, AuxWrite};
use super::rows::RowKey;
use super::transaction::QueuedWrite;
use super::{SqliteStore, lists, notes, outbox, reads, rows, sealed, shutting_down};

#[async_trait]
impl Store for SqliteStore {
    fn enqueue(&self, commit: Commit, done: CommitDone) {
        if let Err(misplaced) = commit.check_events() {
            return done(Err(misplaced.into()));
        }
        let waiting = QueuedWrite::new(commit, done, self.writes.last_taken());
        // Each stream has one commit in the queue at most, and so its callers bound it.
        if let Err(waiting) = self.writes.push_now(waiting) {
            waiting.refuse(shutting_down());
        }
    }

    async fn load(&self, stream: StreamId) -> Result<Vec<Entry>, StoreError> {
        // Looked up before the table is read: what leaves the write-behind meanwhile is there by then.
        let newest = self.write_behind.of_stream(stream);
        self.readers.read(move |connection| reads::load(connection, stream, &newest)).await
    }

    async fn entries(
        &self,
        stream: Option<StreamId>,
        after: u64,
        limit: usize,
    ) -> Result<Vec<Entry>, StoreError> {
        let Some(stream) = stream else {
            return self.readers.read(move |c| reads::entries(c, after, limit)).await;
        };
        let newest = self.write_behind.of_stream(stream);
        self.readers.read(move |c| reads::entries_of(c, stream, after, limit, &newest)).await
    }

    async fn last(&self) -> Result<(u64, Option<Timestamp>), StoreError> {
        self.readers.read(reads::last).await
    }

    async fn hold(&self, id: HoldId) -> Result<Option<Arc<Hold>>, StoreError> {
        let readers = self.known(self.write_behind.doubts(RowKey::Hold(id))).await?;
        if let Some(hold) = self.write_behind.hold(id) {
            return Ok(Some(hold));
        }
        readers.read(move |connection| reads::hold(connection, id)).await
    }

    async fn holds(&self, query: HoldQuery) -> Result<Vec<Arc<Hold>>, StoreError> {
        let readers = self.tables_as_they_are().await;
        // Empty, unless the disk does not let it be cleared: even then nobody is shown as waiting for
        // an answer what has one.
        let pending = self.write_behind.holds();
        let wider = HoldQuery { limit: query.limit + pending.len(), ..query.clone() };
        let found = readers.read(move |connection| lists::holds(connection, &wider)).await?;
        Ok(rows::lay_over(found, &pending, &query))
    }

    async fn hold_facts(&self, query: HoldQuery) -> Result<Vec<HoldFacts>, StoreError> {
        self.tables().await?.read(move |connection| lists::hold_facts(connection, &query)).await
    }

    async fn count_holds(&self, query: HoldQuery) -> Result<usize, StoreError> {
        self.tables().await?.read(move |connection| lists::count_holds(connection, &query)).await
    }

    async fn sessions(&self, query: SessionQuery) -> Result<Vec<SessionRow>, StoreError> {
        self.tables_as_they_are()
            .await
            .read(move |connection| lists::sessions(connection, &query))
            .await
    }

    async fn session(&self, id: SessionId) -> Result<Option<SessionRow>, StoreError> {
        let readers = self.known(self.write_behind.doubts(RowKey::Session(id))).await?;
        if let Some(row) = self.write_behind.session(id) {
            return Ok(Some(row));
        }
        readers.read(move |connection| reads::session(connection, id)).await
    }

    async fn session_of_run(&self, run: RunId) -> Result<Option<SessionId>, StoreError> {
        let readers = self.known(self.write_behind.doubts(RowKey::Run(run))).await?;
        if let Some(session) = self.write_behind.session_of_run(run) {
            return Ok(Some(session));
        }
        readers.read(move |connection| reads::session_of_run(connection, run)).await
    }

    async fn grants(&self, viewer: Viewer) -> Result<Vec<Arc<Grant>>, StoreError> {
        self.tables().await?.read(move |connection| lists::grants(connection, &viewer)).await
    }

    async fn reply(&self, caller: &str, key: &str) -> Result<Option<KeptReply>, StoreError> {
        let (caller, key) = (caller.to_owned(), key.to_owned());
        self.readers.read(move |connection| reads::reply(connection, &caller, &key)).await
    }

    async fn forget_replies(&self, before: Timestamp) -> Result<(), StoreError> {
        // Most of the time there is none, and then nothing is written.
        if !self.readers.read(move |connection| reads::has_replies(connection, before)).await? {
            return Ok(());
        }
        while let AuxOutcome::Some = self.aux_write(AuxWrite::ForgetReplies { before }).await? {}
        Ok(())
    }

    async fn due(&self, now: Timestamp, limit: usize) -> Result<Vec<StreamId>, StoreError> {
        self.tables().await?.read(move |connection| reads::due(connection, now, limit)).await
    }

    async fn next_due(&self) -> Result<Option<Timestamp>, StoreError> {
        self.tables().await?.read(reads::next_due).await
    }

    async fn sessions_with_work(
        &self,
        after: Option<SessionId>,
        limit: usize,
    ) -> Result<Vec<(SessionId, NodeId)>, StoreError> {
        self.tables()
            .await?
            .read(move |connection| reads::sessions_with_work(connection, after, limit))
            .await
    }

    fn is_shared(&self) -> bool {
        false
    }

    /// Of the database and its log.
    fn size_bytes(&self) -> Option<u64> {
        let log = self.database.with_extension("db-wal");
        let size = |path: &std::path::Path| std::fs::metadata(path).map(|file| file.len());
        // Without a connection there is no log.
        Some(size(&self.database).ok()? + size(&log).unwrap_or(0))
    }

    async fn is_gone(&self, node: NodeId) -> Result<bool, StoreError> {
        // Whoever has the lock is the only one alive: the kernel frees it when its holder dies.
        Ok(node != self.node)
    }

    async fn write_outbox(&self, write: OutboxWrite, now: Timestamp) -> Result<bool, StoreError> {
        match self.aux_write(AuxWrite::WriteOutbox { write, now }).await? {
            AuxOutcome::Refused => Ok(false),
            _ => Ok(true),
        }
    }

    async fn outbox_item(&self, queue: &str, key: &str) -> Result<Option<OutboxItem>, StoreError> {
        let (queue, key) = (queue.to_owned(), key.to_owned());
        self.readers.read(move |connection| Ok(outbox::item(connection, &queue, &key)?)).await
    }

    async fn outbox_lanes(
        &self,
        queue: &str,
        in_order: bool,
        limit: usize,
    ) -> Result<Vec<DueLane>, StoreError> {
        let queue = queue.to_owned();
        self.readers
            .read(move |connection| outbox::lanes(connection, &queue, in_order, limit))
            .await
    }

    async fn outbox_next(
        &self,
        lane: &OutboxLane,
        now: Timestamp,
    ) -> Result<Option<OutboxItem>, StoreError> {
        let lane = lane.clone();
        self.readers.read(move |connection| outbox::next(connection, &lane, now)).await
    }

    async fn outbox_items(
        &self,
        queue: &str,
        ready_by: Timestamp,
        limit: usize,
    ) -> Result<Vec<OutboxItem>, StoreError> {
        let queue = queue.to_owned();
        self.readers
            .read(move |connection| outbox::items(connection, &queue, ready_by, limit))
            .await
    }

    async fn outbox_backlog(&self) -> Result<Vec<(OutboxKind, u64)>, StoreError> {
        self.readers.read(outbox::backlog).await
    }

    async fn put_secret(&self, secret: LoginSecret) -> Result<(), StoreError> {
        self.aux_write(AuxWrite::PutSecret(secret)).await.map(drop)
    }

    async fn find_secret(
        &self,
        kind: SecretKind,
        digest: Digest,
    ) -> Result<Option<LoginSecret>, StoreError> {
        self.readers
            .read(move |connection| Ok(aux_write::find_secret(connection, kind, digest)?))
            .await
    }

    async fn prolong_secret(
        &self,
        kind: SecretKind,
        digest: Digest,
        expires_at: Timestamp,
    ) -> Result<(), StoreError> {
        self.aux_write(AuxWrite::ProlongSecret { kind, digest, expires_at }).await.map(drop)
    }

    async fn take_secret(
        &self,
        kind: SecretKind,
        digest: Digest,
    ) -> Result<Option<LoginSecret>, StoreError> {
        match self.aux_write(AuxWrite::TakeSecret { kind, digest }).await? {
            AuxOutcome::Secret(secret) => Ok(secret),
            _ => Ok(None),
        }
    }

    fn check_sealing(&self) -> Result<(), StoreError> {
        self.sealer.check()
    }

    async fn seal(&self, sealed: Vec<Sealed>) -> Result<(), StoreError> {
        let rows = self.sealer.seal(&sealed)?;
        self.aux_write(AuxWrite::Seal(rows)).await.map(drop)
    }

    async fn sealed(&self, scope: StreamId) -> Result<Vec<Sealed>, StoreError> {
        let stored =
            move |connection: &rusqlite::Connection| sealed::stored_of_stream(connection, scope);
        self.readers.read(stored).await?.into_iter().map(|one| self.sealer.open(one)).collect()
    }

    async fn forget_sealed(&self, ids: &[SecretId]) -> Result<(), StoreError> {
        self.aux_write(AuxWrite::ForgetSealed(ids.to_vec())).await.map(drop)
    }

    async fn note(&self, shelf: &str, key: &str) -> Result<Option<Note>, StoreError> {
        let (shelf, key) = (shelf.to_owned(), key.to_owned());
        self.readers.read(move |connection| Ok(notes::find_note(connection, &shelf, &key)?)).await
    }

    async fn notes(
        &self,
        shelf: &str,
        prefix: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Note>, StoreError> {
        let (shelf, prefix) = (shelf.to_owned(), prefix.to_owned());
        let after = after.map(str::to_owned);
        self.readers
            .read(move |connection| {
                notes::some(connection, &shelf, &prefix, after.as_deref(), limit)
            })
            .await
    }

    async fn due_notes(
        &self,
        shelf: &str,
        now: Timestamp,
        limit: usize,
    ) -> Result<Vec<Note>, StoreError> {
        let shelf = shelf.to_owned();
        self.readers.read(move |connection| notes::due(connection, &shelf, now, limit)).await
    }

    async fn next_due_note(&self, shelf: &str) -> Result<Option<Timestamp>, StoreError> {
        let shelf = shelf.to_owned();
        self.readers.read(move |connection| notes::next_due(connection, &shelf)).await
    }

    async fn put_notes(&self, puts: Vec<PutNote>) -> Result<bool, StoreError> {
        match self.aux_write(AuxWrite::PutNotes(puts)).await? {
            AuxOutcome::Refused => Ok(false),
            _ => Ok(true),
        }
    }

    async fn forget_notes(&self, now: Timestamp) -> Result<(), StoreError> {
        // Most of the time there is none, and then nothing is written.
        if !self.readers.read(move |connection| notes::any_to_forget(connection, now)).await? {
            return Ok(());
        }
        while let AuxOutcome::Some = self.aux_write(AuxWrite::ForgetNotes { now }).await? {}
        Ok(())
    }

    async fn audit(&self, after: u64, limit: usize) -> Result<Vec<AuditEntry>, StoreError> {
        self.readers.read(move |connection| reads::audit(connection, after, limit)).await
    }

    async fn checkpoints(&self, after: u64) -> Result<Vec<Vec<u8>>, StoreError> {
        self.readers.read(move |connection| reads::checkpoints(connection, after)).await
    }

    async fn checkpoint_now(&self, at: Timestamp) -> Result<Vec<u8>, StoreError> {
        match self.aux_write(AuxWrite::End { at }).await? {
            AuxOutcome::Bytes(bytes) => Ok(bytes),
            _ => Err(StoreError::Unavailable("the log could not be signed".into())),
        }
    }

    fn audit_key(&self) -> Vec<u8> {
        self.key.to_string().into_bytes()
    }

    fn files(&self) -> Option<&dyn FileStore> {
        Some(self)
    }

    async fn probe(&self) -> Result<(), StoreError> {
        match self.aux_write(AuxWrite::Probe).await? {
            AuxOutcome::Unsafe(found) => Err(StoreError::Unavailable(found.to_string())),
            _ => Ok(()),
        }
    }
}
