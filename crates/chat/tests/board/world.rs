//! An engine, a chat service over it, and people in a chat.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use domain::answer::Answer;
use domain::event::{TokenOwner, TokenScope};
use domain::hold::{Hold, Question, Risk};
use domain::id::{HoldId, NodeId};
use domain::message::Part;
use domain::outcome::{Outcome, Output};
use domain::person::{Actor, People, Person, PersonId};
use domain::policy::{AskSpec, ConditionSpec, MatchSpec, Op, Policy, PolicySpec, RuleSpec, Then};
use domain::time::Timestamp;
use domain::tool::{Effects, Place as Runs, Tool};
use engine::{
    AgentSetup, Answering, Caller, Engine, NewHold, NewToken, Setup as EngineSetup, SystemClock,
    SystemRng,
};
use holdpoint_chat::{ChatService, Connector, Limits, OnAmbiguous, Setup};
use ports::callback::{CallbackError, CallbackSender};
use ports::channel::{
    ButtonAction, Form, Inbox as _, IncomingMessage, Operator, Press, PressReply,
};
use ports::clock::{Clock, Rng};
use ports::model::{DeltaSink, Model, ModelError, ModelRequest, ModelTurn, WrittenCall};
use ports::store::Store;
use serde_json::{Value, json};
use tokio::sync::{Notify, Semaphore};
use tokio_util::sync::CancellationToken;
use tools::closure::FnTool;

use crate::chat::{Card, Chat};

/// The system's clock, which a test sets forward.
pub(crate) struct Hands {
    clock: SystemClock,
    ahead_ms: AtomicU64,
    moved: Notify,
}

impl Hands {
    fn new() -> Arc<Hands> {
        Arc::new(Hands {
            clock: SystemClock::new(None),
            ahead_ms: AtomicU64::new(0),
            moved: Notify::new(),
        })
    }

    pub(crate) fn advance(&self, by: Duration) {
        self.ahead_ms.fetch_add(by.as_millis() as u64, Ordering::SeqCst);
        self.moved.notify_waiters();
    }
}

#[async_trait]
impl Clock for Hands {
    fn now(&self) -> Timestamp {
        self.clock.now().plus_ms(self.ahead_ms.load(Ordering::SeqCst))
    }

    async fn sleep(&self, duration: Duration) {
        let until = self.now().plus_ms(duration.as_millis() as u64);
        loop {
            let moved = self.moved.notified();
            tokio::pin!(moved);
            moved.as_mut().enable();
            let left = until.ms_since(self.now());
            if left == 0 {
                return;
            }
            tokio::select! {
                () = tokio::time::sleep(Duration::from_millis(left)) => {}
                () = moved => {}
            }
        }
    }
}

/// Says the next of its lines, whatever it is asked, and remembers what it was told.
#[derive(Default)]
pub(crate) struct Puppet {
    lines: Mutex<VecDeque<ModelTurn>>,
    pub(crate) heard: Mutex<Vec<ModelRequest<'static>>>,
}

impl Puppet {
    pub(crate) fn will(&self, text: &str, calls: &[(&str, Value)]) {
        static CALLS: AtomicU64 = AtomicU64::new(0);
        let calls = calls.iter().map(|(tool, input)| WrittenCall {
            tool_use_id: format!("toolu_{}", CALLS.fetch_add(1, Ordering::SeqCst)).into(),
            tool: (*tool).to_owned().into(),
            input: input.to_string().into(),
        });
        let parts = if text.is_empty() { vec![] } else { vec![Part::Text(text.into())] };
        let turn = ModelTurn { parts, calls: calls.collect(), ..ModelTurn::default() };
        self.lines.lock().unwrap().push_back(turn);
    }
}

#[async_trait]
impl Model for Puppet {
    async fn think(
        &self,
        request: &ModelRequest<'_>,
        _: DeltaSink,
        _: CancellationToken,
    ) -> Result<ModelTurn, ModelError> {
        self.heard.lock().unwrap().push(request.clone().into_owned());
        let next = self.lines.lock().unwrap().pop_front();
        let silence =
            || ModelTurn { parts: vec![Part::Text("nothing more".into())], ..ModelTurn::default() };
        Ok(next.unwrap_or_else(silence))
    }
}

