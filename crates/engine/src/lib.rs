//! The engine: one way in (a command is decided on and committed), one way out (the pending work of the new
//! state is started, and its result comes back as a command).
//!
//! Nothing here is remembered only in memory. Each stream has a lane that keeps its newest state, but every
//! commit names the version it was decided on: a state that another node has overtaken costs a retry and
//! never a wrong decision, and any number of nodes may do the same over one store.

mod accounts;
mod calls;
mod clock;
mod commands;
mod effects;
mod error;
mod follow;
mod lane;
mod limits;
mod push;
mod records;
mod reports;
mod retry;
mod secrets;
mod shutdown;
mod spawn;
mod stream;

use std::collections::HashMap;
use std::sync::Arc;

use domain::budget::{Budgets, Prices};
use domain::context::WhilePending;
use domain::external_hold::ExternalHold;
use domain::global_state::GlobalState;
use domain::id::NodeId;
use domain::person::People;
use domain::policy::Policy;
use domain::session::Session;
use ports::callback::CallbackSender;
use ports::clock::{Clock, Rng};
use ports::model::Model;
use ports::start_gate::StartGate;
use ports::store::Store;
use ports::tool_host::ToolHost;
use ports::toolbox::Toolbox;
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio_util::task::TaskTracker;

use calls::tools::Tools;
use effects::dispatch::AtWork;
use effects::held_back::HeldBackSessions;
use effects::recover::Recovering;
use effects::timers::Timers;
use follow::deltas::Live;
use follow::watch::Bus;
use lane::lanes::Lanes;
use records::files::Uploads;

pub use accounts::{Caller, LOGIN_MS, MintedToken, NewToken};
pub use calls::edit_preview::EditPreview;
pub use clock::{SystemClock, SystemRng};
pub use commands::answer::Answering;
pub use commands::external_hold::{NewAudience, NewHold, Reported};
pub use commands::session::{MessageReceipt, NewMessage, NewSession};
pub use error::Error;
pub use follow::deltas::Spoken;
pub use follow::inbox::{HoldFilter, InboxCounts, InboxSection};
pub use follow::read::Until;
pub use follow::watch::{Follow, Followed, Happening};
pub use lane::submit::Keep;
pub use limits::{EXPIRING_SOON_MS, Limits, REPLIES_KEPT_MS, REPLIES_ON_DISK_MS};
pub use push::{NewSubscription, Subscription};
pub use records::chat_records::ChatRecords;
pub use records::files::{FileBytes, FileError, Upload};
pub use records::saved_views::SavedView;
pub use records::snooze::Snooze;
pub use reports::asked_before::{AskedBefore, DAY_MS, LastDenial, OutcomeCounts, RecentCounts};
pub use reports::delivery_failures::{ChannelFailure, Undelivered};
pub use reports::figures::{DayFigures, Figures, PersonFigures, Quantiles};
pub use reports::rule_study::{
    Explained, GrantMatches, ImaginedCall, PolicyReplay, RulingChange, RulingName,
};
pub use secrets::reveal::Revealed;

/// An agent as the configuration describes it, with its model and its tools at hand.
pub struct AgentSetup {
    pub id: Arc<str>,
    pub instructions: Option<String>,
    pub model: Arc<dyn Model>,
    /// Names of the tools of this engine, and of boxes of them.
    pub tools: Vec<Arc<str>>,
    pub while_pending: WhilePending,
    pub run_as_decided: bool,
    /// What a run may use before a person is asked whether it may go on.
    pub budgets: Budgets,
    /// What its model costs.
    pub prices: Prices,
}

/// Everything that an engine is made of.
pub struct Setup {
    pub node: NodeId,
    pub store: Arc<dyn Store>,
    pub clock: Arc<dyn Clock>,
    pub rng: Arc<dyn Rng>,
    pub callback_sender: Arc<dyn CallbackSender>,
    pub people: People,
    pub policy: Policy,
    pub agents: Vec<AgentSetup>,
    pub tools: Vec<Arc<dyn ToolHost>>,
    pub limits: Limits,
}

/// A cheap handle; clone it freely.
#[derive(Clone)]
pub struct Engine(Arc<EngineInner>);

