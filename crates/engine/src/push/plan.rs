//! Who is told of what. A notice stands in the outbox once for each browser and hold: what happens before it is sent takes its
//! place, so that nobody is told that something waits which is decided already.

use std::collections::BTreeSet;

use domain::hold::Hold;
use domain::id::HoldId;
use domain::person::PersonId;
use domain::time::Timestamp;
use ports::push::PushKind;
use ports::store::{OutboxChange, OutboxItem, OutboxKind, OutboxWrite, PutNote};
use serde_json::{Value, json};

use super::subscription::{Subscription, remove};
use super::{QUEUE, SOON, SUBSCRIPTIONS, TOLD};
use crate::limits::{EXPIRING_SOON_MS, PUSH_BROWSERS_AT_ONCE, PUSH_TOLD_MS};
use crate::{Engine, Error};

/// One notice as it waits in the outbox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PlannedNotice {
    pub(super) kind: PushKind,
    pub(super) hold: HoldId,
    /// Of the subscription.
    pub(super) key: String,
}

impl PlannedNotice {
    pub(super) fn read(payload: &[u8]) -> Option<PlannedNotice> {
        let value: Value = serde_json::from_slice(payload).ok()?;
        Some(PlannedNotice {
            kind: PushKind::parse(value["kind"].as_str()?)?,
            hold: value["hold"].as_str()?.parse().ok()?,
            key: value["to"].as_str()?.to_owned(),
        })
    }

    fn item(&self, now: Timestamp) -> OutboxItem {
        let id = self.key.rsplit_once('/').map_or(self.key.as_str(), |(_, id)| id);
        let value = json!({
            "kind": self.kind.name(),
            "hold": self.hold.to_string(),
            "to": self.key,
        });
        OutboxItem {
            lane: id.to_owned(),
            payload: value.to_string().into_bytes(),
            ..OutboxItem::new(QUEUE, &format!("{}/{id}", self.hold), OutboxKind::Notice, now)
        }
    }

    fn change(&self, now: Timestamp) -> OutboxChange {
        // Whatever is there by now is older news of the same hold.
        OutboxChange { expected: None, ..OutboxChange::add(self.item(now)) }
    }
}

/// Whether it waits for this person: the inbox's own rule.
pub(super) fn waits_for(engine: &Engine, hold: &Hold, who: &PersonId) -> bool {
    hold.is_pending()
        && !hold.is_overdue(engine.now())
        && hold.admits(who, engine.people())
        && hold.votes.iter().all(|vote| vote.by != *who)
}

impl Engine {
    /// Tells those for whom it waits, and later that it expires.
    pub(super) async fn plan_asks(
        &self,
        hold: &Hold,
        kind: PushKind,
    ) -> Result<OutboxWrite, Error> {
        let mut write = OutboxWrite::default();
        let now = self.now();
        for one in self.all_subscriptions().await? {
            if waits_for(self, hold, &one.person) {
                self.tell(&one, hold.id, kind, &mut write);
            }
        }
        let soon = hold.expires_at.map(|at| at.minus_ms(EXPIRING_SOON_MS));
        if let Some(due_at) = soon.filter(|at| *at > now)
            && kind == PushKind::Asks
            && !write.changes.is_empty()
        {
            write.notes.push(PutNote {
                shelf: SOON.into(),
                key: hold.id.to_string(),
                value: Some(Vec::new()),
                expected: None,
                due_at: Some(due_at),
                forget_at: hold.expires_at,
            });
        }
        Ok(write)
    }

    /// Tells those whom a comment addresses.
    pub(super) async fn plan_mentions(
        &self,
        hold: &Hold,
        mentions: &BTreeSet<PersonId>,
    ) -> Result<OutboxWrite, Error> {
        let mut write = OutboxWrite::default();
        for who in mentions {
            for one in self.subscriptions_of(who).await? {
                // One that asks for an answer stands for both.
                let asks = waits_for(self, hold, who) && self.is_to_be_sent(hold.id, &one).await?;
                if !asks {
                    self.tell(&one, hold.id, PushKind::Said, &mut write);
                }
            }
        }
        Ok(write)
    }

    /// Takes back what browsers were told.
    pub(super) async fn plan_settled(&self, hold: HoldId) -> Result<OutboxWrite, Error> {
        let mut write = OutboxWrite::default();
        let prefix = format!("{hold}/");
        let told = self.0.store.notes(TOLD, &prefix, None, PUSH_BROWSERS_AT_ONCE).await?;
        for note in told {
            let key = String::from_utf8_lossy(&note.value).into_owned();
            let planned = PlannedNotice { kind: PushKind::Settled, hold, key };
            write.changes.push(planned.change(self.now()));
            write.notes.push(remove(TOLD, note.key));
        }
        if !write.changes.is_empty() {
            write.notes.push(remove(SOON, hold.to_string()));
        }
        Ok(write)
    }

    fn tell(&self, one: &Subscription, hold: HoldId, kind: PushKind, write: &mut OutboxWrite) {
        let now = self.now();
        write.changes.push(PlannedNotice { kind, hold, key: one.key() }.change(now));
        write.notes.push(PutNote {
            shelf: TOLD.into(),
            key: format!("{hold}/{}", one.id),
            value: Some(one.key().into_bytes()),
            expected: None,
            due_at: None,
            forget_at: Some(now.plus_ms(PUSH_TOLD_MS)),
        });
    }

    async fn is_to_be_sent(&self, hold: HoldId, one: &Subscription) -> Result<bool, Error> {
        Ok(self.0.store.outbox_item(QUEUE, &format!("{hold}/{}", one.id)).await?.is_some())
    }

    async fn all_subscriptions(&self) -> Result<Vec<Subscription>, Error> {
        let now = self.now();
        let notes = self.0.store.notes(SUBSCRIPTIONS, "", None, PUSH_BROWSERS_AT_ONCE).await?;
        let kept = notes.iter().filter(|note| note.forget_at.is_none_or(|at| at > now));
        Ok(kept.filter_map(Subscription::read).collect())
    }

    pub(super) async fn is_somebody_subscribed(&self) -> Result<bool, Error> {
        Ok(!self.0.store.notes(SUBSCRIPTIONS, "", None, 1).await?.is_empty())
    }
}
