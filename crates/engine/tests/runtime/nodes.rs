//! Several nodes over one store: nothing assumes that it is alone.

use std::sync::Arc;

use domain::event::{Event, GlobalEvent};
use domain::global_state::GlobalState;
use domain::id::{CommitId, StreamId};
use domain::person::Actor;
use domain::refusal::Refusal;
use holdpoint_engine::Error;
use ports::store::{Commit, Store as _, StreamRows};
use serde_json::json;

use crate::world::{Options, Puppet, Witness, World, approve, deny, node, status};

/// Two engines on the same data, with the same model and the same witness.
async fn pair() -> (World, World) {
    pair_over(&stores::MemoryStore::new(node())).await
}

async fn pair_over(store: &stores::MemoryStore) -> (World, World) {
    let (one, two) = (node(), node());
    let (model, witness): (Arc<Puppet>, Witness) = Default::default();
    let mut first = Options::new(Arc::new(store.beside(one)), one);
    (first.model, first.witness) = (model.clone(), witness.clone());
    let first = first.start().await;
    let mut second = Options::new(Arc::new(store.beside(two)), two);
    (second.model, second.witness) = (model, witness);
    (first, second.start().await)
}

#[tokio::test(flavor = "multi_thread")]
async fn i09_a_hundred_answers_over_two_nodes_have_one_winner() {
    let (one, two) = pair().await;
    let session = one.session().await;
    one.model.will("", &[("wipe", json!({}))]);
    one.say(session, "x").await;
    let hold = one.paused(session).await.open_holds().next().unwrap().clone();
    let mut answers = Vec::new();
    for n in 0..100 {
        let (world, answer) =
            (if n % 2 == 0 { &one } else { &two }, if n % 3 == 0 { deny() } else { approve() });
        let who = if n % 5 < 2 { &world.ana } else { &world.bob };
        let hold = hold.clone();
        answers.push(async move {
            (who.actor().clone(), answer.clone(), world.answer(who, &hold, answer).await)
        });
    }
    let hold_id = hold.id;
    let replies = futures_util::future::join_all(answers).await;
    let decided = one.hold(hold_id).await;
    let winner = decided.state.decision().unwrap().vote().unwrap().clone();
    for (who, answer, reply) in replies {
        let won = who.accountable() == Some(&winner.by) && answer == winner.answer;
        match reply {
            Ok(hold) => {
                assert!(won, "{who} was told yes");
                assert_eq!(hold.state.name(), decided.state.name());
            }
            Err(Error::Refused(Refusal::AlreadyDecided { hold })) => {
                assert!(!won, "{who} won and was told no");
                assert_eq!(hold.state.decision().unwrap().vote(), Some(&winner));
            }
            other => panic!("{other:?}"),
        }
    }
    let over = one.over(session).await;
    assert!(status(&over).is_some());
    let expected = usize::from(decided.state.name() == "approved");
    assert_eq!(one.witness.arguments().len(), expected, "at most one effect");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_that_lags_behind_decides_on_the_newer_state() {
    let (one, two) = pair().await;
    let session = one.session().await;
    one.model.will("", &[("wipe", json!({}))]);
    one.say(session, "x").await;
    let hold = one.paused(session).await.open_holds().next().unwrap().clone();
    // The second node now has the session in its cache, and then it moves on behind its back.
    two.get(session).await;
    one.answer(&one.ana, &hold, deny()).await.unwrap();
    let refused = two.answer(&two.bob, &hold, approve()).await;
    assert!(matches!(refused, Err(Error::Refused(Refusal::AlreadyDecided { .. }))), "{refused:?}");
    assert!(one.witness.arguments().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_that_lags_behind_takes_an_answer_to_a_hold_that_it_has_not_heard_of() {
    let (one, two) = pair().await;
    let session = one.session().await;
    // The second node has the session in its cache from before there was anything to answer.
    two.get(session).await;
    one.model.will("", &[("wipe", json!({}))]);
    one.say(session, "x").await;
    let hold = one.paused(session).await.open_holds().next().unwrap().clone();
    let answered = two.answer(&two.ana, &hold, approve()).await.unwrap();
    assert_eq!(answered.state.name(), "approved");
    two.over(session).await;
    assert_eq!(one.witness.arguments().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_freeze_on_one_node_stops_calls_on_the_other() {
    let (one, two) = pair().await;
    let root = crate::world::person(&one.engine, "root").await;
    let session = two.session().await;
    two.model.will("", &[("wipe", json!({}))]);
    two.say(session, "x").await;
    let hold = two.paused(session).await.open_holds().next().unwrap().clone();
    one.engine.freeze(&root, "incident").await.unwrap();
    two.answer(&two.ana, &hold, approve()).await.unwrap();
    assert_eq!(two.hold(hold.id).await.state.name(), "approved");
    // The second node had not heard of it, and was stopped by the store. What its commit says counts:
    // a call that is only just starting has no effect yet.
    let waiting = two.get(session).await;
    assert_eq!(waiting.calls.values().next().unwrap().attempts, 0, "it was started");
    assert!(two.witness.arguments().is_empty());
    one.engine.thaw(&root).await.unwrap();
    let over = one.over(session).await;
    assert_eq!(over.calls.values().next().unwrap().attempts, 1);
    assert_eq!(one.witness.arguments().len(), 1, "the thaw lets it go on");
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_is_told_that_all_is_frozen_or_thawed_is_told_what_is_on_disk() {
    let store = stores::MemoryStore::new(node());
    let (one, two) = pair_over(&store).await;
    let root = crate::world::person(&one.engine, "root").await;
    one.engine.freeze(&root, "incident").await.unwrap();
    two.engine.thaw(&root).await.unwrap();
    assert!(!is_frozen(&store).await);
    // The first still takes it for frozen, and afterwards the second takes it for thawed.
    one.engine.freeze(&root, "another").await.unwrap();
    assert!(is_frozen(&store).await);
    two.engine.thaw(&root).await.unwrap();
    assert!(!is_frozen(&store).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thaw_by_a_node_that_died_right_after_wakes_what_waits_here() {
    let store = stores::MemoryStore::new(node());
    let (one, two) = pair_over(&store).await;
    let root = crate::world::person(&one.engine, "root").await;
    one.engine.freeze(&root, "incident").await.unwrap();
    let waiting = two.session().await;
    two.model.will("", &[("wipe", json!({}))]);
    two.say(waiting, "x").await;
    let hold = two.paused(waiting).await.open_holds().next().unwrap().clone();
    two.answer(&two.ana, &hold, approve()).await.unwrap();
    assert!(two.witness.arguments().is_empty());
    // Written by a node that ended before it woke anything: neither of the two living ones hears of it.
    let entries = store.load(StreamId::Global).await.unwrap();
    let expected = entries.iter().map(|entry| entry.events.len() as u64).sum();
    let thaw = Commit {
        id: CommitId::new(0, 77),
        rows: StreamRows::Global,
        expected,
        global_version: None,
        events: vec![Event::Global(GlobalEvent::Thawed { by: Actor::Runtime })].into(),
        at: one.engine.now(),
        actor: Actor::Runtime,
        reply: None,
        outbox: Vec::new(),
        write_before: None,
    };
    store.commit(thaw).await.unwrap();
    // Whatever makes this node look at what is on disk: here a command of another session.
    let other = two.session().await;
    two.say(other, "y").await;
    two.over(waiting).await;
    assert_eq!(two.witness.arguments().len(), 1, "the call that waited for the thaw ran, once");
}

async fn is_frozen(store: &stores::MemoryStore) -> bool {
    let mut global = GlobalState::default();
    for entry in store.load(StreamId::Global).await.unwrap() {
        entry.events.iter().filter_map(Event::global_event).for_each(|event| global.apply(event));
    }
    global.frozen.is_some()
}

#[tokio::test(flavor = "multi_thread")]
async fn i16_a_call_of_a_dead_node_is_found_though_another_wrote_last() {
    let (one, two, three) = (node(), node(), node());
    let store = stores::MemoryStore::new(one);
    let (model, witness): (Arc<Puppet>, Witness) = Default::default();
    let mut first = Options::new(Arc::new(store.clone()), one);
    (first.model, first.witness) = (model.clone(), witness.clone());
    first.gate = Some(Default::default());
    let first = first.start().await;
    let mut second = Options::new(Arc::new(store.beside(two)), two);
    (second.model, second.witness) = (model.clone(), witness.clone());
    let second = second.start().await;
    let session = first.session().await;
    model.will("", &[("wipe_again", json!({}))]);
    first.say(session, "x").await;
    let hold = first.paused(session).await.open_holds().next().unwrap().clone();
    first.answer(&first.ana, &hold, approve()).await.unwrap();
    // The first node runs the call and dies; the second has taken a message meanwhile.
    second.say(session, "and then").await;
    store.bury(one);
    let mut third = Options::new(Arc::new(store.beside(three)), three);
    (third.model, third.witness) = (model, witness);
    let third = third.start().await;
    let over = third
        .until(session, "all said", |session| {
            session.queue.is_empty() && status(session).is_some_and(|status| status.is_over())
        })
        .await;
    assert_eq!(over.calls.values().next().unwrap().attempts, 2);
}
