//! The row that says that a change happened. It is written in the same transaction as the change, so
//! there is one exactly when there is the other.

use rusqlite::{Connection, OptionalExtension, Result, params};

pub(super) const TABLE: &str = "holdpoint_marker";

pub(super) fn is_ours(table: &str) -> bool {
    table.eq_ignore_ascii_case(TABLE)
}

/// Rows stay for as long as the owner of the database likes: those of calls that are settled may be
/// deleted at any time.
pub(super) fn make_table(connection: &Connection) -> Result<()> {
    connection.execute_batch(
        "CREATE TABLE IF NOT EXISTS holdpoint_marker (key TEXT PRIMARY KEY, rows INTEGER, at TEXT, result TEXT)",
    )
}

pub(super) fn find(connection: &Connection, key: &str) -> Result<Option<String>> {
    connection
        .query_row("SELECT result FROM holdpoint_marker WHERE key = ?1", [key], |row| row.get(0))
        .optional()
}

pub(super) fn write(connection: &Connection, key: &str, rows: u64, result: &str) -> Result<()> {
    connection
        .execute(
            "INSERT INTO holdpoint_marker (key, rows, at, result)
             VALUES (?1, ?2, strftime('%Y-%m-%dT%H:%M:%fZ', 'now'), ?3)",
            params![key, i64::try_from(rows).unwrap_or(i64::MAX), result],
        )
        .map(drop)
}

/// Gives an attempt up, so that a server which stopped in the middle and wakes up later changes
/// nothing any more.
pub(super) fn fence(connection: &Connection, key: &str, attempt: u32) -> Result<()> {
    connection
        .execute(
            "INSERT OR IGNORE INTO holdpoint_marker (key, at, result)
             VALUES (?1, strftime('%Y-%m-%dT%H:%M:%fZ', 'now'), 'given up')",
            [fence_key(key, attempt)],
        )
        .map(drop)
}

pub(super) fn is_fenced(connection: &Connection, key: &str, attempt: u32) -> Result<bool> {
    find(connection, &fence_key(key, attempt)).map(|found| found.is_some())
}

pub(super) fn fence_key(key: &str, attempt: u32) -> String {
    format!("{key}/{attempt}")
}
