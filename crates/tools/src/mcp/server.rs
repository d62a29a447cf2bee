//! One MCP server: kept running or reachable, and its tools on a shelf.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, RwLock, Weak};
use std::time::Duration;

use domain::tool::Effects;
use ports::backoff::{Backoff, WHOLE_WAIT};
use ports::toolbox::{Shelf, Toolbox};
use ports::unpoisoned::Unpoisoned as _;
use tokio::sync::watch;
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;

use super::catalog::Catalog;
use super::http::Http;
use super::limits::{
    CONNECT_WITHIN, FIRST_LOOK_WITHIN, GONE_WITHIN, LIST_WITHIN, RESTART_AFTER, RESTART_AFTER_MAX,
    WELL_AFTER,
};
use super::link::{Link, NoLink};
use super::pins::{Pin, PinError, Pins};
use super::shelf::{Face, shelf};
use super::stdio::Pipe;
use super::wire::Wire;
use crate::bad_tool::BadTool;
use crate::limits::{TIME_LIMIT_DEFAULT, TIME_LIMIT_MAX};
use crate::process::{Environment, Job, RunAs, Runner, blocking, path_of, resolve};

/// How a server is set up.
#[derive(Clone, Debug)]
pub struct McpConfig {
    /// Its tools are called `name__tool`.
    pub name: String,
    pub reach: Reach,
    /// Which of its tools are let through; `None`: all.
    pub only: Option<Vec<String>>,
    pub effects: Effects,
    /// By the server's own name of a tool.
    pub effects_of: BTreeMap<String, Effects>,
    /// For one call, without the time that people take.
    pub time_limit: Duration,
    /// It was seen before, so that definitions which are not pinned are no first use.
    pub was_seen: bool,
}

/// How a server is reached.
#[derive(Clone)]
pub enum Reach {
    /// A program that we start and end.
    Program { argv: Vec<String>, cwd: PathBuf, environment: Environment, run_as: Option<String> },
    /// A service. The headers' values are secrets.
    Service { url: String, headers: Vec<(String, String)> },
}

impl fmt::Debug for Reach {
    // The values of headers are secrets, and debug output ends up in logs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Reach({})", self.shown())
    }
}

impl Reach {
    /// Another way to reach it is another server, and so another tool.
    pub(crate) fn origin(&self) -> String {
        match self {
            Reach::Program { argv, cwd, environment, run_as } => {
                format!("argv={argv:?} cwd={cwd:?} env={} user={run_as:?}", environment.digest())
            }
            Reach::Service { url, headers } => {
                let names: Vec<&str> = headers.iter().map(|(name, _)| name.as_str()).collect();
                format!("url={url:?} headers={names:?}")
            }
        }
    }

    pub(crate) fn shown(&self) -> String {
        match self {
            Reach::Program { argv, run_as, .. } => {
                let user =
                    run_as.as_ref().map(|user| format!(" as user {user}")).unwrap_or_default();
                format!("{}{user}", serde_json::Value::from(argv.clone()))
            }
            Reach::Service { url, .. } => url.clone(),
        }
    }

    pub(crate) fn is_ours(&self) -> bool {
        matches!(self, Reach::Program { .. })
    }
}

impl McpConfig {
    pub fn new(name: &str, reach: Reach) -> McpConfig {
        McpConfig {
            name: name.into(),
            reach,
            only: None,
            effects: Effects::AtMostOnce,
            effects_of: BTreeMap::new(),
            time_limit: TIME_LIMIT_DEFAULT,
            was_seen: false,
        }
    }
}

/// The handle. The server is let go of when it is dropped.
pub struct McpServer {
    core: Arc<Core>,
    tasks: TaskTracker,
    _stop: DropGuard,
}

