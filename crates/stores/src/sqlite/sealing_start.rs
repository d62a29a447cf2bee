//! What is done about sealing before anybody reads or writes: the key is found, what lies in the clear from before is
//! sealed, and what another key sealed is sealed anew.
//!
//! A key is made only where nothing is sealed yet. A start with a key too few ends here, and leaves all as it is.

use std::path::Path;

use domain::secret::SecretValue;
use ports::store::StoreError;
use rusqlite::{Connection, OptionalExtension as _};

use super::directory::{Directory, OpenError};
use super::error::Failure;
use super::sealed;
use crate::record::Broken;
use crate::sealing::{KEY_ID_PLACE, Sealer, SealingKeyId, SealingKeys, StoredSecret, lacking};

const COLUMNS: &str = "SELECT id, hold, name, person, at, stream, value FROM";

pub(super) fn sealer(
    directory: &Directory,
    connection: &Connection,
    is_new: bool,
    configured: Option<&SealingKeys>,
) -> Result<Sealer, OpenError> {
    let database = directory.database();
    let failed = |failure: Failure| match failure {
        Failure::Sqlite(error) => OpenError::sqlite(&database, &error),
        Failure::Broken(_) => damaged(&database, failure.into()),
    };
    let needed = needed_keys(connection).map_err(failed)?;
    let file = directory.sealing_key();
    let keys = match configured {
        Some(keys) => keys.clone(),
        None => directory.sealing_keys(&needed)?,
    };
    let sealer = Sealer::new(Some(keys));
    let lacks = sealer.lacks(&needed);
    if !lacks.is_empty() {
        let place = match configured {
            Some(_) => "the configured key file".to_owned(),
            None => file.display().to_string(),
        };
        let why = format!("{place} lacks {}", lacking(&lacks));
        return Err(OpenError::SealingKey { why });
    }
    let sealed = in_transaction(connection, || {
        if is_new {
            // The migrations made it, and nothing was ever in it.
            connection.execute_batch("DROP TABLE clear_secrets")?;
            return Ok(false);
        }
        Ok(seal_clear(connection, &sealer)? | reseal(connection, &sealer)?)
    });
    if sealed.map_err(|failure| match failure {
        SealingFailure::Sqlite(failure) => failed(failure),
        SealingFailure::Store(error) => damaged(&database, error),
    })? {
        scrub(connection);
    }
    Ok(sealer)
}

fn damaged(database: &Path, error: StoreError) -> OpenError {
    OpenError::Damaged { path: database.to_owned(), why: error.to_string() }
}

enum SealingFailure {
    Sqlite(Failure),
    Store(StoreError),
}

impl<E: Into<Failure>> From<E> for SealingFailure {
    fn from(error: E) -> SealingFailure {
        SealingFailure::Sqlite(error.into())
    }
}

/// All of it happens, or nothing.
fn in_transaction(
    connection: &Connection,
    steps: impl FnOnce() -> Result<bool, SealingFailure>,
) -> Result<bool, SealingFailure> {
    connection.execute_batch("BEGIN IMMEDIATE")?;
    let done = steps().and_then(|done| {
        connection.execute_batch("COMMIT")?;
        Ok(done)
    });
    done.inspect_err(|_| {
        // The first error is the one to tell; a failed rollback ends with the connection.
        let _ = connection.execute_batch("ROLLBACK");
    })
}

fn needed_keys(connection: &Connection) -> Result<Vec<SealingKeyId>, Failure> {
    let (first, count) = KEY_ID_PLACE;
    let sql = format!("SELECT DISTINCT substr(value, {first}, {count}) FROM sealed ORDER BY 1");
    let mut select = connection.prepare(&sql)?;
    let mut rows = select.query([])?;
    let mut needed = Vec::new();
    while let Some(row) = rows.next()? {
        // A value that is too short to name a key is found when it is read.
        needed.extend(SealingKeyId::read(row.get_ref(0)?.as_blob()?));
    }
    Ok(needed)
}

