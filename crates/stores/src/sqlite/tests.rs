//! What only this store can get wrong: files, locks, faults of the disk.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use domain::event::{HoldEvent, SessionEvent};
use domain::hold::{Hold, HoldState, HoldStateName};
use domain::id::{HoldId, StreamId};
use domain::person::Actor;
use ports::store::{CommitError, HoldOrder, HoldQuery, Store, StoreError, Viewer};
use rusqlite::Connection;

use super::connection::Faults;
use super::*;
use crate::conformance::stage::{
    Stage, at, audience, hold, hold_id, node, open_outside, person, session_id,
};

fn opened(path: &Path) -> Arc<SqliteStore> {
    SqliteStore::open(path, node(1)).unwrap()
}

fn refused(path: &Path) -> OpenError {
    SqliteStore::open(path, node(2)).unwrap_err()
}

fn outside(number: u128) -> ports::store::Commit {
    open_outside(hold(hold_id(number), None, person("eve"), audience(&["ana"], &["dba"])))
}

/// A store whose faults are in our hands.
fn faulty(path: &Path) -> (Arc<SqliteStore>, Arc<Faults>) {
    let directory = Directory::lock(path).unwrap();
    let source = DatabaseSource::new(directory.database());
    let faults = source.faults.clone();
    (
        SqliteStore::start(directory, source, node(1), QUIET, &SqliteOptions::default()).unwrap(),
        faults,
    )
}

fn pending() -> HoldQuery {
    HoldQuery { state: Some(HoldStateName::Pending), ..HoldQuery::all(Viewer::Everything, 1_000) }
}

#[tokio::test]
async fn i10_what_was_acknowledged_survives_a_kill() {
    let data = tempfile::tempdir().unwrap();
    let store = opened(data.path());
    for number in 0..20 {
        store.commit(outside(number)).await.unwrap();
    }
    // The files as a killed process would leave them, with the log not moved into the database.
    let left = tempfile::tempdir().unwrap();
    for name in ["holdpoint.db", "holdpoint.db-wal", "audit.key"] {
        fs::copy(data.path().join(name), left.path().join(name)).unwrap();
    }
    let store = opened(left.path());
    assert_eq!(store.last().await.unwrap().0, 20);
    assert_eq!(store.holds(pending()).await.unwrap().len(), 20);
    store.commit(outside(20)).await.unwrap();
    let store: Arc<dyn Store> = store;
    let (log, key) = crate::conformance::log::export(&store).await;
    assert_eq!(audit::verify(log.as_bytes(), Some(key), None).unwrap().entries, 21);
}

#[tokio::test]
async fn a_second_server_on_the_same_data_is_told_to_stop() {
    let data = tempfile::tempdir().unwrap();
    let first = opened(data.path());
    let error = refused(data.path());
    assert!(matches!(error, OpenError::InUse { .. }));
    let said = error.to_string();
    assert!(
        said.contains("another Holdpoint server is using") && said.contains("stop it"),
        "{said}"
    );
    first.commit(outside(1)).await.unwrap();
    drop(first);
    assert_eq!(opened(data.path()).last().await.unwrap().0, 1, "free again when it has gone");
}

#[tokio::test]
async fn a_closed_store_is_signed_whole_and_takes_nothing_more() {
    let data = tempfile::tempdir().unwrap();
    let store = opened(data.path());
    let queued: Vec<_> = (0..50).map(|number| store.commit(outside(number))).collect();
    for commit in queued {
        commit.await.unwrap();
    }
    store.close().await;
    let error = store.commit(outside(99)).await.unwrap_err();
    assert!(matches!(error, CommitError::Store(StoreError::Unavailable(_))), "{error}");
    assert!(matches!(store.last().await, Err(StoreError::Unavailable(_))));
    assert!(!data.path().join("holdpoint.db-wal").exists(), "all is in the database");

    let store = opened(data.path());
    let checkpoints = store.checkpoints(0).await.unwrap();
    let last: audit::Checkpoint =
        String::from_utf8(checkpoints.last().unwrap().clone()).unwrap().parse().unwrap();
    assert_eq!(last.count, 50);
}

