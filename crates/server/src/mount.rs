//! Our routes in another program's server. That program listens, and may speak for its own users.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::Router;
use axum::extract::{ConnectInfo, Request};
use axum::middleware::{Next, from_fn};
use axum::response::Response;
use domain::person::PersonId;
use engine::Engine;
use ports::mcp_connections::McpConnections;

use crate::app::App;
use crate::peer::Peer;
use crate::threshold::Threshold;
use crate::{AuditLines, Hooks, HttpLimits, LinkSender, Made, hooks, make, routes, watch};

/// What a program that mounts us has to say.
pub struct MountSetup {
    pub engine: Engine,
    /// Where people reach the program, such as `https://shop.example.com`, without a slash at the end.
    pub origin: String,
    pub extent: Extent,
    /// Whose word on the caller's address and scheme is taken.
    pub trusts: Option<Arc<dyn Fn(IpAddr) -> bool + Send + Sync>>,
    /// Shown in the inbox.
    pub warnings: Vec<String>,
    pub limits: HttpLimits,
    /// Without it, there is no audit export.
    pub audit: Option<Arc<dyn AuditLines>>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Extent {
    /// The page with its login, the API, health and metrics. The page's addresses begin at the root.
    #[default]
    Everything,
    /// Only what begins with `/v1/`; may be nested under any path.
    Api,
}

/// Put on a request (as an extension) by the program that mounts us: it has checked by its own means
/// that this person sent it. Nothing that comes over the wire can put one there.
#[derive(Clone, Debug)]
pub struct Vouched {
    pub person: PersonId,
    /// How the program knows; kept with every answer.
    pub how: String,
}

/// Routes that work until they are closed.
pub struct Mounted {
    app: App,
    router: Router,
}

/// Must be called inside a runtime: the metrics are kept by a task.
pub fn mount(setup: MountSetup) -> Mounted {
    let extent = setup.extent;
    let app = make(Made {
        engine: setup.engine,
        tls: setup.origin.starts_with("https://"),
        origin: setup.origin,
        loopback: false,
        // Their paths would be in the way of the program's own.
        doors: Vec::new(),
        words: crate::DoorWords::new(),
        trusts: setup.trusts,
        demo: None,
        warnings: setup.warnings,
        audit: setup.audit,
        limits: setup.limits,
    });
    watch(&app);
    let ours =
        routes::chosen(&app, |path| extent == Extent::Everything || path.starts_with("/v1/"));
    let router = ours.layer(from_fn(whence));
    Mounted { app, router }
}

impl Mounted {
    /// Also takes the requests of chat platforms, under `/channels/`.
    #[must_use]
    pub fn with_hooks(self, hooks: Arc<dyn Hooks>) -> Mounted {
        let taken = hooks::router(&self.app, hooks).layer(Threshold(self.app.clone()));
        Mounted { router: self.router.merge(taken.layer(from_fn(whence))), ..self }
    }

    /// Also sends login links to people who ask for one, to their own account in a chat.
    #[must_use]
    pub fn with_links(self, links: Arc<dyn LinkSender>) -> Mounted {
        self.app.links.send_by(links);
        self
    }

    /// Also shows channels to admins, and lets them try one.
    #[must_use]
    pub fn with_channels(self, board: Arc<dyn crate::ChannelBoard>) -> Mounted {
        self.app.channels.are(board);
        self
    }

    /// Also connects MCP servers with OAuth.
    #[must_use]
    pub fn with_mcp_connections(self, desk: Arc<dyn McpConnections>) -> Mounted {
        let _ = self.app.mcp_connections.set(desk);
        self
    }

    /// To be merged into the program's own router. Unknown addresses are left to that one.
    pub fn router(&self) -> Router {
        self.router.clone()
    }

    /// Ends streams and long polls, which would never end by themselves.
    pub async fn close(&self) {
        self.app.closing.cancel();
        self.app.tasks.close();
        self.app.tasks.wait().await;
    }
}

/// The other end of the connection, if the program's listener tells it.
async fn whence(mut request: Request, next: Next) -> Response {
    if let Some(ConnectInfo(address)) = request.extensions().get::<ConnectInfo<SocketAddr>>() {
        let peer = Peer(address.ip().to_canonical());
        request.extensions_mut().insert(peer);
    }
    next.run(request).await
}
