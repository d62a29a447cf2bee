//! Every step of a hold is told, in order, each under a name of its own that it keeps.

use std::collections::BTreeSet;
use std::time::Duration;

use ports::clock::Clock as _;
use serde_json::{Value, json};
use testkit::fake_chat::Reply;

use crate::webhook_channel::stage::{Heard, Stage};

fn kinds(heard: &[Heard]) -> Vec<&str> {
    heard.iter().map(Heard::kind).collect()
}

fn ids(heard: &[Heard]) -> BTreeSet<&str> {
    heard.iter().map(|one| one.id.as_str()).collect()
}

fn down() -> Reply {
    Reply::new(503, Value::Null)
}

#[tokio::test]
async fn what_happens_while_the_program_is_down_is_told_step_by_step_afterwards() {
    let stage = Stage::new().await;
    stage.will([down()]);
    let hold = stage.open("bury").await;
    stage.told(1).await;
    stage.next_at(Some(stage.clock.now().plus_ms(5_000))).await;
    stage.approve("ana", &hold).await;
    stage.approve("bob", &hold).await;
    stage.report(hold.id).await;
    stage.clock.advance(Duration::from_secs(5));
    let heard = stage.told(5).await;
    assert_eq!(
        kinds(&heard),
        ["hold.opened", "hold.opened", "hold.updated", "hold.decided", "call.settled"]
    );
    assert_eq!(ids(&heard).len(), 4, "a retry has the same name, a step its own");
    assert_eq!(heard[0].event, heard[1].event);
    let told: Vec<Value> = heard[1..]
        .iter()
        .map(|one| {
            let hold = one.hold();
            let votes = hold["votes"].as_array().map(Vec::len);
            json!([hold["state"], votes, hold["decision"]["by"], hold["outcome"]])
        })
        .collect();
    assert_eq!(
        json!(told),
        json!([
            ["pending", 0, null, null],
            ["pending", 1, null, null],
            ["approved", 2, "bob", null],
            ["approved", 2, "bob", "succeeded"],
        ])
    );
    stage.next_at(None).await;
    assert_eq!(stage.heard().len(), 5, "and nothing twice");
}

#[tokio::test]
async fn a_restart_repeats_no_step_and_loses_none() {
    let mut stage = Stage::new().await;
    let hold = stage.open("bury").await;
    stage.told(1).await;
    stage.next_at(None).await;
    stage.restart().await;
    stage.approve("ana", &hold).await;
    stage.told(2).await;
    stage.next_at(None).await;
    // Decided and done while nobody is there to tell of it, and another one from its beginning on.
    stage.stop().await;
    stage.approve("bob", &hold).await;
    stage.report(hold.id).await;
    let second = stage.open("wipe").await;
    stage.approve("bob", &second).await;
    stage.will([down()]);
    stage.start();
    stage.told(3).await;
    stage.restart().await;
    stage.clock.advance(Duration::from_secs(5));
    let heard = stage.told(7).await;
    let of = |hold: &domain::hold::Hold| {
        let id = json!(hold.id.to_string());
        heard.iter().filter(|one| one.hold()["id"] == id).cloned().collect::<Vec<_>>()
    };
    let (first, other) = (of(&hold), of(&second));
    let once = |heard: &[Heard]| {
        let mut seen = BTreeSet::new();
        let new = heard.iter().filter(|one| seen.insert(one.id.clone()));
        new.map(|one| one.kind().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(once(&first), ["hold.opened", "hold.updated", "hold.decided", "call.settled"]);
    assert_eq!(once(&other), ["hold.opened", "hold.decided"]);
    assert_eq!((first.len() + other.len(), ids(&heard).len()), (7, 6), "one of them came twice");
    stage.next_at(None).await;
}

#[tokio::test]
async fn an_expiry_and_a_cancellation_are_decisions_and_nothing_is_said_beside_them() {
    let stage = Stage::new().await;
    let (expires, cancelled) = (stage.open("wipe").await, stage.open("wipe").await);
    stage.told(2).await;
    let program = stage.program().await;
    let why = Some("no longer needed".to_owned());
    stage.engine.cancel_hold(&program, cancelled.id, why, None).await.unwrap();
    let heard = stage.told(3).await;
    assert_eq!((heard[2].kind(), &heard[2].hold()["state"]), ("hold.decided", &json!("cancelled")));
    stage.clock.advance(Duration::from_secs(61));
    let heard = stage.told(4).await;
    assert_eq!((heard[3].kind(), &heard[3].hold()["state"]), ("hold.decided", &json!("expired")));
    assert_eq!(heard[3].hold()["id"], json!(expires.id.to_string()));
    assert_eq!(heard[3].hold()["decision"], Value::Null);
    stage.next_at(None).await;
    let sayings = stage.engine.store().notes("chat.ci.said", "s/", None, 10).await.unwrap();
    assert!(sayings.is_empty(), "{sayings:?}");
}
