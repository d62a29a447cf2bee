//! One request and its answer: connects, sends, and hands the answer on piece by piece. Every wait
//! has an end. Nothing that it says about a failure holds an address' path, a header or a key.

use std::error::Error;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use ports::clock::Clock;
use ports::model::ModelError;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Response, Url};

use crate::fault::{AttemptFault, safe_text};
use crate::limits::{PROBLEM_BYTES_MAX, STREAM_BYTES_MAX};
use crate::settings::{ModelSettings, Proxy};

pub(crate) struct Http {
    settings: Arc<ModelSettings>,
    clock: Arc<dyn Clock>,
    url: Url,
    /// Made for the first request: it reads the system's certificates, which a local server does
    /// not need and some machines do not have.
    client: OnceLock<Client>,
}

impl Http {
    pub(crate) fn new(settings: Arc<ModelSettings>, clock: Arc<dyn Clock>, url: Url) -> Http {
        Http { settings, clock, url, client: OnceLock::new() }
    }

    /// Sends, and waits for the beginning of the answer, whatever its status.
    pub(crate) async fn send(
        &self,
        body: Bytes,
        own: &[(&'static str, &str)],
    ) -> Result<HttpReply, AttemptFault> {
        let headers = self.headers(own)?;
        let sent = self.client()?.post(self.url.clone()).headers(headers).body(body).send();
        let limit = self.settings.time_limits.first_byte;
        let response = tokio::select! {
            biased;
            response = sent => response.map_err(|error| self.broken(error))?,
            () = self.clock.sleep(limit) => {
                let why = format!("no answer within {} s", limit.as_secs_f64());
                return Err(AttemptFault::Again { why, after: None });
            }
        };
        Ok(HttpReply { response, bytes: 0 })
    }

    /// The next piece of an answer; `None` at its end.
    pub(crate) async fn piece(
        &self,
        answer: &mut HttpReply,
    ) -> Result<Option<Bytes>, AttemptFault> {
        let limit = self.settings.time_limits.silence;
        let piece = tokio::select! {
            biased;
            piece = answer.response.chunk() => piece.map_err(|error| self.broken(error))?,
            () = self.clock.sleep(limit) => {
                let why = format!("no word for {} s", limit.as_secs_f64());
                return Err(AttemptFault::Again { why, after: None });
            }
        };
        if let Some(piece) = &piece {
            answer.bytes += piece.len();
            if answer.bytes > STREAM_BYTES_MAX {
                let why = format!("one answer has more than {} MiB", STREAM_BYTES_MAX >> 20);
                return Err(AttemptFault::Final(ModelError::Malformed(why)));
            }
        }
        Ok(piece)
    }

    /// As much of an answer as says what is wrong. One that breaks off has said what it has said.
    pub(crate) async fn problem(&self, answer: &mut HttpReply) -> Vec<u8> {
        let mut body = Vec::new();
        while body.len() < PROBLEM_BYTES_MAX
            && let Ok(Some(piece)) = self.piece(answer).await
        {
            body.extend_from_slice(&piece);
        }
        body.truncate(PROBLEM_BYTES_MAX);
        body
    }

    fn headers(&self, own: &[(&'static str, &str)]) -> Result<HeaderMap, AttemptFault> {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
        let own = own.iter().copied();
        let configured = self.settings.headers.iter();
        // What the configuration says comes last and wins.
        for (name, value) in own.chain(configured.map(|(name, value)| (&**name, value.expose()))) {
            let unsendable = || {
                let why = format!(
                    "the header `{name}` of [models.{}] cannot be sent; is there a line break in it?",
                    self.settings.name
                );
                AttemptFault::Final(ModelError::Refused(why))
            };
            let mut value = HeaderValue::from_str(value.trim()).map_err(|_| unsendable())?;
            value.set_sensitive(true);
            headers
                .insert(HeaderName::from_bytes(name.as_bytes()).map_err(|_| unsendable())?, value);
        }
        Ok(headers)
    }

    fn client(&self) -> Result<&Client, AttemptFault> {
        if let Some(client) = self.client.get() {
            return Ok(client);
        }
        // An error means that the same one is installed already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let builder = Client::builder()
            // A key must not follow a redirect to another server.
            .redirect(reqwest::redirect::Policy::none())
            .referer(false)
            .connect_timeout(self.settings.time_limits.connect)
            .user_agent(concat!("holdpoint/", env!("CARGO_PKG_VERSION")));
        let builder = match &self.settings.proxy {
            Proxy::Environment => Ok(builder),
            Proxy::None => Ok(builder.no_proxy()),
            Proxy::Url(url) => reqwest::Proxy::all(url.expose()).map(|proxy| builder.proxy(proxy)),
        };
        let client = builder.and_then(reqwest::ClientBuilder::build).map_err(|error| {
            let why = format!("the HTTP client cannot be set up: {}", causes(&error.without_url()));
            AttemptFault::Final(ModelError::Refused(safe_text(&why, &self.settings)))
        })?;
        Ok(self.client.get_or_init(|| client))
    }

    fn broken(&self, error: reqwest::Error) -> AttemptFault {
        let host = self.url.host_str().unwrap_or_default().to_owned();
        let what = if error.is_connect() {
            format!("{host} cannot be reached")
        } else {
            format!("the connection to {host} broke")
        };
        let why = format!("{what} ({})", causes(&error.without_url()));
        AttemptFault::Again { why: safe_text(&why, &self.settings), after: None }
    }
}

pub(crate) struct HttpReply {
    response: Response,
    bytes: usize,
}

impl HttpReply {
    pub(crate) fn status(&self) -> u16 {
        self.response.status().as_u16()
    }

    pub(crate) fn headers(&self) -> &HeaderMap {
        self.response.headers()
    }

    /// What it says it is, if that is anything but events.
    pub(crate) fn other_type(&self) -> Option<String> {
        let said = self.headers().get(CONTENT_TYPE)?.to_str().ok()?;
        let plain = said.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        (plain != "text/event-stream").then_some(plain)
    }
}

/// An error with what lies under it: the outermost alone says only that something went wrong.
fn causes(error: &dyn Error) -> String {
    let mut told = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        told = format!("{told}: {cause}");
        source = cause.source();
    }
    told
}
