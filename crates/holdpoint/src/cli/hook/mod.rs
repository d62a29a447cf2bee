//! The gate before coding agents that we did not write.
//!
//! An agent runs `holdpoint hook …` before each call of a tool, hands it the call on standard input, and does what it
//! prints. Agents take a hook that fails for one that has nothing against the call. So here every error, also
//! a panic, ends as a denial in the agent's own form, before the agent's time-out.

mod decide;
mod diff;
mod edit;
mod host;
mod install;
mod ordered_json;
mod proposal;
mod sample;
mod settings;
mod toml_block;

use std::io::Read as _;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context as _;
use serde_json::Value;

use super::args::{HookCommand, HookHost, HookRunArgs};
use super::client::Client;
use super::exit;
use super::output::Terminal;
use host::HookReply;
use proposal::HookProposal;

/// A call that is longer than this is not shown to anybody.
const STDIN_BYTES_MAX: u64 = 8 << 20;

pub async fn run(server: &str, terminal: &Terminal, command: HookCommand) -> ExitCode {
    let (host, args) = match command {
        HookCommand::Claude(args) => (HookHost::Claude, args),
        HookCommand::Codex(args) => (HookHost::Codex, args),
        HookCommand::Gemini(args) => (HookHost::Gemini, args),
        HookCommand::Cursor(args) => (HookHost::Cursor, args),
        HookCommand::Install(args) => {
            return told(terminal, install::install(server, terminal, &args));
        }
        HookCommand::Uninstall(args) => return told(terminal, install::uninstall(terminal, &args)),
        HookCommand::Test(args) => {
            return told(terminal, sample::run(server, terminal, &args).await);
        }
    };
    let server = server.to_owned();
    // A task of its own, so that a panic is an error like any other.
    #[expect(
        clippy::disallowed_methods,
        reason = "it is awaited at once, and ends with the program"
    )]
    let answered = tokio::spawn(async move { answer(&server, host, &args).await }).await;
    let (reply, failed) = match answered {
        Ok(Ok(reply)) => (reply, false),
        Ok(Err(error)) => (HookReply::Deny(denial(&format!("{error:#}"))), true),
        Err(_) => (HookReply::Deny(denial("the hook itself failed; please report this")), true),
    };
    let ended = host::print(host, &reply, failed);
    ExitCode::from(ended)
}

/// What Claude Code's permission prompt is told.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum PermissionDecision {
    /// The arguments that were approved.
    Allow(Value),
    Deny(String),
}

/// A call that Claude Code's own rules left open and that reaches us through its permission prompt: the same
/// question, under the same rules, as from its hook. Every error is a denial.
pub(super) async fn decide_permission(
    client: &Client,
    session: &str,
    prompt: PermissionPrompt,
    wait: Duration,
) -> PermissionDecision {
    let asked = prompt.input.clone();
    let decided = async {
        anyhow::ensure!(!prompt.tool_name.is_empty(), "the prompt names no tool");
        anyhow::ensure!(asked.is_object(), "the arguments are no object");
        let directory = std::env::current_dir().context("the current directory cannot be read")?;
        let proposal = HookProposal {
            session: session.to_owned(),
            use_id: prompt.tool_use_id,
            tool: prompt.tool_name,
            input: prompt.input,
            directory,
            subagent: None,
        };
        let args = HookRunArgs { wait, defer: false };
        decide::decide(client, HookHost::Claude, &proposal, &args).await
    };
    match decided.await {
        Ok(HookReply::Allow { input, .. }) => PermissionDecision::Allow(input.unwrap_or(asked)),
        Ok(HookReply::Deny(why) | HookReply::Defer(why)) => PermissionDecision::Deny(why),
        Err(error) => PermissionDecision::Deny(denial(&format!("{error:#}"))),
    }
}

/// The arguments of Claude Code's permission prompt.
#[derive(Clone, Debug, serde::Deserialize)]
pub(super) struct PermissionPrompt {
    tool_name: String,
    input: Value,
    #[serde(default)]
    tool_use_id: Option<String>,
}

fn told(terminal: &Terminal, ended: anyhow::Result<exit::Exit>) -> ExitCode {
    match ended {
        Ok(exit) => ExitCode::from(exit.code()),
        Err(error) => {
            terminal.error(&format!("{error:#}"));
            ExitCode::from(exit::of_error(&error).code())
        }
    }
}

/// For the model and for the person who reads along.
fn denial(why: &str) -> String {
    format!("Holdpoint did not let this call pass: {why}\nNothing was run.")
}

async fn answer(server: &str, host: HookHost, args: &HookRunArgs) -> anyhow::Result<HookReply> {
    let input = read_stdin()?;
    let proposal = host::read(host, &input)?;
    let client = Client::new(server)?;
    decide::decide(&client, host, &proposal, args).await
}

fn read_stdin() -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let stdin = std::io::stdin().lock();
    stdin
        .take(STDIN_BYTES_MAX + 1)
        .read_to_end(&mut bytes)
        .context("the agent's call cannot be read from standard input")?;
    anyhow::ensure!(
        bytes.len() as u64 <= STDIN_BYTES_MAX,
        "the agent's call is longer than {STDIN_BYTES_MAX} bytes, more than people can judge"
    );
    Ok(bytes)
}
