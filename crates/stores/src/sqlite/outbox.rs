//! The outbox: what leaves for the outside, and which lane is due.

use domain::id::NodeId;
use domain::time::Timestamp;
use ports::store::{
    DueLane, OutboxChange, OutboxItem, OutboxKind, OutboxLane, OutboxLease, OutboxOrder,
    OutboxWrite,
};
use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension as _, Params, Row, params};

use super::columns;
use super::error::Failure;
use super::notes;
use crate::lane_order::{LaneItems, candidate, ends_lease, lane_due_at};

const COLUMNS: &str = "queue, key, kind, lane, order_at, order_number, due_at, lease_owner, \
                       lease_until, attempts, version, payload";

/// Whether all was written: nothing is if one was not as expected.
pub(super) fn write_item(
    connection: &Connection,
    write: &OutboxWrite,
    now: Timestamp,
) -> Result<bool, rusqlite::Error> {
    for change in &write.changes {
        let Some(expected) = change.expected else { continue };
        let found = version(connection, &change.queue, &change.key)?;
        if found.unwrap_or(0) != expected {
            return Ok(false);
        }
    }
    // Looks before it writes, too.
    if !notes::put(connection, &write.notes)? {
        return Ok(false);
    }
    for change in &write.changes {
        apply(connection, change, now)?;
    }
    for lane in &write.recheck {
        settle(connection, lane, false, now)?;
    }
    Ok(true)
}

/// What a commit adds. An item that is there already is the same.
pub(super) fn add(
    connection: &Connection,
    item: &OutboxItem,
    now: Timestamp,
) -> Result<(), rusqlite::Error> {
    if version(connection, &item.queue, &item.key)?.is_none() {
        insert(connection, item)?;
        settle(connection, &item.lane(), false, now)?;
    }
    Ok(())
}

fn apply(
    connection: &Connection,
    change: &OutboxChange,
    now: Timestamp,
) -> Result<(), rusqlite::Error> {
    let before = item(connection, &change.queue, &change.key)?;
    match (&before, &change.item) {
        (_, None) => {
            connection
                .prepare_cached("DELETE FROM outbox WHERE queue = ?1 AND key = ?2")?
                .execute(params![change.queue, change.key])?;
        }
        (None, Some(item)) => insert(connection, item)?,
        (Some(_), Some(item)) => update(connection, item)?,
    }
    let was_served = ends_lease(before.as_ref(), change.item.as_ref());
    let left = before.as_ref().map(OutboxItem::lane);
    let entered = change.item.as_ref().map(OutboxItem::lane);
    if let Some(left) = left.as_ref().filter(|left| entered.as_ref() != Some(left)) {
        settle(connection, left, was_served, now)?;
    }
    if let Some(entered) = &entered {
        settle(connection, entered, was_served && left.as_ref() == Some(entered), now)?;
    }
    Ok(())
}

/// Writes down when a lane is due.
fn settle(
    connection: &Connection,
    lane: &OutboxLane,
    was_served: bool,
    now: Timestamp,
) -> Result<(), rusqlite::Error> {
    let Some(next) = candidate(&OutboxRows(connection), lane, now)? else {
        connection
            .prepare_cached(
                "DELETE FROM outbox_lanes WHERE queue = ?1 AND in_order = ?2 AND lane = ?3",
            )?
            .execute(params![lane.queue, lane.in_order, lane.name])?;
        return Ok(());
    };
    let before = connection
        .prepare_cached(
            "SELECT due_at FROM outbox_lanes WHERE queue = ?1 AND in_order = ?2 AND lane = ?3",
        )?
        .query_row(params![lane.queue, lane.in_order, lane.name], |row| row.get(0))
        .optional()?
        .map(Timestamp::from_ms);
    let due_at = lane_due_at(&next, before, was_served, now);
    if before != Some(due_at) {
        connection
            .prepare_cached(
                "INSERT INTO outbox_lanes (queue, in_order, lane, due_at) VALUES (?1, ?2, ?3, ?4) \
                 ON CONFLICT (queue, in_order, lane) DO UPDATE SET due_at = excluded.due_at",
            )?
            .execute(params![lane.queue, lane.in_order, lane.name, due_at.as_ms()])?;
    }
    Ok(())
}

