//! One transaction of the writer: many operations, all on disk or none.
//!
//! An operation that fails by its own fault half-way must not take the others with it. That takes a
//! savepoint, which costs a copy of every page that the operation touches; and it does not happen
//! unless there is a bug. So a batch is first written without, and once more with savepoints if one
//! of it turns out to be bad.

use std::panic::{AssertUnwindSafe, catch_unwind};

use ports::store::{Commit, CommitDone, CommitError, Committed, StoreError};
use rusqlite::{CachedStatement, Connection, params};
use tokio::sync::oneshot;

use super::aux_write::{AuxOutcome, AuxWrite};
use super::batch_wait::{Syncs, now};
use super::catch_up::catch_up;
use super::commit::{self, Prepared};
use super::connection::DatabaseSource;
use super::error::{Failure, error_text, is_own_fault};
use super::head::Head;
use super::listed::fill_holds;
use super::rows::Rows;
use super::write_behind::{FlushAmount, WriteBehind};

/// Entries that may go without a signature.
const UNVOUCHED_MAX: u64 = 1_000;

/// What stands in the writer's queue. Whoever has the time makes a commit ready: its caller, while the
/// writer has enough to do; else the writer, so that callers can go on.
pub(super) enum QueuedWrite {
    Ready(Box<WriteJob>),
    Raw { commit: Box<Commit>, done: CommitDone },
}

/// Commits in a transaction from which on the writer has enough to do. Over HTTP, where callers have much
/// to do besides, about five share one; in process about twenty.
const ENOUGH: usize = 12;

impl QueuedWrite {
    /// `last` is how many the writer's last transaction had.
    pub(super) fn new(commit: Commit, done: CommitDone, last: usize) -> QueuedWrite {
        match last < ENOUGH {
            true => QueuedWrite::Raw { commit: Box::new(commit), done },
            false => QueuedWrite::Ready(Box::new(WriteJob::Commit {
                commit: Prepared::new(commit),
                done,
            })),
        }
    }

    /// Nothing of it was written.
    pub(super) fn refuse(self, why: StoreError) {
        match self {
            QueuedWrite::Raw { done, .. } => tell(done, Err(why.into())),
            QueuedWrite::Ready(job) => job.refuse(&why.to_string()),
        }
    }

    /// `None`, and its caller knows, if it cannot be put into rows. That would be a bug of ours, and must
    /// not end the one thread that writes.
    pub(super) fn ready(self) -> Option<WriteJob> {
        let (commit, done) = match self {
            QueuedWrite::Ready(job) => return Some(*job),
            QueuedWrite::Raw { commit, done } => (commit, done),
        };
        match catch_unwind(AssertUnwindSafe(|| Prepared::new(*commit))) {
            Ok(commit) => Some(WriteJob::Commit { commit, done }),
            Err(_) => {
                tracing::error!("a change cannot be put into rows; the others are written");
                let why = StoreError::Unavailable("the change cannot be written down".into());
                tell(done, Err(why.into()));
                None
            }
        }
    }
}

pub(super) enum WriteJob {
    Commit { commit: Box<Prepared>, done: CommitDone },
    Aux { write: AuxWrite, reply: oneshot::Sender<Result<AuxOutcome, StoreError>> },
}

impl WriteJob {
    pub(super) fn needs_tables(&self) -> bool {
        matches!(self, WriteJob::Aux { write: AuxWrite::FlushTables, .. })
    }

    /// It is in the open transaction, and its deadline has passed since.
    fn became_too_late(&self, outcome: &WriteOutcome) -> bool {
        matches!((self, outcome), (WriteJob::Commit { commit, .. }, WriteOutcome::Committed(_)) if commit.is_too_late())
    }

    #[cfg(feature = "failpoints")]
    fn lets_calls_start(&self) -> bool {
        matches!(self, WriteJob::Commit { commit, .. } if commit.global_version.is_some())
    }

    /// Nothing of it was written.
    pub(super) fn refuse(self, why: &str) {
        let unavailable = StoreError::Unavailable(why.to_owned());
        // A caller who has gone needs no answer; so it is everywhere here.
        match self {
            WriteJob::Commit { done, .. } => tell(done, Err(unavailable.into())),
            WriteJob::Aux { reply, .. } => drop(reply.send(Err(unavailable))),
        }
    }
}

/// What an operation came to, held back until the transaction is on disk.
pub(super) enum WriteOutcome {
    Committed(Committed),
    Refused(CommitError),
    Aux(AuxOutcome),
    Failed(StoreError),
}

impl WriteOutcome {
    pub(super) fn has_written(&self) -> bool {
        matches!(self, WriteOutcome::Committed(_) | WriteOutcome::Aux(_))
    }

