use std::path::Path;

use domain::call::{Call, Proposal};
use domain::digest::Digest;
use domain::id::CallId;
use ports::start_gate::StartGate;
use rusqlite::Connection;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::*;
use crate::cleared::{clear_call, open_gate};

fn host(path: &Path) -> SqlQuery {
    SqlQuery::new(QueryConfig::new(SqlDatabases::single("sql_query", path).unwrap())).unwrap()
}

fn shop() -> (TempDir, SqlQuery) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("shop.db");
    crate::demo::create_database(&path).unwrap();
    let host = host(&path);
    (dir, host)
}

fn call(host: &SqlQuery, sql: &str) -> Call {
    let proposal = Proposal {
        id: CallId::new(1, 1),
        tool_use_id: "toolu_1".into(),
        agent: "ops".into(),
        session: None,
        arguments: Arguments::from_value(json!({"sql": sql})).unwrap(),
        context: ExecutionContext::default(),
        policy: Digest::of(b""),
    };
    Call::propose(proposal, host.tool())
}

async fn run(host: &SqlQuery, sql: &str) -> Outcome {
    host.run(clear_call(call(host, sql), 1), open_gate(), CancellationToken::new()).await.unwrap()
}

async fn rows(host: &SqlQuery, sql: &str) -> Value {
    match run(host, sql).await {
        Outcome::Succeeded(output) => serde_json::from_str(&output.text).unwrap(),
        other => panic!("{sql}: {other:?}"),
    }
}

#[tokio::test]
async fn rows_come_as_json_with_their_types() {
    let (_dir, host) = shop();
    let sql = "SELECT 1 AS a, 2.5 AS b, 'é' AS c, NULL AS d, x'0102' AS e, 9e999 AS f, 1 AS a";
    assert_eq!(
        rows(&host, sql).await,
        json!({
            "columns": ["a", "b", "c", "d", "e", "f", "a"],
            "rows": [[1, 2.5, "é", null, "x'0102' (2 bytes)", "inf", 1]],
            "truncated": false,
        })
    );
}

#[tokio::test]
async fn i20_rows_that_are_left_out_are_said_to_be() {
    let (_dir, host) = shop();
    let many = rows(&host, "SELECT id FROM orders").await;
    assert_eq!(many["rows"].as_array().unwrap().len(), ROWS_MAX);
    assert_eq!(many["truncated"], true);
    assert_eq!(many["note"], format!("there are more rows than these {ROWS_MAX}"));
    let exactly = rows(&host, &format!("SELECT id FROM orders LIMIT {ROWS_MAX}")).await;
    assert_eq!(exactly["truncated"], false);
    let wide = rows(&host, "SELECT hex(zeroblob(1000000)) UNION ALL SELECT 'x'").await;
    let cell = wide["rows"][0][0].as_str().unwrap();
    assert!(cell.len() < 10_000 && cell.ends_with("bytes left out]"), "{}", cell.len());
    let fat = rows(&host, "SELECT hex(zeroblob(4000)) FROM orders").await;
    assert_eq!(fat["truncated"], true);
    assert!(fat.to_string().len() < 70_000);
}

#[tokio::test]
async fn only_one_query_is_taken() {
    let (_dir, host) = shop();
    for (sql, why) in [
        ("DELETE FROM orders", "only queries are allowed"),
        ("WITH x AS (SELECT 1) DELETE FROM orders", "only queries are allowed"),
        ("SELECT 1; DELETE FROM orders", "2 statements"),
        ("PRAGMA query_only = 0", "PRAGMA"),
        ("ATTACH '/tmp/x.db' AS x", "ATTACH"),
        ("SELECT * FROM no_such_table", "no such table"),
        ("SELECT load_extension('/tmp/x.so')", "load_extension"),
        ("SELECT", "cannot be read"),
    ] {
        let arguments = Arguments::from_value(json!({"sql": sql})).unwrap();
        match host.prepare(&arguments).await {
            Err(PrepareError::Unsound(text)) => assert!(text.contains(why), "{sql}: {text}"),
            other => panic!("{sql}: {other:?}"),
        }
        assert!(matches!(run(&host, sql).await, Outcome::Failed(_)), "{sql}");
    }
    assert_eq!(rows(&host, "SELECT count(*) FROM orders").await["rows"], json!([[500]]));
}

