//! Opens what was checked: the store, models, tools, MCP servers and channels, and the engine on them.

use std::collections::BTreeMap;
#[cfg(feature = "mcp")]
use std::path::Path;
use std::sync::Arc;

#[cfg(feature = "process")]
use anyhow::Context as _;
use anyhow::Result;
use domain::person::People;
use domain::policy::Policy;
use engine::AgentSetup;
use ports::tool_host::ToolHost;
#[cfg(feature = "mcp")]
use tools::mcp::McpConfig;
#[cfg(feature = "process")]
use tools::process::Runner;

use super::Builder;
use super::mistakes::OfferedNames;
#[cfg(feature = "process")]
use crate::assembly::Ground;
use crate::assembly::{Base, Plan, RunningEngine, default_callback_sender};
#[cfg(feature = "process")]
use crate::embed::agent::AgentToolRef;
use crate::embed::handle::Holdpoint;
#[cfg(feature = "process")]
use crate::embed::tool::Tool;
use crate::embed::tool::ToolSource;
use crate::faults::Faults;

/// Parts that fit together.
pub(super) struct SoundParts {
    pub(super) people: People,
    pub(super) policy: Policy,
    /// The names of each agent's tools.
    pub(super) agents: Vec<OfferedNames>,
    pub(super) tools: Vec<ToolSource>,
}

/// Whether there is anything that leaves traces outside of the store.
#[cfg(feature = "process")]
pub(super) fn needs_a_folder(builder: &Builder) -> bool {
    let own =
        builder.agents.iter().flat_map(|agent| &agent.tools).filter_map(|offered| match offered {
            AgentToolRef::Own(tool) => Some(tool),
            AgentToolRef::Named(_) => None,
        });
    let on_runner = |tool: &Tool| matches!(tool.checked(), Ok(ToolSource::OnRunner(_)));
    #[cfg(feature = "mcp")]
    if !builder.mcp.is_empty() {
        return true;
    }
    builder.tools.iter().chain(own).any(on_runner)
}

impl Builder {
    pub(super) async fn open(mut self, checked: SoundParts) -> Result<Holdpoint> {
        let mut base = self.base().await?;
        if let Some(clock) = self.clock.take() {
            base.clock = clock;
        }
        #[cfg(feature = "server")]
        let doors = Arc::new(std::mem::take(&mut self.doors));
        #[cfg(feature = "chats")]
        let origin = self.origin.take();
        let running = self.build_engine(base, checked).await?;
        #[cfg(feature = "chats")]
        if let Some(origin) = origin {
            running.start_chats(&origin);
        }
        Ok(Holdpoint {
            running,
            #[cfg(feature = "server")]
            doors,
        })
    }

    async fn base(&mut self) -> Result<Base> {
        match self.store.take() {
            Some(open) => Base::on_store(open).await,
            #[cfg(feature = "sqlite")]
            None => match &self.data {
                Some(folder) => Base::on_disk(folder, &stores::SqliteOptions::default()).await,
                None => Ok(Base::in_memory()),
            },
            #[cfg(not(feature = "sqlite"))]
            None => Ok(Base::in_memory()),
        }
    }

    /// With a runner, where anything needs one.
    #[cfg(feature = "process")]
    async fn build_engine(mut self, base: Base, checked: SoundParts) -> Result<RunningEngine> {
        let Some(data) = self.data.take().filter(|_| needs_a_folder(&self)) else {
            let plan = self.plan(&base, checked, &|source| opened(source, None))?;
            return base.build(plan).await;
        };
        let ground = Ground::new(base, &data, self.supervisor.take())?;
        #[cfg(feature = "mcp")]
        let servers = std::mem::take(&mut self.mcp);
        let runner = &ground.runner;
        let plan = self.plan(&ground.base, checked, &|source| opened(source, Some(runner)))?;
        #[cfg(feature = "mcp")]
        let plan = with_servers(plan, servers, &ground, &data).await?;
        ground.build(plan).await
    }

    #[cfg(not(feature = "process"))]
    async fn build_engine(self, base: Base, checked: SoundParts) -> Result<RunningEngine> {
        let plan = self.plan(&base, checked, &|ToolSource::Ready(host)| Ok(host))?;
        base.build(plan).await
    }

    fn plan(self, base: &Base, checked: SoundParts, open: &OpenTool<'_>) -> Result<Plan> {
        let mut faults = Faults::default();
        let tools = checked.tools.into_iter().filter_map(|tool| faults.note(open(tool))).collect();
        let mut agents = Vec::new();
        for (agent, tools) in self.agents.into_iter().zip(checked.agents) {
            let opened = agent.open_model(base.clock.clone(), base.rng.clone());
            let Some(model) = faults.note(opened.map_err(anyhow::Error::msg)) else { continue };
            agents.push(AgentSetup {
                model,
                tools,
                prices: agent.known_prices(),
                id: agent.id.into(),
                instructions: agent.instructions,
                while_pending: agent.while_pending,
                run_as_decided: agent.run_as_decided,
                budgets: agent.budgets,
            });
        }
        let home_expires_ms: BTreeMap<Arc<str>, u64> = BTreeMap::new();
        #[cfg(feature = "chats")]
        let (home_expires_ms, connectors) = {
            let (mut expires, mut connectors) = (home_expires_ms, Vec::new());
            for channel in self.channels {
                let name = channel.name().to_owned();
                expires.insert(name.as_str().into(), channel.expires_ms());
                let opened = channel.platform().open(base.clock.clone(), base.rng.clone());
                let opened = opened.map_err(|why| anyhow::anyhow!("channel `{name}`: {why}"));
                connectors.extend(faults.note(opened).map(|opened| channel.connector(opened)));
            }
            (expires, connectors)
        };
        faults.none()?;
        Ok(Plan {
            people: checked.people,
            policy: checked.policy,
            agents,
            tools,
            #[cfg(feature = "mcp")]
            companions: Vec::new(),
            #[cfg(feature = "mcp")]
            mcp_connections: Arc::default(),
            callback_sender: default_callback_sender(base.clock.clone()),
            // Their service worker is a file of our page, which is not at the embedding program's root.
            #[cfg(feature = "web-push")]
            notices: None,
            #[cfg(feature = "chats")]
            connectors,
            home_expires_ms,
            session_ms: engine::Limits::default().session_ms,
        })
    }
}

type OpenTool<'a> = dyn Fn(ToolSource) -> Result<Arc<dyn ToolHost>> + 'a;

#[cfg(feature = "process")]
fn opened(source: ToolSource, runner: Option<&Runner>) -> Result<Arc<dyn ToolHost>> {
    match source {
        ToolSource::Ready(host) => Ok(host),
        ToolSource::OnRunner(tool) => {
            let runner = runner.context("commands need a data folder")?;
            let host = tool.open(runner)?;
            Tool::check_host(host.as_ref()).map_err(anyhow::Error::msg)?;
            Ok(host)
        }
    }
}

#[cfg(feature = "mcp")]
async fn with_servers(
    mut plan: Plan,
    servers: Vec<McpConfig>,
    ground: &Ground,
    data: &Path,
) -> Result<Plan> {
    let mut faults = Faults::default();
    for server in servers {
        let opened = ground.mcp_server(server, data).await;
        plan.companions.extend(faults.note(opened).map(Arc::new));
    }
    faults.none()?;
    ground.look_at_servers(&plan.companions).await?;
    Ok(plan)
}
