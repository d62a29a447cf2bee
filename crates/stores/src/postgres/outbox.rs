//! The outbox: what leaves for the outside, and whose turn it is. All writes are made by a transaction that
//! has locked the head of the journal, so nothing changes between a look and a write.

use std::convert::Infallible;

use domain::id::NodeId;
use domain::time::Timestamp;
use ports::store::{
    DueLane, OutboxChange, OutboxItem, OutboxLane, OutboxLease, OutboxOrder, OutboxWrite,
};
use tokio_postgres::{Client, Row};

use super::error::PgFailure;
use super::sql::TypedSql;
use super::{cells, notes};
use crate::lane_order::{Candidate, LaneItems, candidate, ends_lease, lane_due_at};

const COLUMNS: &str = "queue, key, kind, lane, order_at, order_number, due_at, lease_owner, \
                       lease_until, attempts, version, payload";

/// Whether all was written: nothing is if one was not as expected.
pub(super) async fn write(
    client: &Client,
    write: &OutboxWrite,
    now: Timestamp,
) -> Result<bool, PgFailure> {
    for change in &write.changes {
        let Some(expected) = change.expected else { continue };
        let found = item(client, &change.queue, &change.key).await?;
        if found.map_or(0, |item| item.version) != expected {
            return Ok(false);
        }
    }
    // Looks before it writes, too.
    if !notes::put(client, &write.notes).await? {
        return Ok(false);
    }
    for change in &write.changes {
        apply(client, change, now).await?;
    }
    for lane in &write.recheck {
        settle(client, lane, false, now).await?;
    }
    Ok(true)
}

/// What a commit adds. An item that is there already is the same.
pub(super) async fn add(
    client: &Client,
    new: &OutboxItem,
    now: Timestamp,
) -> Result<(), PgFailure> {
    if item(client, &new.queue, &new.key).await?.is_none() {
        put(client, new, 1).await?;
        settle(client, &new.lane(), false, now).await?;
    }
    Ok(())
}

async fn apply(client: &Client, change: &OutboxChange, now: Timestamp) -> Result<(), PgFailure> {
    let before = item(client, &change.queue, &change.key).await?;
    match &change.item {
        None => {
            TypedSql::new("DELETE FROM holdpoint.outbox WHERE queue = $1 AND key = $2")
                .with(cells::name(&change.queue))
                .with(cells::name(&change.key))
                .run(client)
                .await?;
        }
        Some(item) => {
            put(client, item, before.as_ref().map_or(0, |before| before.version) + 1).await?;
        }
    }
    let was_served = ends_lease(before.as_ref(), change.item.as_ref());
    let left = before.as_ref().map(OutboxItem::lane);
    let entered = change.item.as_ref().map(OutboxItem::lane);
    if let Some(left) = left.as_ref().filter(|left| entered.as_ref() != Some(left)) {
        settle(client, left, was_served, now).await?;
    }
    if let Some(entered) = &entered {
        settle(client, entered, was_served && left.as_ref() == Some(entered), now).await?;
    }
    Ok(())
}

async fn put(client: &Client, item: &OutboxItem, version: u64) -> Result<(), PgFailure> {
    TypedSql::new(
        "INSERT INTO holdpoint.outbox (queue, key, kind, lane, order_at, order_number, due_at, \
             lease_owner, lease_until, attempts, version, payload) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) \
         ON CONFLICT (queue, key) DO UPDATE SET kind = excluded.kind, lane = excluded.lane, \
             order_at = excluded.order_at, order_number = excluded.order_number, \
             due_at = excluded.due_at, lease_owner = excluded.lease_owner, \
             lease_until = excluded.lease_until, attempts = excluded.attempts, \
             version = excluded.version, payload = excluded.payload",
    )
    .with(cells::name(&item.queue))
    .with(cells::name(&item.key))
    .with(cells::outbox_code(item.kind))
    .with(cells::name(&item.lane))
    .with(item.order.map(|order| order.at.as_ms()))
    .with(item.order.map(|order| order.number))
    .with(item.due_at.as_ms())
    .with(item.lease.map(|lease| cells::id(lease.owner.0)))
    .with(item.lease.map(|lease| lease.until.as_ms()))
    .with(i64::from(item.attempts))
    .with(version as i64)
    .with(item.payload.clone())
    .run(client)
    .await?;
    Ok(())
}

