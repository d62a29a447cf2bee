//! What carries messages to a server and back.

use async_trait::async_trait;
use ports::start_gate::{NotBegun, Start};
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::message::RpcError;

/// Why there is no result; each kind has another remedy.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum WireError {
    /// The server never got the request: nothing came of it.
    NotSent(String),
    /// The same, because the start gate is closed.
    NotBegun(NotBegun),
    /// The server may have got it, and nobody will ever tell us what it did.
    Lost(String),
    /// The server says that it did not do it.
    Refused(RpcError),
}

impl WireError {
    pub(crate) fn refused(code: i64, message: String) -> WireError {
        WireError::Refused(RpcError { code, message, data: Value::Null })
    }
}

impl std::fmt::Display for WireError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            WireError::NotSent(why) | WireError::Lost(why) => f.write_str(why),
            WireError::NotBegun(refused) => write!(f, "{refused}"),
            WireError::Refused(error) => write!(
                f,
                "the server refused it: {} ({})",
                domain::visible::visible(&error.message),
                error.code
            ),
        }
    }
}

pub(crate) struct Request<'a> {
    pub(crate) id: u64,
    pub(crate) method: &'a str,
    /// The tool's name, which modern HTTP also wants in a header.
    pub(crate) name: Option<&'a str>,
    pub(crate) params: &'a RawValue,
    /// Of the call that the request is about: it leaves when this lets it through.
    pub(crate) start: Option<&'a Start>,
}

/// A question of the server, in the course of a request of ours.
#[derive(Debug)]
pub(crate) struct ServerAsk {
    pub(crate) id: Value,
    pub(crate) params: Value,
}

#[async_trait]
pub(crate) trait Wire: Send + Sync {
    /// Sends a request and waits for its answer. What the server asks people meanwhile goes to `asks`;
    /// without it, such questions are turned away. Dropped, it is no longer waited for.
    async fn request(
        &self,
        request: Request<'_>,
        asks: Option<mpsc::Sender<ServerAsk>>,
    ) -> Result<Value, WireError>;

    /// Our answer to a question of the server.
    async fn answer(&self, id: &Value, answer: Result<Value, RpcError>);

    async fn notify(&self, method: &str, params: Option<&RawValue>);

    /// From now on this version is spoken.
    fn agreed(&self, version: &str);

    /// Cancelled when the wire is cut, for whatever reason.
    fn cut(&self) -> &CancellationToken;

    /// Why it was cut.
    fn why(&self) -> String;

    /// Resolves when the server says that its tools are others.
    async fn tools_changed(&self);

    /// The server is about to be told a secret of somebody: nothing that it prints is logged from now on.
    fn hush(&self) {}

    /// Whether requests other than this one wait for an answer.
    fn is_shared(&self) -> bool;
}