pub(crate) struct Core {
    pub(crate) config: McpConfig,
    runner: Runner,
    run_as: Option<RunAs>,
    link: watch::Sender<State>,
    pins: Arc<Mutex<Pins>>,
    catalog: Mutex<Option<Catalog>>,
    shelf: RwLock<Arc<Shelf>>,
    /// One list at a time: the last look is the one that counts.
    looking: tokio::sync::Mutex<()>,
    /// Set with the first link.
    new_until: OnceLock<tokio::time::Instant>,
    /// Cancelled when the process of the last link, with all that it started, is dead.
    gone: Mutex<Option<CancellationToken>>,
    stop: CancellationToken,
    me: Weak<Core>,
}

#[derive(Clone)]
enum State {
    Starting,
    Down { why: String },
    Up(Arc<Link>),
}

impl McpServer {
    /// Begins to keep the server running. Nothing here waits for it: a server that is down must not
    /// keep the house from starting. Its pins are in `folder`.
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
            Reach::Program { run_as: Some(user), .. } => {
                Some(runner.run_as(user).map_err(|why| BadTool::new(&config.name, why))?)
            }
            _ => None,
        };
        let pins = Pins::open(folder, &config.name, config.was_seen)
            .map_err(|why| BadTool::new(&config.name, why))?;
        let stop = CancellationToken::new();
        let core = Arc::new_cyclic(|me| Core {
            config,
            runner,
            run_as,
            link: watch::Sender::new(State::Starting),
            pins: Arc::new(Mutex::new(pins)),
            catalog: Mutex::default(),
            shelf: RwLock::default(),
            new_until: OnceLock::new(),
            gone: Mutex::default(),
            looking: tokio::sync::Mutex::default(),
            stop: stop.clone(),
            me: me.clone(),
        });
        core.arrange();
        let tasks = TaskTracker::new();
        tasks.spawn(core.clone().keep(tasks.clone()));
        Ok(McpServer { core, tasks, _stop: stop.drop_guard() })
    }

    /// Waits a little for a server that was never seen, so that its tools are there when the first
    /// message comes. One that was has its pinned tools on the shelf already.
    pub async fn first_look(&self) {
        if !self.core.pins().is_first_use() {
            return;
        }
        let mut link = self.core.link.subscribe();
        let looked = link.wait_for(|state| !matches!(state, State::Starting));
        let _ = tokio::time::timeout(FIRST_LOOK_WITHIN, looked).await;
    }

    /// Whether definitions of it are pinned: from then on they must not be missing.
    pub fn is_pinned(&self) -> bool {
        !self.core.pins().is_empty()
    }

    /// Why the server cannot be used now, for those who look after a set-up. Waits for the first attempt.
    pub async fn unusable(&self) -> Option<String> {
        let mut link = self.core.link.subscribe();
        let looked = link.wait_for(|state| !matches!(state, State::Starting));
        match tokio::time::timeout(FIRST_LOOK_WITHIN, looked).await {
            Ok(Ok(state)) => match &*state {
                State::Down { why } => Some(why.clone()),
                State::Starting | State::Up(_) => None,
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

    fn shelf(&self) -> Arc<Shelf> {
        self.core.shelf.read().unpoisoned().clone()
    }
}

impl Core {
    fn pins(&self) -> MutexGuard<'_, Pins> {
        self.pins.lock().unpoisoned()
    }

    fn catalog(&self) -> MutexGuard<'_, Option<Catalog>> {
        self.catalog.lock().unpoisoned()
    }

    /// Puts on the shelf what is pinned and shown.
    fn arrange(&self) {
        let (shelf, notes) = shelf(&self.me, &self.config, &self.pins(), self.catalog().as_ref());
        for note in notes {
            tracing::warn!(server = %self.config.name, tool = %note, "a tool of an MCP server cannot be offered");
        }
        *self.shelf.write().unpoisoned() = Arc::new(shelf);
    }

    /// The server, if it is there or comes back soon.
    pub(crate) async fn link(&self, within: Duration) -> Result<Arc<Link>, String> {
        let mut states = self.link.subscribe();
        let found = tokio::time::timeout(within, async {
            loop {
                // One that has just been cut is not known to be down yet, and is about to be started.
                let is_cut = match &*states.borrow_and_update() {
                    State::Up(link) if !link.wire.cut().is_cancelled() => {
                        return Some(link.clone());
                    }
                    State::Up(_) => true,
                    State::Starting | State::Down { .. } => false,
                };
                states.changed().await.ok()?;
                // An attempt that failed while we waited: the next one is further away.
                if !is_cut && matches!(&*states.borrow(), State::Down { .. }) {
                    return None;
                }
            }
        });
        if let Ok(Some(link)) = found.await {
            return Ok(link);
        }
        let why = match &*self.link.borrow() {
            State::Down { why } => why.clone(),
            _ => "it has not answered yet".into(),
        };
        Err(format!("the MCP server `{}` is not there: {why}", self.config.name))
    }

    /// Returns when the server that was there is not any more.
    pub(crate) async fn ended(&self, within: Duration) {
        let mut link = self.link.subscribe();
        let down = link.wait_for(|state| !matches!(state, State::Up(_)));
        let _ = tokio::time::timeout(within, down).await;
    }

    /// Looks again at what the server offers.
    pub(crate) async fn refresh(&self, link: &Link) -> Result<(), String> {
        let name = &self.config.name;
        // Waiting for one's turn is part of the time: behind one who waits in vain, so does the next.
        let listed = tokio::time::timeout(LIST_WITHIN, async {
            let turn = self.looking.lock().await;
            (turn, link.tools().await)
        });
        match listed.await {
            Ok((_turn, Ok(catalog))) => self.seen(catalog).await.map_err(|error| error.to_string()),
            Ok((_turn, Err(error))) => {
                Err(format!("the MCP server `{name}` did not say what its tools are: {error}"))
            }
            Err(_) => {
                Err(format!("the MCP server `{name}` did not say in time what its tools are"))
            }
        }
    }

    async fn seen(&self, catalog: Catalog) -> Result<(), PinError> {
        if self.catalog().as_ref() == Some(&catalog) {
            return Ok(());
        }
        for note in &catalog.notes {
            tracing::warn!(server = %self.config.name, %note, "a tool of an MCP server is left out");
        }
        let first: Vec<(String, Pin)> = {
            let pins = self.pins();
            let shown =
                catalog.order.iter().filter(|name| pins.is_first_use() && pins.get(name).is_none());
            let pin = |name: &String| {
                let definition = catalog.get(name)?;
                Some((name.clone(), Pin::new(catalog.identity.clone(), definition)))
            };
            shown.filter_map(pin).collect()
        };
        if !first.is_empty() {
            tracing::info!(
                server = %self.config.name, identity = %catalog.identity, tools = first.len(),
                "an MCP server is seen for the first time; its tools are pinned as they are"
            );
            self.pin(first).await?;
        }
        *self.catalog() = Some(catalog);
        self.arrange();
        Ok(())
    }

    /// Whether the server's last word about a tool is still this one.
    pub(crate) fn still_shows(&self, face: &Face) -> bool {
        self.catalog().as_ref().is_some_and(|catalog| {
            catalog.identity == face.identity
                && catalog.get(&face.definition.name) == Some(&face.definition)
        })
    }

    /// A person approved a call under a changed definition, and was shown the change: from now on that
    /// is the definition.
    pub(crate) async fn accept(&self, face: &Face) -> Result<(), PinError> {
        let name = face.definition.name.clone();
        tracing::info!(server = %self.config.name, tool = %name, "a changed definition was accepted with an approval");
        self.pin(vec![(name, Pin::new(face.identity.clone(), &face.definition))]).await?;
        self.arrange();
        Ok(())
    }

    async fn pin(&self, new: Vec<(String, Pin)>) -> Result<(), PinError> {
        let pins = self.pins.clone();
        blocking(move || pins.lock().unpoisoned().pin(new)).await
    }

    /// Connects, and connects again, until the house is closed.
    async fn keep(self: Arc<Core>, tasks: TaskTracker) {
        let name = self.config.name.clone();
        let mut backoff = Backoff::new(RESTART_AFTER, RESTART_AFTER_MAX);
        let mut legacy_only = false;
        loop {
            let connected = tokio::select! {
                connected = tokio::time::timeout(CONNECT_WITHIN, self.connect(&tasks, legacy_only)) => connected,
                () = self.stop.cancelled() => return,
            };
            let why = match connected {
                Ok(Ok(link)) => {
                    let link = Arc::new(link);
                    tracing::info!(server = %name, identity = %link.identity, era = ?link.era, "an MCP server is there");
                    self.link.send_replace(State::Up(link.clone()));
                    if self.attend(&link).await {
                        backoff.reset();
                    }
                    link.wire.why()
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
            tracing::warn!(server = %name, %why, again_in = ?pause, "an MCP server is not there");
            self.link.send_replace(State::Down { why });
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = self.stop.cancelled() => return,
            }
        }
    }

    async fn connect(&self, tasks: &TaskTracker, legacy_only: bool) -> Result<Link, NoLink> {
        let no_link = |why: String| NoLink { why, fled: false };
        let wire: Box<dyn Wire> = match &self.config.reach {
            Reach::Program { argv, cwd, environment, .. } => {
                let (job, secrets) = self.job(argv, cwd, environment).map_err(no_link)?;
                let (companion, pipes) =
                    self.runner.converse(job).await.map_err(|error| no_link(error.to_string()))?;
                let ends = (pipes.stdin, pipes.stdout, pipes.stderr);
                let (pipe, pump) = Pipe::new(&self.config.name, ends, secrets);
                let gone = CancellationToken::new();
                *self.gone.lock().unpoisoned() = Some(gone.clone());
                tasks.spawn(async move {
                    pump.run().await;
                    companion.stop().await;
                    gone.cancel();
                });
                Box::new(pipe)
            }
            Reach::Service { url, headers } => Box::new(Http::new(url, headers).map_err(no_link)?),
        };
        // Whatever goes wrong from here on, the wire is let go of, and with it the process.
        let cut = wire.cut().clone().drop_guard();
        let link = Link::open(wire, legacy_only).await?;
        self.refresh(&link).await.map_err(no_link)?;
        cut.disarm();
        Ok(link)
    }

    fn job(
        &self,
        argv: &[String],
        cwd: &Path,
        environment: &Environment,
    ) -> Result<(Job, Vec<String>), String> {
        // The supervisor runs in `/`, and a relative path is meant from where the server was started. Pins
        // name the folder as it was configured.
        let cwd = &std::path::absolute(cwd).map_err(|why| format!("its folder: {why}"))?;
        let variables = environment.for_a_child();
        let (name, rest) = argv.split_first().ok_or("`argv` is empty; name a program")?;
        let program = resolve(name, cwd, path_of(&variables)).map_err(|why| why.to_string())?;
        let mut job = Job::new(program, rest.to_vec(), cwd);
        let secrets = environment.given(&variables);
        job.environment = variables;
        job.run_as = self.run_as.clone();
        Ok((job, secrets))
    }

    /// Until the wire is cut. Says whether the server was well for a while.
    async fn attend(&self, link: &Link) -> bool {
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
                () = link.wire.cut().cancelled() => return well,
                () = self.stop.cancelled() => {
                    link.wire.cut().cancel();
                    return well;
                }
                () = &mut age, if !well => well = true,
                () = &mut first_use, if is_new => {
                    is_new = false;
                    // What comes later was not there when the server was first seen.
                    self.pins().end_first_use();
                }
                () = link.wire.tools_changed() => {
                    if let Err(why) = self.refresh(link).await {
                        tracing::warn!(server = %self.config.name, %why, "the tools of an MCP server could not be read again");
                    }
                }
            }
        }
    }
}
