//! Many strangers with cookies before a door, while the store is slow to look them up.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;

use async_trait::async_trait;
use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use domain::event::{TokenOwner, TokenScope};
use domain::hold::Hold;
use domain::id::NodeId;
use domain::person::{Actor, People, Person, PersonId};
use domain::policy::{Policy, PolicySpec};
use engine::{Engine, Limits, NewToken, Setup, SystemClock, SystemRng};
use futures_util::FutureExt as _;
use ports::callback::{CallbackError, CallbackSender};
use stores::memory::MemoryStore;
use tokio::sync::SemaphorePermit;
use tower::ServiceExt as _;

use super::Threshold;
use crate::app::App;
use crate::limits::{COOKIE_LOOKUPS, COOKIE_WAITS, HttpLimits};
use crate::peer::Peer;
use crate::{AiSdk, DoorSetup, Made, NamedAgent, Ui, Wire, doors, make, routes};

const PLACES: usize = 4;

struct NoCallbacks;

#[async_trait]
impl CallbackSender for NoCallbacks {
    fn accepts(&self, _: &str, _: &str) -> Result<(), String> {
        Err("there are no callbacks in this test".into())
    }

    async fn deliver(&self, _: &str, _: &Hold) -> Result<(), CallbackError> {
        Err(CallbackError::Never("there are no callbacks in this test".into()))
    }
}

struct Crowd {
    app: App,
    router: Router,
    token: String,
}

type Pending = Pin<Box<dyn Future<Output = u16>>>;

impl Crowd {
    async fn new() -> Crowd {
        let node = NodeId::new(1, 1);
        let ana = PersonId::new("ana");
        let person = Person {
            id: ana.clone(),
            name: "Ana".into(),
            roles: ["admin".to_owned()].into(),
            identities: BTreeMap::new(),
        };
        let engine = Engine::start(Setup {
            node,
            store: Arc::new(MemoryStore::new(node)),
            clock: Arc::new(SystemClock::new(None)),
            rng: Arc::new(SystemRng::default()),
            callback_sender: Arc::new(NoCallbacks),
            people: People::new([person]),
            policy: Policy::compile(PolicySpec::default()).expect("a policy"),
            agents: Vec::new(),
            tools: Vec::new(),
            limits: Limits::default(),
        })
        .await
        .expect("an engine");
        let owner = TokenOwner::Person(ana.clone());
        let new =
            NewToken { owner, scopes: TokenScope::ALL.to_vec(), expires_at: None, note: None };
        let token = engine.mint(Actor::Person(ana), new).await.expect("a token").secret;
        let agents = vec![NamedAgent { name: "clerk".into(), agent: "ops".into() }];
        let wire = Wire::AiSdk(AiSdk { prefix: "/api".into(), agents, ui: Ui::Six });
        let app = make(Made {
            engine,
            origin: "http://127.0.0.1".into(),
            tls: false,
            loopback: true,
            doors: vec![DoorSetup { act_as: None, origins: Vec::new(), wire }],
            words: crate::DoorWords::new(),
            trusts: None,
            demo: None,
            warnings: Vec::new(),
            audit: None,
            limits: HttpLimits { requests_at_once: PLACES, ..HttpLimits::default() },
        });
        let router = doors::router(&app).layer(Threshold(app.clone()));
        let router = routes::router(&app).merge(router);
        Crowd { app, router, token }
    }

    /// The store is slow: requests with a cookie wait.
    fn stall(app: &App) -> SemaphorePermit<'_> {
        app.cookie_lookups.try_acquire_many(COOKIE_LOOKUPS as u32).expect("all of them")
    }

    fn send(&self, from: u8, path: &str, header: (&str, &str)) -> Pending {
        let request = Request::builder().uri(path).header(header.0, header.1);
        let mut request = request.body(Body::empty()).expect("a request");
        request.extensions_mut().insert(Peer(IpAddr::from([192, 0, 2, from])));
        let reply = self.router.clone().oneshot(request);
        Box::pin(reply.map(|reply: Result<Response, _>| reply.expect("a reply").status().as_u16()))
    }

    /// A stranger with an unknown cookie, who waits at a door.
    fn stranger(&self, from: u8) -> Pending {
        let mut reply = self.send(from, "/api/chat/c/messages", ("cookie", "holdpoint_session=x"));
        assert_eq!((&mut reply).now_or_never(), None, "it waits");
        reply
    }
}

#[tokio::test]
async fn i50_cookies_of_strangers_at_a_door_take_no_place_of_a_caller() {
    let crowd = Crowd::new().await;
    let stalled = Crowd::stall(&crowd.app);
    let strangers: Vec<_> = (0..PLACES * 2).map(|_| crowd.stranger(9)).collect();
    assert_eq!(crowd.app.requests.available_permits(), PLACES);
    let bearer = format!("Bearer {}", crowd.token);
    assert_eq!(crowd.send(1, "/v1/me", ("authorization", &bearer)).await, 200);
    // The caller is let through the door as well, and is told that there is no such chat.
    let chat = "/api/chat/c/messages";
    assert_eq!(crowd.send(1, chat, ("authorization", &bearer)).await, 404);
    drop(stalled);
    for reply in strangers {
        assert_eq!(reply.await, 401);
    }
}

#[tokio::test]
async fn i50_so_many_cookies_wait_and_the_address_that_sent_the_most_is_told_to_come_back() {
    let crowd = Crowd::new().await;
    let stalled = Crowd::stall(&crowd.app);
    let honest = crowd.stranger(1);
    let strangers: Vec<_> = (0..COOKIE_WAITS).map(|_| crowd.stranger(9)).collect();
    // One too many: the oldest of the crowd leaves, and not the first who came.
    let mut strangers = strangers.into_iter();
    assert_eq!(strangers.next().expect("one").await, 503);
    drop(stalled);
    assert_eq!(honest.await, 401);
    drop(strangers);
}

#[tokio::test]
async fn i50_a_caller_at_a_door_takes_a_callers_place() {
    let crowd = Crowd::new().await;
    let _taken = crowd.app.requests.try_acquire_many(PLACES as u32).expect("all of them");
    let bearer = format!("Bearer {}", crowd.token);
    let chat = "/api/chat/c/messages";
    assert_eq!(crowd.send(1, chat, ("authorization", &bearer)).await, 503);
}
