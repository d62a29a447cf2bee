//! Commands that make a terminal comfortable: a kept token, completions, man pages.

use std::path::PathBuf;

use clap::Args;
use clap_complete::Shell;

/// Keep a token for a server, so that HOLDPOINT_TOKEN need not be set.
///
/// Without a link it asks for a token, or reads one from standard input. With the link that `serve` prints
/// at its first start, or that `holdpoint token login` makes for an admin, it makes a token of its own.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  holdpoint login\n  holdpoint login 'http://127.0.0.1:7420/login?code=…'\n  holdpoint login --server https://holdpoint.example.com < token.txt"
)]
pub struct LoginArgs {
    /// A login link. It is used up.
    #[arg(value_name = "LINK")]
    pub link: Option<String>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// Forget the token that `login` kept for a server. It stays valid: `token revoke` ends it.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  holdpoint logout --server https://holdpoint.example.com")]
pub struct LogoutArgs {
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// Print completions for a shell.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  holdpoint completions bash > ~/.local/share/bash-completion/completions/holdpoint\n  holdpoint completions fish > ~/.config/fish/completions/holdpoint.fish"
)]
pub struct CompletionsArgs {
    /// Which shell.
    #[arg(value_name = "SHELL")]
    pub shell: Shell,
}

/// Write man pages into a folder, one for each command.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  holdpoint man ~/.local/share/man/man1")]
pub struct ManArgs {
    /// Where to; it is made if it is not there.
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,
}
