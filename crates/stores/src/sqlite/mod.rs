//! The store in one file: SQLite with one writer thread and a few readers.

mod audience;
mod aux_write;
mod batch_wait;
mod catch_up;
mod columns;
mod commit;
mod commit_index;
mod connection;
mod directory;
mod error;
mod files;
mod head;
mod holds;
mod kept_checkpoints;
mod listed;
mod lists;
mod notes;
mod outbox;
mod queue;
mod reader;
mod reads;
mod rows;
mod schema;
mod sealed;
mod sealing_start;
mod store;
#[cfg(test)]
mod tampered;
#[cfg(test)]
mod tests;
mod transaction;
mod write_behind;
mod writer;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use audit::PublicKey;
use domain::id::NodeId;
use ports::store::StoreError;
use ports::unpoisoned::Unpoisoned as _;
use rusqlite::{Connection, OptionalExtension as _, params};
use tokio::sync::oneshot;

pub use directory::OpenError;

use crate::sealing::{Sealer, SealingKeyId, SealingKeys};
use aux_write::{AuxOutcome, AuxWrite};
use connection::{DatabaseSource, check_durability};
use directory::Directory;
use files::FileFolder;
use kept_checkpoints::KeptCheckpoints;
use queue::Queue;
use reader::{READERS, Readers};
use schema::DatabaseKind;
use transaction::{Open, QueuedWrite, WriteJob};
use write_behind::WriteBehind;
use writer::{QUIET, SqliteWriter};

/// Writes that may wait for the writer; whoever comes next waits outside.
const WRITES_MAX: usize = 4_096;

/// A store on one machine. It holds its data directory until it is dropped or closed: of two
/// servers on the same data, the second is told to stop.
pub struct SqliteStore {
    node: NodeId,
    database: PathBuf,
    key: PublicKey,
    writes: Arc<Queue<QueuedWrite>>,
    readers: Readers,
    write_behind: Arc<WriteBehind>,
    files: Arc<FileFolder>,
    unvouched: Option<u64>,
    sealer: Sealer,
    threads: Mutex<Threads>,
}

/// What may be said beside the directory when a store is opened.
#[derive(Clone, Debug, Default)]
pub struct SqliteOptions {
    /// Signed checkpoints of the log are also appended to this file, and the log must be the one that it vouches for.
    pub checkpoints: Option<PathBuf>,
    /// What secrets are sealed with. Without it the directory has a key of its own, in `sealing.key`.
    pub sealing_keys: Option<SealingKeys>,
}

/// What must end before somebody else may have the data.
struct Threads {
    writer: Option<JoinHandle<()>>,
    readers: Vec<JoinHandle<()>>,
    directory: Option<Directory>,
}

impl SqliteStore {
    /// Opens the data in this directory, and makes it if there is none.
    pub fn open(path: &Path, node: NodeId) -> Result<Arc<SqliteStore>, OpenError> {
        SqliteStore::open_with(path, node, &SqliteOptions::default())
    }

    /// The same, with more to say.
    /// Whether the data there are of an older version, which opening them brings up to date. Nothing is changed by asking.
    pub fn is_outdated(path: &Path) -> Result<bool, OpenError> {
        let source = DatabaseSource::new(path.join(directory::DATABASE));
        let failed = |error: rusqlite::Error| OpenError::sqlite(&source.database, &error);
        let kind = schema::kind(&source.reader().map_err(failed)?).map_err(failed)?;
        Ok(matches!(kind, DatabaseKind::Ours { version } if version < schema::SCHEMA_VERSION))
    }

    pub fn open_with(
        path: &Path,
        node: NodeId,
        options: &SqliteOptions,
    ) -> Result<Arc<SqliteStore>, OpenError> {
        let directory = Directory::lock(path)?;
        let source = DatabaseSource::new(directory.database());
        SqliteStore::start(directory, source, node, QUIET, options)
    }

