//! The outbox: what leaves for the outside, and which lane is due.

use std::collections::BTreeMap;
use std::convert::Infallible;

use domain::time::Timestamp;
use ports::store::{
    DueLane, OutboxChange, OutboxItem, OutboxKind, OutboxLane, OutboxOrder, OutboxWrite,
};

use super::notes::Notes;
use crate::lane_order::{LaneItems, candidate, ends_lease, lane_due_at};

#[derive(Clone, Default)]
pub(super) struct Outbox {
    items: BTreeMap<(String, String), OutboxItem>,
    lanes: BTreeMap<OutboxLane, Timestamp>,
}

impl Outbox {
    /// Whether all was written: nothing is if one was not as expected.
    pub(super) fn write(&mut self, notes: &mut Notes, write: OutboxWrite, now: Timestamp) -> bool {
        let as_expected = write.changes.iter().all(|change| {
            let found = self.item(&change.queue, &change.key).map_or(0, |item| item.version);
            change.expected.is_none_or(|expected| expected == found)
        });
        if !as_expected || !notes.put(write.notes) {
            return false;
        }
        for change in write.changes {
            self.apply(change, now);
        }
        for lane in &write.recheck {
            self.settle(lane, false, now);
        }
        true
    }

    /// What a commit adds. An item that is there already is the same.
    pub(super) fn add(&mut self, item: &OutboxItem, now: Timestamp) {
        if self.item(&item.queue, &item.key).is_none() {
            let key = (item.queue.clone(), item.key.clone());
            self.items.insert(key, OutboxItem { version: 1, ..item.clone() });
            self.settle(&item.lane(), false, now);
        }
    }

    fn apply(&mut self, change: OutboxChange, now: Timestamp) {
        let key = (change.queue, change.key);
        let before = self.items.remove(&key);
        let was_served = ends_lease(before.as_ref(), change.item.as_ref());
        let left = before.as_ref().map(OutboxItem::lane);
        let entered = change.item.as_ref().map(OutboxItem::lane);
        if let Some(item) = change.item {
            let version = before.map_or(0, |before| before.version) + 1;
            self.items.insert(key, OutboxItem { version, ..item });
        }
        if let Some(left) = left.as_ref().filter(|left| entered.as_ref() != Some(left)) {
            self.settle(left, was_served, now);
        }
        if let Some(entered) = &entered {
            self.settle(entered, was_served && left.as_ref() == Some(entered), now);
        }
    }

    fn settle(&mut self, lane: &OutboxLane, was_served: bool, now: Timestamp) {
        let Ok(next) = candidate(&*self, lane, now);
        match next {
            None => drop(self.lanes.remove(lane)),
            Some(next) => {
                let before = self.lanes.get(lane).copied();
                self.lanes.insert(lane.clone(), lane_due_at(&next, before, was_served, now));
            }
        }
    }

    pub(super) fn item(&self, queue: &str, key: &str) -> Option<&OutboxItem> {
        self.items.get(&(queue.to_owned(), key.to_owned()))
    }

    pub(super) fn lanes(&self, queue: &str, in_order: bool, limit: usize) -> Vec<DueLane> {
        let lanes = self.lanes.iter().map(|(lane, due_at)| (*due_at, lane));
        let mut lanes: Vec<_> =
            lanes.filter(|(_, lane)| lane.queue == queue && lane.in_order == in_order).collect();
        lanes.sort();
        let due_lane = |(due_at, lane): (_, &OutboxLane)| DueLane { lane: lane.clone(), due_at };
        lanes.into_iter().take(limit).map(due_lane).collect()
    }

    pub(super) fn next(&self, lane: &OutboxLane, now: Timestamp) -> Option<OutboxItem> {
        let Ok(next) = candidate(self, lane, now);
        next.filter(|next| next.at <= now).map(|next| next.item)
    }

    pub(super) fn items(&self, queue: &str, ready_by: Timestamp, limit: usize) -> Vec<OutboxItem> {
        let ready = self.items.values();
        let mut ready: Vec<_> =
            ready.filter(|item| item.queue == queue && item.ready_at() <= ready_by).collect();
        ready.sort_by(|a, b| (a.ready_at(), &a.key).cmp(&(b.ready_at(), &b.key)));
        ready.into_iter().take(limit).cloned().collect()
    }

    pub(super) fn backlog(&self) -> Vec<(OutboxKind, u64)> {
        let count = |kind| self.items.values().filter(|item| item.kind == kind).count() as u64;
        OutboxKind::ALL.map(|kind| (kind, count(kind))).into()
    }

    fn of<'a>(&'a self, lane: &'a OutboxLane) -> impl Iterator<Item = &'a OutboxItem> {
        self.items.values().filter(move |item| {
            item.queue == lane.queue
                && item.lane == lane.name
                && item.order.is_some() == lane.in_order
        })
    }
}

impl LaneItems for Outbox {
    type Error = Infallible;

    fn first(&self, lane: &OutboxLane) -> Result<Option<OutboxItem>, Infallible> {
        Ok(self.of(lane).min_by(|a, b| (a.order, &a.key).cmp(&(b.order, &b.key))).cloned())
    }

    fn first_prompt(
        &self,
        lane: &OutboxLane,
        after: OutboxOrder,
    ) -> Result<Option<OutboxItem>, Infallible> {
        let prompts = self.of(lane).filter(|item| item.kind == OutboxKind::Prompt);
        let behind = prompts.filter(|item| item.order.is_some_and(|order| order > after));
        Ok(behind.min_by(|a, b| (a.order, &a.key).cmp(&(b.order, &b.key))).cloned())
    }

    fn earliest(&self, lane: &OutboxLane) -> Result<Option<OutboxItem>, Infallible> {
        Ok(self
            .of(lane)
            .min_by(|a, b| (a.ready_at(), &a.key).cmp(&(b.ready_at(), &b.key)))
            .cloned())
    }

    fn leased_until(&self, lane: &OutboxLane) -> Result<Option<Timestamp>, Infallible> {
        Ok(self.of(lane).filter_map(|item| item.lease).map(|lease| lease.until).max())
    }
}
