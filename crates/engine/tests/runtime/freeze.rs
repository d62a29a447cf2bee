//! After a freeze is acknowledged nothing starts, from any queue (I-52).

use std::sync::Arc;
use std::time::Duration;

use domain::event::{Event, GlobalEvent, HoldEvent, SessionEvent};
use domain::hold::{Callback, Hold, Question};
use domain::id::{SessionId, StreamId};
use domain::json::Arguments;
use domain::outcome::ResultKind;
use domain::person::Actor;
use domain::refusal::Refusal;
use domain::session::{CallState, RunStatus, Session};
use domain::tool::Effects;
use holdpoint_engine::{Caller, Error, NewHold};
use ports::store::{Commit, Store as _, StreamRows};
use serde_json::json;
use stores::MemoryStore;
use tokio_util::sync::CancellationToken;
use tools::client::ClientTool;

use crate::faulty::Faulty;
use crate::world::{Options, Post, World, approve, deny, node, person, status};

/// Waits for something that no follower is told of.
async fn until(what: &str, is: impl AsyncFn() -> bool) {
    let waiting = async {
        while !is().await {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), waiting)
        .await
        .unwrap_or_else(|_| panic!("never: {what}"));
}

/// A session with a call that was approved.
async fn approved(world: &World) -> SessionId {
    let session = world.session().await;
    world.model.will("", &[("wipe", json!({}))]);
    world.say(session, "x").await;
    let hold = world.paused(session).await.open_holds().next().unwrap().clone();
    world.answer(&world.ana, &hold, approve()).await.unwrap();
    session
}

/// Two sessions with approved calls, one in the only place and one that waits for it.
async fn one_runs_one_waits(world: &World) -> [SessionId; 2] {
    let runs = approved(world).await;
    until("the first has its place", async || world.witness.arguments().len() == 1).await;
    let waits = approved(world).await;
    world.until(waits, "started on disk", is_running).await;
    [runs, waits]
}

fn is_running(session: &Session) -> bool {
    session.calls.values().any(|record| matches!(record.state, CallState::Running { .. }))
}

fn is_cleared(session: &Session) -> bool {
    session.calls.values().any(|record| matches!(record.state, CallState::Cleared { .. }))
}

fn one_place(
    store: Arc<dyn ports::store::Store>,
    node: domain::id::NodeId,
) -> (Options, CancellationToken) {
    let gate = CancellationToken::new();
    let mut options = Options::new(store, node);
    options.gate = Some(gate.clone());
    options.limits.executing_at_once = 1;
    (options, gate)
}

#[tokio::test(flavor = "multi_thread")]
async fn i52_a_call_that_waits_for_a_free_place_does_not_begin_while_frozen() {
    let id = node();
    let (options, gate) = one_place(Arc::new(MemoryStore::new(id)), id);
    let world = options.start().await;
    let root = person(&world.engine, "root").await;
    let [runs, waits] = one_runs_one_waits(&world).await;
    world.engine.freeze(&root, "incident").await.unwrap();
    gate.cancel();
    world.until(runs, "its call has ended", |session| !is_running(session)).await;
    let cleared = world.until(waits, "cleared again", is_cleared).await;
    assert_eq!(world.witness.arguments().len(), 1, "it ran after the freeze");
    let hold = cleared.holds.values().next().unwrap();
    assert_eq!((hold.state.name(), hold.outcome()), ("approved", None), "it does not execute");
    world.engine.thaw(&root).await.unwrap();
    world.over(waits).await;
    assert_eq!(world.witness.arguments().len(), 2, "the thaw lets it go on, once");
}

