use serde_json::json;

use super::*;

const NOW: Timestamp = Timestamp::from_ms(1_700_000_000_000);
const OWN: &str = "ou_bot";

fn event(kind: &str, content: Value) -> FeishuEvent {
    let header = json!({"event_id": "e1", "event_type": kind});
    FeishuEvent::read(json!({"header": header, "event": content})).unwrap()
}

fn pressed(action: Value) -> Option<Press> {
    let content = json!({
        "operator": {"open_id": "ou_ana", "tenant_key": "t"}, "action": action,
        "context": {"open_message_id": "om_1", "open_chat_id": "oc_1"},
    });
    press(&event(PRESS, content), None, NOW)
}

fn value(said: &str) -> Value {
    json!({"v": 1, "r": "7Q2", "o": said, "n": "k3x9ab"})
}

#[test]
fn a_button_is_read_in_both_spellings() {
    for value in [value("a"), Value::String(value("a").to_string())] {
        let press = pressed(json!({"tag": "button", "value": value})).unwrap();
        assert_eq!(press.pointer.to_string(), "h1:7Q2:a:k3x9ab");
        assert_eq!((press.chat.as_str(), press.message.as_str()), ("oc_1", "om_1"));
        assert_eq!(press.operator.unwrap().identity, "ou_ana");
        assert_eq!(press.event, "feishu:event:e1");
        assert_eq!(press.form, Form::default());
    }
    for value in [
        json!({}),
        json!("h1"),
        json!(null),
        json!({"v": 2, "r": "7Q2", "o": "a", "n": "k3x9ab"}),
        json!({"v": 1, "r": "7Q2", "o": "a"}),
        json!({"v": 1, "r": "7 2", "o": "a", "n": "k3x9ab"}),
        json!({"v": 1, "r": "7Q2", "o": "q", "n": "k3x9ab"}),
    ] {
        assert!(pressed(json!({"value": value})).is_none(), "{value}");
    }
}

#[test]
fn menus_and_forms_say_what_was_picked() {
    let menu =
        pressed(json!({"tag": "select_static", "value": value("f"), "option": "7"})).unwrap();
    assert_eq!((menu.pointer.said, menu.form.options), (ButtonAction::Option(7), vec![7]));
    let several = json!({"value": value("f"), "form_value": {"choices": ["1", "3", "x", "0"]}});
    let several = pressed(several).unwrap();
    assert_eq!((several.pointer.said, several.form.options), (ButtonAction::Form, vec![1, 3]));
    let filled = json!({"region": "eu", "count": "3", "note": "", "tier": null});
    let filled = pressed(json!({"value": value("f"), "form_value": filled})).unwrap();
    assert_eq!(Value::Object(filled.form.fields), json!({"region": "eu", "count": "3"}));
}

#[test]
fn i31_nobody_is_nobody() {
    for operator in
        [json!({}), json!({"open_id": ""}), json!({"union_id": "on_1"}), json!({"open_id": 7})]
    {
        let context = json!({"open_message_id": "om_1", "open_chat_id": "oc_1"});
        let content =
            json!({"operator": operator, "action": {"value": value("a")}, "context": context});
        let press = press(&event(PRESS, content), None, NOW).unwrap();
        assert_eq!(press.operator, None, "{operator}");
    }
}

#[test]
fn a_press_without_a_place_is_none() {
    for context in [json!({}), json!({"open_chat_id": "oc_1"}), json!({"open_message_id": "om_1"})]
    {
        let operator = json!({"open_id": "ou_ana"});
        let content =
            json!({"operator": operator, "action": {"value": value("a")}, "context": context});
        assert!(press(&event(PRESS, content), None, NOW).is_none(), "{context}");
    }
}

fn message(change: Value) -> Value {
    let mut message = json!({
        "message_id": "om_9", "create_time": "1700000000000", "update_time": "1700000000000",
        "chat_id": "oc_1", "chat_type": "group", "message_type": "text",
        "content": r#"{"text":"@_user_1 确认"}"#,
        "mentions": [{"key": "@_user_1", "id": {"open_id": OWN}, "name": "Holdpoint"}],
    });
    for (key, value) in change.as_object().unwrap() {
        message[key] = value.clone();
    }
    let sender = json!({"sender_type": "user", "sender_id": {"open_id": "ou_ana"}});
    json!({"sender": sender, "message": message})
}

fn read(change: Value) -> IncomingMessage {
    wrote(&event(MESSAGE, message(change)), None, OWN).unwrap()
}

