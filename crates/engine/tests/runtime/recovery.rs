//! Recovery beside everything else: a look at one call holds up nobody, and ends.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use domain::call::Call;
use domain::hold::Question;
use domain::id::SessionId;
use domain::json::Arguments;
use domain::outcome::{Outcome, Output};
use domain::session::{CallState, RunStatus, Session};
use domain::tool::{Effects, Place, Tool};
use ports::durable::ClearedCall;
use ports::start_gate::{NotBegun, Start};
use ports::tool_host::{PrepareError, Prepared, Recovery, ToolHost};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::world::{Options, World, approve, node, results, status};

/// A call of it never ends, and whoever asks what became of it gets no answer.
struct Stuck {
    tool: Tool,
    told: Arc<Mutex<Vec<String>>>,
    /// How long each look went on until it was given up.
    looks: Arc<Mutex<Vec<Duration>>>,
}

struct Look(tokio::time::Instant, Arc<Mutex<Vec<Duration>>>);

impl Drop for Look {
    fn drop(&mut self) {
        self.1.lock().unwrap().push(self.0.elapsed());
    }
}

impl Stuck {
    fn new(told: &Arc<Mutex<Vec<String>>>, looks: &Arc<Mutex<Vec<Duration>>>) -> Arc<Stuck> {
        let schema = json!({"type": "object"});
        let tool =
            Tool::new("wipe_stuck", "hangs", schema, Effects::AtMostOnce, Place::Server, "test");
        Arc::new(Stuck { tool: tool.unwrap(), told: told.clone(), looks: looks.clone() })
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

    async fn run(
        &self,
        call: ClearedCall,
        start: Start,
        _: CancellationToken,
    ) -> Result<Outcome, NotBegun> {
        drop(start.enter().await?);
        self.hang(format!("ran {}", call.attempt())).await;
        unreachable!("it never ends")
    }

    async fn recover(&self, _: &Call, attempt: u32) -> Recovery {
        let _look = Look(tokio::time::Instant::now(), self.looks.clone());
        self.hang(format!("asked {attempt}")).await;
        unreachable!("it never ends")
    }
}

/// A process whose calls hang, and the next one.
struct Lives {
    store: stores::MemoryStore,
    told: Arc<Mutex<Vec<String>>>,
    looks: Arc<Mutex<Vec<Duration>>>,
    world: World,
}

impl Lives {
    async fn first() -> Lives {
        let (first, told, looks) = (node(), Arc::default(), Arc::default());
        let store = stores::MemoryStore::new(first);
        let mut options = Options::new(Arc::new(store.clone()), first);
        options.gate = Some(CancellationToken::new());
        options.extra.push(Stuck::new(&told, &looks));
        Lives { store, world: options.start().await, told, looks }
    }

    /// The process is dead; the next one starts, and its tools hang as well if there is a gate.
    async fn next(self, gate: Option<CancellationToken>) -> Lives {
        self.next_at(gate, 1).await
    }

