//! What leaves for the outside: callbacks, prompts, repaints and words in chats, all in one table.
//!
//! A callback is written in the commit that decides its hold ([`Commit::outbox`](crate::store::Commit::outbox)).
//! What chats send is written later, by the follower of the log, in one transaction with the position up to which it
//! has read ([`Store::write_outbox`](crate::store::Store::write_outbox)): after a crash in between it reads again.
//! Each item is claimed under a lease before it is sent, and stays until it is done or given up. So it leaves
//! at least once, under a key that stays the same.

use domain::id::NodeId;
use domain::time::Timestamp;

use crate::store::PutNote;

/// The longest pause before the second attempt of a text for which a prompt behind it waits.
pub const PROMPT_WAITS_MS: u64 = 2_000;
/// A text that failed once and is older than this took up a whole timeout of its platform: a prompt behind
/// it waits no longer.
pub const PROMPT_WAITS_BEHIND_MS: u64 = 8_000;

/// Which kind of thing is sent. Operators see how many of each wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OutboxKind {
    /// Word of a decided hold, to the program that opened it.
    Callback,
    /// A question that nobody has seen yet.
    Prompt,
    /// A message that stands in a chat and is to look different.
    Repaint,
    /// Words in a chat.
    Text,
    /// Word to a person's own browser.
    Notice,
}

impl OutboxKind {
    /// Every kind, for figures that list them all.
    pub const ALL: [OutboxKind; 5] = [
        OutboxKind::Callback,
        OutboxKind::Prompt,
        OutboxKind::Repaint,
        OutboxKind::Text,
        OutboxKind::Notice,
    ];

    /// The word by which rows and metrics tell it.
    pub const fn name(self) -> &'static str {
        match self {
            OutboxKind::Callback => "callback",
            OutboxKind::Prompt => "prompt",
            OutboxKind::Repaint => "repaint",
            OutboxKind::Text => "text",
            OutboxKind::Notice => "notice",
        }
    }
}

/// One thing to send, at least once.
///
/// ```
/// # use domain::time::Timestamp;
/// # use holdpoint_ports::outbox::{OutboxItem, OutboxKind};
/// let at = Timestamp::from_ms;
/// let word = OutboxItem::new("callbacks", "hold_1-approved", OutboxKind::Callback, at(5));
/// assert_eq!(word.ready_at(), at(5));
/// assert!(!word.lane().in_order, "without an order it waits for nobody");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutboxItem {
    /// Who sends it: `callbacks`, `push`, or `chat.NAME` for a channel.
    pub queue: String,
    /// Unique in its queue, and stable over retries: the receiver can recognise a repeat.
    pub key: String,
    /// What is sent.
    pub kind: OutboxKind,
    /// Where it goes: a chat, or the address of a callback. One item of a lane is sent after the other.
    pub lane: String,
    /// Items with an order leave in that order, and only the first of them is sent. Those without one are
    /// in a lane of their own beside it, and wait for nobody.
    pub order: Option<OutboxOrder>,
    /// Not sent before this.
    pub due_at: Timestamp,
    /// The task that sends it just now.
    pub lease: Option<OutboxLease>,
    /// Failed attempts, and the one that is being made.
    pub attempts: u32,
    /// What the sender needs. The store does not read it.
    pub payload: Vec<u8>,
    /// Counted from 1, one more with each write. Not read when an item is written.
    pub version: u64,
}

/// When something happened, among all that is to be sent in one lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OutboxOrder {
    /// When it happened.
    pub at: Timestamp,
    /// Within one moment.
    pub number: i64,
}

/// Until then the item is the owner's alone, unless the owner is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutboxLease {
    /// The node whose task sends the item.
    pub owner: NodeId,
    /// From this moment on others may claim the item.
    pub until: Timestamp,
}

/// Items that leave one after the other.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OutboxLane {
    /// Who sends from it.
    pub queue: String,
    /// Whether it is the lane of the ordered items, or the one beside it.
    pub in_order: bool,
    /// Where its items go: a chat, or the address of a callback.
    pub name: String,
}

/// When a lane is due. A lane that was served goes behind those that are due already, and one that
/// waits keeps its due time, whatever is put into it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DueLane {
    /// Which lane it is.
    pub lane: OutboxLane,
    /// When its first item that can be claimed may be.
    pub due_at: Timestamp,
}

/// Changes of the outbox and of the records beside it: all of them, or none because one was not as
/// expected.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OutboxWrite {
    /// Of items.
    pub changes: Vec<OutboxChange>,
    /// Of notes, which are written in the same step.
    pub notes: Vec<PutNote>,
    /// Lanes whose due time is to be found out anew, though nothing in them changes.
    pub recheck: Vec<OutboxLane>,
}

/// One item that is written, replaced or taken away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutboxChange {
    /// The queue that the item is in.
    pub queue: String,
    /// The item's key within the queue.
    pub key: String,
    /// `None` takes it away: it is done, or given up.
    pub item: Option<OutboxItem>,
    /// The version that it was decided on, 0 for an item that must not be there; `None` for whatever is.
    pub expected: Option<u64>,
}