struct NoCallbacks;

#[async_trait]
impl CallbackSender for NoCallbacks {
    fn accepts(&self, _: &str, _: &str) -> Result<(), String> {
        Ok(())
    }

    async fn deliver(&self, _: &str, _: &Hold) -> Result<(), CallbackError> {
        Ok(())
    }
}

/// Ana and Bob are dbas, Gus is a guest; Una is in the configuration and linked to nothing. `links` are
/// by the name of a channel: who, where, and what they are called there.
fn people(links: &[[&str; 3]]) -> People {
    let people = [
        ("ana", "dba", Some("U-ana")),
        ("bob", "dba", Some("U-bob")),
        ("gus", "guest", Some("U-gus")),
        ("una", "dba", None),
        ("root", "admin", None),
    ];
    People::new(people.map(|(id, role, identity)| {
        Person {
            id: PersonId::new(id),
            name: format!("{}{}", id[..1].to_uppercase(), &id[1..]),
            roles: [role.to_owned()].into(),
            identities: identity
                .into_iter()
                .flat_map(|id| [("slack".into(), id.into()), ("feishu".into(), id.into())])
                .chain(
                    links
                        .iter()
                        .filter(|link| link[0] == id)
                        .map(|[_, key, account]| ((*key).to_owned(), (*account).to_owned())),
                )
                .collect(),
        }
    }))
}

fn policy() -> Policy {
    let rule = |name: &str, tool: &str, risk: Option<Risk>, quorum: u32| RuleSpec {
        name: name.into(),
        line: 1,
        matcher: MatchSpec { tool: Some(tool.into()), ..MatchSpec::default() },
        then: Then::Ask,
        risk,
        ask: Some(AskSpec { roles: vec!["dba".into()], quorum, ..AskSpec::default() }),
    };
    let mut nine = rule("nine at once", "bury", Some(Risk::High), 2);
    nine.matcher.args.push(ConditionSpec { pointer: "/n".into(), op: Op::Equals(json!(9)) });
    let rules = vec![
        nine,
        rule("dbas wipe", "wipe", None, 1),
        rule("dbas burn", "burn", Some(Risk::High), 1),
        rule("two dbas bury", "bury", None, 2),
    ];
    Policy::compile(PolicySpec { rules, ..PolicySpec::default() }).unwrap()
}

pub(crate) fn node() -> NodeId {
    NodeId::new(SystemClock::new(None).now().as_ms(), SystemRng::default().bits())
}

pub(crate) struct World {
    pub(crate) engine: Engine,
    pub(crate) board: ChatService,
    pub(crate) chat: Arc<Chat>,
    /// Another platform beside it.
    pub(crate) other: Arc<Chat>,
    pub(crate) model: Arc<Puppet>,
    pub(crate) clock: Arc<Hands>,
    /// What tools really did.
    pub(crate) done: Arc<Mutex<Vec<String>>>,
    pub(crate) tools_wait: ToolsWait,
    pub(crate) root: Caller,
    events: AtomicU64,
}

/// A tool that was started ends when there is one of these.
pub(crate) type ToolsWait = Arc<Mutex<Option<Arc<Semaphore>>>>;

/// What outlives a process.
pub(crate) struct Things {
    pub(crate) clock: Arc<Hands>,
    pub(crate) chat: Arc<Chat>,
    pub(crate) other: Arc<Chat>,
    pub(crate) model: Arc<Puppet>,
    pub(crate) done: Arc<Mutex<Vec<String>>>,
    pub(crate) tools_wait: ToolsWait,
    pub(crate) on_ambiguous: OnAmbiguous,
    /// Accounts of one channel: who, where, and what they are called there.
    pub(crate) links: &'static [[&'static str; 3]],
    /// Without the other platform.
    pub(crate) alone: bool,
    /// Messages on their way at once.
    pub(crate) at_once: usize,
    pub(crate) rng: Arc<dyn Rng>,
}

