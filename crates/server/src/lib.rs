//! The door for HTTP: native routes, events, the web page.
//!
//! Requests are parsed at the threshold into the words of the domain, the engine is called, and what
//! it says is written in the shapes of `wire`. Nothing is decided here.

mod agent_hook;
mod app;
mod asked;
mod attempts;
mod audit_lines;
mod auth;
mod channel_board;
mod cookie;
mod doors;
#[cfg(feature = "fuzz-api")]
pub mod fuzz_api;
mod health;
mod hooks;
mod idempotency;
mod limits;
mod listen;
mod login;
mod mcp;
mod metrics;
mod mount;
mod oauth_callback;
mod openapi;
mod origin;
mod page;
mod peer;
mod problem;
mod rate;
mod replay;
mod routes;
mod send_link;
mod share;
mod sse;
mod standing;
mod state_gauges;
mod streams;
mod threshold;
mod tls;
mod v1;
mod wire;

use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, OnceLock};

use engine::Engine;
use ports::mcp_connections::McpConnections;
use schemars::JsonSchema;
use serde::Serialize;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

pub use audit_lines::{AuditLines, AuditVerdict};
pub use channel_board::{ChannelBoard, ChannelInfo, TestNotSent};
pub use doors::{
    AgentType, AiSdk, DoorSetup, DoorWords, Format, FrontendTools, NamedAgent, PageFiles,
    ToolWords, Ui, Wire, World, Worlds,
};
pub use hooks::Hooks;
pub use limits::HttpLimits;
pub use mcp::{McpBody, McpCaller, McpEvent, McpGate, McpReply, McpRequest};
pub use mount::{Extent, MountSetup, Mounted, Vouched, mount};
pub use routes::list as routes;
pub use send_link::LinkSender;
pub use tls::{Tls, TlsError, TlsWarning};

use app::{App, AppInner};
use threshold::Threshold;

/// Everything that a server is made of.
pub struct ServerSetup {
    pub engine: Engine,
    pub listen: SocketAddr,
    /// Where people reach us, without a slash at the end; links point there.
    pub public_url: Option<String>,
    pub tls: Option<Tls>,
    /// Whose word on the caller's address and scheme is taken.
    pub trusts: Option<Arc<dyn Fn(IpAddr) -> bool + Send + Sync>>,
    /// What to say to the demo's agent, when this is the demo.
    pub demo: Option<Vec<Scenario>>,
    /// Shown in the inbox, such as an insecure set-up.
    pub warnings: Vec<String>,
    pub limits: HttpLimits,
    /// Without it, there is no audit export.
    pub audit: Option<Arc<dyn AuditLines>>,
    /// Doors for clients of other systems that are open.
    pub doors: Vec<DoorSetup>,
    /// What means yes and no for a tool on wires that know only words.
    pub words: DoorWords,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Scenario {
    pub name: String,
    pub say: String,
}

/// A variant for each remedy.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BindError {
    #[error(
        "{address} is in use: stop what listens there, or choose another address \
         (`--listen`, or `listen` under `[server]`)"
    )]
    InUse { address: SocketAddr },
    #[error("this user may not listen on {address}: choose a port above 1023 with --listen")]
    Forbidden { address: SocketAddr },
    #[error("cannot listen on {address}: {error}")]
    Io { address: SocketAddr, error: io::Error },
    #[error("TLS cannot be set up: {0}")]
    Tls(#[from] TlsError),
    #[error(
        "the door `{door}` acts in a person's name without credentials, and {address} can be reached by other \
         machines: listen on a loopback address, or take `act_as` out"
    )]
    ActsInTheOpen { door: &'static str, address: SocketAddr },
}

/// Listens already, and serves once it runs.
pub struct Server {
    app: App,
    listener: TcpListener,
    acceptor: Option<TlsAcceptor>,
    address: SocketAddr,
    hooks: Option<Arc<dyn Hooks>>,
    mcp: Option<Arc<dyn McpGate>>,
    /// Of doors that serve a client's page.
    pages: Vec<(TcpListener, axum::Router)>,
}

pub async fn bind(setup: ServerSetup) -> Result<Server, BindError> {
    for door in setup.doors.iter().filter(|door| door.act_as.is_some()) {
        let addresses = [Some(setup.listen), door.wire.page_address()];
        let open = addresses.into_iter().flatten().find(|address| !address.ip().is_loopback());
        if let Some(address) = open {
            return Err(BindError::ActsInTheOpen { door: door.wire.name(), address });
        }
    }
    let acceptor = setup.tls.as_ref().map(Tls::acceptor).transpose()?;
    let listener = listen::listen(setup.listen).await?;
    let address =
        listener.local_addr().map_err(|error| BindError::Io { address: setup.listen, error })?;
    let scheme = if acceptor.is_some() { "https" } else { "http" };
    let app = make(Made {
        origin: setup.public_url.unwrap_or_else(|| format!("{scheme}://{address}")),
        engine: setup.engine,
        tls: acceptor.is_some(),
        loopback: setup.listen.ip().is_loopback(),
        doors: setup.doors,
        words: setup.words,
        trusts: setup.trusts,
        demo: setup.demo,
        warnings: setup.warnings,
        audit: setup.audit,
        limits: setup.limits,
    });
    let mut pages = Vec::new();
    for (address, router) in doors::page_routers(&app) {
        pages.push((listen::listen(address).await?, router));
    }
    Ok(Server { app, listener, acceptor, address, hooks: None, mcp: None, pages })
}