#[tokio::test]
async fn a_quiet_moment_is_used_to_sign() {
    let data = tempfile::tempdir().unwrap();
    let directory = Directory::lock(data.path()).unwrap();
    let source = DatabaseSource::new(directory.database());
    let quiet = Duration::from_millis(5);
    let store =
        SqliteStore::start(directory, source, node(1), quiet, &SqliteOptions::default()).unwrap();
    assert!(store.checkpoints(0).await.unwrap().is_empty(), "there is nothing to sign");
    store.commit(outside(1)).await.unwrap();
    let signed = async {
        while store.checkpoints(0).await.unwrap().is_empty() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), signed).await.unwrap();
}

#[test]
fn data_of_a_newer_version_is_left_alone() {
    let data = tempfile::tempdir().unwrap();
    drop(opened(data.path()));
    let file = Connection::open(data.path().join("holdpoint.db")).unwrap();
    file.pragma_update(None, "user_version", schema::SCHEMA_VERSION + 1).unwrap();
    drop(file);
    let error = refused(data.path());
    assert!(matches!(error, OpenError::Newer { .. }));
    let said = error.to_string();
    assert!(
        said.contains("newer version of Holdpoint") && said.contains("run that version"),
        "{said}"
    );
}

#[test]
fn what_is_not_ours_is_left_alone() {
    let data = tempfile::tempdir().unwrap();
    let path = data.path().join("holdpoint.db");
    fs::write(&path, "this is a diary, and by no means a database. ".repeat(100)).unwrap();
    assert!(matches!(refused(data.path()), OpenError::Foreign { .. }));
    fs::remove_file(&path).unwrap();
    Connection::open(&path).unwrap().execute_batch("CREATE TABLE theirs (x)").unwrap();
    let error = refused(data.path());
    assert!(matches!(error, OpenError::Foreign { .. }), "{error}");
    assert!(error.to_string().contains("move it away"), "{error}");
}

#[test]
fn a_directory_that_cannot_be_written_to_is_named() {
    // Not even the superuser can make a directory there.
    let error = refused(Path::new("/proc/holdpoint"));
    assert!(matches!(error, OpenError::CannotWrite { .. }), "{error}");
    let said = error.to_string();
    assert!(said.contains("/proc/holdpoint") && said.contains("make it writable"), "{said}");

    let data = tempfile::tempdir().unwrap();
    fs::create_dir(data.path().join("lock")).unwrap();
    assert!(matches!(refused(data.path()), OpenError::CannotWrite { .. }));
    let data = tempfile::tempdir().unwrap();
    fs::create_dir(data.path().join("holdpoint.db")).unwrap();
    assert!(matches!(refused(data.path()), OpenError::CannotWrite { .. }));
}

#[tokio::test]
async fn i43_a_log_that_lost_its_end_or_its_key_is_noticed_at_start() {
    let data = tempfile::tempdir().unwrap();
    let store = opened(data.path());
    for number in 0..5 {
        store.commit(outside(number)).await.unwrap();
    }
    store.close().await;
    let key = fs::read(data.path().join("audit.key")).unwrap();
    fs::remove_file(data.path().join("audit.key")).unwrap();
    assert!(matches!(refused(data.path()), OpenError::Key { .. }), "no new key for an old log");
    assert!(!data.path().join("audit.key").exists());
    fs::write(data.path().join("audit.key"), key).unwrap();
    drop(opened(data.path()));

    let file = Connection::open(data.path().join("holdpoint.db")).unwrap();
    file.execute("DELETE FROM journal WHERE global > 3", []).unwrap();
    drop(file);
    let error = refused(data.path());
    assert!(matches!(error, OpenError::Damaged { .. }));
    assert!(error.to_string().contains("shorter than what was signed"), "{error}");
}

