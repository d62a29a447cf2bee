//! What the tools may do to a database, and what they say about it.

use domain::hold::Risk;
use domain::outcome::Outcome;
use ports::tool_host::{PrepareError, ToolHost};
use serde_json::{Value, json};
use testkit::cleared::{cleared, open};
use testkit::postgres::PASSWORD;
use tokio_util::sync::CancellationToken;
use tools::conformance::{ConformanceCase, check_host};
use tools::sql::postgres::{PgModify, PgModifyConfig, PgTarget};

use super::stage::{Shop, call, done, failed, prepare, run, unsound};

#[tokio::test]
async fn a_person_sees_how_many_rows_and_nothing_is_changed_by_looking() {
    let shop = Shop::open().await;
    let host = shop.modify(|_| {});
    let prepared = prepare(&host, "DELETE FROM orders WHERE status = 1").await.unwrap();
    assert_eq!(prepared.title.as_deref(), Some("Delete 20 rows from orders"));
    assert_eq!(prepared.preview.rows, Some(20));
    let port = shop.cluster.port();
    assert_eq!(
        prepared.context.detail,
        format!(
            "database shop at 127.0.0.1:{port} as app (PostgreSQL)\nrows changed: 20\n\
             rows changed through triggers and foreign keys: 6"
        )
    );
    assert_eq!(prepared.context.detail.codes().len(), 3, "surfaces can word every line");
    assert_eq!(prepared.preview.warnings, ["6 more rows change through triggers and foreign keys"]);
    assert_eq!(prepared.ask.unwrap().risk, Risk::Medium);
    let all = prepare(&host, "DELETE FROM lines").await.unwrap();
    assert_eq!(all.preview.warnings, ["there is no WHERE: every row of `lines` is meant"]);
    assert_eq!(shop.number("SELECT count(*) FROM orders").await, 100);
    assert_eq!(
        shop.number("SELECT count(*) FROM pg_class WHERE relname = 'holdpoint_marker'").await,
        0
    );

    // What was approved is what runs, or nothing does.
    let sql = "DELETE FROM orders WHERE status = 1";
    let mut parts = call(&host, sql, 1).parts();
    parts.context = prepared.context;
    let approved = domain::call::Call::fixed(parts);
    shop.cluster.shop().await.run("UPDATE orders SET status = 1 WHERE id = 100").await;
    let told = failed(run(&host, &approved, 1).await);
    assert!(told.contains("it would change 21 rows, and 6 more"), "{told}");
    assert_eq!(shop.number("SELECT count(*) FROM orders").await, 100);
    assert_eq!(done(&host, sql, 2).await, json!({"rows": 21, "also_changed": 6}));
    assert_eq!(shop.number("SELECT count(*) FROM orders WHERE status = 1").await, 0);
}

#[tokio::test]
async fn a_table_with_triggers_is_estimated_and_they_do_not_fire() {
    let shop = Shop::open().await;
    let owner = shop.cluster.shop().await;
    owner
        .run(
            "CREATE TABLE log (what int); CREATE SEQUENCE fired;
             CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS
             $$ BEGIN PERFORM nextval('fired'); INSERT INTO log VALUES (old.id); RETURN old; END $$;
             CREATE TRIGGER t AFTER DELETE ON lines FOR EACH ROW EXECUTE FUNCTION note()",
        )
        .await;
    let host = shop.modify(|_| {});
    for (sql, title) in [
        ("DELETE FROM lines", "Delete about 30 rows from lines"),
        // A foreign key leads to the table with the trigger.
        ("DELETE FROM orders WHERE id > 0", "Delete about 100 rows from orders"),
    ] {
        let prepared = prepare(&host, sql).await.unwrap();
        assert_eq!(prepared.title.as_deref(), Some(title));
        let warned = prepared.preview.warnings.last().unwrap();
        assert_eq!(
            *warned,
            "the number of rows is an estimate: the table has triggers, which were not fired"
        );
    }
    assert_eq!(owner.number("SELECT count(*) FROM pg_sequences WHERE sequencename = 'fired' AND last_value IS NOT NULL").await, 0);
    // When it runs they do, and they count.
    assert_eq!(
        done(&host, "DELETE FROM lines WHERE id <= 3", 1).await,
        json!({"rows": 3, "also_changed": 3})
    );
    let few = shop.modify(|config| config.rows_max = Some(5));
    let call = call(&few, "DELETE FROM lines WHERE id <= 6", 2);
    let told = failed(run(&few, &call, 1).await);
    assert!(told.contains("3 rows, and 3 more") && told.contains("no more than 5"), "{told}");
    assert_eq!(owner.number("SELECT count(*) FROM lines").await, 27);
}

