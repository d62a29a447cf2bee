//! Sends one message to one browser. Trying again is the outbox's business.

use std::fmt;
use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use domain::hold::{Hold, Risk};
use egress::{AddressGuard, HostResolver, SystemResolver, describe_causes, find_forbidden};
use ports::clock::Clock;
use ports::push::{BadPushTarget, PushError, PushKind, PushNotice, PushTarget, Pusher};
use reqwest::header::{AUTHORIZATION, CONTENT_ENCODING, CONTENT_TYPE};
use reqwest::{Client, StatusCode, Url};
use ring::digest::{SHA256, digest};

use super::encrypt::BrowserKeys;
use super::vapid::VapidKey;
use super::words;
use crate::limits::{DELIVERY_TIMEOUT, URL_BYTES_MAX};

/// A notice about something that nobody waits for next day tells nothing.
const KEPT_S_MAX: u64 = 24 * 60 * 60;
/// What push services take as a topic.
const TOPIC_CHARACTERS: usize = 32;

/// What the configuration says about notices.
#[derive(Clone, Debug)]
pub struct WebPushSettings {
    /// Where operators of push services write when something is wrong: `mailto:` or `https:`.
    pub contact: String,
    /// Notices may also go to this machine and to private networks, and without TLS.
    pub allow_private_addresses: bool,
}

pub struct WebPush {
    key: VapidKey,
    contact: String,
    guard: AddressGuard,
    clock: Arc<dyn Clock>,
    names: Arc<dyn HostResolver>,
    /// Made for the first notice: it reads the system's certificates.
    client: OnceLock<Client>,
}

impl WebPush {
    /// `key` is one that [`new_vapid_key`](super::new_vapid_key) made; `None` if it is not.
    pub fn new(settings: WebPushSettings, key: &str, clock: Arc<dyn Clock>) -> Option<WebPush> {
        let key = VapidKey::read(key)?;
        let guard = match settings.allow_private_addresses {
            true => AddressGuard::Open,
            false => AddressGuard::PublicOnly,
        };
        let names = Arc::new(SystemResolver);
        let contact = settings.contact;
        Some(WebPush { key, contact, guard, clock, names, client: OnceLock::new() })
    }

    fn client(&self) -> Result<&Client, PushError> {
        if let Some(client) = self.client.get() {
            return Ok(client);
        }
        let client = egress::guarded_client(self.names.clone(), self.guard)
            .timeout(DELIVERY_TIMEOUT)
            .build()
            .map_err(|error| PushError::Again(describe_causes(&error)))?;
        Ok(self.client.get_or_init(|| client))
    }

    fn endpoint(&self, text: &str) -> Result<Url, BadPushTarget> {
        let bad = |why: &str| BadPushTarget { field: "endpoint", why: why.to_owned() };
        if text.len() > URL_BYTES_MAX {
            return Err(bad("the endpoint is too long"));
        }
        let Ok(url) = Url::parse(text) else {
            return Err(bad("send the endpoint that the browser gave"));
        };
        let is_allowed =
            url.scheme() == "https" || url.scheme() == "http" && self.guard == AddressGuard::Open;
        if !is_allowed || !url.username().is_empty() || url.password().is_some() {
            return Err(bad("the endpoint must begin with https://, and name no user"));
        }
        match self.guard.admit_host(&url) {
            Ok(()) => Ok(url),
            Err(forbidden) => Err(bad(&forbidden.to_string())),
        }
    }
}

#[async_trait]
impl Pusher for WebPush {
    fn public_key(&self) -> &str {
        self.key.public()
    }

    fn accepts(&self, target: &PushTarget) -> Result<(), BadPushTarget> {
        self.endpoint(&target.endpoint)?;
        BrowserKeys::of(target).map(drop)
    }

    async fn push(&self, target: &PushTarget, notice: PushNotice<'_>) -> Result<(), PushError> {
        let never = |why: &str| PushError::Never(why.to_owned());
        let now = self.clock.now();
        // Again, since the configuration may have changed since it subscribed.
        let url = self.endpoint(&target.endpoint).map_err(|bad| PushError::Never(bad.why))?;
        let keys = BrowserKeys::of(target).map_err(|bad| PushError::Never(bad.why))?;
        let message = words::message(&notice).to_string();
        let body = keys.seal(message.as_bytes()).ok_or_else(|| never("it cannot be encrypted"))?;
        let origin = url.origin().ascii_serialization();
        let authorization = self.key.authorization(&origin, &self.contact, now);
        let authorization = authorization.ok_or_else(|| never("it cannot be signed"))?;
        let left_s = notice.hold.expires_at.map_or(KEPT_S_MAX, |at| at.ms_since(now) / 1_000);
        let request = self
            .client()?
            .post(url)
            .header(AUTHORIZATION, authorization)
            .header(CONTENT_TYPE, "application/octet-stream")
            .header(CONTENT_ENCODING, "aes128gcm")
            .header("ttl", left_s.clamp(60, KEPT_S_MAX))
            .header("urgency", urgency(notice.kind, notice.hold))
            // A phone that was off gets the last word on a hold, and not all of them.
            .header("topic", topic(notice.hold))
            .body(body);
        let answer = request.send().await.map_err(failed)?;
        verdict(answer.status())
    }
}

fn failed(error: reqwest::Error) -> PushError {
    // The address is as good as a key to the browser.
    let error = error.without_url();
    match find_forbidden(&error) {
        Some(forbidden) => PushError::Never(forbidden.to_string()),
        None => PushError::Again(describe_causes(&error)),
    }
}

fn verdict(status: StatusCode) -> Result<(), PushError> {
    let told = format!("the push service answered {}", status.as_u16());
    match status {
        _ if status.is_success() => Ok(()),
        StatusCode::NOT_FOUND | StatusCode::GONE => Err(PushError::Gone),
        StatusCode::TOO_MANY_REQUESTS | StatusCode::REQUEST_TIMEOUT => Err(PushError::Again(told)),
        _ if status.is_server_error() => Err(PushError::Again(told)),
        // A redirect among them: the address was judged, and the one that it points to was not.
        _ => Err(PushError::Never(told)),
    }
}

fn urgency(kind: PushKind, hold: &Hold) -> &'static str {
    match kind {
        PushKind::Soon => "high",
        PushKind::Asks if hold.risk >= Risk::High => "high",
        PushKind::Asks | PushKind::Said => "normal",
        PushKind::Settled => "low",
    }
}

fn topic(hold: &Hold) -> String {
    let digest = digest(&SHA256, hold.id.to_string().as_bytes());
    let mut topic = URL_SAFE_NO_PAD.encode(digest);
    topic.truncate(TOPIC_CHARACTERS);
    topic
}

impl fmt::Debug for WebPush {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WebPush").field("guard", &self.guard).finish_non_exhaustive()
    }
}
