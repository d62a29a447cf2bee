//! Connecting a server: everything up to the browser's departure, and everything after its return.

use std::sync::Arc;

use domain::person::PersonId;
use domain::time::Timestamp;
use egress::{AddressGuard, SystemResolver, guarded_client};
use oauth::{
    AuthorizationReply, AuthorizationRequest, AuthorizationServer, BearerChallenge,
    ClientRegistration, OauthClient, OauthError, OauthSecret, PkceVerifier, ProtectedResource,
    RegistrationRequest, TokenAuthMethod, WayOut, random_state,
};
use ports::mcp_connections::{
    BegunConnection, CallbackReply, ConnectAttempt, ConnectError, ConnectionChange,
};
use ports::unpoisoned::Unpoisoned as _;
use reqwest::header::{ACCEPT, CONTENT_TYPE, WWW_AUTHENTICATE};
use reqwest::{StatusCode, Url};

use super::grant::{GRANT_VERSION, OauthGrant};
use super::grant_store::KeptGrant;
use super::upstream::McpOauth;
use crate::mcp::limits::{BEGIN_WITHIN, CONSENT_MS, PROBE_WITHIN};

/// A browser that was sent away, and what its return is judged by.
pub(crate) struct PendingConnection {
    pub(super) state: OauthSecret,
    attempt: u64,
    by: PersonId,
    expires_at: Timestamp,
    verifier: PkceVerifier,
    server: AuthorizationServer,
    client: OauthClient,
    resource: String,
    redirect_uri: String,
}

/// Where authorization servers send browsers back to, and where they may read who we are.
pub(crate) const CALLBACK_PATH: &str = "/oauth/callback";
pub(crate) const CLIENT_PATH: &str = "/oauth/client.json";

/// A request that any MCP server understands, and none carries out without leave.
const PROBE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"holdpoint","version":"1"}}}"#;

impl McpOauth {
    pub(super) async fn begin(
        &self,
        by: &PersonId,
        origin: &str,
    ) -> Result<BegunConnection, ConnectError> {
        let server = &self.settings.server;
        // Nobody consents to what could not be kept.
        if let Err(error) = self.grants.store.check_sealing() {
            let why = format!("the MCP server `{server}` cannot be connected: {error}");
            return Err(ConnectError::Failed(why));
        }
        let prepared = tokio::time::timeout(BEGIN_WITHIN, self.prepare(by, origin)).await;
        let late = || OauthError::Unreachable("it took too long".into());
        let (mut pending, url) = match prepared.unwrap_or_else(|_| Err(late())) {
            Ok(prepared) => prepared,
            Err(error) => {
                tracing::warn!(%server, %by, %error, "connecting an MCP server failed");
                let (by, why) = (by.clone(), error.to_string());
                self.record(ConnectionChange::Refused { by, why }).await;
                let why = format!("the MCP server `{server}` cannot be connected: {error}");
                return Err(ConnectError::Failed(why));
            }
        };
        self.attempt.send_modify(|(number, state)| {
            *number += 1;
            *state = ConnectAttempt::Pending;
            pending.attempt = *number;
        });
        let begun = BegunConnection {
            authorize_url: url.into(),
            attempt: pending.attempt,
            expires_at: pending.expires_at,
        };
        tracing::info!(%server, %by, issuer = %pending.server.issuer, "connecting an MCP server: waiting for consent");
        *self.pending.lock().unpoisoned() = Some(pending);
        Ok(begun)
    }

