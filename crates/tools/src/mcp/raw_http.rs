//! A service to which messages are passed on as they were written: Streamable HTTP, of both eras.
//!
//! As with the client's own transport, redirects are not followed. What a service says on the stream of one request is said
//! about that request; what it says on the standing stream of a session is about none.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use domain::scrub::Scrubber;
use ports::sse::Decoder;
use ports::unpoisoned::Unpoisoned as _;
use reqwest::header::{
    ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, WWW_AUTHENTICATE,
};
use reqwest::{Client, Method, RequestBuilder, Response, StatusCode, Url};
use serde_json::Value;
use tokio::sync::mpsc;

use super::authorizer::McpAuthorizer;
use super::limits::MESSAGE_BYTES_MAX;
use super::raw_object::RawObject;
use super::rpc::{RpcId, RpcKind, RpcMessage};

const CONNECT_WITHIN: Duration = Duration::from_secs(10);
const SESSION: &str = "mcp-session-id";
const VERSION: &str = "mcp-protocol-version";
const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";

/// One service, and the session that a legacy one gave us.
pub struct RawHttpLink {
    client: Client,
    url: Url,
    terms: Mutex<RawTerms>,
    authorizer: Option<Arc<dyn McpAuthorizer>>,
    /// The consent under which the first request went: a session does not go on under another.
    consent: Mutex<Option<String>>,
}

#[derive(Clone, Default)]
struct RawTerms {
    version: Option<HeaderValue>,
    session: Option<HeaderValue>,
}

/// Why there is no answer; each kind has another remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RawHttpError {
    /// By its own word, or because no connection stood, the service did nothing.
    NotSent(String),
    /// It may have got the message; what it did stays unknown.
    Lost(String),
    /// It knows nothing of our session any more, and did nothing.
    SessionGone,
    /// It was connected anew since the session began, perhaps with another account. Nothing was sent.
    OtherConsent,
}

/// A message of the service, and the request of ours on whose stream it came.
pub type HeardMessage = (Option<RpcId>, RpcMessage);

impl RawHttpLink {
    pub fn new(
        url: &str,
        headers: &[(String, String)],
        authorizer: Option<Arc<dyn McpAuthorizer>>,
    ) -> Result<RawHttpLink, String> {
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
        let client = Client::builder()
            .default_headers(given)
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(CONNECT_WITHIN)
            .user_agent(concat!("holdpoint/", env!("CARGO_PKG_VERSION")));
        let is_loopback = url.host_str().is_some_and(|host| {
            let host = host.trim_matches(['[', ']']);
            host == "localhost"
                || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
        });
        let client = if is_loopback { client.no_proxy() } else { client };
        let client = client.build().map_err(|error| format!("no HTTP client: {error}"))?;
        let (terms, consent) = (Mutex::default(), Mutex::default());
        Ok(RawHttpLink { client, url, terms, authorizer, consent })
    }

    fn terms(&self) -> RawTerms {
        self.terms.lock().unpoisoned().clone()
    }

    pub fn has_session(&self) -> bool {
        self.terms().session.is_some()
    }

    /// Whether the service was connected anew since the first request.
    pub fn has_other_consent(&self) -> bool {
        let Some(authorizer) = &self.authorizer else { return false };
        let Some(now) = authorizer.consent() else { return false };
        *self.consent.lock().unpoisoned().get_or_insert_with(|| now.clone()) != now
    }

    /// Posts a message as it is. Returns when all that the service says about it was handed to `heard`.
    pub async fn post(
        &self,
        message: &RpcMessage,
        heard: &mpsc::Sender<HeardMessage>,
    ) -> Result<(), RawHttpError> {
        let body = message.object.to_line();
        let response = self.send_authorized(|| self.posting(message, body.clone())).await?;
        let status = response.status();
        if !status.is_success() {
            return self.take_refusal(message, status, response, heard).await;
        }
        let RpcKind::Request { id, method } = &message.kind else { return Ok(()) };
        let is_handshake = method == "initialize";
        if is_handshake {
            let session = response.headers().get(SESSION).cloned();
            let session = session.map(|mut session| {
                session.set_sensitive(true);
                session
            });
            *self.terms.lock().unpoisoned() = RawTerms { version: None, session };
        }
        let mut reader = self.read(response);
        while let Some(said) = reader.next().await? {
            if let RpcKind::Response { id: of } = &said.kind {
                if of != id {
                    continue;
                }
                if is_handshake {
                    self.note_version(&said);
                }
                let _ = heard.send((Some(id.clone()), said)).await;
                return Ok(());
            }
            if heard.send((Some(id.clone()), said)).await.is_err() {
                return Ok(());
            }
        }
        Err(RawHttpError::Lost("its reply ended without an answer".into()))
    }

