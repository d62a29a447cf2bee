//! A server with the door open, and a client of it that reads streams as the origin's web client does.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use domain::context::WhilePending;
use domain::event::{TokenOwner, TokenScope};
use domain::id::NodeId;
use domain::person::{Actor, PersonId};
use domain::policy::Policy;
use engine::{AgentSetup, Engine, Limits, NewToken, Setup, SystemClock, SystemRng};
use holdpoint_server::{
    DoorSetup, DoorWords, HttpLimits, NamedAgent, PageFiles, ServerSetup, ToolWords, Wire, World,
    Worlds,
};
use ports::store::Store;
use reqwest::{Client, Method, RequestBuilder};
use serde_json::{Value, json};
use stores::memory::MemoryStore;
use tokio::sync::oneshot;

use crate::furniture::{NoCallbacks, Player, TOOLS, Witness, people, policy};

pub(crate) struct Stage {
    pub(crate) address: SocketAddr,
    /// Where the door serves a client's page.
    pub(crate) page: SocketAddr,
    pub(crate) engine: Engine,
    pub(crate) store: Arc<MemoryStore>,
    pub(crate) witness: Witness,
    pub(crate) model: Player,
    client: Client,
    tokens: BTreeMap<&'static str, String>,
    stop: Mutex<Option<oneshot::Sender<()>>>,
}

/// With the door acting for Bob, who is no admin.
pub(crate) async fn stage() -> Stage {
    begun(Arc::new(MemoryStore::new(NodeId::new(1, 1))), 1).await
}

pub(crate) async fn begun(store: Arc<MemoryStore>, node: u128) -> Stage {
    let (witness, model) = (Witness::default(), Player::default());
    let agent = |id: &str| AgentSetup {
        id: id.into(),
        instructions: None,
        model: Arc::new(model.clone()),
        tools: TOOLS.map(Into::into).into(),
        while_pending: WhilePending::Queue,
        run_as_decided: false,
        budgets: Default::default(),
        prices: Default::default(),
    };
    let engine = Engine::start(Setup {
        node: NodeId::new(1, node),
        store: store.clone(),
        clock: Arc::new(SystemClock::new(None)),
        rng: Arc::new(SystemRng::default()),
        callback_sender: Arc::new(NoCallbacks),
        people: people(),
        policy: Policy::compile(policy()).expect("a policy"),
        agents: vec![agent("one"), agent("two")],
        tools: witness.tools(),
        limits: Limits::default(),
    })
    .await
    .expect("an engine");
    let mut tokens = BTreeMap::new();
    for (name, owner) in [
        ("ana", TokenOwner::Person(PersonId::new("ana"))),
        ("bob", TokenOwner::Person(PersonId::new("bob"))),
        ("dan", TokenOwner::Person(PersonId::new("dan"))),
        ("eve", TokenOwner::Person(PersonId::new("eve"))),
        ("bot", TokenOwner::Program("bot".into())),
    ] {
        let scopes = match name {
            "ana" => TokenScope::ALL.to_vec(),
            "bot" => vec![TokenScope::Ask, TokenScope::Run],
            _ => vec![TokenScope::Ask, TokenScope::Answer, TokenScope::Run],
        };
        let new = NewToken { owner, scopes, expires_at: None, note: None };
        let by = Actor::Person(PersonId::new("bob"));
        tokens.insert(name, engine.mint(by, new).await.expect("a token").secret);
    }
    let named = |name: &str, agent: &str| NamedAgent { name: name.into(), agent: agent.into() };
    let worlds = vec![
        World { name: "My World".into(), agents: vec![named("a1", "one"), named("a2", "two")] },
        World { name: "other".into(), agents: vec![named("a1", "one")] },
    ];
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
        doors: vec![DoorSetup {
            act_as: Some(PersonId::new("bob")),
            origins: vec!["http://localhost:5173".into()],
            wire: Wire::Worlds(Worlds {
                worlds,
                files: Some(PageFiles {
                    folder: concat!(env!("CARGO_MANIFEST_DIR"), "/tests/worlds/page").into(),
                    listen: Some(([127, 0, 0, 1], 0).into()),
                }),
            }),
        }],
        words: DoorWords::from([(
            "write_file".to_owned(),
            ToolWords {
                approve_text: Some("Yes, write {path}.".into()),
                deny_text: Some("No, do not write.".into()),
                ..ToolWords::default()
            },
        )]),
    })
    .await
    .expect("a server");
    let (address, page) = (server.local_addr(), server.page_addrs()[0]);
    let (stop, stopped) = oneshot::channel();
    #[expect(clippy::disallowed_methods, reason = "the test's runtime ends it")]
    tokio::spawn(server.run(async {
        let _ = stopped.await;
    }));
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = Client::builder().timeout(Duration::from_secs(30)).build().expect("a client");
    let stop = Mutex::new(Some(stop));
    Stage { address, page, engine, store, witness, model, client, tokens, stop }
}

/// What a stream said, or why there was none.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) body: Value,
    pub(crate) events: Vec<Value>,
}

