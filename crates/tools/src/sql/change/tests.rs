use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::super::statement::parse_statement;
use super::*;
use crate::cleared::open_gate;

struct Shop {
    dir: TempDir,
}

impl Shop {
    fn open() -> Shop {
        let dir = tempfile::tempdir().unwrap();
        crate::demo::create_database(&dir.path().join("shop.db")).unwrap();
        Shop { dir }
    }

    fn path(&self) -> PathBuf {
        self.dir.path().join("shop.db")
    }

    fn change(&self, sql: &str) -> SqlChange {
        SqlChange {
            database: ChosenDatabase { name: "shop".into(), path: self.path() },
            sql: sql.into(),
            statement: parse_statement(sql).unwrap(),
            tables: None,
            rows_max: 10,
            changes_max: None,
            time_limit: Duration::from_secs(30),
        }
    }

    fn number(&self, sql: &str) -> u32 {
        number(&self.path(), sql)
    }

    /// Effects and markers, which must always be the same.
    fn sold_and_marked(&self) -> (u32, u32) {
        sold_and_marked(&self.path())
    }
}

fn number(path: &Path, sql: &str) -> u32 {
    Connection::open(path).unwrap().query_row(sql, [], |row| row.get(0)).unwrap()
}

fn sold_and_marked(path: &Path) -> (u32, u32) {
    let marked =
        match number(path, "SELECT count(*) FROM sqlite_schema WHERE name = 'holdpoint_marker'") {
            0 => 0,
            _ => number(path, "SELECT count(*) FROM holdpoint_marker WHERE rows IS NOT NULL"),
        };
    (number(path, "SELECT count(*) FROM orders WHERE customer = 'new'"), marked)
}

const SELL: &str = "INSERT INTO orders (customer, status, total_cents) VALUES ('new', 2, 100)";

fn key(n: u32) -> String {
    format!("call_{n}-1")
}

#[test]
fn trying_out_counts_and_changes_nothing() {
    let shop = Shop::open();
    let before = fs::read(shop.path()).unwrap();
    let count = shop
        .change("DELETE FROM orders WHERE status = 1")
        .try_out()
        .map(|tried| tried.count)
        .unwrap();
    assert_eq!(count, RowCount { rows: 214, also: 0 });
    assert_eq!(count.describe(), "214 rows");
    assert_eq!(
        shop.change("DELETE FROM orders WHERE id = -1")
            .try_out()
            .map(|tried| tried.count)
            .unwrap()
            .rows,
        0
    );
    assert_eq!(
        shop.change("UPDATE orders SET status = 9 RETURNING id")
            .try_out()
            .map(|tried| tried.count)
            .unwrap()
            .rows,
        500
    );
    assert_eq!(fs::read(shop.path()).unwrap(), before, "not a byte of the file");
}

#[test]
fn triggers_and_foreign_keys_are_counted_apart() {
    let shop = Shop::open();
    Connection::open(shop.path())
        .unwrap()
        .execute_batch(
            "CREATE TABLE log (what);
             CREATE TRIGGER t AFTER DELETE ON orders BEGIN INSERT INTO log VALUES (old.id); END;",
        )
        .unwrap();
    let count =
        shop.change("DELETE FROM orders WHERE id <= 3").try_out().map(|tried| tried.count).unwrap();
    assert_eq!(count, RowCount { rows: 3, also: 3 });
    assert_eq!(count.describe(), "3 rows, and 3 more through triggers and foreign keys");
    // Only a line of ours counts, whatever a name before it says.
    let mut detail = RunDetail::from("rows changed: 7");
    detail.append(&count.to_detail());
    assert_eq!(RowCount::of_detail(&detail), Some(count));
    // What was stored before there were codes is only its text.
    let stored = format!("database x\n{}", count.to_detail());
    assert_eq!(RowCount::of_detail(&stored.as_str().into()), Some(count));
    let odd = "rows changed: x\nrows changed through triggers and foreign keys: 1";
    assert_eq!(RowCount::of_detail(&odd.into()), None);
    assert_eq!(RowCount::of_detail(&RunDetail::default()), None);
}

#[test]
fn i19_a_crash_before_the_commit_leaves_neither_effect_nor_marker() {
    let shop = Shop::open();
    let sell = shop.change(SELL);
    let stop = StopFlag::default();
    sell.announce_attempt(&key(1), 1).unwrap();
    let (connection, _) = sell.up_to_commit(&key(1), 1, None, &open_gate(), &stop).unwrap();
    drop(connection);
    assert_eq!(shop.sold_and_marked(), (0, 0));
    assert_eq!(sell.look_back(&key(1), 1).unwrap(), None, "it never happened");
    assert!(
        sell.apply_once(&key(1), 2, None, &open_gate(), &stop).is_ok(),
        "so it may be started again"
    );
    assert_eq!(shop.sold_and_marked(), (1, 1));
}

