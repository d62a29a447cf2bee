//! What every handler can reach.

use std::net::IpAddr;
use std::sync::{Arc, OnceLock};

use engine::Engine;
use ports::mcp_connections::McpConnections;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::Scenario;
use crate::attempts::Attempts;
use crate::audit_lines::AuditLines;
use crate::channel_board::Channels;
use crate::doors::{DoorSetup, DoorWords};
use crate::idempotency::Recent;
use crate::limits::HttpLimits;
use crate::metrics::Metrics;
use crate::rate::Buckets;
use crate::send_link::LinkRequests;
use crate::share::Share;
use crate::streams::Streams;

#[derive(Clone)]
pub(crate) struct App(Arc<AppInner>);

pub(crate) struct AppInner {
    pub(crate) engine: Engine,
    /// Where people reach us; links point there.
    pub(crate) origin: String,
    pub(crate) tls: bool,
    /// Whether only this machine can reach our listener.
    pub(crate) loopback: bool,
    pub(crate) doors: Vec<DoorSetup>,
    pub(crate) words: DoorWords,
    pub(crate) trusts: Option<Arc<dyn Fn(IpAddr) -> bool + Send + Sync>>,
    pub(crate) demo: Option<Vec<Scenario>>,
    pub(crate) warnings: Vec<String>,
    pub(crate) limits: HttpLimits,
    pub(crate) audit: Option<Arc<dyn AuditLines>>,
    pub(crate) metrics: Metrics,
    pub(crate) recent: Recent,
    pub(crate) attempts: Attempts,
    pub(crate) buckets: Buckets,
    /// Of requests that let a tool look at an edited call.
    pub(crate) previews: Buckets,
    pub(crate) streams: Streams,
    pub(crate) requests: Semaphore,
    pub(crate) stranger_requests: Semaphore,
    pub(crate) urgent_requests: Semaphore,
    pub(crate) stranger_bodies: Arc<Share>,
    pub(crate) cookie_lookups: Semaphore,
    /// Those who wait for one.
    pub(crate) cookie_waits: Arc<Share>,
    /// The whole log is checked by one at a time.
    pub(crate) audit_checks: Semaphore,
    pub(crate) channels: Channels,
    pub(crate) links: LinkRequests,
    /// MCP servers that are connected with OAuth, where there are any.
    pub(crate) mcp_connections: OnceLock<Arc<dyn McpConnections>>,
    pub(crate) tasks: TaskTracker,
    pub(crate) closing: CancellationToken,
    pub(crate) openapi: Vec<u8>,
}

impl App {
    pub(crate) fn new(inner: AppInner) -> App {
        App(Arc::new(inner))
    }
}

impl std::ops::Deref for App {
    type Target = AppInner;

    fn deref(&self) -> &AppInner {
        &self.0
    }
}
