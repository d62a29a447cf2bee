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
    /// Updates that are handed out once more, though they were confirmed.
    pub(super) repeats: Vec<Value>,
    /// How often updates were asked for, and at which of these times each was handed out last.
    pub(super) polls: u64,
    pub(super) handed: BTreeMap<i64, u64>,
    /// Every update that was ever to be handed out.
    pub(super) delivered: BTreeSet<i64>,
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

    /// What whoever polls now is given.
    pub(super) fn hand_out(&mut self, limit: usize) -> Vec<Value> {
        let repeats = std::mem::take(&mut self.repeats);
        let fresh = self.updates.iter().take(limit).cloned();
        let ready: Vec<Value> = repeats.into_iter().chain(fresh).collect();
        for number in ready.iter().filter_map(|update| update["update_id"].as_i64()) {
            self.handed.insert(number, self.polls);
        }
        ready
    }

    /// Puts it behind the others, as the platform numbers them.
    pub(super) fn update(&mut self, kind: &str, value: Value) {
        let update = self.numbered(kind, value);
        self.updates.push_back(update);
    }

    pub(super) fn numbered(&mut self, kind: &str, value: Value) -> Value {
        self.next_update += 1;
        let mut update = json!({"update_id": self.next_update});
        update[kind] = value;
        update
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
