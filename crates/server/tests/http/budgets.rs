//! What a run has used, and the question whether it may go on.

use serde_json::{Value, json};

use crate::world::{World, list, text, world};

async fn metrics(world: &World) -> String {
    let reply = world.client.get(world.url("/metrics")).send().await.expect("a reply");
    reply.text().await.expect("text")
}

#[tokio::test]
async fn a_run_says_what_it_has_used_and_asks_before_it_uses_more() {
    let world = world().await;
    let (session, hold) = world.held("bob", "loop").await;
    assert_eq!(hold["kind"], "approve");
    assert_eq!(hold["call"], Value::Null);
    assert_eq!(hold["title"], "Let the run go on? It has used up its 4 turns");
    assert_eq!(hold["context"], json!({"budget": "turns", "used": 4, "limit": 4}));
    assert_eq!(hold["preview"]["summary"], "used: 4 turns; going on gives it 4 turns again");
    assert_eq!(hold["audience"]["people"], json!(["bob"]));
    assert_eq!(hold["audience"]["roles"], json!(["admin"]));
    let run = text(&hold, "run");
    let (_, shown) = world.get("bob", &format!("/v1/runs/{run}")).await;
    assert_eq!(shown["status"], "paused");
    let usage = &shown["usage"];
    assert_eq!((&usage["turns"], &usage["input_tokens"]), (&json!(4), &json!(400)));
    assert_eq!((&usage["cached_tokens"], &usage["output_tokens"]), (&json!(0), &json!(40)));
    assert_eq!(usage["money"], "0.0018");
    assert!(usage["time_s"].as_f64().is_some_and(|time| time < 30.0), "{usage}");

    // Neither an answer in a call's place nor leave for the whole session makes sense here.
    for answer in [
        json!({"verdict": "respond", "content": "go on"}),
        json!({"verdict": "approve", "scope": "session"}),
        json!({"verdict": "approve", "arguments": {"turns": 1000}}),
    ] {
        let (status, refused) = world.answer("bob", &hold, answer).await;
        assert_eq!((status, &refused["code"]), (422, &json!("answer_invalid")), "{refused}");
    }
    let (status, refused) = world.answer("dan", &hold, json!({"verdict": "approve"})).await;
    assert_eq!(status, 404, "a DBA is not asked: {refused}");

    let (status, approved) = world.answer("bob", &hold, json!({"verdict": "approve"})).await;
    assert_eq!((status, &approved["state"]), (200, &json!("approved")));
    let again = world
        .until("bob", &session, |session| {
            list(session, "pending").first().is_some_and(|open| open["id"] != hold["id"])
        })
        .await;
    assert_eq!(again["run"]["usage"]["turns"], 8);
    let hold = list(&again, "pending")[0].clone();
    let deny = json!({"verdict": "deny", "reason": "not today"});
    assert_eq!(world.answer("ana", &hold, deny).await.0, 200);
    let over = world.until_over("bob", &session).await;
    let why = "the run used up its 4 turns, and ANA did not let it go on: not today";
    assert_eq!(
        (&over["run"]["status"], &over["run"]["reason"]),
        (&json!("cancelled"), &json!(why))
    );

    // An earlier run is remembered with what it used.
    world.say("bob", &session, "hello").await;
    world.until("bob", &session, |session| session["run"]["status"] == "completed").await;
    let (_, earlier) = world.get("bob", &format!("/v1/runs/{run}")).await;
    assert_eq!((&earlier["status"], &earlier["reason"]), (&json!("cancelled"), &json!(why)));
    assert_eq!(earlier["usage"]["turns"], 8);

    let counted = |text: &str| text.contains("holdpoint_budgets_used_up_total{budget=\"turns\"} 2");
    for _ in 0..200 {
        if counted(&metrics(&world).await) {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    let text = metrics(&world).await;
    assert!(counted(&text), "{text}");
    assert!(text.contains("holdpoint_model_tokens_total{kind=\"input\"} 800"), "{text}");
    assert!(text.contains("holdpoint_model_turns_total 9"), "{text}");
}
