//! Events as the platform writes them.

use domain::time::Timestamp;
use serde_json::{Value, json};

use super::api::{APP_ID, BOT};

pub const TENANT: &str = "tenant_1";
pub const VERIFICATION: &str = "verification-token";

pub fn envelope(id: &str, kind: &str, event: Value) -> Value {
    let header = json!({
        "event_id": id, "token": VERIFICATION, "create_time": "1763172180000000",
        "event_type": kind, "tenant_key": TENANT, "app_id": APP_ID,
    });
    json!({"schema": "2.0", "header": header, "event": event})
}

/// Somebody mentions the bot in the group `oc_1`.
pub fn message(id: &str, text: &str, at: Timestamp) -> Value {
    let at = at.as_ms().to_string();
    let user = |id: &str| json!({"open_id": id, "union_id": "on_1", "user_id": "u1"});
    let event = json!({
        "sender": {"sender_id": user("ou_ana"), "sender_type": "user", "tenant_key": TENANT},
        "message": {
            "message_id": id, "create_time": at, "update_time": at, "chat_id": "oc_1",
            "chat_type": "group", "message_type": "text",
            "content": json!({"text": format!("@_user_1 {text}")}).to_string(),
            "mentions": [{"key": "@_user_1", "id": user(BOT), "name": "Holdpoint", "tenant_key": TENANT}],
        },
    });
    envelope(&format!("event_of_{id}"), "im.message.receive_v1", event)
}

/// Ana presses a button of the card `message` in `oc_1`.
pub fn press(id: &str, message: &str, said: &str) -> Value {
    let event = json!({
        "operator": {"tenant_key": TENANT, "open_id": "ou_ana", "union_id": "on_1", "user_id": "u1"},
        "token": "c-1",
        "action": {"value": {"v": 1, "r": "7Q2", "o": said, "n": "k3x9ab"}, "tag": "button"},
        "host": "im_message",
        "context": {"open_message_id": message, "open_chat_id": "oc_1"},
    });
    envelope(id, "card.action.trigger", event)
}
