//! The people, the policy, the tools and the agents of every story. The checkers read the gates from
//! here and not from the policy's own verdicts.

use std::sync::{Arc, OnceLock};

use domain::budget::{Budgets, Prices};
use domain::digest::Digest;
use domain::event::TokenScope;
use domain::id::{NodeId, TokenId};
use domain::person::{Actor, Credential, KeptLogin, People, Person, PersonId};
use domain::policy::{AskSpec, MatchSpec, Policy, PolicySpec, RuleSpec, Then};
use domain::time::Timestamp;
use domain::tool::{Confirm, Effects, Place, Tool};
use engine::{AgentSetup, Caller, Limits, Setup};
use ports::store::Store as _;
use ports::tool_host::ToolHost;
use serde_json::json;
use tools::client::ClientTool;
use tools::human::{HumanTool, HumanToolKind};

use super::callback_sender::SimCallbackSender;
use super::chat::{NAME, account_of};
use super::clock::{NodeClock, NodeRng};
use super::executor::Kind;
use super::model::SimModel;
use super::node::NodeNo;
use super::store::NodeStore;
use super::tools::SimTool;
use super::world::{World, at_once};

/// The people, each with one role.
pub(super) const PEOPLE: [(&str, &str); 5] =
    [("ana", "dba"), ("bob", "dba"), ("cat", "dba"), ("eve", "guest"), ("root", "admin")];

/// What must come before a tool may run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Gate {
    Open,
    /// So many people with the role `dba`, and whether the requester counts.
    People {
        quorum: usize,
        not_requester: bool,
    },
    Never,
}

struct ToolRow(&'static str, Effects, Kind, Gate);

const ASKS: Gate = Gate::People { quorum: 1, not_requester: false };
const TOOLS: [ToolRow; 9] = [
    ToolRow("look", Effects::ReadOnly, Kind::Reading, Gate::Open),
    ToolRow("tidy", Effects::Idempotent, Kind::Keyed, Gate::Open),
    ToolRow("post", Effects::AtMostOnce, Kind::Untraced, Gate::Open),
    ToolRow("put", Effects::Idempotent, Kind::Keyed, ASKS),
    ToolRow("shift", Effects::Transactional, Kind::Marked, ASKS),
    ToolRow("wipe", Effects::AtMostOnce, Kind::Traced, ASKS),
    ToolRow(
        "nuke",
        Effects::AtMostOnce,
        Kind::Traced,
        Gate::People { quorum: 2, not_requester: true },
    ),
    ToolRow("deploy", Effects::AtMostOnce, Kind::Traced, ASKS),
    ToolRow("scrap", Effects::AtMostOnce, Kind::Untraced, Gate::Never),
];

pub(super) const AGENTS: [&str; 2] = ["ops", "fast"];
pub(super) const INSTRUCTIONS: &str = "be careful";
/// Few, so that it comes to asking.
const OPS_TURNS: u32 = 2;
const FAST_TOKENS: u64 = 3 * TURN_TOKENS;
/// What every turn of the model costs.
pub(super) const TURN_TOKENS: u64 = 100;
const ASKED_FOR_MS: u64 = 5 * 60 * 1_000;
/// Where no rule says how long: short, so that it comes to that.
const OTHERWISE_MS: u64 = 3 * 60 * 1_000;

pub(super) fn gate(tool: &str) -> Gate {
    TOOLS.iter().find(|row| row.0 == tool).map_or(Gate::Never, |row| row.3)
}

pub(super) fn role_of(person: &PersonId) -> &'static str {
    PEOPLE.iter().find(|(id, _)| *id == person.as_str()).map_or("nobody", |(_, role)| role)
}

pub(super) fn people() -> People {
    People::new(PEOPLE.map(|(id, role)| Person {
        id: PersonId::new(id),
        name: id.to_owned(),
        roles: [role.to_owned()].into(),
        identities: account_of(id).map(|it| (NAME.to_owned(), it)).into_iter().collect(),
    }))
}

/// Somebody whose credentials were checked: a person, or the program `bot` with a token of Ana's.
pub(super) fn caller(name: &str) -> Caller {
    if name == "bot" {
        let actor = Actor::Program {
            token: TokenId::new(0, 7),
            name: "bot".into(),
            minted_by: Some(PersonId::new("ana")),
        };
        return Caller::assumed(actor, vec![TokenScope::Ask, TokenScope::Run], None, Vec::new());
    }
    let id = PersonId::new(name);
    let roles = vec![role_of(&id).to_owned()];
    let (secret, expires_at) = ("a cookie", Timestamp::from_ms(i64::MAX));
    let digest = Digest::of(secret.as_bytes());
    let kept = &KeptLogin { person: id.clone(), secret: digest, origin: None, expires_at };
    let shown = Credential::Cookie { kept, secret };
    let (name, identities) = (name.to_owned(), Default::default());
    let known = Person { id: id.clone(), name, roles: roles.iter().cloned().collect(), identities };
    let person = shown.verify(&People::new([known]), Timestamp::from_ms(0), "web");
    Caller::assumed(Actor::Person(id), TokenScope::ALL.to_vec(), person, roles)
}

