//! A server that we have come to terms with: which era it is of, who it says it is, and the requests
//! that both eras have.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use ports::start_gate::Start;
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::catalog::McpCatalog;
use super::limits::{DISCOVER_WITHIN, PAGES_MAX};
use super::message::NO_SUCH_VERSION;
use super::transport::{McpRequest, McpTransport, ServerAsk, TransportError};

/// The era without a handshake.
pub const MODERN: &str = "2026-07-28";
/// Versions with a handshake that we speak, newest first.
pub const LEGACY: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProtocolEra {
    Legacy,
    Modern,
}

/// Who a server says it is. Part of what is pinned.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerIdentity {
    pub name: String,
    pub version: String,
}

impl ServerIdentity {
    pub fn parse(info: &Value) -> ServerIdentity {
        // As much of a name as a person reads.
        let text = |key: &str| {
            let text = info[key].as_str().unwrap_or_default();
            text.chars().take(200).collect::<String>()
        };
        ServerIdentity { name: text("name"), version: text("version") }
    }
}

impl std::fmt::Display for ServerIdentity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        use domain::visible::visible;
        write!(f, "{} {}", visible(&self.name), visible(&self.version))
    }
}

pub(crate) struct McpLink {
    pub(crate) wire: Box<dyn McpTransport>,
    pub(crate) era: ProtocolEra,
    pub(crate) identity: ServerIdentity,
    next: AtomicU64,
}

/// Why a server could not be spoken with.
#[derive(Debug)]
pub(crate) struct NoLink {
    pub(crate) why: String,
    /// It went away when it was asked for its era: some legacy servers do.
    pub(crate) fled: bool,
}

fn client_info() -> Value {
    json!({"name": "holdpoint", "version": env!("CARGO_PKG_VERSION")})
}

/// What we can do for a server: put its questions to people. Nothing else.
fn client_capabilities() -> Value {
    json!({"elicitation": {"form": {}, "url": {}}})
}

/// What a modern request says about itself, in place of a handshake.
fn request_meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientInfo": client_info(),
        "io.modelcontextprotocol/clientCapabilities": client_capabilities(),
    })
}

#[derive(Serialize)]
struct CallParams<'a> {
    name: &'a str,
    arguments: &'a RawValue,
    #[serde(rename = "inputResponses", skip_serializing_if = "Option::is_none")]
    responses: Option<&'a Value>,
    #[serde(rename = "requestState", skip_serializing_if = "Option::is_none")]
    state: Option<&'a Value>,
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    meta: Option<Value>,
}

/// What a person said to a modern server's questions, sent with the call again.
#[derive(Clone, Debug, Default)]
pub(crate) struct RetryInput {
    pub(crate) responses: Option<Value>,
    pub(crate) state: Option<Value>,
}

impl McpLink {
    /// Finds out which era the server is of. Whatever is no clear sign of a modern one means legacy.
    pub(crate) async fn open(
        wire: Box<dyn McpTransport>,
        legacy_only: bool,
    ) -> Result<McpLink, NoLink> {
        let mut link = McpLink {
            wire,
            era: ProtocolEra::Modern,
            identity: ServerIdentity::default(),
            next: AtomicU64::new(1),
        };
        if !legacy_only && link.try_modern(DISCOVER_WITHIN).await? {
            return Ok(link);
        }
        link.era = ProtocolEra::Legacy;
        match link.initialize_legacy().await {
            Ok(()) => Ok(link),
            // It was slow to say that it is modern, and has made up its mind by now.
            Err(TransportError::Refused(error))
                if error.code == NO_SUCH_VERSION && !legacy_only =>
            {
                link.era = ProtocolEra::Modern;
                match link.try_modern(DISCOVER_WITHIN).await? {
                    true => Ok(link),
                    false => Err(no_link("no version of the protocol is common to us")),
                }
            }
            Err(error) => Err(no_link(&error.to_string())),
        }
    }

