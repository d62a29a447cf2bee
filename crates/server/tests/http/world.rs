//! A small world: Ana is the admin, Bob a DBA who owns sessions, Eve a stranger; programs of Bob's
//! and of Eve's.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use channels::web_push::{WebPush, WebPushSettings, new_vapid_key};
use domain::context::WhilePending;
use domain::event::{TokenOwner, TokenScope};
use domain::id::NodeId;
use domain::person::{Actor, People, PersonId};
use domain::policy::{Policy, PolicySpec};
use engine::{AgentSetup, Engine, Limits, NewToken, Setup, SystemClock, SystemRng};
use holdpoint_server::{DoorSetup, DoorWords, HttpLimits, Scenario, ServerSetup, Tls};
use ports::store::Store;
use reqwest::{Client, Method, RequestBuilder, Response};
use serde_json::{Value, json};
use stores::memory::MemoryStore;
use tokio::sync::oneshot;

use crate::fixtures::{
    Desk, Lines, NoCallbacks, Obedient, both, connect, deploy, locate, look, people, policy, wipe,
};

pub(crate) struct World {
    pub(crate) address: SocketAddr,
    pub(crate) engine: Engine,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) client: Client,
    /// How often the tool `wipe` ran.
    pub(crate) wiped: Arc<AtomicUsize>,
    tokens: BTreeMap<&'static str, String>,
    stop: Mutex<Option<oneshot::Sender<()>>>,
    running: Mutex<Option<tokio::task::JoinHandle<()>>>,
}

#[derive(Default)]
pub(crate) struct Plan {
    pub(crate) limits: HttpLimits,
    pub(crate) trusts_loopback: bool,
    pub(crate) public_url: Option<String>,
    pub(crate) tls: Option<Tls>,
    pub(crate) doors: Vec<DoorSetup>,
    pub(crate) words: DoorWords,
    pub(crate) hooks: Option<Arc<dyn holdpoint_server::Hooks>>,
    pub(crate) policy: Option<PolicySpec>,
    pub(crate) people: Option<People>,
    pub(crate) links: Option<Arc<dyn holdpoint_server::LinkSender>>,
    pub(crate) session_ms: Option<u64>,
    /// What another world has lived through.
    pub(crate) store: Option<Arc<dyn Store>>,
    pub(crate) sends_notices: bool,
    /// Push services may be on this machine.
    pub(crate) notices_stay_here: bool,
}

pub(crate) async fn world() -> World {
    planned(Plan::default()).await
}

