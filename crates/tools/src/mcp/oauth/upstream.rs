//! One server that is connected with OAuth: its grant, and how that is renewed.

use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, Weak};

use async_trait::async_trait;
use domain::person::PersonId;
use domain::scrub::Scrubber;
use domain::time::Timestamp;
use egress::AddressGuard;
use oauth::{OauthError, OauthSecret, WayOut};
use ports::clock::{Clock, Rng};
use ports::mcp_connections::{ConnectAttempt, ConnectionChange, ConnectionRecorder, McpConnection};
use ports::store::{Store, StoreError};
use ports::unpoisoned::Unpoisoned as _;
use reqwest::Url;
use reqwest::header::HeaderValue;
use serde_json::Value;
use tokio::sync::{Notify, watch};
use tokio_util::task::TaskTracker;

use super::begin::PendingConnection;
use super::grant_store::{GrantStore, KeptGrant};
use super::settings::McpOauthSettings;
use crate::bad_tool::BadTool;
use crate::mcp::authorizer::McpAuthorizer;

pub struct McpOauth {
    pub(super) settings: McpOauthSettings,
    pub(super) url: Url,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) grants: GrantStore,
    /// To the authorization server, whose address others wrote.
    pub(super) way: WayOut,
    current: Mutex<Option<Arc<KeptGrant>>>,
    /// One change of the grant at a time: a refresh token is good once.
    pub(super) changing: tokio::sync::Mutex<()>,
    pub(super) pending: Mutex<Option<PendingConnection>>,
    /// The last attempt to connect, by its number.
    pub(super) attempt: watch::Sender<(u64, ConnectAttempt)>,
    changed: Notify,
    /// Where changes go on record; there is none before the engine runs.
    pub(super) recorder: OnceLock<Arc<dyn ConnectionRecorder>>,
    /// What must come to its end even if nobody waits for it any more.
    pub(super) tasks: TaskTracker,
    me: Weak<McpOauth>,
}

impl fmt::Debug for McpOauth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "McpOauth({})", self.settings.server)
    }
}

impl McpOauth {
    /// Reads what is kept of the server's connection.
    pub async fn open(
        settings: McpOauthSettings,
        store: Arc<dyn Store>,
        clock: Arc<dyn Clock>,
        rng: Arc<dyn Rng>,
    ) -> Result<Arc<McpOauth>, BadTool> {
        let bad = |why: String| BadTool::new(&settings.server, why);
        let url = Url::parse(&settings.url).map_err(|_| bad("its URL is none".into()))?;
        let guard = match settings.allow_private_addresses {
            true => AddressGuard::Open,
            false => AddressGuard::PublicOnly,
        };
        let way = WayOut::new(guard).map_err(|error| bad(error.to_string()))?;
        let grants = GrantStore::new(store, rng, &settings.server);
        let kept = grants.load().await.map_err(|error| bad(error.to_string()))?;
        let own_client = settings.client_id.clone();
        // Tokens are for the address, and the client, for which they were given.
        let kept = kept.filter(|kept| {
            kept.grant.url == url.as_str() && own_client.is_none_or(|id| kept.grant.client.id == id)
        });
        Ok(Arc::new_cyclic(|me| McpOauth {
            settings,
            url,
            clock,
            grants,
            way,
            current: Mutex::new(kept.map(Arc::new)),
            changing: tokio::sync::Mutex::default(),
            pending: Mutex::default(),
            attempt: watch::Sender::new((0, ConnectAttempt::Pending)),
            changed: Notify::new(),
            recorder: OnceLock::new(),
            tasks: TaskTracker::new(),
            me: me.clone(),
        }))
    }

    pub fn name(&self) -> &str {
        &self.settings.server
    }

    /// Lets a renewal that is under way end.
    pub async fn close(&self) {
        self.tasks.close();
        self.tasks.wait().await;
    }

    pub(super) fn connection(&self) -> McpConnection {
        McpConnection {
            server: self.settings.server.clone(),
            url: self.settings.url.clone(),
            connected: self.current().map(|kept| kept.connected_by()),
        }
    }

    pub(super) fn current(&self) -> Option<Arc<KeptGrant>> {
        self.current.lock().unpoisoned().clone()
    }

    /// Puts a grant in place, or none, and lets the server be connected anew.
    pub(super) fn replace(&self, kept: Option<KeptGrant>) {
        *self.current.lock().unpoisoned() = kept.map(Arc::new);
        self.changed.notify_one();
    }

    pub(super) async fn save(&self, kept: &KeptGrant) -> Result<(), StoreError> {
        self.grants.save(kept, self.now()).await
    }

    pub(super) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    fn not_connected(&self) -> String {
        let server = &self.settings.server;
        format!("the MCP server `{server}` is not connected: run `holdpoint mcp connect {server}`")
    }

    /// Renews the tokens if they are still those that were turned away, or are about to expire. It runs to its end by
    /// itself: a refresh token is used up by the other side when it is sent, and what comes back must be kept.
    async fn renewed(&self, rejected: OauthSecret) -> Result<Arc<KeptGrant>, RenewError> {
        let Some(me) = self.me.upgrade() else { return Err(RenewError::NotConnected) };
        let renewing = self.tasks.spawn(async move { me.renew_once(&rejected).await });
        renewing.await.unwrap_or(Err(RenewError::NotConnected))
    }