/// Writes down when a lane is due.
async fn settle(
    client: &Client,
    lane: &OutboxLane,
    was_served: bool,
    now: Timestamp,
) -> Result<(), PgFailure> {
    let of_lane = |sql: &'static str| {
        let sql = TypedSql::new(sql).with(cells::name(&lane.queue));
        sql.with(lane.in_order).with(cells::name(&lane.name))
    };
    let Some(next) = next_in(client, lane, now).await? else {
        of_lane(
            "DELETE FROM holdpoint.outbox_lanes WHERE queue = $1 AND in_order = $2 AND lane = $3",
        )
        .run(client)
        .await?;
        return Ok(());
    };
    let before = of_lane(
        "SELECT due_at FROM holdpoint.outbox_lanes WHERE queue = $1 AND in_order = $2 AND lane = $3",
    );
    let before = before.row(client).await?.map(|row| Timestamp::from_ms(row.get(0)));
    let due_at = lane_due_at(&next, before, was_served, now);
    if before != Some(due_at) {
        of_lane(
            "INSERT INTO holdpoint.outbox_lanes (queue, in_order, lane, due_at) \
             VALUES ($1, $2, $3, $4) \
             ON CONFLICT (queue, in_order, lane) DO UPDATE SET due_at = excluded.due_at",
        )
        .with(due_at.as_ms())
        .run(client)
        .await?;
    }
    Ok(())
}

/// What is sent next in a lane, and when.
async fn next_in(
    client: &Client,
    lane: &OutboxLane,
    now: Timestamp,
) -> Result<Option<Candidate>, PgFailure> {
    let items = LaneSnapshot::read(client, lane).await?;
    let Ok(next) = candidate(&items, lane, now);
    Ok(next)
}

/// Of a lane, all that says what is next in it.
#[derive(Default)]
struct LaneSnapshot {
    /// In order, or the one that is ready the longest where there is no order.
    first: Option<OutboxItem>,
    first_prompt: Option<OutboxItem>,
    leased_until: Option<Timestamp>,
}

impl LaneSnapshot {
    async fn read(client: &Client, lane: &OutboxLane) -> Result<LaneSnapshot, PgFailure> {
        let order = match lane.in_order {
            true => "order_at IS NOT NULL ORDER BY order_at, order_number, key",
            false => "order_at IS NULL ORDER BY ready_at, key",
        };
        let of_lane = |what: &str, rest: &str| {
            let sql = format!(
                "SELECT {what} FROM holdpoint.outbox WHERE queue = $1 AND lane = $2 AND {rest}"
            );
            TypedSql::new(sql).with(cells::name(&lane.queue)).with(cells::name(&lane.name))
        };
        let first = of_lane(COLUMNS, &format!("{order} LIMIT 1")).row(client).await?;
        let Some(first) = first.map(|row| read_item(&row)).transpose()? else {
            return Ok(LaneSnapshot::default());
        };
        let leased = of_lane("max(lease_until)", "(order_at IS NOT NULL) = $3").with(lane.in_order);
        let leased: Option<i64> = leased.row(client).await?.and_then(|row| row.get(0));
        let first_prompt = match first.order {
            None => None,
            Some(order) => {
                let behind = "order_at IS NOT NULL AND kind = 1 \
                              AND (order_at, order_number) > ($3, $4) \
                              ORDER BY order_at, order_number, key LIMIT 1";
                let behind = of_lane(COLUMNS, behind).with(order.at.as_ms()).with(order.number);
                behind.row(client).await?.map(|row| read_item(&row)).transpose()?
            }
        };
        let leased_until = leased.map(Timestamp::from_ms);
        Ok(LaneSnapshot { first: Some(first), first_prompt, leased_until })
    }
}

