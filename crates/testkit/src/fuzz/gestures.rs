//! What people do in chats, once the platform is believed: who it was, and where, is what the platform
//! says in its own place, and nothing that anybody can write.

use channels::fuzz_api::{Gesture, OURSELVES, Platform, decision, gesture, reply_error};
use domain::answer::{Answer, ApprovalScope};
use domain::time::Timestamp;
use ports::channel::{ChannelError, IncomingMessage, Operator, Press};
use serde_json::Value;

use super::{Pieces, told_plainly};

const NOW: Timestamp = Timestamp::from_ms(1_700_000_000_000);

fn platform(byte: u8) -> Platform {
    match byte % 4 {
        0 => Platform::Dingtalk,
        1 => Platform::Feishu,
        2 => Platform::Slack,
        _ => Platform::Telegram,
    }
}

pub(super) fn gestures(bytes: &[u8]) {
    let mut pieces = Pieces::new(bytes);
    let platform = platform(pieces.byte());
    let body = pieces.rest();
    let Some(read) = gesture(platform, body, NOW) else { return };
    let again = gesture(platform, body, NOW).expect("the same again");
    assert_eq!(format!("{read:?}"), format!("{again:?}"), "the same again");
    let value = value(body);
    match read {
        Gesture::Pressed(press) => pressed(platform, &press, &value),
        Gesture::Wrote(wrote) => written(platform, &wrote, &value),
    }
}

/// Interactions of Slack come as a form.
fn value(body: &[u8]) -> Value {
    serde_json::from_slice(body).unwrap_or_else(|_| {
        let query = String::from_utf8_lossy(body);
        let url = reqwest::Url::parse(&format!("form:?{query}")).expect("it was read before");
        let payload = url.query_pairs().find(|(name, _)| name == "payload");
        payload.and_then(|(_, text)| serde_json::from_str(&text).ok()).unwrap_or_default()
    })
}

fn pressed(platform: Platform, press: &Press, body: &Value) {
    assert!(!press.event.is_empty() && !press.message.is_empty(), "{press:?}");
    // DingTalk names the card and not where it stands; the card's id is looked up instead.
    assert!(!press.chat.is_empty() || platform == Platform::Dingtalk, "{press:?}");
    let pointer = press.pointer.to_string();
    assert_eq!(pointer.parse().as_ref(), Ok(&press.pointer), "one spelling");
    let vouched = match platform {
        Platform::Dingtalk => plain(&body["userId"]),
        Platform::Feishu => plain(&body["event"]["operator"]["open_id"]),
        Platform::Slack => {
            slack_user(&body["user"], &[&body["user"]["team_id"], &body["team"]["id"]])
        }
        Platform::Telegram => plain(&body["callback_query"]["from"]["id"]),
    };
    is_who(press.operator.as_ref(), vouched);
    is_also(platform, press.operator.as_ref(), &body["event"]["operator"]["union_id"]);
}

fn written(platform: Platform, wrote: &IncomingMessage, body: &Value) {
    let named = [&wrote.event, &wrote.message, &wrote.chat];
    assert!(named.iter().all(|name| !name.is_empty()), "{wrote:?}");
    assert!(wrote.mentions.iter().all(|name| !name.is_empty()), "{wrote:?}");
    assert_eq!(
        wrote.mentions_us,
        platform == Platform::Dingtalk && wrote.mentions_us || !wrote.mentions.is_empty()
    );
    let (vouched, edited) = match platform {
        Platform::Dingtalk => (plain(&body["senderStaffId"]), false),
        Platform::Feishu => {
            let message = &body["event"]["message"];
            let ms = |key: &str| message[key].as_str().and_then(|at| at.parse::<i64>().ok());
            let edited = ms("update_time") > ms("create_time");
            (plain(&body["event"]["sender"]["sender_id"]["open_id"]), edited)
        }
        Platform::Slack => {
            let event = &body["event"];
            let teams = [&event["user_team"], &event["team"], &body["team_id"]];
            (slack_user_id(&event["user"], &teams), !event["edited"].is_null())
        }
        Platform::Telegram => {
            let message = &body["message"];
            (plain(&message["from"]["id"]), !message["edit_date"].is_null())
        }
    };
    assert!(wrote.edited || !edited, "an edited message passes for one that was not");
    is_who(wrote.operator.as_ref(), vouched);
    let union = &body["event"]["sender"]["sender_id"]["union_id"];
    is_also(platform, wrote.operator.as_ref(), union);
    let ours = wrote.operator.as_ref().map(|operator| operator.identity.as_str());
    assert!(platform == Platform::Dingtalk || ours != Some(OURSELVES), "we answer ourselves");
}

