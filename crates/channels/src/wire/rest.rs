//! One request to a platform and its whole answer, within a time and a size.
//!
//! A failure says whether the request can have arrived, because that decides what may be done next.
//! Nothing that is said about one holds a path, a header or a secret.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use domain::time::Timestamp;
use egress::describe_causes;
use ports::clock::Clock;
use reqwest::header::{CONTENT_TYPE, DATE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Method, Url};
use serde_json::Value;

use crate::limits::{ANSWER_BYTES_MAX, CONNECT_WITHIN};

pub(crate) struct Rest {
    clock: Arc<dyn Clock>,
    within: Duration,
    /// Made for the first request: it reads the system's certificates, which a server on loopback
    /// does not need and some machines do not have.
    client: OnceLock<Client>,
}

pub(crate) struct Request<'a> {
    pub(crate) method: Method,
    pub(crate) url: Url,
    /// Each may hold a secret.
    pub(crate) headers: Vec<(&'static str, &'a str)>,
    pub(crate) body: Option<&'a Value>,
}

#[derive(Debug)]
pub(crate) struct RestReply {
    pub(crate) status: u16,
    headers: HeaderMap,
    body: Vec<u8>,
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RestFailure {
    /// It certainly did not arrive.
    NotSent(String),
    /// It may have arrived.
    Lost(String),
}

impl Rest {
    pub(crate) fn new(clock: Arc<dyn Clock>, within: Duration) -> Rest {
        Rest { clock, within, client: OnceLock::new() }
    }

    pub(crate) async fn ask(&self, request: Request<'_>) -> Result<RestReply, RestFailure> {
        let host = request.url.host_str().unwrap_or_default().to_owned();
        tokio::select! {
            biased;
            answer = self.exchange(request, &host) => answer,
            () = self.clock.sleep(self.within) => {
                Err(RestFailure::Lost(format!("no answer from {host} within {} s", self.within.as_secs())))
            }
        }
    }

    async fn exchange(&self, request: Request<'_>, host: &str) -> Result<RestReply, RestFailure> {
        let client = self.client()?;
        let mut asked = client.request(request.method, request.url);
        for (name, value) in request.headers {
            let mut value = HeaderValue::from_str(value).map_err(|_| {
                RestFailure::NotSent(format!(
                    "the header `{name}` cannot be sent; is there a line break in the secret?"
                ))
            })?;
            value.set_sensitive(true);
            asked = asked.header(HeaderName::from_static(name), value);
        }
        if let Some(body) = request.body {
            asked = asked
                .header(CONTENT_TYPE, "application/json; charset=utf-8")
                .body(body.to_string());
        }
        let broken = |error: reqwest::Error| {
            let connect = error.is_connect() || error.is_builder();
            let why = describe_causes(&error.without_url());
            match connect {
                true => RestFailure::NotSent(format!("{host} cannot be reached ({why})")),
                false => RestFailure::Lost(format!("the connection to {host} broke ({why})")),
            }
        };
        let mut response = asked.send().await.map_err(broken)?;
        let status = response.status().as_u16();
        let headers = std::mem::take(response.headers_mut());
        let mut body = Vec::new();
        while let Some(piece) = response.chunk().await.map_err(broken)? {
            body.extend_from_slice(&piece);
            if body.len() > ANSWER_BYTES_MAX {
                return Err(RestFailure::Lost(format!(
                    "the answer of {host} has more than {} KiB",
                    ANSWER_BYTES_MAX >> 10
                )));
            }
        }
        Ok(RestReply { status, headers, body })
    }

    fn client(&self) -> Result<&Client, RestFailure> {
        if let Some(client) = self.client.get() {
            return Ok(client);
        }
        // An error means that the same one is installed already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = Client::builder()
            // A secret must not follow a redirect to another server.
            .redirect(reqwest::redirect::Policy::none())
            .referer(false)
            // The WebSockets beside it go straight; half a way through a proxy would only look as if
            // it worked.
            .no_proxy()
            .connect_timeout(CONNECT_WITHIN)
            .user_agent(concat!("holdpoint/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|error| {
                let why = describe_causes(&error.without_url());
                RestFailure::NotSent(format!("the HTTP client cannot be set up: {why}"))
            })?;
        Ok(self.client.get_or_init(|| client))
    }
}

impl RestReply {
    /// Without headers.
    #[cfg(any(test, feature = "fuzz-api"))]
    pub(crate) fn new(status: u16, body: &[u8]) -> RestReply {
        RestReply { status, headers: HeaderMap::new(), body: body.to_vec() }
    }

    /// `None` if it is no JSON: a proxy's page, or half an answer.
    pub(crate) fn json(&self) -> Option<Value> {
        serde_json::from_slice(&self.body).ok()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    pub(crate) fn seconds(&self, name: &str) -> Option<Duration> {
        let seconds: f64 = self.header(name)?.trim().parse().ok()?;
        Duration::try_from_secs_f64(seconds.max(0.0)).ok()
    }

    /// The platform's own time.
    pub(crate) fn date(&self) -> Option<Timestamp> {
        let date = jiff::fmt::rfc2822::parse(self.header(DATE.as_str())?).ok()?;
        Some(Timestamp::from_ms(date.timestamp().as_millisecond()))
    }
}
