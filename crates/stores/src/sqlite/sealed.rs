//! Secrets that people gave, and tokens. They are never part of a row of the journal, so no export has them; and what is
//! written here is sealed.

use domain::id::{HoldId, SecretId, StreamId};
use domain::person::PersonId;
use domain::time::Timestamp;
use rusqlite::{Connection, params};

use super::columns;
use super::error::Failure;
use crate::sealing::{SealedRow, SecretLabel, StoredSecret};

pub(super) fn put(connection: &Connection, rows: &[SealedRow]) -> Result<(), rusqlite::Error> {
    let mut insert = connection.prepare_cached(
        "INSERT INTO sealed (id, stream, hold, name, person, at, value) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?;
    for row in rows {
        let label = row.label();
        insert.execute(params![
            columns::id(label.id.0),
            columns::stream(label.scope),
            columns::id(label.hold.0),
            label.name,
            label.by.as_str(),
            label.at.as_ms(),
            row.value(),
        ])?;
    }
    Ok(())
}

/// The same secret, sealed by another key.
pub(super) fn replace(connection: &Connection, row: &SealedRow) -> Result<(), rusqlite::Error> {
    connection
        .prepare_cached("UPDATE sealed SET value = ?2 WHERE id = ?1")?
        .execute(params![columns::id(row.label().id.0), row.value()])
        .map(drop)
}

pub(super) fn forget(connection: &Connection, ids: &[SecretId]) -> Result<(), rusqlite::Error> {
    let mut delete = connection.prepare_cached("DELETE FROM sealed WHERE id = ?1")?;
    for id in ids {
        delete.execute(params![columns::id(id.0)])?;
    }
    Ok(())
}

pub(super) fn stored_of_stream(
    connection: &Connection,
    scope: StreamId,
) -> Result<Vec<StoredSecret>, Failure> {
    let mut select = connection.prepare_cached(
        "SELECT id, hold, name, person, at, stream, value FROM sealed WHERE stream = ?1 ORDER BY id",
    )?;
    let mut rows = select.query(params![columns::stream(scope)])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(StoredSecret { label: label(row)?, value: row.get_ref(6)?.as_blob()?.to_vec() });
    }
    Ok(found)
}

/// From the columns `id, hold, name, person, at, stream`.
pub(super) fn label(row: &rusqlite::Row<'_>) -> Result<SecretLabel, Failure> {
    Ok(SecretLabel {
        id: SecretId(columns::bits(row.get_ref(0)?.as_blob().unwrap_or_default())?),
        scope: columns::stream_of(row.get_ref(5)?.as_blob().unwrap_or_default())?,
        hold: HoldId(columns::bits(row.get_ref(1)?.as_blob().unwrap_or_default())?),
        name: row.get(2)?,
        by: PersonId::new(row.get_ref(3)?.as_str().unwrap_or_default()),
        at: Timestamp::from_ms(row.get(4)?),
    })
}