    /// The same, with waits that are so many times shorter.
    async fn next_at(self, gate: Option<CancellationToken>, hurry: u32) -> Lives {
        let Lives { store, told, looks, world } = self;
        let next = node();
        let mut options = Options::new(Arc::new(store.again(next)), next);
        (options.model, options.witness) = (world.model.clone(), world.witness.clone());
        (options.gate, options.hurry) = (gate, hurry);
        options.extra.push(Stuck::new(&told, &looks));
        let starting = options.start();
        let world = tokio::time::timeout(Duration::from_secs(20), starting).await;
        Lives { store, told, looks, world: world.expect("a start waits for no tool") }
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

#[tokio::test(flavor = "multi_thread")]
async fn i50_a_start_that_never_began_is_no_crash_of_its_call() {
    let first = node();
    let store = stores::MemoryStore::new(first);
    let (mut id, mut here) = (first, Arc::new(store.clone()));
    let mut session = None;
    // Two servers have no place for it, and give it back when they end.
    for _ in 0..2 {
        let mut options = Options::new(here, id);
        options.limits.executing_at_once = 0;
        let world = options.start().await;
        if session.is_none() {
            session = Some(world.session().await);
            world.model.will("", &[("look", json!({"n": 1}))]);
            world.say(session.unwrap(), "x").await;
        }
        let runs = |session: &Session| session.calls.values().any(is_running);
        world.until(session.unwrap(), "started on disk", runs).await;
        world.engine.close(Duration::from_millis(50)).await;
        let given_back = async {
            while world.get(session.unwrap()).await.calls.values().any(is_running) {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(Duration::from_secs(20), given_back).await.expect("given back");
        id = node();
        here = Arc::new(store.again(id));
    }
    // The third begins it, and dies.
    let mut options = Options::new(here, id);
    let witness = options.witness.clone();
    options.gate = Some(CancellationToken::new());
    let dying = options.start().await;
    while witness.arguments().is_empty() {
        tokio::task::yield_now().await;
    }
    let id = node();
    let mut options = Options::new(Arc::new(store.again(id)), id);
    options.witness = witness.clone();
    let over = options.start().await.over(session.unwrap()).await;
    drop(dying);
    let told = results(&over);
    assert!(!told[0].contains("begun"), "{told:?}");
    assert_eq!(witness.arguments().len(), 2, "it was begun again");
}

const STUCK: [&str; 60] = ["wipe_stuck"; 60];

/// Many calls of a tool whose looks hang, and one of another between them; the next process looks at them.
async fn many_stuck(hurry: u32) -> (Lives, [SessionId; 4], SessionId) {
    let lives = Lives::first().await;
    let [one, two] = [lives.begin(&STUCK).await, lives.begin(&STUCK).await];
    let other = lives.begin(&["wipe"]).await;
    let stuck = [one, two, lives.begin(&STUCK).await, lives.begin(&STUCK).await];
    (lives.next_at(None, hurry).await, stuck, other)
}

fn count_in_doubt(session: &Session) -> usize {
    let in_doubt = |record: &&Arc<_>| {
        let record: &domain::session::CallRecord = record;
        matches!(record.state, CallState::InDoubt { .. })
    };
    session.calls.values().filter(in_doubt).count()
}

#[tokio::test(flavor = "multi_thread")]
async fn i50_looks_of_one_tool_that_hang_hold_up_no_other_tool() {
    let (lives, _, other) = many_stuck(1).await;
    let one = |session: &Session| count_in_doubt(session) == 1;
    lives.world.until(other, "the other call was looked at", one).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn i50_no_call_is_given_up_on_before_it_was_looked_at() {
    let (lives, stuck, _) = many_stuck(3_000).await;
    for session in stuck {
        let all = |session: &Session| count_in_doubt(session) == STUCK.len();
        lives.world.until(session, "all had their turn", all).await;
    }
    let looks = lives.looks.lock().unwrap().clone();
    assert_eq!(looks.len(), STUCK.len() * stuck.len());
    let shortest = looks.iter().min().unwrap();
    assert!(*shortest >= Duration::from_secs(5 * 60) / 3_000, "{shortest:?} is not its whole time");
}

/// A tool that says that a call has not begun when all others say the same.
struct Together(Tool, tokio::sync::Barrier, AtomicUsize);

#[async_trait]
impl ToolHost for Together {
    fn tool(&self) -> &Tool {
        &self.0
    }

    async fn prepare(&self, _: &Arguments) -> Result<Prepared, PrepareError> {
        Ok(Prepared::default())
    }

    async fn announce(&self, _: &Call, _: u32) -> Result<(), String> {
        self.1.wait().await;
        self.2.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }

    async fn run(
        &self,
        _: ClearedCall,
        start: Start,
        _: CancellationToken,
    ) -> Result<Outcome, NotBegun> {
        drop(start.enter().await?);
        Ok(Outcome::Succeeded(Output::text("done")))
    }

    async fn recover(&self, _: &Call, _: u32) -> Recovery {
        Recovery::NeverHappened
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn i50_calls_that_start_together_are_announced_together() {
    let id = node();
    let mut options = Options::new(Arc::new(stores::MemoryStore::new(id)), id);
    let schema = json!({"type": "object"});
    let tool =
        Tool::new("wipe_together", "waits", schema, Effects::AtMostOnce, Place::Server, "test");
    let host =
        Arc::new(Together(tool.unwrap(), tokio::sync::Barrier::new(20), AtomicUsize::new(0)));
    options.extra.push(host.clone());
    let world = options.start().await;
    let session = world.session().await;
    world.model.will("", &vec![("wipe_together", json!({})); 20]);
    world.say(session, "x").await;
    let paused = world.paused(session).await;
    for hold in paused.open_holds() {
        world.answer(&world.ana, hold, approve()).await.unwrap();
    }
    // One after the other they would each have waited for their whole time, and the answer with them.
    assert_eq!(host.2.load(Ordering::SeqCst), 20);
}
