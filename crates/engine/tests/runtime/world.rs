//! An engine with people, a policy, a model that says what it is told to, and a tool that keeps
//! count of what it did, independently of the engine.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use domain::answer::{Answer, ApprovalScope};
use domain::budget::{Budgets, Prices};
use domain::event::{TokenOwner, TokenScope};
use domain::hold::{Hold, HoldStateName};
use domain::id::{HoldId, NodeId, SessionId};
use domain::message::Part;
use domain::outcome::{Outcome, Output};
use domain::person::{Actor, People, Person, PersonId};
use domain::policy::{AskSpec, MatchSpec, Policy, PolicySpec, RuleSpec, Then};
use domain::session::{RunStatus, Session};
use domain::time::Timestamp;
use domain::tool::{Confirm, Effects, Place, Tool};
use holdpoint_engine::{
    AgentSetup, Answering, Caller, Engine, Error, HoldFilter, Limits, NewMessage, NewSession,
    NewToken, Setup, SystemClock, SystemRng,
};
use ports::callback::{CallbackError, CallbackSender};
use ports::clock::{Clock, Rng};
use ports::model::{Delta, DeltaSink, Model, ModelError, ModelRequest, ModelTurn, WrittenCall};
use ports::store::Store;
use ports::tool_host::ToolHost;
use ports::toolbox::Toolbox;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use tools::closure::FnTool;

/// Says the next of its lines, whatever it is asked, and remembers every request.
#[derive(Default)]
pub(crate) struct Puppet {
    pub(crate) lines: Mutex<VecDeque<Result<ModelTurn, ModelError>>>,
    pub(crate) heard: Mutex<Vec<ModelRequest<'static>>>,
}

impl Puppet {
    pub(crate) fn will(&self, text: &str, calls: &[(&str, Value)]) {
        let calls: Vec<(&str, String)> =
            calls.iter().map(|(tool, input)| (*tool, input.to_string())).collect();
        self.will_write(text, &calls);
    }

    /// Calls with arguments to the byte.
    pub(crate) fn will_write(&self, text: &str, calls: &[(&str, String)]) {
        let mut lines = self.lines.lock().unwrap();
        let turn = lines.len() + self.heard.lock().unwrap().len();
        let calls = calls
            .iter()
            .enumerate()
            .map(|(n, (tool, input))| WrittenCall {
                tool_use_id: format!("toolu_{turn}_{n}").into(),
                tool: (*tool).to_owned().into(),
                input: input.clone().into(),
            })
            .collect();
        let parts = if text.is_empty() { vec![] } else { vec![Part::Text(text.into())] };
        lines.push_back(Ok(ModelTurn { parts, calls, ..ModelTurn::default() }));
    }

    pub(crate) fn will_fail(&self, error: ModelError) {
        self.lines.lock().unwrap().push_back(Err(error));
    }

    pub(crate) fn heard(&self) -> Vec<ModelRequest<'static>> {
        self.heard.lock().unwrap().clone()
    }
}

#[async_trait]
impl Model for Puppet {
    async fn think(
        &self,
        request: &ModelRequest<'_>,
        deltas: DeltaSink,
        _: CancellationToken,
    ) -> Result<ModelTurn, ModelError> {
        self.heard.lock().unwrap().push(request.clone().into_owned());
        let next = self.lines.lock().unwrap().pop_front();
        let turn = next.unwrap_or_else(|| {
            Ok(ModelTurn { parts: vec![Part::Text("done".into())], ..ModelTurn::default() })
        })?;
        for part in &turn.parts {
            if let Part::Text(text) = part {
                for word in text.split_inclusive(' ') {
                    deltas(Delta::Text(word.to_owned()));
                }
            }
        }
        Ok(turn)
    }
}

/// What tools really did, where the engine cannot reach it.
#[derive(Clone, Default)]
pub(crate) struct Witness(Arc<Mutex<Vec<(String, String)>>>);

impl Witness {
    fn saw(&self, digest: &str, arguments: &str) {
        self.0.lock().unwrap().push((digest.into(), arguments.into()));
    }

