//! The server, as the command line sees it.
//!
//! A GET is repeated when the connection is lost; so is a POST, because each carries an
//! `Idempotency-Key` under which the server does it once. A DELETE is not.

use std::time::Duration;

use anyhow::Context as _;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use domain::id::HoldId;
use domain::time::Timestamp;
use domain::visible::visible;
use reqwest::{Method, Response, StatusCode, Url};
use ring::rand::SecureRandom as _;
use serde::Serialize;
use serde_json::Value;

use super::exit::UsageError;
use super::output::now;
use super::problem::Problem;
use super::reply_state::ConnectReplyState;
use super::token_store::TokenStore;

/// A loopback server answers in milliseconds; a far one that takes longer is not there.
const CONNECT: Duration = Duration::from_secs(5);
/// Every call but a long poll and an export ends by then.
const REPLY: Duration = Duration::from_secs(30);
/// What one long poll asks for, and how much longer we wait for its reply.
const POLL_S: u64 = 25;
const POLL_GRACE: Duration = Duration::from_secs(15);
/// A hold is at most a few hundred kilobytes: more is not from our server.
const BODY_BYTES_MAX: usize = 16 << 20;
/// Waits before the second and the third try: a server that restarts is back by then, and a
/// user who mistyped its address is told before they wonder.
const RETRIES: [Duration; 2] = [Duration::from_millis(150), Duration::from_millis(600)];

#[derive(Clone, Debug)]
pub struct Client {
    http: reqwest::Client,
    server: Url,
    token: Option<String>,
}

/// The server could not be talked to at all. It may have taken a request and lost its reply.
#[derive(Debug)]
pub struct Unreachable {
    server: String,
    why: String,
    remedy: &'static str,
}

impl std::fmt::Display for Unreachable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "cannot reach {}: {}\n  → {}",
            visible(&self.server),
            visible(&self.why),
            self.remedy
        )
    }
}

impl std::error::Error for Unreachable {}

impl Client {
    /// Talks to `server` with the token of the environment, or with the one that `login` kept.
    pub fn new(server: &str) -> anyhow::Result<Client> {
        let token = match std::env::var("HOLDPOINT_TOKEN") {
            Ok(token) => Some(token.trim().to_owned()).filter(|token| !token.is_empty()),
            Err(std::env::VarError::NotPresent) => None,
            Err(std::env::VarError::NotUnicode(_)) => {
                return Err(UsageError("HOLDPOINT_TOKEN is not text".into()).into());
            }
        };
        let mut client = Client::with_token(server, token)?;
        if client.token.is_none()
            && let Some(store) = TokenStore::of_user()
        {
            client.token = store.token(&client.server)?;
        }
        Ok(client)
    }

    pub fn with_token(server: &str, token: Option<String>) -> anyhow::Result<Client> {
        let wrong = |why: &str| {
            UsageError(format!(
                "`{}` is no server address ({why}): one looks like http://127.0.0.1:7420",
                visible(server)
            ))
        };
        let server = Url::parse(server).map_err(|error| wrong(&error.to_string()))?;
        if !matches!(server.scheme(), "http" | "https") || server.host_str().is_none() {
            return Err(wrong("it must begin with http:// or https://").into());
        }
        if token.as_deref().is_some_and(|token| !token.bytes().all(|b| b.is_ascii_graphic())) {
            return Err(UsageError(
                "the token in HOLDPOINT_TOKEN has characters that no token has: copy it again"
                    .into(),
            )
            .into());
        }
        // An error means that the same one is installed already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut http = reqwest::Client::builder()
            .connect_timeout(CONNECT)
            .user_agent(concat!("holdpoint-cli/", env!("CARGO_PKG_VERSION")))
            // The token is for this server and no other.
            .redirect(reqwest::redirect::Policy::none());
        if is_loopback(&server) {
            http = http.no_proxy();
        }
        let http = http.build().context("cannot set up the HTTP client")?;
        Ok(Client { http, server, token })
    }

    pub fn server(&self) -> &Url {
        &self.server
    }

    pub fn has_token(&self) -> bool {
        self.token.is_some()
    }

    /// Whether the token would cross a network in the clear.
    pub fn exposes_token(&self) -> bool {
        self.has_token() && self.server.scheme() == "http" && !is_loopback(&self.server)
    }

    /// The page where a person sees this hold.
    pub fn page(&self, hold: HoldId) -> String {
        self.page_at(&format!("/holds/{hold}"))
    }

    /// The whole address of a path, for others to use.
    pub fn page_at(&self, path: &str) -> String {
        self.url(path).to_string()
    }

