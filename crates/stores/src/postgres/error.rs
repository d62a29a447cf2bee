//! What goes wrong with a database, and what to do about it. No message repeats a password.

use std::io;
use std::path::PathBuf;

use ports::store::StoreError;
use tokio_postgres::error::SqlState;

use super::address::PgAddress;
use super::node_end::PgNodeEnd;
use crate::record::Broken;

/// Why the store cannot be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PgOpenError {
    #[error(
        "the database {place} cannot be reached: {why}; is it running, and may this machine connect to it?"
    )]
    Unreachable { place: String, why: String },
    #[error("the database {place} does not accept the user or the password ({why}); check both")]
    Credentials { place: String, why: String },
    #[error("there is no such database: {place}; create it: CREATE DATABASE name OWNER user")]
    NoDatabase { place: String },
    #[error("the database {place} is a standby, or only takes reads; name the primary")]
    Standby { place: String },
    #[error(
        "the database {place} runs with `{setting} = off`: what it acknowledges can be lost; turn it on"
    )]
    NotDurable { place: String, setting: &'static str },
    #[error("the database {place} is PostgreSQL {found}; use 13 or newer")]
    TooOld { place: String, found: i64 },
    #[error(
        "the data in {place} was written by a newer version of Holdpoint (schema {found}, and this \
         one knows {known}); run that version"
    )]
    Newer { place: String, found: i64, known: i64 },
    #[error("the user of {place} may not make the tables ({why}); let it own the database")]
    Forbidden { place: String, why: String },
    #[error("the data in {place} cannot be used: {why}")]
    Damaged { place: String, why: String },
    #[error(
        "the key that signs the log, {}, {why}; all nodes of one database have the same: copy it \
         from the folder of the node that was started first, or from a backup", path.display()
    )]
    Key { path: PathBuf, why: String },
    #[error("secrets in the store cannot be opened: {why}")]
    SealingKey { why: String },
    #[error("{} cannot be used: {error}", path.display())]
    Io { path: PathBuf, error: io::Error },
    #[error("the database {place} fails: {why}")]
    Failed { place: String, why: String },
}

impl PgOpenError {
    pub(super) fn of(place: &PgAddress, failure: PgFailure) -> PgOpenError {
        let place = place.to_string();
        let PgFailure::Database(error) = failure else {
            return match failure {
                PgFailure::Broken(broken) => {
                    PgOpenError::Damaged { place, why: broken.to_string() }
                }
                PgFailure::Unfit(UnfitServer::Standby) => PgOpenError::Standby { place },
                PgFailure::Unfit(UnfitServer::NotDurable { setting }) => {
                    PgOpenError::NotDurable { place, setting }
                }
                PgFailure::Unfit(UnfitServer::TooOld { found }) => {
                    PgOpenError::TooOld { place, found }
                }
                failure => PgOpenError::Unreachable { place, why: failure.to_string() },
            };
        };
        let why = error_text(&error);
        match error.code() {
            None => PgOpenError::Unreachable { place, why },
            Some(code) => match code {
                &SqlState::INVALID_PASSWORD | &SqlState::INVALID_AUTHORIZATION_SPECIFICATION => {
                    PgOpenError::Credentials { place, why }
                }
                &SqlState::INVALID_CATALOG_NAME => PgOpenError::NoDatabase { place },
                &SqlState::INSUFFICIENT_PRIVILEGE => PgOpenError::Forbidden { place, why },
                &SqlState::READ_ONLY_SQL_TRANSACTION => PgOpenError::Standby { place },
                &SqlState::CANNOT_CONNECT_NOW | &SqlState::TOO_MANY_CONNECTIONS => {
                    PgOpenError::Unreachable { place, why }
                }
                _ => PgOpenError::Failed { place, why },
            },
        }
    }
}

/// Anything that goes wrong while a statement runs.
#[derive(Debug, thiserror::Error)]
pub(super) enum PgFailure {
    #[error("{}", error_text(.0))]
    Database(#[from] tokio_postgres::Error),
    #[error("it does not answer in time")]
    Silent,
    #[error("{0}")]
    Tls(String),
    #[error(transparent)]
    Broken(#[from] Broken),
    /// A transaction of unknown fate was looked for, and is not there.
    #[error("the database went away; nothing was changed")]
    NotWritten,
    /// One that could not be looked for.
    #[error("the database went away, and has yet to say whether this was written")]
    Unsettled,
    #[error(transparent)]
    Unfit(#[from] UnfitServer),
    #[error(transparent)]
    Ended(#[from] PgNodeEnd),
}

/// A server on which nothing is written, although it answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum UnfitServer {
    #[error("the database is a standby, or only takes reads: is there another primary?")]
    Standby,
    #[error(
        "the database runs with `{setting} = off`: what it acknowledges can be lost; turn it on"
    )]
    NotDurable { setting: &'static str },
    #[error("the database is PostgreSQL {found}; use 13 or newer")]
    TooOld { found: i64 },
}

impl PgFailure {
    /// Whether only the one statement is at fault. Everything else says something about the connection
    /// or the server, and then nothing more is done on this connection.
    pub(super) fn is_own_fault(&self) -> bool {
        let PgFailure::Database(error) = self else { return false };
        let Some(code) = error.code() else {
            // Values that cannot be sent at all.
            return !error.is_closed()
                && std::error::Error::source(error)
                    .is_some_and(|source| source.downcast_ref::<io::Error>().is_none());
        };
        // Data exceptions and broken constraints, and limits of a single statement.
        ["22", "23", "54"].iter().any(|class| code.code().starts_with(class))
    }
}

impl From<PgFailure> for StoreError {
    fn from(failure: PgFailure) -> StoreError {
        match failure {
            PgFailure::Broken(broken) => broken.into(),
            PgFailure::Database(error) if is_damaged(&error) => StoreError::Unreadable(format!(
                "the database is damaged ({error}); restore it from a backup"
            )),
            other => StoreError::Unavailable(other.to_string()),
        }
    }
}

/// Whether the connection is of no use any more.
pub(super) fn is_lost(error: &tokio_postgres::Error) -> bool {
    match error.code() {
        None => true,
        // The server ends, or was told to end this connection.
        Some(code) => code.code().starts_with("57P") || code.code().starts_with("08"),
    }
}

fn is_damaged(error: &tokio_postgres::Error) -> bool {
    let damaged = [&SqlState::DATA_CORRUPTED, &SqlState::INDEX_CORRUPTED];
    error.code().is_some_and(|code| damaged.contains(&code))
}

/// The error in words, with the remedy where there is one. The server's message never has the password.
pub(super) fn error_text(error: &tokio_postgres::Error) -> String {
    if let Some(said) = error.as_db_error() {
        let remedy = match *said.code() {
            SqlState::DISK_FULL => "; free some space on the disk of the database",
            SqlState::READ_ONLY_SQL_TRANSACTION => {
                "; it has become a standby: is there another primary?"
            }
            SqlState::TOO_MANY_CONNECTIONS => "; raise `max_connections`",
            _ => "",
        };
        return format!("the database says: {}{remedy}", said.message());
    }
    let mut text = error.to_string();
    if let Some(source) = std::error::Error::source(error) {
        text = format!("{text}: {source}");
    }
    text
}
