//! Tools of MCP servers: programs and services of others, of both protocol eras.
//!
//! ```text
//! McpServer ── keeps ──► McpLink ── speaks (era) over ──► McpTransport: stdio (a child process) or HTTP
//!     │ pins what it saw (a file)
//!     └── Toolbox ──► McpTool, one for each definition: the host that the engine runs
//! ```
//!
//! A server is not trusted. What it says about its tools is pinned by hash when it is first seen;
//! after that a change is shown to a person before anything runs under it. Its annotations are words,
//! and decide nothing. Every line, message, list and wait has a bound in [`limits`].
//!
//! What the proxy and the server of `holdpoint mcp` share with this client (lines, messages that are passed on as they
//! are written, catalogs, pins) is public.
//!
//! What is deliberately not here: sampling and roots (not announced), prompts and resources (tools
//! only), resuming a cut HTTP stream (a call whose answer is lost is in doubt, like any other).

mod authorizer;
mod catalog;
mod content;
mod elicit;
#[cfg(feature = "fuzz-api")]
pub mod fuzz_api;
mod host;
mod http;
pub mod limits;
mod line;
mod link;
mod message;
pub mod oauth;
mod offered_tools;
mod pins;
mod raw_http;
mod raw_object;
mod rpc;
mod server;
mod stdio;
mod transport;

#[cfg(test)]
mod tests;

pub use authorizer::McpAuthorizer;
pub use catalog::{McpCatalog, McpDefinition};
pub use line::{next_line, skip_line};
pub use link::{LEGACY, MODERN, ServerIdentity};
pub use offered_tools::{OfferedTool, PinStatus};
pub use pins::{PinError, PinStore, ToolPin};
pub use raw_http::{HeardMessage, RawHttpError, RawHttpLink, decode_header, request_name};
pub use raw_object::RawObject;
pub use rpc::{
    BadRpc, INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, PARSE_ERROR, RpcId, RpcKind,
    RpcMessage,
};
pub use server::{McpConfig, McpEndpoint, McpServer};
