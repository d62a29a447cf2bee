//! A server that is a service: Streamable HTTP, of both eras.
//!
//! The operator wrote the URL, so it may point into our own network; nobody else may send us there, and
//! so redirects are not followed. Each request is a POST of its own, answered with one message or with a
//! stream of them that ends with the answer.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use ports::sse::Decoder;
use ports::start_gate::Start;
use ports::unpoisoned::Unpoisoned as _;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, ClientBuilder, Response, StatusCode, Url};
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::sync::{Notify, mpsc};
use tokio_util::sync::CancellationToken;

use super::limits::{MESSAGE_BYTES_MAX, PENDING_MAX};
use super::link::MODERN;
use super::message::{self, Incoming, RpcError};
use super::wire::{Request, ServerAsk, Wire, WireError};
use crate::gated_io::{ConnectGate, refusal, send_gated};

pub(crate) struct Http {
    client: Client,
    /// For calls of tools: each makes a connection of its own, so that it begins when that stands.
    for_calls: Client,
    url: Url,
    /// What both sides agreed on, and the session that a legacy server gave us.
    terms: Mutex<Terms>,
    pending: AtomicUsize,
    cut: CancellationToken,
    why: Mutex<Option<String>>,
    changed: Notify,
}

#[derive(Clone, Default)]
struct Terms {
    version: Option<HeaderValue>,
    session: Option<HeaderValue>,
}

/// A connection that does not come about by then is not coming.
const CONNECT_WITHIN: Duration = Duration::from_secs(10);
const SESSION: &str = "mcp-session-id";
const VERSION: &str = "mcp-protocol-version";