/// Big enough that a few of them fill any page that is left.
fn heavy(number: u128) -> ports::store::Commit {
    let mut heavy = hold(hold_id(number), None, person("eve"), audience(&["ana"], &[]));
    heavy.title = "x".repeat(20_000).into();
    open_outside(heavy)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn i39_a_full_disk_loses_nothing_and_heals_without_a_restart() {
    let data = tempfile::tempdir().unwrap();
    let (store, faults) = faulty(data.path());
    let mut stage = Stage::new(session_id(1), node(1));
    store.commit(stage.open(person("ana"))).await.unwrap();
    faults.pages_max.store(60, Ordering::SeqCst);
    let (mut kept, mut refused) = (Vec::new(), Vec::new());
    for number in 0..30 {
        match store.commit(heavy(number)).await {
            Ok(_) => kept.push(hold_id(number)),
            Err(CommitError::Store(StoreError::Unavailable(why))) => {
                assert!(why.contains("disk is full; free some space"), "{why}");
                refused.push(number);
            }
            Err(other) => panic!("{other}"),
        }
    }
    assert!(!kept.is_empty() && refused.len() > 10, "{} fitted", kept.len());
    let ids = |holds: Vec<Arc<domain::hold::Hold>>| -> Vec<HoldId> {
        holds.iter().rev().map(|hold| hold.id).collect()
    };
    assert_eq!(ids(store.holds(pending()).await.unwrap()), kept, "reads go on, and show no trace");
    assert_eq!(store.last().await.unwrap().0, 1 + kept.len() as u64);

    faults.pages_max.store(0, Ordering::SeqCst);
    store.probe().await.unwrap();
    for number in refused {
        store.commit(heavy(number)).await.unwrap();
        kept.push(hold_id(number));
    }
    store.commit(stage.say(1)).await.unwrap();
    kept.sort();
    assert_eq!(ids(store.holds(pending()).await.unwrap()), kept);
    let store: Arc<dyn Store> = store;
    let (log, key) = crate::conformance::log::export(&store).await;
    assert_eq!(audit::verify(log.as_bytes(), Some(key), None).unwrap().entries, 32);
}

#[tokio::test]
async fn i38_after_a_failed_commit_the_truth_is_read_from_disk() {
    let data = tempfile::tempdir().unwrap();
    let (store, faults) = faulty(data.path());
    let mut stage = Stage::new(session_id(1), node(1));
    store.commit(stage.open(person("ana"))).await.unwrap();
    faults.commits_fail.store(true, Ordering::SeqCst);
    let said = stage.clone().say(1);
    let error = store.commit(said.clone()).await.unwrap_err();
    assert!(matches!(error, CommitError::Unknown(_)), "{error}");
    let row = store.session(session_id(1)).await.unwrap().unwrap();
    assert_eq!(row.run, None, "the journal says that nothing was said");
    let mut stale = said.clone();
    stale.expected = 0;
    let error = store.commit(stale).await.unwrap_err();
    assert!(matches!(error, CommitError::Store(StoreError::Unavailable(_))), "{error}");
    faults.commits_fail.store(false, Ordering::SeqCst);

    // Looked for by its id, it is not there; so it is written again, and nothing is skipped.
    let stream = StreamId::Session(session_id(1));
    let there = store.load(stream).await.unwrap().iter().any(|entry| entry.id == said.id);
    assert!(!there);
    assert_eq!(store.session(session_id(1)).await.unwrap().unwrap().run, None);
    let committed = store.commit(said).await.unwrap();
    assert_eq!((committed.version, committed.global), (3, 2));
    let store: Arc<dyn Store> = store;
    let (log, key) = crate::conformance::log::export(&store).await;
    assert_eq!(audit::verify(log.as_bytes(), Some(key), None).unwrap().entries, 2);
}

#[tokio::test]
async fn i38_a_commit_that_nobody_was_told_of_is_found_by_its_id() {
    let data = tempfile::tempdir().unwrap();
    let store = opened(data.path());
    let mut stage = Stage::new(session_id(1), node(1));
    let first = stage.open(person("ana"));
    store.commit(first).await.unwrap();
    let said = stage.say(1);
    // As if COMMIT had failed after all was on disk: in the journal, in no table, in no write-behind.
    let file = Connection::open(data.path().join("holdpoint.db")).unwrap();
    file.execute(
        "INSERT INTO journal (global, stream, first, n, seq, at, hash, bytes) \
         SELECT 2, stream, 2, ?1, 2, ?3, hash, ?2 FROM journal",
        params![said.events.len() as i64, crate::record::write_row(&said.entry()), said.at.as_ms()],
    )
    .unwrap();
    let stream = StreamId::Session(session_id(1));
    let after = store.entries(Some(stream), 1, 1).await.unwrap();
    assert_eq!(after.iter().map(|entry| entry.id).collect::<Vec<_>>(), [said.id]);
    assert_eq!(store.load(stream).await.unwrap().len(), 2);
    // Whoever looks up what it would have changed has the writer see to it first.
    let mut doubtful = rows::Rows::default();
    let (changes, _) = rows::Changes::of(&said.events, said.rows);
    doubtful.add(changes, stream, None);
    store.write_behind.doubt(doubtful);
    assert!(store.write_behind.doubts(rows::RowKey::Session(session_id(1))));
    store.session(session_id(1)).await.unwrap();
    assert!(store.write_behind.is_empty(), "nothing is in doubt any more");
}

#[tokio::test]
async fn i39_a_list_is_true_while_the_tables_cannot_follow() {
    let data = tempfile::tempdir().unwrap();
    let (store, faults) = faulty(data.path());
    let mut stage = Stage::new(session_id(1), node(1));
    store.commit(stage.open(person("ana"))).await.unwrap();
    for number in [1, 2, 3] {
        let asked = stage.ask(number, hold_id(number), audience(&["bob"], &[]));
        store.commit(asked).await.unwrap();
    }
    let ids = |holds: Vec<Arc<Hold>>| holds.iter().map(|hold| hold.id).collect::<Vec<_>>();
    assert_eq!(ids(store.holds(pending()).await.unwrap()), [3, 2, 1].map(hold_id));

    let state = HoldState::Expired { at: at(9) };
    let over = stage.commit(
        vec![SessionEvent::Hold(HoldEvent::Decided { hold: hold_id(3), state })],
        Actor::Runtime,
    );
    store.commit(over).await.unwrap();
    let asked = stage.ask(4, hold_id(4), audience(&["bob"], &[]));
    store.commit(asked).await.unwrap();
    faults.commits_fail.store(true, Ordering::SeqCst);
    let mut two = pending();
    two.limit = 2;
    assert_eq!(ids(store.holds(two).await.unwrap()), [4, 2].map(hold_id));
    assert_eq!(store.hold(hold_id(3)).await.unwrap().unwrap().state.name(), "expired");
    // What the engine acts on is not read from tables that are behind.
    assert!(store.next_due().await.is_err() && store.due(at(0), 9).await.is_err());
    assert!(
        store.sessions_with_work(None, 9).await.is_err()
            && store.count_holds(pending()).await.is_err()
    );
    faults.commits_fail.store(false, Ordering::SeqCst);
    assert_eq!(ids(store.holds(pending()).await.unwrap()), [4, 2, 1].map(hold_id));
    assert!(store.write_behind.is_empty(), "now they can");
}

#[tokio::test]
async fn many_commits_leave_the_shelf_by_and_by_and_nothing_is_missed() {
    let data = tempfile::tempdir().unwrap();
    let directory = Directory::lock(data.path()).unwrap();
    let source = DatabaseSource::new(directory.database());
    // No quiet moment comes, in which all of it would be written at once.
    let store =
        SqliteStore::start(directory, source, node(1), Duration::MAX, &SqliteOptions::default())
            .unwrap();
    let mut stages: Vec<_> =
        (1..=900).map(|number| Stage::new(session_id(number), node(1))).collect();
    let opened_all = stages.iter_mut().map(|stage| store.commit(stage.open(person("ana"))));
    futures_util::future::try_join_all(opened_all).await.unwrap();
    let asked_all = stages.iter_mut().zip(1..).map(|(stage, number)| {
        store.commit(stage.ask(1, hold_id(number), audience(&["bob"], &[])))
    });
    futures_util::future::try_join_all(asked_all).await.unwrap();
    let file = Connection::open(data.path().join("holdpoint.db")).unwrap();
    let count = |table: &str| -> i64 {
        file.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).unwrap()
    };
    let positions = || -> usize {
        let streams = (1..=900).map(|number| StreamId::Session(session_id(number)));
        streams
            .map(|stream| commit_index::positions_after(&file, stream, 0, 9).unwrap().len())
            .sum()
    };
    let early = positions();
    assert!(early > 0 && early < 1_800, "{early} of 1,800 are there, and nobody has asked yet");
    for (stage, number) in stages.iter().zip(1..) {
        let stream = StreamId::Session(session_id(number));
        assert_eq!(store.load(stream).await.unwrap().len(), 2);
        assert_eq!(store.entries(Some(stream), 1, 9).await.unwrap().len(), 1);
        assert_eq!(store.session(session_id(number)).await.unwrap(), Some(stage.row()));
    }
    // A crash: whatever was in the write-behind is in no table.
    drop(store);
    assert!(count("holds") < 900, "nothing to catch up with");
    let store = opened(data.path());
    assert_eq!(count("holds"), 900);
    assert_eq!(positions(), 1_800);
    let mut all = pending();
    all.limit = 1_000;
    assert_eq!(store.holds(all).await.unwrap().len(), 900);
}

