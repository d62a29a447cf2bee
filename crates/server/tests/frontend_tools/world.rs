//! A server with the door open, and a client that reads what it says.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use domain::context::WhilePending;
use domain::event::{TokenOwner, TokenScope};
use domain::id::NodeId;
use domain::person::{Actor, PersonId};
use domain::policy::Policy;
use engine::{AgentSetup, Engine, Limits, NewToken, Setup, SystemClock, SystemRng};
use holdpoint_server::{
    AgentType, DoorSetup, Format, FrontendTools, HttpLimits, ServerSetup, ToolWords, Wire,
};
use ports::model::{CallResult, ModelMessage};
use ports::store::Store;
use reqwest::{Client, Method, RequestBuilder, Response};
use serde_json::{Value, json};
use stores::memory::MemoryStore;
use tokio::sync::oneshot;

use crate::fixtures::{NoCallbacks, Puppet, Ran, people, policy, tools, words};

pub(crate) const PAGE: &str = "http://localhost:5173";

pub(crate) struct World {
    pub(crate) address: SocketAddr,
    pub(crate) engine: Engine,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) ran: Ran,
    pub(crate) model: Puppet,
    pub(crate) client: Client,
    plan: Plan,
    tokens: BTreeMap<&'static str, String>,
    stop: oneshot::Sender<()>,
}

#[derive(Clone, Copy)]
pub(crate) struct Plan {
    pub(crate) act_as: bool,
    pub(crate) bridge: bool,
    pub(crate) while_pending: WhilePending,
}

impl Default for Plan {
    fn default() -> Plan {
        Plan { act_as: false, bridge: true, while_pending: WhilePending::Queue }
    }
}

pub(crate) async fn world() -> World {
    planned(Plan::default()).await
}

pub(crate) async fn planned(plan: Plan) -> World {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new(NodeId::new(1, 1)));
    let world = started(plan, store, Puppet::new(), Ran::default(), BTreeMap::new()).await;
    let mut tokens = BTreeMap::new();
    let people = [TokenScope::Ask, TokenScope::Answer, TokenScope::Run].to_vec();
    for (name, owner, scopes) in [
        ("root", TokenOwner::Person(PersonId::new("root")), TokenScope::ALL.to_vec()),
        ("ana", TokenOwner::Person(PersonId::new("ana")), people.clone()),
        ("dan", TokenOwner::Person(PersonId::new("dan")), people.clone()),
        ("dora", TokenOwner::Person(PersonId::new("dora")), people.clone()),
        ("eve", TokenOwner::Person(PersonId::new("eve")), people.clone()),
        ("bot", TokenOwner::Program("bot".into()), vec![TokenScope::Ask, TokenScope::Run]),
    ] {
        let new = NewToken { owner, scopes, expires_at: None, note: None };
        let by = Actor::Person(PersonId::new("ana"));
        tokens.insert(name, world.engine.mint(by, new).await.expect("a token").secret);
    }
    World { tokens, ..world }
}

