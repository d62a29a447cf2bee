//! The Model Context Protocol on standard input and output, in front of a Holdpoint server.
//!
//! `serve` lets an MCP client ask people. `proxy` stands between a client and its servers, and puts each call of a tool to
//! the policy before it is passed on. Standard output carries the protocol and nothing else; whatever there is to
//! say to a person goes to standard error. Nothing here decides: the server's policy and its people do.

mod connections;
mod proxy;
mod serve;
mod std_pipes;
mod waiting;

use super::args::McpCommand;
use super::client::Client;
use super::exit::Exit;
use super::output::Terminal;

pub async fn run(
    client: &Client,
    terminal: &Terminal,
    command: McpCommand,
) -> anyhow::Result<Exit> {
    match command {
        McpCommand::Serve(args) => serve::run(client, &args).await,
        McpCommand::List(args) => connections::list(client, terminal, &args).await,
        McpCommand::Connect(args) => connections::connect(client, terminal, &args).await,
        McpCommand::Disconnect(args) => connections::disconnect(client, terminal, &args).await,
        McpCommand::Proxy(args) => Box::pin(proxy::run(client, &args)).await,
    }
}
