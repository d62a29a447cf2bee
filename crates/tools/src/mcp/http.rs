//! A server that is a service: Streamable HTTP, of both eras.
//!
//! The operator wrote the URL, so it may point into our own network; nobody else may send us there, and
//! so redirects are not followed. Each request is a POST of its own, answered with one message or with a
//! stream of them that ends with the answer.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use domain::scrub::Scrubber;
use ports::sse::Decoder;
use ports::start_gate::Start;
use ports::unpoisoned::Unpoisoned as _;
use reqwest::header::{
    ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, WWW_AUTHENTICATE,
};
use reqwest::{Client, ClientBuilder, Response, StatusCode, Url};
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::sync::{Notify, mpsc};
use tokio_util::sync::CancellationToken;

use super::authorizer::McpAuthorizer;
use super::limits::{MESSAGE_BYTES_MAX, PENDING_MAX};
use super::link::MODERN;
use super::message::{self, JsonRpcIncoming, RpcError};
use super::transport::{McpRequest, McpTransport, ServerAsk, TransportError};
use crate::gated_http::{ConnectGate, find_refusal, send_gated};

pub(crate) struct HttpTransport {
    client: Client,
    /// For calls of tools: each makes a connection of its own, so that it begins when that stands.
    for_calls: Client,
    url: Url,
    authorizer: Option<Arc<dyn McpAuthorizer>>,
    /// What both sides agreed on, and the session that a legacy server gave us.
    terms: Mutex<HttpSessionTerms>,
    pending: AtomicUsize,
    cut: CancellationToken,
    why: Mutex<Option<String>>,
    changed: Notify,
}

#[derive(Clone, Default)]
struct HttpSessionTerms {
    version: Option<HeaderValue>,
    session: Option<HeaderValue>,
}

/// A connection that does not come about by then is not coming.
const CONNECT_WITHIN: Duration = Duration::from_secs(10);
const SESSION: &str = "mcp-session-id";
const VERSION: &str = "mcp-protocol-version";

impl HttpTransport {
    pub(crate) fn new(
        url: &str,
        headers: &[(String, String)],
        authorizer: Option<Arc<dyn McpAuthorizer>>,
    ) -> Result<HttpTransport, String> {
        // An error means that a provider is installed already, and it is the same one.
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
        Ok(HttpTransport {
            client: built(builder())?,
            for_calls: built(for_calls)?,
            url,
            authorizer,
            terms: Mutex::default(),
            pending: AtomicUsize::new(0),
            cut: CancellationToken::new(),
            why: Mutex::default(),
            changed: Notify::new(),
        })
    }

    fn session_terms(&self) -> HttpSessionTerms {
        self.terms.lock().unpoisoned().clone()
    }

    fn hang_up(&self, why: &str) {
        self.why.lock().unpoisoned().get_or_insert(why.into());
        self.cut.cancel();
    }

    /// Sends a message with credentials where they are wanted. A server that turns them away did nothing, so the
    /// message goes to it once more with new ones.
    async fn post_message(
        &self,
        body: Vec<u8>,
        mut headers: HeaderMap,
        start: Option<&Start>,
    ) -> Result<Response, PostError> {
        let Some(authorizer) = &self.authorizer else {
            return Ok(self.post_once(body, headers, start).await?);
        };
        let given = authorizer.authorization().await.map_err(PostError::NoCredentials)?;
        headers.insert(AUTHORIZATION, given.clone());
        let response = self.post_once(body.clone(), headers.clone(), start).await?;
        if response.status() != StatusCode::UNAUTHORIZED {
            return Ok(response);
        }
        let challenge = response.headers().get(WWW_AUTHENTICATE).cloned();
        drop(response);
        let renewed = authorizer.renew(&given, challenge.as_ref()).await;
        headers.insert(AUTHORIZATION, renewed.map_err(PostError::NoCredentials)?);
        Ok(self.post_once(body, headers, start).await?)
    }