    pub(crate) fn arguments(&self) -> Vec<String> {
        self.0.lock().unwrap().iter().map(|(_, arguments)| arguments.clone()).collect()
    }

    pub(crate) fn digests(&self) -> Vec<String> {
        self.0.lock().unwrap().iter().map(|(digest, _)| digest.clone()).collect()
    }
}

/// Remembers what it delivered. The first so many deliveries fail.
#[derive(Default)]
pub(crate) struct Post {
    pub(crate) delivered: Mutex<Vec<String>>,
    pub(crate) failing: AtomicU64,
    pub(crate) tried: tokio::sync::Notify,
}

#[async_trait]
impl CallbackSender for Post {
    fn accepts(&self, _: &str, _: &str) -> Result<(), String> {
        Ok(())
    }

    async fn deliver(&self, key: &str, _: &Hold) -> Result<(), CallbackError> {
        let fewer = |left: u64| left.checked_sub(1);
        let fails = self.failing.fetch_update(Ordering::SeqCst, Ordering::SeqCst, fewer).is_ok();
        if !fails {
            self.delivered.lock().unwrap().push(key.to_owned());
        }
        self.tried.notify_one();
        match fails {
            true => Err(CallbackError::Again("nobody is at home".into())),
            false => Ok(()),
        }
    }
}

pub(crate) struct World {
    pub(crate) engine: Engine,
    pub(crate) model: Arc<Puppet>,
    pub(crate) witness: Witness,
    pub(crate) ana: Caller,
    pub(crate) bob: Caller,
    pub(crate) program: Caller,
}

pub(crate) fn node() -> NodeId {
    NodeId::new(0, SystemRng::default().bits())
}

fn people() -> People {
    People::new([("ana", "dba"), ("bob", "dba"), ("eve", "guest"), ("root", "admin")].map(
        |(id, role)| {
            Person {
                id: PersonId::new(id),
                name: format!("{}{}", id[..1].to_uppercase(), &id[1..]),
                roles: [role.to_owned()].into(),
                // Everybody but Eve is linked.
                identities: (id != "eve")
                    .then(|| ("slack".to_owned(), format!("U-{id}")))
                    .into_iter()
                    .collect(),
            }
        },
    ))
}

fn policy() -> Policy {
    let rule = |name: &str, tool: &str, then: Then, quorum: u32| RuleSpec {
        name: name.into(),
        line: 1,
        matcher: MatchSpec { tool: Some(tool.into()), ..MatchSpec::default() },
        then,
        risk: None,
        ask: (then == Then::Ask).then(|| AskSpec {
            roles: vec!["dba".into()],
            quorum,
            ..AskSpec::default()
        }),
    };
    let rules = vec![
        rule("reading is fine", "look", Then::Allow, 1),
        rule("dbas wipe", "wipe*", Then::Ask, 1),
        rule("dbas answer for boxes", "box__*", Then::Ask, 1),
    ];
    Policy::compile(PolicySpec { rules, ..PolicySpec::default() }).unwrap()
}

/// A tool that tells the witness what it does. With a gate it waits, in the middle, to be let on.
fn witnessed(name: &str, effects: Effects, options: &Options) -> FnTool {
    let schema = json!({"type": "object"});
    let tool =
        Tool::new(name, options.description, schema, effects, Place::Server, "test").unwrap();
    let (witness, gate) = (options.witness.clone(), options.gate.clone());
    FnTool::new(tool, move |call| {
        let (digest, arguments) = (
            call.digest().to_string(),
            String::from_utf8_lossy(call.arguments.bytes()).into_owned(),
        );
        let (witness, gate) = (witness.clone(), gate.clone());
        async move {
            witness.saw(&digest, &arguments);
            if let Some(gate) = gate {
                gate.cancelled().await;
            }
            Outcome::Succeeded(Output::text(format!("did {arguments}")))
        }
    })
}

/// The system's clock, set forward.
struct Ahead {
    clock: SystemClock,
    ms: Arc<AtomicU64>,
    hurry: u32,
}

#[async_trait]
impl Clock for Ahead {
    fn now(&self) -> Timestamp {
        self.clock.now().plus_ms(self.ms.load(Ordering::SeqCst))
    }

