//! Sends one request, and says exactly how far it got.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use egress::{AddressGuard, HostResolver, describe_causes, find_forbidden};
use ports::start_gate::{NotBegun, Start};
use reqwest::header::{HeaderMap, HeaderValue, LOCATION};
use reqwest::{Client, Method, Response, StatusCode, Url};
use tokio::time::{Instant, timeout_at};

use super::answer::HttpAnswer;
use super::request::FilledRequest;
use crate::gated_http::{ConnectGate, find_refusal, send_gated};
use crate::limits::{EVIDENCE_BYTES_MAX, HTTP_CONNECT_LIMIT, HTTP_REDIRECTS_MAX};

/// How far a request got.
pub(super) enum SendResult {
    Answered(HttpAnswer),
    /// No byte of it left this machine.
    Nothing(UnsentRequest),
    /// No byte of it left this machine, because the gate is closed.
    NotBegun(NotBegun),
    /// Something left, and what came of it is not known.
    Broken(String),
}

pub(super) struct UnsentRequest {
    pub(super) why: String,
    /// Trying again may help.
    pub(super) passing: bool,
}

pub(super) struct HttpSender {
    names: Arc<dyn HostResolver>,
    guard: AddressGuard,
    time_limit: Duration,
    /// Made for the first request: it reads the system's certificates, which some machines do not
    /// have.
    client: OnceLock<Client>,
}

impl HttpSender {
    pub(super) fn new(
        names: Arc<dyn HostResolver>,
        guard: AddressGuard,
        time_limit: Duration,
    ) -> HttpSender {
        HttpSender { names, guard, time_limit, client: OnceLock::new() }
    }

    pub(super) fn deadline(&self) -> Instant {
        Instant::now() + self.time_limit
    }

    /// Sends a request once. Only reads are led on by a redirect, and only within their own host.
    pub(super) async fn send(
        &self,
        request: &FilledRequest,
        key: Option<&str>,
        start: &Start,
        deadline: Instant,
    ) -> SendResult {
        let mut url = request.url.clone();
        let mut hops = 0;
        loop {
            let response = match self.send_once(request, url.clone(), key, start, deadline).await {
                Ok(response) => response,
                // An earlier hop was answered, so this is not a request of which nothing was sent.
                Err(SendResult::Nothing(unsent)) if hops > 0 => {
                    return SendResult::Broken(format!(
                        "it was redirected, and then {}",
                        unsent.why
                    ));
                }
                Err(sent) => return sent,
            };
            let mut answer = HttpAnswer::new(response.status(), response.headers());
            match next(response.status(), response.headers(), &url, &request.method, self.guard) {
                Some(Ok(there)) if hops < HTTP_REDIRECTS_MAX => {
                    hops += 1;
                    url = there;
                    continue;
                }
                Some(Ok(_)) => {
                    answer.note = Some(format!(
                        "It is the {}th redirect in a row; no more are followed.",
                        HTTP_REDIRECTS_MAX + 1
                    ));
                }
                Some(Err(note)) => answer.note = Some(note),
                None => {}
            }
            return self.read_answer(response, answer, deadline).await;
        }
    }

    async fn send_once(
        &self,
        request: &FilledRequest,
        url: Url,
        key: Option<&str>,
        start: &Start,
        deadline: Instant,
    ) -> Result<Response, SendResult> {
        let unsent = |why: String| SendResult::Nothing(UnsentRequest { why, passing: false });
        let client = self.http_client().map_err(unsent)?;
        let mut building =
            client.request(request.method.clone(), url).headers(request.headers.clone());
        if let Some(key) = key {
            let value = HeaderValue::from_str(key)
                .map_err(|_| unsent("the call's key cannot be sent as a header".into()))?;
            building = building.header("idempotency-key", value);
        }
        if let Some(body) = &request.body {
            building = building.body(body.clone());
        }
        match timeout_at(deadline, send_gated(start, building.send())).await {
            Ok(Ok(response)) => Ok(response),
            Ok(Err(error)) => Err(self.classify_failure(error)),
            Err(_) => Err(SendResult::Broken(format!(
                "there was no answer within {}",
                format_limit(self.time_limit)
            ))),
        }
    }

