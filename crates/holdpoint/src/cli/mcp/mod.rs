//! The Model Context Protocol on standard input and output, in front of a Holdpoint server.
//!
//! `serve` lets an MCP client ask people. `proxy` stands between a client and its servers, and puts each call of a tool to
//! the policy before it is passed on. Standard output carries the protocol and nothing else; whatever there is to
//! say to a person goes to standard error. Nothing here decides: the server's policy and its people do.

mod era;
mod limits;
mod peer;
mod proxy;
mod reply;
mod serve;
mod std_pipes;
mod waiting;

use super::args::McpCommand;
use super::client::Client;
use super::exit::Exit;

pub async fn run(client: &Client, command: McpCommand) -> anyhow::Result<Exit> {
    match command {
        McpCommand::Serve(args) => serve::run(client, &args).await,
        McpCommand::Proxy(args) => Box::pin(proxy::run(client, &args)).await,
    }
}
