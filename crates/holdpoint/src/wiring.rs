//! The one place that names every adapter: from a configuration to an engine that runs.

pub mod channels;
mod http;
pub mod mcp;
pub mod rehearsal;
mod secret;
mod sql;
pub mod tls;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ::channels::web_push::WebPushSettings;
use ::channels::webhook::{WebhookCallbackSender, WebhookSecret, WebhookSettings};
use anyhow::{Context as _, Result};
use engine::AgentSetup;
use ports::callback::CallbackSender;
use ports::clock::Clock;
use ports::tool_host::ToolHost;
use stores::{PgAddress, SealingKeys, SqliteOptions};
use tools::client::ClientTool;
use tools::command::{CommandConfig, CommandTool};
use tools::human::{HumanTool, HumanToolKind};
use tools::mcp::oauth::McpOauthDesk;
use tools::process::{Environment, Runner, Supervisor};
use tools::questionnaire::QuestionnaireTool;
use tools::shell_cmd::{ShellCmd, ShellConfig};

use crate::assembly::{Base, Ground, Plan, RunningEngine};
use crate::config::{self, CallbacksConfig, Config, StoreConfig, ToolConfig, ToolKind};
use crate::faults::Faults;
use crate::secret_source::SecretSource;

/// The hidden subcommand under which our own binary watches over a child process.
pub const SUPERVISE: &str = "__run";

/// A data directory for our own program, which knows how to watch over a child process.
async fn ground(base: Base, data: &Path) -> Result<Ground> {
    let supervisor = std::env::current_exe()
        .ok()
        .map(|program| Supervisor { program, args: vec![SUPERVISE.into()] });
    Ground::new(base, data, supervisor)
}

/// The database of a `[store]` that is one, with its password.
pub(crate) fn postgres_address(store: &StoreConfig) -> Result<PgAddress> {
    let StoreConfig::Postgres { url, password, .. } = store else {
        anyhow::bail!("the store is not a PostgreSQL database");
    };
    let read = |source: &SecretSource| source.read("the password of the database");
    let password = password.as_ref().map(read).transpose().map_err(anyhow::Error::msg)?;
    PgAddress::parse(url, password.as_deref()).map_err(anyhow::Error::msg)
}

/// What `[store]` seals secrets with, if it says so.
pub(crate) fn sealing_keys(store: &StoreConfig) -> Result<Option<SealingKeys>> {
    let Some(source) = store.sealing_key() else { return Ok(None) };
    let text = source.read("the sealing key").map_err(anyhow::Error::msg)?;
    let keys = SealingKeys::parse(&text).map_err(|error| {
        anyhow::anyhow!(
            "the sealing key (`sealing_key_file` or `sealing_key_env` under `[store]`): {error}"
        )
    })?;
    Ok(Some(keys))
}

/// Opens what the configuration describes.
pub(crate) async fn open(config: &Config) -> Result<RunningEngine> {
    let folder = config.store.folder();
    let base = match &config.store {
        StoreConfig::Sqlite { path, .. } => {
            let checkpoints = config.audit.checkpoints.clone();
            let sealing_keys = sealing_keys(&config.store)?;
            Base::on_disk(path, &SqliteOptions { checkpoints, sealing_keys }).await?
        }
        StoreConfig::Postgres { .. } if config.audit.checkpoints.is_some() => anyhow::bail!(
            "`[audit] checkpoints` goes with SQLite: take it out, and keep the last line of an export of the log elsewhere"
        ),
        StoreConfig::Postgres { .. } => {
            let keys = sealing_keys(&config.store)?;
            Base::on_postgres(&postgres_address(&config.store)?, folder, keys).await?
        }
    };
    let ground = ground(base, folder).await?;
    let plan = plan(config, &ground, folder).await?;
    ground.build(plan).await
}

/// What the configuration describes, besides its data.
async fn plan(config: &Config, ground: &Ground, data: &Path) -> Result<Plan> {
    let mut faults = Faults::default();
    let mut tools = Vec::new();
    let mut companions = Vec::new();
    let mut with_oauth = Vec::new();
    for tool in &config.tools {
        match &tool.kind {
            ToolKind::Mcp(mcp) => {
                let oauth = mcp::open_oauth(mcp::tool_oauth(tool, mcp), &ground.base);
                let Some(oauth) = faults.note(oauth.await) else { continue };
                let server = match mcp::mcp_config(tool, mcp) {
                    Ok(mut setup) => {
                        setup.authorizer = oauth.clone().map(|oauth| oauth as Arc<_>);
                        ground.mcp_server(setup, data).await
                    }
                    Err(why) => Err(why),
                };
                with_oauth.extend(oauth);
                companions.extend(faults.note(server).map(Arc::new));
            }
            _ => tools.extend(faults.note(host(tool, &ground.runner))),
        }
    }
    for (name, reach) in &config.mcp.upstreams {
        let oauth = mcp::open_oauth(mcp::upstream_oauth(name, reach), &ground.base);
        with_oauth.extend(faults.note(oauth.await).flatten());
    }
    let mut agents = Vec::new();
    for agent in &config.agents {
        let model = config.models.get(&agent.model);
        let model = model.with_context(|| format!("agent `{}` has no model", agent.id))?;
        let (clock, rng) = (ground.base.clock.clone(), ground.base.rng.clone());
        let Some(model) = faults.note(model.open(clock, rng).map_err(Into::into)) else {
            continue;
        };
        agents.push(AgentSetup {
            id: agent.id.clone(),
            instructions: agent.instructions.clone(),
            model,
            tools: agent.tools.clone(),
            while_pending: agent.while_pending,
            run_as_decided: agent.run_as_decided,
            budgets: agent.budgets,
            prices: agent.prices,
        });
    }
    let grounds =
        channels::Grounds { clock: ground.base.clock.clone(), rng: ground.base.rng.clone() };
    let mut connectors = Vec::new();
    for channel in &config.channels {
        connectors.extend(faults.note(channels::connector_for(channel, &grounds)));
    }
    let callback_sender =
        faults.note(callback_sender(&config.callbacks, ground.base.clock.clone()));
    faults.none()?;
    let callback_sender = callback_sender.context("callbacks cannot be set up")?;
    ground.look_at_servers(&companions).await?;
    Ok(Plan {
        people: config.people.clone(),
        policy: config.policy.clone(),
        agents,
        tools,
        companions,
        mcp_connections: Arc::new(McpOauthDesk::new(with_oauth)),
        callback_sender,
        notices: notices(config),
        connectors,
        home_expires_ms: channels::expiries(&config.channels),
        session_ms: u64::from(config.server.session_days) * 24 * 3_600_000,
    })
}