/// Whether the table is still there: empty or not, what stood in it may lie about in the file.
fn seal_clear(connection: &Connection, sealer: &Sealer) -> Result<bool, SealingFailure> {
    let there = connection
        .query_row("SELECT 1 FROM sqlite_schema WHERE name = 'clear_secrets'", [], |_| Ok(()))
        .optional()?;
    if there.is_none() {
        return Ok(false);
    }
    let mut clear = Vec::new();
    {
        let mut select = connection.prepare(&format!("{COLUMNS} clear_secrets"))?;
        let mut rows = select.query([])?;
        while let Some(row) = rows.next()? {
            let label = sealed::label(row)?;
            // What is wrong with it is told without a word of what it says.
            let value = serde_json::from_str(row.get_ref(6)?.as_str().unwrap_or_default())
                .map_err(|_| Failure::from(Broken::Damaged("a secret cannot be read".into())))?;
            clear.push(label.with(SecretValue::new(value)));
        }
    }
    let rows = sealer.seal(&clear).map_err(SealingFailure::Store)?;
    sealed::put(connection, &rows)?;
    connection.execute("DELETE FROM clear_secrets", [])?;
    if !clear.is_empty() {
        tracing::info!(count = clear.len(), "secrets that were stored in the clear are sealed now");
    }
    Ok(true)
}

fn reseal(connection: &Connection, sealer: &Sealer) -> Result<bool, SealingFailure> {
    let Some(keys) = sealer.keys() else { return Ok(false) };
    let (first, count) = KEY_ID_PLACE;
    let mut stored = Vec::new();
    {
        let mut select = connection
            .prepare(&format!("{COLUMNS} sealed WHERE substr(value, {first}, {count}) <> ?1"))?;
        let mut rows = select.query([keys.sealing().bytes()])?;
        while let Some(row) = rows.next()? {
            let value = row.get_ref(6)?.as_blob()?.to_vec();
            stored.push(StoredSecret { label: sealed::label(row)?, value });
        }
    }
    let mut count = 0;
    for secret in stored {
        match sealer.reseal(secret) {
            Ok(Some(row)) => {
                sealed::replace(connection, &row)?;
                count += 1;
            }
            Ok(None) => {}
            // It stays as it is, and whoever needs it is told.
            Err(error) => tracing::error!(%error, "a sealed secret could not be given the new key"),
        }
    }
    if count > 0 {
        tracing::info!(count, "secrets are sealed by the new key");
    }
    Ok(count > 0)
}

