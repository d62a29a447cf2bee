//! Connections, and the settings that durability depends on.

use std::path::{Path, PathBuf};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use super::audience;

/// How to open the database, the first time and after every fault.
#[derive(Clone, Debug)]
pub(super) struct DatabaseSource {
    pub(super) database: PathBuf,
    #[cfg(test)]
    pub(super) faults: std::sync::Arc<Faults>,
}

/// What tests make go wrong.
#[cfg(test)]
#[derive(Debug, Default)]
pub(super) struct Faults {
    /// The disk is full once the database has this many pages; 0 is no limit.
    pub(super) pages_max: std::sync::atomic::AtomicU32,
    pub(super) commits_fail: std::sync::atomic::AtomicBool,
}

/// The writer waits this long for another program (a backup, a shell) to let go of the database.
const BUSY_MS: u32 = 5_000;
/// About 16 MB of log before it is copied into the database.
const CHECKPOINT_PAGES: u32 = 4_000;
/// Kibibytes of pages that are kept in memory: what busy streams touch fits, and memory stays small
/// however large the database grows.
const WRITER_CACHE_KIB: i64 = 16 << 10;
const READER_CACHE_KIB: i64 = 4 << 10;

impl DatabaseSource {
    pub(super) fn new(database: PathBuf) -> DatabaseSource {
        DatabaseSource {
            database,
            #[cfg(test)]
            faults: std::sync::Arc::default(),
        }
    }

    pub(super) fn writer(&self) -> Result<Connection, rusqlite::Error> {
        let connection = open_connection(&self.database, OpenFlags::SQLITE_OPEN_CREATE)?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        // mutant: synchronous-normal.setting
        connection.pragma_update(None, "synchronous", "FULL")?;
        connection.pragma_update(None, "foreign_keys", true)?;
        connection.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_PAGES)?;
        connection.pragma_update(None, "journal_size_limit", 64 << 20)?;
        connection.pragma_update(None, "cache_size", -WRITER_CACHE_KIB)?;
        connection.set_prepared_statement_cache_capacity(64);
        Ok(connection)
    }

    pub(super) fn reader(&self) -> Result<Connection, rusqlite::Error> {
        let connection = open_connection(&self.database, OpenFlags::empty())?;
        connection.pragma_update(None, "query_only", true)?;
        connection.pragma_update(None, "cache_size", -READER_CACHE_KIB)?;
        audience::teach(&connection)?;
        connection.set_prepared_statement_cache_capacity(64);
        Ok(connection)
    }

    #[cfg(not(test))]
    pub(super) fn inject(&self, _: &mut Connection) -> Result<(), rusqlite::Error> {
        Ok(())
    }

    /// Before every transaction, so that faults come and go while the store is open.
    #[cfg(test)]
    pub(super) fn inject(&self, connection: &mut Connection) -> Result<(), rusqlite::Error> {
        use std::sync::atomic::Ordering;
        let pages = match self.faults.pages_max.load(Ordering::SeqCst) {
            0 => i64::from(u32::MAX - 1),
            pages => i64::from(pages),
        };
        connection.pragma_update_and_check(None, "max_page_count", pages, |_| Ok(()))?;
        let fails = self.faults.commits_fail.load(Ordering::SeqCst);
        connection.commit_hook(Some(move || fails))?;
        Ok(())
    }
}

fn open_connection(database: &Path, more: OpenFlags) -> Result<Connection, rusqlite::Error> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | more;
    let connection = Connection::open_with_flags(database, flags)?;
    connection.busy_timeout(std::time::Duration::from_millis(BUSY_MS.into()))?;
    // Savepoints want a temporary file, which bare container images have no place for.
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    // Otherwise what was bound to a statement counts when it is planned, and most statements would be
    // planned anew whenever they come out of the cache.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    // Through a memory map, a failing disk would kill the process instead of returning an error.
    connection.pragma_update(None, "mmap_size", 0)?;
    Ok(connection)
}

/// A setting without which "durable" would be a lie.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{setting}` is `{found}` and must be `{wanted}`")]
pub(super) struct Unsafe {
    pub(super) setting: &'static str,
    pub(super) wanted: &'static str,
    pub(super) found: String,
}

/// What is in force, as SQLite itself says; asking for it is not enough.
pub(super) fn check_durability(connection: &Connection) -> Result<Option<Unsafe>, rusqlite::Error> {
    let mode: String = connection.pragma_query_value(None, "journal_mode", |row| row.get(0))?;
    if mode != "wal" {
        return Ok(Some(Unsafe { setting: "journal_mode", wanted: "wal", found: mode }));
    }
    let level: i64 = connection.pragma_query_value(None, "synchronous", |row| row.get(0))?;
    // mutant: synchronous-normal.check
    if level < 2 {
        let found = level.to_string();
        return Ok(Some(Unsafe { setting: "synchronous", wanted: "2 (FULL)", found }));
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use rusqlite::StatementStatus;

    use super::*;

    #[test]
    fn i40_wal_and_full_are_in_force_and_anything_less_is_noticed() {
        let directory = tempfile::tempdir().unwrap();
        let source = DatabaseSource::new(directory.path().join("a.db"));
        let connection = source.writer().unwrap();
        assert_eq!(check_durability(&connection).unwrap(), None);

        connection.pragma_update(None, "synchronous", "NORMAL").unwrap();
        let found = check_durability(&connection).unwrap().unwrap();
        assert_eq!((found.setting, found.found.as_str()), ("synchronous", "1"));

        connection.pragma_update(None, "journal_mode", "DELETE").unwrap();
        let found = check_durability(&connection).unwrap().unwrap();
        assert_eq!((found.setting, found.found.as_str()), ("journal_mode", "delete"));
    }

    #[test]
    fn a_statement_is_planned_once_whatever_is_bound_to_it() {
        let directory = tempfile::tempdir().unwrap();
        let source = DatabaseSource::new(directory.path().join("a.db"));
        let writer = source.writer().unwrap();
        super::super::schema::migrate(&writer).unwrap();
        for connection in [writer, source.reader().unwrap()] {
            let sql = "SELECT global FROM streams WHERE stream = ?1 ORDER BY first DESC LIMIT 1";
            // As everywhere: out of the cache and back.
            for stream in [[1_u8; 17], [2; 17], [3; 17]] {
                assert!(!connection.prepare_cached(sql).unwrap().exists([stream]).unwrap());
            }
            let statement = connection.prepare_cached(sql).unwrap();
            assert_eq!(statement.get_status(StatementStatus::RePrepare), 0);
        }
    }

    #[test]
    fn a_reader_cannot_write() {
        let directory = tempfile::tempdir().unwrap();
        let source = DatabaseSource::new(directory.path().join("a.db"));
        source.writer().unwrap().execute_batch("CREATE TABLE t (x)").unwrap();
        assert!(source.reader().unwrap().execute("INSERT INTO t VALUES (1)", []).is_err());
    }
}