    async fn try_modern(&mut self, within: Duration) -> Result<bool, NoLink> {
        let asked = self.send_request("server/discover", json!({}), None);
        let result = match tokio::time::timeout(within, asked).await {
            Ok(Ok(result)) => result,
            Ok(Err(TransportError::Refused(_))) | Err(_) => return Ok(false),
            Ok(Err(TransportError::Lost(why))) => return Err(NoLink { why, fled: true }),
            Ok(Err(error @ (TransportError::NotSent(_) | TransportError::NotBegun(_)))) => {
                return Err(no_link(&error.to_string()));
            }
        };
        let versions = result["supportedVersions"].as_array().map(Vec::as_slice);
        if !versions.unwrap_or_default().iter().any(|version| version == MODERN) {
            return Ok(false);
        }
        self.wire.set_version(MODERN);
        self.identity =
            ServerIdentity::parse(&result["_meta"]["io.modelcontextprotocol/serverInfo"]);
        Ok(true)
    }

    async fn initialize_legacy(&mut self) -> Result<(), TransportError> {
        let hello = json!({
            "protocolVersion": LEGACY[0],
            "capabilities": client_capabilities(),
            "clientInfo": client_info(),
        });
        let result = self.send_request("initialize", hello, None).await?;
        let version = result["protocolVersion"].as_str().unwrap_or_default();
        if !LEGACY.contains(&version) {
            let shown = domain::visible::visible(version);
            let why = format!("it speaks version `{shown}` of the protocol, and we do not");
            return Err(TransportError::NotSent(why));
        }
        self.wire.set_version(version);
        self.identity = ServerIdentity::parse(&result["serverInfo"]);
        self.wire.send_notification("notifications/initialized", None).await;
        Ok(())
    }

    /// Everything that the server offers, page by page.
    pub(crate) async fn list_tools(&self) -> Result<McpCatalog, TransportError> {
        let bad = |why: String| TransportError::NotSent(why);
        let mut catalog = McpCatalog::new(self.identity.clone());
        let mut cursors: Vec<String> = Vec::new();
        for _ in 0..PAGES_MAX {
            let params = match cursors.last() {
                Some(cursor) => json!({"cursor": cursor}),
                None => json!({}),
            };
            let mut page = self.send_request("tools/list", params, None).await?;
            match catalog.add_page(&mut page).map_err(bad)? {
                Some(Value::String(next)) if !cursors.contains(&next) => cursors.push(next),
                None => return Ok(catalog),
                Some(_) => return Err(bad("its list of tools goes in a circle".into())),
            }
        }
        Err(bad(format!("its list of tools has more than {PAGES_MAX} pages")))
    }

    pub(crate) fn next_id(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    /// Calls a tool with the very bytes that were approved.
    pub(crate) async fn call_tool(
        &self,
        id: u64,
        name: &str,
        arguments: &RawValue,
        again: &RetryInput,
        start: &Start,
        asks: mpsc::Sender<ServerAsk>,
    ) -> Result<Value, TransportError> {
        let params = CallParams {
            name,
            arguments,
            responses: again.responses.as_ref(),
            state: again.state.as_ref(),
            meta: (self.era == ProtocolEra::Modern).then(request_meta),
        };
        let params =
            to_raw_value(&params).map_err(|error| TransportError::NotSent(error.to_string()))?;
        let request = McpRequest {
            id,
            method: "tools/call",
            name: Some(name),
            params: &params,
            start: Some(start),
        };
        // A modern server has no other way to ask than its result.
        let asks = (self.era == ProtocolEra::Legacy).then_some(asks);
        self.wire.send_request(request, asks).await
    }

    pub(crate) async fn cancel_call(&self, id: u64, reason: &str) {
        let params = to_raw_value(&json!({"requestId": id, "reason": reason})).ok();
        self.wire.send_notification("notifications/cancelled", params.as_deref()).await;
    }

    async fn send_request(
        &self,
        method: &str,
        mut params: Value,
        asks: Option<mpsc::Sender<ServerAsk>>,
    ) -> Result<Value, TransportError> {
        if self.era == ProtocolEra::Modern {
            params["_meta"] = request_meta();
        }
        let params =
            to_raw_value(&params).map_err(|error| TransportError::NotSent(error.to_string()))?;
        let request =
            McpRequest { id: self.next_id(), method, name: None, params: &params, start: None };
        self.wire.send_request(request, asks).await
    }
}

fn no_link(why: &str) -> NoLink {
    NoLink { why: why.into(), fled: false }
}
