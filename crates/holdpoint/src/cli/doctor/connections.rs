//! Whether MCP servers with `auth = "oauth"` are connected. Only the running server knows.

use domain::visible::visible;

use super::Check;
use crate::cli::client::Client;
use crate::cli::reply_state::ConnectReplyState;
use crate::config::{Config, ToolKind};

/// The names of those servers: tools, and servers that are fronted under `/mcp`.
pub(super) fn with_oauth(config: &Config) -> Vec<String> {
    let tools = config.tools.iter().filter(|tool| match &tool.kind {
        ToolKind::Mcp(mcp) => mcp.reach.has_oauth(),
        _ => false,
    });
    let fronted = config.mcp.upstreams.iter().filter(|(_, reach)| reach.has_oauth());
    tools.map(|tool| tool.name.to_string()).chain(fronted.map(|(name, _)| name.clone())).collect()
}

pub(super) async fn served(client: &Client, names: &[String]) -> Vec<Check> {
    let listed = match client.get("/v1/mcp/servers").await {
        Ok(listed) => listed,
        Err(_) => {
            let detail = format!("whether {} are connected cannot be seen", names.join(", "));
            let remedy = "run `holdpoint mcp list` with the token of an admin";
            return vec![Check::wrong("connections", detail, remedy).doubtful()];
        }
    };
    let items = listed["items"].as_array().map(Vec::as_slice).unwrap_or_default();
    let check = |name: &String| {
        let shown = visible(name);
        let found = items.iter().find(|item| item["server"] == name.as_str());
        match found.map(ConnectReplyState::of) {
            Some(ConnectReplyState::Connected) => {
                Check::fine("connections", format!("the MCP server `{shown}` is connected"))
            }
            Some(_) => Check::wrong(
                "connections",
                format!("the MCP server `{shown}` is not connected, and its calls are refused"),
                format!("holdpoint mcp connect {shown}"),
            )
            .doubtful(),
            None => Check::wrong(
                "connections",
                format!("the running server does not know the MCP server `{shown}`"),
                "restart it: the configuration is read at the start",
            )
            .doubtful(),
        }
    };
    names.iter().map(check).collect()
}
