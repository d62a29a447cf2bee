//! Opening a database, with every door closed that a tool does not need.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, Error, ErrorCode, OpenFlags, Result};

use crate::limits::{SQL_BUSY_WAIT, SQL_STEPS_PER_CHECK, SQL_VALUE_BYTES_MAX};
use crate::process::Stopwatch;

/// Set when a call is to stop; the database looks at it every few steps.
#[derive(Clone, Default)]
pub(super) struct StopFlag(Arc<AtomicBool>);

impl StopFlag {
    pub(super) fn raise(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_raised(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

pub(super) fn open_to_read(path: &Path, limit: Duration, stop: &StopFlag) -> Result<Connection> {
    let connection = open(path, OpenFlags::SQLITE_OPEN_READ_ONLY, limit, stop)?;
    connection.pragma_update(None, "query_only", true)?;
    Ok(connection)
}

/// The file must exist: a tool that changes rows has nothing to do in a database that it made up.
pub(super) fn open_to_write(path: &Path, limit: Duration, stop: &StopFlag) -> Result<Connection> {
    let connection = open(path, OpenFlags::SQLITE_OPEN_READ_WRITE, limit, stop)?;
    // "It happened" must survive a power cut, whatever the database's other users are content with.
    connection.pragma_update(None, "synchronous", "FULL")?;
    Ok(connection)
}

fn open(path: &Path, flags: OpenFlags, limit: Duration, stop: &StopFlag) -> Result<Connection> {
    // Without SQLITE_OPEN_URI: a path is a path, and no `?mode=` in it means anything.
    let mut connection =
        Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.busy_timeout(SQL_BUSY_WAIT)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, SQL_VALUE_BYTES_MAX)?;
    let (since, stop) = (Stopwatch::start(), stop.clone());
    connection.progress_handler(
        SQL_STEPS_PER_CHECK,
        Some(move || stop.is_raised() || since.elapsed() > limit),
    )?;
    Ok(connection)
}

/// What an error means for whoever has to act on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trouble {
    /// The statement itself is no good: write another.
    Statement,
    /// Another writer has the database: try again.
    Busy,
    /// Our own time limit, or a stop.
    Interrupted,
    /// The file cannot be used at present.
    File,
}

pub(super) fn trouble(error: &Error) -> Trouble {
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Trouble::Busy,
        Some(ErrorCode::OperationInterrupted) => Trouble::Interrupted,
        Some(
            ErrorCode::Unknown
            | ErrorCode::ConstraintViolation
            | ErrorCode::TypeMismatch
            | ErrorCode::TooBig
            | ErrorCode::AuthorizationForStatementDenied
            | ErrorCode::ParameterOutOfRange,
        ) => Trouble::Statement,
        Some(_) => Trouble::File,
        None => Trouble::Statement,
    }
}