    fn note_version(&self, said: &RpcMessage) {
        let result = said.object.get_object("result");
        let version = result.and_then(|result| result.get_text("protocolVersion"));
        let version = version.and_then(|version| HeaderValue::from_str(&version).ok());
        self.terms.lock().unpoisoned().version = version;
    }

    /// What the service says by itself in a session, until the service ends the stream. `false`: it has no such stream.
    pub async fn listen(&self, heard: &mpsc::Sender<HeardMessage>) -> Result<bool, RawHttpError> {
        let request = || {
            let request = self.client.request(Method::GET, self.url.clone());
            self.with_terms(request.header(ACCEPT, "text/event-stream"))
        };
        let response = self.send_authorized(request).await?;
        if !response.status().is_success() {
            return Ok(false);
        }
        let mut reader = self.read(response);
        while let Some(said) = reader.next().await? {
            // Answers come where they were asked for.
            let is_answer = matches!(said.kind, RpcKind::Response { .. });
            if !is_answer && heard.send((None, said)).await.is_err() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Tells a legacy service that its session is over.
    pub async fn end_session(&self) {
        if self.has_session() {
            let request = || self.with_terms(self.client.request(Method::DELETE, self.url.clone()));
            let _ = self.send_authorized(request).await;
        }
    }

    /// Without the credentials, which a careless service repeats.
    fn read(&self, response: Response) -> MessageReader {
        let scrubber = self.authorizer.as_ref().map(|authorizer| authorizer.scrubber());
        let authorizer = self.authorizer.clone();
        MessageReader { scrubber, authorizer, ..MessageReader::new(response) }
    }

    fn with_terms(&self, mut request: RequestBuilder) -> RequestBuilder {
        let RawTerms { version, session } = self.terms();
        if let Some(version) = version {
            request = request.header(VERSION, version);
        }
        if let Some(session) = session {
            request = request.header(SESSION, session);
        }
        request
    }

    fn posting(&self, message: &RpcMessage, body: Vec<u8>) -> RequestBuilder {
        let request = self
            .client
            .request(Method::POST, self.url.clone())
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, "application/json, text/event-stream")
            .body(body);
        match modern_headers(message) {
            Some(headers) => request.headers(headers),
            None => self.with_terms(request),
        }
    }

    /// Once more with other credentials, if the service did not take the first ones: then it did nothing.
    async fn send_authorized(
        &self,
        request: impl Fn() -> RequestBuilder,
    ) -> Result<Response, RawHttpError> {
        let Some(authorizer) = &self.authorizer else {
            return request().send().await.map_err(send_error);
        };
        let given = authorizer.authorization().await.map_err(RawHttpError::NotSent)?;
        if self.has_other_consent() {
            return Err(RawHttpError::OtherConsent);
        }
        let first = request().header(AUTHORIZATION, given.clone());
        let response = first.send().await.map_err(send_error)?;
        if response.status() != StatusCode::UNAUTHORIZED {
            return Ok(response);
        }
        let challenge = response.headers().get(WWW_AUTHENTICATE).cloned();
        drop(response);
        let renewed = authorizer.renew(&given, challenge.as_ref()).await;
        let renewed = renewed.map_err(RawHttpError::NotSent)?;
        if self.has_other_consent() {
            return Err(RawHttpError::OtherConsent);
        }
        request().header(AUTHORIZATION, renewed).send().await.map_err(send_error)
    }

    /// 4xx: by its own word the service did not do it, and may say why in an answer of its own.
    async fn take_refusal(
        &self,
        message: &RpcMessage,
        status: StatusCode,
        response: Response,
        heard: &mpsc::Sender<HeardMessage>,
    ) -> Result<(), RawHttpError> {
        if status.is_redirection() {
            let why = "it sends us elsewhere, and redirects are not followed; put the right URL into the configuration";
            return Err(RawHttpError::NotSent(why.into()));
        }
        if !status.is_client_error() {
            return Err(RawHttpError::Lost(format!("it answered with HTTP status {status}")));
        }
        let is_legacy = modern_headers(message).is_none();
        let wants_oauth = response.headers().get_all(WWW_AUTHENTICATE).iter().any(is_bearer);
        let said = self.read(response).next().await.ok().flatten();
        if let (Some(said), RpcKind::Request { id, .. }) = (said, &message.kind)
            && matches!(&said.kind, RpcKind::Response { id: of } if of == id)
        {
            let _ = heard.send((Some(id.clone()), said)).await;
            return Ok(());
        }
        Err(match status {
            StatusCode::NOT_FOUND if is_legacy && self.has_session() => RawHttpError::SessionGone,
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
                let remedy = match &self.authorizer {
                    Some(_) => {
                        "see to `scopes` in the configuration, and connect it again with `holdpoint mcp connect`"
                    }
                    None if wants_oauth => WANTS_OAUTH,
                    None => "see to the headers in the configuration",
                };
                RawHttpError::NotSent(format!("it turned us away ({status}); {remedy}"))
            }
            _ => RawHttpError::NotSent(format!("it answered with HTTP status {status}")),
        })
    }
}

