//! Every command and option, as they are typed.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use domain::digest::Digest;
use domain::id::{HoldId, TokenId};

use super::duration;

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

/// Show one hold, whole.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  holdpoint show hold_01jd3kq8v2m4x6z8a0c2e4g6j8")]
pub struct ShowArgs {
    /// The id of the hold.
    pub id: HoldId,
    /// Print the hold as the API gives it.
    #[arg(long)]
    pub json: bool,
}

/// Approve one call, after showing exactly what will run.
///
/// On a terminal you are asked to confirm. Elsewhere name what you have seen with --digest, which
/// `show` prints; if the call has changed since, nothing is approved.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  holdpoint approve hold_01jd3kq8v2m4x6z8a0c2e4g6j8\n  holdpoint approve hold_01jd3kq8v2m4x6z8a0c2e4g6j8 --digest sha256:9f86d0… --note 'checked with Bo'"
)]
pub struct ApproveArgs {
    /// The id of the hold.
    pub id: HoldId,
    /// The digest of what you were shown. With it, nothing more is asked.
    #[arg(long, value_name = "SHA256")]
    pub digest: Option<Digest>,
    /// Approve the very same call for the rest of its session too.
    #[arg(long)]
    pub session: bool,
    /// Approve with these arguments instead: a JSON object. They are checked and ruled on again.
    #[arg(long, value_name = "JSON")]
    pub edit: Option<String>,
    /// A remark for the record.
    #[arg(long, value_name = "TEXT")]
    pub note: Option<String>,
    /// Print the hold as the API gives it.
    #[arg(long)]
    pub json: bool,
}

/// Deny one hold of any kind.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  holdpoint deny hold_01jd3kq8v2m4x6z8a0c2e4g6j8 --reason 'wrong table'"
)]
pub struct DenyArgs {
    /// The id of the hold.
    pub id: HoldId,
    /// Why; the agent is told.
    #[arg(long, value_name = "TEXT")]
    pub reason: String,
    /// End the run as well.
    #[arg(long)]
    pub stop: bool,
    /// Print the hold as the API gives it.
    #[arg(long)]
    pub json: bool,
}

/// Answer one hold. Alone, on a terminal, it offers a menu or walks through the form.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  holdpoint answer hold_01jd3kq8v2m4x6z8a0c2e4g6j8\n  holdpoint answer hold_01jd3kq8v2m4x6z8a0c2e4g6j8 --choose Canary\n  holdpoint answer hold_01jd3kq8v2m4x6z8a0c2e4g6j8 --fill '{\"region\":\"eu\"}'"
)]
#[command(group = clap::ArgGroup::new("what").multiple(false))]
pub struct AnswerArgs {
    /// The id of the hold.
    pub id: HoldId,
    /// An option, by number or label; repeat it to choose several.
    #[arg(long, group = "what", value_name = "OPTION")]
    pub choose: Vec<String>,
    /// The filled form.
    #[arg(long, group = "what", value_name = "JSON")]
    pub fill: Option<String>,
    /// What really happened to a call whose outcome is unknown.
    #[arg(long, group = "what", value_name = "HOW")]
    pub settle: Option<SettleHow>,
    /// Answer in the tool's place: the agent gets this text and nothing runs.
    #[arg(long, group = "what", value_name = "TEXT")]
    pub respond: Option<String>,
    /// The result of what you did yourself.
    #[arg(long, group = "what", value_name = "TEXT")]
    pub perform: Option<String>,
    /// With --settle: what the call gave.
    #[arg(long, value_name = "TEXT", requires = "settle",
          conflicts_with_all = ["choose", "fill", "respond", "perform"])]
    pub content: Option<String>,
    /// With --perform: it went wrong, and the text says how.
    #[arg(long, requires = "perform", conflicts_with_all = ["choose", "fill", "settle", "respond"])]
    pub error: bool,
    /// The digest of what you were shown; if the question has changed since, nothing is answered.
    #[arg(long, value_name = "SHA256")]
    pub digest: Option<Digest>,
    /// Print the hold as the API gives it.
    #[arg(long)]
    pub json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SettleHow {
    Succeeded,
    Failed,
    Retry,
}

