use std::path::{Path, PathBuf};

use domain::call::{ExecutionContext, Proposal};
use domain::digest::Digest;
use domain::hold::Risk;
use domain::id::CallId;
use rusqlite::Connection;
use serde_json::json;
use tempfile::TempDir;

use super::*;
use crate::cleared::{clear_call, open_gate};

fn shop() -> (TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("shop.db");
    crate::demo::create_database(&path).unwrap();
    (dir, path)
}

fn host(path: &Path, change: impl FnOnce(&mut ModifyConfig)) -> SqlModify {
    let mut config = ModifyConfig::new(SqlDatabases::single("sql_modify", path).unwrap());
    change(&mut config);
    SqlModify::new(config).unwrap()
}

async fn prepare(host: &SqlModify, sql: &str) -> Result<Prepared, PrepareError> {
    host.prepare(&Arguments::from_value(json!({"sql": sql})).unwrap()).await
}

fn call(host: &SqlModify, sql: &str, context: ExecutionContext) -> Call {
    let proposal = Proposal {
        id: CallId::new(1, 1),
        tool_use_id: "toolu_1".into(),
        agent: "ops".into(),
        session: None,
        arguments: Arguments::from_value(json!({"sql": sql})).unwrap(),
        context,
        policy: Digest::of(b""),
    };
    Call::propose(proposal, host.tool())
}

#[tokio::test]
async fn a_person_sees_how_many_rows_and_is_always_asked() {
    let (_dir, path) = shop();
    let host = host(&path, |_| {});
    let prepared = prepare(&host, "DELETE FROM orders WHERE status=1").await.unwrap();
    assert_eq!(prepared.title.as_deref(), Some("Delete 214 rows from orders"));
    assert_eq!(prepared.preview.summary.as_deref(), Some("214 rows"));
    assert_eq!(prepared.preview.rows, Some(214));
    assert_eq!(prepared.preview.warnings, Vec::<&str>::new());
    let ask = prepared.ask.unwrap();
    assert_eq!((ask.summary.text(), ask.risk), ("Delete 214 rows from orders", Risk::Medium));
    assert!(
        prepared
            .context
            .detail
            .ends_with("\nrows changed: 214\nrows changed through triggers and foreign keys: 0"),
        "{}",
        prepared.context.detail
    );

    for (sql, title) in [
        ("UPDATE orders SET status = 1 WHERE id = 3", "Update 1 row in orders"),
        (
            "INSERT INTO orders VALUES (900, 'x', 1, 1), (901, 'y', 1, 1)",
            "Insert 2 rows into orders",
        ),
        ("REPLACE INTO orders VALUES (1, 'x', 1, 1)", "Insert 1 row into orders"),
    ] {
        assert_eq!(prepare(&host, sql).await.unwrap().title.as_deref(), Some(title));
    }
    let all = prepare(&host, "DELETE FROM orders").await.unwrap();
    assert_eq!(all.preview.warnings, ["there is no WHERE: every row of `orders` is meant"]);
    assert_eq!(all.ask.unwrap().risk, Risk::High);
}

#[tokio::test]
async fn what_is_not_one_change_is_refused() {
    let (_dir, path) = shop();
    let host = host(&path, |_| {});
    for (sql, why) in [
        ("SELECT 1", "changes nothing"),
        ("DROP TABLE orders", "cannot be changed here"),
        ("CREATE TABLE x (a)", "cannot be changed here"),
        ("ATTACH 'x' AS y", "ATTACH"),
        ("PRAGMA foreign_keys = 0", "PRAGMA"),
        ("VACUUM", "VACUUM"),
        ("DELETE FROM orders; DELETE FROM orders", "2 statements"),
        ("DELETE FROM holdpoint_marker", "no such table"),
        ("DELETE FROM sqlite_schema", "may not be modified"),
        ("DELETE FROM sqlite_sequence", ""),
        ("DELETE FROM no_such_table", "no such table"),
        ("INSERT INTO orders (id) VALUES (1)", "NOT NULL"),
    ] {
        match prepare(&host, sql).await {
            Err(PrepareError::Unsound(text)) => assert!(text.contains(why), "{sql}: {text}"),
            other => panic!("{sql}: {other:?}"),
        }
    }
}

#[tokio::test]
async fn tables_change_only_where_that_is_allowed() {
    let (_dir, path) = shop();
    let host = host(&path, |config| config.allow_ddl = true);
    let sql = "CREATE INDEX by_status ON orders (status)";
    let prepared = prepare(&host, sql).await.unwrap();
    assert_eq!(prepared.title.as_deref(), Some(&*format!("Change the tables of main: {sql}")));
    assert_eq!(prepared.ask.unwrap().risk, Risk::High);
    let call = call(&host, sql, prepared.context);
    let outcome =
        host.run(clear_call(call, 1), open_gate(), CancellationToken::new()).await.unwrap();
    assert_eq!(outcome, Outcome::Succeeded(Output::text(r#"{"rows":0}"#)));
    assert!(prepare(&host, "DROP TABLE holdpoint_marker").await.is_err(), "not even then");
}

#[tokio::test]
async fn i02_the_count_that_was_approved_is_the_count_that_runs() {
    let (_dir, path) = shop();
    let host = host(&path, |_| {});
    let sql = "DELETE FROM orders WHERE status = 1";
    let context = prepare(&host, sql).await.unwrap().context;
    let call = call(&host, sql, context);
    Connection::open(&path)
        .unwrap()
        .execute_batch("UPDATE orders SET status = 1 WHERE id = 300")
        .unwrap();
    let Outcome::Failed(output) =
        host.run(clear_call(call.clone(), 1), open_gate(), CancellationToken::new()).await.unwrap()
    else {
        panic!("it ran")
    };
    assert!(
        output.text.starts_with("Nothing was changed: it would change 215 rows now"),
        "{}",
        output.text
    );
    host.announce(&call, 1).await.unwrap();
    assert_eq!(host.recover(&call, 1).await, Recovery::NeverHappened);
}

#[tokio::test]
async fn a_change_that_could_not_be_counted_is_made_if_a_person_approved_it_so() {
    let (dir, _) = shop();
    let path = dir.path().join("later.db");
    let host = host(&path, |_| {});
    let sql = "DELETE FROM orders WHERE status = 1";
    assert!(
        matches!(prepare(&host, sql).await, Err(PrepareError::Blind { .. })),
        "no such file yet"
    );
    let call = call(&host, sql, ExecutionContext::default());
    assert!(matches!(host.recover(&call, 1).await, Recovery::Unknown { .. }), "nothing to look at");
    crate::demo::create_database(&path).unwrap();
    let outcome =
        host.run(clear_call(call, 1), open_gate(), CancellationToken::new()).await.unwrap();
    assert_eq!(outcome, Outcome::Succeeded(Output::text(r#"{"rows":214}"#)));
}

#[tokio::test]
async fn another_database_than_the_approved_one_is_left_alone() {
    let (dir, path) = shop();
    let other = dir.path().join("other.db");
    crate::demo::create_database(&other).unwrap();
    let sql = "DELETE FROM orders WHERE status = 1";
    let first = host(&path, |_| {});
    let call = call(&first, sql, prepare(&first, sql).await.unwrap().context);
    let moved = host(&other, |_| {});
    assert!(matches!(
        moved
            .run(clear_call(call.clone(), 1), open_gate(), CancellationToken::new())
            .await
            .unwrap(),
        Outcome::Failed(_)
    ));
    assert!(matches!(moved.recover(&call, 1).await, Recovery::Unknown { .. }));
    assert_ne!(first.tool().definition(), moved.tool().definition());
}
