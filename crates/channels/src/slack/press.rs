//! A pressed button or a form that was sent, from an interaction.

use domain::time::Timestamp;
use ports::channel::{Form, Operator, Pointer, Press};
use ring::digest::{SHA256, digest};
use serde_json::{Value, json};

use super::form::form;
use super::key::action_key;
use crate::signed::hex;

/// Where the person who pressed is, to answer them there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Spot {
    pub(super) chat: String,
    pub(super) thread: Option<String>,
    pub(super) user: String,
}

#[derive(Debug)]
pub(super) enum Pressed {
    /// A button, with what opens a form for a few seconds.
    Button { press: Box<Press>, spot: Spot, trigger: Option<String> },
    /// A form, and the place in it where an objection can be shown.
    Form { press: Box<Press>, place: Option<String> },
    /// Ours, and not to be made sense of.
    Strange { spot: Option<Spot> },
    /// Another app's, or nothing to do with us.
    Ignored,
}

pub(super) fn read_press(payload: &Value, now: Timestamp) -> Pressed {
    match payload["type"].as_str() {
        Some("block_actions") => button(payload, now),
        Some("view_submission") if payload["view"]["callback_id"] == "hp_form" => {
            sent(payload, now).unwrap_or(Pressed::Strange { spot: None })
        }
        _ => Pressed::Ignored,
    }
}

fn nonempty_text(value: &Value) -> Option<String> {
    value.as_str().filter(|text| !text.is_empty()).map(str::to_owned)
}

fn button(payload: &Value, now: Timestamp) -> Pressed {
    let action = &payload["actions"][0];
    if !action["action_id"].as_str().is_some_and(|id| id.starts_with("hp_")) {
        return Pressed::Ignored;
    }
    let container = &payload["container"];
    let chat = nonempty_text(&payload["channel"]["id"])
        .or_else(|| nonempty_text(&container["channel_id"]));
    let spot = || {
        Some(Spot {
            chat: chat.clone()?,
            thread: nonempty_text(&container["thread_ts"]),
            user: nonempty_text(&payload["user"]["id"])?,
        })
    };
    let value = nonempty_text(&action["value"])
        .or_else(|| nonempty_text(&action["selected_option"]["value"]));
    let press = || {
        Some(Press {
            event: action_key(payload)?,
            operator: operator(payload),
            chat: chat.clone()?,
            message: nonempty_text(&container["message_ts"])?,
            pointer: value?.parse().ok()?,
            is_on_it: false,
            form: Form::default(),
            at: now,
        })
    };
    match (press(), spot()) {
        (Some(press), Some(spot)) => Pressed::Button {
            press: Box::new(press),
            spot,
            trigger: nonempty_text(&payload["trigger_id"]),
        },
        (_, spot) => Pressed::Strange { spot },
    }
}

/// What a modal must bring back: which button opened it, and where that stands. It comes back as we
/// wrote it, and is believed no more than a button.
pub(super) fn metadata(press: &Press) -> String {
    json!({"p": press.pointer.to_string(), "c": press.chat, "m": press.message}).to_string()
}

fn sent(payload: &Value, now: Timestamp) -> Option<Pressed> {
    let view = &payload["view"];
    let metadata: Value = serde_json::from_str(view["private_metadata"].as_str()?).ok()?;
    let pointer: Pointer = metadata["p"].as_str()?.parse().ok()?;
    // A form that was refused is sent again under the same id, with something else in it.
    let filled = digest(&SHA256, view["state"]["values"].to_string().as_bytes());
    let (team, user) =
        (nonempty_text(&payload["team"]["id"])?, nonempty_text(&payload["user"]["id"])?);
    let id = nonempty_text(&view["id"])?;
    let event = format!("slack:view:{team}:{user}:{id}:{}", &hex(filled.as_ref())[..16]);
    Some(Pressed::Form {
        place: nonempty_text(&view["blocks"][0]["block_id"]),
        press: Box::new(Press {
            event,
            operator: operator(payload),
            chat: nonempty_text(&metadata["c"])?,
            message: nonempty_text(&metadata["m"])?,
            form: form(&view["state"], &pointer)?,
            pointer,
            is_on_it: false,
            at: now,
        }),
    })
}