impl OutboxItem {
    /// Without an order, a payload, or a lane that others share.
    pub fn new(queue: &str, key: &str, kind: OutboxKind, due_at: Timestamp) -> OutboxItem {
        OutboxItem {
            queue: queue.to_owned(),
            key: key.to_owned(),
            kind,
            lane: key.to_owned(),
            order: None,
            due_at,
            lease: None,
            attempts: 0,
            payload: Vec::new(),
            version: 0,
        }
    }

    /// The lane that it waits in.
    pub fn lane(&self) -> OutboxLane {
        OutboxLane {
            queue: self.queue.clone(),
            in_order: self.order.is_some(),
            name: self.lane.clone(),
        }
    }

    /// When it may be claimed: it is due, and nobody's lease holds it.
    pub fn ready_at(&self) -> Timestamp {
        self.lease.map_or(self.due_at, |lease| lease.until.max(self.due_at))
    }

    /// Whether a lease keeps others from claiming it at `now`.
    pub fn is_leased(&self, now: Timestamp) -> bool {
        self.lease.is_some_and(|lease| lease.until > now)
    }

    /// Whether a prompt behind this text is sent before it: it failed, and the prompt would wait for more
    /// than one short pause.
    pub fn lets_prompts_pass(&self, now: Timestamp) -> bool {
        let waits = self.ready_at() > now && !self.is_leased(now);
        let age = self.order.map_or(0, |order| now.ms_since(order.at));
        self.kind == OutboxKind::Text
            && waits
            && (self.attempts > 1
                || self.due_at.ms_since(now) > PROMPT_WAITS_MS
                || self.attempts == 1 && age > PROMPT_WAITS_BEHIND_MS)
    }

    /// From here on it is this node's, unless somebody else was first.
    #[must_use]
    pub fn claim(&self, lease: OutboxLease) -> OutboxChange {
        self.change(OutboxItem { lease: Some(lease), ..self.clone() })
    }

    /// It is nobody's again, and due as before.
    #[must_use]
    pub fn release(&self) -> OutboxChange {
        self.change(OutboxItem { lease: None, ..self.clone() })
    }

    /// The attempt failed; there is another one.
    #[must_use]
    pub fn retry_at(&self, due_at: Timestamp) -> OutboxChange {
        let attempts = self.attempts + 1;
        self.change(OutboxItem { due_at, attempts, lease: None, ..self.clone() })
    }

    /// Sent, or given up.
    #[must_use]
    pub fn remove(&self) -> OutboxChange {
        OutboxChange {
            queue: self.queue.clone(),
            key: self.key.clone(),
            item: None,
            expected: Some(self.version),
        }
    }

    fn change(&self, item: OutboxItem) -> OutboxChange {
        OutboxChange { item: Some(item), ..self.remove() }
    }
}

impl OutboxChange {
    /// Written unless one is there under this key.
    pub fn add(item: OutboxItem) -> OutboxChange {
        OutboxChange {
            queue: item.queue.clone(),
            key: item.key.clone(),
            item: Some(item),
            expected: Some(0),
        }
    }
}

impl OutboxWrite {
    /// Whether nothing would be written.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty() && self.notes.is_empty() && self.recheck.is_empty()
    }

    /// Adds the changes of another write, after those of this one.
    pub fn extend(&mut self, other: OutboxWrite) {
        self.changes.extend(other.changes);
        self.notes.extend(other.notes);
        self.recheck.extend(other.recheck);
    }
}

impl From<OutboxChange> for OutboxWrite {
    fn from(change: OutboxChange) -> OutboxWrite {
        OutboxWrite { changes: vec![change], ..OutboxWrite::default() }
    }
}

impl From<Vec<PutNote>> for OutboxWrite {
    fn from(notes: Vec<PutNote>) -> OutboxWrite {
        OutboxWrite { notes, ..OutboxWrite::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_cannot_be_delivered_lets_prompts_pass() {
        let at = Timestamp::from_ms;
        let text = |attempts, due_ms| OutboxItem {
            order: Some(OutboxOrder { at: at(1_000), number: 0 }),
            attempts,
            ..OutboxItem::new("chat.x", "s/1", OutboxKind::Text, at(due_ms))
        };
        assert!(!text(0, 1_000).lets_prompts_pass(at(1_000)), "it is sent now");
        assert!(!text(1, 3_000).lets_prompts_pass(at(1_500)), "one short pause");
        assert!(text(1, 5_000).lets_prompts_pass(at(1_500)), "a long one");
        assert!(text(1, 10_000).lets_prompts_pass(at(9_001)), "after a whole timeout");
        assert!(text(2, 3_000).lets_prompts_pass(at(1_500)), "it failed twice");
        let owner = NodeId(domain::id::Bits(1));
        let lease = Some(OutboxLease { owner, until: at(60_000) });
        let in_flight = OutboxItem { lease, ..text(2, 1_000) };
        assert!(!in_flight.lets_prompts_pass(at(1_500)), "it may be there the next moment");
        let prompt = OutboxItem { kind: OutboxKind::Prompt, ..text(2, 3_000) };
        assert!(!prompt.lets_prompts_pass(at(1_500)), "prompts do not overtake each other");
    }
}
