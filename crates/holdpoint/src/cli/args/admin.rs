//! Commands for those who look after a server: rules, log, tokens, the switch.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};
use domain::id::TokenId;

use crate::cli::duration;
use crate::config::PolicySource;

#[derive(Debug, Subcommand)]
pub enum PolicyCommand {
    Check(PolicyCheckArgs),
    Explain(PolicyExplainArgs),
    Test(PolicyTestArgs),
}

/// Read a configuration file and say what is wrong with it, by line.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  holdpoint policy check holdpoint.toml")]
pub struct PolicyCheckArgs {
    /// The configuration.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Print the findings as JSON.
    #[arg(long)]
    pub json: bool,
}

/// Say which rule decides about a call, and why the ones before it do not.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  holdpoint policy explain --tool sql_modify --args '{\"sql\":\"DELETE FROM orders\"}'"
)]
pub struct PolicyExplainArgs {
    /// The tool that is called.
    #[arg(long, value_name = "NAME")]
    pub tool: String,
    /// The arguments of the call, a JSON object.
    #[arg(long, value_name = "JSON", default_value = "{}")]
    pub args: String,
    /// The agent that makes the call.
    #[arg(long, value_name = "ID")]
    pub agent: Option<String>,
    /// Suppose that the SQL statement changes so many rows: without a database they are not counted.
    #[arg(long, value_name = "N")]
    pub rows: Option<u64>,
    /// The configuration, or `builtin:coding-agent` for the rules that come with the program.
    #[arg(long, default_value = "holdpoint.toml", value_name = "FILE")]
    pub config: PolicySource,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// Put cases to the rules, and say which of them come out otherwise than expected. No server is needed.
///
/// Cases stand in a TOML file: calls, and what the rules are expected to say to each.
#[derive(Debug, Args)]
#[command(after_help = POLICY_TEST_HELP)]
pub struct PolicyTestArgs {
    /// The configuration, or `builtin:coding-agent` for the rules that come with the program.
    #[arg(value_name = "FILE", default_value = "holdpoint.toml")]
    pub policy: PolicySource,
    /// The cases; repeat it for several files. Default: `holdpoint.test.toml` beside `holdpoint.toml`.
    #[arg(long, value_name = "FILE")]
    pub cases: Vec<PolicySource>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

const POLICY_TEST_HELP: &str = "\
Examples:
  holdpoint policy test holdpoint.toml
  holdpoint policy test holdpoint.toml --cases deploys.test.toml --json
  holdpoint policy test builtin:coding-agent

A file of cases:
  [[cases]]
  name = \"deletes need a dba\"
  tool = \"sql_modify\"
  arguments = { sql = \"DELETE FROM orders\" }
  decision = \"ask\"
  rule = \"deletes need two\"
  ask = { roles = [\"dba\"], quorum = 2 }

  [[cases]]
  name = \"a coding agent may not push unasked\"
  tool = \"Bash\"
  input = { command = \"git push\" }
  decision = \"ask\"

Exit code 0: every case came out as expected; 1: a case did not, or a file has a mistake.";

#[derive(Debug, Subcommand)]
pub enum ChannelsCommand {
    Check(ChannelsCheckArgs),
}

/// Ask each channel of a configuration whether it works: credentials, permissions, subscriptions.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  holdpoint channels check --config holdpoint.toml")]
pub struct ChannelsCheckArgs {
    /// Only this channel.
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
    /// The configuration.
    #[arg(long, default_value = "holdpoint.toml", value_name = "FILE")]
    pub config: PathBuf,
    /// Print the findings as JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Subcommand)]
pub enum ReplyCommand {
    Explain(ReplyExplainArgs),
}

/// Say whether a text in a chat would confirm, cancel or choose, and why.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  holdpoint reply explain \"yes please\"\n  holdpoint reply explain 7k3f --context '{\"code\":\"7K3F\",\"weak_ok\":false}'\n  echo '{\"text\":\"2\",\"ctx\":{\"kind\":\"choice\",\"options\":[\"Keep\",\"Drop\"]}}' | holdpoint reply explain --json"
)]
pub struct ReplyExplainArgs {
    /// The reply. Without it, and with --json, lines {"text":…,"ctx":…} are read from standard input.
    #[arg(value_name = "TEXT", allow_hyphen_values = true, required_unless_present = "json")]
    pub text: Option<String>,
    /// What was asked, a JSON object: kind (confirm, choice), options, multi, numbered, code, weak_ok,
    /// reserved, mentions, attachment, formatted. Default: a question for yes or no, small enough for an "ok".
    #[arg(long, value_name = "JSON", requires = "text")]
    pub context: Option<String>,
    /// Print one JSON object for each reply.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Subcommand)]
pub enum AuditCommand {
    Export(AuditExportArgs),
    Verify(AuditVerifyArgs),
}

/// Write the whole audit log of the server as JSON Lines.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  holdpoint audit export --out audit.jsonl")]
pub struct AuditExportArgs {
    /// A file that does not exist yet. Default: standard output.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Print JSON about what was written to the file; the log itself is JSON in any case.
    #[arg(long, requires = "out")]
    pub json: bool,
}

/// Verify an exported audit log offline: every entry, the chain, and the signed checkpoints.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  holdpoint audit verify audit.jsonl --key audit.pub --checkpoint last-month.json"
)]
pub struct AuditVerifyArgs {
    /// The export.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The public key that you got another way, as text or in a file. Without it the key in the
    /// export is taken on trust.
    // One key in sixty-four begins with a hyphen.
    #[arg(long, value_name = "KEY|FILE", allow_hyphen_values = true)]
    pub key: Option<String>,
    /// A checkpoint that you kept: the log must contain it, so nobody can have rewritten what was
    /// before it.
    #[arg(long, value_name = "FILE")]
    pub checkpoint: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Subcommand)]
pub enum TokenCommand {
    Create(TokenCreateArgs),
    List(TokenListArgs),
    Revoke(TokenRevokeArgs),
    Login(TokenLoginArgs),
}

/// Create a token. It is printed once and cannot be shown again.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  holdpoint token create --program ci --scope ask --expires 30d --note 'deploy pipeline'\n  holdpoint token create --person ana --scope answer"
)]
#[command(group = clap::ArgGroup::new("owner").required(true).multiple(false))]
pub struct TokenCreateArgs {
    /// For a person of the configuration, who can then answer with it.
    #[arg(long, group = "owner", value_name = "ID")]
    pub person: Option<String>,
    /// For a program of this name, which can never answer.
    #[arg(long, group = "owner", value_name = "NAME")]
    pub program: Option<String>,
    /// What it may do; repeat it, or separate with commas.
    #[arg(long = "scope", required = true, value_delimiter = ',', value_name = "SCOPE",
          value_parser = ["ask", "answer", "run", "admin"])]
    pub scopes: Vec<String>,
    /// How long it is good for. Default: until revoked.
    #[arg(long, value_parser = duration::parse, value_name = "TIME")]
    pub expires: Option<Duration>,
    /// What it is for.
    #[arg(long, value_name = "TEXT")]
    pub note: Option<String>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// List tokens; their secrets are not kept and cannot be shown.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  holdpoint token list")]
pub struct TokenListArgs {
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// Revoke a token, at once.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  holdpoint token revoke tok_01jd3kq8v2m4x6z8a0c2e4g6j8")]
pub struct TokenRevokeArgs {
    /// The id of the token, as `token list` shows it.
    pub id: TokenId,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// Make a fresh one-time login link for a person.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  holdpoint token login ana")]
pub struct TokenLoginArgs {
    /// The person's id in the configuration.
    #[arg(value_name = "PERSON")]
    pub person: String,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// Stop every call from starting, lift that again, or say how it stands.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  holdpoint freeze --reason 'the agent is looping'\n  holdpoint freeze --off\n  holdpoint freeze"
)]
pub struct FreezeArgs {
    /// Freeze, and say why.
    #[arg(long, value_name = "TEXT", conflicts_with = "off")]
    pub reason: Option<String>,
    /// Lift the freeze.
    #[arg(long)]
    pub off: bool,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// Look for what is wrong with a set-up, and say how to mend it.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  holdpoint doctor --config holdpoint.toml")]
pub struct DoctorArgs {
    /// Also check this configuration. Default: holdpoint.toml, if there is one here.
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}