    pub async fn get(&self, path: &str) -> anyhow::Result<Value> {
        let reply = self.retried(|| self.request(Method::GET, path).timeout(REPLY)).await?;
        reply_json(reply).await
    }

    /// The key makes the repeats of one call one; another call has another.
    pub async fn post(&self, path: &str, content: &impl Serialize) -> anyhow::Result<Value> {
        self.post_under(&fresh_key()?, path, content).await
    }

    /// The caller knows what makes two calls one.
    pub async fn post_under(
        &self,
        key: &str,
        path: &str,
        content: &impl Serialize,
    ) -> anyhow::Result<Value> {
        let request = || {
            let request = self.request(Method::POST, path).timeout(REPLY);
            request.header("Idempotency-Key", key).json(content)
        };
        reply_json(self.retried(request).await?).await
    }

    pub async fn delete(&self, path: &str) -> anyhow::Result<Value> {
        let sent = self.request(Method::DELETE, path).timeout(REPLY).send().await;
        let reply = sent.map_err(|error| self.unreachable(&error))?;
        reply_json(self.checked(reply).await?).await
    }

    pub async fn hold(&self, id: HoldId) -> anyhow::Result<Value> {
        self.get(&format!("/v1/holds/{id}")).await
    }

    /// Waits a little for a decision: the hold, or nothing yet. Lost connections are the caller's.
    pub async fn wait_decided(&self, id: HoldId) -> anyhow::Result<Option<Value>> {
        let path = format!("/v1/holds/{id}/wait?until=decided&timeout_s={POLL_S}");
        let patience = Duration::from_secs(POLL_S) + POLL_GRACE;
        let sent = self.request(Method::GET, &path).timeout(patience).send().await;
        let reply = self.checked(sent.map_err(|error| self.unreachable(&error))?).await?;
        if reply.status() == StatusCode::NO_CONTENT {
            return Ok(None);
        }
        reply_json(reply).await.map(Some)
    }

    /// Waits until an attempt to connect an MCP server is over, or has expired.
    pub async fn wait_connected(
        &self,
        server: &str,
        attempt: u64,
        expires_at: Option<&str>,
    ) -> anyhow::Result<Value> {
        let expires_at = expires_at.and_then(Timestamp::parse);
        let mut address = self.url("/v1/mcp/connect");
        address
            .query_pairs_mut()
            .append_pair("server", server)
            .append_pair("attempt", &attempt.to_string())
            .append_pair("timeout_s", &POLL_S.to_string());
        let path = format!("/v1/mcp/connect?{}", address.query().unwrap_or_default());
        let patience = Duration::from_secs(POLL_S) + POLL_GRACE;
        loop {
            let request = || self.request(Method::GET, &path).timeout(patience);
            let ended = reply_json(self.retried(request).await?).await?;
            let expired = expires_at.is_some_and(|at| at <= now());
            if ConnectReplyState::of(&ended) != ConnectReplyState::Pending || expired {
                return Ok(ended);
            }
        }
    }

    /// A reply of any length, read piece by piece.
    pub async fn download(&self, path: &str) -> anyhow::Result<Response> {
        self.retried(|| self.request(Method::GET, path)).await
    }

    /// The bare status of a page without a body worth reading, and what time the server has.
    pub async fn probe(&self, path: &str) -> anyhow::Result<(u16, Option<String>)> {
        let sent = self.request(Method::GET, path).timeout(REPLY).send().await;
        let reply = sent.map_err(|error| self.unreachable(&error))?;
        let date = Some(header(&reply, "date")).filter(|date| !date.is_empty());
        Ok((reply.status().as_u16(), date))
    }

    fn url(&self, path: &str) -> Url {
        let mut url = self.server.clone();
        let (path, query) = match path.split_once('?') {
            Some((path, query)) => (path, Some(query)),
            None => (path, None),
        };
        // A server may live under a path of a larger site.
        let path = format!("{}{path}", self.server.path().trim_end_matches('/'));
        url.set_path(&path);
        url.set_query(query);
        url.set_fragment(None);
        url
    }

    fn request(&self, method: Method, path: &str) -> reqwest::RequestBuilder {
        // The record says on which surface an answer was given.
        let request = self.http.request(method, self.url(path)).header("X-Holdpoint-Via", "cli");
        match &self.token {
            Some(token) => request.bearer_auth(token),
            None => request,
        }
    }

