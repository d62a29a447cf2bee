//! An update, as one of the gestures that count or as nothing.

use domain::time::Timestamp;
use ports::channel::{Form, IncomingMessage, Operator, Pointer, Press};
use serde_json::Value;

use super::entities::{TelegramAccount, id, mentions};
use super::update_key;

#[derive(Debug)]
pub(super) enum Update {
    /// A key of a keyboard. The query wants an answer, whatever was pressed.
    Pressed {
        query: String,
        press: Option<Box<Press>>,
        chat: String,
    },
    Wrote(Box<IncomingMessage>),
    /// A group has become a supergroup. It is told twice, in each of the two.
    Moved {
        from: String,
        to: String,
        chat: String,
    },
    /// Acknowledged, and nothing else.
    Ignored,
}

/// Admins who speak as their group speak through this account.
const ANONYMOUS_ADMIN: &str = "1087968824";

impl Update {
    pub(super) fn read(update: &Value, me: &TelegramAccount, now: Timestamp) -> Update {
        let read = match (&update["callback_query"], &update["message"]) {
            (query @ Value::Object(_), _) => pressed(query, now),
            // Edited messages and posts of channels are other keys, which nobody reads.
            (_, message @ Value::Object(_)) => {
                moved(message).or_else(|| wrote(update, message, me))
            }
            _ => None,
        };
        read.unwrap_or(Update::Ignored)
    }

    /// In whose order it belongs.
    pub(super) fn chat(&self) -> &str {
        match self {
            Update::Pressed { chat, .. } => chat,
            Update::Wrote(wrote) => &wrote.chat,
            Update::Moved { chat, .. } => chat,
            Update::Ignored => "",
        }
    }
}

fn pressed(query: &Value, now: Timestamp) -> Option<Update> {
    let name = query["id"].as_str().filter(|id| !id.is_empty())?.to_owned();
    let (message, data) = (&query["message"], &query["data"]);
    let chat = id(&message["chat"]["id"]).unwrap_or_default();
    let press = || {
        Some(Press {
            event: format!("telegram:callback:{name}"),
            operator: operator(&query["from"]),
            chat: (!chat.is_empty()).then(|| chat.clone())?,
            message: id(&message["message_id"])?,
            pointer: data.as_str()?.parse::<Pointer>().ok()?,
            is_on_it: keys(message).any(|key| key["callback_data"] == *data),
            form: Form::default(),
            at: now,
        })
    };
    let press = press().map(Box::new);
    Some(Update::Pressed { query: name, press, chat })
}

/// Telegram passes on whatever data a client sends, but adds the message itself, as it stands there.
fn keys(message: &Value) -> impl Iterator<Item = &Value> {
    let rows = message["reply_markup"]["inline_keyboard"].as_array().into_iter().flatten();
    rows.filter_map(Value::as_array).flatten()
}

/// Only the platform writes these.
fn moved(message: &Value) -> Option<Update> {
    let chat = id(&message["chat"]["id"])?;
    let (to, from) = (id(&message["migrate_to_chat_id"]), id(&message["migrate_from_chat_id"]));
    let (from, to) = match (from, to) {
        (None, Some(to)) => (chat.clone(), to),
        (Some(from), None) => (from, chat.clone()),
        _ => return None,
    };
    Some(Update::Moved { from, to, chat })
}

fn wrote(update: &Value, message: &Value, me: &TelegramAccount) -> Option<Update> {
    let from = &message["from"];
    let sender = id(&from["id"]);
    // Our own words come back to us in no chat but a channel's discussion group.
    if sender.as_ref() == Some(&me.id) {
        return None;
    }
    let (text, entities) = match message["text"].as_str() {
        Some(text) => (text, &message["entities"]),
        None => (message["caption"].as_str().unwrap_or_default(), &message["caption_entities"]),
    };
    let attachment = message["text"].is_null();
    if attachment && !ATTACHMENTS.iter().any(|kind| !message[*kind].is_null()) {
        // A member joined, a title changed, a message was pinned.
        return None;
    }
    let mentioned = mentions(text, entities, me);
    let replied = &message["reply_to_message"];
    let ours = id(&replied["from"]["id"]).as_ref() == Some(&me.id);
    let nobody = !message["sender_chat"].is_null()
        || !message["via_bot"].is_null()
        || from["is_bot"] == true
        || sender.is_none();
    let topic = message["is_topic_message"] == true;
    Some(Update::Wrote(Box::new(IncomingMessage {
        event: update_key(update)?,
        message: id(&message["message_id"])?,
        operator: operator(from).filter(|_| message["sender_chat"].is_null()),
        chat: id(&message["chat"]["id"])?,
        // Outside a forum every chain of replies has such a number too.
        thread: topic.then(|| id(&message["message_thread_id"])).flatten(),
        direct: message["chat"]["type"] == "private",
        text: text.to_owned(),
        mentions_us: !mentioned.us.is_empty(),
        mentions: mentioned.us,
        mentions_others: mentioned.others,
        replies_to: ours.then(|| id(&replied["message_id"])).flatten(),
        from_a_person: !nobody,
        edited: !message["edit_date"].is_null(),
        forwarded: !message["forward_origin"].is_null(),
        attachment,
        formatted: is_formatted(entities),
        at: Timestamp::from_ms(message["date"].as_i64()?.checked_mul(1000)?),
    })))
}

