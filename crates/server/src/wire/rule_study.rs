//! What the policy says of calls that nobody makes now.

use domain::digest::Digest;
use domain::id::{GrantId, HoldId};
use domain::json::Arguments;
use domain::policy::PolicyDecision;
use domain::time::Timestamp;
use engine::{ImaginedCall, RulingName};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use super::answer::bad_arguments;
use super::text::Text;
use super::whole::Whole;
use crate::problem::Problem;

/// A call to think of.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ImaginedCallBody {
    #[schemars(length(min = 1, max = 200))]
    tool: String,
    #[schemars(with = "serde_json::Map<String, Value>")]
    arguments: Box<RawValue>,
    /// The agent that would make it; none for an outside program.
    #[serde(default)]
    #[schemars(length(max = 200))]
    agent: Option<String>,
    /// As if a statement changed so many rows.
    #[serde(default)]
    #[schemars(with = "Option<u64>")]
    rows: Option<Whole>,
}

const NAME_CHARS_MAX: usize = 200;

impl ImaginedCallBody {
    pub(crate) fn parse(self) -> Result<ImaginedCall, Problem> {
        let is_long = |name: &str| name.chars().count() > NAME_CHARS_MAX;
        if self.tool.is_empty() || is_long(&self.tool) {
            return Err(Problem::invalid("tool", "name a tool"));
        }
        if self.agent.as_deref().is_some_and(is_long) {
            return Err(Problem::invalid("agent", "no agent has such a long name"));
        }
        let arguments = Arguments::parse(self.arguments.get().as_bytes())
            .map_err(|error| bad_arguments("arguments", &error))?;
        let rows = self.rows.map(|Whole(rows)| rows);
        Ok(ImaginedCall { tool: self.tool, agent: self.agent, arguments, rows })
    }
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Explained<'a> {
    #[schemars(extend("enum" = ["allow", "ask", "deny"]))]
    decision: &'static str,
    /// Null is the default.
    rule: Option<&'a str>,
    #[schemars(extend("enum" = ["low", "medium", "high", "critical"]))]
    risk: &'static str,
    in_doubt: bool,
    /// Whom it asks.
    ask: Option<AskedPeople<'a>>,
    /// A line for each rule, and last one for the verdict.
    why: &'a [String],
    /// What the rules were asked about.
    facts: &'a str,
    /// False: taken for a call of an outside program.
    known_tool: bool,
    /// Why the tool would not take the call, whatever the policy says.
    refused_by_tool: Option<&'a str>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct AskedPeople<'a> {
    roles: &'a [String],
    people: &'a [String],
    quorum: u32,
    exclude_requester: bool,
    refuse_made_logins: bool,
    expires_in_s: u64,
}

impl<'a> Explained<'a> {
    pub(crate) fn of(explained: &'a engine::Explained) -> Explained<'a> {
        let verdict = &explained.verdict;
        Explained {
            decision: RulingName::of(&verdict.decision).name(),
            rule: verdict.rule(),
            risk: verdict.risk.name(),
            in_doubt: verdict.in_doubt,
            ask: match &verdict.decision {
                PolicyDecision::Ask(ask) => Some(AskedPeople {
                    roles: &ask.roles,
                    people: &ask.people,
                    quorum: ask.quorum,
                    exclude_requester: ask.exclude_requester,
                    refuse_made_logins: ask.refuse_made_logins,
                    expires_in_s: ask.expires_ms / 1000,
                }),
                PolicyDecision::Allow | PolicyDecision::Deny => None,
            },
            why: &explained.why,
            facts: &explained.facts,
            known_tool: explained.is_known_tool,
            refused_by_tool: explained.refused_by_tool.as_deref(),
        }
    }
}

/// What the policy in force would have done with the calls of the last days.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PolicyReplay<'a> {
    days: u32,
    #[schemars(extend("format" = "date-time"))]
    since: Text<Timestamp>,
    policy: Text<Digest>,
    calls: u64,
    /// Those of which it says what was done.
    same: u64,
    /// The rest, the most frequent change first.
    changes: Vec<RulingChange<'a>>,
    /// False: there was more than is looked at, and the newest are missing.
    complete: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
struct RulingChange<'a> {
    tool: &'a str,
    #[schemars(extend("enum" = ["allow", "ask", "deny"]))]
    from: &'static str,
    #[schemars(extend("enum" = ["allow", "ask", "deny"]))]
    to: &'static str,
    /// That decides now; null is the default.
    rule: Option<&'a str>,
    count: u64,
    /// The newest hold about such a call.
    example: Option<Text<HoldId>>,
}

impl<'a> PolicyReplay<'a> {
    pub(crate) fn of(replay: &'a engine::PolicyReplay, days: u32) -> PolicyReplay<'a> {
        let change = |change: &'a engine::RulingChange| RulingChange {
            tool: &change.tool,
            from: change.from.name(),
            to: change.to.name(),
            rule: change.rule.as_deref(),
            count: change.count,
            example: change.example.map(Text),
        };
        PolicyReplay {
            days,
            since: Text(replay.since),
            policy: Text(replay.policy),
            calls: replay.calls,
            same: replay.same,
            changes: replay.changes.iter().map(change).collect(),
            complete: replay.is_complete,
        }
    }
}

/// What a grant would have covered in the last 30 days, among the holds that the caller may see.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct GrantMatches<'a> {
    grant: Text<GrantId>,
    #[schemars(extend("format" = "date-time"))]
    since: Text<Timestamp>,
    /// Holds about calls of its tool.
    looked_at: usize,
    /// Of these, those that it covers.
    count: usize,
    /// The newest of them.
    matches: Vec<GrantMatch<'a>>,
    /// False: there were more than are looked at.
    complete: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
struct GrantMatch<'a> {
    hold: Text<HoldId>,
    title: &'a str,
    #[schemars(extend("enum" = ["pending", "approved", "denied", "answered", "expired", "cancelled"]))]
    state: &'static str,
    agent: Option<&'a str>,
    #[schemars(extend("format" = "date-time"))]
    opened_at: Text<Timestamp>,
}

impl<'a> GrantMatches<'a> {
    pub(crate) fn of(found: &'a engine::GrantMatches) -> GrantMatches<'a> {
        let covered = found.newest.iter().map(|hold| GrantMatch {
            hold: Text(hold.id),
            title: &hold.title,
            state: hold.state.name(),
            agent: hold.agent(),
            opened_at: Text(hold.opened_at),
        });
        GrantMatches {
            grant: Text(found.grant.id),
            since: Text(found.since),
            looked_at: found.looked_at,
            count: found.count,
            matches: covered.collect(),
            complete: found.is_complete,
        }
    }
}