fn environment(env: &config::ToolEnv) -> Result<Environment> {
    Ok(Environment::new(env.inherit.clone(), env.set.iter().cloned().collect())?)
}

fn host(tool: &ToolConfig, runner: &Runner) -> Result<Arc<dyn ToolHost>> {
    let name = &*tool.name;
    Ok(match &tool.kind {
        ToolKind::Command(command) => {
            let mut setup = CommandConfig::new(
                name,
                &command.description,
                command.input_schema.clone(),
                command.argv.clone(),
            );
            setup.effects = command.effects;
            setup.confirm = tool.confirm;
            setup.cwd = command.cwd.clone();
            setup.environment = environment(&command.env)?;
            setup.time_limit = command.time_limit.unwrap_or(setup.time_limit);
            setup.run_as = command.run_as.clone();
            Arc::new(CommandTool::new(setup, runner.clone())?)
        }
        ToolKind::ShellCmd(shell) => Arc::new(ShellCmd::new(
            {
                let mut setup = ShellConfig::new(PathBuf::new());
                setup.name = name.into();
                setup.roots = shell.roots.clone();
                setup.environment = environment(&shell.env)?;
                setup.time_limit = shell.time_limit.unwrap_or(setup.time_limit);
                setup.time_limit_max = shell
                    .time_limit_max
                    .unwrap_or_else(|| setup.time_limit_max.max(setup.time_limit));
                setup.allow_shell = shell.allow_shell;
                setup.run_as = shell.run_as.clone();
                setup
            },
            runner.clone(),
        )?),
        ToolKind::Sql(sql) => sql::host(name, sql)?,
        ToolKind::Http(http) => http::host(name, http, tool.confirm)?,
        ToolKind::Client(client) => Arc::new(ClientTool::new(
            name,
            &client.description,
            client.input_schema.clone(),
            client.effects,
            client.deny_values.clone(),
        )?),
        ToolKind::Human { asks } => match asks {
            config::AskScope::Options => Arc::new(HumanTool::new(name, HumanToolKind::Options)?),
            config::AskScope::Anything => Arc::new(HumanTool::new(name, HumanToolKind::Anything)?),
            config::AskScope::Questions => Arc::new(QuestionnaireTool::new(name)?),
        },
        ToolKind::Mcp(_) => anyhow::bail!("`{name}` is a box of tools and not one tool"),
    })
}

/// `[push]`; its operators are reached where people are, unless the file says otherwise.
fn notices(config: &Config) -> Option<WebPushSettings> {
    let public = config.server.public_url.as_ref().filter(|url| url.starts_with("https://"));
    let contact = config.push.contact.as_ref().or(public).cloned();
    config.push.enabled.then(|| WebPushSettings {
        contact: contact.unwrap_or_else(|| "mailto:operator@localhost".to_owned()),
        allow_private_addresses: config.push.allow_private_addresses,
    })
}

fn callback_sender(
    callbacks: &CallbacksConfig,
    clock: Arc<dyn Clock>,
) -> Result<Arc<dyn CallbackSender>> {
    let mut secrets = BTreeMap::new();
    for name in &callbacks.secret_envs {
        let secret = std::env::var(name).with_context(|| {
            format!("the environment variable `{name}`, which [callbacks] names, is not set")
        })?;
        let secret = WebhookSecret::parse(&secret).with_context(|| {
            format!("the environment variable `{name}` holds no webhook secret")
        })?;
        secrets.insert(name.clone(), secret);
    }
    let settings = WebhookSettings {
        secrets,
        allow_private_addresses: callbacks.allow_private_addresses,
        ..WebhookSettings::default()
    };
    Ok(Arc::new(WebhookCallbackSender::new(settings, clock)))
}

/// What means yes and no for a tool, on wires that know only words.
pub fn door_words(tools: &[ToolConfig]) -> server::DoorWords {
    let own = |tool: &ToolConfig| {
        let config::ToolWords { approve_text, deny_text, approve_value, deny_value } =
            tool.words.clone();
        let words = server::ToolWords { approve_text, deny_text, approve_value, deny_value };
        (tool.name.to_string(), words)
    };
    tools.iter().map(own).collect()
}
