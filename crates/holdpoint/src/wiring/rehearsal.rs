//! Opens everything that a configuration describes, looks whether it works, and closes it again: what
//! `doctor` does, so that it finds what `serve` would find. Nothing is left behind, and nothing is pinned.

use std::fs;
use std::iter;
use std::net::TcpListener;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, Result};
use engine::{SystemClock, SystemRng};
use ports::clock::Clock as _;
use tools::mcp::McpServer;
use tools::process::{Runner, Spool, Supervisor};

use super::mcp::{mcp_config, tool_oauth, upstream_oauth};
use super::tls::read_tls;
use super::{SUPERVISE, callback_sender, channels, host};
use crate::config::{Config, SqlDatabase, ToolConfig, ToolKind};

/// One thing that was looked at.
#[derive(Debug)]
pub struct Finding {
    /// What kind of thing it is, in a word.
    pub what: &'static str,
    pub name: String,
    pub verdict: RehearsalVerdict,
}

#[derive(Debug)]
pub enum RehearsalVerdict {
    Ready,
    /// `serve` starts with it, and warns.
    Doubtful(String),
    /// `serve` does not start with it.
    Wrong(String),
}

impl Finding {
    fn new<T>(what: &'static str, name: &str, opened: Result<T>) -> Finding {
        let verdict = match opened {
            Ok(_) => RehearsalVerdict::Ready,
            Err(why) => RehearsalVerdict::Wrong(format!("{why:#}")),
        };
        Finding { what, name: name.into(), verdict }
    }
}

/// Everything but the data folder and the port, which a running server holds.
pub async fn rehearse(config: &Config) -> Vec<Finding> {
    let clock = Arc::new(SystemClock::new(None));
    let rng = Arc::new(SystemRng::default());
    let mut found = Vec::new();
    for model in config.models.values() {
        let opened = model.open(clock.clone(), rng.clone()).map_err(Into::into);
        found.push(Finding::new("model", &model.name, opened));
    }
    match Scratch::new() {
        Ok(scratch) => {
            for tool in &config.tools {
                let opened = try_tool(tool, &scratch).await;
                found.push(Finding::new("tool", &tool.name, opened));
            }
        }
        Err(why) => found.push(Finding::new::<()>("tool", "tools", Err(why))),
    }
    for (name, reach) in &config.mcp.upstreams {
        if reach.has_oauth() {
            found.push(Finding::new("upstream", name, upstream_oauth(name, reach)));
        }
    }
    let grounds = channels::Grounds { clock: clock.clone(), rng };
    for channel in &config.channels {
        found.push(Finding::new(
            "channel",
            &channel.name,
            channels::connector_for(channel, &grounds),
        ));
    }
    if !config.callbacks.secret_envs.is_empty() {
        found.push(Finding::new(
            "callbacks",
            "callbacks",
            callback_sender(&config.callbacks, clock.clone()),
        ));
    }
    if let Some(tls) = &config.server.tls {
        let read = read_tls(tls, clock.now());
        let warning = read.as_ref().ok().and_then(|(_, warning)| warning.clone());
        let finding = Finding::new("TLS", "[server.tls]", read);
        found.push(match warning {
            Some(warning) => Finding { verdict: RehearsalVerdict::Doubtful(warning), ..finding },
            None => finding,
        });
    }
    found
}

/// Whether the server's own port can be had, and those of the pages that doors serve. All are held until
/// the last is tried: two that are the same are found, as `serve` would find them.
pub fn try_listen(config: &Config) -> Vec<Finding> {
    let pages = config.doors.iter().filter_map(|door| {
        let address = door.setup.wire.page_address()?;
        Some((address, format!("[doors.{}] files_listen", door.setup.wire.name())))
    });
    let addresses = iter::once((config.server.listen, "[server] listen".to_owned())).chain(pages);
    let mut held = Vec::new();
    let mut found = Vec::new();
    for (address, key) in addresses {
        let bound = TcpListener::bind(address).map(|listener| held.push(listener));
        let bound = bound.with_context(|| {
            format!("{address} cannot be listened on; stop what does, or set another `{key}`")
        });
        found.push(Finding::new("port", &address.to_string(), bound));
    }
    found
}

/// Databases that a tool works on and that are not there: every call would fail.
pub fn absent_databases(config: &Config) -> Vec<String> {
    let absent = |tool: &ToolConfig| {
        let path = sqlite_file(tool).filter(|path| !path.exists())?;
        let (name, path) = (&tool.name, path.display());
        Some(format!(
            "tool `{name}`: there is no database `{path}`, so every call of it fails; make it, or \
             mend `database`"
        ))
    };
    config.tools.iter().filter_map(absent).collect()
}

fn sqlite_file(tool: &ToolConfig) -> Option<&Path> {
    match &tool.kind {
        ToolKind::Sql(sql) => match &sql.database {
            SqlDatabase::Sqlite(path) => Some(path),
            SqlDatabase::Postgres(_) => None,
        },
        _ => None,
    }
}

async fn try_tool(tool: &ToolConfig, scratch: &Scratch) -> Result<()> {
    let ToolKind::Mcp(mcp) = &tool.kind else {
        host(tool, &scratch.runner)?;
        if let Some(path) = sqlite_file(tool) {
            fs::File::open(path).with_context(|| {
                format!("tool `{}`: the database `{}` cannot be opened", tool.name, path.display())
            })?;
        }
        return Ok(());
    };
    // Whether somebody has connected it is not in the configuration.
    if tool_oauth(tool, mcp)?.is_some() {
        return mcp_config(tool, mcp).map(drop);
    }
    let pins = scratch.folder.join("mcp");
    let server = McpServer::open(mcp_config(tool, mcp)?, &pins, scratch.runner.clone())?;
    let unusable = server.unusable_reason().await;
    server.close().await;
    match unusable {
        None => Ok(()),
        Some(why) => {
            Err(anyhow::anyhow!("tool `{}`: the MCP server is of no use: {why}", tool.name))
        }
    }
}

/// A folder for traces and pins that nobody needs afterwards.
struct Scratch {
    folder: PathBuf,
    runner: Runner,
}

impl Scratch {
    fn new() -> Result<Scratch> {
        let folder = std::env::temp_dir().join(format!("holdpoint-doctor-{}", std::process::id()));
        let made = fs::DirBuilder::new().mode(0o700).create(&folder);
        made.with_context(|| format!("the folder `{}` cannot be made", folder.display()))?;
        let supervisor = std::env::current_exe().ok();
        let supervisor =
            supervisor.map(|program| Supervisor { program, args: vec![SUPERVISE.into()] });
        let runner = Spool::open(folder.join("spool")).map(|spool| Runner::open(spool, supervisor));
        match runner {
            Ok(runner) => Ok(Scratch { folder, runner }),
            Err(why) => {
                let _ = fs::remove_dir_all(&folder);
                Err(why).context("commands cannot be watched over")
            }
        }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // It holds nothing that anybody needs.
        let _ = fs::remove_dir_all(&self.folder);
    }
}
