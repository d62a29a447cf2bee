//! What the service of chats reads and writes beside commands: its own notes, its own queues of the outbox, a
//! hold as it is on disk, the end of the log, and whether a node is gone. Everything else that it changes goes
//! through a command, like the requests of any other door.

use std::sync::Arc;

use domain::hold::Hold;
use domain::id::{HoldId, NodeId};
use domain::time::Timestamp;
use ports::store::{DueLane, Note, OutboxItem, OutboxLane, OutboxWrite, PutNote, Store};

use crate::{Engine, Error};

/// The shelf of what all chats share.
const COMMON_SHELF: &str = "chats";
/// Shelves and queues of one channel are `chat.NAME` and `chat.NAME.…`.
const OF_ONE_CHANNEL: &str = "chat.";

/// The records of chats, and nothing else that a store has. A cheap handle.
#[derive(Clone)]
pub struct ChatRecords(Arc<dyn Store>);

impl Engine {
    pub fn chat_records(&self) -> ChatRecords {
        ChatRecords(self.0.store.clone())
    }
}

impl ChatRecords {
    pub async fn note(&self, shelf: &str, key: &str) -> Result<Option<Note>, Error> {
        check_owner(shelf)?;
        Ok(self.0.note(shelf, key).await?)
    }

    /// Notes of a shelf whose keys have a prefix, in the order of their keys, after one of them.
    pub async fn notes(
        &self,
        shelf: &str,
        prefix: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Note>, Error> {
        check_owner(shelf)?;
        Ok(self.0.notes(shelf, prefix, after, limit).await?)
    }

    /// Notes that are due, the earliest first. Only records of earlier versions of the program are.
    pub async fn due_notes(
        &self,
        shelf: &str,
        now: Timestamp,
        limit: usize,
    ) -> Result<Vec<Note>, Error> {
        check_owner(shelf)?;
        Ok(self.0.due_notes(shelf, now, limit).await?)
    }

    /// All, or (`false`) none, because one was not as expected.
    pub async fn put_notes(&self, puts: Vec<PutNote>) -> Result<bool, Error> {
        puts.iter().try_for_each(|put| check_owner(&put.shelf))?;
        Ok(self.0.put_notes(puts).await?)
    }

    pub async fn outbox_item(&self, queue: &str, key: &str) -> Result<Option<OutboxItem>, Error> {
        check_owner(queue)?;
        Ok(self.0.outbox_item(queue, key).await?)
    }

    /// Items of a queue that are ready by a time, the earliest first.
    pub async fn outbox_items(
        &self,
        queue: &str,
        by: Timestamp,
        limit: usize,
    ) -> Result<Vec<OutboxItem>, Error> {
        check_owner(queue)?;
        Ok(self.0.outbox_items(queue, by, limit).await?)
    }

    /// Lanes of a queue in which something is to be sent, the one that is due first in front.
    pub async fn outbox_lanes(
        &self,
        queue: &str,
        in_order: bool,
        limit: usize,
    ) -> Result<Vec<DueLane>, Error> {
        check_owner(queue)?;
        Ok(self.0.outbox_lanes(queue, in_order, limit).await?)
    }

    /// What is claimed next in a lane, if anything of it can be now.
    pub async fn outbox_next(
        &self,
        lane: &OutboxLane,
        now: Timestamp,
    ) -> Result<Option<OutboxItem>, Error> {
        check_owner(&lane.queue)?;
        Ok(self.0.outbox_next(lane, now).await?)
    }

    /// All changes, or (`false`) none, because one was not as expected.
    pub async fn write_outbox(&self, write: OutboxWrite, now: Timestamp) -> Result<bool, Error> {
        let queues = write.changes.iter().map(|change| &change.queue);
        let items = write.changes.iter().filter_map(|change| change.item.as_ref());
        let shelves = write.notes.iter().map(|put| &put.shelf);
        let lanes = write.recheck.iter().map(|lane| &lane.queue);
        let mut all = queues.chain(items.map(|item| &item.queue)).chain(shelves).chain(lanes);
        all.try_for_each(|name| check_owner(name))?;
        Ok(self.0.write_outbox(write, now).await?)
    }

    /// As it is on disk. People see it only as the audience of its prompt.
    pub async fn hold(&self, id: HoldId) -> Result<Option<Arc<Hold>>, Error> {
        Ok(self.0.hold(id).await?)
    }

    /// The position of the last event of the log.
    pub async fn log_end(&self) -> Result<u64, Error> {
        Ok(self.0.last().await?.0)
    }

    /// Whether a node is provably gone, so that what it had in hand may be taken over.
    pub async fn is_gone(&self, node: NodeId) -> Result<bool, Error> {
        Ok(self.0.is_gone(node).await?)
    }
}

/// Callbacks, snoozes and what other doors keep is not for chats.
fn check_owner(name: &str) -> Result<(), Error> {
    match name == COMMON_SHELF || name.starts_with(OF_ONE_CHANNEL) {
        true => Ok(()),
        false => Err(Error::Unavailable(format!("`{name}` does not belong to the chats"))),
    }
}

#[cfg(test)]
mod tests {
    use domain::id::Bits;
    use ports::store::{OutboxChange, OutboxKind};
    use stores::memory::MemoryStore;

