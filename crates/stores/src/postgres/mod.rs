//! The store in a PostgreSQL database, for any number of nodes.
//!
//! Each node has one task that writes, and commits of many streams become durable with one sync. The end of the
//! journal is one row, which a transaction holds until it is over: so all writes of all nodes have one order, there
//! is one chain of hashes, one position for followers, and what was looked at cannot change before it is written
//! ([why](../../../docs/decisions/0025-the-journal-on-postgresql.md)).

mod address;
mod aux_write;
mod cells;
mod commit;
mod connection;
mod connector;
mod database_clock;
mod error;
mod hearing;
mod key;
mod lease;
mod limits;
mod lists;
mod node_end;
mod notes;
mod outbox;
mod readers;
mod reads;
mod schema;
mod sealed;
mod sealing_start;
mod sql;
mod store;
mod transaction;
mod writer;

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

use audit::Signer;
use domain::id::NodeId;
use ports::store::{HeardOfOthers, StoreError};
use ports::unpoisoned::Unpoisoned as _;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;

pub use address::PgAddress;
pub use error::PgOpenError;
pub use node_end::PgNodeEnd;

use aux_write::{PgAuxOutcome, PgAuxWrite};
use connection::{PgConnection, check_server, in_time};
use connector::{JournalMark, PgConnector};
use error::PgFailure;
use hearing::{Hearing, OwnWrites};
use lease::NodeLease;
use limits::{ANSWER_WITHIN, HEARD_MAX};
use node_end::NodeEnd;
use readers::PgReaders;
use sql::TypedSql;
use transaction::WritingNode;
use writer::{PgJob, PgWriter};

use crate::sealing::{Sealer, SealingKeyId, SealingKeys};

/// One node's view of a database that others may share.
pub struct PgStore {
    node: NodeId,
    signer: Arc<Signer>,
    jobs: mpsc::UnboundedSender<PgJob>,
    readers: PgReaders,
    lease: Arc<NodeLease>,
    end: NodeEnd,
    sealer: Sealer,
    /// For the first who asks.
    heard: Mutex<Option<mpsc::Receiver<HeardOfOthers>>>,
    /// What ends after the last write.
    tasks: Mutex<Option<JoinSet<()>>>,
}

impl PgStore {
    /// Opens the data in this database, and makes the tables if there are none. `folder` is this node's own: it has
    /// the key that signs the log. Secrets are refused: for them see [`PgStore::open_sealing`].
    pub async fn open(
        address: &PgAddress,
        folder: &Path,
        node: NodeId,
    ) -> Result<Arc<PgStore>, PgOpenError> {
        PgStore::open_with(address, folder, node, None).await
    }

    /// The same with keys for secrets, which all nodes of the database have in common.
    pub async fn open_sealing(
        address: &PgAddress,
        folder: &Path,
        node: NodeId,
        keys: SealingKeys,
    ) -> Result<Arc<PgStore>, PgOpenError> {
        PgStore::open_with(address, folder, node, Some(keys)).await
    }

    async fn open_with(
        address: &PgAddress,
        folder: &Path,
        node: NodeId,
        keys: Option<SealingKeys>,
    ) -> Result<Arc<PgStore>, PgOpenError> {
        let failed = |failure: PgFailure| PgOpenError::of(address, failure);
        let connection = PgConnection::open(address).await.map_err(failed)?;
        check_server(&connection.client).await.map_err(failed)?;
        sealing_start::refuse_clear(&connection, keys.as_ref()).await.map_err(failed)??;
        schema::migrate(address, &connection).await?;
        let sealer = sealing_start::sealer(address, &connection, keys).await?;
        let signer = key::signer(folder, &connection).await.map_err(failed)??;
        let (position, seen) = check_journal(&connection).await.map_err(failed)?;
        let end = NodeEnd::new();
        let registering = NodeLease::register(cells::id(node.0), &connection, end.clone());
        let (lease, others) = in_time(ANSWER_WITHIN, registering).await.map_err(failed)?;
        let connector = Arc::new(PgConnector::new(address.clone(), seen, end.clone()));
        let in_doubt = Arc::new(AtomicBool::new(false));
        let own = Arc::<OwnWrites>::default();
        let signer = Arc::new(signer);
        let (jobs, waiting) = mpsc::unbounded_channel();
        let writer = PgWriter {
            node: WritingNode {
                id: cells::id(node.0),
                signer: signer.clone(),
                connector: connector.clone(),
            },
            jobs: waiting,
            connection: Some(connection),
            lease: lease.clone(),
            in_doubt: in_doubt.clone(),
            own: own.clone(),
            aux_count: 0,
        };
        let (told, heard) = mpsc::channel(HEARD_MAX);
        let hearing = Hearing {
            connector: connector.clone(),
            gone: lease.gone.subscribe(),
            ends: lease.ends(),
            own,
            told,
            position,
        };
        // All end by themselves, soon after nobody can ask for anything any more; dropping the store leaves them
        // time for that.
        let mut tasks = JoinSet::new();
        tasks.spawn(writer.run());
        tasks.spawn(lease.clone().keep(connector.clone(), others));
        tasks.spawn(hearing.run());
        Ok(Arc::new(PgStore {
            node,
            signer,
            jobs,
            readers: PgReaders::new(connector, in_doubt),
            lease,
            end,
            sealer,
            heard: Mutex::new(Some(heard)),
            tasks: Mutex::new(Some(tasks)),
        }))
    }