    async fn post_once(
        &self,
        body: Vec<u8>,
        mut headers: HeaderMap,
        start: Option<&Start>,
    ) -> Result<Response, reqwest::Error> {
        let HttpSessionTerms { version, session } = self.session_terms();
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
    fn said_twice(request: &McpRequest<'_>) -> HeaderMap {
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

    async fn exchange_messages(
        &self,
        request: &McpRequest<'_>,
        asks: Option<mpsc::Sender<ServerAsk>>,
    ) -> Result<Value, TransportError> {
        // The credentials may be renewed meanwhile, and the old ones are no less secret.
        let before = self.scrubber();
        let answer = self.exchange_unscrubbed(request, asks).await;
        let scrubbers = before.into_iter().chain(self.scrubber());
        scrubbers.fold(answer, |answer, scrubber| scrub_answer(answer, &scrubber))
    }

    fn scrubber(&self) -> Option<Scrubber> {
        let scrubber = self.authorizer.as_ref().map(|authorizer| authorizer.scrubber());
        scrubber.filter(|scrubber| !scrubber.is_idle())
    }

    async fn exchange_unscrubbed(
        &self,
        request: &McpRequest<'_>,
        asks: Option<mpsc::Sender<ServerAsk>>,
    ) -> Result<Value, TransportError> {
        let body = message::request_bytes(request.id, request.method, request.params);
        let response = match self
            .post_message(body, HttpTransport::said_twice(request), request.start)
            .await
        {
            Ok(response) => response,
            Err(PostError::NoCredentials(why)) => return Err(TransportError::NotSent(why)),
            Err(PostError::Http(error)) => {
                if let Some(refused) = find_refusal(&error) {
                    return Err(TransportError::NotBegun(refused));
                }
                let is_connect = error.is_connect();
                let why = innermost_cause(&error.without_url());
                self.hang_up(&why);
                // Before a connection stands nothing can have been sent.
                return Err(match is_connect {
                    true => TransportError::NotSent(why),
                    false => TransportError::Lost(why),
                });
            }
        };
        let status = response.status();
        if status.is_success() {
            self.note_session(request, &response);
            let kind = content_type(&response);
            return match kind.as_str() {
                "text/event-stream" => self.read_stream(request.id, response, asks).await,
                _ => {
                    let body = read_whole_body(response).await.map_err(TransportError::Lost)?;
                    match JsonRpcIncoming::parse(&body) {
                        Some(JsonRpcIncoming::Answer { id, answer }) if id == request.id => {
                            answer.map_err(TransportError::Refused)
                        }
                        _ => Err(TransportError::Lost("its answer is none".into())),
                    }
                }
            };
        }
        if status.is_redirection() {
            let why = "it sends us elsewhere, and redirects are not followed; put the right URL into the configuration";
            return Err(TransportError::NotSent(why.into()));
        }
        if status.is_client_error() {
            return Err(self.turned_away(request, status, response).await);
        }
        let why = format!("it answered with HTTP status {status}");
        Err(TransportError::Lost(why))
    }

    /// 4xx: by its own word the server did not do it.
    async fn turned_away(
        &self,
        request: &McpRequest<'_>,
        status: StatusCode,
        response: Response,
    ) -> TransportError {
        let had_session = self.session_terms().session.is_some();
        let body = read_whole_body(response).await.unwrap_or_default();
        if let Some(JsonRpcIncoming::Answer { id, answer: Err(error) }) =
            JsonRpcIncoming::parse(&body)
            && id == request.id
        {
            return TransportError::Refused(error);
        }
        match status {
            StatusCode::NOT_FOUND if had_session => {
                let why = "it has forgotten our session";
                self.hang_up(why);
                TransportError::NotSent(why.into())
            }
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
                let remedy = match self.authorizer {
                    Some(_) => "see to `scopes` in the configuration, and connect it again",
                    None => "see to the headers in the configuration",
                };
                let why = format!("it turned us away ({status}); {remedy}");
                TransportError::from_rpc_error(i64::from(status.as_u16()), why)
            }
            _ => TransportError::from_rpc_error(
                i64::from(status.as_u16()),
                format!("HTTP status {status}"),
            ),
        }
    }

    fn note_session(&self, request: &McpRequest<'_>, response: &Response) {
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
    async fn read_stream(
        &self,
        id: u64,
        mut response: Response,
        asks: Option<mpsc::Sender<ServerAsk>>,
    ) -> Result<Value, TransportError> {
        let mut decoder = Decoder::new(MESSAGE_BYTES_MAX);
        loop {
            let chunk = match response.chunk().await {
                Ok(Some(chunk)) => chunk,
                Ok(None) => {
                    return Err(TransportError::Lost("its stream ended without an answer".into()));
                }
                Err(error) => {
                    return Err(TransportError::Lost(innermost_cause(&error.without_url())));
                }
            };
            let found = decoder.feed(&chunk).map_err(|_| {
                TransportError::Lost(format!(
                    "it sent a message of more than {MESSAGE_BYTES_MAX} bytes"
                ))
            })?;
            for event in found {
                match JsonRpcIncoming::parse(&event.data) {
                    Some(JsonRpcIncoming::Answer { id: of, answer }) if of == id => {
                        return answer.map_err(TransportError::Refused);
                    }
                    Some(JsonRpcIncoming::Request { id, method, params }) => {
                        self.take_request(id, &method, params, asks.as_ref()).await;
                    }
                    Some(JsonRpcIncoming::Notice { method, .. }) => {
                        if method == "notifications/tools/list_changed" {
                            self.changed.notify_one();
                        }
                    }
                    // An event that only keeps the stream alive, or another's answer.
                    Some(JsonRpcIncoming::Answer { .. }) | None => {}
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
            return self.send_answer(&id, message::own_answer(method)).await;
        }
        let params = match self.scrubber() {
            None => params,
            Some(scrubber) => scrubber.scrub_value(&params),
        };
        let taken =
            asks.is_some_and(|asks| asks.try_send(ServerAsk { id: id.clone(), params }).is_ok());
        if !taken {
            self.send_answer(&id, Ok(super::elicit::cancelled_result())).await;
        }
    }

    /// Posts a message that has no answer. A failure shows at the next request.
    async fn post_notification(&self, body: Vec<u8>) {
        let sent = self.post_message(body, HeaderMap::new(), None);
        match tokio::time::timeout(CONNECT_WITHIN, sent).await {
            Ok(Ok(response)) if response.status().is_success() => {}
            Ok(Ok(response)) => {
                tracing::debug!(status = %response.status(), "MCP server rejected a notification");
            }
            Ok(Err(_)) | Err(_) => tracing::debug!("MCP notification not delivered"),
        }
    }
}

/// Why a message was not answered.
enum PostError {
    /// It was not sent, or the server turned it away: there are no credentials that would do.
    NoCredentials(String),
    Http(reqwest::Error),
}

impl From<reqwest::Error> for PostError {
    fn from(error: reqwest::Error) -> PostError {
        PostError::Http(error)
    }
}

fn scrub_answer(
    answer: Result<Value, TransportError>,
    scrubber: &Scrubber,
) -> Result<Value, TransportError> {
    match answer {
        Ok(result) => Ok(scrubber.scrub_value(&result)),
        Err(TransportError::Refused(RpcError { code, message, data })) => {
            let (message, data) = (scrubber.scrub(&message), scrubber.scrub_value(&data));
            Err(TransportError::Refused(RpcError { code, message, data }))
        }
        Err(error) => Err(error),
    }
}

fn content_type(response: &Response) -> String {
    let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    kind.unwrap_or_default().split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

async fn read_whole_body(mut response: Response) -> Result<Vec<u8>, String> {
    let mut body = Vec::new();
    loop {
        match response.chunk().await {
            Ok(Some(chunk)) if body.len() + chunk.len() > MESSAGE_BYTES_MAX => {
                return Err(format!("it sent a message of more than {MESSAGE_BYTES_MAX} bytes"));
            }
            Ok(Some(chunk)) => body.extend_from_slice(&chunk),
            Ok(None) => return Ok(body),
            Err(error) => return Err(innermost_cause(&error.without_url())),
        }
    }
}

/// `reqwest` wraps what happened in several layers that say little.
fn innermost_cause(error: &reqwest::Error) -> String {
    let mut innermost: &dyn std::error::Error = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost.to_string()
}

struct OpenStreamGuard<'a>(&'a AtomicUsize);

impl Drop for OpenStreamGuard<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[async_trait]
impl McpTransport for HttpTransport {
    async fn send_request(
        &self,
        request: McpRequest<'_>,
        asks: Option<mpsc::Sender<ServerAsk>>,
    ) -> Result<Value, TransportError> {
        let before = self.pending.fetch_add(1, Ordering::Relaxed);
        let _counted = OpenStreamGuard(&self.pending);
        if before >= PENDING_MAX {
            return Err(TransportError::NotSent("too many calls wait for it already".into()));
        }
        self.exchange_messages(&request, asks).await
    }

    async fn send_answer(&self, id: &Value, answer: Result<Value, RpcError>) {
        self.post_notification(message::answer_bytes(id, answer)).await;
    }

    async fn send_notification(&self, method: &str, params: Option<&RawValue>) {
        self.post_notification(message::notification_bytes(method, params)).await;
    }

    fn set_version(&self, version: &str) {
        let mut terms = self.terms.lock().unpoisoned();
        terms.version = HeaderValue::from_str(version).ok();
    }

    fn closed_token(&self) -> &CancellationToken {
        &self.cut
    }

    fn close_reason(&self) -> String {
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
