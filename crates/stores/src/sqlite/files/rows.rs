//! The rows about files: who uploaded what, and which streams refer to it.

use domain::digest::Digest;
use domain::file::{FileKind, FileName, FileRef};
use domain::id::{FileId, StreamId};
use domain::time::Timestamp;
use ports::file_store::{FileQuota, FileUse, QuotaBound, StoredFile};
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::super::columns;
use super::super::error::Failure;
use crate::record::Broken;

/// Changes to these rows, for the one thread that writes.
#[derive(Clone, Debug)]
pub(in crate::sqlite) enum FileChange {
    Add { file: StoredFile, quota: FileQuota },
    Use { files: Vec<FileId>, stream: StreamId },
    SettleUse { file: FileId, stream: StreamId, is_used: bool },
    Remove { id: FileId },
    Forget { before: Timestamp, limit: usize },
}

#[derive(Debug)]
pub(in crate::sqlite) enum FileChanged {
    Done,
    Refused,
    OverQuota(QuotaBound),
    /// The rows are gone. Of these digests no row has any.
    Gone {
        files: usize,
        digests: Vec<Digest>,
    },
}

impl FileChange {
    pub(in crate::sqlite) fn run(
        &self,
        connection: &Connection,
    ) -> Result<FileChanged, rusqlite::Error> {
        match self {
            FileChange::Add { file, quota } => add(connection, file, quota),
            FileChange::Use { files, stream } => use_files(connection, files, *stream),
            FileChange::SettleUse { file, stream, is_used } => {
                let settle = match is_used {
                    true => "UPDATE file_uses SET is_certain = 1 WHERE file = ?1 AND stream = ?2",
                    false => {
                        "DELETE FROM file_uses WHERE file = ?1 AND stream = ?2 AND is_certain = 0"
                    }
                };
                let keys = params![columns::id(file.0), columns::stream(*stream)];
                connection.prepare_cached(settle)?.execute(keys)?;
                Ok(FileChanged::Done)
            }
            FileChange::Remove { id } => {
                let unused = "SELECT id, digest FROM files WHERE id = ?1 \
                     AND NOT EXISTS (SELECT 1 FROM file_uses WHERE file = id)";
                let found = rows(connection, unused, params![columns::id(id.0)])?;
                remove(connection, found)
            }
            FileChange::Forget { before, limit } => {
                let unused = "SELECT id, digest FROM files WHERE at < ?1 \
                     AND NOT EXISTS (SELECT 1 FROM file_uses WHERE file = id) ORDER BY at LIMIT ?2";
                let found = rows(connection, unused, params![before.as_ms(), *limit as i64])?;
                remove(connection, found)
            }
        }
    }
}