#[test]
fn a_message_is_read_with_its_mentions() {
    let plain = read(json!({}));
    assert_eq!(plain.event, "feishu:message:om_9");
    assert_eq!(
        (plain.text.as_str(), plain.mentions.as_slice()),
        ("@_user_1 确认", &["@_user_1".to_owned()][..])
    );
    assert!(plain.mentions_us && !plain.mentions_others && !plain.direct && !plain.edited);
    assert_eq!((plain.thread, plain.replies_to), (None, None));
    let other = json!([{"key": "@_user_1", "id": {"open_id": "ou_bob"}}]);
    let other = read(json!({"mentions": other}));
    assert!(!other.mentions_us && other.mentions_others);
    let all = read(json!({"content": r#"{"text":"@_all 确认"}"#, "mentions": []}));
    assert!(!all.mentions_us && all.mentions_others);
    assert!(read(json!({"chat_type": "p2p"})).direct);
    let unknown = wrote(&event(MESSAGE, message(json!({}))), None, "").unwrap();
    assert!(!unknown.mentions_us && unknown.mentions_others, "we do not know our name");
}

#[test]
fn i48_a_piece_of_a_post_that_is_struck_out_or_code_is_seen() {
    let post = |piece: Value| {
        let content = json!({"content": [[piece]]}).to_string();
        read(json!({"message_type": "post", "content": content, "mentions": []}))
    };
    let text = |style: Value| post(json!({"tag": "text", "text": "确认", "style": style}));
    assert!(!text(json!([])).formatted && !text(json!(["bold"])).formatted);
    assert!(text(json!(["bold", "lineThrough"])).formatted);
    assert!(post(json!({"tag": "code_block", "text": "确认"})).formatted);
}

#[test]
fn edits_attachments_and_forwards_are_told_apart() {
    assert!(read(json!({"update_time": "1700000000001"})).edited);
    let picture = read(json!({"message_type": "image", "content": r#"{"image_key":"x"}"#}));
    assert!(picture.attachment && picture.text.is_empty());
    let forwarded = read(json!({"message_type": "merge_forward", "content": "Merged"}));
    assert!(forwarded.forwarded && forwarded.attachment);
}

#[test]
fn a_thread_is_called_by_its_first_message() {
    let first = read(json!({"thread_id": "omt_1"}));
    assert_eq!(first.thread.as_deref(), Some("om_9"));
    let reply = read(json!({"thread_id": "omt_1", "root_id": "om_1", "parent_id": "om_2"}));
    assert_eq!(
        (reply.thread.as_deref(), reply.replies_to.as_deref()),
        (Some("om_1"), Some("om_2"))
    );
}

#[test]
fn a_post_is_read_as_its_words() {
    let post = |pieces: Value| json!({"title": "T", "content": [pieces]}).to_string();
    let words = json!([{"tag": "at", "user_id": "@_user_1"}, {"tag": "text", "text": " 确认"}]);
    let said = read(json!({"message_type": "post", "content": post(words.clone())}));
    assert_eq!(said.text, "T\n@_user_1 确认");
    assert!(said.mentions_us && !said.mentions_others && !said.attachment);
    let by_id = json!([{"tag": "at", "user_id": OWN}, {"tag": "text", "text": " ok"}]);
    let said = read(json!({"message_type": "post", "content": post(by_id), "mentions": []}));
    assert_eq!((said.mentions.as_slice(), said.mentions_others), (&[OWN.to_owned()][..], false));
    let other = json!([{"tag": "at", "user_id": "ou_bob"}]);
    assert!(read(json!({"message_type": "post", "content": post(other)})).mentions_others);
    let in_language = json!({"zh_cn": {"title": "", "content": [words]}}).to_string();
    assert_eq!(read(json!({"message_type": "post", "content": in_language})).text, "@_user_1 确认");
    let picture = json!([{"tag": "img", "image_key": "x"}]);
    assert!(read(json!({"message_type": "post", "content": post(picture)})).attachment);
}

#[test]
fn bots_are_not_heard() {
    let mut content = message(json!({}));
    content["sender"]["sender_type"] = "app".into();
    assert!(wrote(&event(MESSAGE, content), None, OWN).is_none());
    let mut content = message(json!({}));
    content["message"]["create_time"] = "soon".into();
    assert!(wrote(&event(MESSAGE, content), None, OWN).is_none());
}