#[tokio::test]
async fn i40_the_settings_are_in_force_where_it_writes() {
    let data = tempfile::tempdir().unwrap();
    let store = opened(data.path());
    store.probe().await.unwrap();
    let file = Connection::open(data.path().join("holdpoint.db")).unwrap();
    let mode: String = file.pragma_query_value(None, "journal_mode", |row| row.get(0)).unwrap();
    assert_eq!(mode, "wal", "in the file itself");
}

#[tokio::test]
async fn a_damaged_record_is_told_apart_from_a_fault_and_harms_no_other() {
    let data = tempfile::tempdir().unwrap();
    let store = opened(data.path());
    store.commit(outside(1)).await.unwrap();
    store.commit(outside(2)).await.unwrap();
    // Nothing waits in the write-behind, where no damage to the file can reach it.
    store.count_holds(pending()).await.unwrap();
    let file = Connection::open(data.path().join("holdpoint.db")).unwrap();
    let newer = "UPDATE journal SET bytes = CAST(replace(bytes, '\"v\":1', '\"v\":9') AS BLOB) WHERE global = 1";
    file.execute(newer, []).unwrap();
    let error = store.load(StreamId::ExternalHold(hold_id(1))).await.unwrap_err();
    let StoreError::Unreadable(said) = error else { panic!("{error}") };
    assert!(said.contains("written by a newer version of Holdpoint"), "{said}");
    assert!(matches!(store.hold(hold_id(1)).await, Err(StoreError::Unreadable(_))));
    assert!(store.hold(hold_id(2)).await.unwrap().is_some());
}

