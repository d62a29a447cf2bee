//! The client sends the same body again when its tab is shown again. Nothing may run twice, and both
//! must be told the same.

use std::time::Duration;

use domain::event::{TokenOwner, TokenScope};
use domain::person::{Actor, PersonId};
use engine::NewToken;
use reqwest::Method;
use serde_json::{Value, json};

use crate::world::{Told, World, posted, script, told, world};

/// What matters of a stream: a replay may cut text into other pieces.
fn gist(told: &Told) -> Value {
    let kinds =
        ["text", "thinking", "tool_call", "tool_result", "error", "awaiting_frontend_tools"];
    json!([kinds.map(|kind| told.all(kind)), told.is_done(), told.status])
}

fn writes() -> Value {
    json!([{"calls": [["pick", {}], ["write", {}]]}, {"say": ["It is ", "done."]}])
}

#[tokio::test]
async fn the_same_results_at_once_and_later_run_everything_once() {
    let world = world().await;
    let first = world.run("ana", writes()).await;
    let body = posted(&first.uuid(), &[(&first.awaited_ids()[0], "green")]);
    let post = || world.post("ana", "/agent/tool_results", &body);
    let (one, two, three) = tokio::join!(post(), post(), post());
    one.finished();
    assert_eq!(one.all("text"), "It is done.");
    for again in [two, three, post().await] {
        assert_eq!(gist(&again), gist(&one));
    }
    assert_eq!(world.ran.times("write"), 1);
    assert_eq!(world.given().len(), 2);
}

#[tokio::test]
async fn the_order_of_results_does_not_matter_and_their_content_does() {
    let world = world().await;
    let first =
        world.run("ana", json!([{"calls": [["pick", {}], ["pick", {}], ["write", {}]]}])).await;
    let (uuid, ids) = (first.uuid(), first.awaited_ids());
    let one = world.results("ana", &uuid, &[(&ids[1], "b"), (&ids[0], "a")]).await;
    one.finished();
    let again = world.results("ana", &uuid, &[(&ids[0], "a"), (&ids[1], "b")]).await;
    assert_eq!(gist(&again), gist(&one));
    let other = world.results("ana", &uuid, &[(&ids[0], "a"), (&ids[1], "c")]).await;
    other.refused(409, "hold_already_decided");
    let mut flagged = posted(&uuid, &[(&ids[0], "a"), (&ids[1], "b")]);
    flagged["tool_results"][1]["is_error"] = json!(true);
    let flagged = world.post("ana", "/agent/tool_results", &flagged).await;
    flagged.refused(409, "hold_already_decided");
    assert_eq!(world.ran.times("write"), 1);
}

/// A repeat comes while the next pause is open: it is told of that one.
#[tokio::test]
async fn a_repeat_is_told_what_followed() {
    let world = world().await;
    let turns = json!([{"calls": [["pick", {}]]}, {"say": ["And?"], "calls": [["pick", {}]]}]);
    let first = world.run("ana", turns).await;
    let (uuid, ids) = (first.uuid(), first.awaited_ids());
    let second = world.results("ana", &uuid, &[(&ids[0], "a")]).await;
    let again = world.results("ana", &uuid, &[(&ids[0], "a")]).await;
    assert_eq!(gist(&again), gist(&second));
    assert_eq!(again.awaited_ids(), second.awaited_ids());
    // Together with the one that is open now it is no repeat.
    let ids = [ids[0].clone(), second.awaited_ids()[0].clone()];
    let both = world.results("ana", &uuid, &[(&ids[0], "a"), (&ids[1], "b")]).await;
    both.refused(422, "answer_invalid");
    assert_eq!(both.problem["unknown"], json!([ids[0]]));
    world.results("ana", &uuid, &[(&ids[1], "b")]).await.finished();
    let again = world.results("ana", &uuid, &[(&ids[0], "a")]).await;
    assert_eq!(again.all("text"), "And?Finished.");
    again.finished();
}