pub(crate) async fn planned(plan: Plan) -> World {
    let node = NodeId::new(1, 1);
    let store = plan.store.unwrap_or_else(|| Arc::new(MemoryStore::new(node)));
    let wiped = Arc::new(AtomicUsize::new(0));
    let engine = Engine::start(Setup {
        node,
        store: store.clone(),
        clock: Arc::new(SystemClock::new(None)),
        rng: Arc::new(SystemRng::default()),
        callback_sender: Arc::new(NoCallbacks),
        people: plan.people.unwrap_or_else(people),
        policy: Policy::compile(plan.policy.unwrap_or_else(policy)).expect("a policy"),
        agents: vec![AgentSetup {
            id: "ops".into(),
            instructions: None,
            model: Arc::new(Obedient),
            tools: ["wipe", "connect", "look", "locate", "deploy", "both", "requestApiKeys"]
                .map(Into::into)
                .into(),
            while_pending: WhilePending::Queue,
            run_as_decided: false,
            budgets: domain::budget::Budgets { turns: 4, ..Default::default() },
            prices: domain::budget::Prices {
                input: 3_000_000,
                cached: 3_000_000,
                output: 15_000_000,
            },
        }],
        tools: vec![
            Arc::new(wipe(wiped.clone())),
            Arc::new(connect()),
            Arc::new(look()),
            Arc::new(locate("locate")),
            Arc::new(locate("requestApiKeys")),
            Arc::new(deploy(wiped.clone())),
            Arc::new(both()),
        ],
        limits: Limits {
            session_ms: plan.session_ms.unwrap_or_else(|| Limits::default().session_ms),
            ..Limits::default()
        },
    })
    .await
    .expect("an engine");
    if plan.sends_notices {
        let settings = WebPushSettings {
            contact: "mailto:ops@example.com".into(),
            allow_private_addresses: plan.notices_stay_here,
        };
        let clock = Arc::new(SystemClock::new(None));
        let key = engine.sealed_push_key(new_vapid_key).await.expect("a key");
        let opened = WebPush::new(settings, &key, clock);
        engine.send_notices_by(Arc::new(opened.expect("a key")));
    }
    let mut tokens = BTreeMap::new();
    for (name, owner, scopes, by) in [
        ("ana", person("ana"), TokenScope::ALL.to_vec(), "ana"),
        ("bob", person("bob"), vec![TokenScope::Ask, TokenScope::Answer, TokenScope::Run], "ana"),
        ("eve", person("eve"), vec![TokenScope::Ask, TokenScope::Answer, TokenScope::Run], "ana"),
        ("dan", person("dan"), vec![TokenScope::Ask, TokenScope::Answer, TokenScope::Run], "ana"),
        ("gate", TokenOwner::Program("gate".into()), vec![TokenScope::Ask, TokenScope::Run], "bob"),
        ("bot", TokenOwner::Program("bot".into()), vec![TokenScope::Ask, TokenScope::Run], "eve"),
    ] {
        let new = NewToken { owner, scopes, expires_at: None, note: None };
        let minted = engine.mint(Actor::Person(PersonId::new(by)), new).await.expect("a token");
        tokens.insert(name, minted.secret);
    }
    let bound = holdpoint_server::bind(ServerSetup {
        engine: engine.clone(),
        listen: ([127, 0, 0, 1], 0).into(),
        public_url: plan.public_url,
        tls: plan.tls,
        trusts: plan.trusts_loopback.then(
            || -> Arc<dyn Fn(std::net::IpAddr) -> bool + Send + Sync> {
                Arc::new(|address| address.is_loopback())
            },
        ),
        demo: Some(vec![Scenario { name: "approve".into(), say: "call wipe {}".into() }]),
        warnings: vec!["this is a test".into()],
        limits: plan.limits,
        audit: Some(Arc::new(Lines)),
        doors: plan.doors,
        words: plan.words,
    })
    .await
    .expect("a server");
    let bound = bound.with_channels(Arc::new(Desk));
    let server = match plan.hooks {
        Some(hooks) => bound.with_hooks(hooks),
        None => bound,
    };
    let server = match plan.links {
        Some(links) => server.with_links(links),
        None => server,
    };
    let address = server.local_addr();
    let (stop, stopped) = oneshot::channel();
    #[expect(clippy::disallowed_methods, reason = "the test's runtime ends it")]
    let running = tokio::spawn(server.run(async {
        let _ = stopped.await;
    }));
    // Only the TLS library asks for it; the test talks plain HTTP.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .timeout(Duration::from_secs(30))
        .build()
        .expect("a client");
    let (stop, running) = (Mutex::new(Some(stop)), Mutex::new(Some(running)));
    World { address, engine, store, client, wiped, tokens, stop, running }
}

impl World {
    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub(crate) fn token(&self, who: &str) -> &str {
        &self.tokens[who]
    }

    /// A request by somebody, or by nobody (`""`).
    pub(crate) fn request(&self, who: &str, method: Method, path: &str) -> RequestBuilder {
        let request = self.client.request(method, self.url(path));
        if who.is_empty() { request } else { request.bearer_auth(self.token(who)) }
    }

    pub(crate) async fn get(&self, who: &str, path: &str) -> (u16, Value) {
        read(self.request(who, Method::GET, path).send().await.expect("a reply")).await
    }

    pub(crate) async fn post(&self, who: &str, path: &str, body: Value) -> (u16, Value) {
        read(self.request(who, Method::POST, path).json(&body).send().await.expect("a reply")).await
    }

    pub(crate) async fn delete(&self, who: &str, path: &str) -> (u16, Value) {
        read(self.request(who, Method::DELETE, path).send().await.expect("a reply")).await
    }

    /// Everything that ever happened, as one value: equal if and only if nothing changed.
    pub(crate) async fn state(&self) -> (u64, Option<[u8; 32]>) {
        let entries = self.store.audit(0, usize::MAX >> 1).await.expect("the log");
        (entries.len() as u64, entries.last().map(|entry| entry.hash))
    }

    pub(crate) fn wiped(&self) -> usize {
        self.wiped.load(Ordering::SeqCst)
    }

