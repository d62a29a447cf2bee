//! The older generation: one message a post, projects for chats, and a button.

use reqwest::Method;
use serde_json::{Value, json};

use super::{Read, opened};
use crate::world::World;

const PROJECT: &str = "7d9f1f9e-0a51-4a53-9d4c-5e0a1ea3a001";

async fn said(world: &World, text: &str) -> Read {
    let message = json!({"role": "user", "parts": [{"type": "text", "text": text}]});
    let body = json!({"message": message, "projectId": PROJECT, "chatMode": "agent"});
    let request = world.request("bob", Method::POST, "/api/v1/chat").json(&body);
    Read::of(request.send().await.expect("a reply")).await
}

async fn confirm(world: &World, who: &str, body: Value) -> (u16, Value) {
    world.post(who, &format!("/api/v1/chat/{PROJECT}/hitl-confirm"), body).await
}

fn button(asked: &Read, tool: &str, confirmed: bool) -> Value {
    json!({"toolCallId": asked.one("tool-input-available")["toolCallId"], "toolName": tool, "confirmed": confirmed,
        "projectName": "evil", "reason": "because", "projectId": "another"})
}

#[tokio::test]
async fn the_button_runs_the_stored_call_once() {
    let world = opened(None).await;
    let asked = said(&world, r#"call wipe {"rows": 2}"#).await;
    for (body, status) in [
        (json!({}), 400),
        (json!({"toolCallId": "x", "toolName": "wipe", "confirmed": "true"}), 400),
        (button(&asked, "look", true), 400),
        (json!({"toolCallId": "toolu_99", "toolName": "wipe", "confirmed": true}), 404),
    ] {
        let (got, reply) = confirm(&world, "bob", body.clone()).await;
        assert_eq!((got, &reply["success"]), (status, &json!(false)), "{body}: {reply}");
    }
    let none = json!({"success": false, "error": "Tool invocation not found", "code": "not_found"});
    let theirs = confirm(&world, "eve", button(&asked, "wipe", true)).await;
    assert_eq!(theirs, (404, none.clone()), "somebody else's is as if there were none");
    assert_eq!(world.wiped(), 0);
    for _ in 0..2 {
        let (status, reply) = confirm(&world, "bob", button(&asked, "wipe", true)).await;
        assert_eq!((status, &reply["success"]), (200, &json!(true)), "{reply}");
        assert_eq!(
            reply["result"],
            json!({"status": "success", "success": true, "result": "wiped 1"})
        );
    }
    let (status, reply) = confirm(&world, "bob", button(&asked, "wipe", false)).await;
    assert_eq!((status, &reply["code"]), (409, &json!("hold_already_decided")), "{reply}");
    assert_eq!(world.wiped(), 1);
    let (status, unknown) =
        world.post("bob", "/api/v1/chat/other/hitl-confirm", button(&asked, "wipe", true)).await;
    assert_eq!((status, unknown), (404, none));
}

#[tokio::test]
async fn a_no_by_button_is_a_denial() {
    let world = opened(None).await;
    let asked = said(&world, "call wipe {}").await;
    let (status, reply) = confirm(&world, "bob", button(&asked, "wipe", false)).await;
    assert_eq!(status, 200, "{reply}");
    assert_eq!(
        (&reply["result"]["status"], &reply["result"]["success"]),
        (&json!("denied"), &json!(false))
    );
    assert!(reply["result"]["message"].as_str().is_some_and(|it| it.contains("cancelled by user")));
    assert!(
        !reply.to_string().contains("because"),
        "what the button says besides is not used: {reply}"
    );
    assert_eq!(world.wiped(), 0);
}

#[tokio::test]
async fn stopping_ends_what_waits_its_turn_too() {
    let world = opened(None).await;
    said(&world, "call wipe {}").await;
    let waits = said(&world, r#"call wipe {"rows": 9}"#).await;
    // It shows what it waits for.
    assert_eq!(waits.one("finish")["finishReason"], "tool-calls", "{}", waits.text);
    let path = format!("/api/v1/chat/{PROJECT}/stream");
    assert_eq!(world.delete("bob", &path).await.1["stopped"], true);
    assert_eq!(world.get("bob", &path).await.0, 200, "how the first one ended was not told");
    assert_eq!(world.get("bob", &path).await.0, 204, "nothing began");
    let (_, holds) = world.get("bob", "/v1/holds?state=pending").await;
    assert_eq!(crate::world::list(&holds, "items").len(), 0, "{holds}");
}

#[tokio::test]
async fn stopping_cancels_what_is_open() {
    let world = opened(None).await;
    let stop = || world.delete("bob", "/api/v1/chat/7d9f1f9e-0a51-4a53-9d4c-5e0a1ea3a001/stream");
    assert_eq!(stop().await.0, 404);
    let asked = said(&world, "call wipe {}").await;
    assert_eq!(stop().await, (200, json!({"success": true, "stopped": true})));
    let (status, reply) = confirm(&world, "bob", button(&asked, "wipe", true)).await;
    assert_eq!(status, 409, "{reply}");
    assert_eq!(stop().await, (200, json!({"success": true, "stopped": false})));
    // The client had the message up to the pause: its end is told once.
    let path = format!("/api/v1/chat/{PROJECT}/stream");
    assert_eq!(world.get("bob", &path).await.0, 200);
    assert_eq!(world.get("bob", &path).await.0, 204);
    assert_eq!(world.wiped(), 0);
}
