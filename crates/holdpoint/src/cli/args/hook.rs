//! Commands that coding agents run before each of their calls, and those that set them up.

use std::time::Duration;

use agent_hooks::AgentHost;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};

use crate::cli::duration;

#[derive(Debug, Subcommand)]
pub enum HookCommand {
    /// The hook of Claude Code (PreToolUse). Reads the call from standard input.
    #[command(
        after_help = "Example, as the agent runs it:\n  holdpoint hook claude --wait 9m < call.json"
    )]
    Claude(HookRunArgs),
    /// The hook of Codex (PreToolUse). Reads the call from standard input.
    #[command(
        after_help = "Example, as the agent runs it:\n  holdpoint hook codex --wait 9m < call.json"
    )]
    Codex(HookRunArgs),
    /// The hook of Gemini CLI (BeforeTool). Reads the call from standard input.
    #[command(
        after_help = "Example, as the agent runs it:\n  holdpoint hook gemini --wait 9m < call.json"
    )]
    Gemini(HookRunArgs),
    /// The hook of Cursor (beforeShellExecution, beforeMCPExecution, preToolUse). Reads the call from standard input.
    #[command(
        after_help = "Example, as the agent runs it:\n  holdpoint hook cursor --wait 9m < call.json"
    )]
    Cursor(HookRunArgs),
    Install(HookInstallArgs),
    Uninstall(HookUninstallArgs),
    Test(HookTestArgs),
}

/// Every way to end without an approval denies the call.
#[derive(Debug, Args)]
pub struct HookRunArgs {
    /// How long to wait for people. It must be shorter than the time-out of the agent's hook.
    #[arg(long, value_name = "TIME", default_value = "9m", value_parser = duration::parse)]
    pub wait: Duration,
    /// Claude Code without a person before it (`claude -p`): when the wait is over, end the agent and keep the
    /// question open; `claude -p --resume` goes on with the answer.
    #[arg(long)]
    pub defer: bool,
}

fn agent_host() -> impl TypedValueParser<Value = AgentHost> {
    let names = PossibleValuesParser::new(AgentHost::ALL.map(AgentHost::name));
    names.try_map(|name| name.parse::<AgentHost>())
}

/// Which settings are changed.
#[derive(Debug, Args)]
pub struct HookPlaceArgs {
    /// The agent.
    #[arg(value_name = "AGENT", value_parser = agent_host())]
    pub host: AgentHost,
    /// The settings of the project in this directory (the default).
    #[arg(long, conflicts_with = "user")]
    pub project: bool,
    /// The settings of this user, for all projects.
    #[arg(long)]
    pub user: bool,
    /// Do not ask.
    #[arg(long)]
    pub yes: bool,
    /// Print JSON: the file, and what changes in it.
    #[arg(long)]
    pub json: bool,
}

/// Write the hook into the agent's settings, after showing what changes.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  holdpoint hook install claude --project\n  holdpoint hook install claude --http --server https://holdpoint.example\n  holdpoint hook install claude --user --wait 5s --defer\n  holdpoint hook install codex --user --wait 30m"
)]
pub struct HookInstallArgs {
    #[command(flatten)]
    pub place: HookPlaceArgs,
    /// Claude Code only: the agent posts its calls to the server by itself, and needs no program of ours. The server
    /// does not see the agent's files, so calls that name files ask.
    #[arg(long)]
    pub http: bool,
    /// How long the hook waits for people; 9m if you do not say it. The agent's own time-out is kept above it.
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
    pub wait: Option<Duration>,
    /// Claude Code without a person before it (`claude -p`): when the wait is over, end the agent and keep the
    /// question open; `claude -p --resume` goes on with the answer.
    #[arg(long)]
    pub defer: bool,
}

/// Take the hook out of the agent's settings, after showing what changes.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  holdpoint hook uninstall codex --user --yes")]
pub struct HookUninstallArgs {
    #[command(flatten)]
    pub place: HookPlaceArgs,
}

/// Ask the server what it says to a harmless call. Nothing is run, and a question that it opens is withdrawn at once.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  holdpoint hook test claude")]
pub struct HookTestArgs {
    /// The agent.
    #[arg(value_name = "AGENT", value_parser = agent_host())]
    pub host: AgentHost,
    /// The shell command to ask about. It is not run.
    #[arg(long, value_name = "TEXT", default_value = "ls")]
    pub command: String,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}
