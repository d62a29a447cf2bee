//! The server: one port for all three APIs, and a small door to control it.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderValue, Method};
use axum::response::Response;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};

use super::api::{Api, Refusal};
use super::asked::Asked;
use super::manner::Then;
use super::memory::Memory;
use super::pour::{Pour, Watch};
use super::record::{Ended, Recorded};
use super::said::{Said, tokens};
use super::script::{Playing, Script};
use super::turn::{Failure, Turn};
use super::{anthropic, chat, responses};

/// As at the vendors: a request of more than this is refused with 413.
const BODY_BYTES: usize = 32 * 1024 * 1024;

/// A running server. Dropping it ends it.
pub struct FakeModel {
    address: SocketAddr,
    shared: Arc<Shared>,
    _serving: JoinSet<()>,
}

pub(super) struct Shared {
    started: Instant,
    state: Mutex<Inside>,
}

struct Inside {
    playing: Playing,
    memory: Memory,
    records: Vec<Recorded>,
}

impl FakeModel {
    pub async fn start(script: Script) -> FakeModel {
        FakeModel::listen("127.0.0.1:0", script).await.expect("a free port on loopback")
    }

    pub async fn listen(address: &str, script: Script) -> std::io::Result<FakeModel> {
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        let inside = Inside {
            playing: Playing::new(script),
            memory: Memory::default(),
            records: Vec::new(),
        };
        let shared = Arc::new(Shared { started: Instant::now(), state: Mutex::new(inside) });
        let router = Router::new().fallback(serve).with_state(shared.clone());
        let mut serving = JoinSet::new();
        serving.spawn(async move {
            // It ends when it is dropped; a listener on loopback does not fail before that.
            let _ = axum::serve(listener, router).await;
        });
        Ok(FakeModel { address, shared, _serving: serving })
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Another script from here on. What was recorded stays.
    pub fn play(&self, script: Script) {
        self.shared.inside().playing = Playing::new(script);
    }

    pub fn requests(&self) -> Vec<Recorded> {
        self.shared.inside().records.clone()
    }

    /// The requests for turns only, the refused ones too.
    pub fn asked(&self) -> Vec<Recorded> {
        self.requests().into_iter().filter(|request| request.api().is_some()).collect()
    }

    /// What is wrong with the requests that came: those that a vendor would have refused.
    pub fn refused(&self) -> Vec<String> {
        let refused = |request: &Recorded| request.status == Some(400);
        let tell = |request: &Recorded| String::from_utf8_lossy(&request.body).into_owned();
        self.asked().iter().filter(|request| refused(request)).map(tell).collect()
    }
}

impl Shared {
    fn inside(&self) -> MutexGuard<'_, Inside> {
        // A test that failed inside says so itself.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn ended(&self, index: usize, ended: Ended) {
        let mut inside = self.inside();
        if let Some(record) = inside.records.get_mut(index)
            && record.ended == Ended::Open
        {
            record.ended = ended;
        }
    }

    fn answered(&self, index: usize, status: u16) {
        if let Some(record) = self.inside().records.get_mut(index) {
            record.status = Some(status);
        }
    }
}

