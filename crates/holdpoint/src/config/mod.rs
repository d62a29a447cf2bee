//! `holdpoint.toml`: read once, checked whole, and handed on as plain values that need no further
//! checks. `holdpoint.example.toml` documents every key.
//!
//! Each section has a file of its own, with the table as it is written, what it becomes, and the
//! checks between. Every mistake is told with file and line, and with what to write instead.

mod agent;
mod audit;
mod budgets;
mod callbacks;
mod channel;
mod doors;
mod duration;
mod error;
mod json;
mod mcp;
mod mcp_oauth;
mod mistakes;
mod model;
mod people;
mod policy;
mod policy_cases;
mod policy_source;
mod push;
mod secret;
mod server;
mod source;
mod store;
mod tool;

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use domain::person::People;
use domain::policy::Policy;
use serde::Deserialize;
use toml::Spanned;

pub use self::audit::AuditConfig;
pub use agent::AgentConfig;
pub use callbacks::CallbacksConfig;
pub use channel::{ChannelConfig, PlatformConfig, Unopened};
pub use doors::DoorConfig;
pub(crate) use error::listed;
pub use error::{ConfigError, ConfigErrors};
pub use mcp::McpGateConfig;
pub use mcp_oauth::McpOauthConfig;
pub use model::{HeaderSource, ModelConfig, Provider, VendorModel};
pub use policy_cases::{PolicyCase, VerdictDifference};
pub use policy_source::PolicySource;
pub use push::PushConfig;
pub use secret::SecretSource;
pub use server::{LISTEN_DEFAULT, Network, ServerConfig, TlsFiles};
pub use store::StoreConfig;
pub use tool::{
    AskScope, ClientToolConfig, CommandTool, HttpTool, McpReach, McpTools, ShellTool, SqlAccess,
    SqlDatabase, SqlTool, ToolConfig, ToolEnv, ToolKind, ToolWords,
};

use mistakes::Mistakes;
use source::ConfigSource;

/// A configuration in which everything that is referred to exists and every question can be
/// answered by somebody.
#[derive(Debug)]
pub struct Config {
    pub server: ServerConfig,
    pub store: StoreConfig,
    pub audit: AuditConfig,
    pub models: BTreeMap<String, ModelConfig>,
    pub tools: Vec<ToolConfig>,
    pub agents: Vec<AgentConfig>,
    pub people: People,
    pub policy: Policy,
    pub callbacks: CallbacksConfig,
    pub push: PushConfig,
    pub channels: Vec<ChannelConfig>,
    /// Those that are open.
    pub doors: Vec<DoorConfig>,
    /// MCP servers that are fronted under `/mcp`.
    pub mcp: McpGateConfig,
    /// Sound, but not wise: shown at the start and to admins.
    pub warnings: Vec<String>,
}

impl Config {
    pub fn load(path: &Path) -> Result<Config, ConfigErrors> {
        let name = path.display().to_string();
        let text = std::fs::read_to_string(path).map_err(|why| {
            let message = match why.kind() {
                std::io::ErrorKind::NotFound => {
                    "there is no such file; `holdpoint init` writes one, and `--config` names another"
                        .to_owned()
                }
                _ => format!("the file cannot be read: {why}"),
            };
            ConfigError { file: name.clone(), line: None, message }
        })?;
        Config::parse(&text, &name)
    }

