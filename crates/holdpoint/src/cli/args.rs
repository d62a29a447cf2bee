//! Every command and option, as they are typed.

mod admin;
mod holds;

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

pub use admin::*;
pub use holds::*;

/// Holds AI agents at the dangerous step until an entitled person has approved exactly that call.
#[derive(Debug, Parser)]
#[command(
    name = "holdpoint",
    version,
    arg_required_else_help = true,
    after_help = EXITS
)]
pub struct Cli {
    /// The server to talk to. Its token is read from HOLDPOINT_TOKEN.
    #[arg(
        long,
        global = true,
        env = "HOLDPOINT_SERVER",
        default_value = "http://127.0.0.1:7420",
        value_name = "URL",
        display_order = 900
    )]
    pub server: String,
    #[command(subcommand)]
    pub command: Command,
}

const EXITS: &str = "\
Exit codes: 0 done, answered or approved · 1 error · 2 usage · 10 denied · 11 expired ·
12 cancelled · 13 nobody could be asked · 130 interrupted

Start here:
  holdpoint demo";

#[derive(Debug, Subcommand)]
pub enum Command {
    Demo(DemoArgs),
    Serve(ServeArgs),
    Show(ShowArgs),
    Approve(ApproveArgs),
    Deny(DenyArgs),
    Answer(AnswerArgs),
    Ask(AskArgs),
    Gate(GateArgs),
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
}

#[cfg(test)]
mod tests;
