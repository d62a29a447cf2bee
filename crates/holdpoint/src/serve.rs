//! The server: from a configuration file to open doors, and back to closed ones.

use std::io::Write as _;
use std::net::SocketAddr;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result};
use domain::person::{ADMIN, PersonId};
use engine::Engine;
use serde_json::json;
use server::{DoorSetup, DoorWords, Scenario, Server, ServerSetup};

use crate::assembly::RunningEngine;
use crate::cli::args::ServeArgs;
use crate::cli::exit::Exit;
use crate::cli::output::now;
use crate::config::{Config, ServerConfig};
use crate::front;
use crate::mcp_door::EngineGate;
use crate::wiring;
use crate::wiring::rehearsal::absent_databases;
use crate::wiring::tls::read_tls;

/// How long running calls and open requests may take to end by themselves.
const GRACE: Duration = Duration::from_secs(10);
/// The same for calls of a node that may do nothing more on its store: what comes of them can be written nowhere.
const STOP_WITHIN: Duration = Duration::from_secs(2);

pub async fn run(args: ServeArgs) -> Result<ExitCode> {
    let mut config = Config::load(&args.config)?;
    start_logging("info");
    survive_hang_up();
    config.warnings.extend(absent_databases(&config));
    for warning in &config.warnings {
        tracing::warn!("{warning}");
    }
    let running = wiring::open(&config).await?;
    let admin = first_admin(&running);
    let mut serving = Serving::new(running, config.server.listen);
    serving.warnings = config.warnings.clone();
    serving.configure(&config.server)?;
    serving.doors(&config);
    serving.front_mcp(&config).await?;
    let serving = serving.bind().await?;
    let url = serving.url();
    if let (Some(path), Some(admin)) = (&args.bootstrap_tokens, &admin) {
        bootstrap(serving.engine(), path, admin).await?;
    }
    let mut login = None;
    if let (Some(admin), false) = (&admin, serving.engine().somebody_logged_in()) {
        let code = serving.engine().new_login(admin).await?;
        login = Some((admin, format!("{url}/login?code={code}")));
    }
    let mut out = std::io::stdout().lock();
    match (login, args.json) {
        (login, true) => {
            let (person, link) = login.map(|(id, link)| (id.as_str(), link)).unzip();
            writeln!(out, "{}", json!({"url": url, "person": person, "login": link}))?;
        }
        (login, false) => {
            writeln!(out, "holdpoint is listening on {url}")?;
            if let Some((admin, link)) = login {
                writeln!(out, "log in as {admin} (once, within 15 minutes):\n{link}")?;
            }
        }
    }
    out.flush()?;
    drop(out);
    serving.run().await
}

/// The person whom the first login link is for.
fn first_admin(running: &RunningEngine) -> Option<PersonId> {
    let people = running.engine.people();
    people.iter().find(|person| person.roles.contains(ADMIN)).map(|person| person.id.clone())
}

/// Tokens for an operator who sets the server up without a browser. Written once: what is there is kept.
async fn bootstrap(engine: &Engine, path: &Path, admin: &PersonId) -> Result<()> {
    if path.exists() {
        return Ok(());
    }
    let (person, program) = crate::demo::mint_pair(engine, admin.as_str(), "bootstrap").await?;
    let body = json!({"person": admin.as_str(), "person_token": person, "program_token": program});
    secure_file(path, body.to_string().as_bytes())
}

/// Writes a file that only its owner can read, all of it or nothing.
pub(crate) fn secure_file(path: &Path, body: &[u8]) -> Result<()> {
    use std::os::unix::fs::OpenOptionsExt as _;
    let shown = path.display().to_string();
    let draft = path.with_extension("new");
    let write = || -> std::io::Result<()> {
        let _ = std::fs::remove_file(&draft);
        let mut file =
            std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&draft)?;
        file.write_all(body)?;
        file.sync_all()?;
        std::fs::rename(&draft, path)
    };
    write().with_context(|| format!("`{shown}` cannot be written"))
}

