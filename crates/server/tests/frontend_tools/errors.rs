//! Whatever can be known is told before a stream opens, and changes nothing.

use reqwest::Method;
use serde_json::{Value, json};

use crate::world::{posted, told, world};

#[tokio::test]
async fn ids_that_do_not_go_with_the_prompts_are_listed_and_nothing_is_stored() {
    let world = world().await;
    let first = world.run("ana", json!([{"calls": [["pick", {}], ["pick", {}]]}])).await;
    let (uuid, ids) = (first.uuid(), first.awaited_ids());
    let (a, b) = (ids[0].as_str(), ids[1].as_str());
    let state = world.state().await;
    for (results, unknown, duplicate, missing) in [
        (vec![(a, "x")], vec![], vec![], vec![b]),
        (vec![(a, "x"), (b, "y"), ("toolu_9", "z")], vec!["toolu_9"], vec![], vec![]),
        (vec![(a, "x"), (a, "x")], vec![], vec![a], vec![b]),
        (vec![(a, "x"), (b, "y"), (a, "x")], vec![], vec![a], vec![]),
        (vec![("toolu_8", "x"), ("toolu_9", "x")], vec!["toolu_8", "toolu_9"], vec![], vec![a, b]),
    ] {
        let told = world.results("ana", &uuid, &results).await;
        told.refused(422, "answer_invalid");
        for (name, expected) in
            [("unknown", unknown), ("duplicate", duplicate), ("missing", missing)]
        {
            let listed = told.problem.get(name).cloned().unwrap_or(json!([]));
            assert_eq!(listed, json!(expected), "{name} of {results:?}");
        }
    }
    assert_eq!(world.state().await, state);
    assert_eq!(world.holds("ana").await.len(), 2, "both are open");
    world.results("ana", &uuid, &[(a, "x"), (b, "y")]).await.finished();
}

#[tokio::test]
async fn what_makes_no_sense_is_422_and_changes_nothing() {
    let world = world().await;
    let first = world.run("ana", json!([{"calls": [["pick", {}]]}])).await;
    let (uuid, id) = (first.uuid(), first.awaited_ids()[0].clone());
    let state = world.state().await;
    for body in [
        json!({"user_prompt": "hi", "agent_type": "agent_nobody"}),
        json!({"user_prompt": "hi", "agent_uuid": uuid, "agent_type": "agent_other"}),
        json!({"user_prompt": ""}),
        json!({"user_prompt": [{"type": "image"}]}),
        json!({"prompt": "hi"}),
    ] {
        world.post("ana", "/agent/run", &body).await.refused(422, "answer_invalid");
    }
    for body in [
        json!({"agent_uuid": uuid, "tool_results": []}),
        json!({"agent_uuid": uuid}),
        json!({"agent_uuid": uuid, "tool_results": [{"tool_use_id": id, "content": {"a": 1}}]}),
        json!({"agent_uuid": uuid, "agent_type": "x", "tool_results": [{"tool_use_id": id, "content": "x"}]}),
    ] {
        world.post("ana", "/agent/tool_results", &body).await.refused(422, "answer_invalid");
    }
    for (path, text) in
        [("/agent/run", "{"), ("/agent/tool_results", "nonsense"), ("/agent/run", "")]
    {
        let request =
            world.request("ana", Method::POST, path).header("content-type", "application/json");
        told(request.body(text).send().await.expect("a reply"))
            .await
            .refused(422, "answer_invalid");
    }
    assert_eq!(world.state().await, state);
    assert_eq!(world.holds("ana").await.len(), 1);
}

#[tokio::test]
async fn nothing_is_asked() {
    let world = world().await;
    let first = world.run("ana", json!([{"say": ["Hi."]}])).await;
    let told = world.results("ana", &first.uuid(), &[("toolu_1", "x")]).await;
    told.refused(409, "not_awaiting");
}

#[tokio::test]
async fn what_is_not_there_or_not_yours_is_not_found() {
    let world = world().await;
    let first = world.run("ana", json!([{"calls": [["pick", {}]]}])).await;
    let (uuid, id) = (first.uuid(), first.awaited_ids()[0].clone());
    let state = world.state().await;
    let nobody = "01930000-0000-7000-8000-000000000001";
    for (who, uuid) in
        [("eve", uuid.as_str()), ("bot", &uuid), ("ana", nobody), ("ana", "x"), ("ana", "../v1")]
    {
        world.results(who, uuid, &[(&id, "x")]).await.refused(404, "not_found");
        let body = json!({"user_prompt": "hi", "agent_uuid": uuid});
        world.post(who, "/agent/run", &body).await.refused(404, "not_found");
    }
    for path in ["conversations", "images/1"] {
        assert_eq!(world.get("eve", &format!("/agent/{uuid}/{path}")).await.0, 404);
    }
    assert_eq!(world.state().await, state);
    // The id in our own form is as good.
    let (_, page) = world.get("ana", "/v1/sessions").await;
    let session = page["items"][0]["id"].as_str().expect("an id");
    world.results("ana", session, &[(&id, "x")]).await.finished();
}

#[tokio::test]
async fn too_much_is_too_large() {
    let world = world().await;
    let state = world.state().await;
    let body = json!({"user_prompt": "x".repeat(1 << 20)});
    world.post("ana", "/agent/run", &body).await.refused(413, "too_large");
    let body = posted("u", &[("a", &"x".repeat(1 << 20))]);
    world.post("ana", "/agent/tool_results", &body).await.refused(413, "too_large");
    assert_eq!(world.state().await, state);
}

#[tokio::test]
async fn a_program_asks_and_never_answers() {
    let world = world().await;
    let first = world.run("bot", json!([{"calls": [["pick", {}]]}])).await;
    let (uuid, id) = (first.uuid(), first.awaited_ids()[0].clone());
    let state = world.state().await;
    world.results("bot", &uuid, &[(&id, "x")]).await.refused(403, "not_entitled");
    assert_eq!(world.state().await, state);
    // The person whose program it is answers.
    world.results("ana", &uuid, &[(&id, "x")]).await.finished();
}

#[tokio::test]
async fn while_all_is_frozen_no_prompt_is_taken() {
    let world = world().await;
    let freeze = world.request("root", Method::POST, "/v1/freeze").json(&json!({"reason": "fire"}));
    assert_eq!(freeze.send().await.expect("a reply").status(), 200);
    let told = world.run("ana", json!([{"say": ["Hi."]}])).await;
    told.refused(423, "frozen");
    assert_eq!(told.problem["status"], Value::from(423));
}
