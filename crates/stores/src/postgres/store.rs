//! The port, over the writer and the readers.

use std::sync::Arc;

use async_trait::async_trait;
use audit::{Chain, Hash};
use domain::digest::Digest;
use domain::grant::Grant;
use domain::hold::Hold;
use domain::id::{HoldId, NodeId, RunId, SecretId, SessionId, StreamId};
use domain::secret::Sealed;
use domain::time::Timestamp;
use ports::store::{
    AuditEntry, Commit, CommitDone, DueLane, Entry, HeardOfOthers, HoldFacts, HoldQuery, KeptReply,
    LoginSecret, Note, OutboxItem, OutboxKind, OutboxLane, OutboxWrite, PutNote, SecretKind,
    SessionQuery, SessionRow, Store, StoreError, Viewer,
};
use ports::unpoisoned::Unpoisoned as _;
use tokio::sync::mpsc;
use tokio_postgres::Row;

use super::aux_write::{self, PgAuxOutcome, PgAuxWrite};
use super::commit::PreparedCommit;
use super::error::PgFailure;
use super::readers::PgRead;
use super::sql::TypedSql;
use super::writer::PgJob;
use super::{PgStore, cells, lists, notes, outbox, reads, sealed, shutting_down};
use crate::record::Broken;

fn each<T>(
    rows: Vec<Row>,
    read: impl Fn(&Row) -> Result<T, PgFailure>,
) -> Result<Vec<T>, StoreError> {
    Ok(rows.iter().map(read).collect::<Result<_, _>>()?)
}

fn one<T>(
    row: Option<Row>,
    read: impl Fn(&Row) -> Result<T, PgFailure>,
) -> Result<Option<T>, StoreError> {
    Ok(row.as_ref().map(read).transpose()?)
}

impl PgStore {
    /// What such a list has; nothing if nothing can match.
    async fn listed<T>(
        &self,
        sql: Option<TypedSql>,
        read: impl Fn(&Row) -> Result<T, PgFailure>,
    ) -> Result<Vec<T>, StoreError> {
        match sql {
            Some(sql) => each(self.readers.rows(sql).await?, read),
            None => Ok(Vec::new()),
        }
    }

    async fn says(&self, sql: TypedSql) -> Result<bool, StoreError> {
        Ok(self.readers.row(sql).await?.is_some_and(|row| row.get(0)))
    }
}

#[async_trait]
impl Store for PgStore {
    fn enqueue(&self, commit: Commit, done: CommitDone) {
        if let Err(misplaced) = commit.check_events() {
            return done(Err(misplaced.into()));
        }
        let commit = Box::new(PreparedCommit::new(commit));
        // Each stream has one commit on its way at most, and so its callers bound the queue.
        if let Err(refused) = self.jobs.send(PgJob::Commit { commit, done })
            && let PgJob::Commit { done, .. } = refused.0
        {
            done(Err(shutting_down().into()));
        }
    }

    async fn load(&self, stream: StreamId) -> Result<Vec<Entry>, StoreError> {
        let sql = reads::entries_of(stream, 0, usize::MAX);
        each(self.readers.rows(sql).await?, reads::read_entry)
    }

    async fn entries(
        &self,
        stream: Option<StreamId>,
        after: u64,
        limit: usize,
    ) -> Result<Vec<Entry>, StoreError> {
        let sql = match stream {
            Some(stream) => reads::entries_of(stream, after, limit),
            None => reads::entries(after, limit),
        };
        each(self.readers.rows(sql).await?, reads::read_entry)
    }

    async fn last(&self) -> Result<(u64, Option<Timestamp>), StoreError> {
        let row = self.readers.row(reads::head()).await?;
        let head = |row: Row| {
            let at = row.get::<_, Option<i64>>(2).map(Timestamp::from_ms);
            (row.get::<_, i64>(0) as u64, at)
        };
        Ok(row.map_or((0, None), head))
    }

    async fn hold(&self, id: HoldId) -> Result<Option<Arc<Hold>>, StoreError> {
        one(self.readers.row(reads::hold(id)).await?, reads::read_hold_row)
    }

    async fn holds(&self, query: HoldQuery) -> Result<Vec<Arc<Hold>>, StoreError> {
        self.listed(lists::holds("h.record", &query), reads::read_hold_row).await
    }

    async fn hold_facts(&self, query: HoldQuery) -> Result<Vec<HoldFacts>, StoreError> {
        self.listed(lists::holds(reads::FACT_COLUMNS, &query), reads::read_facts).await
    }

    async fn count_holds(&self, query: HoldQuery) -> Result<usize, StoreError> {
        let Some(sql) = lists::count_holds(&query) else { return Ok(0) };
        let count = self.readers.row(sql).await?.map_or(0, |row| row.get::<_, i64>(0));
        Ok(usize::try_from(count).unwrap_or_default())
    }

    async fn sessions(&self, query: SessionQuery) -> Result<Vec<SessionRow>, StoreError> {
        self.listed(lists::sessions(&query), reads::read_session).await
    }