const WANTS_OAUTH: &str = "it wants OAuth, for which an admin consents in a browser: put it behind a Holdpoint server, under \
     `[mcp.upstreams.NAME]` with `auth = \"oauth\"`, and use that server's address /mcp/NAME";

fn is_bearer(challenge: &HeaderValue) -> bool {
    let scheme = challenge.to_str().ok().and_then(|text| text.split_whitespace().next());
    scheme.is_some_and(|scheme| scheme.eq_ignore_ascii_case("bearer"))
}

fn send_error(error: reqwest::Error) -> RawHttpError {
    let is_connect = error.is_connect();
    let error = error.without_url();
    let mut innermost: &dyn std::error::Error = &error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    // Before a connection stands nothing can have been sent.
    match is_connect {
        true => RawHttpError::NotSent(innermost.to_string()),
        false => RawHttpError::Lost(innermost.to_string()),
    }
}

/// What a modern service wants said twice. `None`: the message is of a legacy session.
fn modern_headers(message: &RpcMessage) -> Option<HeaderMap> {
    let params = message.params()?;
    let version = params.get_object("_meta")?.get_text(VERSION_KEY)?;
    let (RpcKind::Request { method, .. } | RpcKind::Notification { method }) = &message.kind else {
        return None;
    };
    let mut headers = HeaderMap::new();
    headers.insert(VERSION, HeaderValue::from_str(&version).ok()?);
    headers.insert("mcp-method", HeaderValue::from_str(method).ok()?);
    if let Some(name) = request_name(method, &params)
        && let Ok(name) = HeaderValue::from_str(&encode_header(&name))
    {
        headers.insert("mcp-name", name);
    }
    Some(headers)
}

/// The part of a request's parameters that a modern client repeats in the header `Mcp-Name`.
pub fn request_name(method: &str, params: &RawObject) -> Option<String> {
    match method {
        "tools/call" | "prompts/get" => params.get_text("name"),
        "resources/read" => params.get_text("uri"),
        "tasks/get" | "tasks/update" | "tasks/cancel" => params.get_text("taskId"),
        _ => None,
    }
}

/// Text that a header cannot carry as it is travels as `=?base64?…?=`.
fn encode_header(text: &str) -> String {
    let is_plain = text.bytes().all(|byte| (0x20..0x7f).contains(&byte) || byte == b'\t')
        && text.trim() == text
        && !text.starts_with("=?base64?");
    match is_plain {
        true => text.to_owned(),
        false => format!("=?base64?{}?=", STANDARD.encode(text)),
    }
}

/// What a header says, by the same rule. `None`: it is encoded badly.
pub fn decode_header(value: &str) -> Option<String> {
    match value.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?=")) {
        Some(encoded) => String::from_utf8(STANDARD.decode(encoded).ok()?).ok(),
        None => Some(value.to_owned()),
    }
}