impl Http {
    pub(crate) fn new(url: &str, headers: &[(String, String)]) -> Result<Http, String> {
        // Whoever came first installed the same one.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let url = Url::parse(url).map_err(|error| format!("its URL is none: {error}"))?;
        let mut given = HeaderMap::new();
        for (name, value) in headers {
            let bad = || format!("the header `{name}` cannot be sent");
            let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| bad())?;
            let mut value = HeaderValue::from_str(value).map_err(|_| bad())?;
            // Kept out of whatever is logged.
            value.set_sensitive(true);
            given.insert(name, value);
        }
        let builder = || {
            Client::builder()
                .default_headers(given.clone())
                .no_proxy()
                .redirect(reqwest::redirect::Policy::none())
                .referer(false)
                .connect_timeout(CONNECT_WITHIN)
                .user_agent(concat!("holdpoint/", env!("CARGO_PKG_VERSION")))
        };
        let built = |builder: ClientBuilder| {
            let client = builder.build();
            client.map_err(|error| format!("the HTTP client cannot be set up: {error}"))
        };
        let for_calls = builder().pool_max_idle_per_host(0).connector_layer(ConnectGate);
        Ok(Http {
            client: built(builder())?,
            for_calls: built(for_calls)?,
            url,
            terms: Mutex::default(),
            pending: AtomicUsize::new(0),
            cut: CancellationToken::new(),
            why: Mutex::default(),
            changed: Notify::new(),
        })
    }

    fn terms(&self) -> Terms {
        self.terms.lock().unpoisoned().clone()
    }

    fn hang_up(&self, why: &str) {
        self.why.lock().unpoisoned().get_or_insert(why.into());
        self.cut.cancel();
    }

    async fn post(
        &self,
        body: Vec<u8>,
        mut headers: HeaderMap,
        start: Option<&Start>,
    ) -> Result<Response, reqwest::Error> {
        let Terms { version, session } = self.terms();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
        // Each of them once: a strict server takes two for a contradiction.
        if let Some(version) = version {
            headers.insert(VERSION, version);
        }
        if let Some(session) = session {
            headers.insert(SESSION, session);
        }
        let client = if start.is_some() { &self.for_calls } else { &self.client };
        let sending = client.post(self.url.clone()).headers(headers).body(body).send();
        match start {
            Some(start) => send_gated(start, sending).await,
            None => sending.await,
        }
    }

    /// What modern servers want said twice; legacy ones do not mind.
    fn said_twice(request: &Request<'_>) -> HeaderMap {
        let mut headers = HeaderMap::new();
        if let Ok(method) = HeaderValue::from_str(request.method) {
            headers.insert("mcp-method", method);
        }
        if let Some(Ok(name)) = request.name.map(HeaderValue::from_str) {
            headers.insert("mcp-name", name);
        }
        if request.params.get().contains("io.modelcontextprotocol/protocolVersion") {
            headers.insert(VERSION, HeaderValue::from_static(MODERN));
        }
        headers
    }

    async fn exchange(
        &self,
        request: &Request<'_>,
        asks: Option<mpsc::Sender<ServerAsk>>,
    ) -> Result<Value, WireError> {
        let body = message::request(request.id, request.method, request.params);
        let response = match self.post(body, Http::said_twice(request), request.start).await {
            Ok(response) => response,
            Err(error) => {
                if let Some(refused) = refusal(&error) {
                    return Err(WireError::NotBegun(refused));
                }
                let is_connect = error.is_connect();
                let why = causes(&error.without_url());
                self.hang_up(&why);
                // Before a connection stands nothing can have been sent.
                return Err(match is_connect {
                    true => WireError::NotSent(why),
                    false => WireError::Lost(why),
                });
            }
        };
        let status = response.status();
        if status.is_success() {
            self.note_session(request, &response);
            let kind = content_type(&response);
            return match kind.as_str() {
                "text/event-stream" => self.follow(request.id, response, asks).await,
                _ => {
                    let body = whole(response).await.map_err(WireError::Lost)?;
                    match Incoming::parse(&body) {
                        Some(Incoming::Answer { id, answer }) if id == request.id => {
                            answer.map_err(WireError::Refused)
                        }
                        _ => Err(WireError::Lost("its answer is none".into())),
                    }
                }
            };
        }
        if status.is_redirection() {
            let why = "it sends us elsewhere, and redirects are not followed; put the right URL into the configuration";
            return Err(WireError::NotSent(why.into()));
        }
        if status.is_client_error() {
            return Err(self.turned_away(request, status, response).await);
        }
        let why = format!("it answered with HTTP status {status}");
        Err(WireError::Lost(why))
    }

    /// 4xx: by its own word the server did not do it.
    async fn turned_away(
        &self,
        request: &Request<'_>,
        status: StatusCode,
        response: Response,
    ) -> WireError {
        let had_session = self.terms().session.is_some();
        let body = whole(response).await.unwrap_or_default();
        if let Some(Incoming::Answer { id, answer: Err(error) }) = Incoming::parse(&body)
            && id == request.id
        {
            return WireError::Refused(error);
        }
        match status {
            StatusCode::NOT_FOUND if had_session => {
                let why = "it has forgotten our session";
                self.hang_up(why);
                WireError::NotSent(why.into())
            }
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
                let why = format!(
                    "it turned us away ({status}); see to the headers in the configuration"
                );
                WireError::refused(i64::from(status.as_u16()), why)
            }
            _ => WireError::refused(i64::from(status.as_u16()), format!("HTTP status {status}")),
        }
    }

    fn note_session(&self, request: &Request<'_>, response: &Response) {
        if request.method == "initialize"
            && let Some(session) = response.headers().get(SESSION)
        {
            let mut terms = self.terms.lock().unpoisoned();
            let mut session = session.clone();
            session.set_sensitive(true);
            terms.session = Some(session);
        }
    }

    /// Reads a stream until our answer is there.
    async fn follow(
        &self,
        id: u64,
        mut response: Response,
        asks: Option<mpsc::Sender<ServerAsk>>,
    ) -> Result<Value, WireError> {
        let mut decoder = Decoder::new(MESSAGE_BYTES_MAX);
        loop {
            let chunk = match response.chunk().await {
                Ok(Some(chunk)) => chunk,
                Ok(None) => {
                    return Err(WireError::Lost("its stream ended without an answer".into()));
                }
                Err(error) => return Err(WireError::Lost(causes(&error.without_url()))),
            };
            let found = decoder.feed(&chunk).map_err(|_| {
                WireError::Lost(format!("it sent a message of more than {MESSAGE_BYTES_MAX} bytes"))
            })?;
            for event in found {
                match Incoming::parse(&event.data) {
                    Some(Incoming::Answer { id: of, answer }) if of == id => {
                        return answer.map_err(WireError::Refused);
                    }
                    Some(Incoming::Request { id, method, params }) => {
                        self.take_request(id, &method, params, asks.as_ref()).await;
                    }
                    Some(Incoming::Notice { method, .. }) => {
                        if method == "notifications/tools/list_changed" {
                            self.changed.notify_one();
                        }
                    }
                    // An event that only keeps the stream alive, or another's answer.
                    Some(Incoming::Answer { .. }) | None => {}
                }
            }
        }
    }

    async fn take_request(
        &self,
        id: Value,
        method: &str,
        params: Value,
        asks: Option<&mpsc::Sender<ServerAsk>>,
    ) {
        if method != "elicitation/create" {
            return self.answer(&id, message::own_answer(method)).await;
        }
        let taken =
            asks.is_some_and(|asks| asks.try_send(ServerAsk { id: id.clone(), params }).is_ok());
        if !taken {
            self.answer(&id, Ok(super::elicit::cancelled())).await;
        }
    }

    /// Something that has no answer. That it was not taken is found out by whoever waits for more.
    async fn tell(&self, body: Vec<u8>) {
        let sent = self.post(body, HeaderMap::new(), None);
        match tokio::time::timeout(CONNECT_WITHIN, sent).await {
            Ok(Ok(response)) if response.status().is_success() => {}
            Ok(Ok(response)) => {
                tracing::debug!(status = %response.status(), "an MCP server did not take a message");
            }
            Ok(Err(_)) | Err(_) => tracing::debug!("an MCP server could not be told something"),
        }
    }
}