    async fn session(&self, id: SessionId) -> Result<Option<SessionRow>, StoreError> {
        one(self.readers.row(reads::session(id)).await?, reads::read_session)
    }

    async fn session_of_run(&self, run: RunId) -> Result<Option<SessionId>, StoreError> {
        one(self.readers.row(reads::session_of_run(run)).await?, |row| {
            Ok(SessionId(cells::bits(row.get(0))?))
        })
    }

    async fn grants(&self, viewer: Viewer) -> Result<Vec<Arc<Grant>>, StoreError> {
        self.listed(lists::grants(&viewer), reads::read_grant_row).await
    }

    async fn reply(&self, caller: &str, key: &str) -> Result<Option<KeptReply>, StoreError> {
        let found = self.readers.row(reads::reply(caller, key)).await?;
        one(found, |row| reads::read_reply(caller, key, row))
    }

    async fn forget_replies(&self, before: Timestamp) -> Result<(), StoreError> {
        // Looked at first: most of the time there is nothing to do, and nobody need wait for it.
        while self.says(reads::has_replies(before)).await? {
            match self.write_aux(PgAuxWrite::ForgetReplies { before }).await? {
                PgAuxOutcome::More => {}
                _ => break,
            }
        }
        Ok(())
    }

    async fn due(&self, now: Timestamp, limit: usize) -> Result<Vec<StreamId>, StoreError> {
        each(self.readers.rows(reads::due(now, limit)).await?, reads::read_due)
    }

    async fn next_due(&self) -> Result<Option<Timestamp>, StoreError> {
        Ok(reads::first_time(self.readers.row(reads::next_due()).await?))
    }

    async fn sessions_with_work(
        &self,
        after: Option<SessionId>,
        limit: usize,
    ) -> Result<Vec<(SessionId, NodeId)>, StoreError> {
        let sql = reads::sessions_with_work(after, limit);
        each(self.readers.rows(sql).await?, reads::read_work)
    }

    async fn is_gone(&self, node: NodeId) -> Result<bool, StoreError> {
        // One that never entered itself wrote into another database, which came here as a copy.
        Ok(self.readers.row(reads::node(node)).await?.is_none_or(|row| row.get(0)))
    }

    fn may_begin(&self) -> bool {
        self.lease.is_valid()
    }

    fn shared_now(&self) -> Option<Timestamp> {
        Some(self.lease.database_now())
    }

    fn note_global_seen(&self, version: u64) {
        self.lease.note_global(version);
    }

    async fn all_have_seen(&self, version: u64) -> Result<bool, StoreError> {
        self.says(reads::all_have_seen(version)).await
    }

    fn hear_others(&self) -> Option<mpsc::Receiver<HeardOfOthers>> {
        self.heard.lock().unpoisoned().take()
    }

    async fn write_outbox(&self, write: OutboxWrite, now: Timestamp) -> Result<bool, StoreError> {
        let done = self.write_aux(PgAuxWrite::WriteOutbox { write, now }).await?;
        Ok(!matches!(done, PgAuxOutcome::Refused))
    }

    async fn outbox_item(&self, queue: &str, key: &str) -> Result<Option<OutboxItem>, StoreError> {
        let read = PgRead::OutboxItem { queue: queue.to_owned(), key: key.to_owned() };
        self.readers.item(read).await
    }

    async fn outbox_lanes(
        &self,
        queue: &str,
        in_order: bool,
        limit: usize,
    ) -> Result<Vec<DueLane>, StoreError> {
        let found = self.readers.rows(outbox::lanes(queue, in_order, limit)).await?;
        each(found, |row| outbox::read_due_lane(queue, in_order, row))
    }

    async fn outbox_next(
        &self,
        lane: &OutboxLane,
        now: Timestamp,
    ) -> Result<Option<OutboxItem>, StoreError> {
        // More than one look: whoever claims it names the version that it has here.
        self.readers.item(PgRead::OutboxNext { lane: lane.clone(), now }).await
    }

    async fn outbox_items(
        &self,
        queue: &str,
        ready_by: Timestamp,
        limit: usize,
    ) -> Result<Vec<OutboxItem>, StoreError> {
        let found = self.readers.rows(outbox::items(queue, ready_by, limit)).await?;
        each(found, outbox::read_item)
    }

    async fn outbox_backlog(&self) -> Result<Vec<(OutboxKind, u64)>, StoreError> {
        let counts = TypedSql::new("SELECT kind, count(*) FROM holdpoint.outbox GROUP BY kind");
        let found = each(self.readers.rows(counts).await?, |row| {
            Ok((cells::outbox_kind(row.get(0))?, row.get::<_, i64>(1) as u64))
        })?;
        let count =
            |kind| found.iter().find(|(found, _)| *found == kind).map_or(0, |found| found.1);
        Ok(OutboxKind::ALL.map(|kind| (kind, count(kind))).into())
    }