/// The messages of a reply: one, or a stream of them.
struct MessageReader {
    response: Response,
    is_stream: bool,
    is_done: bool,
    decoder: Decoder,
    whole: Vec<u8>,
    read: std::collections::VecDeque<RpcMessage>,
    /// Of the credentials with which this was asked for.
    scrubber: Option<Scrubber>,
    /// They may be renewed while a stream lasts, and the new ones are no less secret.
    authorizer: Option<Arc<dyn McpAuthorizer>>,
}

impl MessageReader {
    fn new(response: Response) -> MessageReader {
        let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        let kind = kind.unwrap_or_default().trim().to_ascii_lowercase();
        MessageReader {
            is_stream: kind.starts_with("text/event-stream"),
            is_done: false,
            response,
            decoder: Decoder::new(MESSAGE_BYTES_MAX),
            whole: Vec::new(),
            read: std::collections::VecDeque::new(),
            scrubber: None,
            authorizer: None,
        }
    }

    fn scrub(&self, message: RpcMessage) -> RpcMessage {
        let now = self.authorizer.as_ref().map(|authorizer| authorizer.scrubber());
        let scrubbers = self.scrubber.iter().chain(&now).filter(|scrubber| !scrubber.is_idle());
        scrubbers.fold(message, scrub_message)
    }

    /// What is no message is left out.
    async fn next(&mut self) -> Result<Option<RpcMessage>, RawHttpError> {
        let too_long = || {
            RawHttpError::Lost(format!("it sent a message of more than {MESSAGE_BYTES_MAX} bytes"))
        };
        loop {
            if let Some(message) = self.read.pop_front() {
                return Ok(Some(self.scrub(message)));
            }
            if self.is_done {
                return Ok(None);
            }
            let chunk = self.response.chunk().await.map_err(|error| match send_error(error) {
                RawHttpError::NotSent(why) => RawHttpError::Lost(why),
                error => error,
            })?;
            match chunk {
                Some(chunk) if self.is_stream => {
                    let events = self.decoder.feed(&chunk).map_err(|_| too_long())?;
                    let messages = events.into_iter();
                    self.read
                        .extend(messages.filter_map(|event| RpcMessage::parse(&event.data).ok()));
                }
                Some(chunk) => {
                    if self.whole.len() + chunk.len() > MESSAGE_BYTES_MAX {
                        return Err(too_long());
                    }
                    self.whole.extend_from_slice(&chunk);
                }
                None => {
                    self.is_done = true;
                    if !self.is_stream {
                        self.read.extend(RpcMessage::parse(&self.whole).ok());
                    }
                }
            }
        }
    }
}