fn operator(payload: &Value) -> Option<Operator> {
    let user = &payload["user"];
    let team = nonempty_text(&user["team_id"]).or_else(|| nonempty_text(&payload["team"]["id"]))?;
    let identity = format!("{team}:{}", nonempty_text(&user["id"])?);
    let display = nonempty_text(&user["name"]).or_else(|| nonempty_text(&user["username"]));
    Some(Operator { display, ..Operator::named(identity) })
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_ms(1_700_000_000_000);

    fn pressed(change: Value) -> Pressed {
        let mut payload = json!({
            "type": "block_actions", "api_app_id": "A1", "team": {"id": "T1"},
            "user": {"id": "U7", "team_id": "T1", "name": "ana"}, "channel": {"id": "C1"},
            "container": {"type": "message", "message_ts": "1.2", "channel_id": "C1", "thread_ts": "1.0"},
            "actions": [{"action_id": "hp_allow", "block_id": "hp:7Q2", "value": "h1:7Q2:a:k3x9ab", "action_ts": "9.1"}],
            "trigger_id": "tr1",
        });
        for (name, value) in change.as_object().unwrap() {
            payload[name] = value.clone();
        }
        read_press(&payload, NOW)
    }

    #[test]
    fn a_button_is_read() {
        let Pressed::Button { press, spot, trigger } = pressed(json!({})) else { panic!() };
        assert_eq!(press.event, "slack:action:T1:U7:hp_allow:9.1");
        assert_eq!((press.chat.as_str(), press.message.as_str()), ("C1", "1.2"));
        assert_eq!(press.operator.unwrap().identity, "T1:U7");
        assert_eq!(spot, Spot { chat: "C1".into(), thread: Some("1.0".into()), user: "U7".into() });
        assert_eq!(trigger.as_deref(), Some("tr1"));
        let menu = json!([{"action_id": "hp_menu", "action_ts": "9.2",
                           "selected_option": {"value": "h1:7Q2:9:k3x9ab"}}]);
        let Pressed::Button { press, .. } = pressed(json!({"actions": menu})) else { panic!() };
        assert_eq!(press.pointer.to_string(), "h1:7Q2:9:k3x9ab");
        let nobody = pressed(json!({"user": {}}));
        assert!(matches!(nobody, Pressed::Strange { spot: None }), "{nobody:?}");
        let forged = json!([{"action_id": "hp_allow", "value": "yes", "action_ts": "9.1"}]);
        assert!(matches!(pressed(json!({"actions": forged})), Pressed::Strange { spot: Some(_) }));
        let theirs = json!([{"action_id": "vote", "value": "yes", "action_ts": "9.1"}]);
        assert!(matches!(pressed(json!({"actions": theirs})), Pressed::Ignored));
        assert!(matches!(pressed(json!({"type": "shortcut"})), Pressed::Ignored));
        assert!(matches!(read_press(&Value::Null, NOW), Pressed::Ignored));
    }

    #[test]
    fn a_form_comes_back_with_where_it_was_opened() {
        let Pressed::Button { mut press, .. } = pressed(json!({})) else { panic!() };
        press.pointer = "h1:7Q2:f:k3x9ab".parse().unwrap();
        let payload = |text: &str, metadata: &str| {
            json!({
                "type": "view_submission", "team": {"id": "T1"}, "user": {"id": "U7"},
                "view": {"id": "V1", "callback_id": "hp_form", "private_metadata": metadata, "blocks": [{"block_id": "text"}], "state": {
                    "values": {"text": {"text": {"type": "plain_text_input", "value": text}}},
                }},
            })
        };
        let Pressed::Form { press: first, place } =
            read_press(&payload("a", &metadata(&press)), NOW)
        else {
            panic!()
        };
        assert_eq!((first.chat.as_str(), first.message.as_str()), ("C1", "1.2"));
        assert_eq!(first.pointer, press.pointer);
        assert_eq!((&first.form.fields["text"], place.as_deref()), (&json!("a"), Some("text")));
        let Pressed::Form { press: second, .. } = read_press(&payload("b", &metadata(&press)), NOW)
        else {
            panic!()
        };
        assert_ne!(first.event, second.event, "sent again with something else in it");
        for bad in ["", "{}", "h1:7Q2:f:k3x9ab", r#"{"p":"x","c":"C1","m":"1.2"}"#] {
            assert!(
                matches!(read_press(&payload("a", bad), NOW), Pressed::Strange { .. }),
                "{bad}"
            );
        }
    }
}
