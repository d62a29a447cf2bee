//! People and tools as the configuration has them, for admins; and snoozes, which are a person's own.

use domain::id::HoldId;
use domain::time::Timestamp;
use domain::tool::{Confirm, Place};
use engine::Engine;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::text::Text;

/// A person of the configuration.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ListedPerson {
    id: String,
    name: String,
    roles: Vec<String>,
    identities: Vec<Identity>,
    /// How many tokens they have.
    tokens: usize,
}

/// Where a chat platform, or one channel of it, vouches for the person.
#[derive(Debug, Serialize, JsonSchema)]
struct Identity {
    channel: String,
    account: String,
}

impl ListedPerson {
    pub(crate) fn of(person: &domain::person::Person, tokens: usize) -> ListedPerson {
        let identity = |(channel, account): (&String, &String)| Identity {
            channel: channel.clone(),
            account: account.clone(),
        };
        ListedPerson {
            id: person.id.to_string(),
            name: person.name.clone(),
            roles: person.roles.iter().cloned().collect(),
            identities: person.identities.iter().map(identity).collect(),
            tokens,
        }
    }
}

/// A tool that agents are offered now.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ConfiguredTool {
    name: String,
    description: String,
    #[schemars(extend("enum" = ["read_only", "idempotent", "transactional", "at_most_once"]))]
    effects: &'static str,
    agents: Vec<String>,
    /// It asks in its first call and acts in a second one.
    two_phase: bool,
    /// Where it is done: by the server, or by whoever answers.
    #[schemars(extend("enum" = ["server", "client"]))]
    place: &'static str,
    /// What it takes, as JSON Schema.
    schema: Value,
}

impl ConfiguredTool {
    /// All that any agent is offered, by name.
    pub(crate) fn all(engine: &Engine) -> Vec<ConfiguredTool> {
        let mut tools = std::collections::BTreeMap::<String, ConfiguredTool>::new();
        for agent in engine.agent_ids() {
            for name in engine.offered(&agent) {
                let Some(tool) = engine.tool(&name) else { continue };
                let listed =
                    tools.entry(name.to_string()).or_insert_with(|| ConfiguredTool::of(tool));
                listed.agents.push(agent.to_string());
            }
        }
        tools.into_values().collect()
    }

    /// The one that a hold's call names. Which other agents have it is not told.
    pub(crate) fn of_hold(engine: &Engine, hold: &domain::hold::Hold) -> Option<ConfiguredTool> {
        // A program may call its own tool by the name of one of ours.
        hold.session()?;
        let mut tool = ConfiguredTool::of(engine.tool(&hold.call()?.tool)?);
        tool.agents = hold.agent().map(ToOwned::to_owned).into_iter().collect();
        Some(tool)
    }

    fn of(tool: domain::tool::Tool) -> ConfiguredTool {
        ConfiguredTool {
            name: tool.name.to_string(),
            effects: tool.effects.name(),
            agents: Vec::new(),
            two_phase: tool.confirm == Confirm::TwoPhase,
            place: if tool.place == Place::Server { "server" } else { "client" },
            description: tool.description,
            schema: tool.input_schema,
        }
    }
}

/// The tool that a held call is for.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct HeldTool {
    /// Null if the server does not know it: a program carries its own calls out.
    tool: Option<ConfiguredTool>,
}

impl HeldTool {
    pub(crate) fn of(engine: &Engine, hold: &domain::hold::Hold) -> HeldTool {
        HeldTool { tool: ConfiguredTool::of_hold(engine, hold) }
    }
}

/// Until when the caller does not want to see a hold.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SnoozeBody {
    /// Within the next seven days.
    #[schemars(extend("format" = "date-time"))]
    pub(crate) until: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Snooze {
    hold: Text<HoldId>,
    #[schemars(extend("format" = "date-time"))]
    until: Text<Timestamp>,
}

impl Snooze {
    pub(crate) fn of(snooze: engine::Snooze) -> Snooze {
        Snooze { hold: Text(snooze.hold), until: Text(snooze.until) }
    }
}
