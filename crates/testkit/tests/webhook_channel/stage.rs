//! An engine and a chat service over it, a program that is told of holds, and a clock that only a test moves.

use std::collections::{BTreeSet, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use channels::webhook::{
    ChannelSettings, Webhook, WebhookCallbackSender, WebhookSecret, WebhookSettings,
};
use chat::{ChatService, Connector, Limits};
use domain::answer::{Answer, ApprovalScope};
use domain::hold::{Hold, Question};
use domain::id::{HoldId, NodeId};
use domain::json::Arguments;
use domain::person::{People, Person, PersonId};
use domain::policy::{AskSpec, MatchSpec, Policy, PolicySpec, RuleSpec, Then};
use domain::time::Timestamp;
use engine::{Answering, Caller, Engine, NewHold, Reported, SystemRng};
use ports::clock::Clock;
use ports::store::OutboxItem;
use serde_json::Value;
use testkit::fake_chat::{Asked, Front, Platform, Reply};
use tokio::sync::Notify;

pub(crate) const OUT: &str = "whsec_b3V0Z29pbmcta2V5";
pub(crate) const IN: &str = "whsec_aW5jb21pbmcta2V5";
const QUEUE: &str = "chat.ci";

/// Stands still until it is moved.
#[derive(Default)]
pub(crate) struct Hands {
    moved_ms: AtomicU64,
    moved: Notify,
}

impl Hands {
    pub(crate) fn advance(&self, by: Duration) {
        self.moved_ms.fetch_add(by.as_millis() as u64, Ordering::SeqCst);
        self.moved.notify_waiters();
    }
}

#[async_trait]
impl Clock for Hands {
    fn now(&self) -> Timestamp {
        Timestamp::from_ms(1_794_700_000_000).plus_ms(self.moved_ms.load(Ordering::SeqCst))
    }

    async fn sleep(&self, duration: Duration) {
        let until = self.now().plus_ms(duration.as_millis() as u64);
        loop {
            let moved = self.moved.notified();
            tokio::pin!(moved);
            moved.as_mut().enable();
            if self.now() >= until {
                return;
            }
            moved.await;
        }
    }
}

/// What the program was told, and when.
#[derive(Clone, Debug)]
pub(crate) struct Heard {
    pub(crate) at: Timestamp,
    pub(crate) id: String,
    pub(crate) event: Value,
}

impl Heard {
    pub(crate) fn kind(&self) -> &str {
        self.event["type"].as_str().unwrap_or_default()
    }

    pub(crate) fn hold(&self) -> &Value {
        &self.event["data"]["hold"]
    }
}

pub(crate) struct Receiver {
    clock: Arc<Hands>,
    heard: Mutex<Vec<Heard>>,
    pub(crate) replies: Mutex<VecDeque<Reply>>,
}

impl Platform for Receiver {
    fn answer(&self, asked: &Asked) -> Reply {
        let heard = Heard {
            at: self.clock.now(),
            id: asked.header("webhook-id").unwrap_or_default().to_owned(),
            event: asked.json(),
        };
        self.heard.lock().unwrap().push(heard);
        let next = self.replies.lock().unwrap().pop_front();
        next.unwrap_or_else(|| Reply::new(204, Value::Null))
    }
}

pub(crate) struct Stage {
    pub(crate) clock: Arc<Hands>,
    pub(crate) receiver: Arc<Receiver>,
    front: Front<Receiver>,
    pub(crate) engine: Engine,
    board: ChatService,
}

fn people() -> People {
    People::new(["ana", "bob"].map(|id| Person {
        id: PersonId::new(id),
        name: id.to_owned(),
        roles: ["dba".to_owned()].into(),
        identities: [("slack".to_owned(), format!("U-{id}"))].into(),
    }))
}

fn policy() -> Policy {
    let rule = |tool: &str, quorum: u32| RuleSpec {
        name: tool.into(),
        line: 1,
        matcher: MatchSpec { tool: Some(tool.into()), ..MatchSpec::default() },
        then: Then::Ask,
        risk: None,
        ask: Some(AskSpec { roles: vec!["dba".into()], quorum, ..AskSpec::default() }),
    };
    let rules = vec![rule("wipe", 1), rule("bury", 2)];
    Policy::compile(PolicySpec { rules, ..PolicySpec::default() }).unwrap()
}

impl Stage {
    pub(crate) async fn new() -> Stage {
        let clock = Arc::new(Hands::default());
        let receiver = Arc::new(Receiver {
            clock: clock.clone(),
            heard: Mutex::default(),
            replies: Mutex::default(),
        });
        let front = Front::start(receiver.clone()).await;
        let node = NodeId::new(clock.now().as_ms(), 1);
        let setup = engine::Setup {
            node,
            store: Arc::new(stores::MemoryStore::new(node)),
            clock: clock.clone(),
            rng: Arc::new(SystemRng::default()),
            callback_sender: Arc::new(WebhookCallbackSender::new(
                WebhookSettings::default(),
                clock.clone(),
            )),
            people: people(),
            policy: policy(),
            agents: Vec::new(),
            tools: Vec::new(),
            limits: engine::Limits::default(),
        };
        let engine = Engine::start(setup).await.unwrap();
        let board = board(&engine, &front, &clock);
        Stage { clock, receiver, front, engine, board }
    }

    /// Another process takes over.
    pub(crate) async fn restart(&mut self) {
        self.stop().await;
        self.start();
    }

    pub(crate) async fn stop(&self) {
        self.board.close(Duration::from_secs(5)).await;
    }

    pub(crate) fn start(&mut self) {
        self.board = board(&self.engine, &self.front, &self.clock);
    }

    pub(crate) fn will(&self, replies: impl IntoIterator<Item = Reply>) {
        self.receiver.replies.lock().unwrap().extend(replies);
    }

    pub(crate) fn heard(&self) -> Vec<Heard> {
        self.receiver.heard.lock().unwrap().clone()
    }

    /// Once the program was told so often.
    pub(crate) async fn told(&self, times: usize) -> Vec<Heard> {
        until(&format!("{times} words"), || Some(self.heard()).filter(|it| it.len() >= times)).await
    }

    /// When something is to be sent next, once that is not what is on its way just now.
    pub(crate) async fn next_at(&self, is: Option<Timestamp>) {
        let look = async {
            loop {
                if self.next().await == is {
                    return;
                }
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        };
        let came = tokio::time::timeout(Duration::from_secs(20), look).await;
        let is_now = self.next().await;
        assert!(came.is_ok(), "wanted at {is:?}, is at {is_now:?}, now is {}", self.clock.now());
    }

    async fn next(&self) -> Option<Timestamp> {
        let whenever = Timestamp::from_ms(i64::MAX);
        let items = self.engine.store().outbox_items(QUEUE, whenever, 1).await.unwrap();
        items.first().map(OutboxItem::ready_at)
    }

    pub(crate) async fn program(&self) -> Caller {
        self.engine.caller_for_program("ci").await.unwrap()
    }

    pub(crate) async fn open(&self, tool: &str) -> Arc<Hold> {
        let new = NewHold {
            diff: None,
            question: Question::Approve,
            title: format!("May I {tool}?"),
            call: Some((tool.into(), Arguments::parse(b"{}").unwrap())),
            context: Value::Null,
            audience: None,
            risk: None,
            expires_in_ms: Some(60_000),
            callback: None,
        };
        self.engine.open_hold(&self.program().await, new, None).await.unwrap()
    }

    pub(crate) async fn approve(&self, who: &str, hold: &Hold) {
        let answer = Answer::Approve { scope: ApprovalScope::Once, arguments: None, note: None };
        let identity = format!("U-{who}");
        let caller = self.engine.caller_in_channel("slack", "slack", &identity, "x").unwrap();
        let answering = Answering { digest: Some(hold.digest()), answer };
        self.engine.answer(&caller, hold.id, answering, None).await.unwrap();
    }

    pub(crate) async fn report(&self, hold: HoldId) {
        let reported = Reported { succeeded: true, result: Some("done".into()) };
        let program = self.program().await;
        self.engine.report_outcome(&program, hold, reported, None).await.unwrap();
    }
}

fn board(engine: &Engine, front: &Front<Receiver>, clock: &Arc<Hands>) -> ChatService {
    let settings = ChannelSettings {
        name: "ci".into(),
        url: format!("{}/hook", front.url()),
        secret: WebhookSecret::parse(OUT).unwrap(),
        inbound_secret: Some(WebhookSecret::parse(IN).unwrap()),
        speaks_for: BTreeSet::new(),
        allow_private_addresses: true,
    };
    let connector = Connector {
        channel: Arc::new(Webhook::new(settings, clock.clone()).unwrap()),
        agent: None,
        ask: vec!["all".into()],
        on_ambiguous: Default::default(),
        language: Default::default(),
    };
    let board = ChatService::new(chat::Setup {
        engine: engine.clone(),
        clock: clock.clone(),
        rng: Arc::new(SystemRng::default()),
        connectors: vec![connector],
        limits: Limits::default(),
    });
    board.start("https://hold.example");
    board
}

pub(crate) async fn until<T>(what: &str, look: impl Fn() -> Option<T>) -> T {
    let looking = async {
        loop {
            if let Some(found) = look() {
                return found;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let found = tokio::time::timeout(Duration::from_secs(30), looking).await;
    found.unwrap_or_else(|_| panic!("never came to: {what}"))
}
