//! The methods of the Web API that we speak.

use serde_json::{Map, Value, json};

use super::blocks::{problem, view_problem};
use super::{APP_ID, APP_TOKEN, Api, BOT_ID, BOT_TOKEN, BOT_USER, State, TEAM_ID};
use crate::fake_chat::{Asked, Platform, Reply};

const SCOPES: &str =
    "chat:write,app_mentions:read,im:history,channels:history,groups:history,users:read";

impl Platform for Api {
    fn answer(&self, asked: &Asked) -> Reply {
        let mut state = self.state();
        let scopes = state.scopes.clone().unwrap_or_else(|| SCOPES.to_owned());
        let method = asked.path.strip_prefix("/api/").unwrap_or_default();
        let told = self.call(&mut state, method, asked);
        let body = match told {
            Ok(mut told) => {
                told["ok"] = true.into();
                told
            }
            Err(Refused { error, more }) => {
                let mut told = json!({"ok": false, "error": error});
                if let Some(told) = told.as_object_mut() {
                    told.extend(more);
                }
                told
            }
        };
        Reply::new(200, body).with("x-oauth-scopes", scopes)
    }
}

struct Refused {
    error: &'static str,
    more: Map<String, Value>,
}

impl From<&'static str> for Refused {
    fn from(error: &'static str) -> Refused {
        Refused { error, more: Map::new() }
    }
}

type Told = Result<Value, Refused>;

impl Api {
    fn call(&self, state: &mut State, method: &str, asked: &Asked) -> Told {
        let token = asked.header("authorization").and_then(|value| value.strip_prefix("Bearer "));
        let wanted = if method == "apps.connections.open" { APP_TOKEN } else { BOT_TOKEN };
        match token {
            None => return Err("not_authed".into()),
            Some(token) if token == wanted => {}
            Some(APP_TOKEN | BOT_TOKEN) => return Err("not_allowed_token_type".into()),
            Some(_) => return Err("invalid_auth".into()),
        }
        let body = arguments(asked);
        match method {
            "auth.test" => Ok(json!({
                "url": "https://fake.slack.example/", "team": "Fake", "user": "holdpoint",
                "team_id": TEAM_ID, "user_id": BOT_USER, "bot_id": BOT_ID,
            })),
            "apps.connections.open" => {
                let ticket = state.next();
                Ok(
                    json!({"url": format!("{}/link/?ticket={ticket}&app_id={APP_ID}", self.address)}),
                )
            }
            "chat.postMessage" => post(state, &body),
            "chat.postEphemeral" => {
                open_channel(state, &body)?;
                state.ephemerals.push(body);
                Ok(json!({"message_ts": state.ts()}))
            }
            "chat.update" => update(state, &body),
            "views.open" => view(state, &body),
            "conversations.open" => Ok(json!({"channel": {"id": direct(text(&body, "users"))}})),
            "conversations.history" | "conversations.replies" => history(state, method, &body),
            _ => Err("unknown_method".into()),
        }
    }
}

/// From JSON, from a form, or from the query.
fn arguments(asked: &Asked) -> Value {
    if asked.header("content-type").is_some_and(|kind| kind.starts_with("application/json")) {
        return asked.json();
    }
    let sent = match asked.body.is_empty() {
        true => asked.query.clone().unwrap_or_default(),
        false => String::from_utf8_lossy(&asked.body).into_owned(),
    };
    let form = reqwest::Url::parse(&format!("form:?{sent}")).expect("a query");
    let pairs = form.query_pairs();
    let value = |text: &str| match text.starts_with(['{', '[']) {
        true => serde_json::from_str(text).unwrap_or_else(|_| text.into()),
        false => Value::from(text),
    };
    pairs.map(|(name, text)| (name.into_owned(), value(&text))).collect()
}

fn text<'a>(body: &'a Value, name: &str) -> &'a str {
    body[name].as_str().unwrap_or_default()
}

/// The conversation with one person.
fn direct(user: &str) -> String {
    format!("D{}", user.trim_start_matches(['U', 'W']))
}