fn add(
    connection: &Connection,
    stored: &StoredFile,
    quota: &FileQuota,
) -> Result<FileChanged, rusqlite::Error> {
    let StoredFile { file, owner, key, at } = stored;
    if let Some(key) = key {
        let mut known =
            connection.prepare_cached("SELECT 1 FROM files WHERE owner = ?1 AND key = ?2")?;
        if known.exists(params![owner, key])? {
            return Ok(FileChanged::Refused);
        }
    }
    let (files, bytes): (i64, i64) = connection
        .prepare_cached("SELECT count(*), coalesce(sum(bytes), 0) FROM files WHERE owner = ?1")?
        .query_row(params![owner], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let all: i64 = connection
        .prepare_cached("SELECT coalesce(sum(bytes), 0) FROM files")?
        .query_row([], |row| row.get(0))?;
    let with = |bytes: i64| bytes as u64 + file.bytes;
    if files as u64 >= quota.owner_files {
        return Ok(FileChanged::OverQuota(QuotaBound::OwnerFiles));
    }
    if with(bytes) > quota.owner_bytes {
        return Ok(FileChanged::OverQuota(QuotaBound::OwnerBytes));
    }
    if with(all) > quota.bytes {
        return Ok(FileChanged::OverQuota(QuotaBound::Bytes));
    }
    let (width, height) = file.kind.size().unzip();
    connection
        .prepare_cached(
            "INSERT INTO files (id, digest, bytes, media_type, width, height, name, owner, key, at) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
        )?
        .execute(params![
            columns::id(file.id.0),
            file.digest.as_bytes(),
            file.bytes as i64,
            file.kind.media_type(),
            width,
            height,
            file.name.as_str(),
            owner,
            key,
            at.as_ms(),
        ])?;
    Ok(FileChanged::Done)
}

fn use_files(
    connection: &Connection,
    files: &[FileId],
    stream: StreamId,
) -> Result<FileChanged, rusqlite::Error> {
    let mut known = connection.prepare_cached("SELECT 1 FROM files WHERE id = ?1")?;
    for file in files {
        if !known.exists(params![columns::id(file.0)])? {
            return Ok(FileChanged::Refused);
        }
    }
    let mut note = connection.prepare_cached(
        "INSERT INTO file_uses (file, stream, is_certain) VALUES (?1, ?2, 0) ON CONFLICT DO NOTHING",
    )?;
    for file in files {
        note.execute(params![columns::id(file.0), columns::stream(stream)])?;
    }
    Ok(FileChanged::Done)
}

/// The id of a file, and the digest of its bytes.
type FileKey = ([u8; 16], [u8; 32]);

fn rows(
    connection: &Connection,
    select: &str,
    values: impl rusqlite::Params,
) -> Result<Vec<FileKey>, rusqlite::Error> {
    let mut select = connection.prepare_cached(select)?;
    let found = select.query_map(values, |row| Ok((row.get(0)?, row.get(1)?)))?;
    found.collect()
}

fn remove(connection: &Connection, found: Vec<FileKey>) -> Result<FileChanged, rusqlite::Error> {
    let mut delete = connection.prepare_cached("DELETE FROM files WHERE id = ?1")?;
    for (id, _) in &found {
        delete.execute(params![id])?;
    }
    let mut digests = Vec::new();
    let mut known = connection.prepare_cached("SELECT 1 FROM files WHERE digest = ?1")?;
    for (_, digest) in &found {
        if !known.exists(params![digest])? {
            digests.push(Digest::from_bytes(*digest));
        }
    }
    Ok(FileChanged::Gone { files: found.len(), digests })
}

const COLUMNS: &str = "id, digest, bytes, media_type, width, height, name, owner, key, at";

pub(super) fn find(connection: &Connection, id: FileId) -> Result<Option<StoredFile>, Failure> {
    let select = format!("SELECT {COLUMNS} FROM files WHERE id = ?1");
    one(connection, &select, params![columns::id(id.0)])
}

pub(super) fn find_by_key(
    connection: &Connection,
    owner: &str,
    key: &str,
) -> Result<Option<StoredFile>, Failure> {
    let select = format!("SELECT {COLUMNS} FROM files WHERE owner = ?1 AND key = ?2");
    one(connection, &select, params![owner, key])
}

pub(super) fn has_digest(connection: &Connection, digest: Digest) -> Result<bool, Failure> {
    let mut known = connection.prepare_cached("SELECT 1 FROM files WHERE digest = ?1")?;
    Ok(known.exists(params![digest.as_bytes()])?)
}

pub(super) fn after(
    connection: &Connection,
    after: Option<FileId>,
    limit: usize,
) -> Result<Vec<StoredFile>, Failure> {
    let after = after.map(|id| columns::id(id.0).to_vec()).unwrap_or_default();
    let mut select = connection.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM files WHERE id > ?1 ORDER BY id LIMIT ?2"
    ))?;
    let mut rows = select.query(params![after, limit as i64])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(stored_file(row)?);
    }
    Ok(found)
}

pub(super) fn uses_of(connection: &Connection, file: FileId) -> Result<Vec<FileUse>, Failure> {
    let select = "SELECT file, stream, is_certain FROM file_uses WHERE file = ?1";
    uses(connection, select, params![columns::id(file.0)])
}

pub(super) fn uncertain_uses(
    connection: &Connection,
    before: Timestamp,
    limit: usize,
) -> Result<Vec<FileUse>, Failure> {
    let select = "SELECT u.file, u.stream, u.is_certain FROM file_uses u JOIN files f ON f.id = u.file \
         WHERE u.is_certain = 0 AND f.at < ?1 LIMIT ?2";
    uses(connection, select, params![before.as_ms(), limit as i64])
}

fn uses(
    connection: &Connection,
    select: &str,
    values: impl rusqlite::Params,
) -> Result<Vec<FileUse>, Failure> {
    let mut select = connection.prepare_cached(select)?;
    let mut rows = select.query(values)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(FileUse {
            file: FileId(columns::bits(row.get_ref(0)?.as_blob()?)?),
            stream: columns::stream_of(row.get_ref(1)?.as_blob()?)?,
            is_certain: row.get(2)?,
        });
    }
    Ok(found)
}

fn one(
    connection: &Connection,
    select: &str,
    values: impl rusqlite::Params,
) -> Result<Option<StoredFile>, Failure> {
    let mut select = connection.prepare_cached(select)?;
    select.query_row(values, |row| Ok(stored_file(row))).optional()?.transpose()
}

fn stored_file(row: &Row<'_>) -> Result<StoredFile, Failure> {
    let size: (Option<u32>, Option<u32>) = (row.get(4)?, row.get(5)?);
    let size = match size {
        (Some(width), Some(height)) => Some((width, height)),
        _ => None,
    };
    let kind = FileKind::stored(row.get_ref(3)?.as_str()?, size)
        .ok_or_else(|| Broken::Damaged("a file is of a kind that never was".into()))?;
    Ok(StoredFile {
        file: FileRef {
            id: FileId(columns::bits(row.get_ref(0)?.as_blob()?)?),
            digest: Digest::from_bytes(row.get(1)?),
            bytes: row.get::<_, i64>(2)? as u64,
            kind,
            name: FileName::given(row.get_ref(6)?.as_str()?),
        },
        owner: row.get(7)?,
        key: row.get(8)?,
        at: Timestamp::from_ms(row.get(9)?),
    })
}
