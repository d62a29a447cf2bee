//! Several nodes over one database: who lives, and what a node may still do.

use std::collections::BTreeSet;
use std::time::Duration;

use domain::event::{Event, GlobalEvent};
use holdpoint_stores::conformance::stage::{Stage, commit, node, person, session_id};
use ports::store::{CommitError, HeardOfOthers, Store as _, StoreError, StreamRows};
use tokio::task::JoinSet;

use crate::Server;

/// A hundred commits over two nodes, decided on the same version: one of them counts, whichever node wrote it.
#[tokio::test(flavor = "multi_thread")]
async fn i09_of_many_on_two_nodes_one_wins_and_the_log_has_one_order() {
    let server = Server::start().await;
    let database = server.database().await;
    let stores = [database.open(node(1)).await, database.open(node(2)).await];
    for round in 0..5u64 {
        let mut tasks = JoinSet::new();
        for number in 0..100 {
            let reason = format!("reason {number}");
            let frozen = Event::Global(GlobalEvent::Frozen { by: person("ana"), reason });
            let frozen = commit(StreamRows::Global, round, vec![frozen], person("ana"));
            let store = stores[number % 2].clone();
            tasks.spawn(async move { store.commit(frozen).await });
        }
        let results = tasks.join_all().await;
        assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1, "round {round}");
    }
    // And of streams that have nothing to do with each other all are written.
    let mut tasks = JoinSet::new();
    for number in 0..200u128 {
        let store = stores[(number % 2) as usize].clone();
        let opened = Stage::new(session_id(number), node(1)).open(person("ana"));
        tasks.spawn(async move { store.commit(opened).await.unwrap().global });
    }
    let mut globals = tasks.join_all().await;
    globals.sort_unstable();
    assert_eq!(globals, (6..=205).collect::<Vec<u64>>(), "one order, without a gap");
    let (text, key) = holdpoint_stores::conformance::log::export(&(stores[1].clone() as _)).await;
    assert_eq!(audit::verify(text.as_bytes(), Some(key), None).unwrap().entries, 205);
}

/// A node whose process stands still: its lease ends for itself first, then others take it for gone, and nothing of it
/// is written afterwards.
#[tokio::test(flavor = "multi_thread")]
async fn i17_a_node_that_was_taken_for_gone_writes_nothing_any_more() {
    let server = Server::start().await;
    let database = server.database().await;
    let (one, two) = (database.open(node(1)).await, database.open(node(2)).await);
    assert!(one.may_begin() && two.may_begin());
    assert!(!two.is_gone(node(1)).await.unwrap());
    let session = server.session(&database).await;
    // What a judge does. That it does so in time is shown with real processes.
    session
        .run("UPDATE holdpoint.nodes SET gone = true WHERE id = (SELECT id FROM holdpoint.nodes ORDER BY id LIMIT 1)")
        .await;
    assert!(two.is_gone(node(1)).await.unwrap());
    let opened = Stage::new(session_id(1), node(1)).open(person("ana"));
    match one.commit(opened.clone()).await {
        Err(CommitError::Store(StoreError::Unavailable(why))) => {
            assert!(why.contains("took this one for gone"), "{why}");
        }
        other => panic!("{other:?}"),
    }
    assert!(!one.may_begin(), "and nothing begins there");
    assert!(one.probe().await.is_err());
    two.commit(opened).await.unwrap();
    assert!(two.may_begin());
}