/// Logs go to standard error, as JSON lines where nobody is reading along.
pub(crate) fn start_logging(default: &str) {
    use std::io::IsTerminal as _;
    let (filter, complaint) = crate::log_filter::from_environment(default);
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        // Otherwise a line that cannot be written (the log's disk is full, too) ends in a panic in
        // the middle of whatever was to be logged.
        .log_internal_errors(false);
    // A second call in the same process keeps the first one's settings.
    let _ = if std::io::stderr().is_terminal() {
        builder.try_init()
    } else {
        builder.json().try_init()
    };
    if let Some(complaint) = complaint {
        tracing::warn!("{complaint}");
    }
}

/// A running engine about to open its doors.
pub(crate) struct Serving {
    running: RunningEngine,
    setup: ServerSetup,
    pub(crate) demo: Option<Vec<Scenario>>,
    pub(crate) warnings: Vec<String>,
    mcp: Option<EngineGate>,
}

impl Serving {
    pub(crate) fn new(running: RunningEngine, listen: SocketAddr) -> Serving {
        let setup = front::setup(running.engine.clone(), listen);
        Serving { running, setup, demo: None, warnings: Vec::new(), mcp: None }
    }

    pub(crate) fn configure(&mut self, config: &ServerConfig) -> Result<()> {
        self.setup.public_url = config.public_url.clone();
        let proxies = config.trusted_proxies.clone();
        self.setup.trusts =
            Some(Arc::new(move |address| proxies.iter().any(|network| network.contains(address))));
        if let Some(tls) = &config.tls {
            let (tls, warning) = read_tls(tls, now())?;
            if let Some(warning) = warning {
                tracing::warn!("{warning}");
                self.warnings.push(warning);
            }
            self.setup.tls = Some(tls);
        }
        Ok(())
    }

    fn doors(&mut self, config: &Config) {
        self.setup.doors = config.doors.iter().map(|door| door.setup.clone()).collect();
        self.setup.words = crate::wiring::door_words(&config.tools);
    }

    async fn front_mcp(&mut self, config: &Config) -> Result<()> {
        if !config.mcp.upstreams.is_empty() {
            let folder = config.store.folder();
            let (engine, connections) =
                (self.running.engine.clone(), &self.running.mcp_connections);
            let gate = EngineGate::open(engine, &config.mcp, connections, folder).await;
            self.mcp = Some(gate.context("the MCP servers under `[mcp]` cannot be fronted")?);
        }
        Ok(())
    }

    pub(crate) fn open_doors(&mut self, doors: Vec<DoorSetup>, words: DoorWords) {
        self.setup.doors = doors;
        self.setup.words = words;
    }

    pub(crate) async fn bind(mut self) -> Result<Bound> {
        self.setup.demo = self.demo.take();
        self.setup.warnings = std::mem::take(&mut self.warnings);
        let server = front::bind(self.setup, &self.running).await?;
        let server = match self.mcp {
            Some(gate) => server.with_mcp(Arc::new(gate)),
            None => server,
        };
        Ok(Bound { running: self.running, server })
    }
}

pub(crate) struct Bound {
    running: RunningEngine,
    server: Server,
}

impl Bound {
    pub(crate) fn url(&self) -> String {
        self.server.origin().to_owned()
    }

    pub(crate) fn engine(&self) -> &Engine {
        &self.running.engine
    }

    /// Serves until somebody asks the process to stop, or the store can be used no more, then closes in order: doors,
    /// work, store.
    pub(crate) async fn run(self) -> Result<ExitCode> {
        let mut ended = None;
        let shutdown = async {
            tokio::select! {
                () = front::asked_to_stop() => tracing::info!("stopping"),
                why = self.running.store_ended() => {
                    tracing::error!(%why, "stopping: this process is to be started again");
                    ended = Some(why);
                }
            }
        };
        self.server.run(shutdown).await;
        self.running.close(if ended.is_some() { STOP_WITHIN } else { GRACE }).await;
        Ok(ExitCode::from(if ended.is_some() { Exit::StartAgain } else { Exit::Done }.code()))
    }
}

/// By default SIGHUP ends a process. A closed terminal, or somebody who expects the configuration to be read
/// again, must not stop the server, also while it starts.
pub(crate) fn survive_hang_up() {
    use tokio::signal::unix::{SignalKind, signal};
    // Once somebody has listened, the signal's own effect is gone for good.
    if let Err(error) = signal(SignalKind::hangup()) {
        tracing::warn!(%error, "SIGHUP would end this process");
    }
}
