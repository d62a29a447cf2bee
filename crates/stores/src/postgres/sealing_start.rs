//! What is done about sealing before this node reads or writes: what lies in the clear from before is sealed, and what
//! another key sealed is sealed anew.
//!
//! All nodes are told the same keys. A node without one seals nothing; one that lacks a key that is in use does not
//! start. No key is ever made here: nodes that make one each could not read one another.

use domain::secret::SecretValue;

use super::address::PgAddress;
use super::connection::{PgConnection, begin};
use super::error::{PgFailure, PgOpenError};
use super::sealed;
use super::sql::TypedSql;
use crate::record::Broken;
use crate::sealing::{KEY_ID_PLACE, Sealer, SealingKeyId, SealingKeys, lacking};

/// The version of the tables from which on secrets are sealed.
const SEALED_SINCE: i64 = 2;

/// Before the tables are changed: without a key there is no way on from a database with secrets in the clear, and the
/// version that wrote them must still be able to read them.
pub(super) async fn refuse_clear(
    connection: &PgConnection,
    keys: Option<&SealingKeys>,
) -> Result<Result<(), PgOpenError>, PgFailure> {
    if keys.is_some() {
        return Ok(Ok(()));
    }
    let client = &connection.client;
    let there = TypedSql::new("SELECT to_regclass('holdpoint.sealed') IS NOT NULL");
    if !there.row(client).await?.is_some_and(|row| row.get::<_, bool>(0)) {
        return Ok(Ok(()));
    }
    let version = TypedSql::new("SELECT number FROM holdpoint.meta WHERE key = 'schema'");
    let version: i64 = version.row(client).await?.map_or(0, |row| row.get(0));
    // A start that stopped between the tables and their sealing leaves the second one.
    let table = if version < SEALED_SINCE { "holdpoint.sealed" } else { "holdpoint.clear_secrets" };
    let clear = TypedSql::new(format!("SELECT count(*) FROM {table}"));
    let clear: i64 = clear.row(client).await?.map_or(0, |row| row.get(0));
    if clear == 0 {
        return Ok(Ok(()));
    }
    let why = format!(
        "{clear} of them lie there in the clear, from before they were sealed; set `sealing_key_file` under `[store]`, to \
         the same key on all nodes. Nothing was changed"
    );
    Ok(Err(PgOpenError::SealingKey { why }))
}

pub(super) async fn sealer(
    address: &PgAddress,
    connection: &PgConnection,
    keys: Option<SealingKeys>,
) -> Result<Sealer, PgOpenError> {
    let sealer = Sealer::new(keys);
    check_keys(address, connection, &sealer).await?;
    if sealer.keys().is_some() {
        let sealed = seal_all(connection, &sealer).await;
        // After an error the transaction is void in any case.
        let ended = match &sealed {
            Ok(None) => connection.commit().await,
            Ok(Some(_)) | Err(_) => connection.roll_back().await,
        };
        let failed = |failure| PgOpenError::of(address, failure);
        let lacked = sealed.map_err(failed)?;
        ended.map_err(failed)?;
        if let Some(id) = lacked {
            let why = format!("`sealing_key_file` under `[store]` lacks {}", lacking(&[id]));
            return Err(PgOpenError::SealingKey { why });
        }
    }
    Ok(sealer)
}

/// A node that could not open what is there must not work on it.
pub(super) async fn check_keys(
    address: &PgAddress,
    connection: &PgConnection,
    sealer: &Sealer,
) -> Result<(), PgOpenError> {
    let needed = needed_keys(connection).await;
    let lacks = sealer.lacks(&needed.map_err(|failure| PgOpenError::of(address, failure))?);
    if lacks.is_empty() {
        return Ok(());
    }
    let given = if sealer.keys().is_some() { "lacks" } else { "is not set, and would need" };
    let why = format!("`sealing_key_file` under `[store]` {given} {}", lacking(&lacks));
    Err(PgOpenError::SealingKey { why })
}

async fn needed_keys(connection: &PgConnection) -> Result<Vec<SealingKeyId>, PgFailure> {
    let (first, count) = KEY_ID_PLACE;
    let sql =
        format!("SELECT DISTINCT substr(value, {first}, {count}) FROM holdpoint.sealed ORDER BY 1");
    let rows = TypedSql::new(sql).rows(&connection.client).await?;
    // A value that is too short to name a key is found when it is read.
    Ok(rows.iter().filter_map(|row| SealingKeyId::read(row.get(0))).collect())
}