fn insert(connection: &Connection, item: &OutboxItem) -> Result<(), rusqlite::Error> {
    connection
        .prepare_cached(
            "INSERT INTO outbox (queue, key, kind, lane, order_at, order_number, due_at, \
             lease_owner, lease_until, attempts, version, payload) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, 1, ?11)",
        )?
        .execute(column_values(item))
        .map(drop)
}

fn update(connection: &Connection, item: &OutboxItem) -> Result<(), rusqlite::Error> {
    connection
        .prepare_cached(
            "UPDATE outbox SET kind = ?3, lane = ?4, order_at = ?5, order_number = ?6, \
             due_at = ?7, lease_owner = ?8, lease_until = ?9, attempts = ?10, payload = ?11, \
             version = version + 1 WHERE queue = ?1 AND key = ?2",
        )?
        .execute(column_values(item))
        .map(drop)
}

fn column_values(item: &OutboxItem) -> impl Params + '_ {
    (
        &item.queue,
        &item.key,
        kind_code(item.kind),
        &item.lane,
        item.order.map(|order| order.at.as_ms()),
        item.order.map(|order| order.number),
        item.due_at.as_ms(),
        item.lease.map(|lease| columns::id(lease.owner.0)),
        item.lease.map(|lease| lease.until.as_ms()),
        item.attempts,
        &item.payload,
    )
}

fn version(
    connection: &Connection,
    queue: &str,
    key: &str,
) -> Result<Option<u64>, rusqlite::Error> {
    let found: Option<i64> = connection
        .prepare_cached("SELECT version FROM outbox WHERE queue = ?1 AND key = ?2")?
        .query_row(params![queue, key], |row| row.get(0))
        .optional()?;
    Ok(found.map(|version| version as u64))
}

pub(super) fn item(
    connection: &Connection,
    queue: &str,
    key: &str,
) -> Result<Option<OutboxItem>, rusqlite::Error> {
    find_item(connection, "queue = ?1 AND key = ?2", "key", params![queue, key])
}

pub(super) fn lanes(
    connection: &Connection,
    queue: &str,
    in_order: bool,
    limit: usize,
) -> Result<Vec<DueLane>, Failure> {
    let mut select = connection.prepare_cached(
        "SELECT lane, due_at FROM outbox_lanes WHERE queue = ?1 AND in_order = ?2 \
         ORDER BY due_at, lane LIMIT ?3",
    )?;
    let found = select.query_map(params![queue, in_order, limit as i64], |row| {
        let lane = OutboxLane { queue: queue.to_owned(), in_order, name: row.get(0)? };
        Ok(DueLane { lane, due_at: Timestamp::from_ms(row.get(1)?) })
    })?;
    Ok(found.collect::<Result<_, _>>()?)
}

pub(super) fn next(
    connection: &Connection,
    lane: &OutboxLane,
    now: Timestamp,
) -> Result<Option<OutboxItem>, Failure> {
    let next = candidate(&OutboxRows(connection), lane, now)?;
    Ok(next.filter(|next| next.at <= now).map(|next| next.item))
}

pub(super) fn items(
    connection: &Connection,
    queue: &str,
    ready_by: Timestamp,
    limit: usize,
) -> Result<Vec<OutboxItem>, Failure> {
    let mut select = connection.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM outbox WHERE queue = ?1 AND ready_at <= ?2 \
         ORDER BY ready_at, key LIMIT ?3"
    ))?;
    let found = select.query_map(params![queue, ready_by.as_ms(), limit as i64], read_item)?;
    Ok(found.collect::<Result<_, _>>()?)
}

pub(super) fn backlog(connection: &Connection) -> Result<Vec<(OutboxKind, u64)>, Failure> {
    let mut select =
        connection.prepare_cached("SELECT kind, count(*) FROM outbox GROUP BY kind")?;
    let found = select.query_map([], |row| Ok((kind(row, 0)?, row.get::<_, i64>(1)? as u64)))?;
    let found: Vec<(OutboxKind, u64)> = found.collect::<Result<_, _>>()?;
    let count = |kind| found.iter().find(|(found, _)| *found == kind).map_or(0, |found| found.1);
    Ok(OutboxKind::ALL.map(|kind| (kind, count(kind))).into())
}

