//! Secrets in the tables: sealed, by a key that the database never sees.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use domain::id::{HoldId, NodeId, SecretId, StreamId};
use domain::person::PersonId;
use domain::secret::{Sealed, SecretValue};
use domain::time::Timestamp;
use holdpoint_stores::{PgOpenError, PgStore, SealingKeys};
use ports::store::{Store as _, StoreError};
use serde_json::json;

use crate::{Database, Server};

const CANARY: &str = "Kanarie-93";
const ROWS: &str = "SELECT count(*) FROM holdpoint.sealed";
const CLEAR_ROWS: &str = "SELECT count(*) FROM holdpoint.clear_secrets";
const SCHEMA: &str = "SELECT number FROM holdpoint.meta WHERE key = 'schema'";

fn secret(number: u128) -> Sealed {
    Sealed {
        id: SecretId::new(7, number),
        scope: StreamId::Global,
        hold: HoldId::new(7, 3),
        name: "mcp.oauth/tickets".into(),
        by: PersonId::new("ana"),
        at: Timestamp::from_ms(5),
        value: SecretValue::new(json!({"token": CANARY})),
    }
}

fn keys(numbers: &[u8]) -> SealingKeys {
    let lines = numbers.iter().map(|number| format!("{number:064x}\n"));
    SealingKeys::parse(&lines.collect::<String>()).unwrap()
}

/// Each start is a node of its own.
fn node() -> NodeId {
    static STARTED: AtomicU64 = AtomicU64::new(1);
    NodeId::new(1, u128::from(STARTED.fetch_add(1, Ordering::Relaxed)))
}

async fn open(database: &Database, numbers: &[u8]) -> Result<Arc<PgStore>, PgOpenError> {
    let (address, folder) = (&database.address, &database.folder);
    PgStore::open_sealing(address, folder, node(), keys(numbers)).await
}