    async fn renew_once(&self, rejected: &OauthSecret) -> Result<Arc<KeptGrant>, RenewError> {
        let _turn = self.changing.lock().await;
        let current = self.current().ok_or(RenewError::NotConnected)?;
        // Another request had the same trouble, and has renewed them.
        if current.grant.access_token != *rejected {
            return Ok(current);
        }
        let server = &self.settings.server;
        let grant = &current.grant;
        let Some(refresh_token) = &grant.refresh_token else {
            let why = "its token is not accepted any more, and there is none to renew it";
            tracing::warn!(%server, "MCP server disconnected: {why}");
            self.forget_grant(&current, why.into()).await;
            return Err(RenewError::NotConnected);
        };
        let answered = async {
            let endpoint = self.way.admit(&grant.token_endpoint)?;
            let resource = Some(grant.resource.as_str());
            grant.client.refresh(&endpoint, refresh_token, resource, &self.way).await
        };
        match answered.await {
            Ok(reply) => {
                let mut kept = KeptGrant::clone(&current);
                kept.grant.put_tokens(reply, self.now());
                // They are good even so; after a restart the server may have to be connected again.
                if let Err(error) = self.save(&kept).await {
                    tracing::error!(%server, %error, "renewed tokens of an MCP server were not kept");
                }
                let kept = Arc::new(kept);
                *self.current.lock().unpoisoned() = Some(kept.clone());
                tracing::info!(%server, "tokens of an MCP server renewed");
                Ok(kept)
            }
            Err(error) if error.is_final() => {
                tracing::warn!(%server, %error, "MCP server disconnected: its tokens cannot be renewed");
                let why = format!("its tokens cannot be renewed: {error}");
                self.forget_grant(&current, why).await;
                Err(RenewError::NotConnected)
            }
            Err(error) => {
                tracing::warn!(%server, %error, "tokens of an MCP server could not be renewed");
                Err(RenewError::Later(error))
            }
        }
    }

    pub(super) async fn record(&self, change: ConnectionChange) {
        if let Some(recorder) = self.recorder.get() {
            recorder.record(&self.settings.server, change).await;
        }
    }

    async fn forget_grant(&self, lost: &KeptGrant, why: String) {
        if let Err(error) = self.grants.forget().await {
            let server = &self.settings.server;
            tracing::error!(%server, %error, "tokens of an MCP server that are not accepted were not removed");
        }
        self.replace(None);
        let issuer = lost.grant.issuer.clone();
        self.record(ConnectionChange::Lost { issuer, why }).await;
    }

    /// Takes the tokens away, here and where they were given.
    pub(super) async fn disconnect(&self, by: &PersonId) -> Result<(), StoreError> {
        let _turn = self.changing.lock().await;
        self.pending.lock().unpoisoned().take();
        let current = self.current();
        self.grants.forget().await?;
        self.replace(None);
        let server = &self.settings.server;
        tracing::info!(%server, %by, "MCP server disconnected");
        let Some(current) = current else { return Ok(()) };
        let grant = &current.grant;
        let (by, issuer) = (by.clone(), grant.issuer.clone());
        self.record(ConnectionChange::Disconnected { by, issuer }).await;
        if let Some(endpoint) = &grant.revocation_endpoint {
            let token = grant.refresh_token.as_ref().unwrap_or(&grant.access_token);
            let revoked = async {
                let endpoint = self.way.admit(endpoint)?;
                grant.client.revoke(&endpoint, token, &self.way).await
            };
            if let Err(error) = revoked.await {
                tracing::warn!(%server, %error, "the authorization server was not told that tokens are given back");
            }
        }
        Ok(())
    }

    fn worded(&self, error: RenewError) -> String {
        match error {
            RenewError::NotConnected => self.not_connected(),
            RenewError::Later(error) => format!(
                "the tokens for the MCP server `{}` cannot be renewed now: {error}",
                self.settings.server
            ),
        }
    }
}

enum RenewError {
    /// A person has to connect the server.
    NotConnected,
    /// Nothing is lost; the next request tries again.
    Later(OauthError),
}

fn bearer(kept: &KeptGrant) -> Result<HeaderValue, String> {
    let text = format!("Bearer {}", kept.grant.access_token.expose());
    let mut header = HeaderValue::from_str(&text).map_err(|_| "its token cannot be sent")?;
    header.set_sensitive(true);
    Ok(header)
}

#[async_trait]
impl McpAuthorizer for McpOauth {
    async fn authorization(&self) -> Result<HeaderValue, String> {
        let current = self.current().ok_or_else(|| self.not_connected())?;
        if !current.grant.is_due(self.now()) {
            return bearer(&current);
        }
        match self.renewed(current.grant.access_token.clone()).await {
            Ok(kept) => bearer(&kept),
            // It is good for a little longer.
            Err(RenewError::Later(_)) if !current.grant.has_expired(self.now()) => bearer(&current),
            Err(error) => Err(self.worded(error)),
        }
    }

    async fn renew(
        &self,
        rejected: &HeaderValue,
        _challenge: Option<&HeaderValue>,
    ) -> Result<HeaderValue, String> {
        let rejected = rejected.to_str().ok().and_then(|text| text.strip_prefix("Bearer "));
        let rejected = OauthSecret::new(rejected.unwrap_or_default());
        match self.renewed(rejected).await {
            Ok(kept) => bearer(&kept),
            Err(error) => Err(self.worded(error)),
        }
    }

    fn consent(&self) -> Option<String> {
        let current = self.current()?;
        let (by, issuer) = (&current.by, &current.grant.issuer);
        Some(format!("{}/{by}/{issuer}", current.since.as_ms()))
    }

    fn scrubber(&self) -> Scrubber {
        let Some(current) = self.current() else { return Scrubber::default() };
        let grant = &current.grant;
        let tokens = [Some(&grant.access_token), grant.refresh_token.as_ref()];
        let tokens: Vec<Value> =
            tokens.into_iter().flatten().map(|token| Value::from(token.expose())).collect();
        Scrubber::new(&tokens)
    }

    async fn changed(&self) {
        self.changed.notified().await;
    }
}