/// Which key is missing here, if one is.
async fn seal_all(
    connection: &PgConnection,
    sealer: &Sealer,
) -> Result<Option<SealingKeyId>, PgFailure> {
    let client = &connection.client;
    client.batch_execute(&begin()).await?;
    if let Some(missing) = agree_on_key(connection, sealer).await? {
        return Ok(Some(missing));
    }
    // Looked at first: the lock waits for a `pg_dump` that is under way, and only one start ever needs it.
    let size = TypedSql::new("SELECT pg_relation_size('holdpoint.clear_secrets')");
    if size.row(client).await?.is_none_or(|row| row.get::<_, i64>(0) > 0) {
        seal_clear(connection, sealer).await?;
    }
    reseal(connection, sealer).await?;
    Ok(None)
}

/// The database remembers with which key its nodes seal, also while nothing is sealed: a node with another one does not
/// start. One that has both gives the first of its own from here on.
async fn agree_on_key(
    connection: &PgConnection,
    sealer: &Sealer,
) -> Result<Option<SealingKeyId>, PgFailure> {
    let Some(keys) = sealer.keys() else { return Ok(None) };
    let (client, own) = (&connection.client, keys.sealing());
    let number = i64::from_be_bytes(*own.bytes());
    TypedSql::new(
        "INSERT INTO holdpoint.meta (key, number) VALUES ('sealing_key', $1) ON CONFLICT DO NOTHING",
    )
    .with(number)
    .run(client)
    .await?;
    // Another node that starts waits here until this one has sealed what there is.
    let agreed =
        TypedSql::new("SELECT number FROM holdpoint.meta WHERE key = 'sealing_key' FOR UPDATE");
    let agreed: i64 = agreed.row(client).await?.map_or(number, |row| row.get(0));
    let missing = SealingKeyId::read(&agreed.to_be_bytes())
        .filter(|agreed| !sealer.lacks(&[*agreed]).is_empty());
    if missing.is_none() && agreed != number {
        TypedSql::new("UPDATE holdpoint.meta SET number = $1 WHERE key = 'sealing_key'")
            .with(number)
            .run(client)
            .await?;
    }
    Ok(missing)
}

/// One node at a time. Truncating gives the table's file up, with all that was ever deleted from it.
async fn seal_clear(connection: &PgConnection, sealer: &Sealer) -> Result<(), PgFailure> {
    let client = &connection.client;
    client.batch_execute("LOCK TABLE holdpoint.clear_secrets IN ACCESS EXCLUSIVE MODE").await?;
    let columns = "SELECT id, hold, name, person, at, stream, value FROM";
    let rows = TypedSql::new(format!("{columns} holdpoint.clear_secrets")).rows(client).await?;
    let mut clear = Vec::new();
    for row in &rows {
        // What is wrong with it is told without a word of what it says.
        let value = serde_json::from_slice(row.get(6))
            .map_err(|_| Broken::Damaged("a secret cannot be read".into()))?;
        clear.push(sealed::read_label(row)?.with(SecretValue::new(value)));
    }
    if !clear.is_empty() {
        let rows = sealer.seal(&clear).map_err(|error| Broken::Damaged(error.to_string()))?;
        sealed::put(&rows).run(client).await?;
        tracing::info!(count = clear.len(), "secrets that were stored in the clear are sealed now");
    }
    client.batch_execute("TRUNCATE holdpoint.clear_secrets").await?;
    Ok(())
}

async fn reseal(connection: &PgConnection, sealer: &Sealer) -> Result<(), PgFailure> {
    let Some(keys) = sealer.keys() else { return Ok(()) };
    let client = &connection.client;
    let (first, count) = KEY_ID_PLACE;
    let rows = TypedSql::new(format!(
        "SELECT id, hold, name, person, at, stream, value FROM holdpoint.sealed \
         WHERE substr(value, {first}, {count}) <> $1"
    ))
    .with(keys.sealing().bytes().to_vec());
    let mut count = 0;
    for row in &rows.rows(client).await? {
        let was: Vec<u8> = row.get(6);
        match sealer.reseal(sealed::read_stored(row)?) {
            Ok(Some(row)) => count += sealed::replace(&row, &was).run(client).await?,
            Ok(None) => {}
            // It stays as it is, and whoever needs it is told.
            Err(error) => tracing::error!(%error, "a sealed secret could not be given the new key"),
        }
    }
    if count > 0 {
        tracing::info!(count, "secrets are sealed by the new key");
    }
    Ok(())
}
