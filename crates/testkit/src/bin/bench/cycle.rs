//! Cycles in process: everything but HTTP.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use domain::answer::{Answer, ApprovalScope};
use domain::digest::Digest;
use domain::event::{Event, HoldEvent, SessionEvent, TokenOwner, TokenScope};
use domain::id::NodeId;
use domain::message::Part;
use domain::outcome::{Outcome, Output};
use domain::person::{ADMIN, Actor, People, Person, PersonId};
use domain::policy::{Policy, PolicySpec};
use domain::tool::{Effects, Place, Tool};
use engine::{
    AgentSetup, Answering, Caller, Engine, Followed, Limits, NewMessage, NewSession, NewToken,
    Setup, SystemClock, SystemRng,
};
use ports::callback::{CallbackError, CallbackSender};
use ports::clock::{Clock as _, Rng as _};
use ports::model::{
    DeltaSink, Model, ModelError, ModelMessage, ModelRequest, ModelTurn, WrittenCall,
};
use serde_json::json;
use stores::SqliteStore;
use tokio_util::sync::CancellationToken;
use tools::closure::FnTool;

use crate::report::Measured;

/// After this many cycles a client goes on in a new session, as people do.
const CYCLES_A_SESSION: u64 = 8;

/// Calls the tool, then says that it is done.
struct Loop;

#[async_trait]
impl Model for Loop {
    async fn think(
        &self,
        request: &ModelRequest<'_>,
        _: DeltaSink,
        _: CancellationToken,
    ) -> Result<ModelTurn, ModelError> {
        Ok(match request.messages.last() {
            Some(ModelMessage::Results { .. }) => {
                ModelTurn { parts: vec![Part::Text("done".into())], ..ModelTurn::default() }
            }
            _ => ModelTurn {
                calls: vec![WrittenCall {
                    tool_use_id: format!("toolu_{}", request.messages.len()).into(),
                    tool: "noop".into(),
                    input: r#"{"table":"orders"}"#.into(),
                }],
                ..ModelTurn::default()
            },
        })
    }
}

struct NoCallbacks;

#[async_trait]
impl CallbackSender for NoCallbacks {
    fn accepts(&self, _: &str, _: &str) -> Result<(), String> {
        Err("not here".into())
    }

    async fn deliver(&self, _: &str, _: &domain::hold::Hold) -> Result<(), CallbackError> {
        Ok(())
    }
}

/// When each call began, by its digest.
pub(crate) type Begun = Arc<Mutex<HashMap<Digest, Instant>>>;

pub(crate) struct Bench {
    pub(crate) engine: Engine,
    pub(crate) store: Arc<SqliteStore>,
    pub(crate) caller: Caller,
    pub(crate) token: String,
    pub(crate) begun: Begun,
}

pub(crate) async fn open(folder: &Path) -> Result<Bench, Box<dyn std::error::Error>> {
    open_with(folder, PolicySpec::default(), &["ops"], Vec::new()).await
}

/// With these rules, these agents (all alike), and more people than Ana.
pub(crate) async fn open_with(
    folder: &Path,
    policy: PolicySpec,
    agents: &[&str],
    others: Vec<Person>,
) -> Result<Bench, Box<dyn std::error::Error>> {
    open_thinking(folder, policy, agents, others, Arc::new(Loop)).await
}

