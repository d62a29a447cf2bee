//! What rules are told about statements, tried with statements that hide what they do.

use std::path::{Path, PathBuf};

use domain::json::Arguments;
use domain::policy::{
    AskSpec, Facts, MatchSpec, Policy, PolicyDecision, PolicySpec, RuleSpec, SqlCondition, Then,
};
use domain::sql_facts::{SqlFacts, SqlKind, SqlTables};
use domain::tool::Effects;
use ports::tool_host::{PrepareError, ToolHost};
use proptest::prelude::*;
use rusqlite::Connection;
use serde_json::json;
use tempfile::TempDir;

use super::{
    ModifyConfig, QueryConfig, SqlDatabases, SqlDialect, SqlModify, SqlQuery, facts_of_text,
};

fn shop() -> (TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("shop.db");
    Connection::open(&path)
        .unwrap()
        .execute_batch(
            "CREATE TABLE Orders (id INTEGER PRIMARY KEY, status);
             CREATE TABLE lines (id INTEGER PRIMARY KEY, o REFERENCES Orders ON DELETE CASCADE);
             CREATE TABLE notes (id INTEGER PRIMARY KEY, what);
             CREATE VIEW open_orders AS SELECT * FROM Orders WHERE status = 0;
             INSERT INTO Orders VALUES (1, 0), (2, 0), (3, 1);
             INSERT INTO lines VALUES (1, 1), (2, 1), (3, 3);
             INSERT INTO notes VALUES (1, 'a'), (2, 'b');",
        )
        .unwrap();
    (dir, path)
}

fn modify(path: &Path) -> SqlModify {
    let databases = SqlDatabases::single("sql_modify", path).unwrap();
    SqlModify::new(ModifyConfig { allow_ddl: true, ..ModifyConfig::new(databases) }).unwrap()
}

fn query(path: &Path) -> SqlQuery {
    SqlQuery::new(QueryConfig::new(SqlDatabases::single("sql_query", path).unwrap())).unwrap()
}

/// What the tool says, or why it refuses.
fn facts(host: &dyn ToolHost, sql: &str) -> Result<SqlFacts, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let arguments = Arguments::from_value(json!({"sql": sql})).unwrap();
    match runtime.block_on(host.prepare(&arguments)) {
        Ok(prepared) => Ok(prepared.context.sql.expect("an SQL tool says what it knows")),
        Err(PrepareError::Blind { sql, .. }) => Ok(sql.expect("also if it cannot look")),
        Err(PrepareError::Unsound(why)) => Err(why),
    }
}

#[test]
fn a_change_says_kind_tables_where_and_rows() {
    let (_dir, path) = shop();
    let host = modify(&path);
    for (sql, kind, tables, has_where, rows) in [
        ("DELETE FROM notes WHERE id = 1", SqlKind::Delete, &["notes"][..], Some(true), Some(1)),
        ("DELETE FROM notes", SqlKind::Delete, &["notes"], Some(false), Some(2)),
        ("UPDATE notes SET what = 'x'", SqlKind::Update, &["notes"], Some(false), Some(2)),
        ("INSERT INTO notes VALUES (9, 'x')", SqlKind::Insert, &["notes"], None, Some(1)),
        ("INSERT OR IGNORE INTO notes VALUES (1, 'x')", SqlKind::Insert, &["notes"], None, Some(0)),
        // The schema's spelling, and what foreign keys and subqueries lead to: two orders and two lines.
        (
            "delete from ORDERS where status = 0",
            SqlKind::Delete,
            &["Orders", "lines"],
            Some(true),
            Some(4),
        ),
        (
            "UPDATE notes SET what = 1 WHERE id IN (SELECT id FROM open_orders)",
            SqlKind::Update,
            &["Orders", "notes", "open_orders"],
            Some(true),
            Some(2),
        ),
        // What is in the way is overwritten and counted, or deleted and not counted.
        (
            "INSERT INTO notes VALUES (1, 'x') ON CONFLICT (id) DO UPDATE SET what = 'x'",
            SqlKind::Upsert,
            &["notes"],
            None,
            Some(1),
        ),
        ("REPLACE INTO notes VALUES (1, 'x')", SqlKind::Upsert, &["notes"], None, None),
        ("INSERT OR REPLACE INTO notes VALUES (1, 'x')", SqlKind::Upsert, &["notes"], None, None),
        ("UPDATE OR REPLACE notes SET id = 1", SqlKind::Upsert, &["notes"], Some(false), None),
    ] {
        let tables = SqlTables {
            names: tables.iter().map(|name| (*name).to_owned()).collect(),
            complete: true,
        };
        assert_eq!(facts(&host, sql), Ok(SqlFacts { kind, tables, has_where, rows }), "{sql}");
    }
    // What an insert overwrites by a word of the table's own.
    let table = "CREATE TABLE Kept (id INTEGER PRIMARY KEY ON CONFLICT REPLACE, what)";
    Connection::open(&path).unwrap().execute_batch(table).unwrap();
    for sql in ["INSERT INTO kept VALUES (1, 'x')", "UPDATE kept SET id = 1"] {
        let replaced = facts(&host, sql).unwrap();
        assert_eq!((replaced.kind, replaced.rows), (SqlKind::Upsert, None), "{sql}");
    }
    let drop = facts(&host, "DROP TABLE notes").unwrap();
    assert_eq!((drop.kind, drop.rows, drop.tables.complete), (SqlKind::Ddl, None, false));
    let counted: i64 = Connection::open(&path)
        .unwrap()
        .query_row("SELECT count(*) FROM notes", [], |row| row.get(0))
        .unwrap();
    assert_eq!(counted, 2, "looking changes nothing");
}

