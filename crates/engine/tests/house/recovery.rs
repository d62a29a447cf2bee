//! Recovery beside everything else: a look at one call holds up nobody, and ends.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use domain::call::{Call, ClearedCall};
use domain::hold::Question;
use domain::id::SessionId;
use domain::json::Arguments;
use domain::outcome::Outcome;
use domain::session::{CallState, RunStatus, Session};
use domain::tool::{Effects, Place, Tool};
use ports::tool_host::{PrepareError, Prepared, Recovery, ToolHost};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::world::{Options, World, approve, node, results, status};

/// A call of it never ends, and whoever asks what became of it gets no answer.
struct Stuck {
    tool: Tool,
    told: Arc<Mutex<Vec<String>>>,
}

impl Stuck {
    fn new(told: &Arc<Mutex<Vec<String>>>) -> Arc<Stuck> {
        let schema = json!({"type": "object"});
        let tool =
            Tool::new("wipe_stuck", "hangs", schema, Effects::AtMostOnce, Place::Server, "test");
        Arc::new(Stuck { tool: tool.unwrap(), told: told.clone() })
    }

    async fn hang(&self, what: String) {
        self.told.lock().unwrap().push(what);
        std::future::pending().await
    }
}

#[async_trait]
impl ToolHost for Stuck {
    fn tool(&self) -> &Tool {
        &self.tool
    }

    async fn prepare(&self, _: &Arguments) -> Result<Prepared, PrepareError> {
        Ok(Prepared::default())
    }

    async fn announce(&self, _: &Call, attempt: u32) -> Result<(), String> {
        self.told.lock().unwrap().push(format!("announced {attempt}"));
        Ok(())
    }

    async fn run(&self, call: ClearedCall, _: CancellationToken) -> Outcome {
        self.hang(format!("ran {}", call.attempt())).await;
        unreachable!("it never ends")
    }

    async fn recover(&self, _: &Call, attempt: u32) -> Recovery {
        self.hang(format!("asked {attempt}")).await;
        unreachable!("it never ends")
    }
}

/// A process whose calls hang, and the next one.
struct Lives {
    store: stores::MemoryStore,
    told: Arc<Mutex<Vec<String>>>,
    world: World,
}

impl Lives {
    async fn first() -> Lives {
        let (first, told) = (node(), Arc::default());
        let store = stores::MemoryStore::new(first);
        let mut options = Options::new(Arc::new(store.clone()), first);
        options.gate = Some(CancellationToken::new());
        options.extra.push(Stuck::new(&told));
        Lives { store, world: options.start().await, told }
    }

    /// The process is dead; the next one starts, and its tools hang as well if there is a gate.
    async fn next(self, gate: Option<CancellationToken>) -> Lives {
        let Lives { store, told, world } = self;
        let next = node();
        let mut options = Options::new(Arc::new(store.again(next)), next);
        (options.model, options.witness) = (world.model.clone(), world.witness.clone());
        options.gate = gate;
        options.extra.push(Stuck::new(&told));
        let starting = options.start();
        let world = tokio::time::timeout(Duration::from_secs(20), starting).await;
        Lives { store, told, world: world.expect("a start waits for no tool") }
    }

    /// Lets these calls begin.
    async fn begin(&self, calls: &[&str]) -> SessionId {
        let session = self.world.session().await;
        let calls: Vec<_> = calls.iter().map(|name| (*name, json!({}))).collect();
        self.world.model.will("", &calls);
        self.world.say(session, "x").await;
        for hold in self.world.paused(session).await.open_holds() {
            self.world.answer(&self.world.ana, hold, approve()).await.unwrap();
        }
        let runs = |session: &Session| session.calls.values().all(is_running);
        self.world.until(session, "running", runs).await;
        session
    }

