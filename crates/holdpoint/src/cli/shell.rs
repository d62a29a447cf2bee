//! Completions and man pages, made from the definition of the commands.

use std::fs;
use std::io::Write as _;

use anyhow::Context as _;
use clap::CommandFactory as _;
use domain::visible::visible;

use super::args::{Cli, CompletionsArgs, ManArgs};
use super::exit::Exit;
use super::output::Terminal;

pub fn completions(args: &CompletionsArgs) -> anyhow::Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "holdpoint", &mut script);
    std::io::stdout().lock().write_all(&script)?;
    Ok(Exit::Done)
}

pub fn man(terminal: &Terminal, args: &ManArgs) -> anyhow::Result<Exit> {
    let shown = visible(&args.dir.display().to_string());
    fs::create_dir_all(&args.dir).with_context(|| format!("{shown} cannot be made"))?;
    let command = Cli::command().disable_help_subcommand(true);
    clap_mangen::generate_to(command, &args.dir)
        .with_context(|| format!("{shown} cannot be written to"))?;
    terminal.note(&format!("The man pages are in {shown}: man {shown}/holdpoint.1"));
    Ok(Exit::Done)
}
