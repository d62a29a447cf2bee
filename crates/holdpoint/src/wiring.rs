//! The one place that names every adapter: from a configuration to an engine that runs.

pub mod channels;
mod http;
pub mod rehearsal;
mod secret;
mod sql;
pub mod tls;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ::channels::webhook::{Secret, Settings, WebhookCourier};
use anyhow::{Context as _, Result};
use domain::id::NodeId;
use domain::person::People;
use domain::policy::Policy;
use engine::{AgentSetup, Engine, Limits, Setup, SystemChance, SystemClock};
use ports::clock::{Chance as _, Clock};
use ports::courier::Courier;
use ports::store::{AuditEntry, PutNote, Store};
use ports::tool_host::ToolHost;
use ports::toolbox::Toolbox;
use server::AuditLines;
use stores::{MemoryStore, SqliteStore};
use switchboard::{Line, Switchboard};
use tools::client::ClientTool;
use tools::command::{CommandConfig, CommandTool};
use tools::human::{HumanTool, HumanToolKind};
use tools::inquire::InquiryTool;
use tools::mcp::{McpConfig, McpEndpoint, McpServer};
use tools::process::{Environment, Runner, Spool, Supervisor};
use tools::shell_cmd::{ShellCmd, ShellConfig};

use crate::config::{
    self, CallbacksConfig, Config, McpReach, McpTools, StoreConfig, ToolConfig, ToolKind,
};

/// The hidden subcommand under which our own binary watches over a child process.
pub const SUPERVISE: &str = "__run";

/// Notes of MCP servers whose definitions were pinned.
const SEEN_SERVERS: &str = "mcp.seen";

/// A running engine and the store under it.
#[derive(Clone)]
pub struct House {
    pub engine: Engine,
    pub store: Kept,
    /// Programs of others that run beside us, and end with us.
    companions: Vec<Arc<McpServer>>,
    /// The door for chats, where there are any.
    pub board: Option<Switchboard>,
}

impl House {
    /// Lets running work end by itself for a while, then closes the store.
    pub async fn close(&self, grace: std::time::Duration) {
        if let Some(board) = &self.board {
            board.close(grace).await;
        }
        self.engine.close(grace).await;
        for server in &self.companions {
            server.close().await;
        }
        self.store.close().await;
    }
}

/// Where everything is remembered.
#[derive(Clone)]
pub enum Kept {
    OnDisk(Arc<SqliteStore>),
    /// Gone when the process ends.
    InMemory(Arc<MemoryStore>),
}

impl Kept {
    fn store(&self) -> Arc<dyn Store> {
        match self {
            Kept::OnDisk(store) => store.clone(),
            Kept::InMemory(store) => store.clone(),
        }
    }

    async fn close(&self) {
        match self {
            Kept::OnDisk(store) => store.close().await,
            Kept::InMemory(_) => {}
        }
    }
}

/// What a house is made of, besides its data.
pub struct Plan {
    pub people: People,
    pub policy: Policy,
    pub agents: Vec<AgentSetup>,
    pub tools: Vec<Arc<dyn ToolHost>>,
    pub companions: Vec<Arc<McpServer>>,
    pub callbacks: CallbacksConfig,
    pub lines: Vec<Line>,
    /// How long questions wait in sessions that live in a channel.
    pub home_expires_ms: BTreeMap<Arc<str>, u64>,
    /// How long a login lasts that nobody uses.
    pub session_ms: u64,
}

/// What an engine is built on.
pub struct Base {
    node: NodeId,
    store: Kept,
    chance: Arc<SystemChance>,
    pub clock: Arc<dyn Clock>,
}

impl Base {
    pub async fn on_disk(data: &Path) -> Result<Base> {
        Base::on_disk_with(data, None).await
    }

    /// The same, with a file outside that vouches for the log.
    async fn on_disk_with(data: &Path, checkpoints: Option<&Path>) -> Result<Base> {
        let (node, chance) = Base::identity();
        let store = SqliteStore::open_with(data, node, checkpoints)?;
        let (_, last) = store.last().await?;
        let clock = Arc::new(SystemClock::new(last));
        Ok(Base { node, store: Kept::OnDisk(store), chance, clock })
    }

    pub fn in_memory() -> Base {
        let (node, chance) = Base::identity();
        let store = Kept::InMemory(Arc::new(MemoryStore::new(node)));
        Base { node, store, chance, clock: Arc::new(SystemClock::new(None)) }
    }

    /// Whether the definitions of this MCP server were ever pinned. Kept apart from the pins, and in every
    /// backup, so that pins which are lost are missed.
    async fn was_seen(&self, server: &str) -> Result<bool> {
        Ok(self.store.store().note(SEEN_SERVERS, server).await?.is_some())
    }

    async fn note_seen(&self, server: &str) -> Result<()> {
        if !self.was_seen(server).await? {
            let put = PutNote {
                shelf: SEEN_SERVERS.into(),
                key: server.into(),
                value: Some(Vec::new()),
                expected: None,
                due_at: None,
                forget_at: None,
            };
            self.store.store().put_notes(vec![put]).await?;
        }
        Ok(())
    }