fn content_type(response: &Response) -> String {
    let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    kind.unwrap_or_default().split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

async fn whole(mut response: Response) -> Result<Vec<u8>, String> {
    let mut body = Vec::new();
    loop {
        match response.chunk().await {
            Ok(Some(chunk)) if body.len() + chunk.len() > MESSAGE_BYTES_MAX => {
                return Err(format!("it sent a message of more than {MESSAGE_BYTES_MAX} bytes"));
            }
            Ok(Some(chunk)) => body.extend_from_slice(&chunk),
            Ok(None) => return Ok(body),
            Err(error) => return Err(causes(&error.without_url())),
        }
    }
}

/// `reqwest` wraps what happened in several layers that say little.
fn causes(error: &reqwest::Error) -> String {
    let mut innermost: &dyn std::error::Error = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost.to_string()
}

struct Counted<'a>(&'a AtomicUsize);

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[async_trait]
impl Wire for Http {
    async fn request(
        &self,
        request: Request<'_>,
        asks: Option<mpsc::Sender<ServerAsk>>,
    ) -> Result<Value, WireError> {
        let before = self.pending.fetch_add(1, Ordering::Relaxed);
        let _counted = Counted(&self.pending);
        if before >= PENDING_MAX {
            return Err(WireError::NotSent("too many calls wait for it already".into()));
        }
        self.exchange(&request, asks).await
    }

    async fn answer(&self, id: &Value, answer: Result<Value, RpcError>) {
        self.tell(message::answer(id, answer)).await;
    }

    async fn notify(&self, method: &str, params: Option<&RawValue>) {
        self.tell(message::notice(method, params)).await;
    }

    fn agreed(&self, version: &str) {
        let mut terms = self.terms.lock().unpoisoned();
        terms.version = HeaderValue::from_str(version).ok();
    }

    fn cut(&self) -> &CancellationToken {
        &self.cut
    }

    fn why(&self) -> String {
        let why = self.why.lock().unpoisoned();
        why.clone().unwrap_or_else(|| "the connection was let go of".into())
    }

    async fn tools_changed(&self) {
        self.changed.notified().await;
    }

    fn is_shared(&self) -> bool {
        self.pending.load(Ordering::Relaxed) > 1
    }
}