    pub(super) fn tell(self, job: WriteJob) {
        match (job, self) {
            (WriteJob::Commit { done, .. }, WriteOutcome::Committed(at)) => tell(done, Ok(at)),
            (WriteJob::Commit { done, .. }, WriteOutcome::Refused(why)) => tell(done, Err(why)),
            (WriteJob::Commit { done, .. }, WriteOutcome::Failed(why)) => {
                tell(done, Err(why.into()))
            }
            (WriteJob::Aux { reply, .. }, WriteOutcome::Aux(done)) => drop(reply.send(Ok(done))),
            (WriteJob::Aux { reply, .. }, WriteOutcome::Failed(why)) => drop(reply.send(Err(why))),
            // An operation gets the kind of outcome that belongs to it.
            (WriteJob::Aux { .. }, WriteOutcome::Committed(_) | WriteOutcome::Refused(_))
            | (WriteJob::Commit { .. }, WriteOutcome::Aux(_)) => {}
        }
    }
}

/// What follows from a commit is other code, which must not end the one thread that writes.
pub(super) fn tell(done: CommitDone, fate: Result<Committed, CommitError>) {
    if catch_unwind(AssertUnwindSafe(|| done(fate))).is_err() {
        tracing::error!("what follows from a commit has failed");
    }
}

pub(super) struct Open {
    pub(super) connection: Connection,
    pub(super) head: Head,
    pub(super) syncs: Syncs,
}

impl Open {
    /// What is in the write-behind is in the journal, too, if it is anywhere: the tables get it from there.
    pub(super) fn new(connection: Connection, write_behind: &WriteBehind) -> Result<Open, Failure> {
        let head = Head::read(&connection)?;
        let caught_up = catch_up(&connection)?;
        fill_holds(&connection)?;
        write_behind.written(FlushAmount::All, caught_up);
        Ok(Open { connection, head, syncs: Syncs::default() })
    }
}

/// What is undone if an operation fails by its own fault.
#[derive(Clone, Copy)]
pub(super) enum Care {
    Batch,
    Each,
}

pub(super) enum TransactionFault {
    /// All was rolled back because of one; it is worth writing the others without it.
    OneIsBad(String),
    /// All was rolled back because the deadline of one has passed. Written again, that one is refused.
    OneIsLate,
    /// The whole transaction was rolled back.
    Undone(String),
    /// COMMIT failed: what would have been told, had it not.
    Unknown(String, Vec<WriteOutcome>),
}

impl From<rusqlite::Error> for TransactionFault {
    fn from(error: rusqlite::Error) -> TransactionFault {
        TransactionFault::Undone(error_text(&error))
    }
}

pub(super) struct Transaction<'a> {
    pub(super) jobs: &'a [WriteJob],
    pub(super) care: Care,
    pub(super) signer: &'a audit::Signer,
    pub(super) source: &'a DatabaseSource,
    pub(super) write_behind: &'a WriteBehind,
    /// Of the write-behind, to be written away as well.
    pub(super) part: FlushAmount,
}

impl Transaction<'_> {
    pub(super) fn write(&self, open: &mut Open) -> Result<Vec<WriteOutcome>, TransactionFault> {
        self.source.inject(&mut open.connection)?;
        let changes = open.connection.total_changes();
        begin(&open.connection)?;
        self.write_behind.write(&open.connection, self.part, open.head.global)?;
        let mut outcomes = Vec::with_capacity(self.jobs.len());
        let Open { connection, head, .. } = &mut *open;
        let (signer, write_behind) = (self.signer, self.write_behind);
        let mut desk =
            Desk { connection, journal: commit::journal(connection)?, head, signer, write_behind };
        for job in self.jobs {
            let outcome = match self.care {
                Care::Batch => match desk.operate(job) {
                    Err(error) if is_own_fault(&error) => {
                        return Err(TransactionFault::OneIsBad(error_text(&error)));
                    }
                    outcome => outcome?,
                },
                Care::Each => desk.operate_apart(job)?,
            };
            outcomes.push(outcome);
        }
        drop(desk);
        if open.head.unvouched() >= UNVOUCHED_MAX {
            vouch(open, self.signer)?;
        }
        ports::failpoint!(
            "writer.before_commit",
            return Err(TransactionFault::Undone("told to fail".into()))
        );
        ports::failpoint!("writer.before_intent", if self.jobs.iter().any(WriteJob::lets_calls_start));
        // The last moment at which a commit can be taken out. What the sync itself takes is not counted:
        // nobody can say when within it a commit became durable.
        if self.jobs.iter().zip(&outcomes).any(|(job, outcome)| job.became_too_late(outcome)) {
            return Err(TransactionFault::OneIsLate);
        }
        let began = now();
        match run(&open.connection, "COMMIT") {
            Ok(()) => {
                // Without a change there is nothing to sync.
                if open.connection.total_changes() > changes {
                    open.syncs.took(now() - began);
                }
                ports::failpoint!(
                    "writer.committed",
                    return Err(TransactionFault::Unknown("told to fail".into(), outcomes))
                );
                ports::failpoint!(
                    "writer.intent_committed",
                    if self.jobs.iter().any(WriteJob::lets_calls_start)
                );
                Ok(outcomes)
            }
            // mutant: commit-error-swallowed, commit-error-is-a-clean-failure
            Err(error) => Err(TransactionFault::Unknown(error_text(&error), outcomes)),
        }
    }
}