impl LaneItems for LaneSnapshot {
    type Error = Infallible;

    fn first(&self, _: &OutboxLane) -> Result<Option<OutboxItem>, Infallible> {
        Ok(self.first.clone())
    }

    fn first_prompt(
        &self,
        _: &OutboxLane,
        _: OutboxOrder,
    ) -> Result<Option<OutboxItem>, Infallible> {
        Ok(self.first_prompt.clone())
    }

    fn earliest(&self, _: &OutboxLane) -> Result<Option<OutboxItem>, Infallible> {
        Ok(self.first.clone())
    }

    fn leased_until(&self, _: &OutboxLane) -> Result<Option<Timestamp>, Infallible> {
        Ok(self.leased_until)
    }
}

pub(super) async fn next(
    client: &Client,
    lane: &OutboxLane,
    now: Timestamp,
) -> Result<Option<OutboxItem>, PgFailure> {
    let next = next_in(client, lane, now).await?;
    Ok(next.filter(|next| next.at <= now).map(|next| next.item))
}

pub(super) async fn item(
    client: &Client,
    queue: &str,
    key: &str,
) -> Result<Option<OutboxItem>, PgFailure> {
    let sql = format!("SELECT {COLUMNS} FROM holdpoint.outbox WHERE queue = $1 AND key = $2");
    let found = TypedSql::new(sql).with(cells::name(queue)).with(cells::name(key));
    found.row(client).await?.map(|row| read_item(&row)).transpose()
}

pub(super) fn lanes(queue: &str, in_order: bool, limit: usize) -> TypedSql {
    TypedSql::new(
        "SELECT lane, due_at FROM holdpoint.outbox_lanes WHERE queue = $1 AND in_order = $2 \
         ORDER BY due_at, lane LIMIT $3",
    )
    .with(cells::name(queue))
    .with(in_order)
    .with(limit as i64)
}

pub(super) fn read_due_lane(queue: &str, in_order: bool, row: &Row) -> Result<DueLane, PgFailure> {
    let name = cells::text(row.get(0))?.to_owned();
    let lane = OutboxLane { queue: queue.to_owned(), in_order, name };
    Ok(DueLane { lane, due_at: Timestamp::from_ms(row.get(1)) })
}

pub(super) fn items(queue: &str, ready_by: Timestamp, limit: usize) -> TypedSql {
    TypedSql::new(format!(
        "SELECT {COLUMNS} FROM holdpoint.outbox WHERE queue = $1 AND ready_at <= $2 \
         ORDER BY ready_at, key LIMIT $3"
    ))
    .with(cells::name(queue))
    .with(ready_by.as_ms())
    .with(limit as i64)
}

pub(super) fn read_item(row: &Row) -> Result<OutboxItem, PgFailure> {
    let order = row.get::<_, Option<i64>>(4).zip(row.get::<_, Option<i64>>(5));
    let owner = row.get::<_, Option<&[u8]>>(7).map(cells::bits).transpose()?;
    let lease = owner.zip(row.get::<_, Option<i64>>(8));
    Ok(OutboxItem {
        queue: cells::text(row.get(0))?.to_owned(),
        key: cells::text(row.get(1))?.to_owned(),
        kind: cells::outbox_kind(row.get(2))?,
        lane: cells::text(row.get(3))?.to_owned(),
        order: order.map(|(at, number)| OutboxOrder { at: Timestamp::from_ms(at), number }),
        due_at: Timestamp::from_ms(row.get(6)),
        lease: lease.map(|(owner, until)| OutboxLease {
            owner: NodeId(owner),
            until: Timestamp::from_ms(until),
        }),
        attempts: u32::try_from(row.get::<_, i64>(9)).unwrap_or(u32::MAX),
        version: row.get::<_, i64>(10) as u64,
        payload: row.get(11),
    })
}
