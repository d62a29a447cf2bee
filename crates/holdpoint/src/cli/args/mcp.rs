//! Commands that speak the Model Context Protocol on standard input and output.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};

use crate::cli::duration;

#[derive(Debug, Subcommand)]
pub enum McpCommand {
    Serve(McpServeArgs),
    Proxy(McpProxyArgs),
    List(McpListArgs),
    Connect(McpConnectArgs),
    Disconnect(McpDisconnectArgs),
}

/// An MCP server on standard input and output: an agent asks people with its tools.
///
/// Tools: `ask_person` and `check_answer` for any MCP client, `ask` for Claude Code's permission prompt. What they ask
/// is open on the Holdpoint server, and is answered there.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  holdpoint mcp serve --wait 50s\n  claude mcp add holdpoint -- holdpoint mcp serve\n  claude -p … --permission-prompt-tool mcp__holdpoint__ask"
)]
pub struct McpServeArgs {
    /// How long `ask_person` waits for people before it tells the agent to come back. Many clients give up after a
    /// minute.
    #[arg(long, value_name = "TIME", default_value = "50s", value_parser = duration::parse)]
    pub wait: Duration,
    /// How long the permission prompt waits for people before it denies the call.
    #[arg(long, value_name = "TIME", default_value = "9m", value_parser = duration::parse)]
    pub permission_wait: Duration,
}

/// Stand before MCP servers: each call of a tool is put to the Holdpoint server's policy first.
///
/// Everything else is passed on as it is. Rules see the tools as `NAME__tool`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  holdpoint mcp proxy --name files -- npx -y @modelcontextprotocol/server-filesystem /srv/docs\n  holdpoint mcp proxy --name tickets --url https://tickets.example.com/mcp\n  holdpoint mcp proxy --config mcp.json"
)]
pub struct McpProxyArgs {
    /// What rules call the server of the command line: its tool `write` is `NAME__write` to them.
    #[arg(long, value_name = "NAME", default_value = "mcp", conflicts_with = "config")]
    pub name: String,
    /// Several servers at once, in the form that MCP clients have: {"mcpServers": {"files": {"command": …, "args": […]},
    /// "web": {"url": …, "headers": {…}}}}.
    /// The client sees their tools as `files__write`.
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with = "command",
        required_unless_present_any = ["command", "url"]
    )]
    pub config: Option<PathBuf>,
    /// The server is a service at this address, and is called NAME. Headers of their own have services in `--config`.
    #[arg(long, value_name = "URL", conflicts_with_all = ["config", "command"])]
    pub url: Option<String>,
    /// How long a call is kept open for people. After that the agent is told to call again, with the same arguments.
    /// Many clients give up after a minute.
    #[arg(long, value_name = "TIME", default_value = "50s", value_parser = duration::parse)]
    pub wait: Duration,
    /// With a person's own token: ask in the client itself, if it can, and take what is answered there for that
    /// person's answer. Only for clients that show such questions to their user and let no model answer.
    #[arg(long)]
    pub answer_in_client: bool,
    /// The server: a program and its arguments.
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}

/// List the server's own MCP servers that are connected with OAuth, and whether they are.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  holdpoint mcp list")]
pub struct McpListArgs {
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// Connect an MCP server with `auth = "oauth"`: print the address at which you consent, and wait until you have.
///
/// Needs a person's token with the scope `admin`. The browser must be logged in as the same person.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  holdpoint mcp connect tickets")]
pub struct McpConnectArgs {
    /// The name of the server in the configuration.
    #[arg(value_name = "NAME")]
    pub name: String,
    /// Only print the address.
    #[arg(long)]
    pub no_wait: bool,
    /// Print JSON: a line with the address, and one with how it ended.
    #[arg(long)]
    pub json: bool,
}

/// Disconnect an MCP server: forget its tokens, and give them back to its authorization server.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  holdpoint mcp disconnect tickets")]
pub struct McpDisconnectArgs {
    /// The name of the server in the configuration.
    #[arg(value_name = "NAME")]
    pub name: String,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}