/// The server stopped before the pause was told: the client never had it.
#[tokio::test]
async fn after_a_restart_prompts_are_answered_and_repeats_are_known() {
    let world = world().await;
    let turns = json!([
        {"say": ["A moment."], "wait": true, "calls": [["pick", {}], ["write", {}]]},
        {"say": ["It is ", "done."]},
    ]);
    let body = json!({"user_prompt": script(turns), "agent_type": "agent_frontend_tools"});
    let reply = first_item(&world, &body).await;
    let (_, page) = world.get("ana", "/agent/sessions").await;
    let uuid = page["sessions"][0]["agent_uuid"].as_str().expect("a uuid").to_owned();
    let world = world.restarted().await;
    drop(reply);
    world.model.gate.add_permits(2);
    let again = world.post("ana", "/agent/run", &body).await;
    assert_eq!(again.uuid(), uuid, "the same run");
    let ids = again.awaited_ids();
    let second = world.results("ana", &uuid, &[(&ids[0], "green")]).await;
    second.finished();
    let world = world.restarted().await;
    let repeated = world.results("ana", &uuid, &[(&ids[0], "green")]).await;
    assert_eq!(gist(&repeated), gist(&second));
    assert_eq!(world.ran.times("write"), 1);
    // It is over: the same words are a new run.
    world.model.gate.add_permits(1);
    let fresh = world.post("ana", "/agent/run", &body).await;
    assert_ne!(fresh.uuid(), uuid);
}

/// Whoever was shown a pause to the end and then says the same in a new chat means a new chat.
#[tokio::test]
async fn a_new_chat_in_the_same_words_does_not_land_in_a_pause_that_was_delivered() {
    let world = world().await;
    let first = world.run("ana", writes()).await;
    let second = world.run("ana", writes()).await;
    assert_ne!(second.uuid(), first.uuid());
    let world = world.restarted().await;
    let third = world.run("ana", writes()).await;
    assert!(third.uuid() != first.uuid() && third.uuid() != second.uuid());
    // By its id the old chat is found, and asks the same.
    let body = json!({"user_prompt": script(writes()), "agent_uuid": first.uuid()});
    let again = world.post("ana", "/agent/run", &body).await;
    assert_eq!(again.awaited_ids(), first.awaited_ids());
    world.results("ana", &first.uuid(), &[(&first.awaited_ids()[0], "green")]).await.finished();
    assert_eq!((world.ran.times("write"), world.holds("ana").await.len()), (1, 2));
}

/// The format is that of the stream in which the pause was sent.
#[tokio::test]
async fn a_stream_goes_on_in_the_format_of_its_pause() {
    let world = world().await;
    let first = world.run("ana", writes()).await;
    let (uuid, ids) = (first.uuid(), first.awaited_ids());
    // The same session, read by a client of another format from here on.
    let body = json!({
        "user_prompt": "Hello?", "agent_uuid": uuid, "agent_type": "agent_xml",
    });
    let second = world.post("ana", "/agent/run", &body).await;
    assert!(second.items[0].starts_with("<meta_init"), "{:?}", second.items);
    let world = world.restarted().await;
    let third = world.results("ana", &uuid, &[(&ids[0], "green")]).await;
    assert!(third.items.iter().all(|item| !item.starts_with('{')), "{:?}", third.items);
}

#[tokio::test]
async fn the_same_prompt_finds_its_run_until_that_is_over() {
    let world = world().await;
    let first = world.run("ana", json!([{"say": ["Hi."]}])).await;
    first.finished();
    let uuid = first.uuid();
    let body = json!({"user_prompt": script(writes()), "agent_uuid": uuid});
    let second = world.post("ana", "/agent/run", &body).await;
    let again = world.post("ana", "/agent/run", &body).await;
    assert_eq!(gist(&again), gist(&second));
    assert_eq!(again.meta()["agent_uuid"], *uuid);
    world.results("ana", &uuid, &[(&second.awaited_ids()[0], "green")]).await.finished();
    let fresh = world.post("ana", "/agent/run", &body).await;
    assert_ne!(fresh.awaited_ids(), second.awaited_ids(), "a new run asks anew");
    // Somebody else's same words are somebody else's.
    world.post("eve", "/agent/run", &body).await.refused(404, "not_found");
}

async fn first_item(world: &World, body: &Value) -> reqwest::Response {
    let request = world.request("ana", Method::POST, "/agent/run").json(body);
    let mut reply = request.send().await.expect("a reply");
    let chunk = reply.chunk().await.expect("a chunk").expect("the opener");
    assert!(String::from_utf8_lossy(&chunk).contains("meta_init"));
    reply
}

#[tokio::test]
async fn a_client_that_went_away_finds_its_run_and_a_second_tab_gets_its_own() {
    let world = world().await;
    let turns = json!([{"say": ["Slowly."], "wait": true}]);
    let body = json!({"user_prompt": script(turns)});
    let reply = first_item(&world, &body).await;
    // The first client is there: the same words of another tab are another run.
    let other = first_item(&world, &body).await;
    let (_, page) = world.get("ana", "/agent/sessions").await;
    assert_eq!(page["total"], 2);
    drop(reply);
    let back = world.request("ana", Method::POST, "/agent/run").json(&body);
    let back = back.send().await.expect("a reply");
    let (_, page) = world.get("ana", "/agent/sessions").await;
    assert_eq!(page["total"], 2, "it came back to the first one");
    // Nobody cancelled anything by going away.
    world.model.gate.add_permits(2);
    let back = told(back).await;
    back.finished();
    assert_eq!(back.all("text"), "Slowly.");
    let rest = other.text().await.expect("the body ends");
    assert!(rest.ends_with("data: [DONE]\n\n"), "{rest}");
}

