//! Secrets that people gave. They are never part of a row of the journal, so no export has them.

use domain::id::{HoldId, SecretId, StreamId};
use domain::person::PersonId;
use domain::secret::{Sealed, SecretValue};
use domain::time::Timestamp;
use rusqlite::{Connection, params};

use super::columns;
use super::error::Failure;
use crate::record::Broken;

pub(super) fn put(connection: &Connection, sealed: &[Sealed]) -> Result<(), rusqlite::Error> {
    let mut insert = connection.prepare_cached(
        "INSERT INTO sealed (id, stream, hold, name, person, at, value) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?;
    for one in sealed {
        insert.execute(params![
            columns::id(one.id.0),
            columns::stream(one.scope),
            columns::id(one.hold.0),
            one.name,
            one.by.as_str(),
            one.at.as_ms(),
            one.value.expose().to_string(),
        ])?;
    }
    Ok(())
}

pub(super) fn forget(connection: &Connection, ids: &[SecretId]) -> Result<(), rusqlite::Error> {
    let mut delete = connection.prepare_cached("DELETE FROM sealed WHERE id = ?1")?;
    for id in ids {
        delete.execute(params![columns::id(id.0)])?;
    }
    Ok(())
}

pub(super) fn sealed_of_stream(
    connection: &Connection,
    scope: StreamId,
) -> Result<Vec<Sealed>, Failure> {
    let mut select = connection.prepare_cached(
        "SELECT id, hold, name, person, at, value FROM sealed WHERE stream = ?1 ORDER BY id",
    )?;
    let mut rows = select.query(params![columns::stream(scope)])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        // What is wrong with it is told without a word of what it says.
        let value = serde_json::from_str(row.get_ref(5)?.as_str().unwrap_or_default())
            .map_err(|_| Broken::Damaged("a secret cannot be read".into()))?;
        found.push(Sealed {
            id: SecretId(columns::bits(row.get_ref(0)?.as_blob().unwrap_or_default())?),
            scope,
            hold: HoldId(columns::bits(row.get_ref(1)?.as_blob().unwrap_or_default())?),
            name: row.get(2)?,
            by: PersonId::new(row.get_ref(3)?.as_str().unwrap_or_default()),
            at: Timestamp::from_ms(row.get(4)?),
            value: SecretValue::new(value),
        });
    }
    Ok(found)
}