/// A judge waits for eight seconds in which it hears nothing, and then says so by itself.
#[tokio::test(flavor = "multi_thread")]
async fn a_node_that_is_not_heard_of_is_taken_for_gone_within_ten_seconds() {
    let server = Server::start().await;
    let database = server.database().await;
    let two = database.open(node(2)).await;
    let session = server.session(&database).await;
    // A process that died: its row stays, and nobody renews it.
    let id = "decode('00000000000000000000000000000077', 'hex')";
    session
        .run(&format!(
            "INSERT INTO holdpoint.nodes VALUES ({id}, 1, clock_timestamp() + interval '8 s', 0, false)"
        ))
        .await;
    let since = tokio::time::Instant::now();
    let gone = format!("SELECT count(*) FROM holdpoint.nodes WHERE gone AND id = {id}");
    server.until(&database, &gone, 1).await;
    let took = since.elapsed();
    assert!(took >= Duration::from_millis(7_900), "{took:?}: sooner than it may be");
    // One more renewal of the judge, and a busy machine.
    assert!(took <= Duration::from_secs(20), "{took:?}");
    assert!(two.may_begin(), "a living node is not touched");
}

/// A node ends just when this one's renewal fails. It is noticed when the database can be asked again.
#[tokio::test(flavor = "multi_thread")]
async fn i17_a_node_that_ends_while_the_database_cannot_be_asked_is_not_forgotten() {
    let server = Server::start().await;
    let database = server.database().await;
    let two = database.open(node(2)).await;
    let mut heard = two.hear_others().expect("nobody else hears");
    let session = server.session(&database).await;
    let id = "decode('00000000000000000000000000000077', 'hex')";
    session
        .run(&format!(
            "INSERT INTO holdpoint.nodes VALUES ({id}, 1, clock_timestamp() + interval '60 s', 0, false)"
        ))
        .await;
    // It is seen to live.
    let beat = format!("SELECT beat FROM holdpoint.nodes WHERE id <> {id}");
    let seen = session.number(&beat).await + 2;
    let looked =
        format!("SELECT count(*) FROM holdpoint.nodes WHERE id <> {id} AND beat >= {seen}");
    server.until(&database, &looked, 1).await;
    session.run(&format!("BEGIN; SELECT 1 FROM holdpoint.nodes WHERE id <> {id} FOR UPDATE")).await;
    const RENEWING: &str = "FROM pg_stat_activity WHERE datname = current_database() \
                            AND wait_event_type = 'Lock' AND query LIKE 'UPDATE holdpoint.nodes%'";
    server.until(&database, &format!("SELECT count(*) {RENEWING}"), 1).await;
    session.run(&format!("UPDATE holdpoint.nodes SET gone = true WHERE id = {id}")).await;
    session.run(&format!("SELECT pg_terminate_backend(pid) {RENEWING}")).await;
    session.run("COMMIT").await;
    let told =
        async { while heard.recv().await.expect("the store is open") != HeardOfOthers::Gone {} };
    tokio::time::timeout(Duration::from_secs(20), told).await.expect("its work is taken over");
    assert!(two.may_begin());
}

/// A server does not notice that a client has gone while it waits for a lock or a standby. Renewals go on meanwhile, each
/// on a connection of its own.
#[tokio::test(flavor = "multi_thread")]
async fn renewals_leave_no_processes_behind_while_the_standby_is_away() {
    let server = Server::start().await;
    let database = server.database().await;
    let store = database.open(node(1)).await;
    let session = server.session(&database).await;
    const PROCESSES: &str = "SELECT pid::bigint FROM pg_stat_activity \
                             WHERE datname = current_database() AND pid <> pg_backend_pid()";
    server.standby_leaves().await;
    let mut known = BTreeSet::from_iter(session.numbers(PROCESSES).await);
    let at_first = known.len();
    let mut now = known.len();
    let renewing = async {
        while known.len() < at_first + 5 {
            tokio::time::sleep(Duration::from_millis(20)).await;
            let processes = session.numbers(PROCESSES).await;
            now = processes.len();
            known.extend(processes);
        }
    };
    tokio::time::timeout(Duration::from_secs(90), renewing).await.expect("it goes on renewing");
    // One that waits for the standby, and one that waits for that.
    assert!(now <= at_first + 2, "{now} processes, and {at_first} at first");
    assert!(!store.may_begin());
    server.standby_is_back().await;
    let valid = async {
        while !store.may_begin() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), valid).await.expect("it is renewed");
}
