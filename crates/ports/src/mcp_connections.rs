//! Connections to MCP servers that an admin makes with OAuth: doors begin and end them, tools use them.

use std::time::Duration;

use async_trait::async_trait;
use domain::person::PersonId;
use domain::time::Timestamp;

/// Every MCP server that is connected with OAuth.
#[async_trait]
pub trait McpConnections: Send + Sync {
    /// How each of them stands, in the order of the configuration.
    fn list(&self) -> Vec<McpConnection>;

    /// Begins to connect a server, in place of what was begun before. `origin` is where browsers reach us.
    async fn begin(
        &self,
        server: &str,
        by: &PersonId,
        origin: &str,
    ) -> Result<BegunConnection, ConnectError>;

    /// The server that an authorization with this state is for, if one is under way. Changes nothing.
    fn find_begun(&self, state: &str) -> Option<String>;

    /// What the browser of the person who began brought back. Returns the server's name.
    async fn finish(&self, by: &PersonId, reply: CallbackReply) -> Result<String, ConnectError>;

    /// Waits until an attempt is over, but not longer than this.
    async fn wait(
        &self,
        server: &str,
        attempt: u64,
        within: Duration,
    ) -> Result<ConnectAttempt, ConnectError>;

    /// Forgets the tokens of a server, and tells its authorization server so if it can be told.
    async fn disconnect(&self, server: &str, by: &PersonId) -> Result<(), ConnectError>;
}

/// Keeps on record what becomes of connections. It has no token to keep.
#[async_trait]
pub trait ConnectionRecorder: Send + Sync {
    /// The change has happened, and stands whether it can be recorded or not.
    async fn record(&self, server: &str, change: ConnectionChange);
}

/// What became of a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConnectionChange {
    /// An admin consented, and the tokens are kept.
    Connected {
        /// The admin.
        by: PersonId,
        /// The authorization server that gave the tokens.
        issuer: String,
    },
    /// An attempt came to nothing.
    Refused {
        /// The admin who began.
        by: PersonId,
        /// What was wrong.
        why: String,
    },
    /// An admin took the connection away.
    Disconnected {
        /// The admin.
        by: PersonId,
        /// The authorization server that had given the tokens.
        issuer: String,
    },
    /// The tokens are not accepted any more.
    Lost {
        /// The authorization server that had given them.
        issuer: String,
        /// What was wrong.
        why: String,
    },
}

/// How a server stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct McpConnection {
    /// Its name in the configuration.
    pub server: String,
    /// Its address.
    pub url: String,
    /// `None`: somebody has to connect it.
    pub connected: Option<ConnectedBy>,
}

/// Whose consent a connection has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectedBy {
    /// Who connected it.
    pub person: PersonId,
    /// When.
    pub at: Timestamp,
    /// The authorization server that gave the tokens.
    pub issuer: String,
    /// What the tokens are good for, if the server said so.
    pub scope: Option<String>,
}

/// An attempt that waits for a person's browser.
#[derive(Clone, Debug)]
pub struct BegunConnection {
    /// Where the browser is to go.
    pub authorize_url: String,
    /// Names the attempt; it is no secret.
    pub attempt: u64,
    /// Afterwards it counts no more.
    pub expires_at: Timestamp,
}

/// How an attempt stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConnectAttempt {
    /// The browser has not come back.
    Pending,
    /// The server is connected.
    Connected,
    /// It came to nothing, for this reason.
    Failed(String),
}

/// What an authorization server sent along with a browser. None of it is believed yet.
#[derive(Clone)]
pub struct CallbackReply {
    /// Which attempt it is about.
    pub state: String,
    /// What tokens are given for.
    pub code: Option<String>,
    /// Who says so.
    pub iss: Option<String>,
    /// Why there is no code.
    pub error: Option<String>,
}

/// A variant for each remedy. The text never has a secret in it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConnectError {
    /// Look the name up.
    #[error("there is no MCP server of this name with `auth = \"oauth\"`")]
    UnknownServer,
    /// Begin again.
    #[error("{0}")]
    Refused(String),
    /// See to the other side, or try again later.
    #[error("{0}")]
    Failed(String),
}
