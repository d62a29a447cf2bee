//! One MCP server: kept running or reachable, and its tools in a box.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, RwLock, Weak};
use std::time::Duration;

use domain::phrase::{PhraseCode, RunDetail};
use domain::tool::Effects;
use ports::backoff::{Backoff, WHOLE_WAIT};
use ports::toolbox::{BoxedTools, Toolbox};
use ports::unpoisoned::Unpoisoned as _;
use tokio::sync::watch;
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;

use super::authorizer::McpAuthorizer;
use super::catalog::McpCatalog;
use super::http::HttpTransport;
use super::limits::{
    CONNECT_WITHIN, FIRST_LOOK_WITHIN, GONE_WITHIN, LIST_WITHIN, RESTART_AFTER, RESTART_AFTER_MAX,
    WELL_AFTER,
};
use super::link::{McpLink, NoLink};
use super::offered_tools::{OfferedTool, box_tools};
use super::pins::{PinError, PinStore, ToolPin};
use super::stdio::StdioTransport;
use super::transport::McpTransport;
use crate::bad_tool::BadTool;
use crate::blocking::run_blocking;
use crate::limits::{TIME_LIMIT_DEFAULT, TIME_LIMIT_MAX};
use crate::process::{Environment, ProcessJob, RunAs, Runner, path_of, resolve_program};

/// How a server is set up.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct McpConfig {
    /// Its tools are called `name__tool`.
    pub name: String,
    pub reach: McpEndpoint,
    /// Which of its tools are let through; `None`: all.
    pub only: Option<Vec<String>>,
    pub effects: Effects,
    /// By the server's own name of a tool.
    pub effects_of: BTreeMap<String, Effects>,
    /// For one call, without the time that people take.
    pub time_limit: Duration,
    /// It was seen before, so that definitions which are not pinned are no first use.
    pub was_seen: bool,
    /// Gives the credentials for a service; `None`: its headers are all that it gets.
    pub authorizer: Option<Arc<dyn McpAuthorizer>>,
}

/// How a server is reached.
#[derive(Clone)]
#[non_exhaustive]
pub enum McpEndpoint {
    /// A program that we start and end.
    Program { argv: Vec<String>, cwd: PathBuf, environment: Environment, run_as: Option<String> },
    /// A service. The headers' values are secrets.
    Service { url: String, headers: Vec<(String, String)> },
}

impl fmt::Debug for McpEndpoint {
    // The values of headers are secrets, and debug output ends up in logs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Reach({})", self.describe())
    }
}

impl McpEndpoint {
    /// Another way to reach it is another server, and so another tool.
    pub(crate) fn tool_origin(&self) -> String {
        match self {
            McpEndpoint::Program { argv, cwd, environment, run_as } => {
                format!("argv={argv:?} cwd={cwd:?} env={} user={run_as:?}", environment.digest())
            }
            McpEndpoint::Service { url, headers } => {
                let names: Vec<&str> = headers.iter().map(|(name, _)| name.as_str()).collect();
                format!("url={url:?} headers={names:?}")
            }
        }
    }

    pub(crate) fn describe(&self) -> RunDetail {
        let mut detail = RunDetail::default();
        match self {
            McpEndpoint::Program { argv, run_as, .. } => {
                let argv = serde_json::Value::from(argv.clone()).to_string();
                match run_as {
                    Some(user) => detail.push(PhraseCode::ReachedAsUser, &[&argv, user]),
                    None => detail.push(PhraseCode::ReachedBy, &[&argv]),
                }
            }
            McpEndpoint::Service { url, .. } => detail.push(PhraseCode::ReachedBy, &[url]),
        }
        detail
    }

    pub(crate) fn is_ours(&self) -> bool {
        matches!(self, McpEndpoint::Program { .. })
    }
}

impl McpConfig {
    pub fn new(name: &str, reach: McpEndpoint) -> McpConfig {
        McpConfig {
            name: name.into(),
            reach,
            only: None,
            effects: Effects::AtMostOnce,
            effects_of: BTreeMap::new(),
            time_limit: TIME_LIMIT_DEFAULT,
            was_seen: false,
            authorizer: None,
        }
    }
}

