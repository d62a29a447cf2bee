//! Secrets that people gave, and tokens. They are never part of a row of the journal, so no export has them; and what is
//! written here is sealed.

use domain::id::{HoldId, SecretId, SessionId, StreamId};
use domain::person::PersonId;
use domain::time::Timestamp;
use tokio_postgres::Row;

use super::cells;
use super::error::PgFailure;
use super::sql::TypedSql;
use crate::record::Broken;
use crate::sealing::{SealedRow, SecretLabel, StoredSecret};

pub(super) fn put(rows: &[SealedRow]) -> TypedSql {
    fn all<T>(rows: &[SealedRow], cell: impl Fn(&SealedRow) -> T) -> Vec<T> {
        rows.iter().map(cell).collect()
    }
    TypedSql::new(
        "INSERT INTO holdpoint.sealed (id, stream, hold, name, person, at, value) \
         SELECT * FROM unnest($1, $2, $3, $4, $5, $6, $7)",
    )
    .with(all(rows, |row| cells::id(row.label().id.0)))
    .with(all(rows, |row| cells::stream(row.label().scope)))
    .with(all(rows, |row| cells::id(row.label().hold.0)))
    .with(all(rows, |row| cells::name(&row.label().name)))
    .with(all(rows, |row| cells::name(row.label().by.as_str())))
    .with(all(rows, |row| row.label().at.as_ms()))
    .with(all(rows, |row| row.value().to_vec()))
}

/// The same secret, sealed by another key. `was` is what stands there: another node may be faster.
pub(super) fn replace(row: &SealedRow, was: &[u8]) -> TypedSql {
    TypedSql::new("UPDATE holdpoint.sealed SET value = $2 WHERE id = $1 AND value = $3")
        .with(cells::id(row.label().id.0))
        .with(row.value().to_vec())
        .with(was.to_vec())
}

pub(super) fn of_stream(scope: StreamId) -> TypedSql {
    TypedSql::new(
        "SELECT id, hold, name, person, at, stream, value FROM holdpoint.sealed \
         WHERE stream = $1 ORDER BY id",
    )
    .with(cells::stream(scope))
}

/// From the columns `id, hold, name, person, at, stream, value`.
pub(super) fn read_stored(row: &Row) -> Result<StoredSecret, PgFailure> {
    Ok(StoredSecret { label: read_label(row)?, value: row.get(6) })
}

pub(super) fn read_label(row: &Row) -> Result<SecretLabel, PgFailure> {
    Ok(SecretLabel {
        id: SecretId(cells::bits(row.get(0))?),
        scope: scope(row.get(5))?,
        hold: HoldId(cells::bits(row.get(1))?),
        name: cells::text(row.get(2))?.to_owned(),
        by: PersonId::new(cells::text(row.get(3))?),
        at: Timestamp::from_ms(row.get(4)),
    })
}

fn scope(cell: &[u8]) -> Result<StreamId, Broken> {
    match cell.split_first() {
        Some((b's', id)) => Ok(StreamId::Session(SessionId(cells::bits(id)?))),
        Some((b'h', id)) => Ok(StreamId::ExternalHold(HoldId(cells::bits(id)?))),
        Some((b'H', [])) => Ok(StreamId::Global),
        _ => Err(Broken::Damaged("a stream has no known name".into())),
    }
}
