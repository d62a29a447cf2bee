//! Many answers in one request.

use reqwest::Method;
use serde_json::{Value, json};

use crate::world::{World, list, read, text, world};

fn one(hold: &Value, answer: Value) -> Value {
    json!({"hold": hold["id"], "digest": hold["digest"], "answer": answer})
}

async fn send(world: &World, who: &str, answers: Vec<Value>) -> (u16, Value) {
    world.post(who, "/v1/holds/answers", json!({ "answers": answers })).await
}

fn statuses(reply: &Value) -> Vec<u64> {
    list(reply, "results").iter().map(|one| one["status"].as_u64().expect("a status")).collect()
}

#[tokio::test]
async fn each_is_judged_by_itself() {
    let world = world().await;
    let (session, wipe) = world.held("bob", r#"call wipe {"n": 1}"#).await;
    let (_, denied) = world.held("bob", r#"call wipe {"n": 2}"#).await;
    let (_, taken) = world.held("bob", r#"call wipe {"n": 3}"#).await;
    world.answer("bob", &taken, json!({"verdict": "deny"})).await;
    let eves = json!({"kind": "choose", "title": "Hers", "options": ["a"]});
    let hidden = world.open_hold("bot", eves).await;
    let grave = json!({"kind": "choose", "title": "Grave", "options": ["a"], "risk": "critical"});
    let critical = world.open_hold("gate", grave).await;
    let asked = json!({"kind": "choose", "title": "Which?", "options": ["a"]});
    let question = world.open_hold("gate", asked).await;
    let mut other = one(&wipe, json!({"verdict": "approve"}));
    other["digest"] = json!("sha256:0");
    let (_, edited) = world.held("bob", r#"call wipe {"n": 4}"#).await;

    let (status, first) = send(&world, "dan", vec![other]).await;
    assert_eq!((status, statuses(&first)), (200, vec![409]), "{first}");
    let answers = vec![
        one(&wipe, json!({"verdict": "approve"})),
        one(&denied, json!({"verdict": "deny", "reason": "no"})),
        one(&taken, json!({"verdict": "approve"})),
        one(&hidden, json!({"choose": ["a"]})),
        one(&edited, json!({"verdict": "approve", "arguments": {"n": 5}})),
    ];
    let (status, reply) = send(&world, "dan", answers).await;
    assert_eq!((status, statuses(&reply)), (200, vec![200, 200, 409, 404, 422]), "{reply}");
    let results = list(&reply, "results");
    assert_eq!(results[0]["result"]["state"], "approved");
    assert_eq!(results[1]["result"]["decision"]["reason"], "no");
    assert_eq!(results[2]["problem"]["code"], "hold_already_decided");
    assert_eq!((&results[3]["result"], &results[3]["hold"]), (&Value::Null, &hidden["id"]));
    assert_eq!(results[4]["problem"]["field"], "arguments");
    world.until_over("bob", &session).await;
    assert_eq!(world.wiped(), 1);

    let answers =
        vec![one(&critical, json!({"choose": ["a"]})), one(&question, json!({"choose": ["a"]}))];
    let (_, reply) = send(&world, "bob", answers).await;
    assert_eq!(statuses(&reply), [422, 200], "{reply}");
    assert_eq!(list(&reply, "results")[0]["problem"]["field"], "hold");
}

#[tokio::test]
async fn i09_many_again_change_nothing() {
    let world = world().await;
    let (session, wipe) = world.held("bob", r#"call wipe {"n": 1}"#).await;
    let body = json!({"answers": [one(&wipe, json!({"verdict": "approve"}))]});
    let ask = || {
        let asked = world.request("dan", Method::POST, "/v1/holds/answers").json(&body);
        asked.header("Idempotency-Key", "k1").send()
    };
    let (status, first) = read(ask().await.expect("a reply")).await;
    assert_eq!((status, statuses(&first)), (200, vec![200]));
    world.until_over("bob", &session).await;
    let again = ask().await.expect("a reply");
    assert_eq!(again.headers()["idempotency-replayed"], "true");
    assert_eq!(read(again).await.1, first);
    let (_, anew) = world.post("dan", "/v1/holds/answers", body.clone()).await;
    assert_eq!(statuses(&anew), [200], "the same answer, judged again: {anew}");
    assert_eq!(world.wiped(), 1);
}

#[tokio::test]
async fn what_is_not_a_list_of_answers_is_refused_whole() {
    let world = world().await;
    let (_, wipe) = world.held("bob", r#"call wipe {"n": 1}"#).await;
    let yes = || one(&wipe, json!({"verdict": "approve"}));
    let many: Vec<Value> = (0..101).map(|_| yes()).collect();
    for (answers, expected) in [
        (json!([]), 422),
        (json!([yes(), yes()]), 422),
        (json!(many), 422),
        (json!([null]), 422),
        (json!([[text(&wipe, "id"), "d", {}]]), 400),
        (json!([{"hold": wipe["id"], "answer": {"verdict": "approve"}}]), 400),
        (json!([{"hold": "x", "digest": "d", "answer": {"verdict": "approve"}}]), 422),
    ] {
        let (status, told) =
            world.post("dan", "/v1/holds/answers", json!({"answers": answers})).await;
        assert_eq!(status, expected, "{told}");
    }
    for (who, status) in [("", 401), ("gate", 403)] {
        assert_eq!(send(&world, who, vec![yes()]).await.0, status, "{who}");
    }
    let (_, seen) = send(&world, "eve", vec![yes()]).await;
    assert_eq!(statuses(&seen), [404]);
    assert_eq!(world.wiped(), 0);
}