#[test]
fn a_query_says_what_it_reads() {
    let (_dir, path) = shop();
    let host = query(&path);
    let read = facts(&host, "WITH x AS (SELECT * FROM open_orders) SELECT * FROM x").unwrap();
    assert_eq!((read.kind, read.has_where, read.rows), (SqlKind::Select, None, Some(0)));
    assert!(read.tables.complete && read.tables.names.contains(&"Orders".to_owned()), "{read}");
    assert!(facts(&host, "SELECT 1").unwrap().tables.names.is_empty());
}

#[test]
fn without_its_database_a_tool_says_what_the_statement_alone_tells() {
    let (dir, _) = shop();
    let host = modify(&dir.path().join("gone.db"));
    let facts = facts(&host, "DELETE FROM orders").unwrap();
    assert_eq!((facts.kind, facts.has_where, facts.rows), (SqlKind::Delete, Some(false), None));
    assert!(!facts.tables.complete);
}

#[test]
fn parameters_have_no_values() {
    let (_dir, path) = shop();
    for sql in ["DELETE FROM notes WHERE id = ?1", "DELETE FROM notes WHERE $a$ OR 1 OR $a$"] {
        assert!(facts(&modify(&path), sql).unwrap_err().contains("parameters"), "{sql}");
    }
    assert!(facts(&query(&path), "SELECT :a").unwrap_err().contains("parameters"));
}

/// What an operator writes who wants reads to be free and deletes to be looked at by two.
fn two_for_deletes() -> Policy {
    let rule = |name: &str, kinds: Vec<SqlKind>, then, ask| RuleSpec {
        name: name.into(),
        matcher: MatchSpec {
            tool: Some("sql_*".into()),
            sql: vec![SqlCondition::KindIn(kinds)],
            ..MatchSpec::default()
        },
        then,
        ask,
        ..RuleSpec::default()
    };
    let two = AskSpec { roles: vec!["dba".into()], quorum: 2, ..AskSpec::default() };
    let rules = vec![
        rule("deletes need two", vec![SqlKind::Delete, SqlKind::Ddl], Then::Ask, Some(two)),
        rule("reads are free", vec![SqlKind::Select], Then::Allow, None),
        rule("inserts are free", vec![SqlKind::Insert], Then::Allow, None),
    ];
    Policy::compile(PolicySpec { rules, ..PolicySpec::default() }).unwrap()
}

fn quorum_for(policy: &Policy, facts: Option<&SqlFacts>, sql: &str) -> u32 {
    let arguments = json!({"sql": sql});
    let effects = Effects::Transactional;
    let facts =
        Facts { tool: "sql_modify", agent: "ops", effects, arguments: &arguments, sql: facts };
    match policy.rule(&facts).decision {
        PolicyDecision::Ask(ask) => ask.quorum,
        PolicyDecision::Deny => u32::MAX,
        PolicyDecision::Allow => 0,
    }
}

