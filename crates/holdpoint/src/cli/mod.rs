//! The command line: a client of a running server, and a few things that need none.
//!
//! Nothing here decides anything. It shows a person what the server holds, takes what they say, and
//! passes it on; whether an answer counts is judged in `domain`. Whatever comes from the server is
//! made visible before it is printed, because it may quote a model.

pub mod answer;
pub mod args;
pub mod ask;
pub mod audit;
pub mod card;
mod channel_reach;
pub mod channels;
pub mod client;
pub mod doctor;
pub mod duration;
pub mod exit;
mod foreign_lines;
pub mod form;
pub mod freeze;
pub mod gate;
pub mod hold_ref;
pub mod hook;
pub mod init;
pub mod json;
pub mod list;
pub mod login;
pub mod mcp;
pub mod menu;
pub mod output;
pub mod policy;
pub mod problem;
pub mod prompt;
pub mod reply;
pub mod reply_state;
pub mod shell;
pub mod token;
pub mod token_store;
pub mod waiting;

use std::process::ExitCode;

pub use args::Cli;
use args::{
    AuditCommand, ChannelsCommand, CliCommand, PolicyCommand, ReplyCommand, SERVER_DEFAULT,
};
use clap::Parser as _;
use client::Client;
use exit::Exit;
use output::Terminal;

/// How long threads that wait for the system may take when all work is done.
const LEAVES_WITHIN: std::time::Duration = std::time::Duration::from_secs(2);

/// The whole program.
pub fn main() -> ExitCode {
    // Not a command for people: this process only watches over one child of a server.
    if std::env::args_os().nth(1).is_some_and(|first| first == crate::wiring::SUPERVISE) {
        return tools::process::supervise();
    }
    let cli = Cli::parse();
    match crate::threads::runtime() {
        Ok(runtime) => {
            let exit = runtime.block_on(run(cli));
            // What must be on disk is there. A thread that hangs in a file or a lock of somebody else's keeps no
            // process alive that was told to end.
            runtime.shutdown_timeout(LEAVES_WITHIN);
            exit
        }
        Err(error) => {
            eprintln!("holdpoint: no threads are to be had: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Runs one command to its end and says how the process is to exit.
pub async fn run(cli: Cli) -> ExitCode {
    let terminal = Terminal::here();
    match dispatch(cli, &terminal).await {
        Ok(code) => code,
        Err(error) if output::is_broken_pipe(&error) => ExitCode::from(Exit::Failed.code()),
        Err(error) => {
            terminal.error(&format!("{error:#}"));
            ExitCode::from(exit::of_error(&error).code())
        }
    }
}

async fn dispatch(cli: Cli, terminal: &Terminal) -> anyhow::Result<ExitCode> {
    let server = cli.server.as_deref().unwrap_or(SERVER_DEFAULT);
    let client = || Client::new(server);
    let exit = match cli.command {
        CliCommand::Demo(args) => return Box::pin(crate::demo::run(args)).await,
        CliCommand::Serve(args) => return Box::pin(crate::serve::run(args)).await,
        CliCommand::Init(args) => init::run(terminal, &args),
        CliCommand::Login(args) => login::login(server, terminal, &args).await,
        CliCommand::Logout(args) => login::logout(server, terminal, &args),
        CliCommand::List(args) => list::run(&client()?, terminal, &args).await,
        CliCommand::Claim(args) => answer::claim(&client()?, terminal, &args).await,
        CliCommand::Comment(args) => answer::comment(&client()?, terminal, &args).await,
        CliCommand::Show(args) => answer::show(&client()?, terminal, &args).await,
        CliCommand::Approve(args) => answer::approve(&client()?, terminal, &args).await,
        CliCommand::Deny(args) => answer::deny(&client()?, terminal, &args).await,
        CliCommand::Answer(args) => answer::answer(&client()?, terminal, &args).await,
        CliCommand::Ask(args) => ask::run(&client()?, terminal, &args).await,
        CliCommand::Gate(args) => gate::run(&client()?, terminal, &args).await,
        CliCommand::Mcp(command) => mcp::run(&client()?, terminal, command).await,
        CliCommand::Hook(command) => return Ok(hook::run(server, terminal, command).await),
        CliCommand::Policy(PolicyCommand::Check(args)) => policy::check(terminal, &args),
        CliCommand::Policy(PolicyCommand::Explain(args)) => policy::explain(terminal, &args),
        CliCommand::Policy(PolicyCommand::Test(args)) => policy::test(terminal, &args),
        CliCommand::Channels(ChannelsCommand::Check(args)) => {
            channels::check(terminal, &args).await
        }
        CliCommand::Reply(ReplyCommand::Explain(args)) => reply::explain(terminal, &args),
        CliCommand::Audit(AuditCommand::Export(args)) => {
            audit::export(&client()?, terminal, &args).await
        }
        CliCommand::Audit(AuditCommand::Verify(args)) => audit::verify(terminal, &args),
        CliCommand::Token(command) => token::run(&client()?, terminal, &command).await,
        CliCommand::Freeze(args) => freeze::run(&client()?, terminal, &args).await,
        CliCommand::Doctor(args) => doctor::run(cli.server.as_deref(), terminal, &args).await,
        CliCommand::Completions(args) => shell::completions(&args),
        CliCommand::Man(args) => shell::man(terminal, &args),
    }?;
    Ok(ExitCode::from(exit.code()))
}
