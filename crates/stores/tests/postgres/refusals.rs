//! What is refused when the store is opened, and what is said then.

use domain::id::NodeId;
use holdpoint_stores::conformance::stage::{audience, hold, hold_id, node, open_outside, person};
use holdpoint_stores::{PgAddress, PgOpenError, PgStore};
use ports::store::Store as _;

use crate::cluster::{Cluster, PASSWORD};
use crate::{Database, Server};

async fn refused(database: &Database) -> String {
    let opened = PgStore::open(&database.address, &database.folder, NodeId::new(1, 99)).await;
    let said = opened.expect_err("it must not be opened").to_string();
    assert!(!said.contains(PASSWORD), "{said}");
    said
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_hold_a_journal_is_refused_and_says_why() {
    let server = Server::start().await;
    let good = server.database().await;
    let at =
        |url: String| Database { address: PgAddress::parse(&url, None).unwrap(), ..good.clone() };
    let admin = server.cluster.connect("postgres", "postgres").await;

    let said = refused(&at(server.cluster.url_as("app", "nowhere", server.cluster.port()))).await;
    assert!(said.contains("no such database") && said.contains("CREATE DATABASE"), "{said}");
    let said = refused(&at(server.cluster.url_as("app", "shop", 1))).await;
    assert!(said.contains("cannot be reached"), "{said}");
    let said = refused(&at(server.cluster.url_as("nobody", "shop", server.cluster.port()))).await;
    assert!(said.contains("does not accept the user"), "{said}");

    for (setting, wanted) in [
        ("synchronous_commit = off", "synchronous_commit"),
        ("default_transaction_read_only = on", "only takes reads"),
    ] {
        admin.run(&format!("ALTER DATABASE {} SET {setting}", good.name)).await;
        let said = refused(&good).await;
        assert!(said.contains(wanted), "{said}");
        admin.run(&format!("ALTER DATABASE {} RESET ALL", good.name)).await;
    }

    // Whoever may only look cannot make the tables.
    admin.run("CREATE ROLE guest LOGIN").await;
    let guest = server.cluster.url_as("guest", &good.name, server.cluster.port());
    let said = refused(&at(guest)).await;
    assert!(said.contains("may not make the tables"), "{said}");

    drop(good.open(node(1)).await);
    let session = server.session(&good).await;
    let said = refused(&Database { folder: good.folder.join("another"), ..good.clone() }).await;
    assert!(said.contains("audit.key") && said.contains("is missing"), "{said}");
    session.run("UPDATE holdpoint.meta SET number = 99 WHERE key = 'schema'").await;
    let said = refused(&good).await;
    assert!(said.contains("newer version of Holdpoint") && said.contains("99"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_may_forget_is_refused() {
    let cluster = Cluster::start().await;
    let folder = tempfile::tempdir().unwrap();
    let address = PgAddress::parse(&cluster.url(), None).unwrap();
    let refused = PgStore::open(&address, folder.path(), node(1)).await.unwrap_err();
    assert!(matches!(refused, PgOpenError::NotDurable { setting: "fsync", .. }), "{refused}");
}

/// Somebody changed a row of the journal, or restored only a part of the tables.
#[tokio::test(flavor = "multi_thread")]
async fn i43_a_journal_that_was_changed_by_hand_is_noticed() {
    let server = Server::start().await;
    let database = server.database().await;
    let store = database.open(node(1)).await;
    for number in 1..=3 {
        let hold = hold(hold_id(number), None, person("eve"), audience(&["ana"], &[]));
        store.commit(open_outside(hold)).await.unwrap();
    }
    let session = server.session(&database).await;
    session.run("UPDATE holdpoint.journal SET at = at + 1 WHERE seq = 2").await;
    let said = store.entries(None, 0, 10).await.unwrap_err().to_string();
    assert!(said.contains("columns of commit 2"), "{said}");
    session.run("UPDATE holdpoint.journal SET at = at - 1 WHERE seq = 2").await;
    assert_eq!(store.entries(None, 0, 10).await.unwrap().len(), 3);
    drop(store);
    session.run("DELETE FROM holdpoint.journal WHERE seq = 3").await;
    let said = refused(&database).await;
    assert!(said.contains("does not end where its head says"), "{said}");
}
