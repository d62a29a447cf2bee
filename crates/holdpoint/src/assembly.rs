//! A running Holdpoint, however it was set up: the engine on its store, and what works beside it. The
//! configuration file and the builder both end here.

#[cfg(feature = "process")]
mod ground;

use std::collections::BTreeMap;
#[cfg(feature = "program")]
use std::fs::File;
#[cfg(any(feature = "sqlite", feature = "program"))]
use std::path::Path;
use std::sync::Arc;
#[cfg(feature = "chats")]
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Result;
#[cfg(feature = "chats")]
use chat::{ChatService, Connector};
use domain::id::NodeId;
use domain::person::People;
use domain::policy::Policy;
use engine::{AgentSetup, Engine, Limits, Setup, SystemClock, SystemRng};
use ports::callback::CallbackSender;
use ports::clock::{Clock, Rng as _};
use ports::store::Store;
use ports::tool_host::ToolHost;
use ports::toolbox::Toolbox;
use stores::MemoryStore;
#[cfg(feature = "program")]
use stores::{PgAddress, PgStore, SealingKeys};
#[cfg(feature = "sqlite")]
use stores::{SqliteOptions, SqliteStore};
#[cfg(feature = "mcp")]
use tools::mcp::McpServer;
#[cfg(feature = "mcp")]
use tools::mcp::oauth::McpOauthDesk;

#[cfg(feature = "process")]
pub(crate) use ground::Ground;

/// A running engine and the store under it.
#[derive(Clone)]
pub(crate) struct RunningEngine {
    pub(crate) engine: Engine,
    store: OpenedStore,
    /// Programs of others that run beside us, and end with us.
    #[cfg(feature = "mcp")]
    companions: Vec<Arc<McpServer>>,
    /// Those of them that are connected with OAuth.
    #[cfg(feature = "mcp")]
    pub(crate) mcp_connections: Arc<McpOauthDesk>,
    /// The door for chats, where there are any.
    #[cfg(feature = "chats")]
    pub(crate) board: Option<ChatService>,
    #[cfg(feature = "chats")]
    chats_started: Arc<AtomicBool>,
}

impl RunningEngine {
    /// Begins to ask in chats and to listen there, once. `origin` is where people reach the page.
    #[cfg(feature = "chats")]
    pub(crate) fn start_chats(&self, origin: &str) {
        if let Some(board) = &self.board
            && !self.chats_started.swap(true, Ordering::SeqCst)
        {
            board.start(origin);
        }
    }

    /// Returns when the store can be used no more before this process is started again, and says why.
    #[cfg(feature = "program")]
    pub(crate) async fn store_ended(&self) -> String {
        match &self.store {
            OpenedStore::Shared(store, _) => store.ended().await.to_string(),
            _ => std::future::pending().await,
        }
    }

    /// Lets running work end by itself for a while, then closes the store.
    pub(crate) async fn close(&self, grace: std::time::Duration) {
        #[cfg(feature = "chats")]
        if let Some(board) = &self.board {
            board.close(grace).await;
        }
        self.engine.close(grace).await;
        #[cfg(feature = "mcp")]
        for server in &self.companions {
            server.close().await;
        }
        #[cfg(feature = "mcp")]
        self.mcp_connections.close().await;
        self.store.close().await;
    }
}

/// Where everything is remembered.
#[derive(Clone)]
enum OpenedStore {
    #[cfg(feature = "sqlite")]
    OnDisk(Arc<SqliteStore>),
    /// With the lock of this node's folder.
    #[cfg(feature = "program")]
    Shared(Arc<PgStore>, Arc<File>),
    /// In memory, or a store of the embedding program, which closes it itself.
    Other(Arc<dyn Store>),
}

impl OpenedStore {
    fn store(&self) -> Arc<dyn Store> {
        match self {
            #[cfg(feature = "sqlite")]
            OpenedStore::OnDisk(store) => store.clone(),
            #[cfg(feature = "program")]
            OpenedStore::Shared(store, _) => store.clone(),
            OpenedStore::Other(store) => store.clone(),
        }
    }

