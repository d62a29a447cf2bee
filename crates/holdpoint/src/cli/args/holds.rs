//! Commands about one hold, and those that open one.

use std::ffi::OsString;
use std::time::Duration;

use clap::{Args, ValueEnum};
use domain::digest::Digest;

use crate::cli::duration;
use crate::cli::hold_ref::HoldRef;

/// List holds, one line each: those that wait for an answer, unless you say otherwise.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  holdpoint list\n  holdpoint list --watch --mine\n  holdpoint list --state denied --json\n  holdpoint list --state decided --decided-by ana --search orders"
)]
pub struct ListArgs {
    /// How they stand.
    #[arg(long, value_name = "STATE", default_value = "pending",
          value_parser = ["pending", "approved", "denied", "answered", "expired", "cancelled", "decided", "all"])]
    pub state: String,
    /// Only what you may answer now.
    #[arg(long)]
    pub mine: bool,
    /// Only of this agent.
    #[arg(long, value_name = "ID")]
    pub agent: Option<String>,
    /// Only calls of this tool.
    #[arg(long, value_name = "NAME")]
    pub tool: Option<String>,
    /// Only what this person decided, alone or with others.
    #[arg(long, value_name = "PERSON")]
    pub decided_by: Option<String>,
    /// Only of this session.
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// Only of this kind.
    #[arg(long, value_name = "KIND", value_parser = ["approve", "choose", "fill", "perform", "settle"])]
    pub kind: Option<String>,
    /// Only of this risk.
    #[arg(long, value_name = "RISK", value_parser = ["low", "medium", "high", "critical"])]
    pub risk: Option<String>,
    /// Only with this text in them.
    #[arg(long, value_name = "TEXT")]
    pub search: Option<String>,
    /// In which order; `urgency` is what expires first, of open ones.
    #[arg(long, value_name = "ORDER", default_value = "newest", value_parser = ["newest", "oldest", "urgency"])]
    pub sort: String,
    /// At most so many.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub limit: u32,
    /// Go on: one line for each hold that comes, and for each that goes. Ctrl-C ends it.
    #[arg(long)]
    pub watch: bool,
    /// Print the holds as the API gives them: a list, or with --watch one line for each change.
    #[arg(long)]
    pub json: bool,
}

/// Tell the others that you look after a hold, or that you no longer do.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  holdpoint claim 7Q2\n  holdpoint claim 7Q2 --release")]
pub struct ClaimArgs {
    /// The id of the hold, or its tag while it is pending.
    pub id: HoldRef,
    /// Give it back.
    #[arg(long)]
    pub release: bool,
    /// Print the hold as the API gives it.
    #[arg(long)]
    pub json: bool,
}

/// Say something to the others about a hold. It decides nothing, and no agent reads it.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  holdpoint comment 7Q2 'is this the staging database? @ben'\n  holdpoint comment hold_01jd3kq8v2m4x6z8a0c2e4g6j8 'it was the right table'"
)]
pub struct CommentArgs {
    /// The id of the hold, or its tag while it is pending.
    pub id: HoldRef,
    /// `@id` tells that person, if they may see the hold.
    pub text: String,
    /// Print the hold as the API gives it.
    #[arg(long)]
    pub json: bool,
}

/// Show one hold, whole.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  holdpoint show 7Q2\n  holdpoint show hold_01jd3kq8v2m4x6z8a0c2e4g6j8"
)]
pub struct ShowArgs {
    /// The id of the hold, or its tag while it is pending.
    pub id: HoldRef,
    /// Show its secrets, too. You must be one of those who may answer, and the log says that you looked.
    #[arg(long)]
    pub reveal: bool,
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
    after_help = "Examples:\n  holdpoint approve 7Q2\n  holdpoint approve hold_01jd3kq8v2m4x6z8a0c2e4g6j8 --digest sha256:9f86d0… --note 'checked with Bo'"
)]
pub struct ApproveArgs {
    /// The id of the hold, or its tag while it is pending.
    pub id: HoldRef,
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
    /// The id of the hold, or its tag while it is pending.
    pub id: HoldRef,
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
    /// The id of the hold, or its tag while it is pending.
    pub id: HoldRef,
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