    async fn prepare(
        &self,
        by: &PersonId,
        origin: &str,
    ) -> Result<(PendingConnection, Url), OauthError> {
        let challenge = self.probe().await?;
        // The operator wrote the server's own address, so it may be anywhere.
        let own_way = WayOut::new(AddressGuard::Open)?;
        let resource = ProtectedResource::discover(&self.url, challenge.as_ref(), &own_way).await?;
        let issuer = resource.authorization_servers.first().map(String::as_str).unwrap_or_default();
        let server = AuthorizationServer::discover(issuer, &self.way).await.map_err(in_issuer)?;
        let redirect_uri = format!("{origin}{CALLBACK_PATH}");
        let client = self.choose_client(&server, origin, &redirect_uri).await.map_err(in_issuer)?;
        let scopes = self.choose_scopes(challenge.as_ref(), &resource, &server);
        let (state, verifier) = (random_state()?, PkceVerifier::generate()?);
        let request = AuthorizationRequest {
            client_id: &client.id,
            redirect_uri: &redirect_uri,
            state: &state,
            challenge: &verifier.challenge(),
            scopes: &scopes,
            resource: Some(&resource.resource),
        };
        let url = request.url(&server);
        let pending = PendingConnection {
            state,
            attempt: 0,
            by: by.clone(),
            expires_at: self.now().plus_ms(CONSENT_MS),
            verifier,
            server,
            client,
            resource: resource.resource,
            redirect_uri,
        };
        Ok((pending, url))
    }

