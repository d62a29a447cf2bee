//! The chat service between chats and holds: it asks people where they are, hears what they say there,
//! and hands it to the engine like any other door.
//!
//! It decides nothing. A button is a pointer to a delivery, words are read by `reply_parser`, and whether an
//! answer counts is judged by the domain, in the name of the person whom the platform vouched for.
//!
//! Nothing is remembered only in memory. Going out, it follows the engine's log from a place that is
//! noted down, and every prompt is a record before it is a message (`ask.rs`, `outbox.rs`, `send.rs`). Coming
//! in, what arrives is dealt with and on disk before the platform hears that it need not come again
//! (`press.rs`, `incoming.rs`), except for a press that outlasts its platform's patience.

mod ask;
mod caller;
mod connector;
mod copies;
mod direct;
mod follow;
#[cfg(feature = "fuzz-api")]
pub mod fuzz_api;
mod inbox;
mod incoming;
mod item;
mod limits;
mod meaning;
mod moved;
mod notes;
mod outbox;
mod press;
mod prompt_record;
mod prompt_targets;
mod reask;
mod refuse;
mod reported_decision;
mod saying;
mod send;
mod speak;
mod takeover;
mod talk;
mod two_press;
mod upgrade;
mod words;

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, OnceLock};

use domain::person::People;
use domain::time::Timestamp;
use engine::{ChatRecords, Engine, Error};
use ports::channel::{HookReply, WebhookRequest};
use ports::clock::{Clock, Rng};
use ports::unpoisoned::Unpoisoned as _;
use tokio::sync::{Notify, OnceCell, Semaphore};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

pub use connector::{Connector, OnAmbiguous};
pub use limits::Limits;

use item::{ItemWriter, Next, Outgoing};
use limits::REPLY_FIRST_MS;
use notes::NoteShelves;
use outbox::LaneScheduler;
use refuse::Refusals;

/// Everything that a chat service is made of.
pub struct Setup {
    pub engine: Engine,
    pub clock: Arc<dyn Clock>,
    pub rng: Arc<dyn Rng>,
    pub connectors: Vec<Connector>,
    pub limits: Limits,
}

/// A cheap handle; clone it freely.
#[derive(Clone)]
pub struct ChatService(Arc<ChatInner>);

struct ChatInner {
    engine: Engine,
    records: ChatRecords,
    people: Arc<People>,
    clock: Arc<dyn Clock>,
    rng: Arc<dyn Rng>,
    channels: BTreeMap<Arc<str>, Arc<ChannelRuntime>>,
    origin: OnceLock<String>,
    limits: Limits,
    tasks: TaskTracker,
    closing: CancellationToken,
}

/// A channel, and what is going on there right now. Scheduling state only; the store is the source of
/// truth.
struct ChannelRuntime {
    name: Arc<str>,
    connector: Connector,
    shelves: NoteShelves,
    news: LaneScheduler,
    repaints: LaneScheduler,
    /// What an earlier version of the program had to send is in the outbox.
    upgraded: OnceCell<()>,
    /// What an earlier process had in hand is known.
    taken_over: AtomicBool,
    /// A record was changed, or nobody changes it just now.
    noted: Notify,
    refusals: Refusals,
    /// Prompts that an answer to a press draws just now, and until when.
    replied: Mutex<HashMap<String, Timestamp>>,
    /// One message of a chat is dealt with after the other.
    chat_locks: Mutex<HashMap<String, Arc<Semaphore>>>,
}

