//! The task that writes. It takes what has come together meanwhile, and makes it durable with one sync.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ports::store::{CommitDone, CommitError, Committed, StoreError};
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use super::aux_write::{PgAuxOutcome, PgAuxWrite};
use super::commit::PreparedCommit;
use super::connection::{PgConnection, in_time};
use super::connector::JournalMark;
use super::error::PgFailure;
use super::hearing::OwnWrites;
use super::lease::NodeLease;
use super::limits::{ANSWER_WITHIN, COMMITS_MAX, RECONNECT_PAUSE, SETTLE_WITHIN};
use super::transaction::{TransactionMark, WritingNode, begin_alone, is_written, write_commits};

pub(super) type PgAuxReply = oneshot::Sender<Result<PgAuxOutcome, StoreError>>;

pub(super) enum PgJob {
    Commit {
        commit: Box<PreparedCommit>,
        done: CommitDone,
    },
    Aux {
        write: PgAuxWrite,
        reply: PgAuxReply,
    },
    /// The last one: nothing more is taken in.
    Close,
}

pub(super) struct PgWriter {
    pub(super) node: WritingNode,
    pub(super) jobs: mpsc::UnboundedReceiver<PgJob>,
    pub(super) connection: Option<PgConnection>,
    pub(super) lease: Arc<NodeLease>,
    pub(super) in_doubt: Arc<AtomicBool>,
    pub(super) own: Arc<OwnWrites>,
    /// Transactions of small writes that this node began.
    pub(super) aux_count: i64,
}

/// Commits, and beside each whom to tell.
#[derive(Default)]
struct QueuedCommits {
    commits: Vec<PreparedCommit>,
    dones: Vec<CommitDone>,
}

type Fates = Vec<Result<Committed, CommitError>>;

/// A transaction that did not come to its end.
enum WriteStopped {
    /// Nothing of it has happened.
    Cleanly(PgFailure),
    /// One that must come before a deadline would come after it. Nothing has happened.
    TooLate,
    /// It may have happened.
    Unknown { mark: Option<JournalMark>, fates: Fates, why: PgFailure },
}

/// The same for small writes beside the journal.
enum AuxStopped {
    /// Nothing of it has happened.
    Cleanly(PgFailure),
    /// It may have happened.
    Unknown { mark: TransactionMark, done: Vec<PgAuxOutcome>, why: PgFailure },
}

impl From<PgFailure> for WriteStopped {
    fn from(failure: PgFailure) -> WriteStopped {
        WriteStopped::Cleanly(failure)
    }
}

impl PgWriter {
    /// Until nobody can ask for anything any more, and all is written that was asked for.
    pub(super) async fn run(mut self) {
        while let Some(first) = self.next_job().await {
            let (mut queued, mut aux_writes) = (QueuedCommits::default(), Vec::new());
            let mut next = Some(first);
            while let Some(job) = next {
                match job {
                    PgJob::Commit { commit, done } => queued.push(*commit, done),
                    PgJob::Aux { write, reply } => aux_writes.push((write, reply)),
                    PgJob::Close => self.jobs.close(),
                }
                next = match queued.commits.len() + aux_writes.len() < COMMITS_MAX {
                    true => self.jobs.try_recv().ok(),
                    false => None,
                };
            }
            self.write(queued).await;
            self.write_aux(aux_writes).await;
        }
        self.lease.close(&self.node.connector, self.connection.take()).await;
    }

    /// While the fate of a transaction is unknown nobody can read, so the database is asked until it says.
    async fn next_job(&mut self) -> Option<PgJob> {
        while self.in_doubt.load(Ordering::Acquire) {
            if let Ok(job) = tokio::time::timeout(RECONNECT_PAUSE, self.jobs.recv()).await {
                return job;
            }
            if let Err(why) = self.look_up(None).await {
                tracing::debug!(%why, "the fate of a transaction is still unknown");
            }
        }
        self.jobs.recv().await
    }

