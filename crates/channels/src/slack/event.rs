//! A message that somebody wrote, from `event_callback`.

use domain::time::Timestamp;
use ports::channel::{IncomingMessage, Operator};
use serde_json::Value;

use super::key::event_key;
use super::mention::{mentions, unescaped};

/// Our own account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SlackAccount {
    pub(super) user: String,
    pub(super) bot: String,
}

/// `None` if it is no message of a person's: what bots say, what was changed or deleted, who joined.
pub(super) fn wrote(callback: &Value, me: &SlackAccount) -> Option<IncomingMessage> {
    let event = &callback["event"];
    let text = |value: &Value| value.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
    if !matches!(event["type"].as_str(), Some("message" | "app_mention")) {
        return None;
    }
    // Any other is about a message, and not one.
    let subtype = event["subtype"].as_str();
    if !matches!(subtype, None | Some("file_share" | "thread_broadcast")) {
        return None;
    }
    let user = text(&event["user"])?;
    let from_a_bot = !event["bot_id"].is_null() || !event["bot_profile"].is_null();
    if event["hidden"] == true || from_a_bot || user == me.user {
        return None;
    }
    let (chat, ts) = (text(&event["channel"])?, text(&event["ts"])?);
    let written = event["text"].as_str().unwrap_or_default();
    let mentioned = mentions(written, &me.user);
    // A message that stands at the head of its own thread is in none.
    let thread = text(&event["thread_ts"]).filter(|thread| *thread != ts);
    // A reply that is also sent to the channel has no `parent_user_id`, and perhaps no `root`. Then the
    // thread alone says what it replies to.
    let began_by = event["parent_user_id"].as_str().or_else(|| event["root"]["user"].as_str());
    let under_ours = began_by.is_none_or(|began_by| began_by == me.user);
    // In a channel that two workspaces share, people of the other one speak too.
    let team =
        [&event["user_team"], &event["team"], &callback["team_id"]].into_iter().find_map(text)?;
    let shared = |shared: &Value| shared["is_share"] == true || shared["is_msg_unfurl"] == true;
    let list = |name: &str| event[name].as_array().map_or(&[][..], Vec::as_slice);
    Some(IncomingMessage {
        event: event_key(callback)?,
        operator: Some(Operator::named(format!("{team}:{user}"))),
        direct: event["channel_type"] == "im" || chat.starts_with('D'),
        replies_to: thread.clone().filter(|_| under_ours),
        thread,
        text: unescaped(written),
        mentions_us: !mentioned.us.is_empty(),
        mentions: mentioned.us,
        mentions_others: mentioned.others,
        from_a_person: true,
        edited: !event["edited"].is_null(),
        forwarded: list("attachments").iter().any(shared),
        attachment: subtype == Some("file_share") || !list("files").is_empty(),
        formatted: is_formatted(&event["blocks"]),
        at: moment(&ts)?,
        message: ts,
        chat,
    })
}

/// Whether a part is struck out, quoted or set as code. The text says it too, in marks that people also type.
fn is_formatted(blocks: &Value) -> bool {
    let quoted =
        matches!(blocks["type"].as_str(), Some("rich_text_quote" | "rich_text_preformatted"));
    let style = &blocks["style"];
    let inner: Box<dyn Iterator<Item = &Value>> = match blocks {
        Value::Array(blocks) => Box::new(blocks.iter()),
        Value::Object(block) => Box::new(block.get("elements").into_iter()),
        _ => Box::new(std::iter::empty()),
    };
    quoted
        || style["strike"] == true
        || style["code"] == true
        || inner.into_iter().any(is_formatted)
}