impl Stage {
    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}/api{path}", self.address)
    }

    /// A request by somebody, or (`""`) by a client without credentials.
    pub(crate) fn request(&self, who: &str, method: Method, path: &str) -> RequestBuilder {
        let request = self.client.request(method, self.url(path));
        match who {
            "" => request.header("content-type", "application/json"),
            who => request.bearer_auth(&self.tokens[who]),
        }
    }

    pub(crate) async fn ask(&self, who: &str, method: Method, path: &str, body: Value) -> Reply {
        let request = self.request(who, method, path).body(body.to_string());
        read(request.send().await.expect("a reply")).await
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> Reply {
        self.ask("", Method::POST, path, body).await
    }

    pub(crate) async fn get(&self, path: &str) -> Value {
        let reply = self.ask("", Method::GET, path, Value::Null).await;
        assert_eq!(reply.status, 200, "{path}: {reply:?}");
        reply.body
    }

    /// A new chat of the world.
    pub(crate) async fn chat(&self) -> String {
        let reply = self.post("/worlds/my-world/chats", json!({})).await;
        assert_eq!(reply.status, 200, "{reply:?}");
        text(&reply.body["chatId"])
    }

    /// Says something as the first generation does: in the current chat, and the body names none.
    pub(crate) async fn say(&self, chat: &str, said: &str) -> Reply {
        let reply = read(self.begin(chat, said).await).await;
        assert_eq!(reply.status, 200, "{reply:?}");
        reply
    }

    /// The same, as soon as it was heard.
    pub(crate) async fn begin(&self, chat: &str, said: &str) -> reqwest::Response {
        let set = self.post(&format!("/worlds/my-world/setChat/{chat}"), json!({})).await;
        assert_eq!(set.status, 200, "{set:?}");
        let body = json!({"message": said, "sender": "HUMAN"});
        let request = self.request("", Method::POST, "/worlds/my-world/messages");
        request.body(body.to_string()).send().await.expect("a reply")
    }

    /// Says something as the second generation does, and follows the stream.
    pub(crate) async fn listen(&self, chat: &str, said: &str) -> Listening {
        let body = json!({"message": said, "sender": "human", "chatId": chat});
        let request = self.request("", Method::POST, "/worlds/my-world/messages");
        let reply = request.body(body.to_string()).send().await.expect("a reply");
        assert_eq!(reply.status(), 200);
        Listening { reply, rest: String::new() }
    }

    pub(crate) async fn submit(&self, body: Value) -> Reply {
        self.post("/worlds/my-world/tool-results", body).await
    }

    pub(crate) async fn respond(&self, body: Value) -> Value {
        let reply = self.post("/worlds/my-world/hitl/respond", body).await;
        assert_eq!(reply.status, 200, "{reply:?}");
        reply.body
    }

    /// Everything that ever happened: equal if and only if nothing changed.
    pub(crate) async fn state(&self) -> (u64, Option<[u8; 32]>) {
        let entries = self.store.audit(0, usize::MAX >> 1).await.expect("the log");
        (entries.len() as u64, entries.last().map(|entry| entry.hash))
    }

    /// Stops everything and begins again on the same store.
    pub(crate) async fn again(self) -> Stage {
        drop(self.stop.lock().expect("sound").take());
        self.engine.close(Duration::from_secs(5)).await;
        begun(self.store.clone(), 1).await
    }
}

pub(crate) async fn read(reply: reqwest::Response) -> Reply {
    let status = reply.status().as_u16();
    let kind = reply.headers().get("content-type").and_then(|kind| kind.to_str().ok());
    let streams = kind.is_some_and(|kind| kind.starts_with("text/event-stream"));
    let bytes = reply.bytes().await.expect("a whole body");
    if !streams {
        let body = serde_json::from_slice(&bytes).unwrap_or(Value::Null);
        return Reply { status, body, events: Vec::new() };
    }
    // The web client looks for `data: ` at the beginning of a line, and for nothing else.
    let text = std::str::from_utf8(&bytes).expect("UTF-8");
    let events = text.split("\n\n").filter_map(|event| event.strip_prefix("data: "));
    let events = events.map(|line| serde_json::from_str(line).expect("one line of JSON"));
    Reply { status, body: Value::Null, events: events.collect() }
}

/// A stream that is read as it comes.
pub(crate) struct Listening {
    reply: reqwest::Response,
    rest: String,
}

impl Listening {
    /// The next event; `None` at the end of the body.
    pub(crate) async fn next(&mut self) -> Option<Value> {
        loop {
            if let Some((event, rest)) = self.rest.split_once("\n\n") {
                let read = event.strip_prefix("data: ").map(serde_json::from_str);
                self.rest = rest.to_owned();
                match read {
                    Some(event) => return Some(event.expect("one line of JSON")),
                    // A comment.
                    None => continue,
                }
            }
            let chunk = self.reply.chunk().await.expect("a body")?;
            self.rest.push_str(std::str::from_utf8(&chunk).expect("UTF-8"));
        }
    }