    async fn close(&self) {
        match self {
            #[cfg(feature = "sqlite")]
            OpenedStore::OnDisk(store) => store.close().await,
            #[cfg(feature = "program")]
            OpenedStore::Shared(store, lock) => {
                store.close().await;
                // An error would leave it to the end of the process.
                drop(lock.unlock());
            }
            OpenedStore::Other(_) => {}
        }
    }
}

/// The parts of an engine, besides its data.
pub(crate) struct Plan {
    pub(crate) people: People,
    pub(crate) policy: Policy,
    pub(crate) agents: Vec<AgentSetup>,
    pub(crate) tools: Vec<Arc<dyn ToolHost>>,
    #[cfg(feature = "mcp")]
    pub(crate) companions: Vec<Arc<McpServer>>,
    #[cfg(feature = "mcp")]
    pub(crate) mcp_connections: Arc<McpOauthDesk>,
    pub(crate) callback_sender: Arc<dyn CallbackSender>,
    /// How notices are sent to people's browsers, if they are.
    #[cfg(feature = "web-push")]
    pub(crate) notices: Option<channels::web_push::WebPushSettings>,
    #[cfg(feature = "chats")]
    pub(crate) connectors: Vec<Connector>,
    /// How long questions wait in sessions that live in a channel.
    pub(crate) home_expires_ms: BTreeMap<Arc<str>, u64>,
    /// How long a login lasts that nobody uses.
    pub(crate) session_ms: u64,
}

/// What an engine is built on.
pub(crate) struct Base {
    node: NodeId,
    store: OpenedStore,
    pub(crate) rng: Arc<SystemRng>,
    pub(crate) clock: Arc<dyn Clock>,
}

impl Base {
    /// A data directory.
    #[cfg(feature = "sqlite")]
    pub(crate) async fn on_disk(data: &Path, options: &SqliteOptions) -> Result<Base> {
        let (node, rng) = Base::identity();
        let store = SqliteStore::open_with(data, node, options)?;
        let (_, last) = store.last().await?;
        let clock = Arc::new(SystemClock::new(last));
        Ok(Base { node, store: OpenedStore::OnDisk(store), rng, clock })
    }

    /// A database that other nodes may share. The folder is this node's own.
    #[cfg(feature = "program")]
    pub(crate) async fn on_postgres(
        address: &PgAddress,
        folder: &Path,
        sealing_keys: Option<SealingKeys>,
    ) -> Result<Base> {
        use anyhow::Context as _;
        let shown = || folder.display().to_string();
        let lock = lock_folder(folder).with_context(|| {
            format!("the folder `{}` cannot be used, or another server uses it", shown())
        })?;
        let (node, rng) = Base::identity();
        let store = match sealing_keys {
            Some(keys) => PgStore::open_sealing(address, folder, node, keys).await?,
            None => PgStore::open(address, folder, node).await?,
        };
        let (_, last) = store.last().await?;
        let clock = Arc::new(SystemClock::shared_by(store.clone(), last));
        Ok(Base { node, store: OpenedStore::Shared(store, Arc::new(lock)), rng, clock })
    }

    pub(crate) fn in_memory() -> Base {
        let (node, rng) = Base::identity();
        let store = OpenedStore::Other(Arc::new(MemoryStore::new(node)));
        Base { node, store, rng, clock: Arc::new(SystemClock::new(None)) }
    }

    /// A store of the embedding program, made for the node that this process is.
    pub(crate) async fn on_store(open: impl FnOnce(NodeId) -> Arc<dyn Store>) -> Result<Base> {
        let (node, rng) = Base::identity();
        let store = open(node);
        let (_, last) = store.last().await?;
        let clock = Arc::new(SystemClock::shared_by(store.clone(), last));
        Ok(Base { node, store: OpenedStore::Other(store), rng, clock })
    }

    #[cfg(feature = "program")]
    pub(crate) fn store(&self) -> Arc<dyn Store> {
        self.store.store()
    }

    fn identity() -> (NodeId, Arc<SystemRng>) {
        let rng = Arc::new(SystemRng::default());
        (NodeId::new(SystemClock::new(None).now().as_ms(), rng.bits()), rng)
    }

