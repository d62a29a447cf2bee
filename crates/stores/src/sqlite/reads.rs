//! Everything that is looked up by a key or a position.

use std::sync::Arc;

use domain::digest::Digest;
use domain::hold::Hold;
use domain::id::{HoldId, NodeId, RunId, SessionId, StreamId};
use domain::time::Timestamp;
use ports::store::{AuditEntry, Entry, KeptReply, SessionRow};
use rusqlite::{Connection, OptionalExtension as _, Params, Row, params};

use super::columns::{self, SESSION_COLUMNS, session_row};
use super::commit_index::{CommitPosition, positions_after};
use super::error::Failure;
use super::holds::{HOLD_COLUMNS, HOLDS, Holds};
use super::write_behind::Newest;
use crate::record::{Broken, read_row};

/// Every row, in order.
fn query_all<T>(
    connection: &Connection,
    sql: &str,
    params: impl Params,
    read: impl Fn(&Row<'_>) -> Result<T, Failure>,
) -> Result<Vec<T>, Failure> {
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(params)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(read(row)?);
    }
    Ok(found)
}

fn query_one<T>(
    connection: &Connection,
    sql: &str,
    params: impl Params,
    read: impl Fn(&Row<'_>) -> Result<T, Failure>,
) -> Result<Option<T>, Failure> {
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(params)?;
    rows.next()?.map(read).transpose()
}

fn number(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

fn position(after: u64) -> i64 {
    i64::try_from(after).unwrap_or(i64::MAX - 1)
}

/// What [`entry`] reads, in its order. Only `bytes` is under the chain of hashes. The others say again what is
/// in it, for lookups; somebody may have changed them in the file, so they are compared.
macro_rules! entry_columns {
    () => {
        "global, bytes, stream, first, n, at"
    };
}

fn entry(row: &Row<'_>) -> Result<Entry, Failure> {
    let entry = read_row(row.get_ref(1)?.as_blob()?, row.get::<_, i64>(0)? as u64)?;
    // mutant: the-stream-of-a-commit-is-believed begins
    let agree = row.get_ref(2)?.as_blob()? == columns::stream(entry.stream)
        && row.get::<_, i64>(3)? as u64 == entry.first
    // mutant: the-stream-of-a-commit-is-believed ends
        // mutant: the-time-of-a-commit-is-believed begins
        && row.get::<_, i64>(4)? as u64 == entry.events.len() as u64
        && row.get::<_, i64>(5)? == entry.at.as_ms();
    // mutant: the-time-of-a-commit-is-believed ends
    match agree {
        true => Ok(entry),
        false => {
            let why = format!("the columns of commit {} are not what its entry says", entry.global);
            Err(Broken::Damaged(why).into())
        }
    }
}

/// The stream of a commit and the position of its first event there, as its entry says.
pub(super) fn place_in_entry(bytes: &[u8], global: u64) -> Result<(StreamId, u64), Broken> {
    read_row(bytes, global).map(|entry| (entry.stream, entry.first))
}

/// The time of the last commit is where the clock begins, so it must be what was signed. An entry that
/// cannot be read at all is the business of whoever asks for it.
pub(super) fn check_last(connection: &Connection) -> Result<(), Failure> {
    let sql = concat!("SELECT ", entry_columns!(), " FROM journal ORDER BY global DESC LIMIT 1");
    query_one(connection, sql, [], |row| {
        let is_readable = read_row(row.get_ref(1)?.as_blob()?, 0).is_ok();
        if is_readable { entry(row).map(drop) } else { Ok(()) }
    })
    .map(drop)
}

/// A whole stream. Its newest commits may be in no table yet; `newest` helps to find them.
pub(super) fn load(
    connection: &Connection,
    stream: StreamId,
    newest: &Newest,
) -> Result<Vec<Entry>, Failure> {
    entries_of(connection, stream, 0, usize::MAX, newest)
}

/// As [`load`], but only what has events after a position, beginning with the commit that holds the
/// first of them.
pub(super) fn entries_of(
    connection: &Connection,
    stream: StreamId,
    after: u64,
    limit: usize,
    newest: &Newest,
) -> Result<Vec<Entry>, Failure> {
    let after = position(after) as u64;
    let mut found = Vec::new();
    let positions = positions_after(connection, stream, after, limit)?;
    add(connection, stream, &positions, after, limit, &mut found)?;
    // They came into the table meanwhile, perhaps.
    let last = found.last().map_or(0, |entry| entry.first);
    let known = newest.positions.partition_point(|position| position.first <= last);
    add(connection, stream, &newest.positions[known..], after, limit, &mut found)?;
    // Behind what anybody was told of there is nothing, unless the fate of a commit was unknown.
    let last = found.last().map_or(0, |entry| entry.first);
    let unknown = query_all(
        connection,
        concat!(
            "SELECT ",
            entry_columns!(),
            " FROM journal WHERE global > ?1 AND stream = ?2 ORDER BY global"
        ),
        params![newest.known_to as i64, columns::stream(stream)],
        entry,
    )?;
    let unknown = unknown.into_iter().filter(|entry| entry.first > last && reaches(entry, after));
    found.extend(unknown.take(limit.saturating_sub(found.len())));
    Ok(found)
}

/// Whether it has events after a position.
fn reaches(entry: &Entry, after: u64) -> bool {
    entry.first + entry.events.len() as u64 > after + 1
}

/// The commits in these positions that have events after a position.
fn add(
    connection: &Connection,
    stream: StreamId,
    positions: &[CommitPosition],
    after: u64,
    limit: usize,
    found: &mut Vec<Entry>,
) -> Result<(), Failure> {
    let mut journal = connection.prepare_cached(concat!(
        "SELECT ",
        entry_columns!(),
        " FROM journal WHERE global = ?1"
    ))?;
    for (index, position) in positions.iter().enumerate() {
        // It ends where the next one begins; the last one may end anywhere.
        let is_over = positions.get(index + 1).is_some_and(|next| next.first <= after + 1);
        if found.len() < limit && !is_over {
            let mut rows = journal.query(params![position.global as i64])?;
            let entry = rows.next()?.map(entry).transpose()?;
            // mutant: a-commit-from-elsewhere
            let is_here = |entry: &Entry| entry.stream == stream && entry.first == position.first;
            // Somebody else's commit must not become part of this history, nor may one be left out.
            let Some(entry) = entry.filter(is_here) else {
                return Err(
                    Broken::Damaged(format!("a commit of {stream} is not where it was")).into()
                );
            };
            found.extend(Some(entry).filter(|entry| reaches(entry, after)));
        }
    }
    Ok(())
}

/// Of all streams. Begins with the commit that holds the first event after the position.
pub(super) fn entries(
    connection: &Connection,
    after: u64,
    limit: usize,
) -> Result<Vec<Entry>, Failure> {
    query_all(
        connection,
        concat!(
            "SELECT ",
            entry_columns!(),
            " FROM journal WHERE global >= coalesce(\
             (SELECT max(global) FROM journal WHERE global <= ?1 + 1), 0) \
             AND global + n > ?1 + 1 ORDER BY global LIMIT ?2"
        ),
        params![position(after), number(limit)],
        entry,
    )
}

pub(super) fn last(connection: &Connection) -> Result<(u64, Option<Timestamp>), Failure> {
    let sql = "SELECT global + n - 1, at FROM journal ORDER BY global DESC LIMIT 1";
    let found = query_one(connection, sql, [], |row| {
        Ok((row.get::<_, i64>(0)? as u64, Some(Timestamp::from_ms(row.get(1)?))))
    })?;
    Ok(found.unwrap_or((0, None)))
}

pub(super) fn hold(connection: &Connection, id: HoldId) -> Result<Option<Arc<Hold>>, Failure> {
    let (holds, journal) = HOLDS;
    let sql = format!("SELECT {HOLD_COLUMNS} FROM {holds} {journal} WHERE h.id = ?1");
    query_one(connection, &sql, params![columns::id(id.0)], |row| Holds::default().read(row))
}

pub(super) fn session(
    connection: &Connection,
    id: SessionId,
) -> Result<Option<SessionRow>, Failure> {
    let sql = format!("SELECT {SESSION_COLUMNS} FROM sessions s WHERE s.id = ?1");
    query_one(connection, &sql, params![columns::id(id.0)], session_row)
}

pub(super) fn session_of_run(
    connection: &Connection,
    run: RunId,
) -> Result<Option<SessionId>, Failure> {
    let sql = "SELECT session FROM runs WHERE id = ?1";
    query_one(connection, sql, params![columns::id(run.0)], |row| {
        Ok(SessionId(columns::bits(row.get_ref(0)?.as_blob()?)?))
    })
}

/// Whether any kept reply is older than this.
pub(super) fn has_replies(connection: &Connection, before: Timestamp) -> Result<bool, Failure> {
    let sql = "SELECT 1 FROM replies WHERE at < ?1 LIMIT 1";
    Ok(query_one(connection, sql, params![before.as_ms()], |_| Ok(()))?.is_some())
}

pub(super) fn reply(
    connection: &Connection,
    caller: &str,
    key: &str,
) -> Result<Option<KeptReply>, Failure> {
    let sql = "SELECT request, status, at, body FROM replies WHERE caller = ?1 AND key = ?2";
    query_one(connection, sql, params![caller, key], |row| {
        Ok(KeptReply {
            caller: caller.to_owned(),
            key: key.to_owned(),
            request: Digest::from_bytes(row.get(0)?),
            status: row.get(1)?,
            at: Timestamp::from_ms(row.get(2)?),
            body: row.get(3)?,
        })
    })
}

pub(super) fn due(
    connection: &Connection,
    now: Timestamp,
    limit: usize,
) -> Result<Vec<StreamId>, Failure> {
    // Several holds of one session are one stream: read on until enough different ones are found.
    let mut statement = connection.prepare_cached(
        "SELECT session, id FROM holds INDEXED BY holds_due \
         WHERE state = 0 AND coalesce(expires_at, 9223372036854775807) <= ?1 \
             AND expires_at IS NOT NULL \
         ORDER BY coalesce(expires_at, 9223372036854775807)",
    )?;
    let mut rows = statement.query(params![now.as_ms()])?;
    let mut found = Vec::new();
    while found.len() < limit
        && let Some(row) = rows.next()?
    {
        let stream = match row.get_ref(0)?.as_blob_or_null()? {
            Some(session) => StreamId::Session(SessionId(columns::bits(session)?)),
            None => StreamId::ExternalHold(HoldId(columns::bits(row.get_ref(1)?.as_blob()?)?)),
        };
        if !found.contains(&stream) {
            found.push(stream);
        }
    }
    Ok(found)
}

pub(super) fn next_due(connection: &Connection) -> Result<Option<Timestamp>, Failure> {
    first_time(
        connection,
        "SELECT (SELECT expires_at FROM holds INDEXED BY holds_due WHERE state = 0 \
             ORDER BY coalesce(expires_at, 9223372036854775807), id LIMIT 1)",
    )
}

pub(super) fn sessions_with_work(
    connection: &Connection,
    after: Option<SessionId>,
    limit: usize,
) -> Result<Vec<(SessionId, NodeId)>, Failure> {
    let after = after.map_or([0; 16], |id| columns::id(id.0));
    query_all(
        connection,
        "SELECT id, owner FROM sessions INDEXED BY sessions_owing \
         WHERE owes = 1 AND id > ?1 ORDER BY id LIMIT ?2",
        params![after, number(limit)],
        |row| {
            let id = SessionId(columns::bits(row.get_ref(0)?.as_blob()?)?);
            Ok((id, NodeId(columns::bits(row.get_ref(1)?.as_blob()?)?)))
        },
    )
}

fn first_time(connection: &Connection, sql: &str) -> Result<Option<Timestamp>, Failure> {
    let ms = connection.prepare_cached(sql)?.query_row([], |row| row.get::<_, Option<i64>>(0));
    Ok(ms?.map(Timestamp::from_ms))
}

pub(super) fn audit(
    connection: &Connection,
    after: u64,
    limit: usize,
) -> Result<Vec<AuditEntry>, Failure> {
    let Some(begin) = row_of_entry(connection, position(after) + 1)? else { return Ok(Vec::new()) };
    query_all(
        connection,
        "SELECT seq, hash, bytes FROM journal WHERE global >= ?1 ORDER BY global LIMIT ?2",
        params![begin, number(limit)],
        |row| {
            Ok(AuditEntry {
                seq: row.get::<_, i64>(0)? as u64,
                hash: row.get(1)?,
                bytes: row.get(2)?,
            })
        },
    )
}

/// The row of the first entry with at least this number. Numbers rise with positions, so halving
/// finds it in a few steps, and no index has to be kept for it.
fn row_of_entry(connection: &Connection, seq: i64) -> Result<Option<i64>, Failure> {
    let last = "SELECT global, seq FROM journal ORDER BY global DESC LIMIT 1";
    let pair = |row: &Row<'_>| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?));
    let Some((last_global, last_seq)) = connection.query_row(last, [], pair).optional()? else {
        return Ok(None);
    };
    if seq > last_seq {
        return Ok(None);
    }
    // An entry has at least one event, so its position is at least its number.
    let (mut low, mut high) = (seq.max(1), last_global);
    let mut at_most = connection.prepare_cached(
        "SELECT global, seq FROM journal WHERE global <= ?1 ORDER BY global DESC LIMIT 1",
    )?;
    while low < high {
        let middle = low + (high - low + 1) / 2;
        let (global, found) = at_most.query_row(params![middle], pair)?;
        if found > seq {
            high = global - 1;
        } else {
            low = middle;
        }
    }
    let found = at_most.query_row(params![low], pair).optional()?;
    Ok(found.map(|(global, _)| global))
}

pub(super) fn checkpoints(connection: &Connection, after: u64) -> Result<Vec<Vec<u8>>, Failure> {
    query_all(
        connection,
        "SELECT bytes FROM checkpoints WHERE seq > ?1 ORDER BY seq",
        params![position(after)],
        |row| Ok(row.get(0)?),
    )
}
