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
pub(crate) enum TransportError {
    /// The server never got the request: nothing came of it.
    NotSent(String),
    /// The same, because the start gate is closed.
    NotBegun(NotBegun),
    /// The server may have received it; what it did stays unknown.
    Lost(String),
    /// The server says that it did not do it.
    Refused(RpcError),
}

impl TransportError {
    pub(crate) fn from_rpc_error(code: i64, message: String) -> TransportError {
        TransportError::Refused(RpcError { code, message, data: Value::Null })
    }
}

impl std::fmt::Display for TransportError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            TransportError::NotSent(why) | TransportError::Lost(why) => f.write_str(why),
            TransportError::NotBegun(refused) => write!(f, "{refused}"),
            TransportError::Refused(error) => write!(
                f,
                "the server refused it: {} ({})",
                domain::visible::visible(&error.message),
                error.code
            ),
        }
    }
}

pub(crate) struct McpRequest<'a> {
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
pub(crate) trait McpTransport: Send + Sync {
    /// Sends a request and waits for its answer. What the server asks people meanwhile goes to `asks`;
    /// without it, such questions are turned away. Dropped, it is no longer waited for.
    async fn send_request(
        &self,
        request: McpRequest<'_>,
        asks: Option<mpsc::Sender<ServerAsk>>,
    ) -> Result<Value, TransportError>;

    /// Our answer to a question of the server.
    async fn send_answer(&self, id: &Value, answer: Result<Value, RpcError>);

    async fn send_notification(&self, method: &str, params: Option<&RawValue>);

    /// From now on this version is spoken.
    fn set_version(&self, version: &str);

    /// Cancelled when the wire is cut, for whatever reason.
    fn closed_token(&self) -> &CancellationToken;

    /// Why it was cut.
    fn close_reason(&self) -> String;

    /// Resolves when the server says that its tools are others.
    async fn tools_changed(&self);

    /// The server is about to get a person's secret: its output is not logged from now on.
    fn stop_logging(&self) {}

    /// Whether requests other than this one wait for an answer.
    fn is_shared(&self) -> bool;
}