#[tokio::test]
async fn what_is_not_allowed_does_not_run_whoever_reads_it() {
    let shop = Shop::open().await;
    let owner = shop.cluster.shop().await;
    owner
        .run(
            "CREATE FUNCTION sweep() RETURNS int LANGUAGE sql AS 'DELETE FROM lines RETURNING 1';
             CREATE FUNCTION calm() RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT 1';
             CREATE VIEW sweeping AS SELECT sweep() AS n",
        )
        .await;
    let query = shop.query(|_| {});
    for (sql, why) in [
        ("DELETE FROM orders", "this tool only reads"),
        ("WITH x AS (DELETE FROM lines RETURNING 1) SELECT * FROM x", "may only read"),
        ("SELECT sweep()", "`sweep` is not allowed"),
        ("SELECT calm()", "`calm` is not allowed"),
        ("SELECT pg_terminate_backend(1)", "`pg_terminate_backend` is not allowed"),
        ("SELECT pg_sleep(100)", "`pg_sleep` is not allowed"),
        ("SELECT set_config('search_path', 'evil', false)", "`set_config` is not allowed"),
        ("SELECT nextval('orders_id_seq')", "`nextval` is not allowed"),
        ("SELECT pg_advisory_lock(1)", "`pg_advisory_lock` is not allowed"),
        ("SELECT query_to_xml('SELECT 1', true, true, '')", "`query_to_xml` is not allowed"),
        ("SELECT lo_unlink(1)", "`lo_unlink` is not allowed"),
        ("SELECT U&\"pg\\005fsleep\"(100)", "U&"),
        ("SELECT (5).pg_sleep", "`pg_sleep` is not allowed"),
        ("SELECT orders.sweep FROM orders", "`sweep` is not allowed"),
        ("SELECT * FROM ONLY lines", "ONLY is not allowed"),
        ("SELECT * FROM orders FOR UPDATE", "FOR UPDATE"),
        ("SELECT $1", "$1"),
        ("SELECT * FROM no_such_table", "does not exist"),
        ("SELECT 1/", "cannot be read"),
    ] {
        assert!(unsound(&query, sql).await.contains(why), "{sql}: {}", unsound(&query, sql).await);
    }
    // Nothing in its text says what this does; the server does not let it.
    let call = call(&query, "SELECT * FROM sweeping", 1);
    let told = failed(run(&query, &call, 1).await);
    assert!(told.contains("read-only transaction"), "{told}");
    let modify = shop.modify(|_| {});
    for (sql, why) in [
        ("SELECT 1", "changes nothing"),
        ("DELETE FROM ONLY holdpoint_marker", "ONLY is not allowed"),
        ("UPDATE orders SET status = 1 FROM ONLY lines", "ONLY is not allowed"),
        ("UPDATE orders SET status = sweep()", "`sweep` is not allowed"),
        ("DELETE FROM orders WHERE pg_sleep(1) IS NULL", "`pg_sleep` is not allowed"),
        ("DROP TABLE orders", "cannot be changed here"),
        ("DELETE FROM pg_catalog.pg_class", "the database's own table"),
        ("INSERT INTO orders (id) VALUES (1)", "null value"),
        ("DELETE FROM orders; DELETE FROM lines", "2 statements"),
        ("UPDATE no_such SET a = 1", "does not exist"),
    ] {
        assert!(unsound(&modify, sql).await.contains(why), "{sql}");
    }
    done(&modify, "UPDATE orders SET status = 0 WHERE id = 1", 1).await;
    assert!(unsound(&modify, "DELETE FROM holdpoint_marker").await.contains("Holdpoint's own"));
    assert!(
        unsound(&query, "SELECT * FROM public.holdpoint_marker").await.contains("Holdpoint's own")
    );
    let define = shop.modify(|config| config.allow_ddl = true);
    assert!(unsound(&define, "DROP TABLE holdpoint_marker").await.contains("Holdpoint's own"));
    let made = prepare(&define, "CREATE TABLE fresh (a int)").await.unwrap();
    assert_eq!(made.ask.unwrap().risk, Risk::High);
    assert_eq!(shop.number("SELECT count(*) FROM pg_class WHERE relname = 'fresh'").await, 0);
    assert_eq!(done(&define, "CREATE TABLE fresh (a int)", 2).await, json!({"rows": 0}));
    assert_eq!(shop.number("SELECT count(*) FROM lines").await, 30);
}