/// As it was written, unless a secret is in it.
fn scrub_message(message: RpcMessage, scrubber: &Scrubber) -> RpcMessage {
    let line = message.object.to_line();
    let is_plain = std::str::from_utf8(&line).is_ok_and(|text| scrubber.scrub(text) == text);
    let Ok(value) = serde_json::from_slice::<Value>(&line) else { return message };
    let clean = scrubber.scrub_value(&value);
    if is_plain && clean == value {
        return message;
    }
    // Its id is a name of ours and no secret, so what is left is the same message.
    RpcMessage::parse(clean.to_string().as_bytes()).unwrap_or(message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_modern_request_says_twice_what_it_is() {
        let meta = format!(r#"{{"{VERSION_KEY}":"2026-07-28"}}"#);
        let line = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"schön","_meta":{meta}}}}}"#
        );
        let headers = modern_headers(&RpcMessage::parse(line.as_bytes()).unwrap()).unwrap();
        assert_eq!(headers[VERSION], "2026-07-28");
        assert_eq!(headers["mcp-method"], "tools/call");
        let name = headers["mcp-name"].to_str().unwrap();
        assert_eq!(decode_header(name).as_deref(), Some("schön"));
        let legacy = br#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
        assert!(modern_headers(&RpcMessage::parse(legacy).unwrap()).is_none());
    }

    #[test]
    fn names_survive_a_header() {
        for name in ["write", "a b", " a", "=?base64?x?=", "日本", ""] {
            assert_eq!(decode_header(&encode_header(name)).as_deref(), Some(name), "{name}");
        }
        assert_eq!(decode_header("=?base64?%?="), None);
    }

    /// Gives `first` until it is turned away, and `second` then.
    #[derive(Debug)]
    struct TwoTokens;

    #[async_trait::async_trait]
    impl McpAuthorizer for TwoTokens {
        async fn authorization(&self) -> Result<HeaderValue, String> {
            Ok(HeaderValue::from_static("Bearer first"))
        }

        async fn renew(
            &self,
            rejected: &HeaderValue,
            challenge: Option<&HeaderValue>,
        ) -> Result<HeaderValue, String> {
            assert_eq!(rejected, "Bearer first");
            match challenge.and_then(|challenge| challenge.to_str().ok()) {
                Some("Bearer error=\"invalid_token\"") => {
                    Ok(HeaderValue::from_static("Bearer second"))
                }
                _ => Err("connect it again".into()),
            }
        }

        fn consent(&self) -> Option<String> {
            Some("ana".into())
        }

        fn scrubber(&self) -> Scrubber {
            Scrubber::new(&[Value::from("second")])
        }

        async fn changed(&self) {}
    }

    /// What a call comes to, and the credentials with which the service was asked, if it answers so.
    async fn call_service(replies: &[&str]) -> (Result<(), RawHttpError>, Vec<String>) {
        use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let link = RawHttpLink::new(&url, &[], Some(Arc::new(TwoTokens))).unwrap();
        let line = br#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#;
        let (heard, mut messages) = mpsc::channel(4);
        let message = RpcMessage::parse(line).unwrap();
        let serve = async {
            let mut asked = Vec::new();
            for reply in replies {
                let (mut stream, _) = listener.accept().await.unwrap();
                let mut text = Vec::new();
                while !text.ends_with(line) {
                    let mut chunk = [0; 1024];
                    let read = stream.read(&mut chunk).await.unwrap();
                    text.extend_from_slice(&chunk[..read]);
                }
                let text = String::from_utf8(text).unwrap();
                let given = text.lines().find_map(|line| line.strip_prefix("authorization: "));
                asked.push(given.unwrap_or_default().to_owned());
                stream.write_all(reply.as_bytes()).await.unwrap();
            }
            asked
        };
        let (posted, asked) = tokio::join!(link.post(&message, &heard), serve);
        assert_eq!(messages.try_recv().is_ok(), posted.is_ok());
        (posted, asked)
    }

    #[test]
    fn a_message_is_as_it_was_written_unless_a_secret_is_in_it() {
        let scrubbed = |line: &str| {
            let scrubber = Scrubber::new(&[Value::from("s3cr3t-token")]);
            let message = RpcMessage::parse(line.as_bytes()).unwrap();
            String::from_utf8(scrub_message(message, &scrubber).object.to_line()).unwrap()
        };
        let plain = r#"{"jsonrpc":"2.0","id":1,"result":{"a":1.10,"b":"\u0041"}}"#;
        assert_eq!(scrubbed(plain), plain);
        for said in ["s3cr3t-token", r"s3cr3t\u002dtoken", "Bearer s3cr3t-token!"] {
            let line = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"a":"{said}"}}}}"#);
            let clean = scrubbed(&line);
            assert!(clean.contains("‹secret›") && !clean.contains("s3cr3t"), "{clean}");
        }
    }

    #[tokio::test]
    async fn credentials_that_are_turned_away_are_renewed_once() {
        let closed = "connection: close\r\ncontent-length: 0\r\n";
        let expired = format!(
            "HTTP/1.1 401 Unauthorized\r\nwww-authenticate: Bearer error=\"invalid_token\"\r\n{closed}\r\n"
        );
        let other = format!("HTTP/1.1 401 Unauthorized\r\n{closed}\r\n");
        let answer = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
        let good = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{answer}",
            answer.len()
        );
        let both = ["Bearer first", "Bearer second"].map(String::from);
        assert_eq!(call_service(&[&expired, &good]).await, (Ok(()), both.to_vec()));
        let (refused, asked) = call_service(&[&expired, &expired]).await;
        assert!(matches!(refused, Err(RawHttpError::NotSent(_))), "{refused:?}");
        assert_eq!(asked, both, "and not a third time");
        let (refused, asked) = call_service(&[&other]).await;
        assert_eq!(refused, Err(RawHttpError::NotSent("connect it again".into())));
        assert_eq!(asked, both[..1]);
    }
}
