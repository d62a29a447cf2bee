//! `holdpoint.toml`: read once, checked whole, and handed on as plain values that need no further
//! checks. `holdpoint.example.toml` documents every key.
//!
//! Each section has a file of its own, with the table as it is written, what it becomes, and the
//! checks between. Every mistake is told with file and line, and with what to write instead.

mod agent;
mod budgets;
mod callbacks;
mod channel;
mod doors;
mod duration;
mod error;
mod json;
mod model;
mod people;
mod policy;
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

pub use agent::AgentConfig;
pub use callbacks::CallbacksConfig;
pub use channel::{
    ChannelConfig, DingtalkConfig, DingtalkWebhook, EmailConfig, FeishuConfig, PlatformConfig,
    SlackConfig, SlackMode, TelegramConfig, TelegramWebhook, WebhookConfig,
};
pub use doors::DoorConfig;
pub use error::ConfigError;
pub(crate) use error::{listed, nearest};
pub use model::{HeaderSource, ModelConfig, OpenAiApi, Provider, Vendor, VendorModel};
pub use secret::SecretSource;
pub use server::{LISTEN_DEFAULT, Network, ServerConfig, TlsFiles};
pub use store::StoreConfig;
pub use tool::{
    Asks, ClientTool, CommandTool, HttpTool, McpReach, McpTools, ShellTool, SqlAccess, SqlDatabase,
    SqlTool, ToolConfig, ToolEnv, ToolKind, ToolWords,
};

use source::Source;

/// A configuration in which everything that is referred to exists and every question can be
/// answered by somebody.
#[derive(Debug)]
pub struct Config {
    pub server: ServerConfig,
    pub store: StoreConfig,
    pub models: BTreeMap<String, ModelConfig>,
    pub tools: Vec<ToolConfig>,
    pub agents: Vec<AgentConfig>,
    pub people: People,
    pub policy: Policy,
    pub callbacks: CallbacksConfig,
    pub channels: Vec<ChannelConfig>,
    /// Those that are open.
    pub doors: Vec<DoorConfig>,
    /// Sound, but not wise: shown at the start and to admins.
    pub warnings: Vec<String>,
}

impl Config {
    pub fn load(path: &Path) -> Result<Config, ConfigError> {
        let name = path.display().to_string();
        let text = std::fs::read_to_string(path).map_err(|why| {
            let message = match why.kind() {
                std::io::ErrorKind::NotFound => {
                    "there is no such file; write one (`holdpoint.example.toml` shows every key), or \
                     name another with `--config`"
                        .to_owned()
                }
                _ => format!("the file cannot be read: {why}"),
            };
            ConfigError { file: name.clone(), line: None, message }
        })?;
        Config::parse(&text, &name)
    }

    /// `name` is the path of the file: it is shown in errors, and paths in it are meant from there.
    pub fn parse(text: &str, name: &str) -> Result<Config, ConfigError> {
        let source = Source::new(text, name);
        let file: ConfigFile = source.read()?;

        let server = file.server.check(&source)?;
        let store = file.store.check(&source)?;
        let people = people::check(file.people, &channel::platforms(&file.channels), &source)?;

        let names = file.tools.iter().map(|tool| tool.get_ref().name());
        distinct("tool", names, &source)?;
        tool::mcp::check_prefixes(&file.tools, &source)?;
        let tools = file.tools.into_iter().map(|tool| tool::ToolTable::check(tool, &source));
        let tools = tools.collect::<Result<Vec<_>, _>>()?;

        let mut models = BTreeMap::new();
        for (key, table) in file.models {
            let model = model::ModelTable::check(table, &key, &source, name)?;
            models.insert(model.name.clone(), model);
        }

        distinct("agent", file.agents.iter().map(agent::AgentTable::id), &source)?;
        let agents = file.agents.into_iter().map(|agent| agent.check(&source, &models, &tools));
        let agents = agents.collect::<Result<Vec<_>, _>>()?;

        let (policy, line) = match file.policy {
            Some(policy) => {
                let line = source.line(policy.span());
                (policy.into_inner(), line)
            }
            None => (policy::PolicyTable::default(), 1),
        };
        let policy = policy.check(&people, line, &source)?;

        let house =
            doors::House { server: &server, people: &people, agents: &agents, tools: &tools };
        let doors = doors::check(file.doors, &house, &source)?;
        let channels = channel::check(&file.channels, &agents, &source)?;

        let callbacks = file.callbacks.check(&source)?;
        let near = models.values().filter_map(ModelConfig::warning);
        let open = doors.iter().filter_map(|door| door.warning.clone());
        let warnings = server.warnings().into_iter().chain(near).chain(open).collect();
        Ok(Config {
            server,
            store,
            models,
            tools,
            agents,
            people,
            policy,
            callbacks,
            channels,
            doors,
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
    doors: BTreeMap<Spanned<String>, doors::DoorTable>,
    #[serde(default)]
    channels: BTreeMap<Spanned<String>, Spanned<channel::CommonTable>>,
}

fn distinct<'a>(
    what: &str,
    names: impl Iterator<Item = &'a Spanned<String>>,
    source: &Source<'_>,
) -> Result<(), ConfigError> {
    let mut known: HashMap<&str, usize> = HashMap::new();
    for name in names {
        if let Some(line) = known.insert(name.get_ref(), source.line(name.span())) {
            let shown = domain::visible::visible(name.get_ref());
            let message = format!("there is another {what} `{shown}` in line {line}");
            return Err(source.error(name.span(), message));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