#[tokio::test]
async fn only_the_tables_of_the_list_are_used() {
    let shop = Shop::open().await;
    shop.cluster.shop().await.run("CREATE SCHEMA other; CREATE TABLE other.orders (a int)").await;
    let listed = || Some(vec!["orders".to_owned()]);
    let query = shop.query(|config| config.tables = listed());
    let modify = shop.modify(|config| config.tables = listed());
    for sql in [
        "SELECT * FROM secrets",
        "SELECT * FROM orders, secrets",
        "SELECT (SELECT word FROM secrets LIMIT 1) FROM orders",
        "SELECT * FROM other.orders",
        "SELECT * FROM pg_catalog.pg_class",
        "WITH secrets AS (SELECT * FROM secrets) SELECT * FROM secrets",
        "SELECT * FROM orders WHERE EXISTS (SELECT 1 FROM \"secrets\")",
    ] {
        assert!(unsound(&query, sql).await.contains("may be used here"), "{sql}");
    }
    for sql in [
        "DELETE FROM secrets",
        "INSERT INTO orders (customer, status) SELECT word, 1 FROM secrets",
        "UPDATE orders SET status = 1 FROM secrets",
        "DELETE FROM orders USING secrets",
        "DELETE FROM lines",
    ] {
        assert!(unsound(&modify, sql).await.contains("may be used here"), "{sql}");
    }
    let told = done(&query, "WITH big AS (SELECT * FROM orders) SELECT count(*) FROM big", 1).await;
    assert_eq!(told["rows"], json!([[100]]));
    done(&modify, "UPDATE public.orders SET status = 9 WHERE id = 1", 2).await;
    let mut both = PgModifyConfig::new(shop.target());
    both.tables = listed();
    both.allow_ddl = true;
    assert!(
        PgModify::new(both).unwrap_err().to_string().contains("take `tables` or `allow_ddl` out")
    );
}

