//! Another server takes over, or the same one comes back: with less than it had, or before its standby has everything.

use std::sync::Arc;
use std::time::Duration;

use domain::id::StreamId;
use holdpoint_stores::conformance::stage::{Stage, node, person, session_id};
use holdpoint_stores::{PgNodeEnd, PgStore};
use ports::store::{CommitError, Committed, PutNote, Store as _, StoreError};
use tokio::task::JoinSet;

use crate::Server;

const PATIENCE: Duration = Duration::from_secs(60);

async fn open(store: Arc<PgStore>, number: u128) -> Result<Committed, CommitError> {
    store.commit(Stage::new(session_id(number), node(1)).open(person("ana"))).await
}

/// The database has just come back, and connections from before are of no use.
async fn open_again(store: &Arc<PgStore>, number: u128) {
    let opening = async {
        while let Err(error) = open(store.clone(), number).await {
            assert!(matches!(error, CommitError::Store(StoreError::Unavailable(_))), "{error}");
        }
    };
    tokio::time::timeout(PATIENCE, opening).await.expect("it is written");
}

/// As an asynchronous standby that took over: what this node acknowledged last is not there. It says so and ends,
/// and does not mix what it remembers with what others write in that place.
#[tokio::test(flavor = "multi_thread")]
async fn i10_a_node_that_has_seen_more_of_the_journal_than_there_is_ends() {
    let mut server = Server::start().await;
    let database = server.database().await;
    let store = database.open(node(1)).await;
    open(store.clone(), 1).await.unwrap();
    let cluster = &mut Arc::get_mut(&mut server).expect("ours alone").cluster;
    cluster.kill();
    cluster.keep();
    cluster.up().await;
    open_again(&store, 2).await;
    cluster.kill();
    cluster.put_back();
    cluster.up().await;
    let ended = tokio::time::timeout(PATIENCE, store.ended()).await.expect("it notices");
    assert_eq!(ended, PgNodeEnd::TailLost { seq: 2 });
    match open(store.clone(), 3).await {
        Err(CommitError::Store(StoreError::Unavailable(why))) => {
            assert!(why.contains("does not have entry 2") && why.contains("restart"), "{why}");
        }
        other => panic!("{other:?}"),
    }
    assert!(store.load(StreamId::Session(session_id(1))).await.is_err(), "memory and store differ");
    assert!(!store.may_begin());
    // A new process begins with what is there.
    let next = database.open(node(2)).await;
    assert!(next.load(StreamId::Session(session_id(2))).await.unwrap().is_empty());
    open(next.clone(), 3).await.unwrap();
    assert_eq!(next.entries(None, 0, 10).await.unwrap().len(), 2);
}

/// The address leads to a server with other settings than the one that was looked at when the store was opened.
#[tokio::test(flavor = "multi_thread")]
async fn i10_a_server_that_may_forget_is_refused_on_every_new_connection() {
    let server = Server::start().await;
    let database = server.database().await;
    let store = database.open(node(1)).await;
    open(store.clone(), 1).await.unwrap();
    let admin = server.cluster.connect("postgres", "postgres").await;
    let name = &database.name;
    admin.run(&format!("ALTER DATABASE {name} SET synchronous_commit = off")).await;
    let others = format!("FROM pg_stat_activity WHERE datname = '{name}'");
    admin.run(&format!("SELECT pg_terminate_backend(pid, 10000) {others}")).await;
    let refused = async {
        loop {
            match open(store.clone(), 2).await {
                Err(CommitError::Store(StoreError::Unavailable(why)))
                    if why.contains("synchronous_commit = off") =>
                {
                    return;
                }
                // The old connection, which has ended.
                Err(CommitError::Store(StoreError::Unavailable(_))) => {}
                other => panic!("{other:?}"),
            }
        }
    };
    tokio::time::timeout(PATIENCE, refused).await.expect("it says so");
    let read = store.load(StreamId::Session(session_id(1))).await.unwrap_err().to_string();
    assert!(read.contains("synchronous_commit = off"), "{read}");
    admin.run(&format!("ALTER DATABASE {name} RESET ALL")).await;
    open_again(&store, 2).await;
}

/// A primary that restarts shows what its standby does not have. A commit that was on its way then is acknowledged when
/// the standby has it, and not when this node sees it.
#[tokio::test(flavor = "multi_thread")]
async fn i10_a_commit_of_unknown_fate_is_acknowledged_when_the_standby_has_it() {
    let mut server = Server::start().await;
    let database = server.database().await;
    let store = database.open(node(1)).await;
    server.standby_leaves().await;
    let (mut tasks, mut number) = (JoinSet::new(), 0u128);
    // The first ones may be faster than the setting.
    loop {
        number += 1;
        tasks.spawn(open(store.clone(), number));
        let mut fate = None;
        server
            .until_a_write_waits(&database, || {
                fate = fate.take().or_else(|| tasks.try_join_next());
                fate.is_some()
            })
            .await;
        match fate {
            Some(fate) => drop(fate.unwrap().unwrap()),
            None => break,
        }
    }
    let cluster = &mut Arc::get_mut(&mut server).expect("ours alone").cluster;
    cluster.kill();
    cluster.up().await;
    let mut fate = None;
    server
        .until_a_write_waits(&database, || {
            fate = fate.take().or_else(|| tasks.try_join_next());
            fate.is_some()
        })
        .await;
    assert!(fate.is_none(), "it was told before the standby has it: {fate:?}");
    server.standby_is_back().await;
    let fate = tokio::time::timeout(PATIENCE, tasks.join_next()).await.expect("it is told");
    fate.expect("one").unwrap().unwrap();
    assert!(!store.load(StreamId::Session(session_id(number))).await.unwrap().is_empty());
}

/// The same for what is written beside the journal: the line breaks when it is written, and before anybody said so.
#[tokio::test(flavor = "multi_thread")]
async fn a_small_write_of_unknown_fate_is_looked_up() {
    let server = Server::start().await;
    let database = server.database().await;
    let store = database.open(node(1)).await;
    let put = |store: Arc<PgStore>, number: usize| async move {
        let put = PutNote {
            shelf: "shelf".into(),
            key: format!("{number}"),
            value: Some(b"kept".to_vec()),
            expected: Some(0),
            due_at: None,
            forget_at: None,
        };
        store.put_notes(vec![put]).await
    };
    server.standby_leaves().await;
    let (mut tasks, mut number) = (JoinSet::new(), 0);
    loop {
        number += 1;
        tasks.spawn(put(store.clone(), number));
        let mut fate = None;
        server
            .until_a_write_waits(&database, || {
                fate = fate.take().or_else(|| tasks.try_join_next());
                fate.is_some()
            })
            .await;
        match fate {
            Some(fate) => assert!(fate.unwrap().unwrap()),
            None => break,
        }
    }
    let session = server.session(&database).await;
    session
        .run(
            "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity JOIN pg_locks USING (pid) \
             WHERE wait_event = 'SyncRep' AND relation = 'holdpoint.head'::regclass",
        )
        .await;
    server.standby_is_back().await;
    let fate = tokio::time::timeout(PATIENCE, tasks.join_next()).await.expect("it is told");
    let is_there = store.note("shelf", &number.to_string()).await.unwrap().is_some();
    assert!(is_there, "the database had written it");
    assert!(fate.expect("one").unwrap().expect("it is written, and says so"));
    // Of a node that has ended nothing stays.
    let marks = "SELECT count(*) FROM holdpoint.meta WHERE key LIKE 'side:%'";
    assert_eq!(session.number(marks).await, 1);
    store.close().await;
    assert_eq!(session.number(marks).await, 0);
}
