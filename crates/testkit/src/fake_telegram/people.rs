//! What people do there.

use serde_json::{Value, json};

use super::server::FakeTelegram;
use super::state::{DATE, chat};

/// A person, by their number.
#[derive(Clone, Copy, Debug)]
pub struct User(pub i64);

/// Where something is written.
#[derive(Clone, Copy, Debug)]
pub struct From {
    pub user: User,
    pub chat: i64,
    pub topic: Option<i64>,
}

impl User {
    pub fn directly(self) -> From {
        From { user: self, chat: self.0, topic: None }
    }

    pub fn within(self, chat: i64) -> From {
        From { user: self, chat, topic: None }
    }

    fn shown(self) -> Value {
        json!({"id": self.0, "is_bot": false, "first_name": format!("Person {}", self.0)})
    }
}

impl FakeTelegram {
    /// Presses the key whose label begins so, and says the query's name.
    ///
    /// # Panics
    /// If there is no such key: nobody can press what is not there.
    pub fn press(&self, user: User, chat: i64, message: i64, label: &str) -> String {
        let shown = self.message(chat, message).expect("the message is there");
        let rows = shown["reply_markup"]["inline_keyboard"].as_array().expect("it has keys");
        let mut keys = rows.iter().filter_map(Value::as_array).flatten();
        let key = keys.find(|key| key["text"].as_str().is_some_and(|text| text.contains(label)));
        let data = key.expect("such a key")["callback_data"].as_str().expect("with data");
        self.press_data(user, chat, message, data)
    }

    /// A press of any key, also one that was never drawn.
    pub fn press_data(&self, user: User, at: i64, message: i64, data: &str) -> String {
        let update = self.pressing(user, at, message, data);
        self.deliver(&update);
        update["callback_query"]["id"].as_str().unwrap_or_default().to_owned()
    }

    /// The update of such a press, which is not delivered yet.
    pub fn pressing(&self, user: User, at: i64, message: i64, data: &str) -> Value {
        let shown = self
            .message(at, message)
            .unwrap_or_else(|| json!({"message_id": message, "chat": chat(at, false), "date": 0}));
        let mut state = self.state();
        let query = format!("query{}", state.queries.len() + 1);
        state.queries.insert(query.clone(), Vec::new());
        let press = json!({
            "id": query, "from": user.shown(), "message": shown, "chat_instance": "7", "data": data,
        });
        state.numbered("callback_query", press)
    }

    /// The answers that a query has got.
    pub fn answers(&self, query: &str) -> Vec<Value> {
        self.state().queries.get(query).cloned().unwrap_or_default()
    }

    /// Writes a message, with whatever else it has; says its number.
    pub fn write(&self, from: From, text: &str, more: Value) -> i64 {
        let update = self.writing(from, text, more);
        self.deliver(&update);
        update["message"]["message_id"].as_i64().unwrap_or_default()
    }

    /// The update of such a message. It stands in its chat, and is not delivered yet.
    pub fn writing(&self, from: From, text: &str, more: Value) -> Value {
        let mut state = self.state();
        let id = state.message_id();
        let mut message = json!({
            "message_id": id, "date": DATE, "chat": chat(from.chat, from.topic.is_some()),
            "from": from.user.shown(), "text": text,
        });
        if let Some(topic) = from.topic {
            message["message_thread_id"] = topic.into();
            message["is_topic_message"] = true.into();
        }
        if let (Some(message), Value::Object(more)) = (message.as_object_mut(), more) {
            message.extend(more);
        }
        state.messages.insert((from.chat, id), message.clone());
        state.numbered("message", message)
    }

    /// Puts an update behind the others. One that was delivered before is handed out once more.
    pub fn deliver(&self, update: &Value) {
        {
            let mut state = self.state();
            let number = update["update_id"].as_i64().unwrap_or_default();
            state.handed.remove(&number);
            match state.delivered.insert(number) {
                true => state.updates.push_back(update.clone()),
                false => state.repeats.push(update.clone()),
            }
        }
        self.wake();
    }

    /// Whoever polls has asked for more since they were handed this.
    pub fn dealt_with(&self, update: &Value) -> bool {
        let state = self.state();
        let number = update["update_id"].as_i64().unwrap_or_default();
        state.handed.get(&number).is_some_and(|poll| *poll < state.polls)
    }

    /// The group becomes a supergroup, as its admins make it: both say so.
    pub fn migrate(&self, from: i64, to: i64) {
        self.moved(from, to);
        let told = [(from, "migrate_to_chat_id", to), (to, "migrate_from_chat_id", from)];
        for (at, key, other) in told {
            let mut state = self.state();
            let id = state.message_id();
            let mut message = json!({
                "message_id": id, "date": DATE, "chat": chat(at, false),
                "from": {"id": 1_087_968_824, "is_bot": true, "first_name": "Group"},
                "sender_chat": chat(at, false),
            });
            message[key] = other.into();
            state.update("message", message);
        }
        self.wake();
    }

    /// Any update at all.
    pub fn send_update(&self, kind: &str, value: Value) {
        self.state().update(kind, value);
        self.wake();
    }
}