    async fn until_told(&self, what: &str) {
        let waiting = async {
            while !self.told.lock().unwrap().iter().any(|told| told == what) {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(Duration::from_secs(20), waiting).await.expect("it is told");
    }
}

fn is_running(record: &Arc<domain::session::CallRecord>) -> bool {
    matches!(record.state, CallState::Running { .. })
}

#[tokio::test(flavor = "multi_thread")]
async fn i50_a_look_that_never_ends_holds_up_neither_the_start_nor_other_calls_nor_a_cancel() {
    let lives = Lives::first().await;
    let session = lives.begin(&["wipe_stuck", "wipe"]).await;
    lives.until_told("ran 1").await;
    let lives = lives.next(None).await;
    let world = &lives.world;
    // The other call of the same turn is looked at, and put to people.
    let in_doubt = |session: &Session| {
        session.calls.values().any(|record| matches!(record.state, CallState::InDoubt { .. }))
    };
    let now = world.until(session, "one call is in doubt", in_doubt).await;
    assert_eq!(now.calls.values().filter(|record| is_running(record)).count(), 1, "the stuck one");
    assert!(world.engine.recovering() > 0, "and that is told");
    lives.until_told("asked 1").await;
    // Other sessions go on.
    let other = world.session().await;
    world.say(other, "hello").await;
    let over = world.over(other).await;
    assert_eq!(status(&over), Some(RunStatus::Completed));
    // A cancelled run ends, and what became of its call is still asked.
    let run = now.run.as_ref().unwrap().id;
    world.engine.cancel_run(&world.ana, run, None).await.unwrap();
    let over = world.over(session).await;
    assert_eq!(status(&over), Some(RunStatus::Cancelled));
    let open: Vec<_> = over.open_holds().collect();
    assert!(matches!(open[..], [hold] if hold.question == Question::Settle), "{open:?}");
    let evidence = open[0].context["evidence"].as_str().unwrap();
    assert!(evidence.contains("cancelled") && evidence.contains("may still run"), "{evidence}");
    world.engine.recovered().await;
    assert_eq!(*lives.told.lock().unwrap(), ["announced 1", "ran 1", "asked 1"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn i50_a_look_that_never_ends_does_not_hold_up_the_end() {
    let lives = Lives::first().await;
    let session = lives.begin(&["wipe_stuck"]).await;
    lives.until_told("ran 1").await;
    let lives = lives.next(None).await;
    lives.until_told("asked 1").await;
    let hour = Duration::from_secs(3_600);
    let closing = lives.world.engine.close(hour);
    tokio::time::timeout(Duration::from_secs(20), closing).await.expect("it ends at once");
    // Nothing was concluded from that: the next one asks again.
    let lives = lives.next(None).await;
    assert!(lives.world.get(session).await.calls.values().all(is_running));
}

#[tokio::test(flavor = "multi_thread")]
async fn i50_what_ended_three_servers_is_not_begun_a_fourth_time() {
    for tool in ["look", "wipe_again"] {
        let mut lives = Lives::first().await;
        let session = lives.world.session().await;
        lives.world.model.will("", &[(tool, json!({"n": 1}))]);
        lives.world.say(session, "x").await;
        if tool == "wipe_again" {
            let hold = lives.world.paused(session).await.open_holds().next().unwrap().clone();
            lives.world.answer(&lives.world.ana, &hold, approve()).await.unwrap();
        }
        for attempt in 1..=3 {
            while lives.world.witness.arguments().len() < attempt {
                tokio::task::yield_now().await;
            }
            let dies_again = (attempt < 3).then(CancellationToken::new);
            lives = lives.next(dies_again).await;
        }
        let world = &lives.world;
        if tool == "look" {
            let over = world.over(session).await;
            let told = results(&over);
            assert!(told[0].starts_with("There is no result: it was begun 3 times"), "{told:?}");
        } else {
            let paused = world.paused(session).await;
            let settle = paused.open_holds().next().unwrap();
            assert_eq!(settle.question, Question::Settle, "a person is asked");
            assert!(settle.context["evidence"].as_str().unwrap().contains("begun 3 times"));
        }
        assert_eq!(world.witness.arguments().len(), 3, "{tool}");
    }
}
