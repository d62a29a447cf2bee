//! Rows about connections of MCP servers behind OAuth.

use domain::event::{Event, GlobalEvent};
use domain::person::Actor;

use super::person;
use super::rows::NamedEvents;

pub(super) fn mcp_rows() -> Vec<NamedEvents> {
    vec![
        (
            "mcp_server_connected",
            vec![Event::Global(GlobalEvent::McpServerConnected {
                server: "tickets".into(),
                issuer: "https://login.example.com".into(),
                by: person(),
            })],
        ),
        (
            "mcp_server_disconnected",
            vec![Event::Global(GlobalEvent::McpServerDisconnected {
                server: "tickets".into(),
                issuer: "https://login.example.com".into(),
                by: person(),
                why: None,
            })],
        ),
        (
            "mcp_server_lost",
            vec![Event::Global(GlobalEvent::McpServerDisconnected {
                server: "tickets".into(),
                issuer: "https://login.example.com".into(),
                by: Actor::Runtime,
                why: Some("its tokens cannot be renewed".into()),
            })],
        ),
        (
            "mcp_server_refused",
            vec![Event::Global(GlobalEvent::McpServerRefused {
                server: "tickets".into(),
                by: person(),
                why: "access_denied".into(),
            })],
        ),
    ]
}