    /// How many entries of the log were signed before, where the file outside has no checkpoint at all: at
    /// the first start with such a file, or after somebody has removed it.
    pub fn unvouched_entries(&self) -> Option<u64> {
        self.unvouched
    }

    fn start(
        directory: Directory,
        source: DatabaseSource,
        node: NodeId,
        quiet: Duration,
        options: &SqliteOptions,
    ) -> Result<Arc<SqliteStore>, OpenError> {
        let (connection, is_new) = prepare(&source)?;
        let known = known_key(&connection).map_err(|e| OpenError::sqlite(&source.database, &e))?;
        let signer = directory.signer(known.as_deref())?;
        let key = signer.public_key();
        if known.is_none() {
            keep_key(&connection, key).map_err(|e| OpenError::sqlite(&source.database, &e))?;
        }
        let sealer =
            sealing_start::sealer(&directory, &connection, is_new, options.sealing_keys.as_ref())?;
        let write_behind = Arc::<WriteBehind>::default();
        let open = Open::new(connection, &write_behind).map_err(|failure| OpenError::Damaged {
            path: source.database.clone(),
            why: StoreError::from(failure).to_string(),
        })?;
        let kept = options
            .checkpoints
            .as_deref()
            .map(|path| KeptCheckpoints::open(path, &open.connection, &key))
            .transpose()?;
        let unvouched = kept.as_ref().and_then(KeptCheckpoints::unvouched);
        let writes = Arc::new(Queue::new(WRITES_MAX));
        let writer = SqliteWriter {
            source: source.clone(),
            signer: Arc::new(signer),
            queue: writes.clone(),
            write_behind: write_behind.clone(),
            quiet,
            open: Some(open),
            kept,
        };
        let readers = Readers::new();
        let files = FileFolder::open(&source.database)
            .map_err(|error| OpenError::io(&source.database, error))?;
        let store = SqliteStore {
            node,
            files: Arc::new(files),
            database: source.database.clone(),
            key,
            writes,
            readers: readers.clone(),
            write_behind,
            unvouched,
            sealer,
            threads: Mutex::new(Threads {
                writer: Some(spawn("store-writer", &source, move || writer.run())?),
                readers: Vec::new(),
                directory: Some(directory),
            }),
        };
        for number in 1..=READERS {
            let (readers, source) = (readers.clone(), source.clone());
            let name = format!("store-reader-{number}");
            let thread = spawn(&name, &source.clone(), move || readers.run(&source))?;
            store.threads().readers.push(thread);
        }
        Ok(Arc::new(store))
    }

    /// Which key secrets are sealed with.
    pub fn sealing_key(&self) -> Option<SealingKeyId> {
        self.sealer.keys().map(SealingKeys::sealing)
    }

    /// Writes all that was handed over, signs the log, and lets go of the data. Whatever comes
    /// later is told that the store is unavailable.
    pub async fn close(&self) {
        self.writes.close();
        let writer = self.threads().writer.take();
        // The writer may be waiting for the disk, and this thread may be the only one there is.
        let _ = tokio::task::spawn_blocking(move || writer.map(JoinHandle::join)).await;
        self.end();
    }

    /// After this the files are no longer ours.
    fn end(&self) {
        self.writes.abandon();
        self.readers.stop();
        let mut threads = self.threads();
        let readers = std::mem::take(&mut threads.readers);
        // A thread that panicked has said so already.
        readers.into_iter().chain(threads.writer.take()).for_each(|thread| drop(thread.join()));
        if let Some(directory) = threads.directory.take() {
            // SQLite removes its log with the last connection; of several that close at the same time
            // each may leave it to another. This one closes alone.
            drop(DatabaseSource::new(directory.database()).writer());
        }
    }

