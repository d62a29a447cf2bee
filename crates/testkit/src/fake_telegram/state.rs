//! What the platform remembers.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde_json::{Value, json};

use super::server::Recorded;

#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) requests: Vec<Recorded>,
    /// As the Bot API shows them.
    pub(super) messages: BTreeMap<(i64, i64), Value>,
    next_message: i64,
    pub(super) updates: VecDeque<Value>,
    next_update: i64,
    /// Open queries of pressed keys, and how often each was answered.
    pub(super) queries: BTreeMap<String, Vec<Value>>,
    pub(super) webhook: Option<Webhook>,
    pub(super) last_error: Option<String>,
    /// Groups that became supergroups.
    pub(super) moved: BTreeMap<i64, i64>,
    /// Chats that the bot was thrown out of.
    pub(super) closed: BTreeSet<i64>,
    pub(super) topics: BTreeSet<(i64, i64)>,
    pub(super) polling: u32,
}

#[derive(Clone, Debug)]
pub(super) struct Webhook {
    pub(super) url: String,
    pub(super) secret: String,
    pub(super) allowed: Vec<String>,
}

impl State {
    pub(super) fn message_id(&mut self) -> i64 {
        self.next_message += 1;
        self.next_message
    }

    /// Puts it behind the others, as the platform numbers them.
    pub(super) fn update(&mut self, kind: &str, value: Value) {
        self.next_update += 1;
        let mut update = json!({"update_id": self.next_update});
        update[kind] = value;
        self.updates.push_back(update);
    }
}

/// A private chat has its person's number, a supergroup one that begins with -100.
pub(super) fn chat(id: i64, forum: bool) -> Value {
    match id {
        1.. => json!({"id": id, "type": "private", "first_name": "Somebody"}),
        id if id.to_string().starts_with("-100") => {
            json!({"id": id, "type": "supergroup", "title": "Ops", "is_forum": forum})
        }
        id => json!({"id": id, "type": "group", "title": "Ops"}),
    }
}

/// 2026-11-15, and fixed: nothing here may depend on the hour.
pub(super) const DATE: i64 = 1_794_700_000;
