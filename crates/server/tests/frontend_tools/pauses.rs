//! What waits for a pause, and what a pause does to it.

use domain::context::WhilePending;
use serde_json::json;

use crate::world::{Plan, planned, posted, world};

#[tokio::test]
async fn an_effect_waits_and_never_happens_after_a_no() {
    let world = world().await;
    let turns =
        json!([{"calls": [["write", {}], ["user_confirm", {"message": "Write?"}], ["look", {}]]}]);
    let first = world.run("ana", turns).await;
    assert_eq!((world.ran.times("write"), world.ran.times("look")), (0, 1));
    world.results("ana", &first.uuid(), &[(&first.awaited_ids()[0], "no")]).await.finished();
    assert_eq!(world.ran.times("write"), 0);
    let given = world.given();
    assert!(given[0].is_error && given[0].content.contains("user_confirm"), "{given:?}");
    assert_eq!((&*given[1].content, given[1].is_error), ("no", false));
}

#[tokio::test]
async fn an_effect_waits_and_happens_once_after_a_yes() {
    let world = world().await;
    let turns = json!([{"calls": [["write", {}], ["user_confirm", {"message": "Write?"}]]}]);
    let first = world.run("ana", turns).await;
    assert_eq!(world.ran.times("write"), 0);
    world.results("ana", &first.uuid(), &[(&first.awaited_ids()[0], "yes")]).await.finished();
    assert_eq!(world.ran.times("write"), 1);
}

#[tokio::test]
async fn an_error_of_the_client_stops_effects_too() {
    let world = world().await;
    let first = world.run("ana", json!([{"calls": [["write", {}], ["pick", {}]]}])).await;
    let mut body = posted(&first.uuid(), &[(&first.awaited_ids()[0], "the camera is broken")]);
    body["tool_results"][0]["is_error"] = json!(true);
    world.post("ana", "/agent/tool_results", &body).await.finished();
    assert_eq!(world.ran.times("write"), 0);
}

#[tokio::test]
async fn skipped_is_no_answer_and_what_is_left_is_asked_again() {
    let world = world().await;
    let turns = json!([{"calls": [["pick", {"n": 1}], ["pick", {"n": 2}], ["write", {}]]}]);
    let first = world.run("ana", turns).await;
    let (uuid, ids) = (first.uuid(), first.awaited_ids());
    assert_eq!(ids.len(), 2, "in the order of the calls");
    let second = world.results("ana", &uuid, &[(&ids[0], "skipped"), (&ids[1], "two")]).await;
    assert_eq!(second.awaited_ids(), ids[..1]);
    assert_eq!(world.ran.times("write"), 0, "one is undecided");
    let third = world.results("ana", &uuid, &[(&ids[0], "skipped")]).await;
    assert_eq!(third.awaited_ids(), ids[..1], "still");
    world.results("ana", &uuid, &[(&ids[0], "one")]).await.finished();
    let given: Vec<_> = world.given().into_iter().map(|it| it.content).collect();
    assert_eq!(given, ["one", "two", "done"]);
    assert_eq!(world.ran.times("write"), 1);
}

#[tokio::test]
async fn a_new_prompt_waits_for_the_pause_and_then_has_its_turn() {
    let world = world().await;
    let first = world.run("ana", json!([{"calls": [["pick", {}]]}])).await;
    let uuid = first.uuid();
    let body = json!({"user_prompt": "And now?", "agent_uuid": uuid});
    let second = world.post("ana", "/agent/run", &body).await;
    assert_eq!(second.awaited_ids(), first.awaited_ids(), "the same prompt again");
    assert_eq!(second.uuid(), uuid);
    let third = world.results("ana", &uuid, &[(&first.awaited_ids()[0], "green")]).await;
    third.finished();
    assert_eq!(third.all("text"), "Finished.And now?", "both runs, in their order");
}

#[tokio::test]
async fn an_agent_may_refuse_prompts_while_something_is_open() {
    let plan = Plan { while_pending: WhilePending::Refuse, ..Plan::default() };
    let world = planned(plan).await;
    let first = world.run("ana", json!([{"calls": [["pick", {}]]}])).await;
    let body = json!({"user_prompt": "And now?", "agent_uuid": first.uuid()});
    world.post("ana", "/agent/run", &body).await.refused(409, "holds_open");
}

#[tokio::test]
async fn nobody_comes_and_the_model_is_told() {
    let world = world().await;
    let first = world.run("ana", json!([{"calls": [["hurry", {}], ["write", {}]]}])).await;
    let (uuid, id) = (first.uuid(), first.awaited_ids()[0].clone());
    for _ in 0..400 {
        let (_, page) = world.get("ana", &format!("/agent/{uuid}/conversations")).await;
        if page["conversations"][0]["stop_reason"] == "end_turn" {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    let given = world.given();
    assert!(given[0].is_error && given[0].content.contains("Expired"), "{given:?}");
    assert!(given[1].is_error, "{given:?}");
    assert_eq!(world.ran.times("write"), 0);
    let state = world.state().await;
    world.results("ana", &uuid, &[(&id, "late")]).await.refused(410, "hold_expired");
    assert_eq!(world.state().await, state);
}
