//! What people do, read from events. Nothing is decided here.

use domain::time::Timestamp;
use ports::channel::{ButtonAction, DeliveryKey, Form, IncomingMessage, Nonce, Pointer, Press};
use serde_json::{Map, Value};

use super::event::FeishuEvent;
use super::identity::operator;

pub(super) const MESSAGE: &str = "im.message.receive_v1";
pub(super) const PRESS: &str = "card.action.trigger";

/// `None`: not a button of ours. `only`: the organisation whose people are heard.
pub(super) fn press(event: &FeishuEvent, only: Option<&str>, now: Timestamp) -> Option<Press> {
    let content = &event.content;
    let who = &content["operator"];
    let action = &content["action"];
    let mut pointer = pointer(&action["value"])?;
    let form = form(action);
    // A menu beside no form: what is picked is pressed.
    if pointer.said == ButtonAction::Form
        && action["form_value"].is_null()
        && let [option] = form.options[..]
    {
        pointer.said = ButtonAction::Option(option);
    }
    // Where it was pressed tells a forwarded card from ours, so it must be told.
    let place = |key: &str| {
        content["context"][key].as_str().filter(|text| !text.is_empty()).map(str::to_owned)
    };
    Some(Press {
        event: event.key(),
        operator: operator(who, &who["tenant_key"], only),
        chat: place("open_chat_id")?,
        message: place("open_message_id")?,
        pointer,
        is_on_it: false,
        form,
        at: now,
    })
}

fn pointer(value: &Value) -> Option<Pointer> {
    let inner: Value;
    let value = match value {
        // Some clients give it back as it was sent: as text.
        Value::String(text) => {
            inner = serde_json::from_str(text).ok()?;
            &inner
        }
        value => value,
    };
    let text = |key: &str| value[key].as_str();
    if value["v"] != 1 {
        return None;
    }
    Some(Pointer {
        key: DeliveryKey::new(text("r")?).ok()?,
        said: text("o")?.parse().ok()?,
        nonce: Nonce::new(text("n")?).ok()?,
    })
}

fn form(action: &Value) -> Form {
    let number = |value: &Value| match value.as_str()?.parse().ok()? {
        ButtonAction::Option(number) => Some(number),
        _ => None,
    };
    let several = |value: &Value| -> Vec<u8> {
        value.as_array().into_iter().flatten().filter_map(number).collect()
    };
    let mut fields = Map::new();
    let mut options: Vec<u8> = number(&action["option"]).into_iter().collect();
    options.extend(several(&action["options"]));
    for (name, value) in action["form_value"].as_object().into_iter().flatten() {
        match name.as_str() {
            "choices" if value.is_array() => options.extend(several(value)),
            // What was left empty was not filled in.
            _ if value.is_null() || value == "" => {}
            _ => {
                fields.insert(name.clone(), value.clone());
            }
        }
    }
    Form { fields, options }
}

/// `None`: not somebody's message. `own` is how the platform names us.
pub(super) fn wrote(event: &FeishuEvent, only: Option<&str>, own: &str) -> Option<IncomingMessage> {
    let (sender, message) = (&event.content["sender"], &event.content["message"]);
    if sender["sender_type"] != "user" {
        return None;
    }
    let text = |key: &str| message[key].as_str().filter(|text| !text.is_empty());
    let (id, chat) = (text("message_id")?.to_owned(), text("chat_id")?.to_owned());
    let ms = |key: &str| text(key).and_then(|text| text.parse::<i64>().ok());
    let at = ms("create_time")?;
    let kind = text("message_type").unwrap_or_default();
    let said = message_text(kind, message["content"].as_str().unwrap_or_default());
    let (mut mentions, mut mentions_others) = (Vec::new(), false);
    let mut known = Vec::new();
    for mention in message["mentions"].as_array().into_iter().flatten() {
        match mention["key"].as_str() {
            Some(key) if !own.is_empty() && mention["id"]["open_id"] == own => {
                mentions.push(key.to_owned());
            }
            _ => mentions_others = true,
        }
        known.extend(mention["key"].as_str());
    }
    for named in said.iter().flat_map(|said| &said.named) {
        match named.as_str() {
            id if !own.is_empty() && id == own => mentions.push(id.to_owned()),
            id => mentions_others |= !known.contains(&id),
        }
    }
    mentions_others |= said.as_ref().is_some_and(|said| said.text.contains("@_all"));
    // The first message of a thread names the thread; those behind it name the first message. So
    // that is what a thread is called here, and what is replied to.
    let thread = text("root_id").or_else(|| text("thread_id").and(Some(id.as_str())));
    Some(IncomingMessage {
        event: event.key(),
        thread: thread.map(str::to_owned),
        message: id.clone(),
        operator: operator(&sender["sender_id"], &sender["tenant_key"], only),
        chat,
        direct: message["chat_type"] == "p2p",
        attachment: said.is_none(),
        formatted: said.as_ref().is_some_and(|said| said.formatted),
        text: said.map(|said| said.text).unwrap_or_default(),
        mentions_us: !mentions.is_empty(),
        mentions,
        mentions_others,
        replies_to: text("parent_id").map(str::to_owned),
        from_a_person: true,
        edited: ms("update_time").is_some_and(|updated| updated > at),
        forwarded: kind == "merge_forward",
        at: Timestamp::from_ms(at),
    })
}

/// The words of a message, and whom a post names in them.
struct MessageText {
    text: String,
    named: Vec<String>,
    /// A piece is struck out or set as code.
    formatted: bool,
}

/// `None` if it is something else than words.
fn message_text(kind: &str, content: &str) -> Option<MessageText> {
    let content: Value = serde_json::from_str(content).ok()?;
    match kind {
        "text" => {
            let text = content["text"].as_str()?.to_owned();
            Some(MessageText { text, named: Vec::new(), formatted: false })
        }
        "post" => post(&content),
        _ => None,
    }
}

/// A post is paragraphs of pieces, under its language or not. One with a picture or a file in it says
/// more than its words.
fn post(content: &Value) -> Option<MessageText> {
    let inner = match content.get("content") {
        Some(_) => content,
        None => content.as_object()?.values().next()?,
    };
    let title = inner["title"].as_str().filter(|title| !title.is_empty());
    let mut lines: Vec<String> = title.map(str::to_owned).into_iter().collect();
    let (mut named, mut formatted) = (Vec::new(), false);
    for paragraph in inner["content"].as_array()? {
        let mut line = String::new();
        for piece in paragraph.as_array()? {
            let text = |key: &str| piece[key].as_str();
            let mut styles = piece["style"].as_array().into_iter().flatten();
            formatted |=
                text("tag") == Some("code_block") || styles.any(|style| style == "lineThrough");
            match text("tag")? {
                "text" | "md" | "code_block" => line.push_str(text("text")?),
                "a" => {
                    let (words, address) = (text("text").unwrap_or_default(), text("href")?);
                    line.push_str(&format!("{words} ({address})"));
                }
                // The key of a mention, as texts have it, or the id itself.
                "at" => match text("user_id")? {
                    "all" => line.push_str("@_all"),
                    id => {
                        line.push_str(id);
                        named.push(id.to_owned());
                    }
                },
                "emotion" => line.push_str(&format!("[{}]", text("emoji_type")?)),
                "hr" => {}
                _ => return None,
            }
        }
        lines.push(line);
    }
    Some(MessageText { text: lines.join("\n"), named, formatted })
}

#[cfg(test)]
#[path = "gesture_tests.rs"]
mod tests;
