//! What people do there, as Slack tells it.

use serde_json::{Value, json};

use super::{APP_ID, FakeSlack, TEAM_ID};

impl FakeSlack {
    /// Somebody writes; the message stands in its channel, and this is the event.
    pub fn write(&self, user: &str, channel: &str, text: &str, more: Value) -> Value {
        let mut state = self.state();
        let (ts, number) = (state.ts(), state.next());
        let kind = if channel.starts_with('D') { "im" } else { "channel" };
        let mut event = json!({
            "type": "message", "user": user, "channel": channel, "channel_type": kind, "text": text,
            "ts": ts, "event_ts": ts, "team": TEAM_ID,
        });
        if let (Some(event), Value::Object(more)) = (event.as_object_mut(), more) {
            event.extend(more);
        }
        state.messages.entry(channel.to_owned()).or_default().push(event.clone());
        callback(&event, number)
    }

    /// The same message as the other event that a mention is also told by.
    pub fn mention(&self, event: &Value) -> Value {
        let number = self.state().next();
        let mut mention = event["event"].clone();
        mention["type"] = "app_mention".into();
        if let Some(mention) = mention.as_object_mut() {
            mention.remove("channel_type");
        }
        callback(&mention, number)
    }

    /// Any event at all.
    pub fn event(&self, event: &Value) -> Value {
        let number = self.state().next();
        callback(event, number)
    }

    /// Presses the button whose label is this.
    ///
    /// # Panics
    /// If there is no such button: nobody can press what is not there.
    pub fn press(&self, user: &str, channel: &str, ts: &str, label: &str) -> Value {
        let messages = self.messages(channel);
        let message = messages.iter().find(|message| message["ts"] == ts).expect("the message");
        let blocks = message["blocks"].as_array().expect("with blocks");
        let actions = blocks.iter().find(|block| block["type"] == "actions").expect("with actions");
        let elements = actions["elements"].as_array().expect("with elements");
        let button =
            elements.iter().find(|one| one["text"]["text"] == label).expect("such a button");
        let action = json!({
            "type": "button", "action_id": button["action_id"], "block_id": actions["block_id"],
            "value": button["value"], "text": button["text"],
        });
        self.act(user, channel, message, action)
    }

    /// Any action on a message.
    pub fn act(&self, user: &str, channel: &str, message: &Value, mut action: Value) -> Value {
        let mut state = self.state();
        let trigger = format!("trigger-{}", state.next());
        state.triggers.insert(trigger.clone());
        action["action_ts"] = state.ts().into();
        let mut payload = json!({
            "type": "block_actions", "api_app_id": APP_ID, "token": "unused",
            "team": {"id": TEAM_ID, "domain": "fake"},
            "user": {"id": user, "username": "ana", "name": "ana", "team_id": TEAM_ID},
            "container": {"type": "message", "message_ts": message["ts"], "channel_id": channel, "is_ephemeral": false},
            "channel": {"id": channel, "name": "ops"}, "message": message, "trigger_id": trigger,
            "response_url": "http://127.0.0.1:9/response", "actions": [action],
        });
        if !message["thread_ts"].is_null() {
            payload["container"]["thread_ts"] = message["thread_ts"].clone();
        }
        payload
    }

    /// Sends the form that was opened last.
    ///
    /// # Panics
    /// If none was opened.
    pub fn submit(&self, user: &str, values: &Value) -> Value {
        let mut view = self.views().pop().expect("an open form");
        view["state"] = json!({"values": values});
        json!({
            "type": "view_submission", "api_app_id": APP_ID, "token": "unused",
            "team": {"id": TEAM_ID, "domain": "fake"},
            "user": {"id": user, "username": "ana", "name": "ana", "team_id": TEAM_ID}, "view": view,
            "response_urls": [],
        })
    }
}

fn callback(event: &Value, number: u64) -> Value {
    json!({
        "token": "unused", "team_id": TEAM_ID, "api_app_id": APP_ID, "event": event,
        "type": "event_callback", "event_id": format!("Ev{number}"), "event_time": 1_794_700_000,
        "authorizations": [{"team_id": TEAM_ID, "user_id": super::BOT_USER, "is_bot": true}],
    })
}