#[tokio::test]
async fn values_come_as_the_server_writes_them() {
    let shop = Shop::open().await;
    let query = shop.query(|config| config.rows_max = 3);
    let sql = "SELECT true AS b, 9007199254740993::int8 AS i, 0.1::float8 AS f, 'NaN'::float8 AS nan,
        123456789012345678901234567890.10::numeric AS n, '2026-01-02 03:04:05+01'::timestamptz AS t,
        '{\"b\":1, \"a\":1.10}'::json AS j, ARRAY[1,NULL,3] AS a, '\\x00ff'::bytea AS y, NULL::int AS z,
        'é✓'::text AS s, '1 day'::interval AS d";
    let told = done(&query, sql, 1).await;
    assert_eq!(
        told["rows"][0],
        json!([
            true,
            9007199254740993_i64,
            0.1,
            "NaN",
            "123456789012345678901234567890.10",
            "2026-01-02 02:04:05+00",
            "{\"b\":1, \"a\":1.10}",
            "{1,NULL,3}",
            "\\x00ff",
            null,
            "é✓",
            "P1D"
        ])
    );
    assert_eq!(told["columns"][0], "b");
    let told = done(&query, "SELECT id FROM orders ORDER BY id", 2).await;
    assert_eq!(told["rows"], json!([[1], [2], [3]]));
    assert_eq!(told["truncated"], json!(true));
    let long = done(&query, "SELECT repeat('x', 1000000)", 3).await;
    assert!(long["rows"][0][0].as_str().is_none_or(|text| text.len() < 10_000), "one cell is cut");
    let plan = done(&query, "EXPLAIN SELECT * FROM orders", 4).await;
    assert!(plan["rows"][0][0].as_str().unwrap().contains("orders"), "{plan}");
    let modify = shop.modify(|_| {});
    let told =
        done(&modify, "UPDATE orders SET status = 7 WHERE id <= 2 RETURNING id, status", 5).await;
    assert_eq!(told["returned"]["rows"], json!([[1, 7], [2, 7]]));
}

#[tokio::test]
async fn i39_locks_time_and_rights_are_told_and_nothing_is_changed() {
    let shop = Shop::open().await;
    let other = shop.cluster.shop().await;
    other.run("BEGIN; UPDATE orders SET status = 3 WHERE id = 1").await;
    let modify = shop.modify(|_| {});
    match prepare(&modify, "DELETE FROM orders WHERE id = 1").await {
        Err(PrepareError::Blind { why, .. }) => {
            assert!(why.contains("another program holds"), "{why}")
        }
        told => panic!("{told:?}"),
    }
    other.run("ROLLBACK").await;
    let quick = shop.query(|config| config.time_limit = std::time::Duration::from_millis(200));
    let slow = "SELECT count(*) FROM generate_series(1, 100000000) a";
    let call = call(&quick, slow, 1);
    assert!(failed(run(&quick, &call, 1).await).contains("time limit"));
    let stop = CancellationToken::new();
    let patient = shop.query(|_| {});
    let stopping = async {
        tokio::time::sleep(std::time::Duration::from_millis(200)).await;
        stop.cancel();
    };
    let (outcome, ()) = tokio::join!(patient.run(cleared(call, 1), open(), stop.clone()), stopping);
    assert!(failed(outcome.unwrap()).contains("stopped"));

    // A user who may make no table: nothing is changed without a marker.
    let admin = shop.cluster.connect("postgres", "shop").await;
    admin
        .run(
            "CREATE ROLE clerk LOGIN; GRANT SELECT, INSERT, UPDATE, DELETE ON orders TO clerk;
             REVOKE CREATE ON SCHEMA public FROM PUBLIC",
        )
        .await;
    let url = shop.cluster.url_as("clerk", "shop", shop.cluster.port());
    let clerk = PgModify::new(PgModifyConfig::new(PgTarget::parse(&url).unwrap())).unwrap();
    let sql = "UPDATE orders SET status = 1 WHERE id = 1";
    match prepare(&clerk, sql).await {
        Err(PrepareError::Blind { why, .. }) => {
            assert!(why.contains("CREATE TABLE IF NOT EXISTS public.holdpoint_marker"), "{why}")
        }
        told => panic!("{told:?}"),
    }
    let call = super::stage::call(&clerk, sql, 2);
    assert!(failed(run(&clerk, &call, 1).await).contains("may not make it"));
    shop.cluster
        .shop()
        .await
        .run("CREATE TABLE holdpoint_marker (key text PRIMARY KEY, rows bigint, at timestamptz NOT NULL DEFAULT now(), result text)")
        .await;
    assert!(failed(run(&clerk, &call, 1).await).contains("may not write to it"));
    admin.run("GRANT SELECT, INSERT ON holdpoint_marker TO clerk").await;
    assert_eq!(done(&clerk, sql, 3).await, json!({"rows": 1}));
}