/// Tells the tables of these operations. They have no more to tell then.
pub(super) fn tell_tables(rows: &mut Rows, jobs: &mut [WriteJob], outcomes: &[WriteOutcome]) {
    for (job, outcome) in jobs.iter_mut().zip(outcomes) {
        if let (WriteJob::Commit { commit, .. }, WriteOutcome::Committed(at)) = (job, outcome) {
            let changes = std::mem::take(&mut commit.changes);
            rows.add(changes, commit.stream, commit.position(*at));
        }
    }
}

/// What operations are done with, one after the other.
struct Desk<'a> {
    connection: &'a Connection,
    journal: CachedStatement<'a>,
    head: &'a mut Head,
    signer: &'a audit::Signer,
    write_behind: &'a WriteBehind,
}

impl Desk<'_> {
    fn operate(&mut self, job: &WriteJob) -> Result<WriteOutcome, rusqlite::Error> {
        let Desk { connection, journal, head, signer, write_behind } = self;
        Ok(match job {
            WriteJob::Commit { commit, .. } => {
                match commit.write(connection, journal, head, write_behind)? {
                    Ok(committed) => WriteOutcome::Committed(committed),
                    Err(refused) => WriteOutcome::Refused(refused),
                }
            }
            WriteJob::Aux { write, .. } => WriteOutcome::Aux(write.run(connection, head, signer)?),
        })
    }

    /// One operation, which either is in the transaction whole or has left no trace in it. The head
    /// needs no undoing: it moves only when all of a commit is written.
    fn operate_apart(&mut self, job: &WriteJob) -> Result<WriteOutcome, rusqlite::Error> {
        run(self.connection, "SAVEPOINT operation")?;
        let outcome = match self.operate(job) {
            Err(error) if is_own_fault(&error) => {
                run(self.connection, "ROLLBACK TO operation")?;
                WriteOutcome::Failed(StoreError::Unavailable(error_text(&error)))
            }
            outcome => outcome?,
        };
        run(self.connection, "RELEASE operation")?;
        Ok(outcome)
    }
}

pub(super) fn begin(connection: &Connection) -> Result<(), rusqlite::Error> {
    run(connection, "BEGIN IMMEDIATE")
}

fn run(connection: &Connection, sql: &str) -> Result<(), rusqlite::Error> {
    connection.prepare_cached(sql)?.execute([]).map(drop)
}