/// Overwrites what was deleted: free pages of the file, and its log. What cannot be done now (the disk is full, a backup
/// holds on to the log) is done at the next start, as long as the table of clear secrets is there.
fn scrub(connection: &Connection) {
    let scrubbed = || {
        // The rebuilt copy lies in a temporary file and not in memory, where a large one would end this start and every
        // later one. Without a place for such a file it fails, and is told.
        connection.pragma_update(None, "temp_store", "FILE")?;
        let rebuilt = connection.execute_batch("VACUUM");
        connection.pragma_update(None, "temp_store", "MEMORY")?;
        // Also after a failure, which leaves a long log behind.
        let is_busy = connection
            .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, bool>(0))?;
        rebuilt?;
        if !is_busy {
            connection.execute_batch("DROP TABLE IF EXISTS clear_secrets")?;
        }
        Ok::<_, rusqlite::Error>(is_busy)
    };
    match scrubbed() {
        Ok(false) => {}
        Ok(true) => tracing::warn!(
            "another program reads the database: what lay in the clear is overwritten at the next start"
        ),
        Err(error) => tracing::warn!(
            %error,
            "what lay in the clear could not be overwritten in the database file; the next start tries again"
        ),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;
    use std::sync::Arc;

    use domain::id::{HoldId, SecretId, StreamId};
    use domain::person::PersonId;
    use domain::secret::Sealed;
    use domain::time::Timestamp;
    use ports::store::Store as _;
    use serde_json::json;

    use super::super::{SqliteOptions, SqliteStore, schema};
    use super::*;
    use crate::conformance::stage::node;

    const CANARY: &str = "Kanarie-93";

    fn secret(number: u128) -> Sealed {
        Sealed {
            id: SecretId::new(7, number),
            scope: StreamId::Global,
            hold: HoldId::new(7, 3),
            name: format!("mcp.oauth/{number}"),
            by: PersonId::new("ana"),
            at: Timestamp::from_ms(5),
            value: SecretValue::new(json!({"token": format!("{CANARY}{number}")})),
        }
    }

    fn key(number: u8) -> String {
        format!("{number:064x}\n")
    }

    fn options(keys: &str) -> SqliteOptions {
        let sealing_keys = Some(SealingKeys::parse(keys).unwrap());
        SqliteOptions { sealing_keys, ..SqliteOptions::default() }
    }

    fn refused(opened: Result<Arc<SqliteStore>, OpenError>) -> String {
        let error = opened.unwrap_err();
        assert!(matches!(error, OpenError::SealingKey { .. }), "{error:?}");
        error.to_string()
    }

    /// Whether any file there has it.
    fn tells(folder: &Path) -> bool {
        let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let mut texts = files.filter(|path| path.is_file()).map(|path| fs::read(path).unwrap());
        texts.any(|text| text.windows(CANARY.len()).any(|window| window == CANARY.as_bytes()))
    }

    fn copy_database(from: &Path, to: &Path) {
        for name in ["holdpoint.db", "holdpoint.db-wal", "audit.key"] {
            // The log is there only while the database is open.
            drop(fs::copy(from.join(name), to.join(name)));
        }
    }

    #[tokio::test]
    async fn i45_a_copy_of_the_database_gives_no_secret_away() {
        let (data, copy) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let store = SqliteStore::open(data.path(), node(1)).unwrap();
        store.seal(vec![secret(1), secret(2)]).await.unwrap();
        store.forget_sealed(&[secret(2).id]).await.unwrap();
        assert!(fs::metadata(data.path().join("holdpoint.db-wal")).unwrap().len() > 0);
        assert!(!tells(data.path()), "while it is open");
        let connection = Connection::open(data.path().join("holdpoint.db")).unwrap();
        connection.execute("VACUUM INTO ?1", [copy.path().join("copy").to_str().unwrap()]).unwrap();
        assert!(!tells(copy.path()), "a copy");
        drop(connection);
        assert_eq!(store.sealed(StreamId::Global).await.unwrap(), [secret(1)]);
        store.close().await;
        assert!(!tells(data.path()), "when it is closed");
    }

    #[tokio::test]
    async fn the_key_is_made_once_outside_of_the_database_and_asked_for_when_it_is_gone() {
        let (data, copy) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let store = SqliteStore::open(data.path(), node(1)).unwrap();
        store.seal(vec![secret(1)]).await.unwrap();
        store.close().await;
        let file = data.path().join("sealing.key");
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        let text = fs::read_to_string(&file).unwrap();
        let id = SealingKeys::parse(&text).unwrap().sealing().to_string();

        copy_database(data.path(), copy.path());
        for _ in 0..2 {
            let said = refused(SqliteStore::open(copy.path(), node(2)));
            assert!(said.contains(&id) && said.contains("sealing.key"), "{said}");
            assert!(!copy.path().join("sealing.key").exists(), "none is made in its place");
        }
        fs::write(copy.path().join("sealing.key"), key(9)).unwrap();
        let said = refused(SqliteStore::open(copy.path(), node(2)));
        assert!(said.contains(&id), "{said}");
        assert!(!said.contains(text.trim()), "{said}");
        fs::write(copy.path().join("sealing.key"), "no key\n").unwrap();
        let said = refused(SqliteStore::open(copy.path(), node(2)));
        assert!(said.contains("line 1"), "{said}");
        assert_eq!(fs::read(copy.path().join("sealing.key")).unwrap(), b"no key\n");
        fs::copy(&file, copy.path().join("sealing.key")).unwrap();
        let store = SqliteStore::open(copy.path(), node(2)).unwrap();
        assert_eq!(store.sealed(StreamId::Global).await.unwrap(), [secret(1)], "nothing was lost");
    }

    #[tokio::test]
    async fn a_changed_key_seals_all_anew_and_the_old_one_can_go() {
        let data = tempfile::tempdir().unwrap();
        let open = |keys: &str| SqliteStore::open_with(data.path(), node(1), &options(keys));
        let store = open(&key(1)).unwrap();
        store.seal(vec![secret(1)]).await.unwrap();
        store.close().await;
        refused(open(&key(2)));
        let store = open(&(key(2) + &key(1))).unwrap();
        store.seal(vec![secret(2)]).await.unwrap();
        store.close().await;
        refused(open(&key(1)));
        let store = open(&key(2)).unwrap();
        assert_eq!(store.sealed(StreamId::Global).await.unwrap(), [secret(1), secret(2)]);
        assert!(!data.path().join("sealing.key").exists(), "a configured key is the only one");
    }

    #[tokio::test]
    async fn i45_a_value_in_the_place_of_another_is_not_taken_for_it() {
        let data = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(data.path(), node(1)).unwrap();
        store.seal(vec![secret(1), secret(2)]).await.unwrap();
        let file = Connection::open(data.path().join("holdpoint.db")).unwrap();
        file.execute_batch(
            "UPDATE sealed SET value = (SELECT value FROM sealed ORDER BY id LIMIT 1)",
        )
        .unwrap();
        let refused = store.sealed(StreamId::Global).await.unwrap_err();
        assert!(matches!(refused, StoreError::Unreadable(_)), "{refused}");
    }

    /// As a program did that knew nothing of sealing, or one with a mistake in it.
    #[tokio::test]
    async fn i45_the_table_takes_no_secret_in_the_clear() {
        let data = tempfile::tempdir().unwrap();
        drop(SqliteStore::open(data.path(), node(1)).unwrap());
        let file = Connection::open(data.path().join("holdpoint.db")).unwrap();
        for value in ["'\"hunter2\"'", "x'2268756e7465723222'", "'7'", "x''", "' 7'", "x'0a37'"] {
            let sql = format!(
                "INSERT INTO sealed (id, stream, hold, name, person, at, value) \
                 VALUES (x'01', x'48', x'01', 'n', 'p', 1, {value})"
            );
            let error = file.execute(&sql, []).expect_err(value).to_string();
            assert!(error.contains("constraint") || error.contains("cannot store"), "{error}");
        }
    }

    /// Data of the version before sealing: one secret, and one that was forgotten but lies in a free page.
    fn data_from_before(folder: &Path) {
        let connection = Connection::open(folder.join("holdpoint.db")).unwrap();
        connection.pragma_update(None, "journal_mode", "WAL").unwrap();
        schema::migrate_to(&connection, 12).unwrap();
        for number in [1, 2] {
            let secret = secret(number);
            let sql = "INSERT INTO sealed (id, stream, hold, name, person, at, value) \
                       VALUES (?1, x'48', ?2, ?3, 'ana', 5, ?4)";
            let ids = [secret.id.0, secret.hold.0].map(|bits| bits.0.to_be_bytes());
            let value = secret.value.expose().to_string();
            connection.execute(sql, (ids[0], ids[1], secret.name, value)).unwrap();
        }
        let second = secret(2).id.0.0.to_be_bytes();
        connection.execute("DELETE FROM sealed WHERE id = ?1", [second]).unwrap();
    }

    #[tokio::test]
    async fn i45_what_lay_in_the_clear_is_sealed_at_the_first_start() {
        let data = tempfile::tempdir().unwrap();
        data_from_before(data.path());
        assert!(tells(data.path()), "the test has something to find");
        let count = || fs::read_dir(data.path()).unwrap().count();
        let files = count();
        assert!(SqliteStore::is_outdated(data.path()).unwrap());
        assert_eq!(count(), files, "asking makes no key and no other file");
        let store = SqliteStore::open(data.path(), node(1)).unwrap();
        assert_eq!(store.sealed(StreamId::Global).await.unwrap(), [secret(1)]);
        assert!(!tells(data.path()), "while it is open");
        store.close().await;
        assert!(!tells(data.path()), "when it is closed");
        assert!(!SqliteStore::is_outdated(data.path()).unwrap());
    }

    /// A backup that holds on to the log, and then a second start.
    #[tokio::test]
    async fn i45_what_could_not_be_overwritten_is_at_the_next_start() {
        let data = tempfile::tempdir().unwrap();
        data_from_before(data.path());
        let reader = Connection::open(data.path().join("holdpoint.db")).unwrap();
        reader.execute_batch("BEGIN; SELECT count(*) FROM meta;").unwrap();
        drop(SqliteStore::open(data.path(), node(1)).unwrap());
        assert!(tells(data.path()), "somebody still reads it as it was");
        drop(reader);
        let store = SqliteStore::open(data.path(), node(2)).unwrap();
        assert_eq!(store.sealed(StreamId::Global).await.unwrap(), [secret(1)]);
        assert!(!tells(data.path()), "now it is");
    }
}