    async fn sleep(&self, duration: Duration) {
        self.clock.sleep(duration / self.hurry).await;
    }
}

pub(crate) struct Options {
    pub(crate) node: NodeId,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) model: Arc<Puppet>,
    pub(crate) witness: Witness,
    pub(crate) gate: Option<CancellationToken>,
    /// What the witnessed tools say of themselves.
    pub(crate) description: &'static str,
    pub(crate) extra: Vec<Arc<dyn ToolHost>>,
    pub(crate) boxes: Vec<Arc<dyn Toolbox>>,
    pub(crate) policy: Policy,
    /// How far this engine's clock is ahead of the world's.
    pub(crate) ahead_ms: Arc<AtomicU64>,
    /// How many times shorter this engine waits than it means to.
    pub(crate) hurry: u32,
    pub(crate) post: Arc<Post>,
    pub(crate) limits: Limits,
    pub(crate) budgets: Budgets,
    pub(crate) prices: Prices,
}

impl Options {
    pub(crate) fn new(store: Arc<dyn Store>, node: NodeId) -> Options {
        Options {
            node,
            store,
            model: Arc::default(),
            witness: Witness::default(),
            gate: None,
            description: "a tool",
            extra: Vec::new(),
            boxes: Vec::new(),
            policy: policy(),
            ahead_ms: Arc::default(),
            hurry: 1,
            post: Arc::default(),
            limits: Limits::default(),
            budgets: Budgets::default(),
            prices: Prices::default(),
        }
    }

    pub(crate) fn with_home_expiry(mut self, door: &str, ms: u64) -> Options {
        self.limits.home_expires_ms.insert(door.into(), ms);
        self
    }

    pub(crate) async fn start(self) -> World {
        let mut deploy = Tool::new(
            "deploy",
            "two-phase",
            json!({"type": "object"}),
            Effects::AtMostOnce,
            Place::Server,
            "test",
        )
        .unwrap();
        deploy.confirm = Confirm::TwoPhase;
        let witness = self.witness.clone();
        let deploy = FnTool::new(deploy, move |call| {
            witness
                .saw(&call.digest().to_string(), &String::from_utf8_lossy(call.arguments.bytes()));
            async { Outcome::Succeeded(Output::text("deployed")) }
        });
        let mut tools: Vec<Arc<dyn ToolHost>> = vec![
            Arc::new(witnessed("look", Effects::ReadOnly, &self)),
            Arc::new(witnessed("wipe", Effects::AtMostOnce, &self)),
            Arc::new(witnessed("wipe_again", Effects::Idempotent, &self)),
            Arc::new(deploy),
        ];
        tools.extend(self.extra);
        let agent = AgentSetup {
            id: "ops".into(),
            instructions: Some("be careful".into()),
            model: self.model.clone(),
            tools: tools
                .iter()
                .map(|host| host.tool().name.clone())
                .chain(self.boxes.iter().map(|it| it.name().into()))
                .collect(),
            while_pending: Default::default(),
            run_as_decided: false,
            budgets: self.budgets,
            prices: self.prices,
        };
        let (_, last) = self.store.last().await.unwrap();
        let setup = Setup {
            node: self.node,
            store: self.store,
            clock: Arc::new(Ahead {
                clock: SystemClock::new(last),
                ms: self.ahead_ms,
                hurry: self.hurry,
            }),
            rng: Arc::new(SystemRng::default()),
            callback_sender: self.post,
            people: people(),
            policy: self.policy,
            agents: vec![agent],
            tools,
            limits: self.limits,
        };
        let engine = Engine::start_with(setup, self.boxes).await.unwrap();
        let ana = person(&engine, "ana").await;
        let bob = person(&engine, "bob").await;
        let program =
            token(&engine, TokenOwner::Program("bot".into()), &[TokenScope::Ask, TokenScope::Run])
                .await;
        World { engine, model: self.model, witness: self.witness, ana, bob, program }
    }
}

pub(crate) async fn person(engine: &Engine, id: &str) -> Caller {
    token(engine, TokenOwner::Person(PersonId::new(id)), &TokenScope::ALL).await
}

