//! Carries the word: checks where it goes, signs it, sends it once. Trying again is the outbox's
//! business.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use async_trait::async_trait;
use domain::hold::Hold;
use egress::{AddressGuard, HostResolver, SystemResolver, describe_causes, find_forbidden};
use ports::callback::{CallbackError, CallbackSender};
use ports::clock::Clock;
use reqwest::header::{CONTENT_TYPE, HeaderValue, LOCATION};
use reqwest::{Client, Url};

use super::body::decided_body;
use super::secret::WebhookSecret;
use super::target;
use super::verdict::verdict;
use crate::limits::DELIVERY_TIMEOUT;

/// What the configuration says about callbacks.
#[derive(Clone, Debug)]
pub struct WebhookSettings {
    /// By the environment variable that a hold names; no other variable is ever used as a key.
    pub secrets: BTreeMap<String, WebhookSecret>,
    /// Callbacks may also go to this machine and to private networks, and without TLS.
    pub allow_private_addresses: bool,
    /// From the first packet to the receiver's answer.
    pub timeout: Duration,
}

impl Default for WebhookSettings {
    fn default() -> WebhookSettings {
        WebhookSettings {
            secrets: BTreeMap::new(),
            allow_private_addresses: false,
            timeout: DELIVERY_TIMEOUT,
        }
    }
}

pub struct WebhookCallbackSender {
    secrets: BTreeMap<String, WebhookSecret>,
    guard: AddressGuard,
    timeout: Duration,
    clock: Arc<dyn Clock>,
    names: Arc<dyn HostResolver>,
    /// Made for the first delivery: it reads the system's certificates, which most set-ups never
    /// need and some machines do not have.
    client: OnceLock<Client>,
}

impl WebhookCallbackSender {
    pub fn new(settings: WebhookSettings, clock: Arc<dyn Clock>) -> WebhookCallbackSender {
        WebhookCallbackSender::with_names(settings, clock, Arc::new(SystemResolver))
    }

    /// With another source of addresses than the system's; the guard is the same.
    pub fn with_names(
        settings: WebhookSettings,
        clock: Arc<dyn Clock>,
        names: Arc<dyn HostResolver>,
    ) -> WebhookCallbackSender {
        let guard = if settings.allow_private_addresses {
            AddressGuard::Open
        } else {
            AddressGuard::PublicOnly
        };
        WebhookCallbackSender {
            secrets: settings.secrets,
            guard,
            timeout: settings.timeout,
            clock,
            names,
            client: OnceLock::new(),
        }
    }

    /// The name is not repeated: somebody may have put the secret itself in its place.
    fn secret(&self, secret_env: &str) -> Result<&WebhookSecret, String> {
        self.secrets.get(secret_env).ok_or_else(|| {
            "the callback's secret_env is not one that the configuration lists".into()
        })
    }

    fn prepared(&self, url: &str, secret_env: &str) -> Result<(Url, &WebhookSecret), String> {
        Ok((target::parse(url, self.guard)?, self.secret(secret_env)?))
    }

    fn client(&self) -> Result<&Client, CallbackError> {
        if let Some(client) = self.client.get() {
            return Ok(client);
        }
        let client = egress::guarded_client(self.names.clone(), self.guard)
            .timeout(self.timeout)
            .build()
            .map_err(|error| {
                CallbackError::Again(format!(
                    "the HTTP client cannot be set up: {}",
                    describe_causes(&error)
                ))
            })?;
        Ok(self.client.get_or_init(|| client))
    }

    fn failed(&self, error: reqwest::Error) -> CallbackError {
        // The path and query may hold a token of the receiver's.
        let error = error.without_url();
        if let Some(forbidden) = find_forbidden(&error) {
            return CallbackError::Never(forbidden.to_string());
        }
        if error.is_timeout() {
            return CallbackError::Again(format!(
                "no answer within {} ms",
                self.timeout.as_millis()
            ));
        }
        CallbackError::Again(describe_causes(&error))
    }
}

#[async_trait]
impl CallbackSender for WebhookCallbackSender {
    fn accepts(&self, url: &str, secret_env: &str) -> Result<(), String> {
        self.prepared(url, secret_env).map(|_| ())
    }

    async fn deliver(&self, key: &str, hold: &Hold) -> Result<(), CallbackError> {
        let Some(callback) = hold.callback() else {
            return Err(CallbackError::Never("the hold names no callback".into()));
        };
        let Some(body) = decided_body(hold) else {
            return Err(CallbackError::Never("the hold is not decided".into()));
        };
        // Again, since the configuration may have changed after the hold was opened.
        let (url, secret) =
            self.prepared(&callback.url, &callback.secret_env).map_err(CallbackError::Never)?;
        let Ok(id) = HeaderValue::from_str(key) else {
            return Err(CallbackError::Never(
                "the delivery's key cannot be sent as a header".into(),
            ));
        };
        let timestamp_s = self.clock.now().as_ms().div_euclid(1000);
        let signature = secret.sign(key, timestamp_s, &body);
        let request = self
            .client()?
            .post(url.clone())
            .header(CONTENT_TYPE, "application/json")
            .header("webhook-id", id)
            .header("webhook-timestamp", timestamp_s)
            .header("webhook-signature", signature)
            .body(body);
        let answer = request.send().await.map_err(|error| self.failed(error))?;
        let location = answer.headers().get(LOCATION).and_then(|value| value.to_str().ok());
        // What else the receiver says is not read: it could go on for ever.
        verdict(answer.status(), location, &url)
    }
}

impl fmt::Debug for WebhookCallbackSender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WebhookCallbackSender")
            .field("secrets", &self.secrets)
            .field("guard", &self.guard)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}