/// Signs the log as it is in this transaction.
pub(super) fn vouch(open: &mut Open, signer: &audit::Signer) -> Result<(), rusqlite::Error> {
    if open.head.unvouched() == 0 {
        return Ok(());
    }
    let checkpoint = signer.sign_checkpoint(&open.head.chain, open.head.at_ms);
    open.connection
        .prepare_cached("INSERT INTO checkpoints (seq, bytes) VALUES (?1, ?2)")?
        .execute(params![checkpoint.count as i64, checkpoint.to_string().into_bytes()])?;
    open.head.vouched = checkpoint.count;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::stage::{Stage, audience, hold_id, node, person, session_id};

    #[test]
    fn callers_make_ready_what_a_busy_writer_gets() {
        let mut stage = Stage::new(session_id(1), node(1));
        for (last, is_raw) in [(0, true), (ENOUGH - 1, true), (ENOUGH, false), (999, false)] {
            let waiting = QueuedWrite::new(stage.open(person("ana")), Box::new(|_| {}), last);
            assert_eq!(matches!(waiting, QueuedWrite::Raw { .. }), is_raw, "{last}");
            assert!(matches!(waiting.ready(), Some(WriteJob::Commit { .. })));
        }
    }

    /// No commit can fail by its own fault without a bug.
    #[test]
    fn a_bad_operation_does_not_take_the_others_with_it() {
        let directory = tempfile::tempdir().unwrap();
        let source = DatabaseSource::new(directory.path().join("a.db"));
        let connection = source.writer().unwrap();
        super::super::schema::migrate(&connection).unwrap();
        let write_behind = WriteBehind::default();
        let mut open = Open::new(connection, &write_behind).unwrap();
        let signer = audit::Signer::from_seed(&[1; 32]).unwrap();
        let mut stages = [1, 2].map(|number| Stage::new(session_id(number), node(1)));
        let write = |open: &mut Open, jobs: &[WriteJob], care| {
            let (signer, source) = (&signer, &source);
            let (write_behind, part) = (&write_behind, FlushAmount::Nothing);
            let transaction = Transaction { jobs, care, signer, source, write_behind, part };
            transaction.write(open)
        };
        let job =
            |commit| WriteJob::Commit { commit: Prepared::new(commit), done: Box::new(|_| {}) };
        let opening: Vec<_> =
            stages.iter_mut().map(|stage| job(stage.open(person("ana")))).collect();
        assert!(write(&mut open, &opening, Care::Batch).is_ok());

        // The journal takes everything that the version allows; so it is made to refuse one stream.
        open.connection
            .execute_batch(
                "CREATE TEMP TRIGGER refuses BEFORE INSERT ON journal WHEN NEW.stream = \
                     (SELECT stream FROM journal ORDER BY global LIMIT 1) \
                 BEGIN SELECT RAISE(ABORT, 'refused'); END;",
            )
            .unwrap();
        let bad = stages[0].ask(1, hold_id(2), audience(&["bob"], &[]));
        let good = job(stages[1].ask(1, hold_id(1), audience(&["bob"], &[])));
        let jobs = [job(bad), good];
        let before = (open.head.chain, open.head.global);
        let written = write(&mut open, &jobs, Care::Batch);
        assert!(matches!(written, Err(TransactionFault::OneIsBad(_))));
        run(&open.connection, "ROLLBACK").unwrap();
        assert_eq!((open.head.chain, open.head.global), before, "nothing has moved");

        let outcomes = write(&mut open, &jobs, Care::Each);
        let Ok(outcomes) = outcomes else { panic!("the good one is written") };
        assert!(matches!(outcomes[0], WriteOutcome::Failed(_)));
        assert!(matches!(outcomes[1], WriteOutcome::Committed(at) if at.global == 3));
        let read = Head::read(&open.connection).unwrap();
        assert_eq!((read.chain, read.global), (open.head.chain, open.head.global), "no hole");
    }

    /// Says another time each time it is asked.
    struct Ticking(std::sync::atomic::AtomicI64);

    #[async_trait::async_trait]
    impl ports::clock::Clock for Ticking {
        fn now(&self) -> domain::time::Timestamp {
            let tick = self.0.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
            domain::time::Timestamp::from_ms(tick)
        }

        async fn sleep(&self, _: std::time::Duration) {}
    }

    #[test]
    fn i54_a_deadline_that_passes_in_the_open_transaction_is_noticed_before_the_sync() {
        let directory = tempfile::tempdir().unwrap();
        let source = DatabaseSource::new(directory.path().join("a.db"));
        let connection = source.writer().unwrap();
        super::super::schema::migrate(&connection).unwrap();
        let write_behind = WriteBehind::default();
        let open = Open::new(connection, &write_behind).unwrap();
        let mut stages = [1, 2].map(|number| Stage::new(session_id(number), node(1)));
        let mut late = stages[0].open(person("ana"));
        // In time when it is put into the transaction, and not any more when that is to be synced.
        let at = domain::time::Timestamp::from_ms(1);
        let clock = std::sync::Arc::new(Ticking(0.into()));
        late.write_before = Some(ports::store::WriteBefore { at, clock });
        let job = |commit| {
            let (told, answer) = oneshot::channel();
            let done: CommitDone = Box::new(|fate| drop(told.send(fate)));
            (QueuedWrite::Raw { commit: Box::new(commit), done }, answer)
        };
        let (late, late_answer) = job(late);
        let (other, other_answer) = job(stages[1].open(person("ana")));
        let queue = std::sync::Arc::new(super::super::queue::Queue::new(9));
        for waiting in [late, other] {
            assert!(
                futures_util::FutureExt::now_or_never(queue.push(waiting))
                    .is_some_and(|it| it.is_ok())
            );
        }
        queue.close();
        let writer = super::super::writer::SqliteWriter {
            source: source.clone(),
            signer: std::sync::Arc::new(audit::Signer::from_seed(&[1; 32]).unwrap()),
            queue,
            write_behind: std::sync::Arc::new(write_behind),
            quiet: std::time::Duration::from_secs(1),
            open: Some(open),
            kept: None,
        };
        writer.run();
        assert!(matches!(late_answer.blocking_recv().unwrap(), Err(CommitError::TooLate)));
        assert!(matches!(other_answer.blocking_recv().unwrap(), Ok(at) if at.global == 1));
        let read = Head::read(&source.writer().unwrap()).unwrap();
        assert_eq!(read.global, 1, "the late one has left no trace");
    }
}
