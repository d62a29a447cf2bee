//! Small writes beside the journal: what expires, what is sent, what is asked of the writer.

use domain::digest::Digest;
use domain::id::SecretId;
use domain::person::PersonId;
use domain::time::Timestamp;
use ports::store::{LoginSecret, OutboxWrite, PutNote, SecretKind};
use tokio_postgres::{Client, Row};

use super::cells;
use super::error::PgFailure;
use super::limits::FORGET_MAX;
use super::sql::TypedSql;
use super::transaction::LockedHead;
use super::{notes, outbox, sealed};
use crate::sealing::SealedRow;

pub(super) enum PgAuxWrite {
    ForgetReplies { before: Timestamp },
    WriteOutbox { write: OutboxWrite, now: Timestamp },
    PutSecret(LoginSecret),
    ProlongSecret { kind: SecretKind, digest: Digest, expires_at: Timestamp },
    TakeSecret { kind: SecretKind, digest: Digest },
    PutNotes(Vec<PutNote>),
    ForgetNotes { now: Timestamp },
    Seal(Vec<SealedRow>),
    ForgetSealed(Vec<SecretId>),
    Probe,
}

#[derive(Debug)]
pub(super) enum PgAuxOutcome {
    Nothing,
    /// Something was not as expected, and nothing was written.
    Refused,
    /// There may be more of the same to do.
    More,
    Secret(Option<Box<LoginSecret>>),
}

impl PgAuxWrite {
    /// In a transaction that has locked the head.
    pub(super) async fn run(
        &self,
        client: &Client,
        head: &LockedHead,
    ) -> Result<PgAuxOutcome, PgFailure> {
        match self {
            PgAuxWrite::ForgetReplies { before } => {
                let forgotten = TypedSql::new(
                    "DELETE FROM holdpoint.replies WHERE (caller, key) IN (SELECT caller, key \
                         FROM holdpoint.replies WHERE at < $1 ORDER BY at LIMIT $2)",
                )
                .with(before.as_ms())
                .with(FORGET_MAX)
                .run(client)
                .await?;
                Ok(more_if(forgotten as i64 == FORGET_MAX))
            }
            PgAuxWrite::WriteOutbox { write, now } => {
                Ok(refused_unless(outbox::write(client, write, *now).await?))
            }
            PgAuxWrite::PutSecret(secret) => put_secret(client, head, secret).await,
            PgAuxWrite::ProlongSecret { kind, digest, expires_at } => {
                TypedSql::new(
                    "UPDATE holdpoint.secrets SET expires_at = $3 WHERE kind = $1 AND digest = $2",
                )
                .with(cells::secret_code(*kind))
                .with(digest.as_bytes().to_vec())
                .with(expires_at.as_ms())
                .run(client)
                .await?;
                Ok(PgAuxOutcome::Nothing)
            }
            PgAuxWrite::TakeSecret { kind, digest } => {
                let taken = TypedSql::new(
                    "DELETE FROM holdpoint.secrets WHERE kind = $1 AND digest = $2 \
                     RETURNING person, expires_at, origin, made_at",
                )
                .with(cells::secret_code(*kind))
                .with(digest.as_bytes().to_vec())
                .row(client)
                .await?;
                let taken = taken.map(|row| read_secret(*kind, *digest, &row)).transpose()?;
                Ok(PgAuxOutcome::Secret(taken.map(Box::new)))
            }
            PgAuxWrite::PutNotes(puts) => Ok(refused_unless(notes::put(client, puts).await?)),
            PgAuxWrite::ForgetNotes { now } => Ok(more_if(notes::forget(client, *now).await?)),
            PgAuxWrite::Seal(all) => {
                sealed::put(all).run(client).await?;
                Ok(PgAuxOutcome::Nothing)
            }
            PgAuxWrite::ForgetSealed(ids) => {
                TypedSql::new("DELETE FROM holdpoint.sealed WHERE id = ANY($1)")
                    .with(Vec::from_iter(ids.iter().map(|id| cells::id(id.0))))
                    .run(client)
                    .await?;
                Ok(PgAuxOutcome::Nothing)
            }
            PgAuxWrite::Probe => {
                // A write that changes nothing still has to find room and reach the disk.
                TypedSql::new(
                    "INSERT INTO holdpoint.meta (key, number) VALUES ('probe', $1) \
                     ON CONFLICT (key) DO UPDATE SET number = excluded.number",
                )
                .with(head.global as i64)
                .run(client)
                .await?;
                Ok(PgAuxOutcome::Nothing)
            }
        }
    }
}

fn more_if(is_more: bool) -> PgAuxOutcome {
    if is_more { PgAuxOutcome::More } else { PgAuxOutcome::Nothing }
}

fn refused_unless(is_written: bool) -> PgAuxOutcome {
    if is_written { PgAuxOutcome::Nothing } else { PgAuxOutcome::Refused }
}

async fn put_secret(
    client: &Client,
    head: &LockedHead,
    secret: &LoginSecret,
) -> Result<PgAuxOutcome, PgFailure> {
    // The time of the last commit is as good a clock as is needed here: never ahead of the real one.
    if let Some(at_ms) = head.at_ms {
        let expired = TypedSql::new("DELETE FROM holdpoint.secrets WHERE expires_at <= $1");
        expired.with(at_ms).run(client).await?;
    }
    TypedSql::new(
        "INSERT INTO holdpoint.secrets (kind, digest, person, expires_at, origin, made_at) \
         VALUES ($1, $2, $3, $4, $5, $6) \
         ON CONFLICT (kind, digest) DO UPDATE SET person = excluded.person, \
             expires_at = excluded.expires_at, origin = excluded.origin, made_at = excluded.made_at",
    )
    .with(cells::secret_code(secret.kind))
    .with(secret.digest.as_bytes().to_vec())
    .with(cells::name(secret.person.as_str()))
    .with(secret.expires_at.as_ms())
    .with(secret.origin.as_ref().map(crate::record::write_origin))
    .with(secret.made_at.as_ms())
    .run(client)
    .await?;
    Ok(PgAuxOutcome::Nothing)
}

pub(super) fn find_secret(kind: SecretKind, digest: Digest) -> TypedSql {
    TypedSql::new(
        "SELECT person, expires_at, origin, made_at FROM holdpoint.secrets \
         WHERE kind = $1 AND digest = $2",
    )
    .with(cells::secret_code(kind))
    .with(digest.as_bytes().to_vec())
}

pub(super) fn read_secret(
    kind: SecretKind,
    digest: Digest,
    row: &Row,
) -> Result<LoginSecret, PgFailure> {
    Ok(LoginSecret {
        kind,
        digest,
        person: PersonId::new(cells::text(row.get(0))?),
        expires_at: Timestamp::from_ms(row.get(1)),
        // An origin that cannot be read proves nothing, as one that was never kept.
        origin: row
            .get::<_, Option<&[u8]>>(2)
            .and_then(|bytes| crate::record::read_origin(bytes).ok()),
        made_at: Timestamp::from_ms(row.get(3)),
    })
}