#[test]
fn lists_are_read_in_the_order_of_an_index() {
    // As those who serve lists open it: how a statement is planned depends on that.
    let directory = tempfile::tempdir().unwrap();
    let source = DatabaseSource::new(directory.path().join("a.db"));
    schema::migrate(&source.writer().unwrap()).unwrap();
    let connection = source.reader().unwrap();
    let caller = Viewer::Caller {
        actor: person("ana"),
        person: Some((domain::person::PersonId::new("ana"), vec!["dba".into()])),
    };
    let queries = [
        (pending(), "holds_pending"),
        (HoldQuery { viewer: caller.clone(), ..pending() }, "holds_pending"),
        (
            HoldQuery { state: None, viewer: caller.clone(), after: Some(hold_id(1)), ..pending() },
            "holds_id",
        ),
        (HoldQuery { session: Some(session_id(1)), ..pending() }, "holds_session"),
        (HoldQuery { order: HoldOrder::Urgency, ..pending() }, "holds_due"),
        (HoldQuery { order: HoldOrder::Oldest, ..pending() }, "holds_pending"),
        (
            HoldQuery {
                order: HoldOrder::Urgency,
                after: Some(hold_id(1)),
                after_expires_at: Some(at(5)),
                viewer: caller.clone(),
                ..pending()
            },
            "holds_due (<expr>>?)",
        ),
        (
            HoldQuery {
                state: None,
                tool: Some("sql_modify".into()),
                source: Some("ops".into()),
                from: Some(hold_id(1)),
                viewer: caller,
                ..pending()
            },
            "holds_alike (tool=? AND source=? AND id>?)",
        ),
    ];
    for (query, index) in queries {
        let plan = lists::plan(&connection, &query).unwrap().join("\n");
        assert!(plan.contains(index) && !plan.contains("TEMP B-TREE"), "{plan}");
    }
}

