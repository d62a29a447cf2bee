//! The one thread that writes. It takes what has queued up, writes it in one transaction, and
//! answers when that is on disk: many callers share one sync.
//!
//! What an error means depends on where it comes from. A refused operation looked before it wrote,
//! and has left no trace. A fault (full disk, failing disk) undoes the whole transaction: nobody's
//! write happened. An error from COMMIT itself leaves the fate of all unknown. After a fault nothing
//! more is done on that connection, and what the writer knows by heart is read anew from disk.

use std::sync::Arc;
use std::time::Duration;

use ports::store::{CommitError, StoreError};

use super::batch_wait::{BatchWait, now};
use super::connection::{DatabaseSource, check_durability};
use super::error::error_text;
use super::kept_checkpoints::KeptCheckpoints;
use super::queue::{Dequeued, Queue};
use super::rows::Rows;
use super::transaction::{
    Care, Open, QueuedWrite, Transaction, TransactionFault, WriteJob, WriteOutcome, begin, tell,
    tell_tables, vouch,
};
use super::write_behind::{FlushAmount, WriteBehind};

/// Operations in one transaction: enough to share a sync among all that wait, few enough that the
/// first does not wait long for the last.
const BATCH_MAX: usize = 256;
/// Quiet time after which what has no signature gets one.
pub(super) const QUIET: Duration = Duration::from_secs(1);

pub(super) struct SqliteWriter {
    pub(super) source: DatabaseSource,
    pub(super) signer: Arc<audit::Signer>,
    pub(super) queue: Arc<Queue<QueuedWrite>>,
    pub(super) write_behind: Arc<WriteBehind>,
    pub(super) quiet: Duration,
    /// `None` after a fault, until the database can be opened again.
    pub(super) open: Option<Open>,
    /// Where checkpoints are also kept.
    pub(super) kept: Option<KeptCheckpoints>,
}

/// However the writer ends, nobody waits for it in vain.
struct Abandon(Arc<Queue<QueuedWrite>>);

impl Drop for Abandon {
    fn drop(&mut self) {
        self.0.abandon();
    }
}

impl SqliteWriter {
    pub(super) fn run(mut self) {
        let _abandon = Abandon(self.queue.clone());
        let mut batch_wait = None;
        loop {
            let unvouched = self.open.as_ref().map_or(0, |open| open.head.unvouched());
            let has_more_to_do =
                unvouched > 0 || !self.write_behind.is_empty() || self.open.is_none();
            let patience = has_more_to_do.then_some(self.quiet);
            match self.queue.take_with(BATCH_MAX, patience, batch_wait.take()) {
                Dequeued::Items(waiting) => {
                    let told = waiting.len();
                    let jobs: Vec<WriteJob> =
                        waiting.into_iter().filter_map(QueuedWrite::ready).collect();
                    if !jobs.is_empty() {
                        self.batch(jobs);
                    }
                    batch_wait = self.batch_wait(told);
                }
                Dequeued::Idle => self.tidy(),
                Dequeued::Closed => return self.tidy(),
                Dequeued::Abandoned => return,
            }
        }
    }

    fn batch_wait(&self, told: usize) -> Option<BatchWait> {
        let batch_wait = self.open.as_ref()?.syncs.batch_wait(told, self.queue.len(), now())?;
        // With more than that it begins anyway.
        Some(BatchWait { count: batch_wait.count.min(BATCH_MAX), ..batch_wait })
    }

    fn batch(&mut self, mut jobs: Vec<WriteJob>) {
        let mut care = Care::Batch;
        let written = loop {
            match (self.attempt(&mut jobs, care), care) {
                (Err(TransactionFault::OneIsBad(why)), Care::Batch) => {
                    tracing::error!(%why, "an operation cannot be written; the others are");
                    care = Care::Each;
                }
                // Ends: whatever is late stays late, and the next time it is refused before it is written.
                (Err(TransactionFault::OneIsLate), _) => {
                    tracing::warn!(
                        "the deadline of a commit passed while it was being written; it is refused"
                    );
                }
                (written, _) => break written,
            }
        };
        match written {
            Ok(outcomes) => {
                jobs.into_iter().zip(outcomes).for_each(|(job, outcome)| outcome.tell(job));
            }
            Err(TransactionFault::Undone(why) | TransactionFault::OneIsBad(why)) => {
                tracing::warn!(%why, operations = jobs.len(), "nothing was written");
                refuse_all(jobs, &why);
            }
            // The loop above does not end with it.
            Err(TransactionFault::OneIsLate) => refuse_all(jobs, "a deadline has passed"),
            Err(TransactionFault::Unknown(why, outcomes)) => {
                tracing::error!(%why, operations = jobs.len(), "the fate of a transaction is unknown");
                for (job, outcome) in jobs.into_iter().zip(outcomes) {
                    match (job, outcome.has_written()) {
                        (WriteJob::Commit { done, .. }, true) => {
                            tell(done, Err(CommitError::Unknown(why.clone())));
                        }
                        // Also what was refused: it may have been refused because of something
                        // that is not there now.
                        (job, _) => job.refuse(&why),
                    }
                }
            }
        }
    }

