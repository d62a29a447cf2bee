//! The server.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Request, State as Extracted};
use axum::response::Response;
use futures_util::stream;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::Notify;
use tokio::task::JoinSet;

use super::hooks;
use super::methods::{self, Refused};
use super::state::{DATE, State};
use crate::fake_chat::{self, Standing, cut};
use crate::faults::{Fault, Faults};

pub const TOKEN: &str = "424242:FAKE-token_of-tests";
pub(super) const BOT_ID: i64 = 424_242;
pub(super) const BOT_NAME: &str = "hold_bot";
const BODY_BYTES: usize = 1 << 20;

/// A running platform. Dropping it ends it.
pub struct FakeTelegram {
    address: SocketAddr,
    pub(super) shared: Arc<Shared>,
    _serving: JoinSet<()>,
}

pub(super) struct Shared {
    pub(super) state: Mutex<State>,
    pub(super) changed: Notify,
    faults: Faults,
    standing: Standing,
}

/// One request for a method, as it came.
#[derive(Clone, Debug)]
pub struct Recorded {
    pub method: String,
    pub http_method: String,
    pub path: String,
    pub content_type: String,
    pub body: Value,
}

impl FakeTelegram {
    pub async fn start() -> FakeTelegram {
        FakeTelegram::listen("127.0.0.1:0").await.expect("a free port on loopback")
    }

    pub async fn listen(address: &str) -> std::io::Result<FakeTelegram> {
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            state: Mutex::default(),
            changed: Notify::new(),
            faults: Faults::default(),
            standing: Standing::default(),
        });
        let router = Router::new().fallback(serve).with_state(shared.clone());
        let mut serving = JoinSet::new();
        serving.spawn(async move {
            // It ends when it is dropped; a listener on loopback does not fail before that.
            let _ = axum::serve(listener, router).await;
        });
        serving.spawn(hooks::deliver(shared.clone()));
        Ok(FakeTelegram { address, shared, _serving: serving })
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn faults(&self) -> &Faults {
        &self.shared.faults
    }

    /// Faults that stay until they are lifted.
    pub fn standing(&self) -> &Standing {
        &self.shared.standing
    }

    pub fn requests(&self, method: &str) -> Vec<Recorded> {
        let state = self.state();
        state.requests.iter().filter(|request| request.method == method).cloned().collect()
    }

    /// A message as people see it now.
    pub fn message(&self, chat: i64, message: i64) -> Option<Value> {
        self.state().messages.get(&(chat, message)).cloned()
    }

    pub fn messages(&self, chat: i64) -> Vec<Value> {
        let state = self.state();
        let here = state.messages.iter().filter(|((at, _), _)| *at == chat);
        here.map(|(_, message)| message.clone()).collect()
    }

    /// The second in which everything is sent there.
    pub fn date(&self) -> i64 {
        DATE
    }

    pub fn topic(&self, chat: i64, topic: i64) {
        self.state().topics.insert((chat, topic));
    }

    /// The group becomes a supergroup.
    pub fn moved(&self, from: i64, to: i64) {
        self.state().moved.insert(from, to);
    }

    pub fn closed(&self, chat: i64) {
        self.state().closed.insert(chat);
    }

    pub fn delete(&self, chat: i64, message: i64) {
        self.state().messages.remove(&(chat, message));
    }

    /// Somebody else's, set before.
    pub fn webhook(&self, url: &str) {
        let body = json!({"url": url});
        let _ = methods::call(&mut self.state(), "setWebhook", &body);
    }

    /// Updates that nobody has confirmed.
    pub fn pending(&self) -> usize {
        self.state().updates.len()
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.shared.state()
    }

    pub(super) fn wake(&self) {
        self.shared.changed.notify_waiters();
        self.shared.changed.notify_one();
    }
}

impl Shared {
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        // A test that failed inside says so itself.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn serve(Extracted(shared): Extracted<Arc<Shared>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let path = parts.uri.path().to_owned();
    let body = to_bytes(body, BODY_BYTES).await.unwrap_or_default();
    let Some(method) = path.strip_prefix(&format!("/bot{TOKEN}/")).map(str::to_owned) else {
        let refusal = json!({"ok": false, "error_code": 401, "description": "Unauthorized"});
        return reply(401, &refusal);
    };
    let content_type = parts.headers.get("content-type").and_then(|value| value.to_str().ok());
    let content_type = content_type.unwrap_or_default().to_owned();
    let body = read(&content_type, &body);
    shared.state().requests.push(Recorded {
        method: method.clone(),
        http_method: parts.method.to_string(),
        path,
        content_type,
        body: body.clone(),
    });
    match shared.faults.take(&method) {
        Some(Fault::Wait(after)) => {
            let told = json!({
                "ok": false, "error_code": 429, "description": format!("Too Many Requests: retry after {after}"),
                "parameters": {"retry_after": after},
            });
            return reply(429, &told);
        }
        Some(Fault::Status(status)) => {
            let told =
                json!({"ok": false, "error_code": status, "description": "Internal Server Error"});
            return reply(status, &told);
        }
        Some(Fault::Garbage) => return respond(200, Body::from("<html>not today</html>")),
        Some(Fault::Hang(time)) => tokio::time::sleep(time).await,
        Some(Fault::Lost) => {
            let _ = answer(&shared, &method, &body).await;
            let broken = std::io::Error::other("the line was cut");
            let cut = stream::iter([Ok::<_, std::io::Error>(Bytes::from("{")), Err(broken)]);
            return respond(200, Body::from_stream(cut));
        }
        None => {}
    }
    match shared.standing.meets(&method) {
        None => answer(&shared, &method, &body).await,
        Some(fault) => troubled(&shared, fault, &method, &body).await,
    }
}