#[tokio::test(flavor = "multi_thread")]
async fn i52_a_freeze_by_another_node_reaches_calls_that_wait_for_a_place() {
    let store = MemoryStore::new(node());
    let (one, two) = (node(), node());
    let first = Options::new(Arc::new(store.beside(one)), one).start().await;
    let (options, gate) = one_place(Arc::new(store.beside(two)), two);
    let second = options.start().await;
    let root = person(&first.engine, "root").await;
    let [_, waits] = one_runs_one_waits(&second).await;
    first.engine.freeze(&root, "incident").await.unwrap();
    gate.cancel();
    second.until(waits, "cleared again", is_cleared).await;
    assert_eq!(second.witness.arguments().len(), 1, "it ran after the freeze");
    first.engine.thaw(&root).await.unwrap();
    // Each node may find out that it can go on, and only the one that starts it hears how it ends.
    tokio::select! {
        _ = first.over(waits) => {}
        _ = second.over(waits) => {}
    }
    assert_eq!(second.witness.arguments().len() + first.witness.arguments().len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_call_that_waits_for_a_free_place_is_not_given_to_its_tool() {
    let id = node();
    let (options, gate) = one_place(Arc::new(MemoryStore::new(id)), id);
    let world = options.start().await;
    let [_, waits] = one_runs_one_waits(&world).await;
    let run = world.get(waits).await.run.as_ref().unwrap().id;
    world.engine.cancel_run(&world.ana, run, None).await.unwrap();
    let over = world.over(waits).await;
    assert_eq!(status(&over), Some(RunStatus::Cancelled));
    let record = over.calls.values().next().unwrap();
    let CallState::Settled { result } = &record.state else { panic!("{record:?}") };
    assert_ne!(result.kind, ResultKind::Output);
    gate.cancel();
    world.engine.close(Duration::from_secs(20)).await;
    assert_eq!(world.witness.arguments().len(), 1, "its tool got it");
}

fn asks(tool: &str) -> NewHold {
    NewHold {
        diff: None,
        question: Question::Approve,
        title: "May I?".into(),
        call: Some((tool.into(), Arguments::parse(b"{}").unwrap())),
        context: serde_json::Value::Null,
        audience: None,
        risk: None,
        expires_in_ms: None,
        callback: Some(Callback { url: "https://example.com".into(), secret_env: "X".into() }),
    }
}

async fn asked(world: &World) -> Arc<Hold> {
    world.engine.open_hold(&world.program, asks("wipe"), None).await.unwrap()
}

fn sent(post: &Post) -> Vec<String> {
    post.delivered.lock().unwrap().clone()
}

async fn posting() -> (World, Arc<Post>, Caller) {
    let id = node();
    let mut options = Options::new(Arc::new(MemoryStore::new(id)), id);
    options.limits.delivery_retry = Duration::from_millis(10);
    let post = options.post.clone();
    let world = options.start().await;
    let root = person(&world.engine, "root").await;
    (world, post, root)
}

#[tokio::test(flavor = "multi_thread")]
async fn i52_an_outside_program_is_not_told_to_go_on_while_frozen() {
    let (world, post, root) = posting().await;
    let [yes, no] = [asked(&world).await, asked(&world).await];
    world.engine.freeze(&root, "incident").await.unwrap();
    for _ in 0..2 {
        let taken = world.answer(&world.bob, &yes, approve()).await.unwrap();
        assert_eq!((taken.state.name(), taken.votes.len()), ("pending", 1), "the answer is taken");
    }
    // Nothing starts by a denial.
    assert_eq!(world.answer(&world.bob, &no, deny()).await.unwrap().state.name(), "denied");
    until("word of the denial", async || sent(&post).len() == 1).await;
    assert_eq!(sent(&post), [format!("{}-denied", no.id)]);
    assert!(world.hold(yes.id).await.is_pending());
    world.engine.thaw(&root).await.unwrap();
    until("the thaw lets it count", async || !world.hold(yes.id).await.is_pending()).await;
    let decided = world.hold(yes.id).await;
    assert_eq!((decided.state.name(), decided.votes.len()), ("approved", 1));
    until("word of it", async || sent(&post).contains(&format!("{}-approved", yes.id))).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn i52_a_vote_that_waits_for_the_thaw_can_be_taken_back() {
    let (world, post, root) = posting().await;
    let hold = asked(&world).await;
    world.engine.freeze(&root, "incident").await.unwrap();
    world.answer(&world.bob, &hold, approve()).await.unwrap();
    let denied = world.answer(&world.bob, &hold, deny()).await.unwrap();
    assert_eq!(denied.state.name(), "denied");
    world.engine.thaw(&root).await.unwrap();
    until("word of it", async || !sent(&post).is_empty()).await;
    assert_eq!(sent(&post), [format!("{}-denied", hold.id)]);
    assert_eq!(world.hold(hold.id).await.state.name(), "denied");
}

#[tokio::test(flavor = "multi_thread")]
async fn i52_word_of_an_approval_stays_in_the_outbox_while_frozen() {
    let (world, post, root) = posting().await;
    let [yes, no] = [asked(&world).await, asked(&world).await];
    post.failing.store(1, std::sync::atomic::Ordering::SeqCst);
    world.answer(&world.bob, &yes, approve()).await.unwrap();
    post.tried.notified().await;
    world.engine.freeze(&root, "incident").await.unwrap();
    let store = world.engine.store().clone();
    let again_is_due = async || {
        let due = store.outbox_items("callbacks", world.engine.now(), 9).await.unwrap();
        due.iter().any(|callback| callback.attempts == 1)
    };
    until("it is to be tried again", again_is_due).await;
    world.answer(&world.bob, &no, deny()).await.unwrap();
    until("word of the denial", async || !sent(&post).is_empty()).await;
    assert_eq!(sent(&post), [format!("{}-denied", no.id)], "the other waits for the thaw");
    assert!(again_is_due().await, "and is not forgotten");
    world.engine.thaw(&root).await.unwrap();
    until("word of it", async || sent(&post).len() == 2).await;
    assert_eq!(sent(&post)[1], format!("{}-approved", yes.id));
}

#[tokio::test(flavor = "multi_thread")]
async fn i52_what_a_rule_allows_at_once_is_not_allowed_after_a_freeze() {
    let node = node();
    let store = Arc::new(Faulty::new(node));
    let world = Options::new(store.clone(), node).start().await;
    let root = person(&world.engine, "root").await;
    store.early.set();
    let opening = world.engine.open_hold(&world.program, asks("look"), None);
    let freezing = async {
        // It was allowed, and is on its way to the disk.
        let _ = store.early.is_done.acquire().await;
        world.engine.freeze(&root, "incident").await.unwrap();
        store.early.may_go_on.close();
    };
    let (opened, ()) = tokio::join!(opening, freezing);
    assert!(matches!(opened, Err(Error::Refused(Refusal::Frozen { .. }))), "{opened:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn i52_an_approval_on_its_way_to_the_disk_waits_if_a_freeze_is_faster() {
    let node = node();
    let store = Arc::new(Faulty::new(node));
    let world = Options::new(store.clone(), node).start().await;
    let root = person(&world.engine, "root").await;
    let hold = asked(&world).await;
    store.early.set();
    let answering = world.answer(&world.bob, &hold, approve());
    let freezing = async {
        let _ = store.early.is_done.acquire().await;
        world.engine.freeze(&root, "incident").await.unwrap();
        store.early.may_go_on.close();
    };
    let (answered, ()) = tokio::join!(answering, freezing);
    assert!(answered.unwrap().is_pending());
    world.engine.thaw(&root).await.unwrap();
    until("it counts", async || world.hold(hold.id).await.state.name() == "approved").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn i52_a_program_that_says_it_begins_is_refused_if_a_freeze_is_faster() {
    let node = node();
    let store = Arc::new(Faulty::new(node));
    let world = Options::new(store.clone(), node).start().await;
    let root = person(&world.engine, "root").await;
    let hold = asked(&world).await;
    world.answer(&world.bob, &hold, approve()).await.unwrap();
    store.early.set();
    let beginning = world.engine.start_outside(&world.program, hold.id, None);
    let freezing = async {
        let _ = store.early.is_done.acquire().await;
        world.engine.freeze(&root, "incident").await.unwrap();
        store.early.may_go_on.close();
    };
    let (begun, ()) = tokio::join!(beginning, freezing);
    assert!(matches!(begun, Err(Error::Refused(Refusal::Frozen { .. }))), "{begun:?}");
    assert_eq!(world.hold(hold.id).await.outcome(), None);
    world.engine.thaw(&root).await.unwrap();
    world.engine.start_outside(&world.program, hold.id, None).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_waited_for_a_thaw_counts_though_the_process_ended_in_between() {
    let (one, two) = (node(), node());
    let store = MemoryStore::new(one);
    let first = Options::new(Arc::new(store.clone()), one).start().await;
    let root = person(&first.engine, "root").await;
    let hold = asked(&first).await;
    first.engine.freeze(&root, "incident").await.unwrap();
    first.answer(&first.bob, &hold, approve()).await.unwrap();
    first.engine.close(Duration::from_secs(5)).await;
    // The thaw is on disk, and whoever wrote it died before anything else.
    let global = store.load(StreamId::Global).await.unwrap();
    let expected = global.iter().map(|entry| entry.events.len() as u64).sum();
    let thaw = Commit {
        id: domain::id::CommitId::new(0, 77),
        rows: StreamRows::Global,
        expected,
        global_version: None,
        events: vec![Event::Global(GlobalEvent::Thawed { by: Actor::Runtime })].into(),
        at: first.engine.now(),
        actor: Actor::Runtime,
        reply: None,
        outbox: Vec::new(),
        write_before: None,
    };
    store.commit(thaw).await.unwrap();
    let second = Options::new(Arc::new(store.again(two)), two).start().await;
    until("it counts", async || second.hold(hold.id).await.state.name() == "approved").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn i52_a_call_for_a_client_is_not_shown_before_the_thaw() {
    let id = node();
    let store = Arc::new(MemoryStore::new(id));
    let mut options = Options::new(store.clone(), id);
    let schema = json!({"type": "object"});
    let locate = ClientTool::new("locate", "", schema, Effects::AtMostOnce, Vec::new()).unwrap();
    options.extra.push(Arc::new(locate));
    let world = options.start().await;
    let root = person(&world.engine, "root").await;
    let session = world.session().await;
    world.model.will("", &[("wipe", json!({}))]);
    world.say(session, "x").await;
    let hold = world.paused(session).await.open_holds().next().unwrap().clone();
    world.engine.freeze(&root, "incident").await.unwrap();
    // One turn for the freeze, and one for the thaw.
    world.model.will("", &[("locate", json!({}))]);
    world.model.will("", &[("locate", json!({}))]);
    world.answer(&world.ana, &hold, deny()).await.unwrap();
    until("the model is asked", async || world.model.heard().len() == 2).await;
    world.engine.thaw(&root).await.unwrap();
    let performs = |hold: &Hold| matches!(hold.question, Question::Perform { .. });
    let shown = |session: &Session| session.open_holds().any(|hold| performs(hold));
    world.until(session, "the call is shown", shown).await;
    let mut frozen = false;
    for entry in store.entries(None, 0, usize::MAX >> 1).await.unwrap() {
        for event in entry.events.iter() {
            match event {
                Event::Global(GlobalEvent::Frozen { .. }) => frozen = true,
                Event::Global(GlobalEvent::Thawed { .. }) => frozen = false,
                Event::Session(SessionEvent::Hold(HoldEvent::Opened { hold }))
                    if performs(hold) =>
                {
                    assert!(!frozen, "{hold:?}")
                }
                _ => {}
            }
        }
    }
}