    async fn put_secret(&self, secret: LoginSecret) -> Result<(), StoreError> {
        self.write_aux(PgAuxWrite::PutSecret(secret)).await.map(drop)
    }

    async fn find_secret(
        &self,
        kind: SecretKind,
        digest: Digest,
    ) -> Result<Option<LoginSecret>, StoreError> {
        let found = self.readers.row(aux_write::find_secret(kind, digest)).await?;
        one(found, |row| aux_write::read_secret(kind, digest, row))
    }

    async fn prolong_secret(
        &self,
        kind: SecretKind,
        digest: Digest,
        expires_at: Timestamp,
    ) -> Result<(), StoreError> {
        self.write_aux(PgAuxWrite::ProlongSecret { kind, digest, expires_at }).await.map(drop)
    }

    async fn take_secret(
        &self,
        kind: SecretKind,
        digest: Digest,
    ) -> Result<Option<LoginSecret>, StoreError> {
        match self.write_aux(PgAuxWrite::TakeSecret { kind, digest }).await? {
            PgAuxOutcome::Secret(secret) => Ok(secret.map(|secret| *secret)),
            _ => Ok(None),
        }
    }

    fn check_sealing(&self) -> Result<(), StoreError> {
        self.sealer.check()
    }

    async fn seal(&self, sealed: Vec<Sealed>) -> Result<(), StoreError> {
        let rows = self.sealer.seal(&sealed)?;
        self.write_aux(PgAuxWrite::Seal(rows)).await.map(drop)
    }

    async fn sealed(&self, scope: StreamId) -> Result<Vec<Sealed>, StoreError> {
        let found = self.readers.rows(sealed::of_stream(scope)).await?;
        let stored = each(found, sealed::read_stored)?;
        stored.into_iter().map(|one| self.sealer.open(one)).collect()
    }

    async fn forget_sealed(&self, ids: &[SecretId]) -> Result<(), StoreError> {
        self.write_aux(PgAuxWrite::ForgetSealed(ids.to_vec())).await.map(drop)
    }

    async fn note(&self, shelf: &str, key: &str) -> Result<Option<Note>, StoreError> {
        one(self.readers.row(notes::one(shelf, key)).await?, notes::read_note)
    }

    async fn notes(
        &self,
        shelf: &str,
        prefix: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Note>, StoreError> {
        let sql = notes::some(shelf, prefix, after, limit);
        each(self.readers.rows(sql).await?, notes::read_note)
    }

    async fn due_notes(
        &self,
        shelf: &str,
        now: Timestamp,
        limit: usize,
    ) -> Result<Vec<Note>, StoreError> {
        each(self.readers.rows(notes::due(shelf, now, limit)).await?, notes::read_note)
    }

    async fn next_due_note(&self, shelf: &str) -> Result<Option<Timestamp>, StoreError> {
        Ok(reads::first_time(self.readers.row(notes::next_due(shelf)).await?))
    }

    async fn put_notes(&self, puts: Vec<PutNote>) -> Result<bool, StoreError> {
        Ok(!matches!(self.write_aux(PgAuxWrite::PutNotes(puts)).await?, PgAuxOutcome::Refused))
    }

    async fn forget_notes(&self, now: Timestamp) -> Result<(), StoreError> {
        while self.says(notes::any_to_forget(now)).await? {
            match self.write_aux(PgAuxWrite::ForgetNotes { now }).await? {
                PgAuxOutcome::More => {}
                _ => break,
            }
        }
        Ok(())
    }

    async fn audit(&self, after: u64, limit: usize) -> Result<Vec<AuditEntry>, StoreError> {
        each(self.readers.rows(reads::audit(after, limit)).await?, reads::read_audit)
    }

    async fn checkpoints(&self, after: u64) -> Result<Vec<Vec<u8>>, StoreError> {
        each(self.readers.rows(reads::checkpoints(after)).await?, |row| Ok(row.get(0)))
    }

    async fn checkpoint_now(&self, at: Timestamp) -> Result<Vec<u8>, StoreError> {
        let damaged = || StoreError::from(Broken::Damaged("the journal has no head".into()));
        let row = self.readers.row(reads::head()).await?.ok_or_else(damaged)?;
        let hash = row.get::<_, &[u8]>(3).try_into().map_err(|_| damaged())?;
        let chain = Chain::resume(Hash::from_bytes(hash), row.get::<_, i64>(1) as u64);
        Ok(self.signer.sign_end(&chain, at.as_ms()).to_string().into_bytes())
    }

    fn audit_key(&self) -> Vec<u8> {
        self.signer.public_key().to_string().into_bytes()
    }

    async fn probe(&self) -> Result<(), StoreError> {
        self.write_aux(PgAuxWrite::Probe).await?;
        if !self.lease.is_valid() {
            let why = "this node's lease has run out: nothing begins here before it is renewed";
            return Err(StoreError::Unavailable(why.into()));
        }
        Ok(())
    }
}
