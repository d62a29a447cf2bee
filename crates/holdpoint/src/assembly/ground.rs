//! The ground for tools that start processes: what an engine is built on, and a runner with its spool.

use std::path::Path;
#[cfg(feature = "mcp")]
use std::sync::Arc;

use anyhow::{Context as _, Result};
#[cfg(feature = "mcp")]
use ports::store::PutNote;
#[cfg(feature = "mcp")]
use ports::toolbox::Toolbox as _;
#[cfg(feature = "mcp")]
use tools::mcp::{McpConfig, McpServer};
use tools::process::{Runner, Spool, Supervisor};

use super::{Base, Plan, RunningEngine};

/// Notes of MCP servers whose definitions were pinned.
#[cfg(feature = "mcp")]
const SEEN_SERVERS: &str = "mcp.seen";

/// What tools that start processes and the engine are built on.
pub(crate) struct Ground {
    pub(crate) base: Base,
    pub(crate) runner: Runner,
}

impl Ground {
    /// `data` holds the traces of calls.
    pub(crate) fn new(base: Base, data: &Path, supervisor: Option<Supervisor>) -> Result<Ground> {
        let spool = Spool::open(data.join("spool")).with_context(|| {
            format!("the folder `{}` cannot be made", data.join("spool").display())
        })?;
        Ok(Ground { base, runner: Runner::open(spool, supervisor) })
    }

    /// Whether the definitions of this MCP server were ever pinned. Kept apart from the pins, and in every
    /// backup, so that pins which are lost are missed.
    #[cfg(feature = "mcp")]
    async fn was_seen(&self, server: &str) -> Result<bool> {
        Ok(self.base.store.store().note(SEEN_SERVERS, server).await?.is_some())
    }

    #[cfg(feature = "mcp")]
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
            self.base.store.store().put_notes(vec![put]).await?;
        }
        Ok(())
    }

    /// An MCP server, which begins at once. `data` holds what was pinned of it.
    #[cfg(feature = "mcp")]
    pub(crate) async fn mcp_server(&self, mut config: McpConfig, data: &Path) -> Result<McpServer> {
        // mutant: the-program-does-not-say-what-it-saw
        config.was_seen = self.was_seen(&config.name).await?;
        Ok(McpServer::open(config, &data.join("mcp"), self.runner.clone())?)
    }

    /// Waits for the first word of each server, and notes whose definitions are pinned. One after the other,
    /// but they have all begun, so this takes no longer than the slowest.
    #[cfg(feature = "mcp")]
    pub(crate) async fn look_at_servers(&self, servers: &[Arc<McpServer>]) -> Result<()> {
        for server in servers {
            server.first_look().await;
            if server.is_pinned() {
                // mutant: a-server-is-not-noted-as-seen
                self.note_seen(server.name()).await?;
            }
        }
        Ok(())
    }

    pub(crate) async fn build(self, plan: Plan) -> Result<RunningEngine> {
        let running = self.base.build(plan).await?;
        let (engine, runner) = (running.engine.clone(), self.runner);
        // In the background: what a command left in the spool must not keep the doors closed.
        running.engine.spawn_housekeeping(async move {
            runner.kill_orphans().await;
            // Traces that recovery has not looked at are kept, however old they are.
            engine.recovered().await;
            runner.remove_stale().await;
        });
        Ok(running)
    }
}
