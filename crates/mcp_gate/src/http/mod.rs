//! The gate as a door for MCP over HTTP (Streamable HTTP), of both eras on one address.
//!
//! ```text
//! POST, GET, DELETE ──► McpDoor ── by session id, or by token ──► DoorSession ── ProxySession ── Upstream
//!                          │ parse_post: era, headers              └ RequestStreams: which reply carries which message
//! ```
//!
//! **Who shares an upstream.** Each legacy session (`initialize`, `Mcp-Session-Id`) has connections and programs of its own. Modern
//! requests have no session: those with one token, to one address, share one. No upstream is shared between two tokens, so no
//! caller can be given the answers, questions or tasks of another. What tokens share is the pins of definitions.
//!
//! Who is calling was found out before anything comes here. What is deliberately not here: HTTP itself, and where Holdpoint is.

mod door;
mod post;
mod session;
mod streams;

pub use door::{DoorCaller, DoorMethod, DoorReply, DoorRequest, DoorRoute, DoorStream, McpDoor};
pub use streams::StreamEvent;
