//! The file is changed by another program. Whatever column of the journal it is, no reader is shown a changed history as true.

use std::sync::Arc;

use domain::id::StreamId;
use ports::store::Store;
use rusqlite::Connection;

use super::SqliteStore;
use crate::conformance::stage::{Stage, audience, hold_id, node, person, session_id};

/// How a change is noticed: at the start, by a reader, or when an export is verified.
async fn noticed(data: &std::path::Path) -> Option<String> {
    let store = match SqliteStore::open(data, node(2)) {
        Ok(store) => store,
        Err(refused) => return Some(format!("at the start: {refused}")),
    };
    let found = find(store.clone()).await;
    store.close().await;
    found
}

async fn find(store: Arc<dyn Store>) -> Option<String> {
    let stream = StreamId::Session(session_id(1));
    if let Err(error) = store.load(stream).await {
        return Some(format!("by whoever loads it: {error}"));
    }
    if let Err(error) = store.entries(None, 0, 100).await {
        return Some(format!("by whoever follows: {error}"));
    }
    let (log, key) = crate::conformance::log::export(&store).await;
    audit::verify(log.as_bytes(), Some(key), None)
        .err()
        .map(|why| format!("by the verifier: {why}"))
}

async fn fill(data: &std::path::Path) {
    let store = SqliteStore::open(data, node(1)).unwrap();
    let mut stage = Stage::new(session_id(1), node(1));
    for commit in
        [stage.open(person("ana")), stage.say(1), stage.ask(1, hold_id(1), audience(&["bob"], &[]))]
    {
        store.commit(commit).await.unwrap();
    }
    store.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn i43_no_column_of_the_journal_can_be_changed_unnoticed() {
    let sound = tempfile::tempdir().unwrap();
    fill(sound.path()).await;
    assert_eq!(noticed(sound.path()).await, None, "nothing was changed");
    // Another session's.
    let other = "CAST(substr(stream, 1, length(stream) - 1) || x'41' AS BLOB)";
    let changes = [
        ("global", "global + 1000"),
        ("stream", other),
        ("first", "first + 1"),
        ("n", "n + 1"),
        ("seq", "seq + 1000"),
        ("at", "at + 1"),
        ("at", "at - 86400000"),
        ("hash", "zeroblob(32)"),
        ("bytes", "CAST(replace(CAST(bytes AS TEXT), 'ana', 'eve') AS BLOB)"),
    ];
    for (column, value) in changes {
        for row in [
            "min(global)",
            "(SELECT global FROM journal ORDER BY global LIMIT 1 OFFSET 1)",
            "max(global)",
        ] {
            let data = tempfile::tempdir().unwrap();
            fill(data.path()).await;
            let file = Connection::open(data.path().join("holdpoint.db")).unwrap();
            let sql = format!(
                "UPDATE journal SET {column} = {value} WHERE global = (SELECT {row} FROM journal)"
            );
            // A column may refuse it by itself.
            let changed = file.execute(&sql, []).unwrap_or(0);
            drop(file);
            if changed > 0 {
                let found = noticed(data.path()).await;
                let Some(found) = found else {
                    panic!("{column} = {value} at {row} goes unnoticed")
                };
                // The clock begins at the time of the last commit.
                let is_start = (column, row) == ("at", "max(global)");
                assert!(!is_start || found.starts_with("at the start"), "{value}: {found}");
            }
        }
    }
}