/// The handle. The server is let go of when it is dropped.
pub struct McpServer {
    core: Arc<ServerCore>,
    tasks: TaskTracker,
    _stop: DropGuard,
}

pub(crate) struct ServerCore {
    pub(crate) config: McpConfig,
    runner: Runner,
    run_as: Option<RunAs>,
    link: watch::Sender<ConnectionState>,
    pins: Arc<Mutex<PinStore>>,
    catalog: Mutex<Option<McpCatalog>>,
    in_box: RwLock<Arc<BoxedTools>>,
    /// One list at a time: the last look is the one that counts.
    looking: tokio::sync::Mutex<()>,
    /// Set with the first link.
    new_until: OnceLock<tokio::time::Instant>,
    /// Cancelled when the process of the last link, with all that it started, is dead.
    gone: Mutex<Option<CancellationToken>>,
    stop: CancellationToken,
    me: Weak<ServerCore>,
}

#[derive(Clone)]
enum ConnectionState {
    Starting,
    Down { why: String },
    Up(Arc<McpLink>),
}

impl McpServer {
    /// Begins to keep the server running. Nothing here waits for it: an MCP server that is down must not
    /// keep Holdpoint from starting. Its pins are in `folder`.
    pub fn open(config: McpConfig, folder: &Path, runner: Runner) -> Result<McpServer, BadTool> {
        let bad = |why: String| BadTool::new(&config.name, why);
        if config.time_limit.is_zero() || config.time_limit > TIME_LIMIT_MAX {
            return Err(bad("the time limit must be between 1 ms and 24 h".into()));
        }
        if [&config.effects]
            .into_iter()
            .chain(config.effects_of.values())
            .any(|effects| *effects == Effects::Transactional)
        {
            return Err(bad("a tool of an MCP server cannot be `transactional`".into()));
        }
        let run_as = match &config.reach {
            McpEndpoint::Program { run_as: Some(user), .. } => {
                Some(runner.run_as(user).map_err(|why| BadTool::new(&config.name, why))?)
            }
            _ => None,
        };
        let pins = PinStore::open(folder, &config.name, config.was_seen)
            .map_err(|why| BadTool::new(&config.name, why))?;
        let stop = CancellationToken::new();
        let core = Arc::new_cyclic(|me| ServerCore {
            config,
            runner,
            run_as,
            link: watch::Sender::new(ConnectionState::Starting),
            pins: Arc::new(Mutex::new(pins)),
            catalog: Mutex::default(),
            in_box: RwLock::default(),
            new_until: OnceLock::new(),
            gone: Mutex::default(),
            looking: tokio::sync::Mutex::default(),
            stop: stop.clone(),
            me: me.clone(),
        });
        core.publish_tools();
        let tasks = TaskTracker::new();
        tasks.spawn(core.clone().keep_connected(tasks.clone()));
        Ok(McpServer { core, tasks, _stop: stop.drop_guard() })
    }

    /// Waits a little for a server that was never seen, so that its tools are there when the first
    /// message comes. One that was has its pinned tools in the box already.
    pub async fn first_look(&self) {
        if !self.core.lock_pins().is_first_use() {
            return;
        }
        let mut link = self.core.link.subscribe();
        let looked = link.wait_for(|state| !matches!(state, ConnectionState::Starting));
        let _ = tokio::time::timeout(FIRST_LOOK_WITHIN, looked).await;
    }

    /// Whether definitions of it are pinned: from then on they must not be missing.
    pub fn is_pinned(&self) -> bool {
        !self.core.lock_pins().is_empty()
    }