async fn token(engine: &Engine, owner: TokenOwner, scopes: &[TokenScope]) -> Caller {
    let new = NewToken { owner, scopes: scopes.to_vec(), expires_at: None, note: None };
    let minted = engine.mint(Actor::Runtime, new).await.unwrap();
    engine.caller_by_token(&minted.secret, "api").unwrap()
}

pub(crate) fn approve() -> Answer {
    Answer::Approve { scope: ApprovalScope::Once, arguments: None, note: None }
}

pub(crate) fn deny() -> Answer {
    Answer::Deny { reason: Some("no".into()), stop: false }
}

impl World {
    pub(crate) async fn memory() -> World {
        let node = node();
        Options::new(Arc::new(stores::MemoryStore::new(node)), node).start().await
    }

    pub(crate) async fn session(&self) -> SessionId {
        let new =
            NewSession { agent: "ops".into(), title: None, metadata: Value::Null, home: None };
        self.engine.open_session(&self.ana, new, None).await.unwrap().id
    }

    pub(crate) async fn say(&self, session: SessionId, text: &str) {
        let saying =
            NewMessage { texts: vec![text.into()], files: Vec::new(), while_pending: None };
        self.engine.say(&self.ana, session, saying, None).await.unwrap();
    }

    pub(crate) async fn answer(
        &self,
        who: &Caller,
        hold: &Hold,
        answer: Answer,
    ) -> Result<Arc<Hold>, Error> {
        let answering = Answering { digest: Some(hold.digest()), answer };
        self.engine.answer(who, hold.id, answering, None).await
    }

    pub(crate) async fn get(&self, session: SessionId) -> Arc<Session> {
        self.engine.session(&self.ana, session).await.unwrap()
    }

    /// Waits until the session looks like this. The engine is not asked to hurry: this follows it.
    pub(crate) async fn until(
        &self,
        session: SessionId,
        what: &str,
        is: impl Fn(&Session) -> bool,
    ) -> Arc<Session> {
        self.until_as(&self.ana, session, what, is).await
    }

    /// The same, as somebody sees it.
    pub(crate) async fn until_as(
        &self,
        who: &Caller,
        session: SessionId,
        what: &str,
        is: impl Fn(&Session) -> bool,
    ) -> Arc<Session> {
        let mut follow = self.engine.follow_session(session, None).await.unwrap();
        let waiting = async {
            loop {
                let now = self.engine.session(who, session).await.unwrap();
                if is(&now) {
                    return now;
                }
                follow.next().await.unwrap();
            }
        };
        match tokio::time::timeout(Duration::from_secs(20), waiting).await {
            Ok(session) => session,
            Err(_) => panic!("never came to: {what}"),
        }
    }

    pub(crate) async fn paused(&self, session: SessionId) -> Arc<Session> {
        self.until(session, "paused", |session| status(session) == Some(RunStatus::Paused)).await
    }

    pub(crate) async fn over(&self, session: SessionId) -> Arc<Session> {
        self.until(session, "over", |session| status(session).is_some_and(RunStatus::is_over)).await
    }

    pub(crate) async fn holds(&self) -> Vec<Arc<Hold>> {
        let filter =
            HoldFilter { state: Some(HoldStateName::Pending), limit: 100, ..HoldFilter::default() };
        self.engine.holds(&self.ana, filter).await.unwrap()
    }

    pub(crate) async fn hold(&self, id: HoldId) -> Arc<Hold> {
        self.engine.hold(&self.ana, id).await.unwrap()
    }
}

pub(crate) fn status(session: &Session) -> Option<RunStatus> {
    session.run.as_ref().map(|run| run.status())
}

/// The results of the last turn that has any.
pub(crate) fn results(session: &Session) -> Vec<String> {
    let last =
        session.transcript.iter().rev().find(|message| message.role == domain::message::Role::Tool);
    last.map(|message| &message.parts)
        .into_iter()
        .flatten()
        .filter_map(|part| match part {
            Part::ToolResult { result, .. } => Some(result.content.clone()),
            _ => None,
        })
        .collect()
}
