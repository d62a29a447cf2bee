//! Doors for browsers and other programs: our own server, or the program's.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use domain::person::PersonId;
use engine::{Engine, Error};
use server::{BindError, Extent, HttpLimits, MountSetup, Server};

use super::handle::Holdpoint;
use crate::front::{self, ExportLines};

impl Holdpoint {
    /// Listens for HTTP, with the web page. No request is answered before [`Serving::run`].
    ///
    /// ```
    /// # #[tokio::main]
    /// # async fn main() -> anyhow::Result<()> {
    /// use holdpoint::prelude::*;
    ///
    /// let holdpoint = Holdpoint::builder().person(Person::new("ana").admin()).build().await?;
    /// let serving = holdpoint.serve("127.0.0.1:0".parse()?).await?;
    /// println!("log in, once: {}", serving.login_link("ana").await?);
    /// serving.run(async { /* until this ends: */ }).await;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn serve(&self, address: SocketAddr) -> Result<Serving, BindError> {
        let engine = self.running.engine.clone();
        let mut setup = front::setup(engine.clone(), address);
        setup.doors = self.doors.open.clone();
        setup.words = self.doors.words.clone();
        let server = front::bind(setup, &self.running).await?;
        Ok(Serving { engine, server })
    }

    /// Routes for the program's own axum server: page, login, API, health and metrics, all beginning at
    /// the root. `origin` is where people reach the program, such as `https://shop.example.com`. Channels
    /// begin now, and the requests of their platforms are taken at `/channels/`. Doors for clients of other
    /// systems are only opened by [`Holdpoint::serve`].
    ///
    /// Callers prove who they are with our tokens and logins. A program that knows its users puts its
    /// word on the request: `request.extensions_mut().insert(acting.on_request())`.
    ///
    /// Must be called inside a tokio runtime.
    pub fn mount(&self, origin: impl Into<String>) -> Mounted {
        self.mounted(origin.into(), Extent::Everything)
    }

    /// Only the API (`/v1/…`), which may be nested under any path.
    pub fn mount_api(&self, origin: impl Into<String>) -> Mounted {
        self.mounted(origin.into(), Extent::Api)
    }

    fn mounted(&self, origin: String, extent: Extent) -> Mounted {
        let engine = self.running.engine.clone();
        let origin = origin.trim_end_matches('/').to_owned();
        let inner = server::mount(MountSetup {
            engine: engine.clone(),
            origin: origin.clone(),
            extent,
            trusts: None,
            warnings: Vec::new(),
            limits: HttpLimits::default(),
            audit: Some(Arc::new(ExportLines)),
        });
        #[cfg(feature = "chats")]
        let inner = front::with_chats(inner, extent, &self.running, &origin);
        Mounted { engine, origin, inner }
    }
}

/// A server that listens.
pub struct Serving {
    engine: Engine,
    server: Server,
}

impl Serving {
    /// Where people reach it.
    pub fn url(&self) -> &str {
        self.server.origin()
    }

    /// A link that logs this person in, once, within a quarter of an hour.
    pub async fn login_link(&self, person: &str) -> Result<String, Error> {
        login_link(&self.engine, self.url(), person).await
    }

    /// Serves until `until` ends; then takes nothing new, ends streams, and lets requests end. Holdpoint
    /// itself goes on.
    pub async fn run(self, until: impl Future<Output = ()>) {
        self.server.run(until).await;
    }

    /// Serves until somebody asks the process to stop (Ctrl-C, or a request to terminate).
    pub async fn run_until_stopped(self) {
        self.run(front::asked_to_stop()).await;
    }
}

/// Routes that work until they are closed.
pub struct Mounted {
    engine: Engine,
    origin: String,
    inner: server::Mounted,
}

impl Mounted {
    /// To be merged into (or for the API alone, nested in) the program's own router, which answers for
    /// unknown addresses.
    pub fn router(&self) -> Router {
        self.inner.router()
    }

    /// A link that logs this person in, once, within a quarter of an hour.
    pub async fn login_link(&self, person: &str) -> Result<String, Error> {
        login_link(&self.engine, &self.origin, person).await
    }

    /// Ends event streams and long polls, so that the program's server can end in good order.
    pub async fn close(&self) {
        self.inner.close().await;
    }
}

async fn login_link(engine: &Engine, origin: &str, person: &str) -> Result<String, Error> {
    let code = engine.new_login(&PersonId::new(person)).await?;
    Ok(format!("{origin}/login?code={code}"))
}