fn policy() -> Policy {
    static POLICY: OnceLock<Policy> = OnceLock::new();
    let compile = || {
        let rules = TOOLS
            .iter()
            .map(|ToolRow(tool, _, _, gate)| RuleSpec {
                name: format!("about {tool}"),
                line: 1,
                matcher: MatchSpec { tool: Some((*tool).into()), ..MatchSpec::default() },
                then: match gate {
                    Gate::Open => Then::Allow,
                    Gate::People { .. } => Then::Ask,
                    Gate::Never => Then::Deny,
                },
                risk: None,
                ask: match gate {
                    Gate::People { quorum, not_requester } => Some(AskSpec {
                        roles: vec!["dba".into()],
                        quorum: *quorum as u32,
                        exclude_requester: *not_requester,
                        expires_ms: Some(ASKED_FOR_MS),
                        ..AskSpec::default()
                    }),
                    _ => None,
                },
            })
            .collect();
        let spec = PolicySpec { rules, default_expires_ms: OTHERWISE_MS, ..PolicySpec::default() };
        Policy::compile(spec).expect("the policy is sound")
    };
    POLICY.get_or_init(compile).clone()
}

/// Compiling schemas takes longer than a whole story, so it is done once.
fn definitions() -> &'static [(Tool, Kind)] {
    static DEFINITIONS: OnceLock<Vec<(Tool, Kind)>> = OnceLock::new();
    DEFINITIONS.get_or_init(|| {
        let define = |ToolRow(name, effects, kind, _): &ToolRow| {
            let schema = json!({
                "type": "object",
                "properties": {"n": {"type": "integer"}},
                "required": ["n"],
            });
            let tool = Tool::new(name, "a tool", schema, *effects, Place::Server, "sim");
            let mut tool = tool.expect("the tools are sound");
            if *name == "deploy" {
                tool.confirm = Confirm::TwoPhase;
            }
            (tool, *kind)
        };
        TOOLS.iter().map(define).collect()
    })
}

/// Tools that people carry out themselves: they have no state.
fn carried_out_by_people() -> [Arc<dyn ToolHost>; 2] {
    static HOSTS: OnceLock<[Arc<dyn ToolHost>; 2]> = OnceLock::new();
    let make = || -> [Arc<dyn ToolHost>; 2] {
        let human = HumanTool::new("ask_person", HumanToolKind::Anything).expect("a sound tool");
        let schema = json!({"type": "object"});
        let denied = vec!["cancelled".to_owned()];
        let browser = ClientTool::new("browser", "a dialog", schema, Effects::AtMostOnce, denied);
        [Arc::new(human), Arc::new(browser.expect("a sound tool"))]
    };
    HOSTS.get_or_init(make).clone()
}

/// Every tool in the order in which agents offer them.
pub(super) fn offered() -> Vec<Tool> {
    let ours = definitions().iter().map(|(tool, _)| tool.clone());
    ours.chain(carried_out_by_people().iter().map(|host| host.tool().clone())).collect()
}

/// What each agent may use before somebody is asked.
pub(super) fn budgets(agent: &str) -> Budgets {
    match agent {
        "fast" => Budgets { tokens: Some(FAST_TOKENS), ..Budgets::default() },
        _ => Budgets { turns: OPS_TURNS, ..Budgets::default() },
    }
}

/// A process with these settings.
pub(super) fn setup(world: &Arc<World>, no: NodeNo, id: NodeId) -> Setup {
    let (_, last) = at_once(world.disk.last()).expect("the disk is there");
    let mut tools: Vec<Arc<dyn ToolHost>> = Vec::new();
    for (tool, kind) in definitions() {
        let (world, tool) = (world.clone(), tool.clone());
        tools.push(Arc::new(SimTool { world, node: no, id, tool, kind: *kind }));
    }
    tools.extend(carried_out_by_people());
    let agents = AGENTS.map(|agent| AgentSetup {
        id: agent.into(),
        instructions: Some(INSTRUCTIONS.into()),
        model: Arc::new(SimModel { world: world.clone(), node: no }),
        tools: tools.iter().map(|host| host.tool().name.clone()).collect(),
        while_pending: Default::default(),
        run_as_decided: agent == "fast",
        budgets: budgets(agent),
        prices: Prices { input: 1, cached: 0, output: 0 },
    });
    Setup {
        node: id,
        store: Arc::new(NodeStore::new(world.clone(), no, id)),
        clock: Arc::new(NodeClock::new(world.clone(), no, last)),
        rng: Arc::new(NodeRng(world.clone())),
        callback_sender: Arc::new(SimCallbackSender { world: world.clone(), node: no }),
        people: people(),
        policy: policy(),
        agents: agents.into(),
        tools,
        // A small cache, so that what is forgotten is read again. Few places, so that calls wait for one.
        limits: Limits { cached_sessions: 2, executing_at_once: 2, ..Limits::default() },
    }
}