/// Whether a part is struck out, hidden, quoted or set as code.
fn is_formatted(entities: &Value) -> bool {
    const KINDS: [&str; 6] =
        ["strikethrough", "spoiler", "code", "pre", "blockquote", "expandable_blockquote"];
    let mut kinds =
        entities.as_array().into_iter().flatten().filter_map(|one| one["type"].as_str());
    kinds.any(|kind| KINDS.contains(&kind))
}

const ATTACHMENTS: [&str; 14] = [
    "animation",
    "audio",
    "contact",
    "dice",
    "document",
    "location",
    "photo",
    "poll",
    "sticker",
    "story",
    "venue",
    "video",
    "video_note",
    "voice",
];

fn operator(from: &Value) -> Option<Operator> {
    let identity = id(&from["id"])?;
    if identity == ANONYMOUS_ADMIN || from["is_bot"] == true {
        return None;
    }
    let display = ["username", "first_name"].iter().find_map(|name| from[*name].as_str());
    Some(Operator { display: display.map(str::to_owned), ..Operator::named(identity) })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const NOW: Timestamp = Timestamp::from_ms(1_700_000_000_123);

    fn me() -> TelegramAccount {
        TelegramAccount { id: "42".into(), username: "holdbot".into() }
    }

    fn message(change: Value) -> Value {
        let mut message = json!({
            "message_id": 9, "date": 1_700_000_000, "text": "yes",
            "from": {"id": 7, "is_bot": false, "first_name": "Ana", "username": "ana"},
            "chat": {"id": -100123, "type": "supergroup"},
        });
        for (name, value) in change.as_object().unwrap() {
            message[name] = value.clone();
        }
        json!({"update_id": 5, "message": message})
    }

    fn written(change: Value) -> IncomingMessage {
        match Update::read(&message(change), &me(), NOW) {
            Update::Wrote(wrote) => *wrote,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_message_is_read_with_everything_that_makes_it_count_or_not() {
        let plain = written(json!({}));
        assert_eq!(plain.event, "telegram:update:5");
        assert_eq!((plain.chat.as_str(), plain.message.as_str()), ("-100123", "9"));
        assert_eq!(plain.operator.as_ref().unwrap().identity, "7");
        assert_eq!(plain.at, Timestamp::from_ms(1_700_000_000_000));
        assert!(plain.from_a_person && !plain.direct && plain.thread.is_none());
        assert!(!plain.edited && !plain.forwarded && !plain.attachment && !plain.mentions_us);

        let topic = json!({"message_thread_id": 3, "is_topic_message": true});
        assert_eq!(written(topic).thread.as_deref(), Some("3"));
        assert_eq!(written(json!({"message_thread_id": 3})).thread, None, "a chain of replies");
        assert!(written(json!({"chat": {"id": 7, "type": "private"}})).direct);
        let reply =
            |from: i64| json!({"reply_to_message": {"message_id": 8, "from": {"id": from}}});
        assert_eq!(written(reply(42)).replies_to.as_deref(), Some("8"));
        assert_eq!(written(reply(7)).replies_to, None, "to somebody else");
        assert!(written(json!({"edit_date": 1_700_000_001})).edited);
        assert!(written(json!({"forward_origin": {"type": "user"}})).forwarded);
        let photo = written(json!({"text": null, "photo": [], "caption": "yes"}));
        assert!(photo.attachment && photo.text == "yes");
        let mention = json!({"text": "@holdbot yes", "entities": [{"type": "mention", "offset": 0, "length": 8}]});
        let mention = written(mention);
        assert!(mention.mentions_us && mention.mentions == ["@holdbot"]);
    }

    #[test]
    fn i48_a_part_that_is_struck_out_hidden_quoted_or_code_is_seen() {
        let with = |kind: &str| json!({"entities": [{"type": kind, "offset": 0, "length": 3}]});
        for kind in
            ["strikethrough", "spoiler", "code", "pre", "blockquote", "expandable_blockquote"]
        {
            assert!(written(with(kind)).formatted, "{kind}");
        }
        assert!(!written(with("bold")).formatted && !written(json!({})).formatted);
    }

    #[test]
    fn whoever_is_nobody_answers_nothing() {
        let channel = written(json!({"sender_chat": {"id": -100123}}));
        assert!(!channel.from_a_person && channel.operator.is_none());
        assert!(!written(json!({"via_bot": {"id": 1}})).from_a_person);
        let bot = written(json!({"from": {"id": 8, "is_bot": true}}));
        assert!(!bot.from_a_person && bot.operator.is_none());
        let admin =
            json!({"from": {"id": 1087968824, "is_bot": true, "username": "GroupAnonymousBot"}});
        assert_eq!(written(admin).operator, None);
        let absent = written(json!({"from": null}));
        assert!(!absent.from_a_person && absent.operator.is_none());
    }

    #[test]
    fn what_is_no_gesture_is_ignored() {
        for update in [
            json!({"update_id": 5, "edited_message": {"text": "yes"}}),
            json!({"update_id": 5, "channel_post": {"text": "yes"}}),
            json!({"update_id": 5, "something_new": {}}),
            json!({}),
            json!([]),
            message(json!({"from": {"id": 42, "is_bot": true}})),
            message(json!({"text": null, "new_chat_members": [{}]})),
            message(json!({"date": null})),
            message(json!({"chat": null})),
        ] {
            let read = Update::read(&update, &me(), NOW);
            assert!(matches!(read, Update::Ignored), "{update}: {read:?}");
        }
    }

    #[test]
    fn a_group_that_becomes_another_is_told_in_both() {
        let moved = |change: Value| match Update::read(&message(change), &me(), NOW) {
            Update::Moved { from, to, chat } => (from, to, chat),
            other => panic!("{other:?}"),
        };
        let (old, new) = ("-5".to_owned(), "-100123".to_owned());
        let left = json!({"text": null, "chat": {"id": -5, "type": "group"}, "migrate_to_chat_id": -100123});
        assert_eq!(moved(left), (old.clone(), new.clone(), old.clone()));
        let came = json!({"text": null, "migrate_from_chat_id": -5});
        assert_eq!(moved(came), (old, new.clone(), new), "in the order of the new one");
    }

    fn press(change: Value) -> Update {
        let mut query = json!({
            "id": "q1", "from": {"id": 7, "is_bot": false, "first_name": "Ana"},
            "message": {"message_id": 9, "chat": {"id": -5, "type": "group"}, "date": 0},
            "chat_instance": "1", "data": "h1:7Q2:a:k3x9ab",
        });
        for (name, value) in change.as_object().unwrap() {
            query[name] = value.clone();
        }
        Update::read(&json!({"update_id": 6, "callback_query": query}), &me(), NOW)
    }

    #[test]
    fn a_key_is_read_and_always_wants_an_answer() {
        let Update::Pressed { query, press: Some(known), .. } = press(json!({})) else { panic!() };
        assert_eq!((query.as_str(), known.event.as_str()), ("q1", "telegram:callback:q1"));
        assert_eq!((known.chat.as_str(), known.message.as_str(), known.at), ("-5", "9", NOW));
        assert_eq!(known.pointer.to_string(), "h1:7Q2:a:k3x9ab");
        for strange in [json!({"data": "buy"}), json!({"data": null}), json!({"message": null})] {
            let read = press(strange.clone());
            assert!(matches!(read, Update::Pressed { press: None, .. }), "{strange}");
        }
        let Update::Pressed { press: Some(unnamed), .. } = press(json!({"from": null})) else {
            panic!()
        };
        assert_eq!(unnamed.operator, None, "and refused");
    }

    #[test]
    fn i31_what_stands_on_a_message_is_what_the_platform_says_of_it() {
        let is_on_it = |keyboard: Value| {
            let message = json!({
                "message_id": 9, "chat": {"id": -5, "type": "group"}, "date": 0,
                "reply_markup": {"inline_keyboard": keyboard},
            });
            let Update::Pressed { press: Some(press), .. } = press(json!({"message": message}))
            else {
                panic!()
            };
            press.is_on_it
        };
        let (own, other) = ("h1:7Q2:a:k3x9ab", "h1:7Q2:d:k3x9ab");
        let key = |data: &str| json!({"text": "Approve", "callback_data": data});
        assert!(is_on_it(json!([[key(other)], [key(other), key(own)]])));
        for strange in [json!(null), json!([]), json!([[key(other)]]), json!([[{"text": own}]])] {
            assert!(!is_on_it(strange.clone()), "{strange}");
        }
    }
}
