//! The gate before coding agents that we did not write.
//!
//! An agent runs `holdpoint hook …` before each call of a tool, hands it the call on standard input, and does what it
//! prints. Agents take a hook that fails for one that has nothing against the call. So here every error, also
//! a panic, ends as a denial in the agent's own form, before the agent's time-out.

mod decide;
mod install;
mod json_text;
mod local_files;
mod sample;
mod settings;
mod toml_block;

use std::io::{Read as _, Write as _};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use agent_hooks::{AgentHost, HookProposal, HookReply};
use anyhow::Context as _;
use serde_json::Value;

use super::args::{HookCommand, HookRunArgs};
use super::client::Client;
use super::exit;
use super::output::Terminal;

/// A call that is longer than this is not shown to anybody.
const STDIN_BYTES_MAX: u64 = 8 << 20;
/// After our wait: more than taking up an approval or a question back may take, and less than the minute after which an agent's
/// own time is up.
const LAST_WORD: Duration = Duration::from_secs(25);
/// How an agent takes a denial by exit code.
const BLOCKED: u8 = 2;

pub async fn run(server: &str, terminal: &Terminal, command: HookCommand) -> ExitCode {
    let (host, args) = match command {
        HookCommand::Claude(args) => (AgentHost::Claude, args),
        HookCommand::Codex(args) => (AgentHost::Codex, args),
        HookCommand::Gemini(args) => (AgentHost::Gemini, args),
        HookCommand::Cursor(args) => (AgentHost::Cursor, args),
        HookCommand::Install(args) => {
            return exit_code(terminal, install::install(server, terminal, &args));
        }
        HookCommand::Uninstall(args) => {
            return exit_code(terminal, install::uninstall(terminal, &args));
        }
        HookCommand::Test(args) => {
            return exit_code(terminal, sample::run(server, terminal, &args).await);
        }
    };
    let server = server.to_owned();
    let said = deny_in_time(host, args.wait);
    // A task of its own, so that a panic is an error like any other.
    #[expect(
        clippy::disallowed_methods,
        reason = "it is awaited at once, and ends with the program"
    )]
    let answered = tokio::spawn(async move { answer(&server, host, &args).await }).await;
    let (reply, failed) = match answered {
        Ok(Ok(reply)) => (reply, false),
        Ok(Err(error)) => (HookReply::deny(&format!("{error:#}")), true),
        Err(_) => (HookReply::deny("the hook itself failed; please report this"), true),
    };
    // The last word is another's already, and ends this process.
    if said.swap(true, Ordering::SeqCst) {
        loop {
            std::thread::park();
        }
    }
    ExitCode::from(print(host, &reply, failed))
}

/// Denies on a thread of its own if nothing was said in time. What reads standard input, files or names can block for ever, and an
/// agent whose own time is up lets the call run.
fn deny_in_time(host: AgentHost, wait: Duration) -> Arc<AtomicBool> {
    let said = Arc::new(AtomicBool::new(false));
    let seen = said.clone();
    let watch = move || {
        std::thread::sleep(wait + LAST_WORD);
        if !seen.swap(true, Ordering::SeqCst) {
            let reply = HookReply::deny("the call was not decided in time; try again");
            std::process::exit(i32::from(print(host, &reply, true)));
        }
    };
    // Without the thread nobody watches, so the answer is no.
    if let Err(error) = std::thread::Builder::new().name("hook-deadline".into()).spawn(watch) {
        let reply = HookReply::deny(&format!("no thread can be started: {error}"));
        std::process::exit(i32::from(print(host, &reply, true)));
    }
    said
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
            host: AgentHost::Claude,
            session: session.to_owned(),
            use_id: prompt.tool_use_id,
            tool: prompt.tool_name,
            input: prompt.input,
            directory,
            subagent: None,
        };
        let args = HookRunArgs { wait, defer: false };
        decide::decide(client, &proposal, &args).await
    };
    match decided.await {
        Ok(HookReply::Allow(call)) => {
            PermissionDecision::Allow(call.input().cloned().unwrap_or(asked))
        }
        Ok(HookReply::Deny(why) | HookReply::Defer(why)) => PermissionDecision::Deny(why),
        Err(error) => {
            PermissionDecision::Deny(format!("Holdpoint did not let this pass: {error:#}"))
        }
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

fn exit_code(terminal: &Terminal, ended: anyhow::Result<exit::Exit>) -> ExitCode {
    match ended {
        Ok(exit) => ExitCode::from(exit.code()),
        Err(error) => {
            terminal.error(&format!("{error:#}"));
            ExitCode::from(exit::of_error(&error).code())
        }
    }
}

/// Prints what the agent understands and returns the exit code. After an error both say no.
fn print(host: AgentHost, reply: &HookReply, failed: bool) -> u8 {
    let printed = reply.spell(host).map_err(std::io::Error::from).and_then(|out| {
        let out = out.map(|out| out + "\n").unwrap_or_default();
        std::io::stdout().write_all(out.as_bytes())?;
        std::io::stdout().flush()
    });
    match reply {
        HookReply::Deny(reason) if failed || printed.is_err() => {
            let _ = writeln!(std::io::stderr(), "{reason}");
            BLOCKED
        }
        // An approval that could not be said is none.
        _ if printed.is_err() => BLOCKED,
        _ => 0,
    }
}

async fn answer(server: &str, host: AgentHost, args: &HookRunArgs) -> anyhow::Result<HookReply> {
    let input = read_stdin()?;
    let here = std::env::current_dir().context("the current directory cannot be read")?;
    let proposal = HookProposal::read(host, &input, Some(&here))?;
    let client = Client::new(server)?;
    decide::decide(&client, &proposal, args).await
}

fn read_stdin() -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut stdin = std::io::stdin().lock();
    (&mut stdin)
        .take(STDIN_BYTES_MAX + 1)
        .read_to_end(&mut bytes)
        .context("the agent's call cannot be read from standard input")?;
    // An agent that cannot hand all of it over may take the hook for failed, and let the call run.
    let _ = std::io::copy(&mut stdin, &mut std::io::sink());
    anyhow::ensure!(
        bytes.len() as u64 <= STDIN_BYTES_MAX,
        "the agent's call is longer than {STDIN_BYTES_MAX} bytes, more than people can judge"
    );
    Ok(bytes)
}
