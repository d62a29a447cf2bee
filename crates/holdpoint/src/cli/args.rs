//! Every command and option, as they are typed.

mod admin;
mod holds;
mod hook;
mod mcp;
mod shell;

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

pub use admin::*;
pub use holds::*;
pub use hook::*;
pub use mcp::*;
pub use shell::*;

/// Holds AI agents at the dangerous step until an entitled person has approved exactly that call.
#[derive(Debug, Parser)]
#[command(
    name = "holdpoint",
    version,
    arg_required_else_help = true,
    after_help = EXITS
)]
pub struct Cli {
    /// The server to talk to, http://127.0.0.1:7420 if nobody says. Its token is read from
    /// HOLDPOINT_TOKEN, or is the one that `holdpoint login` kept.
    #[arg(
        long,
        global = true,
        env = "HOLDPOINT_SERVER",
        value_name = "URL",
        hide_env_values = true,
        display_order = 900
    )]
    pub server: Option<String>,
    #[command(subcommand)]
    pub command: CliCommand,
}

/// Where `demo` and `serve` listen unless they are told otherwise.
pub const SERVER_DEFAULT: &str = "http://127.0.0.1:7420";

const EXITS: &str = "\
Exit codes: 0 done, answered or approved · 1 error · 2 usage · 10 denied · 11 expired ·
12 cancelled · 13 nobody could be asked · 130 interrupted

Start here:
  holdpoint demo                everything at work, with a scripted model
  holdpoint init shop           a set-up of your own";

#[derive(Debug, Subcommand)]
pub enum CliCommand {
    Demo(DemoArgs),
    Init(InitArgs),
    Serve(ServeArgs),
    Login(LoginArgs),
    Logout(LogoutArgs),
    List(ListArgs),
    Show(ShowArgs),
    Approve(ApproveArgs),
    Deny(DenyArgs),
    Answer(AnswerArgs),
    Claim(ClaimArgs),
    Comment(CommentArgs),
    Ask(AskArgs),
    Gate(GateArgs),
    /// Stand before the tool calls of a coding agent: Claude Code, Codex, Gemini CLI, Cursor.
    #[command(subcommand)]
    Hook(HookCommand),
    /// Stand before the tools of MCP servers, and let MCP clients ask people.
    #[command(subcommand)]
    Mcp(McpCommand),
    /// Check rules, and ask which one decides.
    #[command(subcommand)]
    Policy(PolicyCommand),
    /// Look after the channels in which people are asked.
    #[command(subcommand)]
    Channels(ChannelsCommand),
    /// Ask what a reply in a chat would mean.
    #[command(subcommand)]
    Reply(ReplyCommand),
    /// Export the audit log, and verify it offline.
    #[command(subcommand)]
    Audit(AuditCommand),
    /// Create, list and revoke tokens; make login links.
    #[command(subcommand)]
    Token(TokenCommand),
    Freeze(FreezeArgs),
    Doctor(DoctorArgs),
    Completions(CompletionsArgs),
    Man(ManArgs),
}

/// The whole circle on embedded defaults: no key, no account, loopback only.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  holdpoint demo --data /tmp/holdpoint-demo")]
pub struct DemoArgs {
    /// Where to listen; a loopback address. Port 0 takes a free one.
    #[arg(long, default_value = "127.0.0.1:7420", value_name = "ADDR")]
    pub listen: SocketAddr,
    /// Where to keep everything; run again with the same one and it goes on. Default: the user's state folder.
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// Turn on the compatibility doors, in a way that is only fit for trying things out.
    #[arg(long)]
    pub doors: bool,
    /// Print one line of JSON when ready.
    #[arg(long)]
    pub json: bool,
}

/// Write a set-up that works, to start from: a configuration with a policy, and a sample database.
///
/// Nothing is overwritten.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  holdpoint init shop")]
pub struct InitArgs {
    /// Where to write it; it is made if it is not there.
    #[arg(value_name = "DIR", default_value = ".")]
    pub dir: PathBuf,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// Run the server.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  holdpoint serve --config holdpoint.toml")]
pub struct ServeArgs {
    /// The configuration.
    #[arg(long, default_value = "holdpoint.toml", value_name = "FILE")]
    pub config: PathBuf,
    /// Writes a token for the first admin and one for a program to this file (mode 0600), unless it
    /// is there: for setting up a server without a browser.
    #[arg(long, env = "HOLDPOINT_BOOTSTRAP_TOKENS_FILE", value_name = "FILE")]
    pub bootstrap_tokens: Option<PathBuf>,
    /// Print one line of JSON when ready.
    #[arg(long)]
    pub json: bool,
}

#[cfg(test)]
mod tests;