    /// Of commits that cannot be written together each is tried by itself, so that one harms no other.
    async fn write(&mut self, mut queued: QueuedCommits) {
        while !queued.commits.is_empty() {
            match self.try_write(&queued.commits).await {
                Ok(fates) => return queued.tell(fates),
                Err(WriteStopped::TooLate) => queued.refuse_late(),
                Err(WriteStopped::Cleanly(why))
                    if why.is_own_fault() && queued.commits.len() > 1 =>
                {
                    for alone in queued.each() {
                        Box::pin(self.write(alone)).await;
                    }
                    return;
                }
                Err(WriteStopped::Cleanly(why)) => {
                    let error = StoreError::from(why);
                    return queued.refuse(|| again(&error).into());
                }
                Err(WriteStopped::Unknown { mark, fates, why }) => {
                    tracing::warn!(%why, "the fate of a transaction is unknown: asking the database");
                    let mark = mark.map(TransactionMark::Journal);
                    return match self.settle(mark.as_ref()).await {
                        Some(true) => queued.tell(fates),
                        Some(false) => {
                            queued.refuse(|| StoreError::from(PgFailure::NotWritten).into())
                        }
                        None => queued.refuse(|| CommitError::Unknown(why.to_string())),
                    };
                }
            }
        }
    }

    async fn try_write(&mut self, commits: &[PreparedCommit]) -> Result<Fates, WriteStopped> {
        let connection = self.open().await?;
        let prepared: Vec<&PreparedCommit> = commits.iter().collect();
        let writing = write_commits(&connection, &self.node, &prepared);
        let written = match in_time(ANSWER_WITHIN, writing).await {
            Ok(written) => written,
            Err(failure) => return Err(self.give_up(connection, failure).await.into()),
        };
        if written.is_empty {
            self.undo(connection).await;
            return Ok(written.fates);
        }
        let accepted = commits.iter().zip(&written.fates).filter(|(_, fate)| fate.is_ok());
        // As late as it can be: what follows is one word, and the disk.
        if accepted.map(|(commit, _)| commit).any(|commit| commit.is_too_late()) {
            self.undo(connection).await;
            return Err(WriteStopped::TooLate);
        }
        match in_time(ANSWER_WITHIN, connection.commit()).await {
            Ok(()) => {
                self.connection = Some(connection);
                written.mark.into_iter().for_each(|mark| self.node.connector.note(mark));
                let (after, upto) = written.stretch;
                if after < upto {
                    self.own.note(after, upto);
                }
                Ok(written.fates)
            }
            // Whatever the error is: with a standby, the primary may have written it.
            Err(why) => {
                Err(WriteStopped::Unknown { mark: written.mark, fates: written.fates, why })
            }
        }
    }

    /// Whether the transaction is in the journal. `None`: nobody could say so in time, and whoever reads before
    /// it is known is told that the store is unavailable.
    async fn settle(&mut self, mark: Option<&TransactionMark>) -> Option<bool> {
        self.in_doubt.store(true, Ordering::Release);
        let until = Instant::now() + SETTLE_WITHIN;
        // A node whose end has come is not told any more, and a new one reads what is there.
        while Instant::now() < until && !self.node.connector.end().has_come() {
            if let Ok(found) = self.look_up(mark).await {
                return mark.map(|_| found);
            }
            tokio::time::sleep(RECONNECT_PAUSE).await;
        }
        None
    }

    /// As soon as the head could be locked, no earlier transaction of ours can come any more.
    async fn look_up(&mut self, mark: Option<&TransactionMark>) -> Result<bool, PgFailure> {
        let connection = self.node.connector.connect().await?;
        let found = in_time(ANSWER_WITHIN, is_written(&connection, mark)).await?;
        self.in_doubt.store(false, Ordering::Release);
        if let (Some(TransactionMark::Journal(mark)), true) = (mark, found) {
            self.node.connector.note(mark.clone());
        }
        self.connection = Some(connection);
        Ok(found)
    }

    async fn write_aux(&mut self, aux_writes: Vec<(PgAuxWrite, PgAuxReply)>) {
        if aux_writes.is_empty() {
            return;
        }
        let (asked, replies): (Vec<_>, Vec<_>) = aux_writes.into_iter().unzip();
        let done = match self.settle_aux(&asked).await {
            Ok(done) => done.into_iter().map(Ok).collect(),
            Err(failure) if failure.is_own_fault() && asked.len() > 1 => {
                let mut each = Vec::with_capacity(asked.len());
                for write in &asked {
                    let alone = self.settle_aux(std::slice::from_ref(write)).await;
                    let alone = alone.map(|mut done| done.pop().unwrap_or(PgAuxOutcome::Nothing));
                    each.push(alone.map_err(StoreError::from));
                }
                each
            }
            Err(failure) => {
                let error = StoreError::from(failure);
                asked.iter().map(|_| Err(again(&error))).collect::<Vec<_>>()
            }
        };
        for (reply, done) in replies.into_iter().zip(done) {
            // A caller who has gone needs no answer.
            drop(reply.send(done));
        }
    }

