//! A database that goes away: what was acknowledged is there, and what is unknown is looked up.

use std::sync::Arc;
use std::time::Duration;

use domain::id::StreamId;
use holdpoint_stores::conformance::stage::{Stage, node, person, session_id};
use ports::store::{CommitError, Store, StoreError, StreamRows};
use tokio::task::JoinSet;

use crate::Server;

/// The server is killed again and again while many write. Nothing that was acknowledged is lost, and nothing that was
/// refused is there.
#[tokio::test(flavor = "multi_thread")]
async fn i10_what_was_acknowledged_outlives_a_server_that_is_killed() {
    let mut server = Server::start().await;
    let database = server.database().await;
    let store = database.open(node(1)).await;
    let (mut acknowledged, mut refused, mut next) = (Vec::new(), Vec::new(), 0u128);
    for round in 0..3 {
        let mut tasks = JoinSet::new();
        for _ in 0..150 {
            next += 1;
            let (store, number) = (store.clone(), next);
            tasks.spawn(async move {
                let opened = Stage::new(session_id(number), node(1)).open(person("ana"));
                (number, store.commit(opened).await)
            });
        }
        let mut fates = Vec::from_iter(tasks.join_next().await);
        let server = Arc::get_mut(&mut server).expect("ours alone");
        server.cluster.kill();
        // Once it stays away for so long that nobody can say what became of a commit.
        let up_after = if round == 1 { 2 } else { 1 };
        loop {
            if fates.len() == up_after {
                server.cluster.up().await;
            }
            match tasks.join_next().await {
                Some(fate) => fates.push(fate),
                None => break,
            }
        }
        for fate in fates {
            match fate.unwrap() {
                (number, Ok(_)) => acknowledged.push(number),
                (number, Err(CommitError::Store(StoreError::Unavailable(_)))) => {
                    refused.push(number)
                }
                (_, Err(CommitError::Unknown(_))) => {}
                (_, Err(other)) => panic!("{other}"),
            }
        }
    }
    assert!(!acknowledged.is_empty());
    // What is unknown is found out as soon as that is possible, also if nobody writes any more.
    let readable = async {
        while store.load(StreamId::Global).await.is_err() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), readable).await.expect("it can be read again");
    let found = |number: u128| {
        let store = store.clone();
        async move { !store.load(StreamId::Session(session_id(number))).await.unwrap().is_empty() }
    };
    for number in acknowledged {
        assert!(found(number).await, "{number} was acknowledged and is lost");
    }
    for number in refused {
        assert!(!found(number).await, "{number} was refused and is there");
    }
    let store = store as Arc<dyn Store>;
    let (text, key) = holdpoint_stores::conformance::log::export(&store).await;
    audit::verify(text.as_bytes(), Some(key), None).unwrap();
}

/// The line breaks in the middle of the commit: the store finds out by itself what became of it.
#[tokio::test(flavor = "multi_thread")]
async fn a_broken_line_leaves_no_doubt() {
    let server = Server::start().await;
    let database = server.database().await;
    let store = database.open(node(1)).await;
    let session = server.session(&database).await;
    for round in 0..10u128 {
        let mut tasks = JoinSet::new();
        for number in 0..50u128 {
            let store = store.clone();
            tasks.spawn(async move {
                let number = round * 50 + number + 1;
                let opened = Stage::new(session_id(number), node(1)).open(person("ana"));
                let row = match &opened.rows {
                    StreamRows::Session { row, .. } => row.id,
                    _ => unreachable!(),
                };
                (row, store.commit(opened).await)
            });
        }
        session
            .run(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
                  WHERE datname = current_database() AND pid <> pg_backend_pid() AND query <> ''",
            )
            .await;
        for (id, fate) in tasks.join_all().await {
            let stream = StreamId::Session(id);
            let is_there = !store.load(stream).await.unwrap().is_empty();
            match fate {
                Ok(_) => assert!(is_there, "acknowledged and lost"),
                Err(CommitError::Store(StoreError::Unavailable(_))) => {
                    assert!(!is_there, "refused and there");
                }
                Err(other) => panic!("{other}: nobody could say"),
            }
        }
    }
}