impl SettleHow {
    pub fn name(self) -> &'static str {
        match self {
            SettleHow::Succeeded => "succeeded",
            SettleHow::Failed => "failed",
            SettleHow::Retry => "retry",
        }
    }
}

/// Ask people a question and print the answer, one line for each thing chosen.
///
/// Characters that could mislead a terminal are written as their code points; --json gives the
/// exact text.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  holdpoint ask 'Which strategy?' --option Blue-Green --option Canary --to dba --timeout 5m\n  holdpoint ask 'What is the ticket number?'"
)]
pub struct AskArgs {
    /// One line that says what is asked.
    #[arg(value_name = "QUESTION")]
    pub question: String,
    /// One answer to choose from; repeat it. Without any, people answer in their own words.
    #[arg(long = "option", value_name = "LABEL")]
    pub options: Vec<String>,
    /// Several options may be chosen.
    #[arg(long, requires = "options")]
    pub multiple: bool,
    /// Another answer than the options may be given.
    #[arg(long, requires = "options")]
    pub other: bool,
    #[command(flatten)]
    pub asking: Asking,
    /// Print the decided hold as the API gives it.
    #[arg(long)]
    pub json: bool,
}

/// Run a command only after approval: exactly that command, in this directory.
///
/// The exit code is the command's own once it runs. Before that: 10 denied, 11 expired,
/// 12 cancelled, 13 nobody could be asked, 130 interrupted; a command that uses these itself cannot
/// be told apart by its code. An approval with edited arguments is refused. The command does not
/// get HOLDPOINT_TOKEN.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  holdpoint gate --title 'Deploy 1.4.2' --to oncall -- kubectl apply -f prod.yaml"
)]
pub struct GateArgs {
    /// What it is about. Default: the command itself.
    #[arg(long, value_name = "TEXT")]
    pub title: Option<String>,
    #[command(flatten)]
    pub asking: Asking,
    /// The command and its arguments, after `--`.
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}

// Whom to ask, and for how long. No doc comment: it would replace that of the command.
#[derive(Debug, Default, Args)]
pub struct Asking {
    /// A role, or a person as @name; repeat it. Policy may narrow it, never widen it.
    #[arg(long = "to", value_name = "ROLE|@PERSON")]
    pub to: Vec<String>,
    /// Give up after this time. Default: what the policy says.
    #[arg(long, value_parser = duration::parse, value_name = "TIME")]
    pub timeout: Option<Duration>,
    /// How much care it needs. Policy may raise it.
    #[arg(long, value_name = "RISK", value_parser = ["low", "medium", "high", "critical"])]
    pub risk: Option<String>,
}

#[derive(Debug, Subcommand)]
pub enum PolicyCommand {
    Check(PolicyCheckArgs),
    Explain(PolicyExplainArgs),
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
    /// The configuration.
    #[arg(long, default_value = "holdpoint.toml", value_name = "FILE")]
    pub config: PathBuf,
    /// Print JSON.
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
    #[arg(long, value_name = "KEY|FILE")]
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

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;
    use clap::error::ErrorKind;

    use super::*;

    const HOLD: &str = "hold_01jd3kq8v2m4x6z8a0c2e4g6j8";

    fn parse(line: &str) -> Result<Cli, clap::Error> {
        Cli::try_parse_from(std::iter::once("holdpoint").chain(line.split_whitespace()))
    }

