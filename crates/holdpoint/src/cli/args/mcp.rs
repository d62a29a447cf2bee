//! Commands that speak the Model Context Protocol on standard input and output.

use std::time::Duration;

use clap::{Args, Subcommand};

use crate::cli::duration;

#[derive(Debug, Subcommand)]
pub enum McpCommand {
    Serve(McpServeArgs),
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
