//! The rest: agents, grants, tokens, logins, freezing, audit, and the caller itself.

use domain::event::{TokenOwner, TokenScope};
use domain::grant::Covers;
use domain::person::PersonId;
use domain::time::Timestamp;
use domain::visible::visible;
use engine::{AgentSetup, Engine};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::whole::Whole;
use crate::problem::Problem;
use crate::{AuditVerdict, Scenario};

/// Who the caller is.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Me {
    #[schemars(extend("enum" = ["person", "program"]))]
    pub(crate) kind: &'static str,
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) roles: Vec<String>,
    pub(crate) scopes: Vec<&'static str>,
    /// For the header `X-Holdpoint-CSRF`, when the caller came with a cookie.
    pub(crate) csrf: Option<String>,
    /// What to say to see something, when the server runs the demo.
    pub(crate) demo: Option<Vec<Scenario>>,
    pub(crate) agents: Vec<String>,
    pub(crate) warnings: Vec<String>,
    pub(crate) frozen: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Agent {
    id: String,
    tools: Vec<AgentTool>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct AgentTool {
    name: String,
    description: Option<String>,
    effects: Option<&'static str>,
}

impl Agent {
    pub(crate) fn of(agent: &AgentSetup, engine: &Engine) -> Agent {
        let tool = |name: &str| {
            let known = engine.tool(name);
            AgentTool {
                name: name.to_owned(),
                description: known.as_ref().map(|tool| tool.description.clone()),
                effects: known.map(|tool| tool.effects.name()),
            }
        };
        Agent {
            id: agent.id.to_string(),
            tools: engine.offered(&agent.id).iter().map(|name| tool(name)).collect(),
        }
    }
}

/// A standing grant.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Grant {
    id: String,
    session: String,
    tool: String,
    /// In words: what it covers.
    covers: String,
    /// The conditions on the arguments; null for the very same call only.
    args: Option<Vec<Value>>,
    by: String,
    hold: String,
    made_at: String,
    expires_at: String,
    uses_left: u32,
    revoked: bool,
}

impl Grant {
    pub(crate) fn of(grant: &domain::grant::Grant) -> Grant {
        let (covers, args) = match &grant.covers {
            Covers::Same(_) => ("the very same call".to_owned(), None),
            Covers::Stated(conditions) if conditions.specs().is_empty() => (
                format!("every call of `{}`, with any arguments", visible(&grant.tool)),
                Some(Vec::new()),
            ),
            Covers::Stated(conditions) => {
                let args = conditions.specs().iter().map(|spec| {
                    let mut condition = json!({"pointer": spec.pointer});
                    condition[spec.op.name()] = spec.op.operand();
                    condition
                });
                (conditions.to_string(), Some(args.collect()))
            }
        };
        Grant {
            id: grant.id.to_string(),
            session: grant.session.to_string(),
            tool: grant.tool.to_string(),
            covers,
            args,
            by: grant.by.to_string(),
            hold: grant.hold.to_string(),
            made_at: grant.made_at.to_string(),
            expires_at: grant.expires_at.to_string(),
            uses_left: grant.uses_left,
            revoked: grant.revoked,
        }
    }
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Token {
    pub(crate) id: String,
    /// The token itself: shown once, when it is made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) token: Option<String>,
    person: Option<String>,
    program: Option<String>,
    scopes: Vec<&'static str>,
    minted_by: String,
    minted_at: String,
    expires_at: Option<String>,
    note: Option<String>,
}

impl Token {
    pub(crate) fn of(token: &domain::event::Token) -> Token {
        let (person, program) = match &token.owner {
            TokenOwner::Person(id) => (Some(id.to_string()), None),
            TokenOwner::Program(name) => (None, Some(name.clone())),
        };
        Token {
            id: token.id.to_string(),
            token: None,
            person,
            program,
            scopes: token.scopes.iter().map(|scope| scope.name()).collect(),
            minted_by: token.minted_by.to_string(),
            minted_at: token.minted_at.to_string(),
            expires_at: token.expires_at.map(|at| at.to_string()),
            note: token.note.clone(),
        }
    }
}

/// For a `person` or for a `program`. A program's token never answers a hold.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("oneOf" = [
    {"required": ["person"], "properties": {"person": {"type": "string"}, "program": {"type": "null"}}},
    {
        "required": ["program"],
        "properties": {
            "program": {"type": "string"}, "person": {"type": "null"},
            "scopes": {"items": {"enum": ["ask", "run", "admin"]}},
        },
    },
]))]
pub(crate) struct NewToken {
    #[serde(default)]
    person: Option<String>,
    #[serde(default)]
    #[schemars(length(max = 200), regex(pattern = r"\S"))]
    program: Option<String>,
    #[schemars(length(min = 1), extend("items" = {"enum": ["ask", "answer", "run", "admin"]}))]
    scopes: Vec<String>,
    #[serde(default)]
    #[schemars(with = "Option<u64>", range(min = 1, max = 18_446_744_073_709_551_615_u64))]
    expires_in_s: Option<Whole>,
    #[serde(default)]
    #[schemars(length(max = 200))]
    note: Option<String>,
}

const NAME_BYTES_MAX: usize = 200;