#[test]
fn i19_a_copy_of_the_files_at_any_moment_has_as_many_effects_as_markers() {
    let shop = Shop::open();
    let (sell, stop) = (shop.change(SELL), StopFlag::default());
    for (n, mode) in [(1, "delete"), (2, "wal")] {
        let keeper = Connection::open(shop.path()).unwrap();
        keeper.pragma_update(None, "journal_mode", mode).unwrap();
        let (connection, _) = sell.up_to_commit(&key(n), 1, None, &open_gate(), &stop).unwrap();
        // What a power cut at this moment would leave: the files as they are, with no process.
        let cut = |name: &str| {
            let copy = shop.dir.path().join(name);
            fs::create_dir(&copy).unwrap();
            for suffix in ["", "-journal", "-wal"] {
                let from = format!("{}{suffix}", shop.path().display());
                let _ = fs::copy(from, copy.join(format!("shop.db{suffix}")));
            }
            copy.join("shop.db")
        };
        let before = cut(&format!("before-{mode}"));
        connection.unwrap().execute_batch("COMMIT").unwrap();
        let after = cut(&format!("after-{mode}"));
        assert_eq!(sold_and_marked(&before), (n - 1, n - 1), "{mode}");
        assert_eq!(sold_and_marked(&after), (n, n), "{mode}");
    }
}

