//! The API: tokens, the bot, messages, and where to connect.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use domain::time::Timestamp;
use ports::clock::Clock;
use serde_json::{Value, json};

use super::card::problem;
use super::line::Line;
use crate::fake_chat::{Asked, Platform, Reply};

/// Of the shape on which the vendor's SDK for Node insists.
pub const APP_ID: &str = "cli_0123456789abcdef";
pub const APP_SECRET: &str = "app-secret";
/// Our bot's `open_id`.
pub const BOT: &str = "ou_bot";

/// A message that stands somewhere.
#[derive(Clone, Debug, PartialEq)]
pub struct Sent {
    pub id: String,
    /// `chat_id oc_1`, or `reply om_1`.
    pub to: String,
    pub kind: String,
    /// As it now is.
    pub content: Value,
    pub updates: usize,
    pub at: Timestamp,
}

/// How long a card can be changed.
const UPDATES_MS: u64 = 14 * 24 * 3_600_000;

pub(super) struct Api {
    line: Arc<Line>,
    clock: Arc<dyn Clock>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    tokens: Vec<String>,
    given: usize,
    scopes: Vec<String>,
    messages: Vec<Sent>,
    uuids: HashMap<String, String>,
    /// So many a second in one chat and on one message, if at all.
    rate: Option<usize>,
    taken: HashMap<String, Vec<Timestamp>>,
    refusals: usize,
}

impl Api {
    pub(super) fn new(line: Arc<Line>, clock: Arc<dyn Clock>) -> Api {
        Api { line, clock, state: Mutex::default() }
    }

    pub(super) fn limit(&self, rate: usize) {
        self.state().rate = Some(rate);
    }

    pub(super) fn refusals(&self) -> usize {
        self.state().refusals
    }

    /// Whether this is too much at once for one chat or one message.
    fn too_fast(&self, what: &str) -> bool {
        let (mut state, now) = (self.state(), self.clock.now());
        let Some(rate) = state.rate else { return false };
        let taken = state.taken.entry(what.to_owned()).or_default();
        taken.retain(|at| now.ms_since(*at) < 1_000);
        let full = taken.len() >= rate;
        if !full {
            taken.push(now);
        }
        state.refusals += usize::from(full);
        full
    }

    pub(super) fn messages(&self) -> Vec<Sent> {
        self.state().messages.clone()
    }

    pub(super) fn forget_tokens(&self) {
        self.state().tokens.clear();
    }