    fn identity() -> (NodeId, Arc<SystemChance>) {
        let chance = Arc::new(SystemChance::default());
        (NodeId::new(SystemClock::new(None).now().as_ms(), chance.bits()), chance)
    }

    pub async fn build(self, plan: Plan) -> Result<House> {
        let setup = Setup {
            node: self.node,
            store: self.store.store(),
            clock: self.clock.clone(),
            chance: self.chance.clone(),
            courier: courier(&plan.callbacks, self.clock.clone())?,
            people: plan.people,
            policy: plan.policy,
            agents: plan.agents,
            tools: plan.tools,
            limits: Limits {
                home_expires_ms: plan.home_expires_ms,
                session_ms: plan.session_ms,
                ..Limits::default()
            },
        };
        let boxes = plan.companions.iter().map(|server| server.clone() as Arc<dyn Toolbox>);
        let engine = Engine::start_with(setup, boxes.collect()).await?;
        let board = (!plan.lines.is_empty()).then(|| {
            Switchboard::new(switchboard::Setup {
                engine: engine.clone(),
                clock: self.clock,
                chance: self.chance,
                lines: plan.lines,
                limits: switchboard::Limits::default(),
            })
        });
        Ok(House { engine, store: self.store, companions: plan.companions, board })
    }
}

/// An open data directory: what tools and engine are built on.
pub struct Ground {
    pub base: Base,
    pub runner: Runner,
}

impl Ground {
    /// For our own program, which knows how to watch over a child process.
    pub async fn open(data: &Path) -> Result<Ground> {
        Ground::open_with(data, None).await
    }

    /// The same, with a file outside that vouches for the log.
    pub async fn open_with(data: &Path, checkpoints: Option<&Path>) -> Result<Ground> {
        let supervisor = std::env::current_exe()
            .ok()
            .map(|program| Supervisor { program, args: vec![SUPERVISE.into()] });
        Ground::on(Base::on_disk_with(data, checkpoints).await?, data, supervisor)
    }

    pub async fn supervised(data: &Path, supervisor: Option<Supervisor>) -> Result<Ground> {
        Ground::on(Base::on_disk(data).await?, data, supervisor)
    }

    fn on(base: Base, data: &Path, supervisor: Option<Supervisor>) -> Result<Ground> {
        let spool = Spool::open(data.join("spool")).with_context(|| {
            format!("the folder `{}` cannot be made", data.join("spool").display())
        })?;
        Ok(Ground { base, runner: Runner::open(spool, supervisor) })
    }

    pub async fn build(self, plan: Plan) -> Result<House> {
        let house = self.base.build(plan).await?;
        let (engine, runner) = (house.engine.clone(), self.runner);
        // Nobody waits for this: what a command left in the spool must not keep the doors closed.
        house.engine.spawn_housekeeping(async move {
            runner.kill_orphans().await;
            // Traces that recovery has not looked at are kept, however old they are.
            engine.recovered().await;
            runner.remove_stale().await;
        });
        Ok(house)
    }
}

/// Opens what the configuration describes.
pub async fn open(config: &Config) -> Result<House> {
    let StoreConfig::Sqlite { path } = &config.store;
    let ground = Ground::open_with(path, config.audit.checkpoints.as_deref()).await?;
    let plan = plan(config, &ground, path).await?;
    ground.build(plan).await
}