    /// Returns when this node may do nothing more on the database, and says why. Nothing that is in memory may be used then:
    /// end the process, and start it again.
    pub async fn ended(&self) -> PgNodeEnd {
        self.end.wait().await
    }

    /// Which key secrets are sealed with. `None` if secrets are refused.
    pub fn sealing_key(&self) -> Option<SealingKeyId> {
        self.sealer.keys().map(SealingKeys::sealing)
    }

    /// Writes all that was handed over, and tells the other nodes that this one has ended. Whatever comes later is told that
    /// the store is unavailable.
    pub async fn close(&self) {
        // An error means that it is closed already.
        drop(self.jobs.send(PgJob::Close));
        let tasks = self.tasks.lock().unpoisoned().take();
        if let Some(tasks) = tasks {
            tasks.join_all().await;
        }
    }

    /// Looks at a database without changing anything in it: what it is, how many nodes work on it, and whether these keys
    /// open what is sealed there.
    pub async fn look(
        address: &PgAddress,
        keys: Option<&SealingKeys>,
    ) -> Result<String, PgOpenError> {
        let failed = |failure: PgFailure| PgOpenError::of(address, failure);
        let connection = PgConnection::open(address).await.map_err(failed)?;
        check_server(&connection.client).await.map_err(failed)?;
        sealing_start::refuse_clear(&connection, keys).await.map_err(failed)??;
        let client = &connection.client;
        let asked = async {
            let version =
                TypedSql::new("SELECT convert_to(current_setting('server_version'), 'UTF8')");
            let version: Vec<u8> =
                version.row(client).await?.map(|row| row.get(0)).unwrap_or_default();
            let version = String::from_utf8_lossy(&version).into_owned();
            let there = TypedSql::new("SELECT to_regclass('holdpoint.nodes') IS NOT NULL");
            let is_there: bool = there.row(client).await?.is_some_and(|row| row.get(0));
            if !is_there {
                return Ok((version, None, 0));
            }
            let schema = TypedSql::new("SELECT number FROM holdpoint.meta WHERE key = 'schema'");
            let schema: i64 = schema.row(client).await?.map_or(0, |row| row.get(0));
            let alive = TypedSql::new(
                "SELECT count(*) FROM holdpoint.nodes WHERE NOT gone AND until > clock_timestamp()",
            );
            let alive: i64 = alive.row(client).await?.map_or(0, |row| row.get(0));
            Ok::<_, PgFailure>((version, Some(schema), alive))
        };
        let (version, found, alive) = asked.await.map_err(failed)?;
        let known = schema::SCHEMA_VERSION;
        match found {
            Some(found) if found > known => {
                Err(PgOpenError::Newer { place: address.to_string(), found, known })
            }
            Some(found) => {
                if found == known {
                    sealing_start::check_keys(address, &connection, &Sealer::new(keys.cloned()))
                        .await?;
                }
                Ok(format!("PostgreSQL {version} answers; nodes that work on it now: {alive}"))
            }
            None => Ok(format!("PostgreSQL {version} answers; the first start makes the tables")),
        }
    }

    async fn write_aux(&self, write: PgAuxWrite) -> Result<PgAuxOutcome, StoreError> {
        let (reply, answer) = oneshot::channel();
        if self.jobs.send(PgJob::Aux { write, reply }).is_err() {
            return Err(shutting_down());
        }
        answer.await.unwrap_or_else(|_| Err(shutting_down()))
    }
}

impl Drop for PgStore {
    fn drop(&mut self) {
        if let Some(mut tasks) = self.tasks.lock().unpoisoned().take() {
            tasks.detach_all();
        }
    }
}

impl std::fmt::Debug for PgStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PgStore").field("node", &self.node).finish_non_exhaustive()
    }
}

fn shutting_down() -> StoreError {
    StoreError::Unavailable("it is shutting down".into())
}

/// Where the journal ends. The head, the last entry and what was signed must be of one piece: somebody may have restored only a part.
async fn check_journal(connection: &PgConnection) -> Result<(u64, JournalMark), PgFailure> {
    use crate::record::Broken;
    let client = &connection.client;
    let head = reads::head().row(client).await?;
    let Some(head) = head else {
        return Err(Broken::Damaged("the journal has no head".into()).into());
    };
    let (seq, hash, vouched): (i64, Vec<u8>, i64) = (head.get(1), head.get(3), head.get(4));
    let signed = TypedSql::new("SELECT coalesce(max(seq), 0) FROM holdpoint.checkpoints");
    let signed: i64 = signed.row(client).await?.map_or(0, |row| row.get(0));
    if vouched.max(signed) > seq {
        return Err(Broken::Damaged("the journal is shorter than what was signed".into()).into());
    }
    let (last_seq, last_hash) = match reads::last_entry().row(client).await? {
        Some(row) => {
            reads::read_entry(&row)?;
            (row.get(6), row.get(7))
        }
        None => (0, vec![0; 32]),
    };
    if last_seq != seq || last_hash != hash {
        return Err(Broken::Damaged("the journal does not end where its head says".into()).into());
    }
    Ok((head.get::<_, i64>(0) as u64, JournalMark { seq: seq as u64, hash }))
}
