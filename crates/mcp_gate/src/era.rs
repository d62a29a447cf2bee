//! Which era of the protocol a request is of, and what it says about its client.

use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;
use tools::mcp::{MODERN, RpcMessage};

pub(crate) const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";
pub(crate) const CAPABILITIES_KEY: &str = "io.modelcontextprotocol/clientCapabilities";
pub(crate) const TASKS: &str = "io.modelcontextprotocol/tasks";
pub(crate) const SUBSCRIPTION_KEY: &str = "io.modelcontextprotocol/subscriptionId";
pub const SERVER_INFO_KEY: &str = "io.modelcontextprotocol/serverInfo";
/// The code of a protocol version that is not spoken.
pub const UNSUPPORTED_VERSION: i64 = -32022;
/// The code of headers that say something else than the body.
pub const HEADER_MISMATCH: i64 = -32020;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientEra {
    /// With a handshake.
    Legacy,
    /// Each request says what it needs to be understood.
    Modern,
}

impl ClientEra {
    /// What every result of the era says about itself.
    pub fn result_type(self) -> Option<&'static str> {
        (self == ClientEra::Modern).then_some("complete")
    }
}

/// What a request says about itself and its client.
#[derive(Clone, Debug)]
pub struct RequestMeta {
    pub era: ClientEra,
    /// The name under which the client wants to hear of progress.
    pub progress_token: Option<Box<RawValue>>,
    /// What the client of a modern request can do. A legacy one said it in its handshake.
    pub capabilities: ClientCapabilities,
}

/// What we may do with a client beside answering it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClientCapabilities {
    /// It shows forms to its user.
    pub forms: bool,
    /// It takes a task in place of a result, and asks for it later.
    pub tasks: bool,
}

impl ClientCapabilities {
    pub fn parse(declared: &RawValue) -> ClientCapabilities {
        let declared: Value = serde_json::from_str(declared.get()).unwrap_or_default();
        // An empty declaration means forms.
        let elicits = declared["elicitation"].as_object();
        ClientCapabilities {
            forms: elicits.is_some_and(|modes| modes.is_empty() || modes.contains_key("form")),
            tasks: declared["extensions"][TASKS].is_object(),
        }
    }
}

impl RequestMeta {
    /// The version that a modern message says it is of.
    pub fn declared_version(message: &RpcMessage) -> Option<String> {
        message.params()?.get_object("_meta")?.get_text(VERSION_KEY)
    }

    /// The error is the version that was asked for and is not spoken.
    pub fn parse(message: &RpcMessage) -> Result<RequestMeta, String> {
        let meta = message.params().and_then(|params| params.get_object("_meta"));
        let meta = meta.unwrap_or_default();
        let era = match meta.get_text(VERSION_KEY) {
            None => ClientEra::Legacy,
            Some(version) if version == MODERN => ClientEra::Modern,
            Some(other) => return Err(other),
        };
        let capabilities = match (era, meta.get(CAPABILITIES_KEY)) {
            (ClientEra::Modern, Some(declared)) => ClientCapabilities::parse(declared),
            _ => ClientCapabilities::default(),
        };
        let progress_token = meta.get("progressToken").map(ToOwned::to_owned);
        Ok(RequestMeta { era, progress_token, capabilities })
    }
}

/// Who we are, in the words of the protocol.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Implementation {
    name: &'static str,
    version: &'static str,
}

pub const HOLDPOINT: Implementation =
    Implementation { name: "holdpoint", version: env!("CARGO_PKG_VERSION") };
