//! Opening a database, with every door closed that a tool does not need.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, Error, ErrorCode, OpenFlags, Result};

use super::rows::READ_LESS;
use crate::limits::{
    SQL_BUSY_WAIT, SQL_HEAP_BYTES_MAX, SQL_STEPS_PER_CHECK, SQL_VALUE_BYTES_MAX,
    SQL_VALUE_BYTES_MIN, SQL_VALUES_BYTES_MAX, SQL_WRITTEN_BYTES_MAX,
};
use crate::stopwatch::Stopwatch;

/// Set when a call is to stop; the database looks at it every few steps.
#[derive(Clone, Default)]
pub(super) struct StopFlag(Arc<StatementStopped>);

#[derive(Default)]
struct StatementStopped {
    by_somebody: AtomicBool,
    by_memory: AtomicBool,
}

impl StopFlag {
    pub(super) fn raise(&self) {
        self.0.by_somebody.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_raised(&self) -> bool {
        self.0.by_somebody.load(Ordering::Relaxed)
    }

    /// What to tell about a statement that was broken off for its memory.
    pub(super) fn memory_refusal(&self) -> Option<String> {
        self.0.by_memory.load(Ordering::Relaxed).then(|| {
            format!(
                "the server's memory grew by more than {} MiB while it ran, and it was stopped; {READ_LESS}",
                SQL_HEAP_BYTES_MAX >> 20
            )
        })
    }
}

pub(super) fn open_to_read(path: &Path, limit: Duration, stop: &StopFlag) -> Result<Connection> {
    let connection = open_database(path, OpenFlags::SQLITE_OPEN_READ_ONLY, limit, stop)?;
    connection.pragma_update(None, "query_only", true)?;
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, SQL_VALUE_BYTES_MAX)?;
    Ok(connection)
}

/// The file must exist: a tool that changes rows has nothing to do in a database that it made up.
pub(super) fn open_to_write(path: &Path, limit: Duration, stop: &StopFlag) -> Result<Connection> {
    let connection = open_database(path, OpenFlags::SQLITE_OPEN_READ_WRITE, limit, stop)?;
    // "It happened" must survive a power cut, whatever the database's other users are content with.
    connection.pragma_update(None, "synchronous", "FULL")?;
    Ok(connection)
}

fn open_database(
    path: &Path,
    flags: OpenFlags,
    limit: Duration,
    stop: &StopFlag,
) -> Result<Connection> {
    // Without SQLITE_OPEN_URI: a path is a path, and no `?mode=` in it means anything.
    let mut connection =
        Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.busy_timeout(SQL_BUSY_WAIT)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, SQL_WRITTEN_BYTES_MAX)?;
    let (since, stop, memory) = (Stopwatch::start(), stop.clone(), MemoryGauge::start());
    connection.progress_handler(
        SQL_STEPS_PER_CHECK,
        Some(move || {
            if memory.resident_growth().is_some_and(|bytes| bytes > SQL_HEAP_BYTES_MAX) {
                stop.0.by_memory.store(true, Ordering::Relaxed);
                return true;
            }
            stop.is_raised() || since.elapsed() > limit
        }),
    )?;
    Ok(connection)
}

/// How long each value of a statement may be. SQLite holds as many at once as its program has steps, and in
/// a line of steps without a jump it never looks whether it should stop.
#[derive(Clone, Copy, Debug)]
pub(super) struct ValueBound {
    bytes: u64,
    before: i32,
}

impl ValueBound {
    /// Sets the bound for `sql`, which is compiled for that and not run.
    pub(super) fn set_for(connection: &Connection, sql: &str) -> Result<ValueBound> {
        let before = connection.limit(Limit::SQLITE_LIMIT_LENGTH)?;
        let most = u64::try_from(before).unwrap_or_default();
        let bytes = match steps_of(connection, sql) {
            Ok(steps) => (SQL_VALUES_BYTES_MAX / steps.max(1)).max(SQL_VALUE_BYTES_MIN).min(most),
            // What cannot be explained (an EXPLAIN) holds no long values.
            Err(_) => SQL_VALUE_BYTES_MIN,
        };
        let bound = i32::try_from(bytes).unwrap_or(before);
        connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, bound)?;
        Ok(ValueBound { bytes, before })
    }

    /// The marker row is our own writing, so the bound does not apply to it.
    pub(super) fn lift(self, connection: &Connection) -> Result<()> {
        connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, self.before).map(|_| ())
    }

    /// What to tell about a statement that met the bound.
    pub(super) fn refusal(self, error: &Error) -> Option<String> {
        (error.sqlite_error_code() == Some(ErrorCode::TooBig)).then(|| {
            let each = match self.bytes {
                bytes if bytes >= 1 << 20 => format!("{} MiB", bytes >> 20),
                bytes => format!("{} KiB", bytes >> 10),
            };
            format!("a value is longer than {each}, which is all that this statement may have; {READ_LESS}")
        })
    }
}

fn steps_of(connection: &Connection, sql: &str) -> Result<u64> {
    let mut explained = connection.prepare(&format!("EXPLAIN {sql}"))?;
    let mut steps = 0;
    let mut rows = explained.raw_query();
    while rows.next()?.is_some() {
        steps += 1;
    }
    Ok(steps)
}

/// How much the program has grown since a statement began, as the kernel counts it. SQLite's own count
/// is of all databases together and its limit would hit the store; what others need meanwhile counts
/// here, too, which only makes it stricter.
struct MemoryGauge {
    /// Opened once: it is read every few steps. `None` where there is no such file.
    file: Option<File>,
    first: u64,
}

/// The smallest page there is: on machines with larger ones the bound comes later.
const PAGE_BYTES: u64 = 4096;

impl MemoryGauge {
    fn start() -> MemoryGauge {
        let mut gauge = MemoryGauge { file: File::open("/proc/self/statm").ok(), first: 0 };
        gauge.first = gauge.resident_bytes().unwrap_or_default();
        gauge
    }

    fn resident_growth(&self) -> Option<u64> {
        self.resident_bytes().map(|bytes| bytes.saturating_sub(self.first))
    }

    fn resident_bytes(&self) -> Option<u64> {
        let mut text = [0; 128];
        let read = self.file.as_ref()?.read_at(&mut text, 0).ok()?;
        let text = std::str::from_utf8(text.get(..read)?).ok()?;
        let pages: u64 = text.split(' ').nth(1)?.parse().ok()?;
        Some(pages.saturating_mul(PAGE_BYTES))
    }
}

/// The remedy that an SQLite or PostgreSQL error asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SqlErrorClass {
    /// The statement itself is no good: write another.
    Statement,
    /// Another writer has the database: try again.
    Busy,
    /// Our own time limit, or a stop.
    Interrupted,
    /// The file cannot be used at present.
    File,
}

pub(super) fn classify_error(error: &Error) -> SqlErrorClass {
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => SqlErrorClass::Busy,
        Some(ErrorCode::OperationInterrupted) => SqlErrorClass::Interrupted,
        Some(
            ErrorCode::Unknown
            | ErrorCode::ConstraintViolation
            | ErrorCode::TypeMismatch
            | ErrorCode::TooBig
            | ErrorCode::AuthorizationForStatementDenied
            | ErrorCode::ParameterOutOfRange,
        ) => SqlErrorClass::Statement,
        Some(_) => SqlErrorClass::File,
        None => SqlErrorClass::Statement,
    }
}