/// As a database is after the migration that made the columns.
#[tokio::test]
async fn columns_of_holds_are_filled_once_after_an_update() {
    let data = tempfile::tempdir().unwrap();
    let store = opened(data.path());
    let mut stage = Stage::new(session_id(1), node(1));
    store.commit(stage.open(person("ana"))).await.unwrap();
    store.commit(stage.ask(1, hold_id(1), audience(&["bob"], &[]))).await.unwrap();
    store.commit(outside(2)).await.unwrap();
    let expired = HoldState::Expired { at: at(9) };
    let expired = SessionEvent::Hold(HoldEvent::Decided { hold: hold_id(1), state: expired });
    store.commit(stage.commit(vec![expired], Actor::Runtime)).await.unwrap();
    let all = || HoldQuery::all(Viewer::Everything, 9);
    let facts = store.hold_facts(all()).await.unwrap();
    assert_eq!(facts.len(), 2);
    store.close().await;
    let file = Connection::open(data.path().join("holdpoint.db")).unwrap();
    file.execute_batch(
        "UPDATE holds SET opened_at = NULL, tool = NULL, source = NULL, likeness = NULL, \
             requester = NULL, answered_at = NULL, decided_at = NULL, decided_by = NULL, \
             search = NULL; \
         INSERT INTO meta (key, value) VALUES ('holds_to_fill', 1);",
    )
    .unwrap();
    let store = opened(data.path());
    assert_eq!(store.hold_facts(all()).await.unwrap(), facts);
    let found = HoldQuery { text: Some("sql_mod".into()), ..all() };
    assert_eq!(store.holds(found).await.unwrap().len(), 1);
    let left = "SELECT count(*) FROM meta WHERE key = 'holds_to_fill'";
    assert_eq!(file.query_row(left, [], |row| row.get::<_, i64>(0)).unwrap(), 0);
}

/// SQLite removes its log with the last connection that closes; of several that close at the same time,
/// each may leave it to another.
#[tokio::test]
async fn a_store_that_was_closed_leaves_no_log_behind() {
    for _ in 0..40 {
        let data = tempfile::tempdir().unwrap();
        let store = opened(data.path());
        store.commit(outside(1)).await.unwrap();
        // Each reader has a connection then.
        let reads = (0..4 * READERS).map(|_| store.holds(pending()));
        for read in futures_util::future::join_all(reads).await {
            assert_eq!(read.unwrap().len(), 1);
        }
        store.close().await;
        assert!(!data.path().join("holdpoint.db-wal").exists());
    }
}