    /// Asks the server without a token, to be told what it wants.
    async fn probe(&self) -> Result<Option<BearerChallenge>, OauthError> {
        let unreachable = |error: reqwest::Error| {
            OauthError::Unreachable(egress::describe_causes(&error.without_url()))
        };
        let client = guarded_client(Arc::new(SystemResolver), AddressGuard::Open);
        let client = client.timeout(PROBE_WITHIN).build().map_err(unreachable)?;
        let mut request = client
            .post(self.url.clone())
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, "application/json, text/event-stream")
            .body(PROBE);
        for (name, value) in &self.settings.headers {
            request = request.header(name, value.expose());
        }
        let response = request.send().await.map_err(unreachable)?;
        if response.status() != StatusCode::UNAUTHORIZED {
            return Ok(None);
        }
        let headers = response.headers().get_all(WWW_AUTHENTICATE).iter();
        let mut texts = headers.filter_map(|header| header.to_str().ok());
        Ok(texts.find_map(BearerChallenge::parse))
    }

    /// The operator's client; or the document about us, where the server can read it; or one that is registered now.
    async fn choose_client(
        &self,
        server: &AuthorizationServer,
        origin: &str,
        redirect_uri: &str,
    ) -> Result<OauthClient, OauthError> {
        if let Some(id) = &self.settings.client_id {
            let secret = self.settings.client_secret.clone();
            let method = match secret {
                Some(_) => TokenAuthMethod::choose_for_secret(&server.token_auth_methods),
                None => TokenAuthMethod::None,
            };
            return OauthClient::new(id.clone(), secret, method);
        }
        if server.takes_client_documents && is_public(origin) {
            return OauthClient::new(format!("{origin}{CLIENT_PATH}"), None, TokenAuthMethod::None);
        }
        // The same server knows us already.
        if let Some(kept) = self.current()
            && kept.grant.issuer == server.issuer
            && kept.grant.redirect_uri == redirect_uri
        {
            return Ok(kept.grant.client.clone());
        }
        let request = RegistrationRequest::new("Holdpoint", redirect_uri);
        ClientRegistration::register(server, request, &self.way).await
    }

    fn choose_scopes(
        &self,
        challenge: Option<&BearerChallenge>,
        resource: &ProtectedResource,
        server: &AuthorizationServer,
    ) -> Vec<String> {
        let wanted = challenge.map(|challenge| challenge.scopes.as_slice()).unwrap_or_default();
        let chosen = [self.settings.scopes.as_slice(), wanted, resource.scopes.as_slice()];
        let chosen = chosen.into_iter().find(|scopes| !scopes.is_empty());
        let mut scopes = chosen.unwrap_or_default().to_vec();
        // Without it such servers give no refresh token.
        let offline = "offline_access";
        if server.scopes.iter().any(|it| it == offline) && !scopes.iter().any(|it| it == offline) {
            scopes.push(offline.into());
        }
        scopes
    }

    /// Takes the attempt with this state, once and only for the person who began it.
    pub(super) fn take_pending(
        &self,
        state: &OauthSecret,
        by: &PersonId,
    ) -> Result<Option<PendingConnection>, ConnectError> {
        let mut slot = self.pending.lock().unpoisoned();
        let Some(pending) = slot.as_ref().filter(|pending| pending.state == *state) else {
            return Ok(None);
        };
        if pending.by != *by {
            let why =
                "another person began to connect this server; log in as that person, or begin anew";
            return Err(ConnectError::Refused(why.into()));
        }
        let expired = pending.expires_at <= self.now();
        let pending = slot.take();
        match expired {
            true => Ok(None),
            false => Ok(pending),
        }
    }

    pub(super) fn has_pending(&self, state: &OauthSecret) -> bool {
        let slot = self.pending.lock().unpoisoned();
        let now = self.now();
        slot.as_ref().is_some_and(|it| it.state == *state && it.expires_at > now)
    }

    pub(super) async fn finish(
        &self,
        pending: PendingConnection,
        reply: CallbackReply,
    ) -> Result<(), ConnectError> {
        let (server, by, attempt) = (&self.settings.server, pending.by.clone(), pending.attempt);
        let issuer = pending.server.issuer.clone();
        let connected = self.redeem(pending, reply).await;
        let state = match &connected {
            Ok(()) => {
                tracing::info!(%server, %by, "MCP server connected");
                self.record(ConnectionChange::Connected { by, issuer }).await;
                ConnectAttempt::Connected
            }
            Err(why) => {
                tracing::warn!(%server, %by, %why, "connecting an MCP server failed");
                self.record(ConnectionChange::Refused { by, why: why.clone() }).await;
                ConnectAttempt::Failed(why.clone())
            }
        };
        self.attempt.send_if_modified(|(number, current)| {
            let is_last = *number == attempt;
            if is_last {
                *current = state;
            }
            is_last
        });
        connected.map_err(ConnectError::Failed)
    }

    async fn redeem(&self, pending: PendingConnection, reply: CallbackReply) -> Result<(), String> {
        let PendingConnection {
            state, server, client, verifier, resource, redirect_uri, by, ..
        } = pending;
        let reply = AuthorizationReply {
            state: OauthSecret::new(reply.state),
            code: reply.code.map(OauthSecret::new),
            iss: reply.iss,
            error: reply.error,
        };
        let code = reply
            .accept(&state, &server.issuer, server.always_sends_iss)
            .map_err(|error| error.to_string())?;
        let _turn = self.changing.lock().await;
        let tokens = client
            .exchange_code(
                &server.token_endpoint,
                &code,
                &verifier,
                &redirect_uri,
                Some(&resource),
                &self.way,
            )
            .await
            .map_err(|error| in_issuer(error).to_string())?;
        let now = self.now();
        let mut grant = OauthGrant {
            version: GRANT_VERSION,
            url: self.url.as_str().into(),
            issuer: server.issuer,
            token_endpoint: server.token_endpoint.into(),
            revocation_endpoint: server.revocation_endpoint.map(Into::into),
            resource,
            client,
            redirect_uri,
            access_token: tokens.access_token.clone(),
            refresh_token: None,
            scope: None,
            renew_at_ms: None,
            expires_at_ms: None,
        };
        grant.put_tokens(tokens, now);
        let kept = KeptGrant { grant, by, since: now };
        // Connected means that it stays so over a restart.
        self.save(&kept).await.map_err(|error| error.to_string())?;
        self.replace(Some(kept));
        Ok(())
    }
}

/// Says which of the two servers it was.
fn in_issuer(error: OauthError) -> OauthError {
    let told = |why: String| format!("its authorization server: {why}");
    match error {
        OauthError::Unreachable(why) => OauthError::Unreachable(told(why)),
        OauthError::ForbiddenAddress(why) => OauthError::ForbiddenAddress(told(why)),
        OauthError::Unsound(why) => OauthError::Unsound(told(why)),
        refused @ OauthError::Refused { .. } => refused,
    }
}

/// Whether an authorization server can be expected to read a document there.
fn is_public(origin: &str) -> bool {
    let guard = AddressGuard::PublicOnly;
    Url::parse(origin).is_ok_and(|url| url.scheme() == "https" && guard.admit_host(&url).is_ok())
}