    fn threads(&self) -> std::sync::MutexGuard<'_, Threads> {
        self.threads.lock().unpoisoned()
    }

    /// What is read from the tables must be in them. An error means that nobody can say.
    async fn tables(&self) -> Result<&Readers, StoreError> {
        if !self.write_behind.is_empty() {
            self.aux_write(AuxWrite::FlushTables).await?;
        }
        Ok(&self.readers)
    }

    /// For lists that people look at, which lay the write-behind over what they read: while the disk does not
    /// let the tables follow, nothing new can happen, but what there is can be seen.
    async fn tables_as_they_are(&self) -> &Readers {
        if let Err(error) = self.tables().await {
            tracing::warn!(%error, "the tables are behind what has happened");
        }
        &self.readers
    }

    /// What a transaction of unknown fate would have changed is known once the journal was looked at:
    /// if nothing is there that nobody was told of, nothing was changed.
    async fn known(&self, is_in_doubt: bool) -> Result<&Readers, StoreError> {
        if is_in_doubt {
            let known_to = self.write_behind.known_to();
            let has_more = move |connection: &Connection| reads::entries(connection, known_to, 1);
            if !self.readers.read(has_more).await?.is_empty() {
                return self.tables().await;
            }
        }
        Ok(&self.readers)
    }

    async fn aux_write(&self, write: AuxWrite) -> Result<AuxOutcome, StoreError> {
        let (reply, answer) = oneshot::channel();
        let job = WriteJob::Aux { write, reply };
        if self.writes.push(QueuedWrite::Ready(Box::new(job))).await.is_err() {
            return Err(shutting_down());
        }
        answer.await.unwrap_or_else(|_| Err(shutting_down()))
    }
}

impl Drop for SqliteStore {
    fn drop(&mut self) {
        self.end();
    }
}

impl std::fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SqliteStore").field("node", &self.node).finish_non_exhaustive()
    }
}

fn shutting_down() -> StoreError {
    StoreError::Unavailable("it is shutting down".into())
}

fn spawn(
    name: &str,
    source: &DatabaseSource,
    work: impl FnOnce() + Send + 'static,
) -> Result<JoinHandle<()>, OpenError> {
    std::thread::Builder::new()
        .name(name.to_owned())
        .spawn(work)
        .map_err(|error| OpenError::io(&source.database, error))
}

/// A connection to a database that is ours, up to date, and safe; and whether it was made just now.
fn prepare(source: &DatabaseSource) -> Result<(Connection, bool), OpenError> {
    let path = &source.database;
    let failed = |error: rusqlite::Error| OpenError::sqlite(path, &error);
    // Looked at before it is written to: a writer sets WAL mode, which stays in the file, and the
    // file may be somebody else's.
    let kind = schema::kind(&source.reader().map_err(failed)?).map_err(failed)?;
    match kind {
        DatabaseKind::Foreign => return Err(OpenError::Foreign { path: path.clone() }),
        DatabaseKind::Ours { version } if version > schema::SCHEMA_VERSION => {
            return Err(OpenError::Newer { path: path.clone(), found: version });
        }
        DatabaseKind::Empty | DatabaseKind::Ours { .. } => {}
    }
    let connection = source.writer().map_err(failed)?;
    schema::migrate(&connection).map_err(failed)?;
    match check_durability(&connection).map_err(failed)? {
        Some(found) => Err(OpenError::not_durable(path, &found)),
        None => Ok((connection, kind == DatabaseKind::Empty)),
    }
}

fn known_key(connection: &Connection) -> Result<Option<Vec<u8>>, rusqlite::Error> {
    connection
        .query_row("SELECT value FROM meta WHERE key = 'audit_key'", [], |row| row.get(0))
        .optional()
}

fn keep_key(connection: &Connection, key: PublicKey) -> Result<(), rusqlite::Error> {
    connection
        .execute(
            "INSERT INTO meta (key, value) VALUES ('audit_key', ?1)",
            params![key.to_string().into_bytes()],
        )
        .map(drop)
}