    pub(crate) async fn build(self, plan: Plan) -> Result<RunningEngine> {
        let setup = Setup {
            node: self.node,
            store: self.store.store(),
            clock: self.clock.clone(),
            rng: self.rng.clone(),
            callback_sender: plan.callback_sender,
            people: plan.people,
            policy: plan.policy,
            agents: plan.agents,
            tools: plan.tools,
            limits: Limits {
                home_expires_ms: plan.home_expires_ms,
                session_ms: plan.session_ms,
                ..Limits::default()
            },
        };
        let boxes: Vec<Arc<dyn Toolbox>> = Vec::new();
        #[cfg(feature = "mcp")]
        let boxes = {
            let servers = plan.companions.iter().map(|server| server.clone() as Arc<dyn Toolbox>);
            boxes.into_iter().chain(servers).collect()
        };
        let engine = Engine::start_with(setup, boxes).await?;
        #[cfg(feature = "mcp")]
        plan.mcp_connections.record_with(&(Arc::new(engine.clone()) as Arc<_>));
        #[cfg(feature = "web-push")]
        if let Some(settings) = plan.notices {
            use anyhow::Context as _;
            match engine.sealed_push_key(channels::web_push::new_vapid_key).await {
                Ok(key) => {
                    let clock = self.clock.clone();
                    let opened = channels::web_push::WebPush::new(settings, &key, clock)
                        .context("the key of notices in the store is damaged")?;
                    engine.send_notices_by(Arc::new(opened));
                }
                // People are asked without them, too.
                Err(engine::Error::SealingKey(why)) => {
                    tracing::warn!(%why, "no notices are sent to people's browsers");
                }
                Err(error) => return Err(error.into()),
            }
        }
        #[cfg(feature = "chats")]
        let board = (!plan.connectors.is_empty()).then(|| {
            ChatService::new(chat::Setup {
                engine: engine.clone(),
                clock: self.clock,
                rng: self.rng,
                connectors: plan.connectors,
                limits: chat::Limits::default(),
            })
        });
        Ok(RunningEngine {
            engine,
            store: self.store,
            #[cfg(feature = "mcp")]
            companions: plan.companions,
            #[cfg(feature = "mcp")]
            mcp_connections: plan.mcp_connections,
            #[cfg(feature = "chats")]
            board,
            #[cfg(feature = "chats")]
            chats_started: Arc::default(),
        })
    }
}

/// Traces of calls and the audit key are nobody else's business, and no other process's.
#[cfg(feature = "program")]
fn lock_folder(folder: &Path) -> std::io::Result<File> {
    use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let mut options = std::fs::OpenOptions::new();
    let lock = options.create(true).append(true).mode(0o600).open(folder.join("lock"))?;
    lock.try_lock()?;
    Ok(lock)
}

/// Callbacks for the holds of outside programs: signed webhooks, where they are compiled in.
#[cfg(feature = "channel-webhook")]
pub(crate) fn default_callback_sender(clock: Arc<dyn Clock>) -> Arc<dyn CallbackSender> {
    use channels::webhook::{WebhookCallbackSender, WebhookSettings};
    Arc::new(WebhookCallbackSender::new(WebhookSettings::default(), clock))
}

/// Refuses every callback when its hold is opened.
#[cfg(not(feature = "channel-webhook"))]
pub(crate) fn default_callback_sender(_: Arc<dyn Clock>) -> Arc<dyn CallbackSender> {
    Arc::new(no_callbacks::NoCallbacks)
}

#[cfg(not(feature = "channel-webhook"))]
mod no_callbacks {
    use async_trait::async_trait;
    use domain::hold::Hold;
    use ports::callback::{CallbackError, CallbackSender};

    const WHY: &str = "this program was built without callbacks (the feature `channel-webhook`)";

    pub(super) struct NoCallbacks;

    #[async_trait]
    impl CallbackSender for NoCallbacks {
        fn accepts(&self, _: &str, _: &str) -> Result<(), String> {
            Err(WHY.into())
        }

        async fn deliver(&self, _: &str, _: &Hold) -> Result<(), CallbackError> {
            // Of a hold that a program with callbacks opened: that one may be started again.
            Err(CallbackError::Never(WHY.into()))
        }
    }
}
