//! MCP servers that are connected with OAuth: which, connecting one, and disconnecting it.

use anyhow::{Context as _, bail};
use domain::visible::visible;
use serde::Serialize;
use serde_json::Value;

use crate::cli::args::{McpConnectArgs, McpDisconnectArgs, McpListArgs};
use crate::cli::client::Client;
use crate::cli::exit::Exit;
use crate::cli::json;
use crate::cli::output::{Terminal, table};
use crate::cli::reply_state::ConnectReplyState;

#[derive(Serialize)]
struct ServerName<'a> {
    server: &'a str,
}

pub(super) async fn list(
    client: &Client,
    terminal: &Terminal,
    args: &McpListArgs,
) -> anyhow::Result<Exit> {
    let servers = client.get("/v1/mcp/servers").await?;
    let items = servers["items"].as_array().cloned().unwrap_or_default();
    let out = terminal.out();
    if args.json {
        out.print(&json::pretty(&Value::Array(items)))?;
    } else if items.is_empty() {
        out.line("No MCP server of this Holdpoint has `auth = \"oauth\"`.")?;
    } else {
        let text = |item: &Value, key: &str| item[key].as_str().unwrap_or_default().to_owned();
        let row = |item: &Value| {
            let state = match ConnectReplyState::of(item) {
                ConnectReplyState::Connected => {
                    format!("connected by {}", text(item, "connected_by"))
                }
                _ => format!("not connected: holdpoint mcp connect {}", text(item, "server")),
            };
            vec![text(item, "server"), text(item, "url"), state]
        };
        let rows: Vec<Vec<String>> = items.iter().map(row).collect();
        out.print(&table(&out, &["server", "url", "state"], &rows))?;
    }
    Ok(Exit::Done)
}

pub(super) async fn connect(
    client: &Client,
    terminal: &Terminal,
    args: &McpConnectArgs,
) -> anyhow::Result<Exit> {
    let server = args.name.as_str();
    let begun = client.post("/v1/mcp/connect", &ServerName { server }).await?;
    let url = begun["authorize_url"].as_str().context("the reply has no address in it")?;
    let attempt = begun["attempt"].as_u64().context("the reply names no attempt")?;
    let out = terminal.out();
    if args.json {
        out.print(&json::line(&begun))?;
    } else {
        terminal.note(
            "Open this in a browser in which you are logged in to Holdpoint (`holdpoint token login YOU` makes a link), \
             consent there, and press Connect on the page that it comes back to. It is good for 10 minutes:",
        );
        out.line(&visible(url))?;
    }
    if args.no_wait {
        return Ok(Exit::Done);
    }
    let ended = client.wait_connected(server, attempt, begun["expires_at"].as_str()).await?;
    if args.json {
        out.print(&json::line(&ended))?;
    }
    match ConnectReplyState::of(&ended) {
        ConnectReplyState::Connected => {
            if !args.json {
                out.line(&format!("The MCP server `{}` is connected.", visible(server)))?;
            }
            Ok(Exit::Done)
        }
        ConnectReplyState::Failed => {
            bail!("not connected: {}", visible(ended["why"].as_str().unwrap_or("it says no more")))
        }
        _ => bail!("not connected: nobody consented in time; run the command again"),
    }
}

pub(super) async fn disconnect(
    client: &Client,
    terminal: &Terminal,
    args: &McpDisconnectArgs,
) -> anyhow::Result<Exit> {
    let server = args.name.as_str();
    let now = client.post("/v1/mcp/disconnect", &ServerName { server }).await?;
    let out = terminal.out();
    if args.json {
        out.print(&json::pretty(&now))?;
    } else {
        out.line(&format!(
            "The MCP server `{}` is disconnected; its tokens are gone.",
            visible(server)
        ))?;
    }
    Ok(Exit::Done)
}