fn told(opened: Result<Arc<PgStore>, PgOpenError>) -> String {
    let error = opened.expect_err("it must not be opened");
    assert!(matches!(error, PgOpenError::SealingKey { .. }), "{error:?}");
    error.to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn i45_a_row_gives_no_secret_away_and_opens_only_with_its_key_in_its_place() {
    let server = Server::start().await;
    let database = server.database().await;
    let session = server.session(&database).await;

    // Without a key all else works, and a secret is refused with a word on what to set.
    let bare = PgStore::open(&database.address, &database.folder, node()).await.unwrap();
    assert!(bare.sealing_key().is_none());
    assert!(matches!(bare.check_sealing(), Err(StoreError::SealingKey(_))));
    let refused = bare.seal(vec![secret(1)]).await.unwrap_err();
    assert!(matches!(refused, StoreError::SealingKey(_)), "{refused}");
    assert!(refused.to_string().contains("set `sealing_key_file`"), "{refused}");
    assert_eq!(session.number(ROWS).await, 0);

    let store = open(&database, &[1]).await.unwrap();
    store.check_sealing().unwrap();
    store.seal(vec![secret(1), secret(2)]).await.unwrap();
    assert_eq!(session.number(ROWS).await, 2);
    let tells = format!(
        "SELECT count(*) FROM holdpoint.sealed s \
         WHERE position('{CANARY}' in encode(s.value, 'escape')) > 0 OR s::text LIKE '%{CANARY}%'"
    );
    assert_eq!(session.number(&tells).await, 0);
    session
        .run("CREATE TABLE plain AS SELECT convert_to('{\"token\":\"Kanarie-93\"}', 'UTF8') AS value")
        .await;
    let tells = tells.replace("holdpoint.sealed", "plain");
    assert_eq!(session.number(&tells).await, 1, "the search finds what is there");

    // Rows that are there are never taken for absent.
    let refused = bare.sealed(StreamId::Global).await.unwrap_err().to_string();
    let id = keys(&[1]).sealing().to_string();
    assert!(refused.contains(&id), "{refused}");
    let said = told(PgStore::open(&database.address, &database.folder, node()).await);
    assert!(said.contains(&id) && said.contains("`sealing_key_file`"), "{said}");
    let said = told(open(&database, &[2]).await);
    assert!(said.contains(&id) && said.contains("lacks the key"), "{said}");
    assert_eq!(store.sealed(StreamId::Global).await.unwrap(), [secret(1), secret(2)]);

    // A node that has the new key behind the old one reads what a node writes that seals with it.
    let next = open(&database, &[1, 2]).await.unwrap();
    let changed = open(&database, &[2, 1]).await.unwrap();
    changed.seal(vec![secret(3)]).await.unwrap();
    let all = [secret(1), secret(2), secret(3)];
    assert_eq!(next.sealed(StreamId::Global).await.unwrap(), all);
    let alone = open(&database, &[2]).await.unwrap();
    assert_eq!(alone.sealed(StreamId::Global).await.unwrap(), all, "all were sealed anew");

    session
        .run(
            "UPDATE holdpoint.sealed SET value = \
             (SELECT value FROM holdpoint.sealed ORDER BY id LIMIT 1)",
        )
        .await;
    let refused = alone.sealed(StreamId::Global).await.unwrap_err();
    assert!(matches!(refused, StoreError::Unreadable(_)), "{refused}");
}

#[tokio::test(flavor = "multi_thread")]
async fn i45_what_lay_in_the_clear_is_sealed_by_the_first_node_that_has_a_key() {
    let server = Server::start().await;
    let database = server.database().await;
    let session = server.session(&database).await;
    // The tables as the version before sealing made them.
    session
        .run(
            "CREATE SCHEMA holdpoint; \
             CREATE TABLE holdpoint.meta (key text PRIMARY KEY, number bigint, value bytea); \
             INSERT INTO holdpoint.meta (key, number) VALUES ('schema', 1)",
        )
        .await;
    session.run(include_str!("../../src/postgres/migrations/0001_begin.sql")).await;
    let secret = secret(1);
    session
        .run(&format!(
            "INSERT INTO holdpoint.sealed (id, stream, hold, name, person, at, value) VALUES \
             ('\\x{:032x}', 'H', '\\x{:032x}', '{}', 'ana', 5, '{}')",
            secret.id.0.0,
            secret.hold.0.0,
            secret.name,
            secret.value.expose()
        ))
        .await;

    let said = told(PgStore::open(&database.address, &database.folder, node()).await);
    assert!(said.contains("in the clear") && said.contains("set `sealing_key_file`"), "{said}");
    assert_eq!(session.number(SCHEMA).await, 1, "the version before can still be run");
    assert_eq!(session.number(ROWS).await, 1);

    // Two at once.
    let (one, two) = tokio::join!(open(&database, &[1]), open(&database, &[1]));
    for store in [one.unwrap(), two.unwrap()] {
        assert_eq!(store.sealed(StreamId::Global).await.unwrap(), std::slice::from_ref(&secret));
    }
    assert_eq!(session.number(CLEAR_ROWS).await, 0);
    assert_eq!(session.number("SELECT pg_relation_size('holdpoint.clear_secrets')").await, 0);
    let clear = "INSERT INTO holdpoint.sealed SELECT '\\x00', stream, hold, name, person, at, \
                 convert_to('{}', 'UTF8') FROM holdpoint.sealed";
    let refused = session.refused(clear).await;
    assert_eq!(refused, "23514", "what the table takes is no JSON");
}

#[tokio::test(flavor = "multi_thread")]
async fn i45_nodes_agree_on_a_key_before_anything_is_sealed() {
    let server = Server::start().await;
    let database = server.database().await;
    let one = open(&database, &[1]).await.unwrap();
    let said = told(open(&database, &[2]).await);
    assert!(said.contains("lacks the key"), "{said}");
    // Another key comes into use by a node that has both.
    let two = open(&database, &[2, 1]).await.unwrap();
    let said = told(open(&database, &[1]).await);
    assert!(said.contains("lacks the key"), "{said}");
    for store in [one, two, open(&database, &[2]).await.unwrap()] {
        store.close().await;
    }
}