async fn started(
    plan: Plan,
    store: Arc<dyn Store>,
    model: Puppet,
    ran: Ran,
    tokens: BTreeMap<&'static str, String>,
) -> World {
    let names = [
        "wipe",
        "drop",
        "deploy",
        "both",
        "write",
        "look",
        "user_confirm",
        "pick",
        "hurry",
        "requestApiKeys",
    ];
    let agent = |id: &str| AgentSetup {
        id: id.into(),
        instructions: None,
        model: Arc::new(model.clone()),
        tools: names.iter().map(|name| (*name).into()).collect(),
        while_pending: plan.while_pending,
        run_as_decided: false,
        budgets: domain::budget::Budgets::default(),
        prices: domain::budget::Prices { input: 0, cached: 0, output: 0 },
    };
    let engine = Engine::start(Setup {
        node: NodeId::new(1, 1),
        store: store.clone(),
        clock: Arc::new(SystemClock::new(None)),
        rng: Arc::new(SystemRng::default()),
        callback_sender: Arc::new(NoCallbacks),
        people: people(),
        policy: Policy::compile(policy()).expect("a policy"),
        agents: vec![agent("ops"), agent("other")],
        tools: tools(&ran),
        limits: Limits::default(),
    })
    .await
    .expect("an engine");
    let kind = |name: &str, agent: &str, format, history| AgentType {
        name: name.into(),
        agent: agent.into(),
        format,
        history,
    };
    let own = FrontendTools {
        agents: vec![
            kind("agent_frontend_tools", "ops", Format::Json, false),
            kind("agent_xml", "ops", Format::Xml, false),
            kind("agent_raw", "ops", Format::Raw, false),
            kind("agent_history", "ops", Format::Json, true),
            kind("agent_other", "other", Format::Json, false),
        ],
        bridge_approvals: plan.bridge,
    };
    let door = DoorSetup {
        act_as: plan.act_as.then(|| PersonId::new("ana")),
        origins: vec![PAGE.into()],
        wire: Wire::FrontendTools(own),
    };
    let wipe = ToolWords {
        approve_text: Some("Yes, wipe {disk}.".into()),
        deny_text: Some("No, keep {disk}.".into()),
        ..ToolWords::default()
    };
    let mut agreed = words();
    agreed.insert("wipe".to_owned(), wipe);
    let server = holdpoint_server::bind(ServerSetup {
        engine: engine.clone(),
        listen: ([127, 0, 0, 1], 0).into(),
        public_url: None,
        tls: None,
        trusts: None,
        demo: None,
        warnings: Vec::new(),
        limits: HttpLimits::default(),
        audit: None,
        doors: vec![door],
        words: agreed,
    })
    .await
    .expect("a server");
    let address = server.local_addr();
    let (stop, stopped) = oneshot::channel();
    #[expect(clippy::disallowed_methods, reason = "the test's runtime ends it")]
    tokio::spawn(server.run(async {
        let _ = stopped.await;
    }));
    // Only the TLS library asks for it; the test talks plain HTTP.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = Client::builder().timeout(Duration::from_secs(20)).build().expect("a client");
    World { address, engine, store, ran, model, client, plan, tokens, stop }
}

impl World {
    /// The same data, in a new process.
    pub(crate) async fn restarted(self) -> World {
        let World { engine, store, ran, model, plan, tokens, stop, .. } = self;
        drop(stop);
        engine.close(Duration::from_secs(5)).await;
        started(plan, store, model, ran, tokens).await
    }

    pub(crate) fn request(&self, who: &str, method: Method, path: &str) -> RequestBuilder {
        let request = self.client.request(method, format!("http://{}{path}", self.address));
        if who.is_empty() { request } else { request.bearer_auth(&self.tokens[who]) }
    }

    pub(crate) async fn get(&self, who: &str, path: &str) -> (u16, Value) {
        let reply = self.request(who, Method::GET, path).send().await.expect("a reply");
        let status = reply.status().as_u16();
        (status, reply.json().await.unwrap_or(Value::Null))
    }

    pub(crate) async fn post(&self, who: &str, path: &str, body: &Value) -> Told {
        told(self.request(who, Method::POST, path).json(body).send().await.expect("a reply")).await
    }

    /// A prompt of turns that the model plays.
    pub(crate) async fn run(&self, who: &str, turns: Value) -> Told {
        self.run_as(who, "agent_frontend_tools", turns).await
    }

    pub(crate) async fn run_as(&self, who: &str, kind: &str, turns: Value) -> Told {
        let body = json!({"user_prompt": script(turns), "agent_type": kind});
        self.post(who, "/agent/run", &body).await
    }

    pub(crate) async fn results(&self, who: &str, uuid: &str, results: &[(&str, &str)]) -> Told {
        self.post(who, "/agent/tool_results", &posted(uuid, results)).await
    }

    /// Everything that ever happened, as one value: equal if and only if nothing changed.
    pub(crate) async fn state(&self) -> (u64, Option<[u8; 32]>) {
        let entries = self.store.audit(0, usize::MAX >> 1).await.expect("the log");
        (entries.len() as u64, entries.last().map(|entry| entry.hash))
    }

    /// The results that the model was given last.
    pub(crate) fn given(&self) -> Vec<CallResult<'static>> {
        let asked = self.model.asked.lock().expect("sound");
        match asked.last().and_then(|request| request.messages.last()) {
            Some(ModelMessage::Results { results }) => results.clone(),
            other => panic!("no results, but {other:?}"),
        }
    }

    /// The open holds of whoever asks.
    pub(crate) async fn holds(&self, who: &str) -> Vec<Value> {
        let (status, page) = self.get(who, "/v1/holds?state=pending").await;
        assert_eq!(status, 200, "{page}");
        page["items"].as_array().expect("a list").clone()
    }
}