/// What our own listener and a foreign one have in common.
struct Made {
    engine: Engine,
    origin: String,
    tls: bool,
    loopback: bool,
    doors: Vec<DoorSetup>,
    words: DoorWords,
    trusts: Option<Arc<dyn Fn(IpAddr) -> bool + Send + Sync>>,
    demo: Option<Vec<Scenario>>,
    warnings: Vec<String>,
    audit: Option<Arc<dyn AuditLines>>,
    limits: HttpLimits,
}

fn make(made: Made) -> App {
    let metrics = metrics::Metrics::new();
    let limits = made.limits;
    App::new(AppInner {
        origin: made.origin,
        engine: made.engine,
        tls: made.tls,
        loopback: made.loopback,
        doors: made.doors,
        words: made.words,
        trusts: made.trusts,
        demo: made.demo,
        warnings: made.warnings,
        audit: made.audit,
        recent: idempotency::Recent::default(),
        attempts: attempts::Attempts::new(limits.failures_per_minute),
        buckets: rate::Buckets::new(&limits),
        previews: rate::Buckets::with(
            limits::PREVIEWS_PER_SECOND,
            limits::PREVIEW_BURST,
            limits.callers_remembered,
        ),
        streams: streams::Streams::new(&limits, metrics.streams.clone()),
        requests: Semaphore::new(limits.requests_at_once),
        stranger_requests: Semaphore::new(limits.strangers_at_once.min(limits.requests_at_once)),
        urgent_requests: Semaphore::new(limits::URGENT_AT_ONCE),
        stranger_bodies: share::Share::new(limits.stranger_bodies),
        cookie_lookups: Semaphore::new(limits::COOKIE_LOOKUPS),
        cookie_waits: share::Share::new(limits::COOKIE_WAITS),
        audit_checks: Semaphore::new(1),
        channels: channel_board::Channels::default(),
        links: send_link::LinkRequests::default(),
        mcp_connections: OnceLock::new(),
        tasks: TaskTracker::new(),
        closing: CancellationToken::new(),
        openapi: openapi::document().to_string().into_bytes(),
        metrics,
        limits,
    })
}

/// Keeps the metrics for as long as the server runs.
fn watch(app: &App) {
    let (follower, closing) = (app.clone(), app.closing.clone());
    app.tasks.spawn(async move {
        tokio::select! {
            () = metrics::follow(follower) => {}
            () = closing.cancelled() => {}
        }
    });
}

impl Server {
    pub fn local_addr(&self) -> SocketAddr {
        self.address
    }

    /// Where people reach us: the public address, or the one that we listen on.
    pub fn origin(&self) -> &str {
        &self.app.origin
    }

    /// Where doors serve a client's page.
    pub fn page_addrs(&self) -> Vec<SocketAddr> {
        self.pages.iter().filter_map(|(listener, _)| listener.local_addr().ok()).collect()
    }

    /// Also takes the requests of chat platforms, under `/channels/`.
    #[must_use]
    pub fn with_hooks(self, hooks: Arc<dyn Hooks>) -> Server {
        Server { hooks: Some(hooks), ..self }
    }

    /// Also fronts MCP servers, under `/mcp`.
    #[must_use]
    pub fn with_mcp(self, gate: Arc<dyn McpGate>) -> Server {
        Server { mcp: Some(gate), ..self }
    }

    /// Also sends login links to people who ask for one, to their own account in a chat.
    #[must_use]
    pub fn with_links(self, links: Arc<dyn LinkSender>) -> Server {
        self.app.links.send_by(links);
        self
    }

    /// Also shows channels to admins, and lets them try one.
    #[must_use]
    pub fn with_channels(self, board: Arc<dyn ChannelBoard>) -> Server {
        self.app.channels.are(board);
        self
    }

    /// Also connects MCP servers with OAuth.
    #[must_use]
    pub fn with_mcp_connections(self, desk: Arc<dyn McpConnections>) -> Server {
        let _ = self.app.mcp_connections.set(desk);
        self
    }

    /// Serves until `shutdown`; then takes nothing new, ends streams, and lets requests end.
    pub async fn run(self, shutdown: impl Future<Output = ()>) {
        let app = self.app;
        watch(&app);
        // Doors and agents' hooks know by themselves who is calling, and a platform's request is judged by its
        // channel.
        let mut foreign = doors::router(&app).merge(agent_hook::router(&app));
        if let Some(hooks) = self.hooks {
            foreign = foreign.merge(hooks::router(&app, hooks));
        }
        if let Some(gate) = &self.mcp {
            foreign = foreign.merge(mcp::router(&app, gate.clone()));
        }
        let router = routes::router(&app).merge(foreign.layer(Threshold(app.clone())));
        let pages = self.pages.into_iter().map(|(listener, router)| {
            let (app, closing) = (app.clone(), app.closing.clone());
            let router = router.layer(Threshold(app.clone()));
            listen::serve(app, listener, self.acceptor.clone(), router, closing.cancelled_owned())
        });
        let pages = futures_util::future::join_all(pages);
        let own = listen::serve(app, self.listener, self.acceptor.clone(), router, shutdown);
        tokio::join!(own, pages);
        if let Some(gate) = self.mcp {
            gate.close().await;
        }
    }
}