    async fn read_answer(
        &self,
        mut response: Response,
        mut answer: HttpAnswer,
        deadline: Instant,
    ) -> SendResult {
        let broken = |answer: &HttpAnswer, why: String| {
            let mut evidence = format!("it was answered with {}, but {why}", answer.status_line());
            if !answer.body.is_empty() {
                let kept = answer.body.len().min(EVIDENCE_BYTES_MAX);
                let text = String::from_utf8_lossy(&answer.body[..kept]);
                evidence.push_str(&format!("; it began with: {text}"));
            }
            SendResult::Broken(evidence)
        };
        loop {
            match timeout_at(deadline, response.chunk()).await {
                Ok(Ok(Some(piece))) => {
                    if !answer.take_bytes(&piece) {
                        return SendResult::Answered(answer);
                    }
                }
                Ok(Ok(None)) => return SendResult::Answered(answer),
                Ok(Err(error)) => {
                    let why =
                        format!("the answer broke off: {}", describe_causes(&error.without_url()));
                    return broken(&answer, why);
                }
                Err(_) => {
                    let why = format!("did not end within {}", format_limit(self.time_limit));
                    return broken(&answer, why);
                }
            }
        }
    }

    fn classify_failure(&self, error: reqwest::Error) -> SendResult {
        // The path and query may hold a token.
        let error = error.without_url();
        if let Some(refused) = find_refusal(&error) {
            return SendResult::NotBegun(refused);
        }
        if let Some(forbidden) = find_forbidden(&error) {
            return SendResult::Nothing(UnsentRequest {
                why: forbidden.to_string(),
                passing: false,
            });
        }
        let why = describe_causes(&error);
        // Looking up, connecting and shaking hands all come before the first byte of the request.
        match error.is_connect() || error.is_builder() {
            true => SendResult::Nothing(UnsentRequest { why, passing: error.is_connect() }),
            false => SendResult::Broken(why),
        }
    }

    fn http_client(&self) -> Result<&Client, String> {
        if let Some(client) = self.client.get() {
            return Ok(client);
        }
        let client = egress::guarded_client(self.names.clone(), self.guard)
            .connect_timeout((self.time_limit / 2).min(HTTP_CONNECT_LIMIT))
            // One request, one connection, no streams that others share.
            .http1_only()
            .connector_layer(ConnectGate)
            .build()
            .map_err(|error| {
                format!("the HTTP client cannot be set up: {}", describe_causes(&error))
            })?;
        Ok(self.client.get_or_init(|| client))
    }
}

/// Where a redirect leads, or why it is not followed.
pub(super) fn next(
    status: StatusCode,
    headers: &HeaderMap,
    from: &Url,
    method: &Method,
    guard: AddressGuard,
) -> Option<Result<Url, String>> {
    let location =
        headers.get(LOCATION).filter(|_| matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308))?;
    let there = location.to_str().ok().and_then(|text| from.join(text).ok());
    let Some(there) = there else {
        return Some(Err("It redirects to something that is no URL.".into()));
    };
    let shown = domain::visible::visible(there.as_str());
    if there.origin() != from.origin() || !there.username().is_empty() || there.password().is_some()
    {
        return Some(Err(format!(
            "It redirects to {shown}, which is another host; such redirects are not followed."
        )));
    }
    if ![Method::GET, Method::HEAD].contains(method) {
        return Some(Err(format!(
            "It redirects to {shown}; only GET and HEAD are led on, so the request was not repeated there."
        )));
    }
    match guard.admit_host(&there) {
        Ok(()) => Some(Ok(there)),
        Err(forbidden) => Some(Err(format!("It redirects to {shown}: {forbidden}."))),
    }
}

fn format_limit(limit: Duration) -> String {
    match limit.as_millis() {
        ms if ms < 1_000 => format!("{ms} ms"),
        _ => format!("{} s", limit.as_secs_f64()),
    }
}