/// `1531420618.000200`: seconds, and a number that orders within one.
pub(super) fn moment(ts: &str) -> Option<Timestamp> {
    let (seconds, fraction) = ts.split_once('.').unwrap_or((ts, "0"));
    let seconds: i64 = seconds.parse().ok()?;
    let fraction = format!("{fraction:0<3}");
    let ms: i64 = fraction.get(..3)?.parse().ok()?;
    Some(Timestamp::from_ms(seconds.checked_mul(1000)?.checked_add(ms)?))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn callback(change: Value) -> Value {
        let mut event = json!({
            "type": "message", "channel": "C1", "channel_type": "channel", "user": "U7",
            "team": "T1", "ts": "1531420618.000200", "text": "yes &amp; no",
        });
        for (name, value) in change.as_object().unwrap() {
            event[name] = value.clone();
        }
        json!({"team_id": "T1", "api_app_id": "A1", "event_id": "Ev1", "event": event})
    }

    fn me() -> SlackAccount {
        SlackAccount { user: "UBOT".into(), bot: "B1".into() }
    }

    fn read(change: Value) -> Option<IncomingMessage> {
        wrote(&callback(change), &me())
    }

    #[test]
    fn a_message_is_read_with_everything_that_makes_it_count_or_not() {
        let plain = read(json!({})).unwrap();
        assert_eq!(plain.event, "slack:message:T1:C1:1531420618.000200");
        assert_eq!((plain.chat.as_str(), plain.message.as_str()), ("C1", "1531420618.000200"));
        assert_eq!(plain.operator.as_ref().unwrap().identity, "T1:U7");
        assert_eq!(plain.text, "yes & no");
        assert_eq!(plain.at, Timestamp::from_ms(1_531_420_618_000));
        assert!(plain.from_a_person && !plain.direct && plain.thread.is_none());
        assert!(!plain.edited && !plain.forwarded && !plain.attachment && !plain.mentions_us);

        assert!(read(json!({"channel_type": "im"})).unwrap().direct);
        assert!(
            read(json!({"type": "app_mention", "channel": "D1", "channel_type": null}))
                .unwrap()
                .direct
        );
        let mention = read(json!({"type": "app_mention", "text": "<@UBOT> yes"})).unwrap();
        assert!(
            mention.mentions_us && mention.mentions == ["<@UBOT>"] && mention.event == plain.event
        );
        let thread = json!({"thread_ts": "1531420000.000100", "parent_user_id": "UBOT"});
        let thread = read(thread).unwrap();
        assert_eq!(thread.thread.as_deref(), Some("1531420000.000100"));
        assert_eq!(thread.replies_to, thread.thread);
        let other =
            read(json!({"thread_ts": "1531420000.000100", "parent_user_id": "U7"})).unwrap();
        assert_eq!(other.replies_to, None, "under somebody else's message");
        let broadcast = json!({"subtype": "thread_broadcast", "thread_ts": "1531420000.000100"});
        let broadcast = read(broadcast).unwrap();
        assert_eq!(broadcast.replies_to.as_deref(), Some("1531420000.000100"));
        assert_eq!(broadcast.thread, broadcast.replies_to);
        let elsewhere = json!({"subtype": "thread_broadcast", "thread_ts": "1531420000.000100",
                               "root": {"user": "U7"}});
        assert_eq!(read(elsewhere).unwrap().replies_to, None, "the root is somebody else's");
        assert_eq!(read(json!({"thread_ts": "1531420618.000200"})).unwrap().thread, None);
        assert!(read(json!({"edited": {"user": "U7"}})).unwrap().edited);
        assert!(read(json!({"attachments": [{"is_share": true}]})).unwrap().forwarded);
        assert!(read(json!({"subtype": "file_share", "files": [{}]})).unwrap().attachment);
        let guest = read(json!({"user_team": "T9"})).unwrap();
        assert_eq!(guest.operator.unwrap().identity, "T9:U7", "of another workspace");
    }

    #[test]
    fn i48_a_part_that_is_struck_out_quoted_or_code_is_seen() {
        let blocks =
            |section: Value| json!({"blocks": [{"type": "rich_text", "elements": [section]}]});
        let text = |style: Value| {
            let piece = json!({"type": "text", "text": "yes", "style": style});
            blocks(json!({"type": "rich_text_section", "elements": [piece]}))
        };
        assert!(!read(text(json!({"bold": true}))).unwrap().formatted);
        assert!(!read(json!({})).unwrap().formatted);
        assert!(read(text(json!({"strike": true}))).unwrap().formatted);
        assert!(read(text(json!({"code": true}))).unwrap().formatted);
        for kind in ["rich_text_quote", "rich_text_preformatted"] {
            assert!(
                read(blocks(json!({"type": kind, "elements": []}))).unwrap().formatted,
                "{kind}"
            );
        }
    }

    #[test]
    fn what_no_person_wrote_is_nothing() {
        for change in [
            json!({"bot_id": "B9"}),
            json!({"bot_profile": {}}),
            json!({"user": "UBOT"}),
            json!({"user": null}),
            json!({"hidden": true}),
            json!({"subtype": "message_changed", "message": {"text": "yes"}}),
            json!({"subtype": "message_deleted"}),
            json!({"subtype": "channel_join"}),
            json!({"type": "reaction_added"}),
            json!({"ts": "soon"}),
            json!({"channel": null}),
        ] {
            assert!(read(change.clone()).is_none(), "{change}");
        }
        assert!(wrote(&json!([]), &me()).is_none());
    }

    #[test]
    fn a_moment_is_read() {
        assert_eq!(moment("1531420618.123456"), Some(Timestamp::from_ms(1_531_420_618_123)));
        assert_eq!(moment("1531420618.1"), Some(Timestamp::from_ms(1_531_420_618_100)));
        assert_eq!(moment("1531420618"), Some(Timestamp::from_ms(1_531_420_618_000)));
        for bad in ["", ".1", "1.x", "99999999999999999999.1"] {
            assert_eq!(moment(bad), None, "{bad}");
        }
    }
}