    use super::*;

    fn put(shelf: &str) -> PutNote {
        PutNote {
            shelf: shelf.into(),
            key: "k".into(),
            value: Some(b"1".to_vec()),
            expected: None,
            due_at: None,
            forget_at: None,
        }
    }

    fn add(queue: &str) -> OutboxChange {
        let at = Timestamp::from_ms(1);
        OutboxChange::add(OutboxItem::new(queue, "k", OutboxKind::Text, at))
    }

    #[tokio::test]
    async fn chats_reach_their_own_records_and_no_others() {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new(NodeId(Bits(1))));
        let (records, now) = (ChatRecords(store.clone()), Timestamp::from_ms(9));
        for own in ["chats", "chat.slack", "chat.slack.out"] {
            assert!(records.put_notes(vec![put(own)]).await.unwrap());
            assert!(records.note(own, "k").await.unwrap().is_some());
        }
        assert!(records.write_outbox(add("chat.slack").into(), now).await.unwrap());
        let strange = OutboxItem::new("callbacks", "k", OutboxKind::Callback, now);
        let writes = [
            OutboxWrite::from(add("callbacks")),
            OutboxWrite::from(OutboxChange { item: Some(strange.clone()), ..add("chat.slack") }),
            OutboxWrite::from(vec![put("chat.slack.out"), put("snoozes")]),
            OutboxWrite { recheck: vec![strange.lane()], ..OutboxWrite::default() },
        ];
        for write in writes {
            assert!(records.write_outbox(write.clone(), now).await.is_err(), "{write:?}");
        }
        for other in ["snoozes", "callbacks", "undelivered", "chatter", "conversations", ""] {
            assert!(records.put_notes(vec![put("chats"), put(other)]).await.is_err(), "{other}");
            assert!(records.note(other, "k").await.is_err(), "{other}");
            assert!(records.notes(other, "", None, 9).await.is_err(), "{other}");
            assert!(records.due_notes(other, now, 9).await.is_err(), "{other}");
            assert!(records.outbox_item(other, "k").await.is_err(), "{other}");
            assert!(records.outbox_items(other, now, 9).await.is_err(), "{other}");
            assert!(records.outbox_lanes(other, true, 9).await.is_err(), "{other}");
            let lane = OutboxLane { queue: other.into(), in_order: true, name: "k".into() };
            assert!(records.outbox_next(&lane, now).await.is_err(), "{other}");
            assert_eq!(store.note(other, "k").await.unwrap(), None, "nothing was written");
        }
        assert_eq!(store.outbox_item("callbacks", "k").await.unwrap(), None);
        assert_eq!(store.note("chats", "k").await.unwrap().unwrap().version, 1, "all or none");
    }
}
