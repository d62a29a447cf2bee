//! Secrets that people gave. They are never part of a row of the journal, so no export has them.

use domain::id::{HoldId, SecretId, StreamId};
use domain::person::PersonId;
use domain::secret::{Sealed, SecretValue};
use domain::time::Timestamp;
use tokio_postgres::Row;

use super::cells;
use super::error::PgFailure;
use super::sql::TypedSql;
use crate::record::Broken;

pub(super) fn put(sealed: &[Sealed]) -> TypedSql {
    fn all<T>(sealed: &[Sealed], cell: impl Fn(&Sealed) -> T) -> Vec<T> {
        sealed.iter().map(cell).collect()
    }
    TypedSql::new(
        "INSERT INTO holdpoint.sealed (id, stream, hold, name, person, at, value) \
         SELECT * FROM unnest($1, $2, $3, $4, $5, $6, $7)",
    )
    .with(all(sealed, |one| cells::id(one.id.0)))
    .with(all(sealed, |one| cells::stream(one.scope)))
    .with(all(sealed, |one| cells::id(one.hold.0)))
    .with(all(sealed, |one| cells::name(&one.name)))
    .with(all(sealed, |one| cells::name(one.by.as_str())))
    .with(all(sealed, |one| one.at.as_ms()))
    .with(all(sealed, |one| one.value.expose().to_string().into_bytes()))
}

pub(super) fn of_stream(scope: StreamId) -> TypedSql {
    TypedSql::new(
        "SELECT id, hold, name, person, at, value FROM holdpoint.sealed WHERE stream = $1 ORDER BY id",
    )
    .with(cells::stream(scope))
}

pub(super) fn read_sealed(scope: StreamId, row: &Row) -> Result<Sealed, PgFailure> {
    // What is wrong with it is told without a word of what it says.
    let value = serde_json::from_slice(row.get(5))
        .map_err(|_| Broken::Damaged("a secret cannot be read".into()))?;
    Ok(Sealed {
        id: SecretId(cells::bits(row.get(0))?),
        scope,
        hold: HoldId(cells::bits(row.get(1))?),
        name: cells::text(row.get(2))?.to_owned(),
        by: PersonId::new(cells::text(row.get(3))?),
        at: Timestamp::from_ms(row.get(4)),
        value: SecretValue::new(value),
    })
}
