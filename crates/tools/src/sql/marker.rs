//! The row that says that a change happened. It is written in the same transaction as the change, so
//! there is one exactly when there is the other.
//!
//! Rows can be deleted, and tables dropped. So that a row is missing proves nothing: that an attempt has
//! not begun is a row of its own, written before the intent is on disk, and that it has begun is another, written with
//! the change.

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

pub(super) fn find_result(connection: &Connection, key: &str) -> Result<Option<String>> {
    connection
        .query_row("SELECT result FROM holdpoint_marker WHERE key = ?1", [key], |row| row.get(0))
        .optional()
}

pub(super) fn write_result(
    connection: &Connection,
    key: &str,
    rows: u64,
    result: &str,
) -> Result<()> {
    connection
        .execute(
            "INSERT INTO holdpoint_marker (key, rows, at, result)
             VALUES (?1, ?2, strftime('%Y-%m-%dT%H:%M:%fZ', 'now'), ?3)",
            params![key, i64::try_from(rows).unwrap_or(i64::MAX), result],
        )
        .map(drop)
}

/// The first word about an attempt: that it began, or that it never will.
pub(super) const BEGUN: &str = "begun";
/// So that a server which stopped in the middle and wakes up later changes nothing any more.
pub(super) const GIVEN_UP: &str = "given up";
/// The same for an attempt of which no trace was found: it may have been made.
pub(super) const LOST: &str = "lost";

pub(super) fn say_first(
    connection: &Connection,
    key: &str,
    attempt: u32,
    word: &str,
) -> Result<()> {
    write_attempt_row(connection, &fence_key(key, attempt), word)
}

/// Says that an attempt has not begun.
pub(super) fn announce_attempt(connection: &Connection, key: &str, attempt: u32) -> Result<()> {
    write_attempt_row(connection, &announced_key(key, attempt), "announced")
}

/// It has begun. Left standing, the announcement would be taken for the truth where no other row is found.
pub(super) fn withdraw_announcement(
    connection: &Connection,
    key: &str,
    attempt: u32,
) -> Result<()> {
    connection
        .execute("DELETE FROM holdpoint_marker WHERE key = ?1", [announced_key(key, attempt)])
        .map(drop)
}

fn write_attempt_row(connection: &Connection, key: &str, word: &str) -> Result<()> {
    connection
        .execute(
            "INSERT OR IGNORE INTO holdpoint_marker (key, at, result)
             VALUES (?1, strftime('%Y-%m-%dT%H:%M:%fZ', 'now'), ?2)",
            params![key, word],
        )
        .map(drop)
}

pub(super) fn is_fenced(connection: &Connection, key: &str, attempt: u32) -> Result<bool> {
    find_result(connection, &fence_key(key, attempt)).map(|found| found.is_some())
}

pub(super) fn announced_key(key: &str, attempt: u32) -> String {
    format!("{key}/{attempt}/announced")
}

/// Told to the person who is asked about a change without traces.
pub(super) const NO_TRACE: &str = "the table holdpoint_marker says neither that this change was made nor that it was \
     not begun: its rows were removed, or the change was begun before they could be written";

pub(super) fn fence_key(key: &str, attempt: u32) -> String {
    format!("{key}/{attempt}")
}