    async fn retried(
        &self,
        request: impl Fn() -> reqwest::RequestBuilder,
    ) -> anyhow::Result<Response> {
        let mut waits = RETRIES.iter();
        loop {
            match request().send().await {
                Ok(reply) => return self.checked(reply).await,
                Err(error) => match waits.next() {
                    Some(wait) if is_lost(&error) => tokio::time::sleep(*wait).await,
                    _ => return Err(self.unreachable(&error).into()),
                },
            }
        }
    }

    async fn checked(&self, reply: Response) -> anyhow::Result<Response> {
        let status = reply.status();
        if status.is_success() {
            return Ok(reply);
        }
        let content_type = header(&reply, "content-type");
        let retry_after_s = header(&reply, "retry-after").parse().ok();
        let bytes = read_reply_body(reply).await.unwrap_or_default();
        let mut problem =
            Problem::read(status.as_u16(), &content_type, &bytes, self.token.is_some());
        problem.retry_after_s = retry_after_s;
        Err(problem.into())
    }

    fn unreachable(&self, error: &reqwest::Error) -> Unreachable {
        let why = innermost(error);
        let remedy = remedy(&why, self.server.scheme());
        Unreachable { server: self.server.to_string(), why, remedy }
    }

    /// Uses the code of a login link up. What is open afterwards is a session like a browser's.
    pub async fn open_session(&self, code: &str) -> anyhow::Result<BrowserSession> {
        let request = self.request(Method::POST, "/login").timeout(REPLY);
        let form = [("content-type", "application/x-www-form-urlencoded")];
        let request =
            form.iter().fold(request, |request, (name, value)| request.header(*name, *value));
        let plain = code.bytes().all(|byte| byte.is_ascii_alphanumeric());
        anyhow::ensure!(plain && !code.is_empty(), "this is no login code");
        let sent = request.body(format!("code={code}")).send().await;
        let reply = sent.map_err(|error| self.unreachable(&error))?;
        let cookie = header(&reply, "set-cookie");
        let cookie = cookie.split(';').next().unwrap_or_default().to_owned();
        if reply.status() != StatusCode::SEE_OTHER || cookie.is_empty() {
            anyhow::bail!(
                "the link was used before, or is too old\n  → ask for a new one: `holdpoint token login PERSON` makes it"
            );
        }
        let mut session = BrowserSession { cookie, csrf: String::new(), me: Value::Null };
        let asked =
            self.request(Method::GET, "/v1/me").timeout(REPLY).header("cookie", &session.cookie);
        let reply = asked.send().await.map_err(|error| self.unreachable(&error))?;
        session.me = reply_json(self.checked(reply).await?).await?;
        session.csrf = session.me["csrf"].as_str().unwrap_or_default().to_owned();
        Ok(session)
    }

    pub async fn post_in(
        &self,
        session: &BrowserSession,
        path: &str,
        content: &Value,
    ) -> anyhow::Result<Value> {
        let request = self.request(Method::POST, path).timeout(REPLY).json(content);
        let request = request.header("cookie", &session.cookie);
        let sent = request.header("x-holdpoint-csrf", &session.csrf).send().await;
        let reply = sent.map_err(|error| self.unreachable(&error))?;
        if reply.status().is_redirection() {
            return Ok(Value::Null);
        }
        reply_json(self.checked(reply).await?).await
    }
}

/// A login of a person, as a browser has it.
pub struct BrowserSession {
    cookie: String,
    csrf: String,
    /// Whose it is.
    pub me: Value,
}

/// What helps: a server that is not there, one that speaks otherwise, and a certificate that nobody
/// trusts want different things.
fn remedy(why: &str, scheme: &str) -> &'static str {
    let says = |words: &str| why.contains(words);
    if says("UnknownIssuer") || says("CaUsedAsEndEntity") || says("SelfSigned") {
        return "its certificate is not signed by anybody whom this machine trusts: add the CA's certificate to the system's, or name its file in SSL_CERT_FILE";
    }
    if says("NotValidForName") || says("not valid for name") {
        return "its certificate is for another name: use the name that stands in it, with --server";
    }
    if says("Expired") || says("expired") {
        return "its certificate is too old (or the clock here is wrong): whoever runs the server must renew it";
    }
    if says("NotValidYet") || says("not valid yet") {
        return "its certificate is not valid yet: is the clock of this machine right?";
    }
    if scheme == "https" && (says("InvalidContentType") || says("corrupt message")) {
        return "it speaks no TLS at this port: use http://, or the port of the proxy that does";
    }
    if scheme == "http"
        && (says("invalid HTTP version") || says("connection closed before message"))
    {
        return "it does not speak plain HTTP at this port: use https://";
    }
    if says("certificate") || says("Certificate") {
        return "its certificate is refused: look at it with `openssl s_client -connect HOST:PORT`";
    }
    "start a server with `holdpoint serve` or `holdpoint demo`, or name one with --server or HOLDPOINT_SERVER"
}