    /// After an error nothing was written, unless it says that this is not known.
    async fn settle_aux(
        &mut self,
        aux_writes: &[PgAuxWrite],
    ) -> Result<Vec<PgAuxOutcome>, PgFailure> {
        match self.try_aux(aux_writes).await {
            Ok(done) => Ok(done),
            Err(AuxStopped::Cleanly(failure)) => Err(failure),
            Err(AuxStopped::Unknown { mark, done, why }) => {
                tracing::warn!(%why, "the fate of small writes is unknown: asking the database");
                match self.settle(Some(&mark)).await {
                    Some(true) => Ok(done),
                    Some(false) => Err(PgFailure::NotWritten),
                    None => Err(PgFailure::Unsettled),
                }
            }
        }
    }

    async fn try_aux(
        &mut self,
        aux_writes: &[PgAuxWrite],
    ) -> Result<Vec<PgAuxOutcome>, AuxStopped> {
        let connection = self.open().await.map_err(AuxStopped::Cleanly)?;
        self.aux_count += 1;
        let mark = TransactionMark::Side { node: self.node.id.clone(), number: self.aux_count };
        let node = &self.node;
        let writing = async {
            let head = begin_alone(&connection, node).await?;
            let mut done = Vec::with_capacity(aux_writes.len());
            for write in aux_writes {
                done.push(write.run(&connection.client, &head).await?);
            }
            mark.write(&connection).await?;
            Ok(done)
        };
        let done = match in_time(ANSWER_WITHIN, writing).await {
            Ok(done) => done,
            Err(failure) => {
                return Err(AuxStopped::Cleanly(self.give_up(connection, failure).await));
            }
        };
        match in_time(ANSWER_WITHIN, connection.commit()).await {
            Ok(()) => {
                self.connection = Some(connection);
                Ok(done)
            }
            Err(why) => Err(AuxStopped::Unknown { mark, done, why }),
        }
    }

    /// The connection is taken out: what is dropped in the middle of a transaction is not used again.
    async fn open(&mut self) -> Result<PgConnection, PgFailure> {
        self.node.connector.end().check()?;
        let connection = match self.connection.take().filter(|connection| !connection.is_closed()) {
            Some(connection) => connection,
            None => self.node.connector.connect().await?,
        };
        if self.in_doubt.load(Ordering::Acquire) {
            in_time(ANSWER_WITHIN, is_written(&connection, None)).await?;
            self.in_doubt.store(false, Ordering::Release);
        }
        Ok(connection)
    }

    async fn give_up(&mut self, connection: PgConnection, failure: PgFailure) -> PgFailure {
        if failure.is_own_fault() || matches!(failure, PgFailure::Ended(_)) {
            self.undo(connection).await;
        }
        failure
    }

    async fn undo(&mut self, connection: PgConnection) {
        if in_time(ANSWER_WITHIN, connection.roll_back()).await.is_ok() {
            self.connection = Some(connection);
        }
    }
}

impl QueuedCommits {
    fn push(&mut self, commit: PreparedCommit, done: CommitDone) {
        self.commits.push(commit);
        self.dones.push(done);
    }

    fn each(self) -> impl Iterator<Item = QueuedCommits> {
        let pairs = self.commits.into_iter().zip(self.dones);
        pairs.map(|(commit, done)| QueuedCommits { commits: vec![commit], dones: vec![done] })
    }

    /// In the order of the journal, each before the next one.
    fn tell(self, fates: Fates) {
        for (done, fate) in self.dones.into_iter().zip(fates) {
            done(fate);
        }
    }

    fn refuse(self, why: impl Fn() -> CommitError) {
        for done in self.dones {
            done(Err(why()));
        }
    }

    fn refuse_late(&mut self) {
        let all = std::mem::take(self);
        for (commit, done) in all.commits.into_iter().zip(all.dones) {
            match commit.is_too_late() {
                true => done(Err(CommitError::TooLate)),
                false => self.push(commit, done),
            }
        }
    }
}

fn again(error: &StoreError) -> StoreError {
    match error {
        StoreError::Unavailable(why) => StoreError::Unavailable(why.clone()),
        StoreError::Unreadable(why) => StoreError::Unreadable(why.clone()),
        StoreError::SealingKey(why) => StoreError::SealingKey(why.clone()),
    }
}