    /// `name` is the path of the file: it is shown in errors, and paths in it are meant from there.
    pub fn parse(text: &str, name: &str) -> Result<Config, ConfigErrors> {
        let source = ConfigSource::new(text, name);
        let mut mistakes = Mistakes::default();
        let Some(file) = mistakes.read::<ConfigFile>(&source) else {
            return Err(mistakes.into_errors());
        };

        let server = mistakes.note(file.server.check(&source));
        let store = mistakes.note(file.store.check(&source));
        let audit = file.audit.check(&source);
        let platforms = channel::platforms(&file.channels);
        let people = people::check(file.people, &platforms, &source, &mut mistakes);

        let names = file.tools.iter().map(|tool| tool.get_ref().name());
        distinct("tool", names, &source, &mut mistakes);
        mistakes.note(tool::mcp::check_prefixes(&file.tools, &source));
        let mut tools = Vec::new();
        for table in file.tools {
            let name = table.get_ref().name().get_ref().clone();
            let tool = tool::ToolTable::check(table, &source);
            tools.extend(mistakes.note_named("tools", &name, tool));
        }

        let mut models = BTreeMap::new();
        for (key, table) in file.models {
            let model = model::ModelTable::check(table, &key, &source, name);
            if let Some(model) = mistakes.note_named("models", key.get_ref(), model) {
                models.insert(model.name.clone(), model);
            }
        }

        let names = file.agents.iter().map(agent::AgentTable::id);
        distinct("agent", names, &source, &mut mistakes);
        let mut agents = Vec::new();
        for table in file.agents {
            agents.push(agent::AgentConfig::checked(
                table,
                &source,
                &models,
                &tools,
                &mut mistakes,
            ));
        }
        agents.extend(mistakes.broken_in("agents").map(agent::AgentConfig::stand_in));

        let (policy, line) = match file.policy {
            Some(policy) => {
                let line = source.line(policy.span());
                (policy.into_inner(), line)
            }
            None => (policy::PolicyTable::default(), 1),
        };
        // Whom rules may name is known only with all people.
        let policy = match mistakes.lacks_names("people") {
            true => None,
            false => policy.check(&people, line, &source, &mut mistakes),
        };

        let doors = match &server {
            Some(server) => {
                let references = doors::DoorReferences {
                    server,
                    people: &people,
                    agents: &agents,
                    tools: &tools,
                };
                doors::check(file.doors, &references, &source, &mut mistakes)
            }
            None => Vec::new(),
        };
        let channels = channel::check(&file.channels, &agents, &source, &mut mistakes);
        let callbacks = mistakes.note(file.callbacks.check(&source));
        let push = mistakes.note(file.push.check(&source));
        let mcp = file.mcp.check(&tools, &source, &mut mistakes);
        let (Some(server), Some(store), Some(policy), Some(callbacks), Some(push), true) =
            (server, store, policy, callbacks, push, mistakes.is_empty())
        else {
            return Err(mistakes.into_errors());
        };

        let near = models.values().filter_map(ModelConfig::warning);
        let open = doors.iter().filter_map(|door| door.warning.clone());
        let own = server.warnings().into_iter().chain(store.warning());
        let warnings = own.chain(near).chain(open);
        let warnings = warnings.chain(policy::warnings(&policy, &tools)).collect();
        Ok(Config {
            server,
            store,
            audit,
            models,
            tools,
            agents,
            people,
            policy,
            callbacks,
            push,
            channels,
            doors,
            mcp,
            warnings,
        })
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ConfigFile {
    #[serde(default)]
    server: server::ServerTable,
    #[serde(default)]
    store: store::StoreTable,
    #[serde(default)]
    audit: audit::AuditTable,
    #[serde(default)]
    models: BTreeMap<Spanned<String>, Spanned<model::ModelTable>>,
    #[serde(default)]
    agents: Vec<agent::AgentTable>,
    #[serde(default)]
    tools: Vec<Spanned<tool::ToolTable>>,
    policy: Option<Spanned<policy::PolicyTable>>,
    #[serde(default)]
    people: Vec<people::PersonTable>,
    #[serde(default)]
    callbacks: callbacks::CallbacksTable,
    #[serde(default)]
    push: push::PushTable,
    #[serde(default)]
    doors: BTreeMap<Spanned<String>, doors::DoorTable>,
    #[serde(default)]
    mcp: mcp::McpGateTable,
    #[serde(default)]
    channels: BTreeMap<Spanned<String>, Spanned<channel::CommonTable>>,
}

fn distinct<'a>(
    what: &str,
    names: impl Iterator<Item = &'a Spanned<String>>,
    source: &ConfigSource<'_>,
    mistakes: &mut Mistakes,
) {
    let mut known: HashMap<&str, usize> = HashMap::new();
    for name in names {
        if let Some(line) = known.insert(name.get_ref(), source.line(name.span())) {
            let shown = domain::visible::visible(name.get_ref());
            let message = format!("there is another {what} `{shown}` in line {line}");
            mistakes.push(source.error(name.span(), message));
        }
    }
}

#[cfg(test)]
mod tests;
