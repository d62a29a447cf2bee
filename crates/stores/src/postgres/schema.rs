//! The tables, and how they came to be as they are. Old migrations are never edited.

use super::address::PgAddress;
use super::connection::{PgConnection, begin};
use super::error::{PgFailure, PgOpenError};
use super::sql::TypedSql;

const MIGRATIONS: [&str; 2] =
    [include_str!("migrations/0001_begin.sql"), include_str!("migrations/0002_sealed_values.sql")];

pub(super) const SCHEMA_VERSION: i64 = MIGRATIONS.len() as i64;

/// One node at a time looks whether there is anything to do. The number is ours alone: "holdpoin" in ASCII.
const LOCK: i64 = 0x686f_6c64_706f_696e;

/// Makes the tables what this version needs, in one transaction: all of it happens, or nothing.
pub(super) async fn migrate(
    address: &PgAddress,
    connection: &PgConnection,
) -> Result<(), PgOpenError> {
    let migrated = try_migrate(connection).await;
    // After an error the transaction is void in any case.
    let ended = match &migrated {
        Ok(MigrationResult::Made) => connection.commit().await,
        _ => connection.roll_back().await,
    };
    match migrated.and_then(|made| ended.map(|()| made)) {
        Ok(MigrationResult::Newer(found)) => {
            Err(PgOpenError::Newer { place: address.to_string(), found, known: SCHEMA_VERSION })
        }
        Ok(MigrationResult::Made | MigrationResult::Current) => Ok(()),
        Err(failure) => Err(PgOpenError::of(address, failure)),
    }
}

enum MigrationResult {
    Made,
    Current,
    Newer(i64),
}

async fn try_migrate(connection: &PgConnection) -> Result<MigrationResult, PgFailure> {
    let client = &connection.client;
    client.batch_execute(&begin()).await?;
    TypedSql::new("SELECT pg_advisory_xact_lock($1)").with(LOCK).rows(client).await?;
    let there = TypedSql::new("SELECT to_regclass('holdpoint.meta') IS NOT NULL");
    let is_there: bool = there.row(client).await?.is_some_and(|row| row.get(0));
    let mut version = 0;
    if is_there {
        let found = TypedSql::new("SELECT number FROM holdpoint.meta WHERE key = 'schema'");
        version = found.row(client).await?.map_or(0, |row| row.get(0));
    }
    if version > SCHEMA_VERSION {
        return Ok(MigrationResult::Newer(version));
    }
    if version == SCHEMA_VERSION {
        return Ok(MigrationResult::Current);
    }
    if !is_there {
        client
            .batch_execute(
                "CREATE SCHEMA IF NOT EXISTS holdpoint; \
                 CREATE TABLE holdpoint.meta (key text PRIMARY KEY, number bigint, value bytea)",
            )
            .await?;
    }
    for migration in MIGRATIONS.iter().skip(usize::try_from(version).unwrap_or_default()) {
        client.batch_execute(migration).await?;
    }
    TypedSql::new(
        "INSERT INTO holdpoint.meta (key, number) VALUES ('schema', $1) \
         ON CONFLICT (key) DO UPDATE SET number = excluded.number",
    )
    .with(SCHEMA_VERSION)
    .run(client)
    .await?;
    Ok(MigrationResult::Made)
}