    /// Why the server cannot be used now, for those who look after a set-up. Waits for the first attempt.
    pub async fn unusable_reason(&self) -> Option<String> {
        let mut link = self.core.link.subscribe();
        let looked = link.wait_for(|state| !matches!(state, ConnectionState::Starting));
        match tokio::time::timeout(FIRST_LOOK_WITHIN, looked).await {
            Ok(Ok(state)) => match &*state {
                ConnectionState::Down { why } => Some(why.clone()),
                ConnectionState::Starting | ConnectionState::Up(_) => None,
            },
            Ok(Err(_)) => Some("it was let go of".into()),
            Err(_) => Some(format!("it said nothing for {} s", FIRST_LOOK_WITHIN.as_secs())),
        }
    }

    /// Ends the server, and waits until it has.
    pub async fn close(&self) {
        self.core.stop.cancel();
        self.tasks.close();
        self.tasks.wait().await;
    }
}

impl Toolbox for McpServer {
    fn name(&self) -> &str {
        &self.core.config.name
    }

    fn boxed_tools(&self) -> Arc<BoxedTools> {
        self.core.in_box.read().unpoisoned().clone()
    }
}

impl ServerCore {
    fn lock_pins(&self) -> MutexGuard<'_, PinStore> {
        self.pins.lock().unpoisoned()
    }

    fn lock_catalog(&self) -> MutexGuard<'_, Option<McpCatalog>> {
        self.catalog.lock().unpoisoned()
    }

    /// Puts in the box what is pinned and shown.
    fn publish_tools(&self) {
        let (in_box, notes) =
            box_tools(&self.me, &self.config, &self.lock_pins(), self.lock_catalog().as_ref());
        for note in notes {
            tracing::warn!(server = %self.config.name, tool = %note, "MCP tool cannot be offered");
        }
        *self.in_box.write().unpoisoned() = Arc::new(in_box);
    }

    /// The server, if it is there or comes back soon.
    pub(crate) async fn wait_for_link(&self, within: Duration) -> Result<Arc<McpLink>, String> {
        let mut states = self.link.subscribe();
        let found = tokio::time::timeout(within, async {
            loop {
                // One that has just been cut is not known to be down yet, and is about to be started.
                let is_cut = match &*states.borrow_and_update() {
                    ConnectionState::Up(link) if !link.wire.closed_token().is_cancelled() => {
                        return Some(link.clone());
                    }
                    ConnectionState::Up(_) => true,
                    ConnectionState::Starting | ConnectionState::Down { .. } => false,
                };
                states.changed().await.ok()?;
                // An attempt that failed while we waited: the next one is further away.
                if !is_cut && matches!(&*states.borrow(), ConnectionState::Down { .. }) {
                    return None;
                }
            }
        });
        if let Ok(Some(link)) = found.await {
            return Ok(link);
        }
        let why = match &*self.link.borrow() {
            ConnectionState::Down { why } => why.clone(),
            _ => "it has not answered yet".into(),
        };
        Err(format!("the MCP server `{}` is not there: {why}", self.config.name))
    }

    /// Returns when the server that was there is not any more.
    pub(crate) async fn wait_until_ended(&self, within: Duration) {
        let mut link = self.link.subscribe();
        let down = link.wait_for(|state| !matches!(state, ConnectionState::Up(_)));
        let _ = tokio::time::timeout(within, down).await;
    }

    /// Looks again at what the server offers.
    pub(crate) async fn refresh_catalog(&self, link: &McpLink) -> Result<(), String> {
        let name = &self.config.name;
        // Waiting for one's turn is part of the time: behind one who waits in vain, so does the next.
        let listed = tokio::time::timeout(LIST_WITHIN, async {
            let turn = self.looking.lock().await;
            (turn, link.list_tools().await)
        });
        match listed.await {
            Ok((_turn, Ok(catalog))) => {
                self.set_catalog(catalog).await.map_err(|error| error.to_string())
            }
            Ok((_turn, Err(error))) => {
                Err(format!("the MCP server `{name}` did not say what its tools are: {error}"))
            }
            Err(_) => {
                Err(format!("the MCP server `{name}` did not say in time what its tools are"))
            }
        }
    }

    async fn set_catalog(&self, catalog: McpCatalog) -> Result<(), PinError> {
        if self.lock_catalog().as_ref() == Some(&catalog) {
            return Ok(());
        }
        for note in &catalog.notes {
            tracing::warn!(server = %self.config.name, %note, "MCP tool skipped");
        }
        let first: Vec<(String, ToolPin)> = {
            let pins = self.lock_pins();
            let shown = catalog
                .order
                .iter()
                .filter(|name| pins.is_first_use() && pins.find_pin(name).is_none());
            let pin = |name: &String| {
                let definition = catalog.find_definition(name)?;
                Some((name.clone(), ToolPin::new(catalog.identity.clone(), definition)))
            };
            shown.filter_map(pin).collect()
        };
        if !first.is_empty() {
            tracing::info!(
                server = %self.config.name, identity = %catalog.identity, tools = first.len(),
                "an MCP server is seen for the first time; its tools are pinned as they are"
            );
            self.save_pins(first).await?;
        }
        *self.lock_catalog() = Some(catalog);
        self.publish_tools();
        Ok(())
    }

    /// Whether the server's last word about a tool is still this one.
    pub(crate) fn still_shows(&self, face: &OfferedTool) -> bool {
        self.lock_catalog().as_ref().is_some_and(|catalog| {
            catalog.identity == face.identity
                && catalog.find_definition(&face.definition.name) == Some(&face.definition)
        })
    }

    /// A person approved a call under a changed definition, and was shown the change: from now on that
    /// is the definition.
    pub(crate) async fn accept_change(&self, face: &OfferedTool) -> Result<(), PinError> {
        let name = face.definition.name.clone();
        tracing::info!(server = %self.config.name, tool = %name, "a changed definition was accepted with an approval");
        self.save_pins(vec![(name, ToolPin::new(face.identity.clone(), &face.definition))]).await?;
        self.publish_tools();
        Ok(())
    }

    async fn save_pins(&self, new: Vec<(String, ToolPin)>) -> Result<(), PinError> {
        let pins = self.pins.clone();
        run_blocking(move || pins.lock().unpoisoned().add_pins(new)).await
    }

    /// Connects, and connects again, until Holdpoint shuts down.
    async fn keep_connected(self: Arc<ServerCore>, tasks: TaskTracker) {
        let name = self.config.name.clone();
        let mut backoff = Backoff::new(RESTART_AFTER, RESTART_AFTER_MAX);
        let mut legacy_only = false;
        loop {
            let connected = tokio::select! {
                connected = tokio::time::timeout(CONNECT_WITHIN, self.connect_once(&tasks, legacy_only)) => connected,
                () = self.stop.cancelled() => return,
            };
            let why = match connected {
                Ok(Ok(link)) => {
                    let link = Arc::new(link);
                    tracing::info!(server = %name, identity = %link.identity, era = ?link.era, "connected to MCP server");
                    self.link.send_replace(ConnectionState::Up(link.clone()));
                    if self.watch_link(&link).await {
                        backoff.reset();
                    }
                    link.wire.close_reason()
                }
                Ok(Err(no_link)) if no_link.fled && !legacy_only => {
                    legacy_only = true;
                    continue;
                }
                Ok(Err(no_link)) => no_link.why,
                Err(_) => "it did not come to terms with us in time".into(),
            };
            if self.stop.is_cancelled() {
                return;
            }
            // A stopped call has no effects any more once the server is said to be down.
            let gone = self.gone.lock().unpoisoned().take();
            if let Some(gone) = gone {
                let _ = tokio::time::timeout(GONE_WITHIN, gone.cancelled()).await;
            }
            // A server is kept by one connection: there is nobody to come back together with.
            let pause = backoff.wait(WHOLE_WAIT);
            tracing::warn!(server = %name, %why, again_in = ?pause, "MCP server unavailable; will reconnect");
            self.link.send_replace(ConnectionState::Down { why });
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = self.credentials_changed() => backoff.reset(),
                () = self.stop.cancelled() => return,
            }
        }
    }

    async fn connect_once(
        &self,
        tasks: &TaskTracker,
        legacy_only: bool,
    ) -> Result<McpLink, NoLink> {
        let no_link = |why: String| NoLink { why, fled: false };
        let wire: Box<dyn McpTransport> = match &self.config.reach {
            McpEndpoint::Program { argv, cwd, environment, .. } => {
                let (job, secrets) = self.child_job(argv, cwd, environment).map_err(no_link)?;
                let (companion, pipes) = self
                    .runner
                    .start_companion(job)
                    .await
                    .map_err(|error| no_link(error.to_string()))?;
                let ends = (pipes.stdin, pipes.stdout, pipes.stderr);
                let (pipe, pump) = StdioTransport::new(&self.config.name, ends, secrets);
                let gone = CancellationToken::new();
                *self.gone.lock().unpoisoned() = Some(gone.clone());
                tasks.spawn(async move {
                    pump.pump_messages().await;
                    companion.stop().await;
                    gone.cancel();
                });
                Box::new(pipe)
            }
            McpEndpoint::Service { url, headers } => {
                let authorizer = self.config.authorizer.clone();
                Box::new(HttpTransport::new(url, headers, authorizer).map_err(no_link)?)
            }
        };
        // Whatever goes wrong from here on, the wire is let go of, and with it the process.
        let cut = wire.closed_token().clone().drop_guard();
        let link = McpLink::open(wire, legacy_only).await?;
        self.refresh_catalog(&link).await.map_err(no_link)?;
        cut.disarm();
        Ok(link)
    }

    fn child_job(
        &self,
        argv: &[String],
        cwd: &Path,
        environment: &Environment,
    ) -> Result<(ProcessJob, Vec<String>), String> {
        // The supervisor runs in `/`, and a relative path is meant from where the server was started. Pins
        // name the folder as it was configured.
        let cwd = &std::path::absolute(cwd).map_err(|why| format!("its folder: {why}"))?;
        let variables = environment.for_a_child();
        let (name, rest) = argv.split_first().ok_or("`argv` is empty; name a program")?;
        let program =
            resolve_program(name, cwd, path_of(&variables)).map_err(|why| why.to_string())?;
        let mut job = ProcessJob::new(program, rest.to_vec(), cwd);
        let secrets = environment.own_values(&variables);
        job.environment = variables;
        job.run_as = self.run_as.clone();
        Ok((job, secrets))
    }

    /// Resolves when the server is to be connected with other credentials.
    async fn credentials_changed(&self) {
        match &self.config.authorizer {
            Some(authorizer) => authorizer.changed().await,
            None => std::future::pending().await,
        }
    }

    /// Until the wire is cut. Says whether the server was well for a while.
    async fn watch_link(&self, link: &McpLink) -> bool {
        let mut well = false;
        let age = tokio::time::sleep(WELL_AFTER);
        tokio::pin!(age);
        // Counted from the first link on: a server that keeps leaving does not stay new for ever.
        let first_use = tokio::time::sleep_until(
            *self.new_until.get_or_init(|| tokio::time::Instant::now() + WELL_AFTER),
        );
        tokio::pin!(first_use);
        let mut is_new = true;
        loop {
            tokio::select! {
                () = link.wire.closed_token().cancelled() => return well,
                () = self.stop.cancelled() => {
                    link.wire.closed_token().cancel();
                    return well;
                }
                () = &mut age, if !well => well = true,
                () = &mut first_use, if is_new => {
                    is_new = false;
                    // What comes later was not there when the server was first seen.
                    self.lock_pins().end_first_use();
                }
                () = self.credentials_changed() => {
                    link.wire.closed_token().cancel();
                    return true;
                }
                () = link.wire.tools_changed() => {
                    if let Err(why) = self.refresh_catalog(link).await {
                        tracing::warn!(server = %self.config.name, %why, "cannot refresh the tool list of an MCP server");
                    }
                }
            }
        }
    }
}
