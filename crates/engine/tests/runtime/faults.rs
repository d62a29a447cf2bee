//! A store that fails: nothing is acknowledged that is not on disk, and nothing runs.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use domain::id::{SessionId, StreamId};
use domain::time::Timestamp;
use holdpoint_engine::{Error, Followed};
use ports::store::Store as _;
use serde_json::json;

use crate::faulty::{Fault, Faulty};
use crate::world::{Options, World, approve, node, results, status};

/// A session with a call that was approved.
async fn approved(world: &World) -> SessionId {
    let session = world.session().await;
    world.model.will("", &[("wipe", json!({}))]);
    world.say(session, "x").await;
    let hold = world.paused(session).await.open_holds().next().unwrap().clone();
    world.answer(&world.ana, &hold, approve()).await.unwrap();
    session
}

#[tokio::test(flavor = "multi_thread")]
async fn i39_a_store_that_is_away_lets_nothing_run_and_loses_nothing() {
    let node = node();
    let store = Arc::new(Faulty::new(node));
    let world = Options::new(store.clone(), node).start().await;
    let session = world.session().await;
    world.model.will("", &[("wipe", json!({}))]);
    world.say(session, "x").await;
    let hold = world.paused(session).await.open_holds().next().unwrap().clone();
    store.set(Fault::Unavailable);
    let refused = world.answer(&world.ana, &hold, approve()).await;
    assert!(matches!(refused, Err(Error::Unavailable(_))), "{refused:?}");
    assert!(world.hold(hold.id).await.is_pending());
    assert!(world.witness.arguments().is_empty(), "no intent on disk, no effect");
    store.set(Fault::None);
    world.answer(&world.ana, &hold, approve()).await.unwrap();
    world.over(session).await;
    assert_eq!(world.witness.arguments().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn i38_an_answer_whose_commit_is_unknown_is_looked_up_before_anything_is_said() {
    for fault in [Fault::LostReply, Fault::LostCommit] {
        let node = node();
        let store = Arc::new(Faulty::new(node));
        let world = Options::new(store.clone(), node).start().await;
        let session = world.session().await;
        world.model.will("", &[("wipe", json!({}))]);
        world.say(session, "x").await;
        let hold = world.paused(session).await.open_holds().next().unwrap().clone();
        store.set(fault);
        let answered = world.answer(&world.ana, &hold, approve()).await.unwrap();
        assert_eq!(answered.state.name(), "approved");
        let over = world.over(session).await;
        assert_eq!(world.witness.arguments().len(), 1, "run once, whatever the store said");
        assert_eq!(results(&over).len(), 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn i38_a_message_whose_commit_is_unknown_is_said_once() {
    for fault in [Fault::LostReply, Fault::LostCommit] {
        let node = node();
        let store = Arc::new(Faulty::new(node));
        let world = Options::new(store.clone(), node).start().await;
        let session = world.session().await;
        world.model.will("done", &[]);
        store.set(fault);
        world.say(session, "x").await;
        let over = world.over(session).await;
        let said = over.transcript.iter().filter(|message| message.text() == "x").count();
        assert_eq!((said, over.queue.len()), (1, 0), "neither lost nor said twice");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn i39_a_result_that_cannot_be_written_yet_is_kept_until_it_can() {
    let node = node();
    let store = Arc::new(Faulty::new(node));
    let gate = tokio_util::sync::CancellationToken::new();
    let mut options = Options::new(store.clone(), node);
    options.gate = Some(gate.clone());
    let world = options.start().await;
    let session = approved(&world).await;
    store.set(Fault::Unavailable);
    gate.cancel();
    tokio::time::sleep(std::time::Duration::from_millis(120)).await;
    store.set(Fault::None);
    let over = world.over(session).await;
    assert_eq!(results(&over), ["did {}"]);
    assert_eq!(world.witness.arguments().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn i36_what_happens_between_the_stored_and_the_live_is_not_lost() {
    let node = node();
    let store = Arc::new(Faulty::new(node));
    let world = Options::new(store.clone(), node).start().await;
    let session = world.session().await;
    store.seam.set();
    let following = world.engine.follow_session(session, Some(0));
    let meanwhile = async {
        let _ = store.seam.is_done.acquire().await;
        // The follower has read what was stored, and does not listen yet. Nothing happens after
        // this that could make it look again.
        world.model.will("done", &[]);
        world.say(session, "x").await;
        let last = world.over(session).await.version;
        store.seam.may_go_on.close();
        last
    };
    let (follow, last) = tokio::join!(following, meanwhile);
    let mut follow = follow.unwrap();
    let mut seen = Vec::new();
    while seen.last() != Some(&last) {
        let next = tokio::time::timeout(Duration::from_secs(10), follow.next());
        if let Some(Followed::Event(happening)) = next.await.expect("nothing is lost").unwrap() {
            seen.push(happening.position);
        }
    }
    assert_eq!(seen, (1..=last).collect::<Vec<_>>());
}

#[tokio::test(flavor = "multi_thread")]
async fn i36_entries_that_are_heard_of_out_of_order_are_followed_in_order() {
    let node = node();
    let store = Arc::new(Faulty::new(node));
    let world = Options::new(store.clone(), node).start().await;
    let root = crate::world::person(&world.engine, "root").await;
    let (begin, _) = store.last().await.unwrap();
    let mut follow = world.engine.follow_all(&root, Some(begin)).await.unwrap();
    // It has read what is stored, and from now on listens.
    world.session().await;
    let (before, _) = store.last().await.unwrap();
    let first = follow.next().await.unwrap();
    assert!(matches!(first, Some(Followed::Event(happening)) if happening.position == before));
    // The first of two commits is on disk, but the second is heard of before it.
    store.late.set();
    let first = world.session();
    let second = async {
        let _ = store.late.is_done.acquire().await;
        world.session().await;
        store.late.may_go_on.close();
    };
    tokio::join!(first, second);
    let (last, _) = store.last().await.unwrap();
    let mut seen = Vec::new();
    while seen.last() != Some(&last) {
        let next = tokio::time::timeout(Duration::from_secs(10), follow.next());
        if let Some(Followed::Event(happening)) = next.await.expect("nothing is lost").unwrap() {
            seen.push(happening.position);
        }
    }
    assert_eq!(seen, (before + 1..=last).collect::<Vec<_>>());
}

#[tokio::test(flavor = "multi_thread")]
async fn i29_a_deadline_whose_commit_was_lost_sight_of_is_kept() {
    let node = node();
    let store = Arc::new(Faulty::new(node));
    let world = Options::new(store.clone(), node).start().await;
    let new = holdpoint_engine::NewHold {
        diff: None,
        question: domain::hold::Question::Approve,
        title: "quick".into(),
        call: Some(("wipe".into(), domain::json::Arguments::parse(b"{}").unwrap())),
        context: serde_json::Value::Null,
        audience: None,
        risk: None,
        expires_in_ms: Some(200),
        callback: None,
    };
    store.set(Fault::LostSight);
    let opened = world.engine.open_hold(&world.ana, new, None).await;
    assert!(matches!(opened, Err(Error::Unavailable(_))), "{opened:?}");
    // It is on disk all the same, and nobody asks for it.
    let open = store.inner.due(Timestamp::from_ms(i64::MAX), 1).await.unwrap();
    let StreamId::ExternalHold(hold) = open[0] else { panic!("{open:?}") };
    let decided = async {
        while store.inner.hold(hold).await.unwrap().unwrap().is_pending() {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(10), decided).await.expect("it expires");
    assert_eq!(store.inner.hold(hold).await.unwrap().unwrap().state.name(), "expired");
}

#[tokio::test]
async fn nobody_decides_on_what_is_just_being_changed() {
    let node = node();
    let store = Arc::new(Faulty::new(node));
    let world = Options::new(store.clone(), node).start().await;
    let session = world.session().await;
    world.model.will("", &[("wipe", json!({}))]);
    world.say(session, "x").await;
    let hold = world.paused(session).await.open_holds().next().unwrap().clone();
    store.late.set();
    let mut answering = std::pin::pin!(world.answer(&world.ana, &hold, approve()));
    assert!(futures_util::poll!(&mut answering).is_pending(), "nobody knows of it yet");
    let before = store.asked.load(Ordering::SeqCst);
    let mut saying = ["a", "b", "c"].map(|text| Box::pin(world.say(session, text)));
    for one in &mut saying {
        assert!(futures_util::poll!(one).is_pending());
    }
    assert_eq!(store.asked.load(Ordering::SeqCst), before, "they would be refused");
    store.late.may_go_on.close();
    let (answered, _) = tokio::join!(answering, futures_util::future::join_all(saying));
    answered.unwrap();
    world.over(session).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn i15_what_follows_late_from_a_commit_does_not_run_a_call_again() {
    let node = node();
    let store = Arc::new(Faulty::new(node));
    let mut options = Options::new(store.clone(), node);
    let gate = tokio_util::sync::CancellationToken::new();
    options.gate = Some(gate.clone());
    options.limits.cached_sessions = 1;
    let world = options.start().await;
    let session = approved(&world).await;
    // A message is written while the call runs, and what follows from it is late.
    store.late.set();
    let saying = world.say(session, "and then");
    let meanwhile = async {
        let _ = store.late.is_done.acquire().await;
        // The call has its result, which waits for the turn of the session. There is room for one lane that
        // is not in use.
        gate.cancel();
        for _ in 0..20 {
            world.session().await;
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        store.late.may_go_on.close();
        let over = |session: &domain::session::Session| {
            let settled = session.calls.values().all(|record| record.state.is_settled());
            settled && session.queue.is_empty() && status(session).is_some_and(|it| it.is_over())
        };
        world.until(session, "all is said", over).await;
    };
    tokio::join!(saying, meanwhile);
    world.engine.close(Duration::from_secs(10)).await;
    assert_eq!(world.witness.arguments().len(), 1, "it ran again");
}

/// The last words of a run are on disk with the next message, and nobody has heard of it: what is remembered
/// is in doubt, and the session cannot be read at first.
#[tokio::test(flavor = "multi_thread")]
async fn a_thought_that_is_owed_is_not_forgotten_because_the_store_could_not_be_read() {
    let node = node();
    let store = Arc::new(Faulty::new(node));
    let gate = tokio_util::sync::CancellationToken::new();
    let mut options = Options::new(store.clone(), node);
    options.gate = Some(gate.clone());
    let world = options.start().await;
    let session = approved(&world).await;
    world.say(session, "second").await;
    // After the result come the last words.
    store.late.set();
    gate.cancel();
    let _ = store.late.is_done.acquire().await;
    let heard = world.model.heard().len();
    store.set(Fault::LostSight);
    store.late.may_go_on.close();
    let is_answered = |session: &domain::session::Session| {
        let said: Vec<_> = session.transcript.iter().map(|message| message.text()).collect();
        said.iter().any(|text| text == "second") && status(session).is_some_and(|it| it.is_over())
    };
    world.until(session, "the second message is answered", is_answered).await;
    assert!(store.is_now(Fault::None), "the store was not read while it could not be");
    assert!(world.model.heard().len() > heard, "nothing was thought");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thaw_while_an_answer_is_being_acknowledged_lets_its_call_start() {
    let node = node();
    let store = Arc::new(Faulty::new(node));
    let world = Options::new(store.clone(), node).start().await;
    let root = crate::world::person(&world.engine, "root").await;
    let session = world.session().await;
    world.model.will("", &[("wipe", json!({}))]);
    world.say(session, "x").await;
    let hold = world.paused(session).await.open_holds().next().unwrap().clone();
    world.engine.freeze(&root, "incident").await.unwrap();
    store.late.set();
    let answering = world.answer(&world.ana, &hold, approve());
    let thawing = async {
        // The answer is on disk, and this process does not know it yet.
        let _ = store.late.is_done.acquire().await;
        world.engine.thaw(&root).await.unwrap();
        store.late.may_go_on.close();
    };
    let (answered, ()) = tokio::join!(answering, thawing);
    answered.unwrap();
    world.over(session).await;
    assert_eq!(world.witness.arguments().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn i36_a_commit_that_was_lost_sight_of_is_followed() {
    let node = node();
    let store = Arc::new(Faulty::new(node));
    let world = Options::new(store.clone(), node).start().await;
    let root = crate::world::person(&world.engine, "root").await;
    let mut follow = world.engine.follow_all(&root, None).await.unwrap();
    let mut next = std::pin::pin!(follow.next());
    assert!(futures_util::poll!(&mut next).is_pending(), "it listens");
    let new = holdpoint_engine::NewHold {
        diff: None,
        question: domain::hold::Question::Approve,
        title: "slow".into(),
        call: Some(("wipe".into(), domain::json::Arguments::parse(b"{}").unwrap())),
        context: serde_json::Value::Null,
        audience: None,
        risk: None,
        expires_in_ms: Some(600_000),
        callback: None,
    };
    store.set(Fault::LostSight);
    let opened = world.engine.open_hold(&world.ana, new, None).await;
    assert!(matches!(opened, Err(Error::Unavailable(_))), "{opened:?}");
    let told = tokio::time::timeout(Duration::from_secs(10), next).await.expect("it is told");
    assert!(matches!(told, Ok(Some(holdpoint_engine::Followed::Event(_)))), "{told:?}");
}