/// With another model than the one that calls the tool.
pub(crate) async fn open_thinking(
    folder: &Path,
    policy: PolicySpec,
    agents: &[&str],
    others: Vec<Person>,
    model: Arc<dyn Model>,
) -> Result<Bench, Box<dyn std::error::Error>> {
    let rng = Arc::new(SystemRng::default());
    let node = NodeId::new(SystemClock::new(None).now().as_ms(), rng.bits());
    let store = SqliteStore::open(folder, node)?;
    let begun = Begun::default();
    let noted = begun.clone();
    let tool = Tool::new(
        "noop",
        "does nothing",
        json!({"type": "object"}),
        Effects::AtMostOnce,
        Place::Server,
        "bench",
    )?;
    let noop = FnTool::new(tool, move |call| {
        noted.lock().expect("sound").insert(call.digest(), Instant::now());
        async { Outcome::Succeeded(Output::text("ok")) }
    });
    let ana = Person {
        id: PersonId::new("ana"),
        name: "Ana".into(),
        roles: [ADMIN.to_owned()].into(),
        identities: HashMap::new().into_iter().collect(),
    };
    let setup = Setup {
        node,
        store: store.clone(),
        clock: Arc::new(SystemClock::new(None)),
        rng,
        callback_sender: Arc::new(NoCallbacks),
        people: People::new(others.into_iter().chain([ana])),
        policy: Policy::compile(policy)?,
        agents: agents.iter().map(|id| agent(id, model.clone())).collect(),
        tools: vec![Arc::new(noop)],
        limits: Limits::default(),
    };
    let engine = Engine::start(setup).await?;
    let new = NewToken {
        owner: TokenOwner::Person(PersonId::new("ana")),
        scopes: TokenScope::ALL.to_vec(),
        expires_at: None,
        note: None,
    };
    let token = engine.mint(Actor::Runtime, new).await?.secret;
    let caller = engine.caller_by_token(&token, "api").ok_or("the token is not known")?;
    Ok(Bench { engine, store, caller, token, begun })
}

fn agent(id: &str, model: Arc<dyn Model>) -> AgentSetup {
    AgentSetup {
        id: id.into(),
        instructions: None,
        model,
        tools: vec!["noop".into()],
        while_pending: Default::default(),
        run_as_decided: false,
        budgets: Default::default(),
        prices: Default::default(),
    }
}

pub(crate) async fn run(
    folder: &Path,
    at_once: usize,
    time: Duration,
) -> Result<Measured, Box<dyn std::error::Error>> {
    let bench = open(folder).await?;
    let start = Instant::now();
    let mut clients = tokio::task::JoinSet::new();
    for _ in 0..at_once {
        let (engine, caller, begun) =
            (bench.engine.clone(), bench.caller.clone(), bench.begun.clone());
        clients.spawn(async move { client(&engine, &caller, &begun, start + time).await });
    }
    let mut measured = Measured { cycles: 0, took: Duration::ZERO, answer_to_start: Vec::new() };
    while let Some(client) = clients.join_next().await {
        let (cycles, times) = client?.map_err(|error| error.to_string())?;
        measured.cycles += cycles;
        measured.answer_to_start.extend(times);
    }
    measured.took = start.elapsed();
    bench.engine.close(Duration::from_secs(5)).await;
    bench.store.close().await;
    Ok(measured)
}

async fn client(
    engine: &Engine,
    caller: &Caller,
    begun: &Begun,
    until: Instant,
) -> Result<(u64, Vec<Duration>), engine::Error> {
    let (mut cycles, mut times) = (0, Vec::new());
    loop {
        let new = NewSession {
            agent: "ops".into(),
            title: None,
            metadata: serde_json::Value::Null,
            home: None,
        };
        let session = engine.open_session(caller, new, None).await?.id;
        let mut follow = engine.follow_session(session, None).await?;
        for _ in 0..CYCLES_A_SESSION {
            engine
                .say(
                    caller,
                    session,
                    NewMessage { texts: vec!["go".into()], files: Vec::new(), while_pending: None },
                    None,
                )
                .await?;
            let mut answered = None;
            loop {
                let Some(Followed::Event(happening)) = follow.next().await? else { continue };
                match happening.event() {
                    Event::Session(SessionEvent::Hold(HoldEvent::Opened { hold })) => {
                        let digest = hold.digest();
                        let answer = Answer::Approve {
                            scope: ApprovalScope::Once,
                            arguments: None,
                            note: None,
                        };
                        let asked = Instant::now();
                        engine
                            .answer(
                                caller,
                                hold.id,
                                Answering { digest: Some(digest), answer },
                                None,
                            )
                            .await?;
                        answered = Some((digest, asked));
                    }
                    Event::Session(SessionEvent::RunCompleted { .. }) => {
                        // Looked up only now: when the answer is acknowledged the tool may not have begun.
                        if let Some((digest, asked)) = answered {
                            let began = begun.lock().expect("sound").remove(&digest);
                            times.extend(began.map(|began| began.duration_since(asked)));
                        }
                        break;
                    }
                    _ => {}
                }
            }
            cycles += 1;
            if Instant::now() >= until {
                return Ok((cycles, times));
            }
        }
    }
}