    /// On a fault the connection is dropped, which rolls back whatever is left of the transaction.
    fn attempt(
        &mut self,
        jobs: &mut [WriteJob],
        care: Care,
    ) -> Result<Vec<WriteOutcome>, TransactionFault> {
        let mut open = match self.open.take() {
            Some(open) => open,
            None => self.reopen().map_err(TransactionFault::Undone)?,
        };
        let up_to = open.head.global;
        let part = match jobs.iter().any(WriteJob::needs_tables) {
            true => FlushAmount::All,
            false => self.write_behind.part(jobs.len(), up_to),
        };
        let transaction = Transaction {
            jobs,
            care,
            signer: &self.signer,
            source: &self.source,
            write_behind: &self.write_behind,
            part,
        };
        let outcomes = match transaction.write(&mut open) {
            Err(TransactionFault::Unknown(why, outcomes)) => {
                drop(open);
                let mut doubtful = Rows::default();
                tell_tables(&mut doubtful, jobs, &outcomes);
                self.look_for(doubtful);
                return Err(TransactionFault::Unknown(why, outcomes));
            }
            written => written?,
        };
        self.keep(&open);
        self.write_behind.written(part, up_to);
        // Before any caller is told: the next read must find it.
        self.write_behind.put(open.head.global, |rows| tell_tables(rows, jobs, &outcomes));
        self.open = Some(open);
        Ok(outcomes)
    }

    /// After an unknown fate, before anybody is told: the journal says what there is. If it cannot be
    /// read now, what would have been changed stays in doubt until it can.
    fn look_for(&mut self, doubtful: Rows) {
        match self.reopen() {
            Ok(open) => self.open = Some(open),
            Err(why) => {
                tracing::warn!(%why, "the database cannot be opened again yet");
                self.write_behind.doubt(doubtful);
            }
        }
    }

    fn keep(&mut self, open: &Open) {
        if let Some(kept) = &mut self.kept {
            kept.keep(&open.connection, open.head.vouched);
        }
    }

    fn reopen(&self) -> Result<Open, String> {
        let mut connection = self.source.writer().map_err(|error| error_text(&error))?;
        self.source.inject(&mut connection).map_err(|error| error_text(&error))?;
        match check_durability(&connection) {
            Ok(None) => {}
            Ok(Some(found)) => return Err(found.to_string()),
            Err(error) => return Err(error_text(&error)),
        }
        Open::new(connection, &self.write_behind)
            .map_err(|failure| StoreError::from(failure).to_string())
    }

    /// In a quiet moment and at the end: flushes the write-behind, signs what has no signature, and moves the
    /// log into the database.
    fn tidy(&mut self) {
        let mut open = match self.open.take().map_or_else(|| self.reopen(), Ok) {
            Ok(open) => open,
            Err(why) => return tracing::warn!(%why, "the database cannot be opened again yet"),
        };
        let up_to = open.head.global;
        let tidied = begin(&open.connection)
            .and_then(|()| self.write_behind.write(&open.connection, FlushAmount::All, up_to))
            .and_then(|()| vouch(&mut open, &self.signer))
            .and_then(|()| {
                ports::failpoint!("writer.before_checkpoint");
                open.connection.execute_batch("COMMIT")
            })
            .map(|()| self.write_behind.written(FlushAmount::All, up_to))
            .and_then(|()| {
                ports::failpoint!("writer.checkpointed");
                let passive = "PRAGMA wal_checkpoint(PASSIVE)";
                open.connection.query_row(passive, [], |_| Ok(()))
            });
        match tidied {
            Ok(()) => {
                self.keep(&open);
                self.open = Some(open);
            }
            Err(error) => {
                tracing::warn!(why = %error_text(&error), "no checkpoint could be written")
            }
        }
    }
}

fn refuse_all(jobs: Vec<WriteJob>, why: &str) {
    jobs.into_iter().for_each(|job| job.refuse(why));
}
