//! The store on PostgreSQL, on a real server.

// Testkit depends on every crate of ours, and so cannot be waited for here: its server is used without it.
#[path = "../../../testkit/src/postgres.rs"]
#[expect(dead_code, unreachable_pub, reason = "a part of it is enough, and it is of another crate")]
mod cluster;
#[path = "../../../testkit/src/rng.rs"]
#[expect(dead_code, unreachable_pub, reason = "a part of it is enough, and it is of another crate")]
mod rng;

mod failover;
mod leases;
mod refusals;
mod sealed;
mod unknown;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use cluster::Cluster;
use domain::id::NodeId;
use holdpoint_stores::conformance::Opener;
use holdpoint_stores::{PgAddress, PgStore, SealingKeys};
use ports::store::Store;
use tokio::runtime::Handle;
use tokio::task::block_in_place;

/// A server that waits for its disk, and databases on it.
struct Server {
    cluster: Cluster,
    /// The folder with the key that all nodes have.
    folder: tempfile::TempDir,
    databases: AtomicUsize,
}

/// Transactions that have written under the head's lock and wait for the standby.
const WAITING_WRITES: &str = "SELECT count(DISTINCT pid) FROM pg_stat_activity JOIN pg_locks USING (pid) \
     WHERE wait_event = 'SyncRep' AND relation = 'holdpoint.head'::regclass";

/// A database that is a store's alone.
#[derive(Clone)]
struct Database {
    address: PgAddress,
    name: String,
    folder: PathBuf,
}

impl Server {
    async fn start() -> Arc<Server> {
        let cluster = Cluster::start_durable().await;
        let folder = tempfile::tempdir().unwrap();
        Arc::new(Server { cluster, folder, databases: AtomicUsize::new(0) })
    }

    async fn database(&self) -> Database {
        let number = self.databases.fetch_add(1, Ordering::Relaxed);
        let name = format!("house_{number}");
        let admin = self.cluster.connect("postgres", "postgres").await;
        admin.run(&format!("CREATE DATABASE {name} OWNER app")).await;
        let url = self.cluster.url_as("app", &name, self.cluster.port());
        let address = PgAddress::parse(&url, None).unwrap();
        Database { address, folder: self.folder.path().join(&name), name }
    }

    /// What a test says to the database itself.
    async fn session(&self, database: &Database) -> cluster::Session {
        self.cluster.connect("app", &database.name).await
    }

    /// For the suite: each store is opened when the one before it has ended.
    async fn opener(self: &Arc<Server>) -> Box<Opener> {
        let (server, database) = (self.clone(), self.database().await);
        let opened = AtomicUsize::new(0);
        Box::new(move |node| {
            let opening = async {
                if opened.fetch_add(1, Ordering::Relaxed) > 0 {
                    server
                        .until(&database, "SELECT count(*) FROM holdpoint.nodes WHERE NOT gone", 0)
                        .await;
                }
                database.open(node).await
            };
            block_in_place(|| Handle::current().block_on(opening)) as Arc<dyn Store>
        })
    }

    /// Commits wait for a standby from here on, and there is none.
    async fn standby_leaves(&self) {
        let admin = self.cluster.connect("postgres", "postgres").await;
        admin.run("ALTER SYSTEM SET synchronous_standby_names = 'away'").await;
        admin.run("SELECT pg_reload_conf()").await;
    }

    async fn standby_is_back(&self) {
        let admin = self.cluster.connect("postgres", "postgres").await;
        admin.run("ALTER SYSTEM RESET synchronous_standby_names").await;
        admin.run("SELECT pg_reload_conf()").await;
    }

    /// Waits until a transaction that writes under the head's lock waits for the standby, or until `is_over`.
    async fn until_a_write_waits(&self, database: &Database, mut is_over: impl FnMut() -> bool) {
        let session = self.session(database).await;
        let asking = async {
            while !is_over() && session.number(WAITING_WRITES).await == 0 {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(60), asking).await.expect("it waits, or is over");
    }

    /// Asks until the answer is this number.
    async fn until(&self, database: &Database, sql: &str, expected: i64) {
        let session = self.session(database).await;
        let asking = async {
            while session.number(sql).await != expected {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        let asked = tokio::time::timeout(Duration::from_secs(60), asking).await;
        asked.unwrap_or_else(|_| panic!("{sql} never was {expected}"));
    }
}

impl Database {
    async fn open(&self, node: NodeId) -> Arc<PgStore> {
        let keys = SealingKeys::parse(&"5e".repeat(32)).unwrap();
        PgStore::open_sealing(&self.address, &self.folder, node, keys).await.unwrap()
    }
}

mod suite {
    use std::sync::Arc;

    use crate::Server;

    /// Kept while the suite runs: with it the server ends.
    static SERVER: tokio::sync::OnceCell<Arc<Server>> = tokio::sync::OnceCell::const_new();

    holdpoint_stores::store_conformance!(in one test, without files: SERVER.get_or_init(Server::start).await.opener().await);
}