impl Things {
    pub(crate) fn new() -> Things {
        let clock = Hands::new();
        Things {
            chat: Arc::new(Chat::new("slack", "slack", clock.clone())),
            other: Arc::new(Chat::new("lark", "feishu", clock.clone())),
            clock,
            model: Arc::default(),
            done: Arc::default(),
            tools_wait: Arc::default(),
            on_ambiguous: OnAmbiguous::default(),
            links: &[],
            alone: false,
            at_once: Limits::default().sends_at_once,
            rng: Arc::new(SystemRng::default()),
        }
    }

    pub(crate) async fn engine(&self, store: Arc<dyn Store>, node: NodeId) -> Engine {
        let tool = |name: &str| {
            let schema = json!({"type": "object"});
            let tool = Tool::new(name, "a tool", schema, Effects::AtMostOnce, Runs::Server, "test");
            let (done, wait) = (self.done.clone(), self.tools_wait.clone());
            FnTool::new(tool.unwrap(), move |call| {
                let did =
                    format!("{} {}", call.tool, String::from_utf8_lossy(call.arguments.bytes()));
                done.lock().unwrap().push(did.clone());
                let wait = wait.lock().unwrap().clone();
                async move {
                    if let Some(wait) = wait {
                        wait.acquire().await.expect("stays open").forget();
                    }
                    Outcome::Succeeded(Output::text(did))
                }
            })
        };
        let agent = AgentSetup {
            id: "ops".into(),
            instructions: None,
            model: self.model.clone(),
            tools: ["wipe", "burn", "bury"].map(Into::into).into(),
            while_pending: Default::default(),
            run_as_decided: false,
            budgets: Default::default(),
            prices: Default::default(),
        };
        let mut limits = engine::Limits::default();
        limits.home_expires_ms.insert("slack".into(), 300_000);
        let setup = EngineSetup {
            node,
            store,
            clock: self.clock.clone(),
            rng: Arc::new(SystemRng::default()),
            callback_sender: Arc::new(NoCallbacks),
            people: people(self.links),
            policy: policy(),
            agents: vec![agent],
            tools: vec![Arc::new(tool("wipe")), Arc::new(tool("burn")), Arc::new(tool("bury"))],
            limits,
        };
        Engine::start(setup).await.unwrap()
    }

    pub(crate) fn board(&self, engine: &Engine) -> ChatService {
        let connector = |chat: &Arc<Chat>| Connector {
            channel: chat.clone(),
            agent: Some("ops".into()),
            ask: Vec::new(),
            on_ambiguous: self.on_ambiguous,
            language: Default::default(),
        };
        let mut second = connector(&self.other);
        second.ask = vec!["C-all".into()];
        let board = ChatService::new(Setup {
            engine: engine.clone(),
            clock: self.clock.clone(),
            rng: self.rng.clone(),
            connectors: match self.alone {
                true => vec![connector(&self.chat)],
                false => vec![connector(&self.chat), second],
            },
            limits: Limits { sends_at_once: self.at_once, ..Limits::default() },
        });
        board.start("https://hold.example");
        board
    }

    pub(crate) async fn start(self, store: Arc<dyn Store>, node: NodeId) -> World {
        let engine = self.engine(store, node).await;
        let board = self.board(&engine);
        let owner = TokenOwner::Person(PersonId::new("root"));
        let new =
            NewToken { owner, scopes: TokenScope::ALL.to_vec(), expires_at: None, note: None };
        let minted = engine.mint(Actor::Runtime, new).await.unwrap();
        let root = engine.caller_by_token(&minted.secret, "web").unwrap();
        World {
            engine,
            board,
            chat: self.chat,
            other: self.other,
            model: self.model,
            clock: self.clock,
            done: self.done,
            tools_wait: self.tools_wait,
            root,
            events: AtomicU64::new(0),
        }
    }
}

impl World {
    pub(crate) async fn memory() -> World {
        World::of(Things::new()).await
    }

    pub(crate) async fn of(things: Things) -> World {
        let node = node();
        things.start(Arc::new(stores::MemoryStore::new(node)), node).await
    }

    /// Something that a person writes to us in the group.
    pub(crate) fn wrote(&self, who: &str, text: &str) -> IncomingMessage {
        let number = self.events.fetch_add(1, Ordering::SeqCst);
        IncomingMessage {
            event: format!("e{number}"),
            message: format!("w{number}"),
            operator: Some(Operator::named(format!("U-{who}"))),
            chat: "C1".into(),
            thread: None,
            direct: false,
            text: format!("@bot {text}"),
            mentions_us: true,
            mentions: vec!["@bot".into()],
            mentions_others: false,
            replies_to: None,
            from_a_person: true,
            edited: false,
            forwarded: false,
            attachment: false,
            formatted: false,
            at: self.clock.now(),
        }
    }