    pub(super) fn grant(&self, scopes: &[&str]) {
        self.state().scopes = scopes.iter().map(|scope| (*scope).to_owned()).collect();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Platform for Api {
    fn answer(&self, asked: &Asked) -> Reply {
        let parts: Vec<&str> = asked.path.trim_matches('/').split('/').collect();
        let method = asked.method.as_str();
        match (method, &parts[..]) {
            ("POST", ["open-apis", "auth", "v3", "tenant_access_token", "internal"]) => {
                self.token(&asked.json())
            }
            ("POST", ["callback", "ws", "endpoint"]) => self.endpoint(asked),
            (_, ["open-apis", rest @ ..]) => {
                let bearer = asked.header("authorization").unwrap_or_default();
                let token = bearer.strip_prefix("Bearer ").unwrap_or_default();
                if !self.state().tokens.iter().any(|known| known == token) {
                    return refused(99991663, "invalid tenant access token");
                }
                self.api(method, rest, asked)
            }
            _ => Reply::new(404, json!({"code": 99991404, "msg": "no such page"})),
        }
    }
}

impl Api {
    fn token(&self, body: &Value) -> Reply {
        if body["app_id"] != APP_ID || body["app_secret"] != APP_SECRET {
            return Reply::new(200, json!({"code": 10014, "msg": "app secret invalid"}));
        }
        let mut state = self.state();
        state.given += 1;
        let token = format!("t-{}", state.given);
        state.tokens.push(token.clone());
        let body = json!({"code": 0, "msg": "ok", "tenant_access_token": token, "expire": 7200});
        Reply::new(200, body)
    }

    fn endpoint(&self, asked: &Asked) -> Reply {
        let body = asked.json();
        if body["AppID"] != APP_ID || body["AppSecret"] != APP_SECRET {
            return Reply::new(200, json!({"code": 514, "msg": "app id or secret is wrong"}));
        }
        let (url, config) = self.line.invite();
        Reply::new(200, json!({"code": 0, "msg": "", "data": {"URL": url, "ClientConfig": config}}))
    }

    fn api(&self, method: &str, rest: &[&str], asked: &Asked) -> Reply {
        match (method, rest) {
            ("GET", ["bot", "v3", "info"]) => {
                let bot = json!({"activate_status": 2, "app_name": "Holdpoint", "open_id": BOT});
                Reply::new(200, json!({"code": 0, "msg": "ok", "bot": bot}))
            }
            ("GET", ["application", "v6", "scopes"]) => {
                let scope = |name: &String| json!({"scope_name": name, "grant_status": 1});
                let scopes: Vec<Value> = self.state().scopes.iter().map(scope).collect();
                done(json!({"scopes": scopes}))
            }
            ("POST", ["im", "v1", "messages"]) => {
                let body = asked.json();
                let query = asked.query.as_deref().unwrap_or_default();
                let Some(kind) = query.strip_prefix("receive_id_type=") else {
                    return refused(99992402, "receive_id_type is required");
                };
                let to = body["receive_id"].as_str().unwrap_or_default();
                let known = match kind {
                    "chat_id" => to.starts_with("oc_"),
                    "open_id" => to.starts_with("ou_"),
                    "union_id" => to.starts_with("on_"),
                    "user_id" => !to.is_empty() && !to.starts_with("ou_") && !to.starts_with("on_"),
                    _ => false,
                };
                if !known {
                    return refused(230001, "invalid receive_id");
                }
                self.send(format!("{kind} {to}"), &body)
            }
            ("POST", ["im", "v1", "messages", id, "reply"]) => {
                self.send(format!("reply {id}"), &asked.json())
            }
            ("PATCH", ["im", "v1", "messages", id]) => self.update(id, &asked.json()),
            _ => Reply::new(404, json!({"code": 99991404, "msg": "no such page"})),
        }
    }

    fn send(&self, to: String, body: &Value) -> Reply {
        let kind = body["msg_type"].as_str().unwrap_or_default();
        let content = match content(kind, body) {
            Ok(content) => content,
            Err((code, why)) => return refused(code, &why),
        };
        let uuid = body["uuid"].as_str().unwrap_or_default().to_owned();
        if uuid.len() > 50 {
            return refused(99992402, "uuid is too long");
        }
        if self.too_fast(&to) {
            return too_fast();
        }
        let now = self.clock.now();
        let mut state = self.state();
        let id = match state.uuids.get(&uuid) {
            // One message within an hour, however often it is sent.
            Some(id) if !uuid.is_empty() => id.clone(),
            _ => {
                let id = format!("om_{}", state.messages.len() + 1);
                state.uuids.insert(uuid, id.clone());
                state.messages.push(Sent {
                    id: id.clone(),
                    to: to.clone(),
                    kind: kind.into(),
                    content,
                    updates: 0,
                    at: now,
                });
                id
            }
        };
        let chat = match to.split_once(' ') {
            Some(("chat_id", chat)) => chat.to_owned(),
            Some(("open_id" | "union_id" | "user_id", person)) => format!("oc_with_{person}"),
            _ => "oc_1".to_owned(),
        };
        let found = state.messages.iter().find(|sent| sent.id == id);
        let at = found.map_or(now, |sent| sent.at).as_ms().to_string();
        done(json!({"message_id": id, "chat_id": chat, "create_time": at}))
    }

    fn update(&self, id: &str, body: &Value) -> Reply {
        let content = match content("interactive", body) {
            Ok(content) => content,
            Err((code, why)) => return refused(code, &why),
        };
        if self.too_fast(id) {
            return too_fast();
        }
        let now = self.clock.now();
        let mut state = self.state();
        match state.messages.iter_mut().find(|sent| sent.id == id) {
            Some(sent) if now.ms_since(sent.at) > UPDATES_MS => {
                refused(230031, "the message is older than it may be changed")
            }
            Some(sent) if sent.kind == "interactive" => {
                sent.content = content;
                sent.updates += 1;
                done(json!({}))
            }
            Some(_) => refused(230001, "this message is not a card"),
            None => refused(230110, "the message was deleted"),
        }
    }
}

/// It is JSON in a string, and of its kind.
fn content(kind: &str, body: &Value) -> Result<Value, (i64, String)> {
    let text =
        body["content"].as_str().ok_or_else(|| (230001, "content is no string".to_owned()))?;
    let content: Value =
        serde_json::from_str(text).map_err(|_| (230001, "content is no JSON".to_owned()))?;
    match kind {
        "text" if content["text"].is_string() && text.len() <= 150_000 => Ok(content),
        "interactive" if text.len() > 30_000 => Err((230025, "the card is too large".into())),
        "interactive" => match problem(&content) {
            Some(why) => Err((230099, why)),
            None => Ok(content),
        },
        _ => Err((230001, format!("a message of kind {kind} like this is not taken"))),
    }
}

fn done(data: Value) -> Reply {
    Reply::new(200, json!({"code": 0, "msg": "success", "data": data}))
}

fn too_fast() -> Reply {
    let body = json!({"code": 230020, "msg": "this operation triggers the frequency limit"});
    Reply::new(400, body).with("x-ogw-ratelimit-reset", "1")
}

fn refused(code: i64, why: &str) -> Reply {
    Reply::new(400, json!({"code": code, "msg": why}))
}