impl NewToken {
    pub(crate) fn parse(self, now: Timestamp) -> Result<engine::NewToken, Problem> {
        let owner = match (self.person, self.program) {
            (Some(person), None) => TokenOwner::Person(PersonId::new(&person)),
            (None, Some(program)) if (1..=NAME_BYTES_MAX).contains(&program.trim().len()) => {
                TokenOwner::Program(program)
            }
            (None, Some(_)) => {
                return Err(Problem::invalid("program", "give the program a short name"));
            }
            _ => {
                return Err(Problem::invalid(
                    "person",
                    "say whose it is: a `person` or a `program`",
                ));
            }
        };
        let mut scopes = Vec::new();
        for name in &self.scopes {
            let scope = TokenScope::parse(name).ok_or_else(|| {
                Problem::invalid("scopes", "write some of `ask`, `answer`, `run`, `admin`")
            })?;
            if !scopes.contains(&scope) {
                scopes.push(scope);
            }
        }
        if scopes.is_empty() {
            return Err(Problem::invalid("scopes", "a token without a scope opens nothing"));
        }
        if self.note.as_ref().is_some_and(|note| note.len() > NAME_BYTES_MAX) {
            return Err(Problem::invalid("note", format!("is longer than {NAME_BYTES_MAX} bytes")));
        }
        let expires_in_s = self.expires_in_s.map(|Whole(seconds)| seconds);
        if expires_in_s == Some(0) {
            return Err(Problem::invalid("expires_in_s", "it would be expired at once"));
        }
        let expires_at = expires_in_s.map(|seconds| now.plus_ms(seconds.saturating_mul(1000)));
        Ok(engine::NewToken { owner, scopes, expires_at, note: self.note })
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct NewLogin {
    /// Somebody whom the configuration names.
    pub(crate) person: String,
    /// Where the login leads: a path of this site, such as `/holds/hold_…`.
    #[schemars(length(max = 256), regex(pattern = LOCAL_PATH))]
    pub(crate) next: Option<String>,
}

/// What [`is_local_path`](crate::login::is_local_path) takes: no empty part, and none that is `.` or `..`.
const LOCAL_PATH: &str = r"^/$|^(/(\.{0,2}[A-Za-z0-9_-][A-Za-z0-9_.-]*|\.{3}[A-Za-z0-9_.-]*))+/?$";

/// Somebody wants a login link sent to a person's own chat account.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct LinkWanted {
    pub(crate) person: String,
    /// Where the login leads: a path of this site, such as `/holds/hold_…`.
    #[serde(default)]
    #[schemars(length(max = 256), regex(pattern = LOCAL_PATH))]
    pub(crate) next: Option<String>,
}

/// The same for everybody, whether there is such a person or not.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct LinkPromised {
    detail: &'static str,
}

impl LinkPromised {
    pub(crate) fn new() -> LinkPromised {
        let detail = "if this person has a linked chat account, a login link is on its way there";
        LinkPromised { detail }
    }
}

/// A link that is good for one login.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Login {
    pub(crate) url: String,
    pub(crate) expires_at: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct NewFreeze {
    /// For those who find it frozen.
    #[schemars(length(max = 10_000), regex(pattern = r"\S"))]
    pub(crate) reason: String,
}

/// While frozen, no call starts.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Freeze {
    frozen: bool,
    by: Option<String>,
    reason: Option<String>,
}

impl Freeze {
    pub(crate) fn of(freeze: Option<domain::global_state::Freeze>) -> Freeze {
        Freeze {
            frozen: freeze.is_some(),
            by: freeze.as_ref().map(|freeze| freeze.by.to_string()),
            reason: freeze.map(|freeze| freeze.reason),
        }
    }
}

/// One commit of the journal.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct AuditEntry {
    pub(crate) seq: u64,
    /// Chained: covers this entry and all before it.
    pub(crate) hash: String,
    pub(crate) entry: Value,
}

impl AuditEntry {
    pub(crate) fn of(entry: &ports::store::AuditEntry) -> AuditEntry {
        AuditEntry {
            seq: entry.seq,
            hash: entry.hash.iter().map(|byte| format!("{byte:02x}")).collect(),
            entry: serde_json::from_slice(&entry.bytes).unwrap_or(Value::Null),
        }
    }
}

/// Whether the audit log is what was signed, from its first entry to its last.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct AuditCheck {
    ok: bool,
    at: String,
    /// How many are sound, if all are.
    entries: Option<u64>,
    checkpoints: Option<u64>,
    /// The hash that covers all of them.
    head: Option<String>,
    /// The first entry that is not.
    at_entry: Option<u64>,
    why: Option<String>,
}

impl AuditCheck {
    pub(crate) fn of(verdict: AuditVerdict, now: Timestamp) -> AuditCheck {
        let at = now.to_string();
        let none = AuditCheck {
            ok: false,
            at,
            entries: None,
            checkpoints: None,
            head: None,
            at_entry: None,
            why: None,
        };
        match verdict {
            AuditVerdict::Sound { entries, checkpoints, head } => AuditCheck {
                ok: true,
                entries: Some(entries),
                checkpoints: Some(checkpoints),
                head: Some(head),
                ..none
            },
            AuditVerdict::Tampered { entry, why } => {
                AuditCheck { at_entry: Some(entry), why: Some(why), ..none }
            }
            AuditVerdict::Unreadable => {
                AuditCheck { why: Some("the log ended before its end".into()), ..none }
            }
        }
    }
}