#[tokio::test]
async fn a_key_decides_before_everything_else() {
    let world = world().await;
    let post = async |key: &str, body: &Value| {
        let request = world.request("ana", Method::POST, "/agent/run").json(body);
        told(request.header("idempotency-key", key).send().await.expect("a reply")).await
    };
    let body =
        json!({"user_prompt": script(json!([{"say": ["UniqueKeys."], "calls": [["write", {}]]}]))});
    let first = post("k1", &body).await;
    first.finished();
    let again = post("k1", &body).await;
    assert_eq!((again.uuid(), gist(&again)), (first.uuid(), gist(&first)), "also after its end");
    assert_eq!(world.ran.times("write"), 1);
    post("k1", &json!({"user_prompt": "x"})).await.refused(422, "idempotency_key_reused");
    assert_ne!(post("k2", &body).await.uuid(), first.uuid());
    assert_eq!(world.ran.times("write"), 2);
    let world = world.restarted().await;
    let request = world.request("ana", Method::POST, "/agent/run").json(&body);
    let again = told(request.header("idempotency-key", "k1").send().await.expect("a reply")).await;
    assert_eq!(again.uuid(), first.uuid());
    assert_eq!(world.ran.times("write"), 2);
}

#[tokio::test]
async fn i09_a_kept_run_is_not_for_a_token_with_fewer_scopes() {
    let world = world().await;
    let body = json!({"user_prompt": script(json!([{"say": ["For Ana's eyes."]}]))});
    let request = world.request("ana", Method::POST, "/agent/run").json(&body);
    told(request.header("idempotency-key", "k1").send().await.expect("a reply")).await.finished();
    let ana = PersonId::new("ana");
    let owner = TokenOwner::Person(ana.clone());
    let new = NewToken { owner, scopes: vec![TokenScope::Ask], expires_at: None, note: None };
    let weak = world.engine.mint(Actor::Person(ana), new).await.expect("a token").secret;
    let request = world.request("", Method::POST, "/agent/run").bearer_auth(weak).json(&body);
    let again = told(request.header("idempotency-key", "k1").send().await.expect("a reply")).await;
    again.refused(403, "not_entitled");
}

#[tokio::test]
async fn a_run_goes_on_without_its_client() {
    let world = world().await;
    let turns = json!([{"say": ["Slowly."], "wait": true, "calls": [["write", {}]]}]);
    drop(first_item(&world, &json!({"user_prompt": script(turns)})).await);
    world.model.gate.add_permits(1);
    for _ in 0..400 {
        if world.ran.times("write") == 1 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("the run stopped");
}

/// What was secret in a result is kept by reference; said again it is the same all the same.
#[tokio::test]
async fn i45_the_same_keys_again_are_the_same_result() {
    let world = world().await;
    let first = world.run("ana", json!([{"calls": [["requestApiKeys", {}]]}])).await;
    let (uuid, id) = (first.uuid(), first.awaited_ids()[0].clone());
    let keys = |value: &str| json!({"confirmed": true, "keys": {"KEY": value}}).to_string();
    let one = world.results("ana", &uuid, &[(&id, &keys("sk-canary-1"))]).await;
    one.finished();
    let again = world.results("ana", &uuid, &[(&id, &keys("sk-canary-1"))]).await;
    assert_eq!(gist(&again), gist(&one), "{}", again.problem);
    let other = world.results("ana", &uuid, &[(&id, &keys("sk-canary-2"))]).await;
    other.refused(409, "hold_already_decided");
}

#[tokio::test]
async fn a_repeat_is_not_told_what_was_said_later() {
    let world = world().await;
    let first = world.run("ana", writes()).await;
    let (uuid, id) = (first.uuid(), first.awaited_ids()[0].clone());
    let one = world.results("ana", &uuid, &[(&id, "green")]).await;
    let later = json!({"user_prompt": "Something else.", "agent_uuid": uuid});
    world.post("ana", "/agent/run", &later).await.finished();
    let again = world.results("ana", &uuid, &[(&id, "green")]).await;
    assert_eq!(gist(&again), gist(&one));
}