struct OutboxRows<'a>(&'a Connection);

impl LaneItems for OutboxRows<'_> {
    type Error = rusqlite::Error;

    fn first(&self, lane: &OutboxLane) -> Result<Option<OutboxItem>, rusqlite::Error> {
        find_item(
            self.0,
            "queue = ?1 AND lane = ?2 AND order_at IS NOT NULL",
            "order_at, order_number, key",
            params![lane.queue, lane.name],
        )
    }

    fn first_prompt(
        &self,
        lane: &OutboxLane,
        after: OutboxOrder,
    ) -> Result<Option<OutboxItem>, rusqlite::Error> {
        find_item(
            self.0,
            "queue = ?1 AND lane = ?2 AND order_at IS NOT NULL AND kind = 1 \
             AND (order_at, order_number) > (?3, ?4)",
            "order_at, order_number, key",
            params![lane.queue, lane.name, after.at.as_ms(), after.number],
        )
    }

    fn earliest(&self, lane: &OutboxLane) -> Result<Option<OutboxItem>, rusqlite::Error> {
        find_item(
            self.0,
            "queue = ?1 AND lane = ?2 AND order_at IS NULL",
            "ready_at, key",
            params![lane.queue, lane.name],
        )
    }

    fn leased_until(&self, lane: &OutboxLane) -> Result<Option<Timestamp>, rusqlite::Error> {
        let until: Option<i64> = self
            .0
            .prepare_cached(
                "SELECT max(lease_until) FROM outbox WHERE queue = ?1 AND lane = ?2 \
                 AND lease_until IS NOT NULL AND (order_at IS NOT NULL) = ?3",
            )?
            .query_row(params![lane.queue, lane.name, lane.in_order], |row| row.get(0))?;
        Ok(until.map(Timestamp::from_ms))
    }
}

/// The first of those.
fn find_item(
    connection: &Connection,
    which: &str,
    order: &str,
    params: impl Params,
) -> Result<Option<OutboxItem>, rusqlite::Error> {
    connection
        .prepare_cached(&format!(
            "SELECT {COLUMNS} FROM outbox WHERE {which} ORDER BY {order} LIMIT 1"
        ))?
        .query_row(params, read_item)
        .optional()
}

fn read_item(row: &Row<'_>) -> Result<OutboxItem, rusqlite::Error> {
    let order: Option<(i64, i64)> = row.get::<_, Option<i64>>(4)?.zip(row.get(5)?);
    let owner: Option<[u8; 16]> = row.get(7)?;
    let lease = owner.zip(row.get::<_, Option<i64>>(8)?);
    Ok(OutboxItem {
        queue: row.get(0)?,
        key: row.get(1)?,
        kind: kind(row, 2)?,
        lane: row.get(3)?,
        order: order.map(|(at, number)| OutboxOrder { at: Timestamp::from_ms(at), number }),
        due_at: Timestamp::from_ms(row.get(6)?),
        lease: lease.map(|(owner, until)| OutboxLease {
            owner: NodeId(domain::id::Bits(u128::from_be_bytes(owner))),
            until: Timestamp::from_ms(until),
        }),
        attempts: row.get(9)?,
        version: row.get::<_, i64>(10)? as u64,
        payload: row.get(11)?,
    })
}

/// As in the index of prompts.
fn kind_code(kind: OutboxKind) -> i64 {
    match kind {
        OutboxKind::Callback => 0,
        OutboxKind::Prompt => 1,
        OutboxKind::Repaint => 2,
        OutboxKind::Text => 3,
        OutboxKind::Notice => 4,
    }
}

fn kind(row: &Row<'_>, column: usize) -> Result<OutboxKind, rusqlite::Error> {
    let code: i64 = row.get(column)?;
    let known = OutboxKind::ALL.into_iter().find(|kind| kind_code(*kind) == code);
    known.ok_or_else(|| {
        let why =
            format!("an item of the outbox is of kind {code}, which this version does not know");
        rusqlite::Error::FromSqlConversionFailure(column, Type::Integer, why.into())
    })
}
