//! A few connections that read. Nearly each read is one statement, and so sees one moment.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use domain::time::Timestamp;
use ports::store::{OutboxItem, OutboxLane, StoreError};
use tokio::sync::{Mutex, MutexGuard};
use tokio_postgres::{Client, Row};

use super::connection::{PgConnection, in_time};
use super::connector::PgConnector;
use super::error::{PgFailure, is_lost};
use super::limits::{ANSWER_WITHIN, READERS};
use super::outbox;
use super::sql::TypedSql;

pub(super) struct PgReaders {
    connector: Arc<PgConnector>,
    slots: [Mutex<Option<PgConnection>>; READERS],
    next: AtomicUsize,
    /// While the fate of a transaction is unknown: whoever looked now could be told that it is not there, and
    /// then it comes.
    pub(super) in_doubt: Arc<AtomicBool>,
}

type ReaderSlot<'a> = MutexGuard<'a, Option<PgConnection>>;

impl PgReaders {
    pub(super) fn new(connector: Arc<PgConnector>, in_doubt: Arc<AtomicBool>) -> PgReaders {
        let slots = std::array::from_fn(|_| Mutex::new(None));
        PgReaders { connector, slots, next: AtomicUsize::new(0), in_doubt }
    }

    pub(super) async fn rows(&self, sql: TypedSql) -> Result<Vec<Row>, StoreError> {
        match self.read(&PgRead::Rows(sql)).await? {
            PgFound::Rows(rows) => Ok(rows),
            PgFound::Item(_) => Ok(Vec::new()),
        }
    }

    pub(super) async fn row(&self, sql: TypedSql) -> Result<Option<Row>, StoreError> {
        Ok(self.rows(sql).await?.into_iter().next())
    }

    pub(super) async fn item(&self, read: PgRead) -> Result<Option<OutboxItem>, StoreError> {
        match self.read(&read).await? {
            PgFound::Item(item) => Ok(item.map(|item| *item)),
            PgFound::Rows(_) => Ok(None),
        }
    }

    /// A connection that was lost in the meantime is replaced, once.
    async fn read(&self, read: &PgRead) -> Result<PgFound, StoreError> {
        if self.in_doubt.load(Ordering::Acquire) {
            let why = "the database went away in the middle of a commit, and has yet to say what became of it";
            return Err(StoreError::Unavailable(why.into()));
        }
        // The database and this node's memory do not fit together any more.
        self.connector.end().check().map_err(PgFailure::from)?;
        let mut slot = self.slot().await;
        let was_open = slot.as_ref().is_some_and(|connection| !connection.is_closed());
        let found = match self.try_read(&mut slot, read).await {
            Err(PgFailure::Database(_)) if was_open && slot.is_none() => {
                self.try_read(&mut slot, read).await
            }
            found => found,
        };
        Ok(found?)
    }

    async fn try_read(
        &self,
        slot: &mut ReaderSlot<'_>,
        read: &PgRead,
    ) -> Result<PgFound, PgFailure> {
        // Taken out: whoever is dropped in the middle of this leaves no half-read connection behind.
        let connection = match slot.take().filter(|connection| !connection.is_closed()) {
            Some(connection) => connection,
            None => self.connector.connect().await?,
        };
        let found = in_time(ANSWER_WITHIN, read.look(&connection.client)).await;
        let is_lost = match &found {
            Err(PgFailure::Database(error)) => is_lost(error),
            Err(PgFailure::Silent) => true,
            _ => false,
        };
        if !is_lost && !connection.is_closed() {
            **slot = Some(connection);
        }
        found
    }

    /// One that nobody uses, or the next in turn.
    async fn slot(&self) -> ReaderSlot<'_> {
        if let Some(free) = self.slots.iter().find_map(|slot| slot.try_lock().ok()) {
            return free;
        }
        let turn = self.next.fetch_add(1, Ordering::Relaxed) % READERS;
        self.slots[turn].lock().await
    }
}

/// What is looked for.
pub(super) enum PgRead {
    Rows(TypedSql),
    OutboxItem { queue: String, key: String },
    OutboxNext { lane: OutboxLane, now: Timestamp },
}

enum PgFound {
    Rows(Vec<Row>),
    Item(Option<Box<OutboxItem>>),
}

impl PgRead {
    async fn look(&self, client: &Client) -> Result<PgFound, PgFailure> {
        let item = match self {
            PgRead::Rows(sql) => return Ok(PgFound::Rows(sql.rows(client).await?)),
            PgRead::OutboxItem { queue, key } => outbox::item(client, queue, key).await?,
            PgRead::OutboxNext { lane, now } => outbox::next(client, lane, *now).await?,
        };
        Ok(PgFound::Item(item.map(Box::new)))
    }
}
