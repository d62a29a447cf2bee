use ports::secret_string::SecretString;
use serde_json::json;

use super::*;

const NOW: Timestamp = Timestamp::from_ms(1_700_000_000_000);

fn settings() -> DingTalkSettings {
    let url = "https://api.dingtalk.com".parse().unwrap();
    let mut settings = DingTalkSettings::new("dingtalk", "ding1", SecretString::new("s"), url);
    settings.corp_id = Some("corp1".into());
    settings
}

fn message(change: Value) -> Value {
    let mut message = json!({
        "conversationId": "cid1", "conversationType": "2", "msgId": "m1",
        "createAt": 1_700_000_000_000_i64, "senderId": "$:LWCP", "senderStaffId": "u1",
        "senderNick": "Ana", "senderCorpId": "corp1", "isInAtList": true, "robotCode": "ding1",
        "chatbotUserId": "$:bot", "atUsers": [{"dingtalkId": "$:bot"}],
        "msgtype": "text", "text": {"content": " 确认"},
    });
    for (key, value) in change.as_object().unwrap() {
        message[key] = value.clone();
    }
    message
}

fn read(change: Value) -> Option<IncomingMessage> {
    wrote(&message(change), &settings())
}

#[test]
fn a_message_in_a_group_and_one_to_us() {
    let group = read(json!({})).unwrap();
    assert_eq!((group.chat.as_str(), group.direct, group.text.as_str()), ("cid1", false, " 确认"));
    assert!(group.mentions_us && !group.mentions_others && !group.attachment);
    let operator = group.operator.unwrap();
    assert_eq!((operator.identity.as_str(), operator.display.as_deref()), ("u1", Some("Ana")));
    assert_eq!(group.event, "dingtalk:message:m1");
    let direct =
        read(json!({"conversationType": "1", "isInAtList": null, "atUsers": null})).unwrap();
    assert_eq!((direct.chat.as_str(), direct.direct), ("u1", true), "the person is the chat");
    let other = json!([{"dingtalkId": "$:bot"}, {"dingtalkId": "$:bob", "staffId": "u2"}]);
    assert!(read(json!({"atUsers": other})).unwrap().mentions_others);
}

#[test]
fn what_is_not_certain_is_not_taken() {
    for change in [
        json!({"conversationType": "3"}),
        json!({"conversationType": null}),
        json!({"robotCode": "another"}),
        json!({"senderCorpId": "corp2"}),
        json!({"msgId": ""}),
        json!({"createAt": "now"}),
    ] {
        assert!(read(change.clone()).is_none(), "{change}");
    }
    for nobody in [json!({"senderStaffId": null}), json!({"senderStaffId": ""})] {
        assert_eq!(read(nobody).unwrap().operator, None);
    }
    assert!(read(json!({"msgtype": "picture"})).unwrap().attachment);
    assert!(read(json!({"text": null, "errMsg": "over quota"})).unwrap().attachment);
    assert!(read(json!({"msgtype": "chatRecord"})).unwrap().forwarded);
}

#[test]
fn rich_text_is_read_as_its_words() {
    let rich = |pieces: Value| json!({"msgtype": "richText", "content": {"richText": pieces}});
    let words = read(rich(json!([{"text": "确"}, {"text": "认"}]))).unwrap();
    assert_eq!((words.text.as_str(), words.attachment), ("确认", false));
    let picture = read(rich(json!([{"text": "确认"}, {"downloadCode": "x", "type": "picture"}])));
    assert!(picture.unwrap().attachment);
}

fn pressed(change: Value) -> Option<Press> {
    let content = json!({"cardPrivateData": {
        "actionIds": ["allow"], "params": {"r": "7Q2", "o": "a", "n": "k3x9ab"},
    }});
    let mut data = json!({
        "type": "actionCallback", "outTrackId": "7Q2", "corpId": "corp1", "userId": "u1",
        "content": content.to_string(), "extension": "{}",
    });
    for (key, value) in change.as_object().unwrap() {
        data[key] = value.clone();
    }
    press(&data, "e1".into(), &settings(), NOW)
}

#[test]
fn a_button_is_read_wherever_the_template_puts_it() {
    let plain = pressed(json!({})).unwrap();
    assert_eq!(plain.pointer.to_string(), "h1:7Q2:a:k3x9ab");
    assert_eq!((plain.message.as_str(), plain.event.as_str()), ("7Q2", "e1"));
    assert_eq!(plain.operator.unwrap().identity, "u1");
    let beside = json!({"params": {"r": "7Q2", "o": "d", "n": "k3x9ab"}, "cardPrivateData": {}});
    let moved = pressed(json!({"content": null, "value": beside.to_string()})).unwrap();
    assert_eq!(moved.pointer.said, ButtonAction::Deny);
    for (id, said) in [
        ("deny", ButtonAction::Deny),
        ("opt3", ButtonAction::Option(3)),
        ("allow", ButtonAction::Allow),
    ] {
        let by_id = json!({"cardPrivateData": {
            "actionIds": [id], "params": {"r": "7Q2", "n": "k3x9ab"},
        }});
        let press = pressed(json!({"content": by_id.to_string()})).unwrap();
        assert_eq!(press.pointer.said, said);
    }
}

#[test]
fn what_is_no_button_of_ours_is_none() {
    let content = |inner: Value| json!({"content": inner.to_string()});
    for change in [
        json!({"corpId": "corp2"}),
        json!({"outTrackId": ""}),
        json!({"content": "{"}),
        json!({"content": null}),
        content(json!({})),
        content(json!({"cardPrivateData": {"params": {"r": "7Q2", "o": "q", "n": "k3x9ab"}}})),
        content(json!({"cardPrivateData": {"params": {"r": "7Q2", "o": "a"}}})),
        content(
            json!({"cardPrivateData": {"actionIds": ["other"], "params": {"r": "7Q2", "n": "k3x9ab"}}}),
        ),
    ] {
        assert!(pressed(change.clone()).is_none(), "{change}");
    }
    assert_eq!(pressed(json!({"userId": ""})).unwrap().operator, None);
}
