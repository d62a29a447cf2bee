//! Notes: small records of doors and channels beside the journal.

use domain::time::Timestamp;
use ports::store::{Note, PutNote};
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::error::Failure;

/// Notes that are forgotten at once, so that commits do not wait long behind it.
const FORGET_MAX: i64 = 500;

const COLUMNS: &str = "shelf, key, value, version, due_at, forget_at";

pub(super) fn find_note(
    connection: &Connection,
    shelf: &str,
    key: &str,
) -> Result<Option<Note>, rusqlite::Error> {
    connection
        .prepare_cached(&format!("SELECT {COLUMNS} FROM notes WHERE shelf = ?1 AND key = ?2"))?
        .query_row(params![shelf, key], note_from_row)
        .optional()
}

pub(super) fn some(
    connection: &Connection,
    shelf: &str,
    prefix: &str,
    after: Option<&str>,
    limit: usize,
) -> Result<Vec<Note>, Failure> {
    // Keys are compared byte by byte, so what begins with the prefix lies in one stretch.
    let mut select = connection.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM notes WHERE shelf = ?1 AND key >= ?2 AND key < ?3 AND key > ?4 \
         ORDER BY key LIMIT ?5"
    ))?;
    let end = format!("{prefix}{}", char::MAX);
    let after = after.unwrap_or_default();
    let found =
        select.query_map(params![shelf, prefix, end, after, limit as i64], note_from_row)?;
    Ok(found.collect::<Result<_, _>>()?)
}

pub(super) fn due(
    connection: &Connection,
    shelf: &str,
    now: Timestamp,
    limit: usize,
) -> Result<Vec<Note>, Failure> {
    let mut select = connection.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM notes WHERE shelf = ?1 AND due_at <= ?2 ORDER BY due_at LIMIT ?3"
    ))?;
    let found = select.query_map(params![shelf, now.as_ms(), limit as i64], note_from_row)?;
    Ok(found.collect::<Result<_, _>>()?)
}

pub(super) fn next_due(connection: &Connection, shelf: &str) -> Result<Option<Timestamp>, Failure> {
    let first: Option<i64> = connection
        .prepare_cached("SELECT min(due_at) FROM notes WHERE shelf = ?1 AND due_at IS NOT NULL")?
        .query_row(params![shelf], |row| row.get(0))?;
    Ok(first.map(Timestamp::from_ms))
}

/// Whether they were written: all, or none because one was not as expected.
pub(super) fn put(connection: &Connection, puts: &[PutNote]) -> Result<bool, rusqlite::Error> {
    let mut version =
        connection.prepare_cached("SELECT version FROM notes WHERE shelf = ?1 AND key = ?2")?;
    for put in puts {
        let Some(expected) = put.expected else { continue };
        let found: Option<i64> =
            version.query_row(params![put.shelf, put.key], |row| row.get(0)).optional()?;
        // mutant: notes-check-then-act-in-sqlite
        if found.unwrap_or(0) as u64 != expected {
            return Ok(false);
        }
    }
    let mut write = connection.prepare_cached(
        "INSERT INTO notes (shelf, key, value, version, due_at, forget_at) \
         VALUES (?1, ?2, ?3, 1, ?4, ?5) \
         ON CONFLICT (shelf, key) DO UPDATE SET value = excluded.value, \
         version = version + 1, due_at = excluded.due_at, forget_at = excluded.forget_at",
    )?;
    let mut take = connection.prepare_cached("DELETE FROM notes WHERE shelf = ?1 AND key = ?2")?;
    for put in puts {
        match &put.value {
            None => take.execute(params![put.shelf, put.key])?,
            Some(value) => write.execute(params![
                put.shelf,
                put.key,
                value,
                put.due_at.map(Timestamp::as_ms),
                put.forget_at.map(Timestamp::as_ms),
            ])?,
        };
    }
    Ok(true)
}

/// Whether there may be more to forget.
pub(super) fn forget(connection: &Connection, now: Timestamp) -> Result<bool, rusqlite::Error> {
    let forgotten = connection
        .prepare_cached(
            "DELETE FROM notes WHERE (shelf, key) IN (SELECT shelf, key FROM notes \
             WHERE forget_at <= ?1 ORDER BY forget_at LIMIT ?2)",
        )?
        .execute(params![now.as_ms(), FORGET_MAX])?;
    Ok(forgotten as i64 == FORGET_MAX)
}

/// Whether there is anything to forget, seen without writing.
pub(super) fn any_to_forget(connection: &Connection, now: Timestamp) -> Result<bool, Failure> {
    let found = connection
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM notes WHERE forget_at <= ?1)")?
        .query_row(params![now.as_ms()], |row| row.get(0))?;
    Ok(found)
}

fn note_from_row(row: &Row<'_>) -> Result<Note, rusqlite::Error> {
    Ok(Note {
        shelf: row.get(0)?,
        key: row.get(1)?,
        value: row.get(2)?,
        version: row.get::<_, i64>(3)? as u64,
        due_at: row.get::<_, Option<i64>>(4)?.map(Timestamp::from_ms),
        forget_at: row.get::<_, Option<i64>>(5)?.map(Timestamp::from_ms),
    })
}