fn open_channel(state: &State, body: &Value) -> Result<String, Refused> {
    match text(body, "channel") {
        "" => Err("channel_not_found".into()),
        channel if state.closed.contains(channel) => Err("not_in_channel".into()),
        user if user.starts_with(['U', 'W']) => Ok(direct(user)),
        channel if channel.starts_with(['C', 'D', 'G']) => Ok(channel.to_owned()),
        _ => Err("channel_not_found".into()),
    }
}

fn checked(body: &Value) -> Result<(), Refused> {
    if let Some(why) = problem(&body["blocks"]) {
        let messages = json!({"messages": [format!("[ERROR] {why}")]});
        let more = [("response_metadata".to_owned(), messages)].into_iter().collect();
        return Err(Refused { error: "invalid_blocks", more });
    }
    let length = text(body, "text").chars().count();
    if length == 0 && body["blocks"].is_null() {
        return Err("no_text".into());
    }
    if length > 40_000 { Err("msg_too_long".into()) } else { Ok(()) }
}

fn post(state: &mut State, body: &Value) -> Told {
    let channel = open_channel(state, body)?;
    checked(body)?;
    let ts = state.ts();
    let mut message = json!({
        "type": "message", "ts": ts, "user": BOT_USER, "bot_id": BOT_ID, "app_id": APP_ID,
        "team": TEAM_ID, "text": body["text"],
    });
    for name in ["blocks", "metadata", "thread_ts"] {
        if !body[name].is_null() {
            message[name] = body[name].clone();
        }
    }
    state.messages.entry(channel.clone()).or_default().push(message.clone());
    Ok(json!({"channel": channel, "ts": ts, "message": message}))
}

fn update(state: &mut State, body: &Value) -> Told {
    let channel = open_channel(state, body)?;
    checked(body)?;
    let messages = state.messages.entry(channel.clone()).or_default();
    let found = messages.iter_mut().find(|message| message["ts"] == body["ts"]);
    let message = found.ok_or("message_not_found")?;
    if message["user"] != BOT_USER {
        return Err("cant_update_message".into());
    }
    message["text"] = body["text"].clone();
    message["blocks"] = body["blocks"].clone();
    message["edited"] = json!({"user": BOT_USER, "ts": body["ts"]});
    Ok(json!({"channel": channel, "ts": body["ts"], "text": body["text"]}))
}

fn view(state: &mut State, body: &Value) -> Told {
    if !state.triggers.remove(text(body, "trigger_id")) {
        return Err("expired_trigger_id".into());
    }
    if let Some(why) = view_problem(&body["view"]) {
        let messages = json!({"messages": [format!("[ERROR] {why}")]});
        let more = [("response_metadata".to_owned(), messages)].into_iter().collect();
        return Err(Refused { error: "invalid_arguments", more });
    }
    let mut view = body["view"].clone();
    view["id"] = format!("V{}", state.next()).into();
    state.views.push(view.clone());
    Ok(json!({"view": view}))
}

fn history(state: &State, method: &str, body: &Value) -> Told {
    let all = state.messages.get(text(body, "channel")).cloned().unwrap_or_default();
    let oldest: f64 = text(body, "oldest").parse().unwrap_or_default();
    let here = |message: &Value| {
        let ts: f64 = text(message, "ts").parse().unwrap_or_default();
        let thread = match method {
            "conversations.replies" => {
                message["thread_ts"] == body["ts"] || message["ts"] == body["ts"]
            }
            _ => message["thread_ts"].is_null(),
        };
        thread && ts > oldest
    };
    let shown = |mut message: Value| {
        // Only for who asks.
        if text(body, "include_all_metadata") != "true"
            && let Some(message) = message.as_object_mut()
        {
            message.remove("metadata");
        }
        message
    };
    let mut messages: Vec<Value> = all.into_iter().filter(here).map(shown).collect();
    messages.reverse();
    Ok(json!({"messages": messages, "has_more": false}))
}