pub(crate) fn script(turns: Value) -> String {
    json!({"turns": turns}).to_string()
}

pub(crate) fn posted(uuid: &str, results: &[(&str, &str)]) -> Value {
    let results: Vec<Value> = results
        .iter()
        .map(|(id, content)| json!({"tool_use_id": id, "content": content}))
        .collect();
    json!({"agent_uuid": uuid, "tool_results": results})
}

/// A reply, read to its end: every stream ends.
#[derive(Debug)]
pub(crate) struct Told {
    pub(crate) status: u16,
    pub(crate) items: Vec<String>,
    /// Of a refusal.
    pub(crate) problem: Value,
}

pub(crate) async fn told(reply: Response) -> Told {
    let status = reply.status().as_u16();
    let headers = reply.headers().clone();
    let text = reply.text().await.expect("the body ends");
    if status != 200 {
        assert_eq!(headers["content-type"], "application/problem+json", "{text}");
        let problem = serde_json::from_str(&text).expect("a problem");
        return Told { status, items: Vec::new(), problem };
    }
    for (name, value) in [
        ("content-type", "text/event-stream"),
        ("cache-control", "no-cache"),
        ("x-accel-buffering", "no"),
    ] {
        assert_eq!(headers[name], value);
    }
    Told { status, items: items(&text), problem: Value::Null }
}

/// Each event is one line of data and an empty line, and nothing else.
pub(crate) fn items(text: &str) -> Vec<String> {
    let text = text.replace(": hb\n", "");
    let mut items = Vec::new();
    for event in text.split_inclusive("\n\n") {
        let item = event.strip_prefix("data: ").and_then(|event| event.strip_suffix("\n\n"));
        let item = item.unwrap_or_else(|| panic!("not an item: {event:?}"));
        assert!(!item.contains(['\r', '\n']), "{item:?}");
        items.push(item.to_owned());
    }
    items
}

impl Told {
    pub(crate) fn is_done(&self) -> bool {
        self.items.last().is_some_and(|item| item == "[DONE]")
    }

    fn envelopes(&self) -> impl Iterator<Item = Value> {
        let items = self.items.iter().filter(|item| *item != "[DONE]");
        items.map(|item| serde_json::from_str(item).expect("an envelope"))
    }

    /// All deltas of one type, joined (json).
    pub(crate) fn all(&self, kind: &str) -> String {
        let of_kind = self.envelopes().filter(|envelope| envelope["type"] == kind);
        of_kind.map(|it| it["delta"].as_str().expect("a delta").to_owned()).collect()
    }

    pub(crate) fn meta(&self) -> Value {
        let first: Value = serde_json::from_str(&self.items[0]).expect("an envelope");
        assert_eq!((&first["type"], &first["final"]), (&json!("meta_init"), &json!(true)));
        serde_json::from_str(first["delta"].as_str().expect("a delta")).expect("an object")
    }

    pub(crate) fn uuid(&self) -> String {
        assert_eq!(self.status, 200, "{}", self.problem);
        self.meta()["agent_uuid"].as_str().expect("a uuid").to_owned()
    }

    /// What the pause asks (json); empty without one.
    pub(crate) fn awaited(&self) -> Vec<Value> {
        let pauses: Vec<Value> =
            self.envelopes().filter(|it| it["type"] == "awaiting_frontend_tools").collect();
        assert!(pauses.len() <= 1, "{:?}", self.items);
        let Some(pause) = pauses.first() else { return Vec::new() };
        assert_eq!(pause["final"], true);
        assert!(self.is_done(), "a pause ends with [DONE]: {:?}", self.items);
        serde_json::from_str(pause["delta"].as_str().expect("a delta")).expect("a bare array")
    }

    pub(crate) fn awaited_ids(&self) -> Vec<String> {
        assert_eq!(self.status, 200, "{}", self.problem);
        let id = |it: &Value| it["tool_use_id"].as_str().expect("an id").to_owned();
        self.awaited().iter().map(id).collect()
    }

    #[track_caller]
    pub(crate) fn refused(&self, status: u16, code: &str) {
        assert_eq!(self.status, status, "{} {:?}", self.problem, self.items);
        assert_eq!(self.problem["code"], code, "{}", self.problem);
    }

    #[track_caller]
    pub(crate) fn finished(&self) {
        assert_eq!(self.status, 200, "{}", self.problem);
        assert!(self.is_done() && self.awaited().is_empty(), "{:?}", self.items);
    }
}