pub(crate) struct EngineInner {
    pub(crate) node: NodeId,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) rng: Arc<dyn Rng>,
    pub(crate) callback_sender: Arc<dyn CallbackSender>,
    pub(crate) people: People,
    pub(crate) policy: Policy,
    pub(crate) agents: HashMap<Arc<str>, AgentSetup>,
    pub(crate) tools: Tools,
    pub(crate) limits: Limits,
    pub(crate) sessions: Arc<Lanes<Session>>,
    pub(crate) external_holds: Arc<Lanes<ExternalHold>>,
    pub(crate) global: Arc<Lanes<GlobalState>>,
    pub(crate) live: Live,
    pub(crate) bus: Bus,
    pub(crate) timers: Timers,
    pub(crate) at_work: AtWork,
    pub(crate) thinking: Semaphore,
    pub(crate) executing: Semaphore,
    pub(crate) recovering: Recovering,
    pub(crate) tasks: TaskTracker,
    pub(crate) runtime: Handle,
    /// Closed exactly while the global state, as this node knows it, is frozen.
    pub(crate) start_gate: StartGate,
    /// Tasks that look after a thaw at what waited.
    pub(crate) waking: tokio::sync::watch::Sender<usize>,
    pub(crate) held_back: HeldBackSessions,
    /// One more whenever this node is to take over what others left.
    pub(crate) takeovers: tokio::sync::watch::Sender<u64>,
    pub(crate) uploads: Uploads,
    pub(crate) closing: shutdown::Closing,
    pub(crate) push: push::PushDesk,
}

impl Engine {
    /// Works until [`Engine::close`]. What earlier processes left is taken up meanwhile: see
    /// [`Engine::recovered`].
    pub async fn start(setup: Setup) -> Result<Engine, Error> {
        Engine::start_with(setup, Vec::new()).await
    }

    /// The same, with tools that may change while the engine runs.
    pub async fn start_with(
        setup: Setup,
        toolboxes: Vec<Arc<dyn Toolbox>>,
    ) -> Result<Engine, Error> {
        let agents: HashMap<_, _> =
            setup.agents.into_iter().map(|agent| (agent.id.clone(), agent)).collect();
        let tools = Tools::new(setup.tools, toolboxes, agents.keys());
        let thinking = Semaphore::new(setup.limits.thinking_at_once);
        let executing = Semaphore::new(setup.limits.executing_at_once);
        let engine = Engine(Arc::new(EngineInner {
            node: setup.node,
            store: setup.store,
            clock: setup.clock,
            rng: setup.rng,
            callback_sender: setup.callback_sender,
            people: setup.people,
            policy: setup.policy,
            agents,
            tools,
            sessions: Arc::new(Lanes::new(setup.limits.cached_sessions)),
            external_holds: Arc::new(Lanes::new(setup.limits.cached_sessions)),
            global: Arc::new(Lanes::new(1)),
            limits: setup.limits,
            live: Live::default(),
            bus: Bus::new(),
            timers: Timers::default(),
            at_work: AtWork::default(),
            thinking,
            executing,
            recovering: Recovering::default(),
            tasks: TaskTracker::new(),
            runtime: Handle::current(),
            start_gate: StartGate::default(),
            waking: tokio::sync::watch::Sender::new(0),
            held_back: HeldBackSessions::default(),
            takeovers: tokio::sync::watch::Sender::new(0),
            uploads: Uploads::default(),
            closing: shutdown::Closing::default(),
            push: push::PushDesk::default(),
        }));
        engine.load::<GlobalState>(stream::GlobalId).await?;
        engine.note_policy().await?;
        // mutant: the-start-waits-for-looks
        engine.start_recovery().await?;
        engine.start_waking_outside();
        engine.start_timers();
        engine.start_deliveries();
        engine.start_forgetting();
        engine.start_hearing_others();
        Ok(engine)
    }

    /// Lets running work end by itself for a while, then stops it. What is stopped is found again
    /// at the next start.
    pub async fn close(&self, grace: std::time::Duration) {
        self.0.closing.begin();
        self.0.bus.close();
        self.0.tasks.close();
        if tokio::time::timeout(grace, self.0.tasks.wait()).await.is_err() {
            self.0.at_work.stop_all();
            let _ = tokio::time::timeout(grace, self.0.tasks.wait()).await;
        }
    }

    pub fn people(&self) -> &People {
        &self.0.people
    }

    pub fn policy(&self) -> &Policy {
        &self.0.policy
    }

    pub fn limits(&self) -> &Limits {
        &self.0.limits
    }

    pub fn now(&self) -> domain::time::Timestamp {
        self.0.clock.now()
    }

    pub fn agent_ids(&self) -> Vec<Arc<str>> {
        let mut ids: Vec<_> = self.0.agents.keys().cloned().collect();
        ids.sort();
        ids
    }

    pub fn agent(&self, id: &str) -> Option<&AgentSetup> {
        self.0.agents.get(id)
    }

    /// A tool as it is now.
    pub fn tool(&self, name: &str) -> Option<domain::tool::Tool> {
        self.0.tools.get(name).map(|host| host.tool().clone())
    }

    /// Names of what an agent is offered now; nothing if there is no such agent.
    pub fn offered(&self, agent: &str) -> Vec<Arc<str>> {
        let offered = self.agent(agent).map(|agent| self.0.tools.offered(agent));
        offered.iter().flat_map(|offered| offered.names().cloned()).collect()
    }

    /// The name under which this process claims work.
    pub fn node(&self) -> NodeId {
        self.0.node
    }

    /// For the wiring and for tests; `xtask/src/tidy/past_engine.rs` keeps doors from it.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.0.store
    }
}