#[tokio::test]
async fn both_hosts_conform() {
    let shop = Shop::open().await;
    let modify = shop.modify(|_| {});
    let counted = std::sync::atomic::AtomicU64::new(0);
    // The suite asks from where it cannot wait, so the world is asked by another thread.
    let url = shop.cluster.url();
    let effects = || {
        let url = url.clone();
        let asked = std::thread::spawn(move || {
            let runtime =
                tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let (client, connection) =
                    tokio_postgres::connect(&url, tokio_postgres::NoTls).await.unwrap();
                let work =
                    client.query_one("SELECT count(*) FROM orders WHERE customer = 'new'", &[]);
                let row =
                    tokio::select! { row = work => row.unwrap(), _ = connection => panic!("gone") };
                row.get::<_, i64>(0) as u64
            })
        });
        let now = asked.join().unwrap();
        counted.store(now, std::sync::atomic::Ordering::Relaxed);
        now
    };
    check_host(ConformanceCase {
        host: &modify,
        works: json!({"sql": super::stage::SELL}),
        effects: &effects,
        effects_each: 1,
        unsound: Some(json!({"sql": "DELETE FROM nowhere"})),
        endless: None,
        noisy: None,
        clear: &cleared,
    })
    .await;
    let query = shop.query(|_| {});
    check_host(ConformanceCase {
        host: &query,
        works: json!({"sql": "SELECT * FROM orders"}),
        effects: &effects,
        effects_each: 0,
        unsound: Some(json!({"sql": "SELECT * FROM nowhere"})),
        endless: None,
        noisy: Some(json!({"sql": "SELECT repeat('x', 1000) FROM generate_series(1, 500)"})),
        clear: &cleared,
    })
    .await;
    assert!(counted.load(std::sync::atomic::Ordering::Relaxed) > 0);
}

#[tokio::test]
async fn i45_the_password_is_told_to_nobody() {
    let shop = Shop::open().await;
    let modify = shop.modify(|_| {});
    let query = shop.query(|_| {});
    let everything =
        format!("{modify:?} {query:?} {} {}", modify.tool().origin, query.tool().origin);
    assert!(!everything.contains(PASSWORD), "{everything}");
    assert!(everything.contains("as app"), "{everything}");
    // Another user or database is another tool.
    let other = shop.cluster.url_as("postgres", "shop", shop.cluster.port());
    let other = PgModify::new(PgModifyConfig::new(PgTarget::parse(&other).unwrap())).unwrap();
    assert_ne!(other.tool().definition(), modify.tool().definition());
    let away = PgTarget::parse(&format!("postgres://app:{PASSWORD}@127.0.0.1:1/shop")).unwrap();
    let away = PgModify::new(PgModifyConfig::new(away)).unwrap();
    let call = call(&away, "DELETE FROM orders", 1);
    let told = failed(run(&away, &call, 1).await);
    assert!(told.contains("cannot be reached"), "{told}");
    let tls = format!("{}?sslmode=require", shop.cluster.url());
    let tls = PgModify::new(PgModifyConfig::new(PgTarget::parse(&tls).unwrap())).unwrap();
    let Outcome::Failed(told) = run(&tls, &call, 1).await else { panic!("it ran in the clear") };
    assert!(told.text.contains("cannot be reached"), "{}", told.text);
    let shown: Value = done(&modify, "DELETE FROM lines WHERE id = 1", 2).await;
    assert_eq!(shown, json!({"rows": 1}));
}

/// The most memory that this process ever had, as the kernel counts it.
fn peak_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() << 10
}