/// An id as text, whether it came as text or as a number.
fn plain(id: &Value) -> Option<String> {
    match id {
        Value::String(text) if !text.is_empty() => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

fn slack_user(user: &Value, teams: &[&Value]) -> Option<String> {
    slack_user_id(&user["id"], teams)
}

fn slack_user_id(user: &Value, teams: &[&Value]) -> Option<String> {
    let team = teams.iter().find_map(|team| plain(team))?;
    Some(format!("{team}:{}", plain(user)?))
}

/// Nobody, or who the platform vouches for.
fn is_who(operator: Option<&Operator>, vouched: Option<String>) {
    if let Some(operator) = operator {
        assert!(!operator.identity.is_empty());
        assert_eq!(Some(&operator.identity), vouched.as_ref(), "somebody else");
    }
}

/// Only Feishu has another name that counts for people whose organisation is not known to be ours: the one
/// for all apps of a developer. What an organisation calls them is none.
fn is_also(platform: Platform, operator: Option<&Operator>, union: &Value) {
    for name in operator.iter().flat_map(|operator| &operator.also) {
        assert_eq!(platform, Platform::Feishu, "{name}");
        assert!(name.starts_with("on_") && *union == **name, "somebody else: {name}");
    }
}

/// What platforms answer to us: each answer has its remedy, and is told plainly.
pub(super) fn answers(bytes: &[u8]) {
    let mut pieces = Pieces::new(bytes);
    let platform = platform(pieces.byte());
    let status = 100 + 2 * u16::from(pieces.byte());
    let body = pieces.rest();
    match reply_error(platform, status, body) {
        None => assert!(serde_json::from_slice::<Value>(body).is_ok(), "done, says nobody"),
        Some(
            ChannelError::Again { why, .. }
            | ChannelError::Unknown(why)
            | ChannelError::Never(why)
            | ChannelError::Gone(why),
        ) => told_plainly(&why, body.len()),
        // Only Telegram's groups move, and each of its chats is a number.
        Some(ChannelError::Moved(to)) => assert!(to.parse::<i64>().is_ok(), "{to}"),
    }
}

/// A decision that a program brings.
pub(super) fn decisions(bytes: &[u8]) {
    let decided = match decision(bytes, "msg_1") {
        Ok(decided) => decided,
        Err(told) => return told_plainly(&told, bytes.len()),
    };
    let body: Value = serde_json::from_slice(bytes).expect("what is taken is JSON");
    let said = &body["answer"];
    assert_eq!(decided.event, "webhook:msg_1");
    assert_eq!(body["actor"]["id"], *decided.operator.identity);
    assert_eq!(body["hold"], decided.hold.to_string());
    let spelled = body["digest"].as_str().expect("a digest").parse();
    assert!(spelled.is_err() || spelled == Ok(decided.digest), "another digest than was said");
    match &decided.answer {
        Answer::Approve { scope, arguments, .. } => {
            assert_eq!(said["verdict"], "approve", "an approval says so");
            assert!(*scope == ApprovalScope::Once && arguments.is_none(), "once, and as it is");
        }
        Answer::Deny { stop, .. } => assert!(said["verdict"] == "deny" && !stop),
        Answer::Respond { content } => assert_eq!(said["content"], **content),
        Answer::Choose(chosen) => {
            assert_eq!(Some(chosen.len()), said["choose"].as_array().map(Vec::len));
        }
        Answer::Fill(form) => assert_eq!(*form, said["fill"]),
        other => panic!("nobody can say {other:?} from here"),
    }
}