    pub(crate) fn stop(&self) {
        drop(self.stop.lock().expect("sound").take());
    }

    /// All of it has ended.
    pub(crate) async fn stopped(&self) {
        let running = self.running.lock().expect("sound").take();
        running.expect("waited for once").await.expect("it does not panic");
    }

    pub(crate) async fn session(&self, who: &str) -> String {
        let (status, session) = self.post(who, "/v1/sessions", json!({"agent": "ops"})).await;
        assert_eq!(status, 201, "{session}");
        text(&session, "id")
    }

    pub(crate) async fn say(&self, who: &str, session: &str, say: &str) -> (String, String) {
        let path = format!("/v1/sessions/{session}/messages");
        let (status, said) = self.post(who, &path, json!({"text": say})).await;
        assert_eq!(status, 202, "{said}");
        (text(&said, "run"), text(&said, "message"))
    }

    /// Says something that opens a hold, and waits for it.
    pub(crate) async fn held(&self, who: &str, say: &str) -> (String, Value) {
        let session = self.session(who).await;
        self.say(who, &session, say).await;
        let shown = self.until(who, &session, |session| !list(session, "pending").is_empty()).await;
        (session, list(&shown, "pending")[0].clone())
    }

    /// Reads the session until it is as wanted.
    pub(crate) async fn until(
        &self,
        who: &str,
        session: &str,
        wanted: impl Fn(&Value) -> bool,
    ) -> Value {
        let path = format!("/v1/sessions/{session}");
        for _ in 0..1000 {
            let (status, shown) = self.get(who, &path).await;
            assert_eq!(status, 200, "{shown}");
            if wanted(&shown) {
                return shown;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        panic!("the session never became as wanted: {}", self.get(who, &path).await.1)
    }

    pub(crate) async fn until_over(&self, who: &str, session: &str) -> Value {
        let over = |session: &Value| {
            !matches!(session["run"]["status"].as_str(), None | Some("running" | "paused"))
        };
        self.until(who, session, over).await
    }

    pub(crate) async fn answer(&self, who: &str, hold: &Value, answer: Value) -> (u16, Value) {
        let path = format!("/v1/holds/{}/answer", text(hold, "id"));
        self.post(who, &path, json!({"digest": hold["digest"], "answer": answer})).await
    }

    pub(crate) async fn open_hold(&self, who: &str, body: Value) -> Value {
        let (status, hold) = self.post(who, "/v1/holds", body).await;
        assert_eq!(status, 201, "{hold}");
        hold
    }

    /// A browser's login: cookie and CSRF value.
    pub(crate) async fn log_in(&self, person: &str) -> (String, String) {
        let code = self.engine.new_login(&PersonId::new(person)).await.expect("a code");
        self.log_in_with(&code).await
    }

    /// The same by a code that is at hand.
    pub(crate) async fn log_in_with(&self, code: &str) -> (String, String) {
        let reply = self.use_code(code).await;
        assert_eq!(reply.status(), 303);
        let cookie = reply.headers()["set-cookie"].to_str().expect("text").split(';').next();
        let cookie = cookie.expect("a cookie").to_owned();
        let me = self.client.get(self.url("/v1/me")).header("cookie", &cookie).send().await;
        let me: Value = me.expect("a reply").json().await.expect("json");
        (cookie, text(&me, "csrf"))
    }
}

impl World {
    /// What the button on the login page does.
    pub(crate) async fn use_code(&self, code: &str) -> Response {
        let request = self.client.post(self.url("/login")).body(format!("code={code}"));
        let request = request.header("content-type", "application/x-www-form-urlencoded");
        request.send().await.expect("a reply")
    }
}

pub(crate) async fn read(reply: Response) -> (u16, Value) {
    let status = reply.status().as_u16();
    let bytes = reply.bytes().await.expect("a body");
    (status, serde_json::from_slice(&bytes).unwrap_or(Value::Null))
}

pub(crate) fn text(value: &Value, name: &str) -> String {
    value[name].as_str().unwrap_or_else(|| panic!("no `{name}` in {value}")).to_owned()
}

pub(crate) fn list<'a>(value: &'a Value, name: &str) -> &'a Vec<Value> {
    value[name].as_array().unwrap_or_else(|| panic!("no `{name}` in {value}"))
}

fn person(id: &str) -> TokenOwner {
    TokenOwner::Person(PersonId::new(id))
}
