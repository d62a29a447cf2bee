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

/// Clients send a message again; the hold that it answered is not the one that waits now.
#[tokio::test]
async fn i09_a_message_answers_one_hold_however_often_it_comes() {
    let world = opened(None).await;
    world.tell("ana", "c1", CALL).await;
    let yes = user("c1", "m2", YES);
    let first = world.chat("ana", 6, &yes).await;
    assert_eq!((open_holds(&world).await, world.wiped()), (0, 1), "{}", first.text);
    let asked = world.chat("ana", 6, &user("c1", "m3", CALL)).await;
    assert_eq!(asked.one("tool-output-available")["output"]["status"], "pending_confirmation");
    let again = world.chat("ana", 6, &yes).await;
    for kind in ["tool-input-available", "tool-output-available", "finish"] {
        assert_eq!(again.one(kind), first.one(kind), "whoever says it again hears the same");
    }
    assert_eq!(again.one("start")["messageId"], first.one("start")["messageId"]);
    assert_eq!((open_holds(&world).await, world.wiped()), (1, 1));
    // Asking for another reply carries the last message along; it says nothing new.
    let mut anew = yes.clone();
    anew["trigger"] = json!("regenerate-message");
    assert_eq!(world.chat("ana", 6, &anew).await.status, 200);
    assert_eq!((open_holds(&world).await, world.wiped()), (1, 1));
    let done = world.chat("ana", 6, &user("c1", "m4", YES)).await;
    assert_eq!((open_holds(&world).await, world.wiped()), (0, 2), "{}", done.text);
}

/// The sentence was said before anybody was asked, and comes once more.
#[tokio::test]
async fn a_sentence_that_was_said_before_the_prompt_is_no_answer_to_it() {
    let world = opened(None).await;
    let early = user("c1", "m1", YES);
    assert_eq!(world.chat("ana", 6, &early).await.words(), YES);
    world.chat("ana", 6, &user("c1", "m2", CALL)).await;
    assert_eq!(world.chat("ana", 6, &early).await.words(), YES);
    assert_eq!((open_holds(&world).await, world.wiped()), (1, 0));
}