async fn troubled(
    shared: &Shared,
    fault: fake_chat::Fault,
    method: &str,
    body: &Value,
) -> Response {
    use fake_chat::Fault;
    match fault {
        Fault::Says(said) => return reply(said.status, &said.body),
        Fault::Garbage | Fault::Endless => {
            return respond(200, Body::from("<html>not today</html>"));
        }
        Fault::Hangs => shared.standing.until_lifted().await,
        Fault::Mute => {
            let _ = answer(shared, method, body).await;
            shared.standing.until_lifted().await;
        }
        Fault::Lost => drop(answer(shared, method, body).await),
    }
    cut()
}

/// JSON, or the form that some clients send, in which objects are JSON texts.
fn read(content_type: &str, body: &[u8]) -> Value {
    if content_type.starts_with("application/json") {
        return serde_json::from_slice(body).unwrap_or_default();
    }
    let pairs = reqwest::Url::parse(&format!("http://x/?{}", String::from_utf8_lossy(body)));
    let Ok(pairs) = pairs else { return Value::Null };
    let value = |text: &str| match text.starts_with(['{', '[']) || text.parse::<i64>().is_ok() {
        true => serde_json::from_str(text).unwrap_or_else(|_| text.into()),
        false if text == "true" || text == "True" => true.into(),
        false => Value::from(text),
    };
    pairs.query_pairs().map(|(name, text)| (name.into_owned(), value(&text))).collect()
}

async fn answer(shared: &Shared, method: &str, body: &Value) -> Response {
    if method == "getUpdates" {
        return updates(shared, body).await;
    }
    let answered = methods::call(&mut shared.state(), method, body);
    shared.changed.notify_waiters();
    shared.changed.notify_one();
    match answered {
        Ok(result) => reply(200, &json!({"ok": true, "result": result})),
        Err(Refused::Because(code, why)) => {
            reply(code, &json!({"ok": false, "error_code": code, "description": why}))
        }
        Err(Refused::Moved(to)) => {
            let told = json!({
                "ok": false, "error_code": 400,
                "description": "Bad Request: group chat was upgraded to a supergroup chat",
                "parameters": {"migrate_to_chat_id": to},
            });
            reply(400, &told)
        }
    }
}

async fn updates(shared: &Shared, body: &Value) -> Response {
    let conflict = |why: &str| {
        let description = format!("Conflict: {why}");
        reply(409, &json!({"ok": false, "error_code": 409, "description": description}))
    };
    let timeout = Duration::from_secs(body["timeout"].as_u64().unwrap_or_default());
    {
        let mut state = shared.state();
        if state.webhook.is_some() {
            return conflict(
                "can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first",
            );
        }
        if let Some(offset) = body["offset"].as_i64() {
            state.updates.retain(|update| update["update_id"].as_i64() >= Some(offset));
        }
        if state.polling > 0 {
            return conflict(
                "terminated by other getUpdates request; make sure that only one bot instance is running",
            );
        }
        state.polling += 1;
        state.polls += 1;
    }
    let _poller = Poller(shared);
    let waited = tokio::time::timeout(timeout, async {
        loop {
            let changed = shared.changed.notified();
            let limit = body["limit"].as_u64().unwrap_or(100) as usize;
            let ready = shared.state().hand_out(limit);
            if !ready.is_empty() {
                return ready;
            }
            changed.await;
        }
    });
    let ready = waited.await.unwrap_or_default();
    reply(200, &json!({"ok": true, "result": ready}))
}

/// Counts a poller for as long as its request is open.
struct Poller<'a>(&'a Shared);

impl Drop for Poller<'_> {
    fn drop(&mut self) {
        self.0.state().polling -= 1;
    }
}

fn reply(status: u16, value: &Value) -> Response {
    respond(status, Body::from(value.to_string()))
}

fn respond(status: u16, body: Body) -> Response {
    let response = Response::builder().status(status).header("content-type", "application/json");
    response.body(body).expect("these are headers")
}
