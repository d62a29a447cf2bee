//! Notes: small records of doors and channels beside the journal.

use domain::time::Timestamp;
use ports::store::{Note, PutNote};
use tokio_postgres::{Client, Row};

use super::cells;
use super::error::PgFailure;
use super::limits::FORGET_MAX;
use super::sql::TypedSql;

const COLUMNS: &str = "shelf, key, value, version, due_at, forget_at";

fn select(rest: &str) -> TypedSql {
    TypedSql::new(format!("SELECT {COLUMNS} FROM holdpoint.notes WHERE shelf = $1 AND {rest}"))
}

pub(super) fn one(shelf: &str, key: &str) -> TypedSql {
    select("key = $2").with(cells::name(shelf)).with(cells::name(key))
}

pub(super) fn some(shelf: &str, prefix: &str, after: Option<&str>, limit: usize) -> TypedSql {
    // No text has this byte: what begins with the prefix lies in one stretch before it.
    let end = [prefix.as_bytes(), &[0xff]].concat();
    select("key >= $2 AND key < $3 AND key > $4 ORDER BY key LIMIT $5")
        .with(cells::name(shelf))
        .with(cells::name(prefix))
        .with(end)
        .with(cells::name(after.unwrap_or_default()))
        .with(limit as i64)
}

pub(super) fn due(shelf: &str, now: Timestamp, limit: usize) -> TypedSql {
    select("due_at <= $2 ORDER BY due_at, key LIMIT $3")
        .with(cells::name(shelf))
        .with(now.as_ms())
        .with(limit as i64)
}

pub(super) fn next_due(shelf: &str) -> TypedSql {
    TypedSql::new("SELECT min(due_at) FROM holdpoint.notes WHERE shelf = $1 AND due_at IS NOT NULL")
        .with(cells::name(shelf))
}

/// Whether they were written: all, or none because one was not as expected. In a transaction that has locked
/// the head of the journal.
pub(super) async fn put(client: &Client, puts: &[PutNote]) -> Result<bool, PgFailure> {
    for put in puts {
        let Some(expected) = put.expected else { continue };
        let found = one(&put.shelf, &put.key).row(client).await?;
        if found.map_or(0, |row| row.get::<_, i64>(3) as u64) != expected {
            return Ok(false);
        }
    }
    for put in puts {
        let write = match &put.value {
            None => TypedSql::new("DELETE FROM holdpoint.notes WHERE shelf = $1 AND key = $2")
                .with(cells::name(&put.shelf))
                .with(cells::name(&put.key)),
            Some(value) => TypedSql::new(
                "INSERT INTO holdpoint.notes (shelf, key, value, version, due_at, forget_at) \
                 VALUES ($1, $2, $3, 1, $4, $5) \
                 ON CONFLICT (shelf, key) DO UPDATE SET value = excluded.value, \
                     version = notes.version + 1, due_at = excluded.due_at, \
                     forget_at = excluded.forget_at",
            )
            .with(cells::name(&put.shelf))
            .with(cells::name(&put.key))
            .with(value.clone())
            .with(put.due_at.map(Timestamp::as_ms))
            .with(put.forget_at.map(Timestamp::as_ms)),
        };
        write.run(client).await?;
    }
    Ok(true)
}

/// Whether there may be more to forget.
pub(super) async fn forget(client: &Client, now: Timestamp) -> Result<bool, PgFailure> {
    let forgotten = TypedSql::new(
        "DELETE FROM holdpoint.notes WHERE (shelf, key) IN (SELECT shelf, key \
             FROM holdpoint.notes WHERE forget_at <= $1 ORDER BY forget_at LIMIT $2)",
    )
    .with(now.as_ms())
    .with(FORGET_MAX)
    .run(client)
    .await?;
    Ok(forgotten as i64 == FORGET_MAX)
}

pub(super) fn any_to_forget(now: Timestamp) -> TypedSql {
    TypedSql::new("SELECT EXISTS (SELECT 1 FROM holdpoint.notes WHERE forget_at <= $1)")
        .with(now.as_ms())
}

pub(super) fn read_note(row: &Row) -> Result<Note, PgFailure> {
    Ok(Note {
        shelf: cells::text(row.get(0))?.to_owned(),
        key: cells::text(row.get(1))?.to_owned(),
        value: row.get(2),
        version: row.get::<_, i64>(3) as u64,
        due_at: row.get::<_, Option<i64>>(4).map(Timestamp::from_ms),
        forget_at: row.get::<_, Option<i64>>(5).map(Timestamp::from_ms),
    })
}