#[tokio::test]
async fn i50_long_values_are_cut_before_they_are_sent() {
    let shop = Shop::open().await;
    let host = shop.query(|_| {});
    let before = peak_bytes();
    let columns = ["repeat('x', 20000000)"; 10].join(", ");
    let sql = format!("SELECT {columns}, 7 AS n, NULL::text AS t; -- done");
    let told = done(&host, &sql, 1).await;
    let grown = peak_bytes().saturating_sub(before);
    assert!(grown < 100 << 20, "it took {} MiB", grown >> 20);
    assert_eq!(told["truncated"], true, "one row is longer than a model is given");
    let one = done(
        &host,
        "SELECT repeat('é', 20000000) AS a, 7 AS n, NULL::text AS t, 'ab'::text AS s",
        2,
    )
    .await;
    let cell = one["rows"][0][0].as_str().unwrap();
    assert!(cell.ends_with("é… [the rest is left out]") && cell.len() < 9_000, "{}", cell.len());
    assert_eq!(one["columns"], json!(["a", "n", "t", "s"]));
    assert_eq!(one["rows"][0].as_array().unwrap()[1..], [json!(7), Value::Null, json!("ab")]);
    // The server folds constants before it draws a plan.
    let plan = "EXPLAIN SELECT id FROM orders WHERE id::text = repeat('it''s ', 60000000)";
    let plan = done(&host, plan, 3).await;
    assert_eq!(plan["columns"], json!(["QUERY PLAN"]));
    assert!(plan["rows"][0][0].as_str().unwrap().contains("on orders"), "{plan}");
    assert!(plan["rows"].to_string().contains("[the rest is left out]"));
    // What a change gives back is tried before anybody is asked.
    let change = shop.modify(|_| {});
    let sql =
        "WITH one AS (SELECT 1 AS id) UPDATE orders SET status = 9 WHERE id IN (SELECT id FROM one)
               RETURNING id, repeat('x', 200000000) AS long;";
    assert_eq!(prepare(&change, sql).await.unwrap().context.sql.unwrap().rows, Some(1));
    let made = done(&change, sql, 4).await;
    assert_eq!((&made["rows"], &made["returned"]["rows"][0][0]), (&json!(1), &json!(1)), "{made}");
    assert_eq!(made["returned"]["columns"], json!(["id", "long"]));
    let grown = peak_bytes().saturating_sub(before);
    assert!(grown < 100 << 20, "it took {} MiB", grown >> 20);
}

#[tokio::test]
async fn i06_rules_are_told_what_the_server_knows() {
    use domain::sql_facts::{SqlFacts, SqlKind, SqlTables};
    let shop = Shop::open().await;
    let tables = |names: &[&str], complete| SqlTables {
        names: names.iter().map(|name| (*name).to_owned()).collect(),
        complete,
    };
    let host = shop.modify(|_| {});
    let facts = async |sql: &str| prepare(&host, sql).await.unwrap().context.sql.unwrap();
    // Foreign keys lead from `orders` to others.
    let delete = facts("/*x*/ WITH y AS (SELECT 1) DELETE FROM orders WHERE status = 1").await;
    let wanted = SqlFacts {
        kind: SqlKind::Delete,
        tables: tables(&["public.orders"], false),
        has_where: Some(true),
        rows: Some(26),
    };
    assert_eq!(delete, wanted);
    let all = facts("--x\nDELETE FROM lines").await;
    assert_eq!((all.kind, all.has_where), (SqlKind::Delete, Some(false)));
    assert_eq!(all.tables, tables(&["public.lines"], true));
    let host = shop.query(|_| {});
    let read = prepare(&host, "SELECT o.id FROM orders o").await.unwrap().context.sql.unwrap();
    assert_eq!((read.kind, read.rows), (SqlKind::Select, Some(0)));
    assert_eq!(read.tables, tables(&["public.orders"], true));
}