/// Statements that delete rows of `notes`, or would if they could.
const DELETES: [&str; 12] = [
    "/*x*/DELETE FROM notes",
    "--x\nDELETE FROM notes",
    "WITH x AS (SELECT 1) DELETE FROM notes",
    ";DELETE FROM notes",
    "EXPLAIN ANALYZE DELETE FROM notes",
    "WITH x AS (DELETE FROM notes RETURNING *) SELECT * FROM x",
    "DO $$ BEGIN DELETE FROM notes; END $$",
    "COPY notes FROM PROGRAM 'id'",
    "TRUNCATE notes",
    "SELECT 1; DELETE FROM notes",
    "REPLACE INTO notes SELECT 1, 'x'",
    "DROP TABLE notes",
];

#[test]
fn i06_no_spelling_of_a_delete_gets_by_with_fewer_than_two() {
    let (_dir, path) = shop();
    let (modify, query, policy) = (modify(&path), query(&path), two_for_deletes());
    for sql in DELETES {
        for host in [&modify as &dyn ToolHost, &query] {
            // What the tool refuses does not run.
            if let Ok(facts) = facts(host, sql) {
                assert!(quorum_for(&policy, Some(&facts), sql) >= 2, "{sql}: {facts}");
            }
        }
        // Another tool's call, or a program's: nothing is known about it.
        assert!(quorum_for(&policy, None, sql) >= 2, "{sql}");
        for dialect in [SqlDialect::Sqlite, SqlDialect::Postgres] {
            let facts = facts_of_text(dialect, sql).unwrap_or_default();
            assert!(quorum_for(&policy, Some(&facts), sql) >= 2, "{sql}: {facts}");
        }
    }
}

fn blank() -> impl Strategy<Value = String> {
    proptest::collection::vec(
        proptest::sample::select(vec![
            " ", "\n", "\t", "\r\n", "\r", "\x0c", "\x0b", "\u{a0}", "\u{feff}", ";", "--x\n",
            "-- '\n", "--\r", "/**/", "/*x*/", "/* /* */", "/*'*/", "/*\"*/", "/*--*/", "#x\n",
            "$$", "$a$", "'", "\"", "(", ")",
        ]),
        0..4,
    )
    .prop_map(|parts| parts.concat())
}

fn decorated_delete() -> impl Strategy<Value = String> {
    let before = proptest::sample::select(vec![
        "",
        "EXPLAIN ",
        "EXPLAIN QUERY PLAN ",
        "WITH x AS (SELECT 1) ",
        "WITH RECURSIVE x(i) AS (SELECT 1 UNION SELECT i + 1 FROM x LIMIT 3) ",
        "WITH x AS MATERIALIZED (SELECT 1), y AS (SELECT 2) ",
        "SELECT 1;",
        "SELECT $a$;",
        "BEGIN;",
    ]);
    let after = proptest::sample::select(vec![
        "",
        ";",
        " WHERE 1",
        " RETURNING *",
        " -- SELECT",
        "; SELECT 1",
        " WHERE id IN (SELECT 1) ;",
        " $a$",
    ]);
    (before, blank(), blank(), blank(), after).prop_map(|(before, one, two, three, after)| {
        format!("{one}{before}{two}DELETE{three} FROM notes{after}")
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    /// SQLite itself says whether the text deletes: then rules must know, or the tool refuse.
    #[test]
    fn i06_a_decorated_delete_is_a_delete_or_unknown(sql in decorated_delete()) {
        let (policy, mut deletes) = (two_for_deletes(), 0);
        for dialect in [SqlDialect::Sqlite, SqlDialect::Postgres] {
            if let Ok(facts) = facts_of_text(dialect, &sql) {
                // Text that hides all of the DELETE in a comment or a quotation deletes nothing.
                if facts.kind != SqlKind::Select {
                    prop_assert!(matches!(facts.kind, SqlKind::Delete | SqlKind::Unknown), "{}", facts);
                    prop_assert!(quorum_for(&policy, Some(&facts), &sql) >= 2);
                    deletes += 1;
                }
            }
        }
        let mut connection = Connection::open_in_memory().unwrap();
        connection.execute_batch("CREATE TABLE notes (id INTEGER PRIMARY KEY, what)").unwrap();
        let judged = super::judge_statement(&mut connection, &sql);
        if let Ok((kind, _)) = judged {
            let read_only = connection.prepare(&sql).is_ok_and(|prepared| prepared.readonly());
            prop_assert_eq!(kind == "read", read_only, "{} is {}", sql, kind);
            prop_assert!(kind == "read" || (kind == "delete" && deletes > 0), "{} is {}", sql, kind);
        }
    }
}