    fn refused(line: &str) -> ErrorKind {
        match parse(line) {
            Ok(cli) => panic!("{line} was taken: {:?}", cli.command),
            Err(error) => {
                assert_eq!(error.exit_code(), 2, "{line}");
                error.kind()
            }
        }
    }

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_command_says_what_it_does_and_gives_an_example() {
        fn visit(command: &mut clap::Command, path: &str) {
            let path = format!("{path} {}", command.get_name());
            assert!(command.get_about().is_some(), "{path} does not say what it does");
            let help = command.render_long_help().to_string();
            if command.has_subcommands() {
                let written = command.get_subcommands_mut();
                written
                    .filter(|inner| inner.get_name() != "help")
                    .for_each(|inner| visit(inner, &path));
            } else {
                assert!(help.contains("Example"), "{path} gives no example");
                assert!(help.contains(&format!("\n  {path}")), "{path}: {help}");
            }
        }
        let mut command = Cli::command();
        command.build();
        let mut names: Vec<&str> = command.get_subcommands().map(clap::Command::get_name).collect();
        names.sort_unstable();
        assert_eq!(
            names,
            [
                "answer", "approve", "ask", "audit", "demo", "deny", "doctor", "freeze", "gate",
                "help", "policy", "serve", "show", "token"
            ]
        );
        for inner in command.get_subcommands_mut().filter(|inner| inner.get_name() != "help") {
            visit(inner, "holdpoint");
        }
    }

    #[test]
    fn examples_parse() {
        for line in [
            "demo --listen 127.0.0.1:0 --data /tmp/x --doors --json",
            "serve",
            "show hold_01jd3kq8v2m4x6z8a0c2e4g6j8 --json",
            "deny hold_01jd3kq8v2m4x6z8a0c2e4g6j8 --reason no --stop",
            "answer hold_01jd3kq8v2m4x6z8a0c2e4g6j8 --choose A --choose B",
            "answer hold_01jd3kq8v2m4x6z8a0c2e4g6j8 --settle failed --content x",
            "answer hold_01jd3kq8v2m4x6z8a0c2e4g6j8 --perform done --error",
            "ask What? --option A --option B --multiple --other --to dba --to @ana --timeout 5m",
            "policy check holdpoint.toml",
            "policy explain --tool t --args {}",
            "audit verify x.jsonl --key k --checkpoint c",
            "token create --program ci --scope ask,run --expires 30d",
            "token login ana",
            "freeze --reason x",
            "freeze",
            "doctor --json",
        ] {
            assert!(parse(line).is_ok(), "{line}: {}", parse(line).unwrap_err());
        }
    }

    #[test]
    fn what_makes_no_sense_is_refused_as_usage() {
        assert_eq!(refused("show ses_01jd3kq8v2m4x6z8a0c2e4g6j8"), ErrorKind::ValueValidation);
        assert_eq!(refused(&format!("deny {HOLD}")), ErrorKind::MissingRequiredArgument);
        assert_eq!(
            refused(&format!("answer {HOLD} --choose A --respond B")),
            ErrorKind::ArgumentConflict
        );
        assert_eq!(
            refused(&format!("answer {HOLD} --choose A --error")),
            ErrorKind::ArgumentConflict
        );
        assert_eq!(refused(&format!("answer {HOLD} --error")), ErrorKind::MissingRequiredArgument);
        assert_eq!(refused(&format!("approve {HOLD} --digest abc")), ErrorKind::ValueValidation);
        assert_eq!(refused("ask What? --multiple"), ErrorKind::MissingRequiredArgument);
        assert_eq!(refused("ask What? --timeout 5"), ErrorKind::ValueValidation);
        assert_eq!(refused("gate echo hi"), ErrorKind::UnknownArgument);
        assert_eq!(refused("gate"), ErrorKind::MissingRequiredArgument);
        assert_eq!(refused("token create --scope ask"), ErrorKind::MissingRequiredArgument);
        assert_eq!(
            refused("token create --person a --program b --scope ask"),
            ErrorKind::ArgumentConflict
        );
        assert_eq!(refused("token create --person a --scope rule"), ErrorKind::InvalidValue);
        assert_eq!(refused("freeze --off --reason x"), ErrorKind::ArgumentConflict);
        assert_eq!(refused(""), ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand);
    }

    #[test]
    fn a_gated_command_keeps_its_own_options() {
        let cli = parse("gate --title T -- rm --title X -- y").unwrap();
        let Command::Gate(args) = cli.command else { panic!("not a gate") };
        assert_eq!(args.command, ["rm", "--title", "X", "--", "y"]);
        assert_eq!(args.title.as_deref(), Some("T"));
    }
}
