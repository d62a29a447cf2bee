//! The names under which a repeat is recognised.

use serde_json::Value;

/// Of an event: a message by where and when it was said, since one that mentions us comes twice under
/// two ids; anything else by its id.
pub fn event_key(callback: &Value) -> Option<String> {
    let event = &callback["event"];
    let text = |value: &Value| value.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
    if matches!(event["type"].as_str(), Some("message" | "app_mention")) {
        let (team, channel) = (text(&callback["team_id"])?, text(&event["channel"])?);
        return text(&event["ts"]).map(|ts| format!("slack:message:{team}:{channel}:{ts}"));
    }
    text(&callback["event_id"]).map(|id| format!("slack:event:{id}"))
}

/// Of a pressed button.
pub fn action_key(payload: &Value) -> Option<String> {
    let action = &payload["actions"][0];
    let text = |value: &Value| value.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
    let (team, user) = (text(&payload["team"]["id"])?, text(&payload["user"]["id"])?);
    let (id, at) = (text(&action["action_id"])?, text(&action["action_ts"])?);
    Some(format!("slack:action:{team}:{user}:{id}:{at}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn one_message_under_two_ids_is_one() {
        let event = |kind: &str, id: &str| json!({"team_id": "T1", "event_id": id, "event": {"type": kind, "channel": "C1", "ts": "1.2"}});
        let key = Some("slack:message:T1:C1:1.2".to_owned());
        assert_eq!(event_key(&event("message", "Ev1")), key);
        assert_eq!(event_key(&event("app_mention", "Ev2")), key);
        assert_eq!(event_key(&event("reaction_added", "Ev3")), Some("slack:event:Ev3".into()));
        assert_eq!(event_key(&json!({})), None);
    }

    #[test]
    fn a_press_is_told_from_the_next_one() {
        let press = |at: &str| {
            json!({"team": {"id": "T1"}, "user": {"id": "U1"},
                   "actions": [{"action_id": "hp_allow", "action_ts": at}]})
        };
        assert_eq!(action_key(&press("1.1")).unwrap(), "slack:action:T1:U1:hp_allow:1.1");
        assert_ne!(action_key(&press("1.1")), action_key(&press("1.2")));
        assert_eq!(action_key(&json!({"actions": []})), None);
    }
}
