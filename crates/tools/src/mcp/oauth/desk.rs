//! All servers that are connected with OAuth, as doors see them.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use domain::person::PersonId;
use oauth::OauthSecret;
use ports::mcp_connections::{
    BegunConnection, CallbackReply, ConnectAttempt, ConnectError, ConnectionRecorder,
    McpConnection, McpConnections,
};

use super::upstream::McpOauth;
use crate::mcp::authorizer::McpAuthorizer;

#[derive(Debug, Default)]
pub struct McpOauthDesk {
    servers: Vec<Arc<McpOauth>>,
}

impl McpOauthDesk {
    pub fn new(servers: Vec<Arc<McpOauth>>) -> McpOauthDesk {
        McpOauthDesk { servers }
    }

    pub fn is_empty(&self) -> bool {
        self.servers.is_empty()
    }

    /// Who gives the tokens for the server of this name.
    pub fn authorizer(&self, name: &str) -> Option<Arc<dyn McpAuthorizer>> {
        self.find(name).ok().map(|server| server.clone() as Arc<dyn McpAuthorizer>)
    }

    /// From here on changes go on record.
    pub fn record_with(&self, recorder: &Arc<dyn ConnectionRecorder>) {
        for server in &self.servers {
            let _ = server.recorder.set(recorder.clone());
        }
    }

    pub async fn close(&self) {
        for server in &self.servers {
            server.close().await;
        }
    }

    fn find(&self, name: &str) -> Result<&Arc<McpOauth>, ConnectError> {
        let found = self.servers.iter().find(|server| server.name() == name);
        found.ok_or(ConnectError::UnknownServer)
    }
}

#[async_trait]
impl McpConnections for McpOauthDesk {
    fn list(&self) -> Vec<McpConnection> {
        self.servers.iter().map(|server| server.connection()).collect()
    }

    async fn begin(
        &self,
        server: &str,
        by: &PersonId,
        origin: &str,
    ) -> Result<BegunConnection, ConnectError> {
        self.find(server)?.begin(by, origin).await
    }

    fn find_begun(&self, state: &str) -> Option<String> {
        let state = OauthSecret::new(state);
        let found = self.servers.iter().find(|server| server.has_pending(&state));
        found.map(|server| server.name().to_owned())
    }

    async fn finish(&self, by: &PersonId, reply: CallbackReply) -> Result<String, ConnectError> {
        let state = OauthSecret::new(&reply.state);
        for server in &self.servers {
            let Some(pending) = server.take_pending(&state, by)? else { continue };
            // A browser that is closed now must not lose what was consented to.
            let (finishing, name) = (server.clone(), server.name().to_owned());
            let finished =
                server.tasks.spawn(async move { finishing.finish(pending, reply).await });
            let ended = || Err(ConnectError::Failed("the server is being closed".into()));
            finished.await.unwrap_or_else(|_| ended())?;
            return Ok(name);
        }
        tracing::warn!(%by, "an authorization was brought back that nobody waits for");
        let why = "nobody waits for this: it was used before, or is older than 10 minutes; begin anew with \
                   `holdpoint mcp connect`";
        Err(ConnectError::Refused(why.into()))
    }

    async fn wait(
        &self,
        server: &str,
        attempt: u64,
        within: Duration,
    ) -> Result<ConnectAttempt, ConnectError> {
        let server = self.find(server)?;
        let mut states = server.attempt.subscribe();
        let over = states
            .wait_for(|(number, state)| *number != attempt || *state != ConnectAttempt::Pending);
        match tokio::time::timeout(within, over).await {
            Ok(Ok(found)) => match &*found {
                (number, state) if *number == attempt => Ok(state.clone()),
                _ => Ok(ConnectAttempt::Failed("it was begun anew".into())),
            },
            Ok(Err(_)) => Ok(ConnectAttempt::Failed("the server is being closed".into())),
            Err(_) => Ok(ConnectAttempt::Pending),
        }
    }

    async fn disconnect(&self, server: &str, by: &PersonId) -> Result<(), ConnectError> {
        let disconnected = self.find(server)?.disconnect(by).await;
        disconnected.map_err(|error| ConnectError::Failed(error.to_string()))
    }
}