    pub(crate) async fn write(&self, who: &str, text: &str) {
        let wrote = self.wrote(who, text);
        self.board.wrote("slack", wrote).await.unwrap();
    }

    pub(crate) fn press_of(&self, who: &str, card: &Card, said: ButtonAction) -> Press {
        let number = self.events.fetch_add(1, Ordering::SeqCst);
        Press {
            event: format!("p{number}"),
            operator: Some(Operator::named(format!("U-{who}"))),
            chat: card.posted.chat.clone(),
            message: card.posted.message.clone(),
            pointer: card.pointer(said),
            is_on_it: true,
            form: Form::default(),
            at: self.clock.now(),
        }
    }

    pub(crate) async fn press(&self, who: &str, card: &Card, said: ButtonAction) -> PressReply {
        self.board.pressed("slack", self.press_of(who, card, said)).await.unwrap()
    }

    /// Ana asks in the group for something that must be approved; its prompt.
    pub(crate) async fn held(&self, tool: &str) -> Card {
        self.model.will("I will.", &[(tool, json!({"n": 1}))]);
        self.model.will("Finished.", &[]);
        self.write("ana", &format!("please {tool}")).await;
        self.chat.card("pending").await
    }

    /// Bob approves something else than what was asked.
    pub(crate) async fn revised_by_bob(&self, id: HoldId, arguments: &str) {
        let arguments = domain::json::Arguments::parse(arguments.as_bytes()).unwrap();
        let answer = Answer::Approve {
            scope: domain::answer::ApprovalScope::Once,
            arguments: Some(arguments),
            note: None,
        };
        let bob = self.engine.caller_in_channel("slack", "slack", "U-bob", "x").unwrap();
        let answering = Answering { digest: Some(self.hold(id).await.digest()), answer };
        let hold = self.engine.answer(&bob, id, answering, None).await.unwrap();
        assert!(hold.is_pending() && hold.votes.len() == 1, "{hold:?}");
    }

    pub(crate) async fn hold(&self, id: HoldId) -> Arc<Hold> {
        self.engine.hold(&self.root, id).await.unwrap()
    }

    pub(crate) async fn open_outside(&self, title: &str) -> HoldId {
        open_outside(&self.engine, title).await
    }

    /// Time goes by until this has happened.
    pub(crate) async fn in_time<T>(&self, happens: impl Future<Output = T>) -> T {
        let passing = async {
            loop {
                tokio::time::sleep(Duration::from_millis(20)).await;
                self.clock.advance(Duration::from_secs(5));
            }
        };
        tokio::select! {
            happened = happens => happened,
            () = passing => unreachable!("time does not end"),
        }
    }

    pub(crate) fn done(&self) -> Vec<String> {
        self.done.lock().unwrap().clone()
    }

    /// The texts of the newest request to the model, as one.
    pub(crate) fn model_heard(&self) -> String {
        let heard = self.model.heard.lock().unwrap();
        heard.iter().map(|request| format!("{request:?}")).collect()
    }

    pub(crate) async fn close(self) {
        self.board.close(Duration::from_millis(200)).await;
        self.engine.close(Duration::from_secs(5)).await;
    }
}

/// A program asks the dbas.
pub(crate) async fn open_outside(engine: &Engine, title: &str) -> HoldId {
    ask_outside(engine, title, Question::Approve).await
}

pub(crate) async fn ask_outside(engine: &Engine, title: &str, question: Question) -> HoldId {
    let program = engine.caller_for_program("ci").await.unwrap();
    let arguments = domain::json::Arguments::parse(b"{}").unwrap();
    let new = NewHold {
        diff: None,
        question,
        title: title.into(),
        call: Some(("wipe".into(), arguments)),
        context: Value::Null,
        audience: None,
        risk: None,
        expires_in_ms: None,
        callback: None,
    };
    engine.open_hold(&program, new, None).await.unwrap().id
}
