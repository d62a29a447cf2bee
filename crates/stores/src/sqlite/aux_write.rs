//! Small writes beside the journal: what expires, what is sent, what is asked of the writer.

use domain::digest::Digest;
use domain::id::SecretId;
use domain::person::PersonId;
use domain::time::Timestamp;
use ports::store::{LoginSecret, OutboxWrite, PutNote, SecretKind};
use rusqlite::{Connection, OptionalExtension as _, params};

use super::columns;
use super::connection::{Unsafe, check_durability};
use super::files::{FileChange, FileChanged};
use super::head::Head;
use crate::sealing::SealedRow;

/// Replies that are forgotten at once, so that commits do not wait long behind it.
const FORGET_MAX: i64 = 500;

pub(super) enum AuxWrite {
    ForgetReplies {
        before: Timestamp,
    },
    WriteOutbox {
        write: OutboxWrite,
        now: Timestamp,
    },
    PutSecret(LoginSecret),
    ProlongSecret {
        kind: SecretKind,
        digest: Digest,
        expires_at: Timestamp,
    },
    TakeSecret {
        kind: SecretKind,
        digest: Digest,
    },
    PutNotes(Vec<PutNote>),
    ForgetNotes {
        now: Timestamp,
    },
    Files(Box<FileChange>),
    Seal(Vec<SealedRow>),
    ForgetSealed(Vec<SecretId>),
    /// A signed end of the log as it is now. It is not kept: it closes one export.
    End {
        at: Timestamp,
    },
    Probe,
    /// Nothing may be left in the write-behind when this is done: the writer sees to it beforehand.
    FlushTables,
}

#[derive(Debug)]
pub(super) enum AuxOutcome {
    Nothing,
    /// Something was not as expected, and nothing was written.
    Refused,
    /// There may be more of the same to do.
    Some,
    Secret(Option<LoginSecret>),
    Files(FileChanged),
    Bytes(Vec<u8>),
    Unsafe(Unsafe),
}

impl AuxWrite {
    pub(super) fn run(
        &self,
        connection: &Connection,
        head: &Head,
        signer: &audit::Signer,
    ) -> Result<AuxOutcome, rusqlite::Error> {
        match self {
            AuxWrite::ForgetReplies { before } => {
                let forgotten = connection
                    .prepare_cached(
                        "DELETE FROM replies WHERE rowid IN \
                         (SELECT rowid FROM replies WHERE at < ?1 ORDER BY at LIMIT ?2)",
                    )?
                    .execute(params![before.as_ms(), FORGET_MAX])?;
                Ok(if forgotten as i64 == FORGET_MAX {
                    AuxOutcome::Some
                } else {
                    AuxOutcome::Nothing
                })
            }
            AuxWrite::WriteOutbox { write, now } => {
                let written = super::outbox::write_item(connection, write, *now)?;
                Ok(if written { AuxOutcome::Nothing } else { AuxOutcome::Refused })
            }
            AuxWrite::PutSecret(secret) => put_secret(connection, head, secret),
            AuxWrite::ProlongSecret { kind, digest, expires_at } => {
                connection
                    .prepare_cached(
                        "UPDATE secrets SET expires_at = ?3 WHERE kind = ?1 AND digest = ?2",
                    )?
                    .execute(params![
                        columns::secret_code(*kind),
                        digest.as_bytes(),
                        expires_at.as_ms()
                    ])?;
                Ok(AuxOutcome::Nothing)
            }
            AuxWrite::TakeSecret { kind, digest } => {
                let secret = find_secret(connection, *kind, *digest)?;
                if secret.is_some() {
                    connection
                        .prepare_cached("DELETE FROM secrets WHERE kind = ?1 AND digest = ?2")?
                        .execute(params![columns::secret_code(*kind), digest.as_bytes()])?;
                }
                Ok(AuxOutcome::Secret(secret))
            }
            AuxWrite::PutNotes(puts) => Ok(if super::notes::put(connection, puts)? {
                AuxOutcome::Nothing
            } else {
                AuxOutcome::Refused
            }),
            AuxWrite::ForgetNotes { now } => Ok(if super::notes::forget(connection, *now)? {
                AuxOutcome::Some
            } else {
                AuxOutcome::Nothing
            }),
            AuxWrite::Seal(sealed) => {
                super::sealed::put(connection, sealed).map(|()| AuxOutcome::Nothing)
            }
            AuxWrite::ForgetSealed(ids) => {
                super::sealed::forget(connection, ids).map(|()| AuxOutcome::Nothing)
            }
            AuxWrite::Files(change) => change.run(connection).map(AuxOutcome::Files),
            AuxWrite::End { at } => Ok(AuxOutcome::Bytes(
                signer.sign_end(&head.chain, at.as_ms()).to_string().into_bytes(),
            )),
            AuxWrite::FlushTables => Ok(AuxOutcome::Nothing),
            AuxWrite::Probe => {
                if let Some(found) = check_durability(connection)? {
                    return Ok(AuxOutcome::Unsafe(found));
                }
                // A write that changes nothing still has to find room and reach the disk.
                connection
                    .prepare_cached(
                        "INSERT OR REPLACE INTO meta (key, value) VALUES ('probe', ?1)",
                    )?
                    .execute(params![head.global as i64])?;
                Ok(AuxOutcome::Nothing)
            }
        }
    }
}

fn put_secret(
    connection: &Connection,
    head: &Head,
    secret: &LoginSecret,
) -> Result<AuxOutcome, rusqlite::Error> {
    // The time of the last commit is as good a clock as is needed here: never ahead of the real one.
    connection
        .prepare_cached("DELETE FROM secrets WHERE expires_at <= ?1")?
        .execute(params![head.at_ms])?;
    connection
        .prepare_cached(
            "INSERT OR REPLACE INTO secrets (kind, digest, person, expires_at, origin, made_at) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?
        .execute(params![
            columns::secret_code(secret.kind),
            secret.digest.as_bytes(),
            secret.person.as_str(),
            secret.expires_at.as_ms(),
            secret.origin.as_ref().map(crate::record::write_origin),
            secret.made_at.as_ms(),
        ])?;
    Ok(AuxOutcome::Nothing)
}

pub(super) fn find_secret(
    connection: &Connection,
    kind: SecretKind,
    digest: Digest,
) -> Result<Option<LoginSecret>, rusqlite::Error> {
    // A login from before its beginning was kept is not prolonged: it began at time 0.
    connection
        .prepare_cached(
            "SELECT person, expires_at, origin, made_at FROM secrets WHERE kind = ?1 AND digest = ?2",
        )?
        .query_row(params![columns::secret_code(kind), digest.as_bytes()], |row| {
            Ok(LoginSecret {
                kind,
                digest,
                person: PersonId::new(row.get_ref(0)?.as_str()?),
                expires_at: Timestamp::from_ms(row.get(1)?),
                // An origin that cannot be read proves nothing, as one that was never kept.
                origin: row
                    .get_ref(2)?
                    .as_blob_or_null()?
                    .and_then(|bytes| crate::record::read_origin(bytes).ok()),
                made_at: Timestamp::from_ms(row.get::<_, Option<i64>>(3)?.unwrap_or(0)),
            })
        })
        .optional()
}