#[tokio::test]
async fn an_endless_query_is_stopped() {
    let (dir, _) = shop();
    let mut config =
        QueryConfig::new(SqlDatabases::single("sql_query", dir.path().join("shop.db")).unwrap());
    config.time_limit = Duration::from_millis(50);
    let host = SqlQuery::new(config).unwrap();
    let endless =
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n";
    match run(&host, endless).await {
        Outcome::Failed(output) => assert!(output.text.contains("time limit"), "{}", output.text),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_missing_file_is_not_made_and_not_the_statements_fault() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("gone.db");
    let host = host(&path);
    let arguments = Arguments::from_value(json!({"sql": "SELECT 1"})).unwrap();
    assert!(matches!(host.prepare(&arguments).await, Err(PrepareError::Blind { .. })));
    assert!(!path.exists());
    // Nor does a path mean anything else than a file.
    let sly = dir.path().join("file:shop.db?mode=memory");
    Connection::open_with_flags(
        &sly,
        rusqlite::OpenFlags::SQLITE_OPEN_READ_WRITE | rusqlite::OpenFlags::SQLITE_OPEN_CREATE,
    )
    .unwrap()
    .execute_batch("CREATE TABLE t (a)")
    .unwrap();
    let host = self::host(&sly);
    assert_eq!(rows(&host, "SELECT count(*) FROM t").await["rows"], json!([[0]]));
}

/// The most memory that this process ever had, as the kernel counts it.
fn peak_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() << 10
}

/// Values that are made while the statement runs, when they are read, or only to be compared.
#[tokio::test]
async fn i50_a_query_with_huge_values_is_stopped_before_it_takes_the_memory() {
    let (_dir, host) = shop();
    let list = |value: &str, count: usize| vec![value; count].join(", ");
    let before = peak_bytes();
    for sql in [
        format!("SELECT {}", list("randomblob(4000000)", 400)),
        format!("SELECT {}", list("zeroblob(4000000)", 1_500)),
        format!("SELECT {}", list("hex(randomblob(2000000))", 400)),
        format!("SELECT count(*) FROM (SELECT {}) WHERE 1", list("randomblob(4000000) AS a", 400)),
        format!(
            "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 2000)              SELECT {} FROM n",
            list("randomblob(4000000)", 100)
        ),
    ] {
        match run(&host, &sql).await {
            Outcome::Failed(output) => {
                let told = output.whole();
                assert!(told.contains("read fewer columns"), "{told}");
            }
            // The optimiser may find that nothing of it is needed.
            Outcome::Succeeded(output) => {
                assert!(output.whole().contains("[[1]]"), "{}", output.whole())
            }
            other => panic!("{other:?}"),
        }
    }
    let grown = peak_bytes().saturating_sub(before);
    assert!(grown < 700 << 20, "it took {} MiB", grown >> 20);
    // What is needed is read as ever.
    let told = match run(&host, "SELECT length(randomblob(4000000))").await {
        Outcome::Succeeded(output) => output.whole(),
        other => panic!("{other:?}"),
    };
    assert!(told.contains("4000000"), "{told}");
}

#[tokio::test]
async fn a_first_row_that_is_too_long_says_what_to_do() {
    let (_dir, host) = shop();
    let columns = ["hex(zeroblob(9000))"; 12].join(", ");
    let sql = format!("SELECT {columns}");
    match run(&host, &sql).await {
        Outcome::Succeeded(output) => {
            assert!(output.whole().contains("the first row alone is longer"), "{}", output.whole());
        }
        other => panic!("{other:?}"),
    }
    let sql = "SELECT hex(zeroblob(3000000))".to_owned();
    match run(&host, &sql).await {
        Outcome::Failed(output) => {
            assert!(output.whole().contains("a value is longer than 4 MiB,"), "{}", output.whole());
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn i52_a_query_that_waits_for_a_lock_does_not_begin_after_a_freeze() {
    let (dir, host) = shop();
    let other = Connection::open(dir.path().join("shop.db")).unwrap();
    other.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let (gate, stop) = (StartGate::default(), CancellationToken::new());
    let sql = "SELECT count(*) FROM orders";
    let waiting = host.run(clear_call(call(&host, sql), 1), gate.start(stop.clone()), stop);
    let freezing = async {
        // The query has been handed over, and cannot get past the lock.
        gate.close();
        gate.idle().await;
        drop(other);
    };
    let (refused, ()) = tokio::join!(biased; waiting, freezing);
    assert!(refused.is_err(), "{refused:?}");
    assert_eq!(rows(&host, sql).await["rows"], json!([[500]]));
}
