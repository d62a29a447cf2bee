//! Two-phase tools on this wire: statuses, agreed sentences, and nothing that a model could say.

use serde_json::json;

use super::{opened, user};
use crate::world::{World, list};

const CALL: &str = r#"call deploy {"projectName": "my-app"}"#;
const YES: &str = "Yes, please proceed with deploying \"my-app\".";

async fn open_holds(world: &World) -> usize {
    let (_, holds) = world.get("ana", "/v1/holds?state=pending").await;
    list(&holds, "items").len()
}

#[tokio::test]
async fn the_agreed_sentence_of_somebody_entitled_is_the_answer() {
    let world = opened(None).await;
    // Before there is anything to confirm it is a message like any other.
    assert_eq!(world.tell("ana", "early", YES).await.words(), YES);
    let asked = world.tell("ana", "c1", CALL).await;
    let output = &asked.one("tool-output-available")["output"];
    assert_eq!(
        (&output["status"], &output["projectName"]),
        (&json!("pending_confirmation"), &json!("my-app"))
    );
    assert!(!asked.has("tool-approval-request"), "the call has its result already");
    assert_eq!(asked.one("finish")["finishReason"], "tool-calls");
    for near in [
        "yes",
        "Yes, but only staging.",
        "Yes, please proceed with deploying \"my-app\", but not now.",
        "Yes, please proceed with deploying \"other\".",
    ] {
        let mut body = user("c1", &format!("near {near}"), near);
        body["while_pending"] = json!("refuse");
        assert_eq!(world.chat("ana", 6, &body).await.status, 409, "{near}");
    }
    assert_eq!((open_holds(&world).await, world.wiped()), (1, 0));
    let done = world.tell("ana", "c1", YES).await;
    assert_eq!(world.wiped(), 1, "{}", done.text);
    let output = &done.one("tool-output-available")["output"];
    assert_eq!(
        (&output["status"], &output["success"], &output["url"]),
        (&json!("success"), &json!(true), &json!("https://x"))
    );
    assert_eq!(open_holds(&world).await, 0);
}

#[tokio::test]
async fn a_no_by_sentence_is_a_denial() {
    let world = opened(None).await;
    world.tell("ana", "c1", CALL).await;
    let done = world.tell("ana", "c1", "No, I don\u{2019}t want to deploy right now.").await;
    assert!(done.words().contains("The person denied deploy"), "{}", done.text);
    assert_eq!((open_holds(&world).await, world.wiped()), (0, 0));
}

#[tokio::test]
async fn i04_neither_a_model_nor_somebody_else_confirms() {
    let world = opened(None).await;
    // The model says it, in words and in the argument.
    let asked = world
        .tell("ana", "c1", r#"call deploy {"projectName": "my-app", "confirmed": true}"#)
        .await;
    assert_eq!(asked.one("tool-output-available")["output"]["status"], "pending_confirmation");
    assert_eq!((open_holds(&world).await, world.wiped()), (1, 0));
    // Eve asked, and by default the one who asks may confirm; a program may not, whoever sent it.
    world.tell("gate", "c2", CALL).await;
    let mut body = user("c2", "yes", YES);
    body["while_pending"] = json!("refuse");
    assert_eq!(world.chat("gate", 6, &body).await.status, 409);
    assert_eq!((open_holds(&world).await, world.wiped()), (2, 0));
}