fn is_loopback(server: &Url) -> bool {
    match server.host_str() {
        Some("localhost") => true,
        Some(host) => host
            .trim_matches(['[', ']'])
            .parse::<std::net::IpAddr>()
            .is_ok_and(|address| address.is_loopback()),
        None => false,
    }
}

/// The request may be sent again: it never arrived, or its reply was lost on the way.
fn is_lost(error: &reqwest::Error) -> bool {
    !error.is_builder() && !error.is_redirect() && !error.is_decode()
}

/// `reqwest` wraps what happened in several layers that say little.
fn innermost(error: &reqwest::Error) -> String {
    if error.is_timeout() {
        return "no reply in time".into();
    }
    let mut cause: &dyn std::error::Error = error;
    while let Some(next) = cause.source() {
        cause = next;
    }
    cause.to_string()
}

fn header(reply: &Response, name: &str) -> String {
    reply.headers().get(name).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned()
}

async fn read_reply_body(mut reply: Response) -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    while let Some(chunk) = reply.chunk().await.context("the reply broke off")? {
        if bytes.len() + chunk.len() > BODY_BYTES_MAX {
            anyhow::bail!("the reply is longer than {BODY_BYTES_MAX} bytes");
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes)
}

async fn reply_json(reply: Response) -> anyhow::Result<Value> {
    understood(&read_reply_body(reply).await?)
}

/// What a server that did as it was told has to say.
pub fn understood(bytes: &[u8]) -> anyhow::Result<Value> {
    if bytes.is_empty() {
        return Ok(Value::Null);
    }
    serde_json::from_slice(bytes).context(
        "the reply is not JSON\n  → is this address really Holdpoint's? name the server with --server",
    )
}

pub(super) fn fresh_key() -> anyhow::Result<String> {
    let mut bytes = [0u8; 18];
    let rng = ring::rand::SystemRandom::new();
    rng.fill(&mut bytes).map_err(|_| anyhow::anyhow!("the system gives no random bytes"))?;
    Ok(format!("cli-{}", URL_SAFE_NO_PAD.encode(bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_understood_or_explained() {
        let client = Client::with_token("https://ops.example/holdpoint/", None).unwrap();
        assert_eq!(
            client.url("/v1/holds?state=pending").as_str(),
            "https://ops.example/holdpoint/v1/holds?state=pending"
        );
        for wrong in ["127.0.0.1:7420", "ftp://x", "", "http://"] {
            let error = Client::with_token(wrong, None).unwrap_err();
            assert!(error.is::<UsageError>(), "{wrong}: {error}");
            assert!(error.to_string().contains("http://127.0.0.1:7420"), "{error}");
        }
    }

    #[test]
    fn a_token_is_not_sent_in_the_clear_unnoticed() {
        let exposed = |server: &str| {
            Client::with_token(server, Some("hp_person_x".into())).unwrap().exposes_token()
        };
        assert!(exposed("http://holdpoint.example"));
        assert!(!exposed("https://holdpoint.example"));
        for loopback in ["http://127.0.0.1:7420", "http://localhost:7420", "http://[::1]:7420"] {
            assert!(!exposed(loopback), "{loopback}");
        }
    }

    #[test]
    fn a_mangled_token_is_found_before_it_is_sent() {
        let error = Client::with_token("http://127.0.0.1:1", Some("hp_\n".into())).unwrap_err();
        assert!(error.is::<UsageError>(), "{error}");
    }

    #[test]
    fn certificates_that_are_refused_have_their_own_remedies() {
        use rustls::{CertificateError, Error};
        let told = |error: CertificateError| {
            remedy(&Error::InvalidCertificate(error).to_string(), "https")
        };
        assert!(told(CertificateError::UnknownIssuer).contains("SSL_CERT_FILE"));
        assert!(told(CertificateError::NotValidForName).contains("another name"));
        assert!(told(CertificateError::Expired).contains("renew"));
        assert!(told(CertificateError::NotValidYet).contains("clock"));
        assert!(told(CertificateError::BadSignature).contains("openssl"));
        assert!(remedy("Connection refused (os error 111)", "https").contains("holdpoint serve"));
    }

    #[test]
    fn keys_do_not_repeat() {
        assert_ne!(fresh_key().unwrap(), fresh_key().unwrap());
    }
}