async fn serve(State(shared): State<Arc<Shared>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let path = parts.uri.path().to_owned();
    let api = Api::of_path(&path).unwrap_or_else(|| Api::of_headers(&parts.headers));
    let body = to_bytes(body, BODY_BYTES).await;
    let whole = body.is_ok();
    let body = body.unwrap_or_default();
    if path.starts_with("/fake/") {
        return control(&shared, &parts.method, &path, &body);
    }
    let header = |(name, value): (&axum::http::HeaderName, &HeaderValue)| {
        (name.to_string(), String::from_utf8_lossy(value.as_bytes()).into_owned())
    };
    let index = {
        let mut inside = shared.inside();
        inside.records.push(Recorded {
            method: parts.method.to_string(),
            path: path.clone(),
            query: parts.uri.query().map(str::to_owned),
            headers: parts.headers.iter().map(header).collect(),
            body: body.clone(),
            at: Instant::now(),
            status: None,
            ended: Ended::Open,
        });
        inside.records.len() - 1
    };
    let watch = Watch { shared: shared.clone(), index };
    if parts.method == Method::HEAD && path == "/" {
        return reply(watch, 200, Value::Null);
    }
    let key = shared.inside().playing.script.key.clone();
    if api.key(&parts.headers) != Some(key.as_str()) {
        return refuse(watch, api, &Refusal::wrong_key(api));
    }
    if !whole {
        return refuse(watch, api, &Refusal::too_large());
    }
    let body_value: Value = serde_json::from_slice(&body).unwrap_or(Value::Null);
    match (parts.method.as_str(), path.as_str()) {
        ("GET", "/v1/models") => {
            let models = shared.inside().playing.script.models.clone();
            reply(watch, 200, list_models(api, &models))
        }
        ("POST", "/v1/messages/count_tokens") => {
            let checked = {
                let inside = shared.inside();
                anthropic::count(&parts.headers, &body_value, &inside.memory)
            };
            match checked {
                Ok(()) => reply(watch, 200, json!({"input_tokens": tokens(body.len())})),
                Err(refusal) => refuse(watch, api, &refusal),
            }
        }
        ("POST", path) if Api::of_path(path).is_some() => {
            answer(watch, api, &parts.headers, &body_value, body.len()).await
        }
        _ => refuse(watch, api, &Refusal::no_such_path(&path)),
    }
}

/// A turn, if the request is sound and the script has one for it.
async fn answer(
    watch: Watch,
    api: Api,
    headers: &axum::http::HeaderMap,
    body: &Value,
    length: usize,
) -> Response {
    let chosen = {
        let mut inside = watch.shared.inside();
        choose(&mut inside, api, headers, body)
    };
    let (asked, number, turn) = match chosen {
        Ok(chosen) => chosen,
        Err(refusal) => return refuse(watch, api, &refusal),
    };
    if turn.manner.delay_ms > 0 {
        sleep(Duration::from_millis(turn.manner.delay_ms)).await;
    }
    if let Some(failure) = &turn.fail {
        return fail(watch, api, failure);
    }
    let model = body["model"].as_str().unwrap_or_default();
    let mut said = Said::new(api, &turn, &asked, number, model);
    said.input_tokens = tokens(length);
    let manner = turn.manner;
    let (pieces, kind): (Box<dyn Iterator<Item = Vec<u8>> + Send>, _) = if asked.stream {
        let frames = match api {
            Api::Anthropic => anthropic::stream(&said, &manner),
            Api::Chat => chat::stream(&said, &manner, body),
            Api::Responses => responses::stream(&said, &manner, body),
        };
        let crlf = manner.crlf;
        (Box::new(frames.map(move |frame| frame.bytes(crlf))), "text/event-stream; charset=utf-8")
    } else {
        let whole = match api {
            Api::Anthropic => anthropic::whole(&said),
            Api::Chat => chat::whole(&said),
            Api::Responses => responses::whole(&said, body),
        };
        (Box::new(std::iter::once(whole.to_string().into_bytes())), "application/json")
    };
    {
        let mut inside = watch.shared.inside();
        let thoughts = said.thoughts();
        for call in said.calls() {
            inside.memory.remember(&call.id, &thoughts);
        }
        if api == Api::Responses {
            responses::keep(&mut inside.memory, &said, body);
        }
    }
    let error = match &manner.after {
        Some(after) => match &after.then {
            Then::Error { status, message } => match api {
                Api::Anthropic => anthropic::error(*status, message),
                Api::Chat => chat::error(*status, message),
                Api::Responses => responses::error(*status, message, &said, body),
            },
            _ => Vec::new(),
        },
        None => Vec::new(),
    };
    watch.shared.answered(watch.index, 200);
    let number = watch.index;
    let mut response = Response::new(Pour { pieces, manner, error, watch }.body());
    let headers = response.headers_mut();
    headers.insert("content-type", HeaderValue::from_static(kind));
    headers.insert("request-id", number_header(number));
    headers.insert("x-request-id", number_header(number));
    response
}

