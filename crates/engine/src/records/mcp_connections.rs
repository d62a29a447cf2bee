//! Connections to MCP servers behind OAuth, on record: who connected which, and how it ended.

use async_trait::async_trait;
use domain::event::GlobalEvent;
use domain::global_state::GlobalCommand;
use domain::person::Actor;
use ports::mcp_connections::{ConnectionChange, ConnectionRecorder};

use crate::Engine;

#[async_trait]
impl ConnectionRecorder for Engine {
    async fn record(&self, server: &str, change: ConnectionChange) {
        let named = server.to_owned();
        let (by, event) = match change {
            ConnectionChange::Connected { by, issuer } => {
                let by = Actor::Person(by);
                (by.clone(), GlobalEvent::McpServerConnected { server: named, issuer, by })
            }
            ConnectionChange::Refused { by, why } => {
                let by = Actor::Person(by);
                (by.clone(), GlobalEvent::McpServerRefused { server: named, by, why })
            }
            ConnectionChange::Disconnected { by, issuer } => {
                let by = Actor::Person(by);
                let event = GlobalEvent::McpServerDisconnected {
                    server: named,
                    issuer,
                    by: by.clone(),
                    why: None,
                };
                (by, event)
            }
            ConnectionChange::Lost { issuer, why } => {
                let (by, why) = (Actor::Runtime, Some(why));
                (by.clone(), GlobalEvent::McpServerDisconnected { server: named, issuer, by, why })
            }
        };
        // It has happened all the same: tokens that were given back do not come again.
        if let Err(error) = self.change_global(&by, GlobalCommand::Record(event)).await {
            tracing::error!(server, %error, "a change of an MCP server's connection is not on record");
        }
    }
}
