//! What a statement is: whatever both readers call a query changes nothing, and whatever they call
//! a change of a table changes no other.

use rusqlite::Connection;
use tools::sql::judge_statement;

use super::text;

/// Steps of SQLite's machine, in hundreds, after which an endless query is stopped.
const PATIENCE: u32 = 50;

pub(super) fn run(bytes: &[u8]) {
    let Some(sql) = text(bytes) else { return };
    // Deep nesting costs the parser its time and not ours; a person could not read it either.
    if sql.len() > 4_000 {
        return;
    }
    let mut connection = shop().expect("a small database");
    let Ok((kind, table)) = judge_statement(&mut connection, sql) else { return };
    assert_eq!(state(&connection), state(&shop().expect("a small database")), "only looked at");
    if kind == "define" {
        return;
    }
    let before = state(&connection);
    let mut left = PATIENCE;
    let stop = move || {
        left = left.saturating_sub(1);
        left == 0
    };
    connection.progress_handler(100, Some(stop)).expect("a handler");
    let ran = carry_out(&connection, sql);
    connection.progress_handler(0, None::<fn() -> bool>).expect("no handler");
    if ran.is_err() {
        return;
    }
    let after = state(&connection);
    for (name, rows) in &before {
        let changed = after.iter().find(|(other, _)| other == name).map(|(_, rows)| rows);
        let may = kind != "read" && table.as_deref().is_some_and(|t| t.eq_ignore_ascii_case(name));
        assert!(may || changed == Some(rows), "{kind} {table:?} changed {name}: {sql:?}");
    }
}

fn shop() -> rusqlite::Result<Connection> {
    let connection = Connection::open_in_memory()?;
    connection.execute_batch(
        "CREATE TABLE orders (id INTEGER PRIMARY KEY, state TEXT, total REAL);
         CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT);
         INSERT INTO orders VALUES (1, 'open', 1.5), (2, 'abandoned', 2.5);
         INSERT INTO people VALUES (1, 'ana'), (2, 'bob');",
    )?;
    Ok(connection)
}

fn carry_out(connection: &Connection, sql: &str) -> rusqlite::Result<()> {
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.raw_query();
    while rows.next()?.is_some() {}
    Ok(())
}

/// The schema, and every row of both tables.
fn state(connection: &Connection) -> Vec<(&'static str, Vec<String>)> {
    let all = |sql: &str| -> rusqlite::Result<Vec<String>> {
        let mut statement = connection.prepare(sql)?;
        let rows = statement.query_map([], |row| row.get::<_, String>(0))?;
        rows.collect()
    };
    [
        ("sqlite_schema", "SELECT coalesce(sql, name) FROM sqlite_schema ORDER BY 1"),
        ("orders", "SELECT quote(id) || quote(state) || quote(total) FROM orders ORDER BY 1"),
        ("people", "SELECT quote(id) || quote(name) FROM people ORDER BY 1"),
    ]
    .map(|(name, sql)| (name, all(sql).unwrap_or_else(|error| vec![error.to_string()])))
    .into()
}
