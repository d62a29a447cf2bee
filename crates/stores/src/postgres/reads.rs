//! Everything that is looked up by a key or a position.

use domain::digest::Digest;
use domain::grant::Grant;
use domain::hold::Hold;
use domain::id::{HoldId, NodeId, RunId, SessionId, StreamId};
use domain::person::{Actor, PersonId};
use domain::session::Home;
use domain::time::Timestamp;
use ports::store::{AuditEntry, Entry, HoldFacts, KeptReply, SessionRow};
use std::sync::Arc;
use tokio_postgres::Row;

use super::cells;
use super::error::PgFailure;
use super::sql::TypedSql;
use crate::record::{Broken, StoredActor, read_grant, read_hold, read_row};

pub(super) fn number(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

fn position(after: u64) -> i64 {
    i64::try_from(after).unwrap_or(i64::MAX - 1).min(i64::MAX - 1)
}

/// What [`read_entry`] reads, in its order. Only `bytes` is under the chain of hashes. The others say again what is
/// in it, for lookups; somebody may have changed them, so they are compared.
const ENTRY_COLUMNS: &str = "j.global, j.bytes, j.stream, j.first, j.n, j.at";

pub(super) fn read_entry(row: &Row) -> Result<Entry, PgFailure> {
    let entry = read_row(row.get(1), row.get::<_, i64>(0) as u64)?;
    let agree = row.get::<_, &[u8]>(2) == cells::stream(entry.stream)
        && row.get::<_, i64>(3) as u64 == entry.first
        && row.get::<_, i64>(4) as u64 == entry.events.len() as u64
        && row.get::<_, i64>(5) == entry.at.as_ms();
    match agree {
        true => Ok(entry),
        false => {
            let why = format!("the columns of commit {} are not what its entry says", entry.global);
            Err(Broken::Damaged(why).into())
        }
    }
}

/// Of one stream, beginning with the commit that holds the first event after the position.
pub(super) fn entries_of(stream: StreamId, after: u64, limit: usize) -> TypedSql {
    TypedSql::new(format!(
        "SELECT {ENTRY_COLUMNS} FROM holdpoint.journal j WHERE stream = $1 AND first >= coalesce(\
         (SELECT max(first) FROM holdpoint.journal WHERE stream = $1 AND first <= $2 + 1), 0) \
         AND first + n > $2 + 1 ORDER BY first LIMIT $3"
    ))
    .with(cells::stream(stream))
    .with(position(after))
    .with(number(limit))
}

/// Of all streams.
pub(super) fn entries(after: u64, limit: usize) -> TypedSql {
    TypedSql::new(format!(
        "SELECT {ENTRY_COLUMNS} FROM holdpoint.journal j WHERE global >= coalesce(\
         (SELECT max(global) FROM holdpoint.journal WHERE global <= $1 + 1), 0) \
         AND global + n > $1 + 1 ORDER BY global LIMIT $2"
    ))
    .with(position(after))
    .with(number(limit))
}

pub(super) fn last_entry() -> TypedSql {
    TypedSql::new(format!(
        "SELECT {ENTRY_COLUMNS}, j.seq, j.hash FROM holdpoint.journal j ORDER BY j.global DESC LIMIT 1"
    ))
}

pub(super) fn head() -> TypedSql {
    TypedSql::new("SELECT global, seq, at, hash, vouched FROM holdpoint.head")
}

pub(super) fn hold(id: HoldId) -> TypedSql {
    TypedSql::new("SELECT record FROM holdpoint.holds WHERE id = $1").with(cells::id(id.0))
}

pub(super) fn read_hold_row(row: &Row) -> Result<Arc<Hold>, PgFailure> {
    Ok(read_hold(row.get(0))?)
}

pub(super) fn read_grant_row(row: &Row) -> Result<Arc<Grant>, PgFailure> {
    Ok(read_grant(row.get(0))?)
}

pub(super) const FACT_COLUMNS: &str = "h.id, h.state, h.risk, h.tool, h.source, h.likeness, \
     h.opened_at, h.answered_at, h.decided_at, h.decided_by";

pub(super) fn read_facts(row: &Row) -> Result<HoldFacts, PgFailure> {
    let damaged = || Broken::Damaged("a hold's row has no known deciders".into());
    let text = |column| -> Result<Option<Arc<str>>, Broken> {
        row.get::<_, Option<&[u8]>>(column)
            .map(cells::text)
            .transpose()
            .map(|it| it.map(Into::into))
    };
    let at = |column| row.get::<_, Option<i64>>(column).map(Timestamp::from_ms);
    let decided_by: Vec<String> = match row.get::<_, Option<&[u8]>>(9) {
        Some(names) => serde_json::from_slice(names).map_err(|_| damaged())?,
        None => Vec::new(),
    };
    Ok(HoldFacts {
        id: HoldId(cells::bits(row.get(0))?),
        state: cells::state(row.get(1))?,
        risk: cells::risk(row.get(2))?,
        tool: text(3)?,
        source: text(4)?,
        likeness: row.get(5),
        opened_at: Timestamp::from_ms(row.get(6)),
        answered_at: at(7),
        decided_at: at(8),
        decided_by: decided_by.iter().map(|name| PersonId::new(name)).collect(),
    })
}

pub(super) const SESSION_COLUMNS: &str = "s.id, s.agent, s.creator_record, s.title, s.run, \
     s.run_status, s.opened_at, s.changed_at, s.owes, s.owner, s.door, s.place";

pub(super) fn session(id: SessionId) -> TypedSql {
    TypedSql::new(format!("SELECT {SESSION_COLUMNS} FROM holdpoint.sessions s WHERE s.id = $1"))
        .with(cells::id(id.0))
}

pub(super) fn read_session(row: &Row) -> Result<SessionRow, PgFailure> {
    let damaged = || Broken::Damaged("a session's row makes no sense".into());
    let text = |column| -> Result<Option<String>, Broken> {
        let cell = row.get::<_, Option<&[u8]>>(column).map(cells::text).transpose()?;
        Ok(cell.map(str::to_owned))
    };
    let creator: StoredActor<'_> = serde_json::from_slice(row.get(2)).map_err(|_| damaged())?;
    let run = match (row.get::<_, Option<&[u8]>>(4), row.get::<_, Option<i64>>(5)) {
        (Some(run), Some(code)) => Some((RunId(cells::bits(run)?), cells::status(code)?)),
        (None, None) => None,
        _ => return Err(damaged().into()),
    };
    let home = text(10)?.zip(text(11)?);
    Ok(SessionRow {
        id: SessionId(cells::bits(row.get(0))?),
        agent: cells::text(row.get(1))?.into(),
        creator: Actor::from(creator),
        title: text(3)?,
        home: home.map(|(door, place)| Home { door: door.into(), place }),
        run,
        opened_at: Timestamp::from_ms(row.get(6)),
        changed_at: Timestamp::from_ms(row.get(7)),
        owes: row.get(8),
        owner: NodeId(cells::bits(row.get(9))?),
    })
}

pub(super) fn session_of_run(run: RunId) -> TypedSql {
    TypedSql::new("SELECT session FROM holdpoint.runs WHERE id = $1").with(cells::id(run.0))
}

pub(super) fn sessions_with_work(after: Option<SessionId>, limit: usize) -> TypedSql {
    TypedSql::new(
        "SELECT id, owner FROM holdpoint.sessions WHERE owes AND id > $1 ORDER BY id LIMIT $2",
    )
    .with(after.map_or_else(|| vec![0; 16], |id| cells::id(id.0)))
    .with(number(limit))
}

pub(super) fn read_work(row: &Row) -> Result<(SessionId, NodeId), PgFailure> {
    Ok((SessionId(cells::bits(row.get(0))?), NodeId(cells::bits(row.get(1))?)))
}

pub(super) fn reply(caller: &str, key: &str) -> TypedSql {
    TypedSql::new(
        "SELECT request, status, at, body FROM holdpoint.replies WHERE caller = $1 AND key = $2",
    )
    .with(cells::name(caller))
    .with(cells::name(key))
}

pub(super) fn read_reply(caller: &str, key: &str, row: &Row) -> Result<KeptReply, PgFailure> {
    let damaged = || Broken::Damaged("a kept reply makes no sense".into());
    let request: [u8; 32] = row.get::<_, &[u8]>(0).try_into().map_err(|_| damaged())?;
    Ok(KeptReply {
        caller: caller.to_owned(),
        key: key.to_owned(),
        request: Digest::from_bytes(request),
        status: u16::try_from(row.get::<_, i64>(1)).map_err(|_| damaged())?,
        at: Timestamp::from_ms(row.get(2)),
        body: row.get(3),
    })
}

/// Whether any kept reply is older than this.
pub(super) fn has_replies(before: Timestamp) -> TypedSql {
    TypedSql::new("SELECT EXISTS (SELECT 1 FROM holdpoint.replies WHERE at < $1)")
        .with(before.as_ms())
}

/// Several holds of one session are one stream.
pub(super) fn due(now: Timestamp, limit: usize) -> TypedSql {
    TypedSql::new(
        "SELECT session, CASE WHEN session IS NULL THEN id END AS alone \
         FROM holdpoint.holds WHERE state = 0 AND expires_at IS NOT NULL \
             AND coalesce(expires_at, 9223372036854775807) <= $1 \
         GROUP BY 1, 2 ORDER BY min(expires_at) LIMIT $2",
    )
    .with(now.as_ms())
    .with(number(limit))
}

pub(super) fn read_due(row: &Row) -> Result<StreamId, PgFailure> {
    match row.get::<_, Option<&[u8]>>(0) {
        Some(session) => Ok(StreamId::Session(SessionId(cells::bits(session)?))),
        None => Ok(StreamId::ExternalHold(HoldId(cells::bits(row.get(1))?))),
    }
}

pub(super) fn next_due() -> TypedSql {
    TypedSql::new(
        "SELECT expires_at FROM holdpoint.holds WHERE state = 0 \
         ORDER BY coalesce(expires_at, 9223372036854775807), id LIMIT 1",
    )
}

pub(super) fn first_time(row: Option<Row>) -> Option<Timestamp> {
    row.and_then(|row| row.get::<_, Option<i64>>(0)).map(Timestamp::from_ms)
}

pub(super) fn audit(after: u64, limit: usize) -> TypedSql {
    TypedSql::new(
        "SELECT seq, hash, bytes FROM holdpoint.journal WHERE seq > $1 ORDER BY seq LIMIT $2",
    )
    .with(position(after))
    .with(number(limit))
}

pub(super) fn read_audit(row: &Row) -> Result<AuditEntry, PgFailure> {
    let hash = row.get::<_, &[u8]>(1).try_into();
    Ok(AuditEntry {
        seq: row.get::<_, i64>(0) as u64,
        hash: hash.map_err(|_| Broken::Damaged("an entry has no hash".into()))?,
        bytes: row.get(2),
    })
}

pub(super) fn checkpoints(after: u64) -> TypedSql {
    TypedSql::new("SELECT bytes FROM holdpoint.checkpoints WHERE seq > $1 ORDER BY seq")
        .with(position(after))
}

pub(super) fn node(id: NodeId) -> TypedSql {
    TypedSql::new("SELECT gone FROM holdpoint.nodes WHERE id = $1").with(cells::id(id.0))
}

pub(super) fn all_have_seen(version: u64) -> TypedSql {
    TypedSql::new(
        "SELECT NOT EXISTS (SELECT 1 FROM holdpoint.nodes WHERE NOT gone AND global_seen < $1)",
    )
    .with(position(version))
}
