//! MCP servers that an admin connects with OAuth. No token is ever part of it.

use domain::visible::visible;
use ports::mcp_connections::{BegunConnection, ConnectAttempt, McpConnection};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A server with `auth = "oauth"`.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct McpServerDocument {
    server: String,
    url: String,
    #[schemars(extend("enum" = ["connected", "not_connected"]))]
    state: &'static str,
    /// The person who connected it.
    connected_by: Option<String>,
    connected_at: Option<String>,
    /// The authorization server.
    issuer: Option<String>,
    scope: Option<String>,
}

impl McpServerDocument {
    pub(crate) fn of(connection: McpConnection) -> McpServerDocument {
        let McpConnection { server, url, connected } = connection;
        let state = if connected.is_some() { "connected" } else { "not_connected" };
        let (mut connected_by, mut connected_at, mut issuer, mut scope) = (None, None, None, None);
        if let Some(connected) = connected {
            connected_by = Some(connected.person.to_string());
            connected_at = Some(connected.at.to_string());
            issuer = Some(visible(&connected.issuer));
            scope = connected.scope.as_deref().map(visible);
        }
        McpServerDocument { server, url, state, connected_by, connected_at, issuer, scope }
    }
}

/// Which server.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct McpServerBody {
    pub(crate) server: String,
}

/// An attempt to connect a server.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct McpConnectDocument {
    server: String,
    /// Where the browser of the admin who began is to go. It works once.
    authorize_url: String,
    attempt: u64,
    expires_at: String,
}

impl McpConnectDocument {
    pub(crate) fn of(server: &str, begun: BegunConnection) -> McpConnectDocument {
        McpConnectDocument {
            server: server.to_owned(),
            authorize_url: begun.authorize_url,
            attempt: begun.attempt,
            expires_at: begun.expires_at.to_string(),
        }
    }
}

/// How an attempt stands.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct McpAttemptDocument {
    server: String,
    #[schemars(extend("enum" = ["pending", "connected", "failed"]))]
    state: &'static str,
    /// Why it failed.
    why: Option<String>,
}

impl McpAttemptDocument {
    pub(crate) fn of(server: &str, attempt: ConnectAttempt) -> McpAttemptDocument {
        let (state, why) = match attempt {
            ConnectAttempt::Pending => ("pending", None),
            ConnectAttempt::Connected => ("connected", None),
            ConnectAttempt::Failed(why) => ("failed", Some(visible(&why))),
        };
        McpAttemptDocument { server: server.to_owned(), state, why }
    }
}

/// What an authorization server may read about us as its client (a client ID metadata document).
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct OauthClientDocument {
    client_id: String,
    client_name: &'static str,
    client_uri: String,
    redirect_uris: [String; 1],
    grant_types: [&'static str; 2],
    response_types: [&'static str; 1],
    token_endpoint_auth_method: &'static str,
    application_type: &'static str,
}

impl OauthClientDocument {
    pub(crate) fn of(origin: &str) -> OauthClientDocument {
        OauthClientDocument {
            client_id: format!("{origin}/oauth/client.json"),
            client_name: "Holdpoint",
            client_uri: origin.to_owned(),
            redirect_uris: [format!("{origin}/oauth/callback")],
            grant_types: ["authorization_code", "refresh_token"],
            response_types: ["code"],
            token_endpoint_auth_method: "none",
            application_type: "web",
        }
    }
}