impl ChatService {
    pub fn new(setup: Setup) -> ChatService {
        let runtimes = setup.connectors.into_iter().map(|connector| {
            let name: Arc<str> = connector.channel.name().into();
            let runtime = ChannelRuntime {
                shelves: NoteShelves::of(&name),
                name: name.clone(),
                connector,
                news: LaneScheduler::new(&setup.limits),
                repaints: LaneScheduler::new(&setup.limits),
                upgraded: OnceCell::new(),
                taken_over: AtomicBool::new(false),
                noted: Notify::new(),
                refusals: Refusals::default(),
                replied: Mutex::default(),
                chat_locks: Mutex::default(),
            };
            (name, Arc::new(runtime))
        });
        ChatService(Arc::new(ChatInner {
            channels: runtimes.collect(),
            people: Arc::new(setup.engine.people().clone()),
            records: setup.engine.chat_records(),
            engine: setup.engine,
            clock: setup.clock,
            rng: setup.rng,
            origin: OnceLock::new(),
            limits: setup.limits,
            tasks: TaskTracker::new(),
            closing: CancellationToken::new(),
        }))
    }

    /// Takes up what earlier processes left, listens, and works until [`ChatService::close`]. `origin` is
    /// where people reach the page, without a slash at the end; links point there.
    pub fn start(&self, origin: &str) {
        let _ = self.0.origin.set(origin.to_owned());
        self.spawn(self.clone().follow());
        for runtime in self.0.channels.values() {
            self.spawn(self.clone().carry_out(runtime.clone()));
            let (channel, inbox) = (runtime.connector.channel.clone(), Arc::new(self.clone()));
            let stop = self.0.closing.child_token();
            self.spawn(async move { channel.listen(inbox, stop).await });
        }
    }

    /// Hears nothing new, and lets what is on its way arrive. What does not is found again.
    pub async fn close(&self, grace: std::time::Duration) {
        self.0.closing.cancel();
        self.0.tasks.close();
        let _ = tokio::time::timeout(grace, self.0.tasks.wait()).await;
    }

    /// A request of a platform to the channel of this name; `None` if there is none.
    pub async fn hook(&self, channel: &str, request: WebhookRequest) -> Option<HookReply> {
        let (channel, inbox) =
            (self.0.channels.get(channel)?.connector.channel.clone(), self.clone());
        // A platform that hangs up does not undo what it has said.
        let heard = self.0.tasks.spawn(async move { channel.hook(request, &inbox).await });
        // A panic in it is our fault and not an unknown address: the platform is to try again.
        Some(heard.await.unwrap_or_else(|error| {
            tracing::error!(%error, "the handler of a channel's request has failed");
            HookReply { status: 500, content_type: "text/plain", body: Vec::new() }
        }))
    }

    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.0.tasks.spawn(task);
    }

    /// Changes a record of what goes out, and its item in the outbox.
    async fn update<T: Outgoing>(
        &self,
        runtime: &ChannelRuntime,
        note: &str,
        change: impl FnMut(&mut T, Option<Timestamp>) -> Option<Next>,
    ) -> Result<Option<T>, Error> {
        let as_other = (ItemWriter::Other, self.0.clock.now());
        item::update(&self.0.records, &runtime.shelves, note, as_other, change).await
    }

    /// The same by its sender, who is done with it for now.
    async fn finish<T: Outgoing>(
        &self,
        runtime: &ChannelRuntime,
        note: &str,
        change: impl FnMut(&mut T, Option<Timestamp>) -> Option<Next>,
    ) -> Result<Option<T>, Error> {
        let as_sender = (ItemWriter::Sender, self.0.clock.now());
        item::update(&self.0.records, &runtime.shelves, note, as_sender, change).await
    }
}

impl ChannelRuntime {
    /// The answer to a press draws this prompt.
    fn delay_repaint(&self, key: &str, now: Timestamp) {
        let mut replied = self.replied.lock().unpoisoned();
        replied.retain(|_, until| *until > now);
        replied.insert(key.to_owned(), now.plus_ms(REPLY_FIRST_MS));
    }

    /// When this prompt may be drawn again at the earliest.
    fn not_before(&self, key: &str, now: Timestamp) -> Timestamp {
        let replied = self.replied.lock().unpoisoned();
        replied.get(key).copied().unwrap_or(now).max(now)
    }
}
