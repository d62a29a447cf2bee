//! Deadlines are exact: an answer counts if it is durable before its deadline.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use domain::refusal::Refusal;
use holdpoint_engine::{Error, NewHold};
use serde_json::json;

use crate::faulty::Faulty;
use crate::world::{Options, approve, node, results};

const LONG_MS: u64 = 365 * 24 * 3600 * 1000;

#[tokio::test(flavor = "multi_thread")]
async fn i54_an_answer_that_is_not_durable_by_the_deadline_does_not_count() {
    let node = node();
    let store = Arc::new(Faulty::new(node));
    let options = Options::new(store.clone(), node);
    let clock = options.ahead_ms.clone();
    let world = options.start().await;
    let session = world.session().await;
    world.model.will("", &[("wipe", json!({}))]);
    world.say(session, "x").await;
    let hold = world.paused(session).await.open_holds().next().unwrap().clone();
    store.early.set();
    let answering = world.answer(&world.ana, &hold, approve());
    let meanwhile = async {
        // Decided in time, and on its way to the disk. Then the disk takes its time.
        let _ = store.early.is_done.acquire().await;
        clock.store(LONG_MS, Ordering::SeqCst);
        store.early.may_go_on.close();
    };
    let (answered, ()) = tokio::join!(answering, meanwhile);
    assert!(matches!(answered, Err(Error::Refused(Refusal::Expired { .. }))), "{answered:?}");
    assert_eq!(world.hold(hold.id).await.state.name(), "expired");
    let over = world.over(session).await;
    assert_eq!(results(&over).len(), 1);
    assert!(world.witness.arguments().is_empty(), "its call was started");
}

#[tokio::test(flavor = "multi_thread")]
async fn i54_the_same_for_a_hold_of_an_outside_program() {
    let node = node();
    let store = Arc::new(Faulty::new(node));
    let options = Options::new(store.clone(), node);
    let clock = options.ahead_ms.clone();
    let world = options.start().await;
    let new = NewHold {
        diff: None,
        question: domain::hold::Question::Approve,
        title: "quick".into(),
        call: Some(("wipe".into(), domain::json::Arguments::parse(b"{}").unwrap())),
        context: serde_json::Value::Null,
        audience: None,
        risk: None,
        expires_in_ms: None,
        callback: None,
    };
    let hold = world.engine.open_hold(&world.program, new, None).await.unwrap();
    store.early.set();
    let answering = world.answer(&world.bob, &hold, approve());
    let meanwhile = async {
        let _ = store.early.is_done.acquire().await;
        clock.store(LONG_MS, Ordering::SeqCst);
        store.early.may_go_on.close();
    };
    let (answered, ()) = tokio::join!(answering, meanwhile);
    assert!(matches!(answered, Err(Error::Refused(Refusal::Expired { .. }))), "{answered:?}");
    assert_eq!(world.hold(hold.id).await.state.name(), "expired");
}
