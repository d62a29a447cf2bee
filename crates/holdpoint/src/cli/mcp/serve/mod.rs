//! `holdpoint mcp serve`: an MCP server whose tools ask people.

mod ask_person;
mod definitions;
mod session;

use std::sync::Arc;

use mcp_gate::limits::LEAVE_WITHIN;
use mcp_gate::peer::{PeerLine, PeerOut, read_line};
use mcp_gate::reply::bad_line;
use tokio::io::BufReader;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::std_pipes;
use crate::cli::args::McpServeArgs;
use crate::cli::client::{Client, fresh_key};
use crate::cli::exit::Exit;
use session::ServeSession;

pub(super) async fn run(client: &Client, args: &McpServeArgs) -> anyhow::Result<Exit> {
    let (out, lines) = PeerOut::new();
    let tasks = TaskTracker::new();
    let leaving = CancellationToken::new();
    let (stdout, written) = std_pipes::stdout()?;
    tasks.spawn(lines.write_to(stdout, leaving.clone()));
    let session = Arc::new(ServeSession::new(client.clone(), out, args, fresh_key()?));
    let mut from = BufReader::new(std_pipes::stdin()?);
    loop {
        match read_line(&mut from).await {
            PeerLine::Message(message) => session.clone().take(message, &tasks).await,
            PeerLine::Bad(bad) => session.out().send_line(bad_line(&bad)).await,
            PeerLine::End => break,
        }
    }
    // Questions stay open: the agent may look for their answers when it comes back.
    leaving.cancel();
    let _ = tokio::time::timeout(LEAVE_WITHIN, written).await;
    Ok(Exit::Done)
}