fn choose(
    inside: &mut Inside,
    api: Api,
    headers: &axum::http::HeaderMap,
    body: &Value,
) -> Result<(Asked, u64, Turn), Refusal> {
    let models = &inside.playing.script.models;
    let asked = match api {
        Api::Anthropic => anthropic::check(headers, body, &inside.memory, models)?,
        Api::Chat => chat::check(body, models)?,
        Api::Responses => responses::check(body, &inside.memory, models)?,
    };
    let (number, turn) = inside.playing.choose(&asked);
    let turn = turn.ok_or_else(|| {
        Refusal::bad(format!("the script of this fake has no turn for request {number}"))
    })?;
    Ok((asked, number, turn))
}

fn refuse(watch: Watch, api: Api, refusal: &Refusal) -> Response {
    let envelope = refusal.envelope(api, watch.index as u64);
    reply(watch, refusal.status, envelope)
}

fn fail(watch: Watch, api: Api, failure: &Failure) -> Response {
    let message = failure.message.clone().unwrap_or_else(|| "the script says so".to_owned());
    let refusal = Refusal { status: failure.status, ..Refusal::bad(message) };
    let mut response = refuse(watch, api, &refusal);
    if let Some(value) = failure.retry_after.as_deref().and_then(|v| HeaderValue::from_str(v).ok())
    {
        response.headers_mut().insert("retry-after", value);
    }
    response
}

fn reply(watch: Watch, status: u16, body: Value) -> Response {
    watch.shared.answered(watch.index, status);
    watch.end(Ended::Whole);
    let body = if body.is_null() { Body::empty() } else { Body::from(body.to_string()) };
    let mut response = Response::new(body);
    *response.status_mut() = axum::http::StatusCode::from_u16(status)
        .unwrap_or(axum::http::StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    headers.insert("content-type", HeaderValue::from_static("application/json"));
    headers.insert("request-id", number_header(watch.index));
    headers.insert("x-request-id", number_header(watch.index));
    response
}

fn number_header(index: usize) -> HeaderValue {
    HeaderValue::from_str(&format!("req_{index}")).unwrap_or(HeaderValue::from_static("req"))
}

fn list_models(api: Api, models: &[String]) -> Value {
    match api {
        Api::Anthropic => json!({
            "data": models.iter().map(|id| json!({
                "type": "model", "id": id, "display_name": id, "created_at": "2025-01-01T00:00:00Z",
            })).collect::<Vec<_>>(),
            "first_id": models.first(),
            "last_id": models.last(),
            "has_more": false,
        }),
        Api::Chat | Api::Responses => json!({
            "object": "list",
            "data": models.iter().map(|id| json!({
                "id": id, "object": "model", "created": 1, "owned_by": "fake",
            })).collect::<Vec<_>>(),
        }),
    }
}

/// For tests in other languages: a script goes in and starts everything over, what came goes out.
fn control(shared: &Arc<Shared>, method: &Method, path: &str, body: &[u8]) -> Response {
    let said = match (method.as_str(), path) {
        ("POST", "/fake/script") => Script::parse(body).map(|script| {
            let mut inside = shared.inside();
            inside.playing = Playing::new(script);
            inside.memory = Memory::default();
            inside.records.clear();
            json!({})
        }),
        ("GET", "/fake/requests") => {
            let inside = shared.inside();
            let told = inside.records.iter().map(|record| record.told(shared.started));
            Ok(Value::Array(told.collect()))
        }
        _ => Err(format!("there is no {method} {path}")),
    };
    let (status, body) = match said {
        Ok(body) => (axum::http::StatusCode::OK, body),
        Err(why) => (axum::http::StatusCode::BAD_REQUEST, json!({"why": why})),
    };
    let mut response = Response::new(Body::from(body.to_string()));
    *response.status_mut() = status;
    response
}
