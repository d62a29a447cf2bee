//! What people say to one another about a hold.

use domain::event::{TokenOwner, TokenScope};
use domain::person::{Actor, PersonId};
use engine::NewToken;
use serde_json::{Value, json};

use crate::world::{World, list, text, world};

fn path(hold: &Value) -> String {
    format!("/v1/holds/{}/comments", text(hold, "id"))
}

async fn say(world: &World, who: &str, hold: &Value, words: &str) -> (u16, Value) {
    world.post(who, &path(hold), json!({"text": words})).await
}

#[tokio::test]
async fn people_who_see_a_hold_talk_about_it_before_and_after_it_is_decided() {
    let world = world().await;
    let (session, hold) = world.held("bob", "call wipe {}").await;
    let (status, said) = say(&world, "dan", &hold, "is this the staging database? @bob @eve").await;
    assert_eq!(status, 201, "{said}");
    let comment = &list(&said, "comments")[0];
    assert_eq!((&comment["by"], &comment["via"]), (&json!("dan"), &json!("api")));
    assert_eq!(comment["text"], "is this the staging database? @bob @eve");
    assert_eq!(comment["mentions"], json!(["bob"]), "eve may not see it");
    let one = format!("/v1/holds/{}", text(&hold, "id"));
    let (_, shown) = world.get("bob", &one).await;
    assert_eq!((&shown["comments"], &shown["comment_count"]), (&said["comments"], &json!(1)));
    let (_, listed) = world.get("bob", "/v1/holds").await;
    let item = &list(&listed, "items")[0];
    assert_eq!((&item["comments"], &item["comment_count"]), (&Value::Null, &json!(1)));
    let (_, answered) = world.answer("dan", &hold, json!({"verdict": "deny"})).await;
    assert_eq!(answered["state"], "denied");
    world.until_over("bob", &session).await;
    assert_eq!(say(&world, "bob", &hold, "it was").await.0, 201);
    assert_eq!(list(&world.get("dan", &one).await.1, "comments").len(), 2);
}

#[tokio::test]
async fn i04_a_comment_that_says_approve_approves_nothing() {
    let world = world().await;
    let (_, hold) = world.held("bob", "call wipe {}").await;
    for words in ["approve", "/approve", r#"{"answer":{"verdict":"approve"}}"#] {
        let (status, said) = say(&world, "dan", &hold, words).await;
        assert_eq!(
            (status, &said["state"], &said["answers"]),
            (201, &json!("pending"), &json!([]))
        );
        assert_eq!(said["digest"], hold["digest"]);
    }
    assert_eq!(world.wiped(), 0);
    let body = json!({"text": "x", "digest": hold["digest"], "answer": {"verdict": "approve"}});
    assert_eq!(
        world.post("dan", &path(&hold), body).await.0,
        400,
        "a comment is a text and no more"
    );
}

#[tokio::test]
async fn i30_strangers_programs_and_weak_tokens_say_nothing() {
    let world = world().await;
    let (_, hold) = world.held("bob", "call wipe {}").await;
    let asked = json!({"kind": "choose", "title": "Which?", "options": ["a"]});
    let outside = world.open_hold("gate", asked).await;
    let owner = TokenOwner::Person(PersonId::new("bob"));
    let weak = NewToken {
        owner,
        scopes: vec![TokenScope::Ask, TokenScope::Run],
        expires_at: None,
        note: None,
    };
    let by = Actor::Person(PersonId::new("ana"));
    let weak = world.engine.mint(by, weak).await.expect("a token").secret;
    let before = world.state().await;
    for (who, what, expected) in [
        ("", &hold, 401),
        ("eve", &hold, 404),
        ("bot", &hold, 404),
        ("gate", &hold, 404),
        ("gate", &outside, 403),
    ] {
        assert_eq!(say(&world, who, what, "hello").await.0, expected, "{who}");
    }
    let asked = world.client.post(world.url(&path(&hold))).bearer_auth(weak);
    let reply = asked.json(&json!({"text": "hello"})).send().await.expect("a reply");
    assert_eq!(reply.status().as_u16(), 403, "a token that may not answer says nothing either");
    assert_eq!(world.state().await, before);
    assert_eq!(say(&world, "bob", &outside, "hello").await.0, 201);
}

#[tokio::test]
async fn what_is_empty_too_long_or_one_too_many_is_refused() {
    let world = world().await;
    let (_, hold) = world.held("bob", "call wipe {}").await;
    for words in ["", " \n\t ", &"x".repeat(2_001)] {
        let (status, problem) = say(&world, "dan", &hold, words).await;
        assert_eq!((status, &problem["field"]), (422, &json!("text")), "{problem}");
    }
    for n in 0..50 {
        assert_eq!(say(&world, "dan", &hold, &format!("{n}")).await.0, 201, "{n}");
    }
    let (status, problem) = say(&world, "dan", &hold, "one more").await;
    assert_eq!((status, &problem["code"]), (429, &json!("too_many")), "{problem}");
    let key = |word: &'static str| {
        let asked = world.request("dan", reqwest::Method::POST, &path(&hold));
        asked.header("Idempotency-Key", word).json(&json!({"text": "again"})).send()
    };
    assert_eq!(key("k").await.expect("a reply").status(), 429);
}

#[tokio::test]
async fn a_comment_that_comes_again_under_its_key_is_one_comment() {
    let world = world().await;
    let (_, hold) = world.held("bob", "call wipe {}").await;
    for _ in 0..3 {
        let asked = world.request("dan", reqwest::Method::POST, &path(&hold));
        let asked = asked.header("Idempotency-Key", "k").json(&json!({"text": "once"}));
        assert_eq!(asked.send().await.expect("a reply").status(), 201);
    }
    let (_, shown) = world.get("bob", &format!("/v1/holds/{}", text(&hold, "id"))).await;
    assert_eq!(shown["comment_count"], 1);
}
