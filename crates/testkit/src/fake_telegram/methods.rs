//! The methods of the Bot API that we speak.

use serde_json::{Value, json};

use super::html;
use super::server::{BOT_ID, BOT_NAME};
use super::state::{DATE, State, Webhook, chat};

pub(super) enum Refused {
    Because(u16, String),
    Moved(i64),
}

type Answer = Result<Value, Refused>;

fn bad(why: &str) -> Refused {
    Refused::Because(400, format!("Bad Request: {why}"))
}

pub(super) fn call(state: &mut State, method: &str, body: &Value) -> Answer {
    match method {
        "getMe" => Ok(json!({
            "id": BOT_ID, "is_bot": true, "first_name": "Hold", "username": BOT_NAME,
            "can_join_groups": true, "can_read_all_group_messages": false,
            "supports_inline_queries": false,
        })),
        "sendMessage" => send(state, body),
        "editMessageText" => edit(state, body),
        "answerCallbackQuery" => answer(state, body),
        "setWebhook" => set_webhook(state, body),
        "deleteWebhook" => {
            state.webhook = None;
            Ok(true.into())
        }
        "getWebhookInfo" => Ok(webhook_info(state)),
        _ => Err(Refused::Because(404, "Not Found".into())),
    }
}

fn target(state: &State, body: &Value) -> Result<i64, Refused> {
    let id = match &body["chat_id"] {
        Value::String(text) => text.parse().map_err(|_| bad("chat not found"))?,
        other => other.as_i64().ok_or_else(|| bad("chat_id is empty"))?,
    };
    if let Some(there) = state.moved.get(&id) {
        return Err(Refused::Moved(*there));
    }
    if state.closed.contains(&id) {
        return Err(Refused::Because(403, "Forbidden: bot was kicked from the group chat".into()));
    }
    Ok(id)
}

fn text(body: &Value) -> Result<String, Refused> {
    let text = body["text"].as_str().filter(|text| !text.trim().is_empty());
    let text = text.ok_or_else(|| bad("message text is empty"))?;
    let seen = match body["parse_mode"].as_str() {
        None => text.to_owned(),
        Some("HTML") => html::read(text).map_err(|why| Refused::Because(400, why))?,
        Some(_) => return Err(bad("unsupported parse_mode")),
    };
    if seen.encode_utf16().count() > 4096 {
        return Err(bad("message is too long"));
    }
    Ok(seen)
}

fn keyboard(body: &Value) -> Result<Value, Refused> {
    let rows = match &body["reply_markup"]["inline_keyboard"] {
        Value::Null => return Ok(Value::Null),
        rows => rows.as_array().ok_or_else(|| bad("can't parse inline keyboard"))?,
    };
    let keys: Vec<&Value> = rows.iter().filter_map(Value::as_array).flatten().collect();
    if keys.len() > 100 || rows.iter().any(|row| row.as_array().is_none_or(|row| row.len() > 8)) {
        return Err(bad("REPLY_MARKUP_TOO_LONG"));
    }
    for key in &keys {
        let data = key["callback_data"].as_str().unwrap_or_default();
        if !(1..=64).contains(&data.len()) {
            return Err(bad("BUTTON_DATA_INVALID"));
        }
        if key["text"].as_str().is_none_or(str::is_empty) {
            return Err(bad("inline keyboard button text is empty"));
        }
    }
    Ok(if keys.is_empty() { Value::Null } else { body["reply_markup"].clone() })
}

fn send(state: &mut State, body: &Value) -> Answer {
    let to = target(state, body)?;
    let (text, keyboard) = (text(body)?, keyboard(body)?);
    let topic = body["message_thread_id"].as_i64();
    if let Some(topic) = topic
        && !state.topics.contains(&(to, topic))
    {
        return Err(bad("message thread not found"));
    }
    let replied = &body["reply_parameters"];
    if let Some(message) = replied["message_id"].as_i64()
        && !state.messages.contains_key(&(to, message))
        && replied["allow_sending_without_reply"] != true
    {
        return Err(bad("message to be replied not found"));
    }
    let id = state.message_id();
    let mut message = json!({
        "message_id": id, "date": DATE, "chat": chat(to, topic.is_some()), "text": text,
        "from": {"id": BOT_ID, "is_bot": true, "first_name": "Hold", "username": BOT_NAME},
    });
    if let Some(topic) = topic {
        message["message_thread_id"] = topic.into();
        message["is_topic_message"] = true.into();
    }
    if !keyboard.is_null() {
        message["reply_markup"] = keyboard;
    }
    state.messages.insert((to, id), message.clone());
    Ok(message)
}

fn edit(state: &mut State, body: &Value) -> Answer {
    let to = target(state, body)?;
    let (text, keyboard) = (text(body)?, keyboard(body)?);
    let id = body["message_id"].as_i64().unwrap_or_default();
    let message =
        state.messages.get_mut(&(to, id)).ok_or_else(|| bad("message to edit not found"))?;
    if message["text"] == text.as_str() && message["reply_markup"] == keyboard {
        return Err(bad(
            "message is not modified: specified new message content and reply markup are exactly the \
             same as a current content and reply markup of the message",
        ));
    }
    message["text"] = text.into();
    message["edit_date"] = (DATE + 1).into();
    match keyboard {
        Value::Null => {
            message.as_object_mut().and_then(|message| message.remove("reply_markup"));
        }
        keyboard => message["reply_markup"] = keyboard,
    }
    Ok(message.clone())
}

fn answer(state: &mut State, body: &Value) -> Answer {
    let text = body["text"].as_str().unwrap_or_default();
    if text.chars().count() > 200 {
        return Err(bad("MESSAGE_TOO_LONG"));
    }
    let query = body["callback_query_id"].as_str().unwrap_or_default();
    let answers = state.queries.get_mut(query).ok_or_else(|| {
        bad("query is too old and response timeout expired or query ID is invalid")
    })?;
    answers.push(body.clone());
    Ok(true.into())
}

fn set_webhook(state: &mut State, body: &Value) -> Answer {
    let url = body["url"].as_str().unwrap_or_default();
    if url.is_empty() {
        state.webhook = None;
        return Ok(true.into());
    }
    let allowed = body["allowed_updates"].as_array();
    let allowed = allowed.map(|kinds| kinds.iter().filter_map(Value::as_str).map(Into::into));
    state.webhook = Some(Webhook {
        url: url.to_owned(),
        secret: body["secret_token"].as_str().unwrap_or_default().to_owned(),
        allowed: allowed.map(Iterator::collect).unwrap_or_default(),
    });
    Ok(true.into())
}

fn webhook_info(state: &State) -> Value {
    let mut info = json!({
        "url": "", "has_custom_certificate": false, "pending_update_count": state.updates.len(),
    });
    if let Some(webhook) = &state.webhook {
        info["url"] = webhook.url.as_str().into();
        info["allowed_updates"] = json!(webhook.allowed);
    }
    if let Some(error) = &state.last_error {
        info["last_error_message"] = error.as_str().into();
    }
    info
}