    /// Events up to the first that is like this.
    pub(crate) async fn until(&mut self, is: impl Fn(&Value) -> bool) -> Vec<Value> {
        let mut events = Vec::new();
        while let Some(event) = self.next().await {
            events.push(event);
            if events.last().is_some_and(&is) {
                return events;
            }
        }
        panic!("it never came: {events:#?}")
    }
}

/// A `client.*` call as the web client reads it from a chunk.
#[derive(Clone, Debug)]
pub(crate) struct Dialog {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) agent: String,
    pub(crate) arguments: Value,
}

impl Dialog {
    pub(crate) fn original(&self) -> &Value {
        &self.arguments["originalToolCall"]
    }
}

impl Reply {
    /// Kinds of events in order: `world idle`, `sse chunk`, `message user`.
    pub(crate) fn kinds(&self) -> Vec<String> {
        let kind = |event: &Value| {
            let inner = match event["type"].as_str() {
                Some("message") => &event["data"]["role"],
                _ => &event["data"]["type"],
            };
            format!("{} {}", text(&event["type"]), inner.as_str().unwrap_or_default())
        };
        self.events.iter().map(kind).map(|kind| kind.trim().to_owned()).collect()
    }

    /// What the web page of the first generation shows. Its steps, in its order: a chunk counts only
    /// between the start and the end of its message, and shows a dialog for each call in it; what stands
    /// in a `message` event alone goes through the page's state, and is lost there.
    pub(crate) fn dialogs(&self) -> Vec<Dialog> {
        let (mut dialogs, mut open) = (Vec::new(), std::collections::BTreeSet::new());
        for event in self.events.iter().filter(|event| event["type"] == "sse") {
            let data = &event["data"];
            let message = data["messageId"].as_str().unwrap_or_default();
            match data["type"].as_str() {
                Some("start") => {
                    open.insert(message);
                }
                Some("end" | "error") => {
                    open.remove(message);
                }
                Some("chunk") if open.contains(message) => {
                    let calls = data["tool_calls"].as_array().into_iter().flatten();
                    dialogs.extend(calls.filter_map(|call| dialog(call, &data["agentName"])));
                }
                _ => {}
            }
        }
        // Each is in the transcript, too.
        for dialog in &dialogs {
            let is_there = |event: &Value| {
                event["type"] == "message" && event["data"]["tool_calls"][0]["id"] == *dialog.id
            };
            assert!(self.events.iter().any(is_there), "{:#?}", self.events);
        }
        dialogs
    }

    pub(crate) fn dialog(&self) -> Dialog {
        let dialogs = self.dialogs();
        assert_eq!(dialogs.len(), 1, "{:#?}", self.events);
        dialogs[0].clone()
    }

    /// What the web client of the second generation would show.
    pub(crate) fn asked(&self) -> Vec<Value> {
        let prompts = self.events.iter().filter_map(|event| {
            let data = &event["data"];
            let prompt = &data["toolExecution"]["metadata"]["hitlPrompt"];
            (data["type"] == "tool-progress" && prompt.is_object()).then(|| prompt.clone())
        });
        prompts.collect()
    }

    /// What the agent said last.
    pub(crate) fn said(&self) -> String {
        let last =
            self.events.iter().rev().find(|event| {
                event["data"]["role"] == "assistant" && event["data"]["content"] != ""
            });
        last.map(|event| text(&event["data"]["content"])).unwrap_or_default()
    }

    pub(crate) fn code(&self) -> (u16, String) {
        (self.status, self.body["code"].as_str().unwrap_or_default().to_owned())
    }
}

fn dialog(call: &Value, agent: &Value) -> Option<Dialog> {
    let name = text(&call["function"]["name"]);
    let arguments = text(&call["function"]["arguments"]);
    name.starts_with("client.").then(|| Dialog {
        id: text(&call["id"]),
        name,
        agent: text(agent),
        arguments: serde_json::from_str(&arguments).expect("JSON in a string"),
    })
}

pub(crate) fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}")).to_owned()
}

/// The body that the web client of the first generation posts for an approval.
pub(crate) fn approval(dialog: &Dialog, decision: &str, scope: Option<&str>) -> Value {
    let mut body = json!({
        "tool_call_id": dialog.id, "decision": decision, "agentId": dialog.agent, "stream": true,
        "toolName": dialog.original()["name"], "toolArgs": dialog.original()["args"],
    });
    if let Some(scope) = scope {
        body["scope"] = json!(scope);
    }
    if let Some(directory) = dialog.original().get("workingDirectory") {
        body["workingDirectory"] = directory.clone();
    }
    body
}

/// The body that it posts for a choice.
pub(crate) fn choice(dialog: &Dialog, choice: &str) -> Value {
    json!({
        "tool_call_id": dialog.id, "choice": choice, "agentId": dialog.agent, "stream": true,
        "toolName": "human_intervention.request", "toolArgs": dialog.original()["args"],
    })
}