#[test]
fn i19_the_same_key_changes_once_however_often_it_is_made() {
    let shop = Shop::open();
    let sell = shop.change(SELL);
    let results: Vec<String> = (1..=3)
        .map(|n| sell.apply_once(&key(1), n, None, &open_gate(), &StopFlag::default()).unwrap())
        .collect();
    assert_eq!(results, [r#"{"rows":1}"#; 3]);
    assert_eq!(sell.look_back(&key(1), 1).unwrap().as_deref(), Some(r#"{"rows":1}"#));
    assert_eq!(shop.sold_and_marked(), (1, 1));
    sell.apply_once(&key(2), 1, None, &open_gate(), &StopFlag::default()).unwrap();
    assert_eq!(shop.sold_and_marked(), (2, 2));
}

#[test]
fn i19_racing_attempts_change_once() {
    let shop = Shop::open();
    let sell = shop.change(SELL);
    std::thread::scope(|scope| {
        for n in 1..=4 {
            let sell = &sell;
            scope.spawn(move || {
                sell.apply_once(&key(1), n, None, &open_gate(), &StopFlag::default()).unwrap()
            });
        }
    });
    assert_eq!(shop.sold_and_marked(), (1, 1));
}

/// Rows may be deleted and tables dropped by whoever owns the database, also of calls in flight.
#[test]
fn i49_a_lost_marker_never_proves_that_nothing_happened() {
    for lost in [
        "DROP TABLE holdpoint_marker",
        "DELETE FROM holdpoint_marker",
        "DELETE FROM holdpoint_marker WHERE rows IS NOT NULL",
        "DELETE FROM holdpoint_marker WHERE key LIKE '%/1'",
        "DELETE FROM holdpoint_marker WHERE key LIKE '%/announced'",
        "DELETE FROM holdpoint_marker WHERE key NOT LIKE '%/announced'",
    ] {
        let shop = Shop::open();
        let sell = shop.change(SELL);
        sell.announce_attempt(&key(1), 1).unwrap();
        sell.apply_once(&key(1), 1, None, &open_gate(), &StopFlag::default()).unwrap();
        Connection::open(shop.path()).unwrap().execute_batch(lost).unwrap();
        for look in 1..=3 {
            match sell.look_back(&key(1), 1) {
                Ok(Some(recorded)) => assert_eq!(recorded, r#"{"rows":1}"#),
                Err(SqlChangeFailure::InDoubt(_)) => {}
                other => panic!("{lost}, look {look}: {other:?}"),
            }
        }
        assert_eq!(shop.number("SELECT count(*) FROM orders WHERE customer = 'new'"), 1);
    }
}

#[test]
fn i17_an_attempt_that_was_given_up_changes_nothing_when_it_wakes_up() {
    let shop = Shop::open();
    let sell = shop.change(SELL);
    sell.announce_attempt(&key(1), 1).unwrap();
    assert_eq!(sell.look_back(&key(1), 1).unwrap(), None);
    assert_eq!(sell.look_back(&key(1), 1).unwrap(), None, "and again after another crash");
    let late = sell.apply_once(&key(1), 1, None, &open_gate(), &StopFlag::default());
    assert!(matches!(late, Err(SqlChangeFailure::GivenUp)), "{late:?}");
    assert_eq!(shop.sold_and_marked(), (0, 0));
}

#[test]
fn another_count_than_the_person_saw_changes_nothing() {
    let shop = Shop::open();
    let delete = shop.change("DELETE FROM orders WHERE status = 1");
    let seen = Some(delete.try_out().map(|tried| tried.count).unwrap());
    Connection::open(shop.path())
        .unwrap()
        .execute_batch(SELL.replace(" 2,", " 1,").as_str())
        .unwrap();
    let failure =
        delete.apply_once(&key(1), 1, seen, &open_gate(), &StopFlag::default()).unwrap_err();
    assert_eq!(
        failure.describe(),
        "it would change 215 rows now, and 214 rows when it was approved; propose it again"
    );
    assert_eq!(shop.number("SELECT count(*) FROM orders"), 501);
    let now = Some(delete.try_out().map(|tried| tried.count).unwrap());
    assert_eq!(
        delete.apply_once(&key(2), 1, now, &open_gate(), &StopFlag::default()).unwrap(),
        r#"{"rows":215}"#
    );
    assert_eq!(shop.number("SELECT count(*) FROM orders WHERE status = 1"), 0);
}

#[test]
fn more_rows_than_are_allowed_are_not_changed() {
    let shop = Shop::open();
    let mut delete = shop.change("DELETE FROM orders WHERE status = 1");
    delete.changes_max = Some(213);
    for failure in [
        delete.try_out().map(|tried| tried.count).unwrap_err(),
        delete.apply_once(&key(1), 1, None, &open_gate(), &StopFlag::default()).unwrap_err(),
    ] {
        assert_eq!(
            failure.describe(),
            "it would change 214 rows, and no more than 213 are allowed"
        );
    }
    assert_eq!(shop.number("SELECT count(*) FROM orders"), 500);
    delete.changes_max = Some(214);
    delete.apply_once(&key(1), 1, None, &open_gate(), &StopFlag::default()).unwrap();
    assert_eq!(shop.number("SELECT count(*) FROM orders"), 286);
}

#[test]
fn i39_a_busy_database_is_waited_for_and_then_left_alone() {
    let shop = Shop::open();
    let sell = shop.change(SELL);
    let other = Connection::open(shop.path()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    std::thread::scope(|scope| {
        let selling =
            scope.spawn(|| sell.apply_once(&key(1), 1, None, &open_gate(), &StopFlag::default()));
        std::thread::sleep(Duration::from_millis(50));
        other.execute_batch("COMMIT").unwrap();
        assert!(selling.join().unwrap().is_ok(), "another writer came and went");
    });
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let stop = StopFlag::default();
    // So that the test does not wait for every attempt.
    stop.raise();
    let failure = sell.apply_once(&key(2), 1, None, &open_gate(), &stop).unwrap_err();
    assert_eq!(failure.describe(), "another program holds the database; try again later");
    assert_eq!(shop.sold_and_marked(), (1, 1));
}

#[test]
fn a_stopped_change_is_undone() {
    let shop = Shop::open();
    let stop = StopFlag::default();
    let endless = shop.change(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)
         INSERT INTO orders (customer, status, total_cents) SELECT 'new', 1, i FROM n",
    );
    let failure = std::thread::scope(|scope| {
        let running = scope.spawn(|| endless.apply_once(&key(1), 1, None, &open_gate(), &stop));
        std::thread::sleep(Duration::from_millis(50));
        stop.raise();
        running.join().unwrap().unwrap_err()
    });
    assert_eq!(failure.describe(), "it was stopped, or ran into its time limit");
    assert_eq!(shop.sold_and_marked(), (0, 0));
}

#[test]
fn a_broken_rule_of_the_database_changes_nothing() {
    let shop = Shop::open();
    let twice = shop
        .change("INSERT INTO orders (id, customer, status, total_cents) VALUES (1, 'new', 1, 1)");
    assert!(
        matches!(twice.try_out().map(|tried| tried.count), Err(SqlChangeFailure::Database(error)) if classify_error(&error) == SqlErrorClass::Statement)
    );
    assert!(twice.apply_once(&key(1), 1, None, &open_gate(), &StopFlag::default()).is_err());
    assert_eq!(shop.sold_and_marked(), (0, 0));
}

#[test]
fn returned_rows_are_recorded_with_the_change() {
    let shop = Shop::open();
    let sell = shop.change(&format!("{SELL} RETURNING id, customer"));
    let expected = r#"{"returned":{"columns":["id","customer"],"rows":[[501,"new"]],"truncated":false},"rows":1}"#;
    let made: Value = serde_json::from_str(
        &sell.apply_once(&key(1), 1, None, &open_gate(), &StopFlag::default()).unwrap(),
    )
    .unwrap();
    assert_eq!(made, serde_json::from_str::<Value>(expected).unwrap());
}
