//! What SQLite's errors mean for us.

use ports::store::StoreError;
use rusqlite::ErrorCode;

use crate::record::Broken;

/// Anything that goes wrong while a statement runs.
#[derive(Debug)]
pub(super) enum Failure {
    Sqlite(rusqlite::Error),
    Broken(Broken),
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Failure {
        Failure::Sqlite(error)
    }
}

impl From<rusqlite::types::FromSqlError> for Failure {
    fn from(_: rusqlite::types::FromSqlError) -> Failure {
        Failure::Broken(Broken::Damaged("a column has another type than expected".into()))
    }
}

impl From<Broken> for Failure {
    fn from(broken: Broken) -> Failure {
        Failure::Broken(broken)
    }
}

impl From<Failure> for StoreError {
    fn from(failure: Failure) -> StoreError {
        match failure {
            Failure::Broken(broken) => broken.into(),
            Failure::Sqlite(error) => match error.sqlite_error_code() {
                Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                    StoreError::Unreadable(format!(
                        "the database file is damaged ({error}); restore it from a backup"
                    ))
                }
                _ => StoreError::Unavailable(error_text(&error)),
            },
        }
    }
}

/// The error in words, with the remedy where there is one.
pub(super) fn error_text(error: &rusqlite::Error) -> String {
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => "the disk is full; free some space".into(),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            "another program keeps the database locked; close it".into()
        }
        Some(ErrorCode::ReadOnly) => "the data directory cannot be written to".into(),
        Some(ErrorCode::SystemIoFailure | ErrorCode::CannotOpen) => {
            format!("the disk fails ({error})")
        }
        _ => error.to_string(),
    }
}

/// Whether only the one operation is at fault. Everything else says something about the connection
/// or the disk, and then nothing more is done on this connection.
pub(super) fn is_own_fault(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::ConstraintViolation | ErrorCode::TooBig | ErrorCode::TypeMismatch)
    )
}