/// What the configuration describes, besides its data.
async fn plan(config: &Config, ground: &Ground, data: &Path) -> Result<Plan> {
    let mut faults = Faults::default();
    let mut tools = Vec::new();
    let mut companions = Vec::new();
    for tool in &config.tools {
        match &tool.kind {
            ToolKind::Mcp(mcp) => {
                let was_seen = ground.base.was_seen(&tool.name).await?;
                let server = mcp_server(tool, mcp, &ground.runner, data, was_seen);
                companions.extend(faults.note(server).map(Arc::new));
            }
            _ => tools.extend(faults.note(host(tool, &ground.runner))),
        }
    }
    let mut agents = Vec::new();
    for agent in &config.agents {
        let model = config.models.get(&agent.model);
        let model = model.with_context(|| format!("agent `{}` has no model", agent.id))?;
        let (clock, chance) = (ground.base.clock.clone(), ground.base.chance.clone());
        let Some(model) = faults.note(model.open(clock, chance).map_err(Into::into)) else {
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
        channels::Grounds { clock: ground.base.clock.clone(), chance: ground.base.chance.clone() };
    let mut lines = Vec::new();
    for channel in &config.channels {
        lines.extend(faults.note(channels::line(channel, &grounds)));
    }
    faults.note(courier(&config.callbacks, ground.base.clock.clone()));
    faults.none()?;
    // One after the other, but they have all begun, so this takes no longer than the slowest.
    for server in &companions {
        server.first_look().await;
        if server.is_pinned() {
            ground.base.note_seen(server.name()).await?;
        }
    }
    Ok(Plan {
        people: config.people.clone(),
        policy: config.policy.clone(),
        agents,
        tools,
        companions,
        callbacks: config.callbacks.clone(),
        lines,
        home_expires_ms: channels::expiries(&config.channels),
        session_ms: u64::from(config.server.session_days) * 24 * 3_600_000,
    })
}

/// Everything that keeps a set-up from starting, and not only the first of it.
#[derive(Default)]
struct Faults(Vec<String>);

impl Faults {
    fn note<T>(&mut self, opened: Result<T>) -> Option<T> {
        opened.map_err(|why| self.0.push(format!("{why:#}"))).ok()
    }

    fn none(mut self) -> Result<()> {
        // Two agents may share a model.
        self.0.dedup();
        match self.0.is_empty() {
            true => Ok(()),
            false => Err(anyhow::anyhow!(self.0.join("\n"))),
        }
    }
}

fn environment(env: &config::ToolEnv) -> Result<Environment> {
    Ok(Environment::new(env.inherit.clone(), env.set.iter().cloned().collect())?)
}

fn mcp_server(
    tool: &ToolConfig,
    mcp: &McpTools,
    runner: &Runner,
    data: &Path,
    was_seen: bool,
) -> Result<McpServer> {
    let reach = match &mcp.reach {
        McpReach::Program { argv, cwd, env, run_as } => McpEndpoint::Program {
            argv: argv.clone(),
            cwd: cwd.clone(),
            environment: environment(env)?,
            run_as: run_as.clone(),
        },
        McpReach::Service { url, headers_env } => {
            let header = |(header, variable): &(String, String)| {
                let value = std::env::var(variable).with_context(|| {
                    format!(
                        "the environment variable `{variable}`, which the tool `{}` names, is not set",
                        tool.name
                    )
                })?;
                Ok((header.clone(), value))
            };
            let headers = headers_env.iter().map(header).collect::<Result<_>>()?;
            McpEndpoint::Service { url: url.clone(), headers }
        }
    };
    let mut setup = McpConfig::new(&tool.name, reach);
    setup.only = mcp.only.clone();
    setup.effects = mcp.effects;
    setup.effects_of = mcp.effects_of.clone();
    setup.time_limit = mcp.time_limit.unwrap_or(setup.time_limit);
    setup.was_seen = was_seen;
    Ok(McpServer::open(setup, &data.join("mcp"), runner.clone())?)
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
            config::Asks::Options => Arc::new(HumanTool::new(name, HumanToolKind::Options)?),
            config::Asks::Anything => Arc::new(HumanTool::new(name, HumanToolKind::Anything)?),
            config::Asks::Questions => Arc::new(InquiryTool::new(name)?),
        },
        ToolKind::Mcp(_) => anyhow::bail!("`{name}` is a box of tools and not one tool"),
    })
}

fn courier(callbacks: &CallbacksConfig, clock: Arc<dyn Clock>) -> Result<Arc<dyn Courier>> {
    let mut secrets = BTreeMap::new();
    for name in &callbacks.secret_envs {
        let secret = std::env::var(name).with_context(|| {
            format!("the environment variable `{name}`, which [callbacks] names, is not set")
        })?;
        let secret = Secret::parse(&secret).with_context(|| {
            format!("the environment variable `{name}` holds no webhook secret")
        })?;
        secrets.insert(name.clone(), secret);
    }
    let settings = Settings {
        secrets,
        allow_private_addresses: callbacks.allow_private_addresses,
        ..Settings::default()
    };
    Ok(Arc::new(WebhookCourier::new(settings, clock)))
}

/// What means yes and no for a tool, on wires that know only words.
pub fn words(tools: &[ToolConfig]) -> server::Words {
    let own = |tool: &ToolConfig| {
        let config::ToolWords { approve_text, deny_text, approve_value, deny_value } =
            tool.words.clone();
        let words = server::ToolWords { approve_text, deny_text, approve_value, deny_value };
        (tool.name.to_string(), words)
    };
    tools.iter().map(own).collect()
}

/// The lines of an audit export, as the offline verifier wants them.
pub struct ExportLines;

impl AuditLines for ExportLines {
    fn header(&self, public_key: &[u8]) -> Option<String> {
        let key: audit::PublicKey = std::str::from_utf8(public_key).ok()?.parse().ok()?;
        Some(audit::header_line(&key))
    }

    fn entry(&self, entry: &AuditEntry) -> String {
        audit::entry_line(entry.seq, audit::Hash::from_bytes(entry.hash), &entry.bytes)
    }

    fn checkpoint(&self, stored: &[u8]) -> Option<(u64, String)> {
        let checkpoint: audit::Checkpoint = std::str::from_utf8(stored).ok()?.parse().ok()?;
        Some((checkpoint.count, audit::checkpoint_line(&checkpoint)))
    }
}
