//! Approvals of server tools, put to a client that knows only tools of its own.

use std::time::Duration;

use serde_json::{Value, json};

use crate::world::{Plan, World, planned, script, world};

#[tokio::test]
async fn an_approval_is_one_more_prompt_and_only_yes_and_no_count() {
    let world = world().await;
    let first = world.run("ana", json!([{"calls": [["wipe", {"disk": "sda"}]]}])).await;
    let (uuid, asked) = (first.uuid(), first.awaited());
    assert_eq!(asked[0]["name"], "user_confirm");
    let message = asked[0]["input"]["message"].as_str().expect("a message");
    assert!(message.contains("tool:\n│ wipe\n") && message.contains("disk: \"sda\""), "{message}");
    let id = &first.awaited_ids()[0];
    for other in ["Yes", "yes ", "y", "ok", "true", "", "skipped", "{\"approved\":true}"] {
        let again = world.results("ana", &uuid, &[(id, other)]).await;
        assert_eq!(again.awaited_ids(), [id.as_str()], "{other:?} decides nothing");
    }
    let mut body = crate::world::posted(&uuid, &[(id, "yes")]);
    body["tool_results"][0]["is_error"] = json!(true);
    let again = world.post("ana", "/agent/tool_results", &body).await;
    assert_eq!(again.awaited_ids(), [id.as_str()], "a yes in error is no yes");
    assert_eq!(world.ran.times("wipe"), 0);
    let last = world.results("ana", &uuid, &[(id, "yes")]).await;
    last.finished();
    assert_eq!((world.ran.times("wipe"), last.all("tool_result")), (1, "done".into()));
}

#[tokio::test]
async fn a_no_denies() {
    let world = world().await;
    let first = world.run("ana", json!([{"calls": [["wipe", {}]]}])).await;
    let last = world.results("ana", &first.uuid(), &[(&first.awaited_ids()[0], "no")]).await;
    last.finished();
    assert!(last.all("tool_result").contains("Denied by ANA"), "{:?}", last.items);
    assert_eq!(world.ran.times("wipe"), 0);
}

/// The model's own question beside the approval: its yes grants nothing.
#[tokio::test]
async fn a_yes_to_the_models_question_approves_nothing() {
    let world = world().await;
    let turns = json!([{"calls": [["user_confirm", {"message": "wipe?"}], ["wipe", {}]]}]);
    let first = world.run("ana", turns).await;
    let (uuid, ids) = (first.uuid(), first.awaited_ids());
    let second = world.results("ana", &uuid, &[(&ids[0], "yes"), (&ids[1], "skipped")]).await;
    assert_eq!((second.awaited_ids(), world.ran.times("wipe")), (vec![ids[1].clone()], 0));
    world.results("ana", &uuid, &[(&ids[1], "no")]).await.finished();
    assert_eq!(world.ran.times("wipe"), 0);
}

/// What a person approved by itself runs, also beside a refused question.
#[tokio::test]
async fn an_approved_call_runs_beside_a_refused_question() {
    let world = world().await;
    let turns = json!([{"calls": [["user_confirm", {}], ["wipe", {}], ["write", {}]]}]);
    let first = world.run("ana", turns).await;
    let ids = first.awaited_ids();
    world.results("ana", &first.uuid(), &[(&ids[0], "no"), (&ids[1], "yes")]).await.finished();
    assert_eq!((world.ran.times("wipe"), world.ran.times("write")), (1, 0));
}

#[tokio::test]
async fn a_prompt_for_somebody_else_is_shown_and_cannot_be_answered() {
    let world = world().await;
    let first = world.run("ana", json!([{"calls": [["drop", {}]]}])).await;
    let (uuid, id) = (first.uuid(), first.awaited_ids()[0].clone());
    let state = world.state().await;
    world.results("ana", &uuid, &[(&id, "yes")]).await.refused(403, "not_entitled");
    assert_eq!(world.state().await, state);
    // Dan sees the session, as he is asked; his word counts, and the stream goes on for him.
    world.results("dan", &uuid, &[(&id, "yes")]).await.finished();
    assert_eq!(world.ran.times("drop"), 1);
}

/// Two must agree, so Dan's edit is only asked about anew.
async fn edited_by_dan(world: &World) {
    let hold = world.holds("dan").await.remove(0);
    let edit = json!({"verdict": "approve", "arguments": {"table": "b"}});
    let path = format!("/v1/holds/{}/answer", hold["id"].as_str().unwrap());
    let body = json!({"digest": hold["digest"], "answer": edit});
    let edited = world.request("dan", reqwest::Method::POST, &path).json(&body).send().await;
    let edited: Value = edited.expect("a reply").json().await.expect("json");
    assert_eq!((&edited["state"], &edited["version"]), (&json!("pending"), &json!(2)));
}

/// The yes is for what was shown; the call has changed since.
#[tokio::test]
async fn a_yes_to_what_was_shown_before_an_edit_counts_for_nothing() {
    let world = world().await;
    let turns = json!([{"calls": [["both", {"table": "a"}]]}]);
    let first = world.run("ana", turns.clone()).await;
    let (uuid, id) = (first.uuid(), first.awaited_ids()[0].clone());
    edited_by_dan(&world).await;
    world.results("dora", &uuid, &[(&id, "yes")]).await.refused(409, "version_conflict");
    assert_eq!(world.ran.times("both"), 0);
    let body = json!({"user_prompt": script(turns), "agent_uuid": uuid});
    let again = world.post("ana", "/agent/run", &body).await;
    let message = again.awaited()[0]["input"]["message"].as_str().unwrap().to_owned();
    assert!(message.contains("table: \"b\""), "{message}");
    // Ana has seen the new one by now, and Dora has not.
    world.results("dora", &uuid, &[(&id, "yes")]).await.refused(409, "version_conflict");
    assert_eq!(world.ran.times("both"), 0);
    // Only once it was sent to her does her yes mean it: here in the list that a reload reads.
    let (_, page) = world.get("dora", &format!("/agent/{uuid}/conversations")).await;
    let asked = page["conversations"][0]["pending_frontend_tools"][0].to_string();
    assert!(asked.contains("table: \\\"b\\\""), "{asked}");
    world.results("dora", &uuid, &[(&id, "yes")]).await.finished();
    assert_eq!(world.ran.times("both"), 1);
}

/// What the stream itself asks is on record before it goes out: whoever reads it there may answer it.
#[tokio::test]
async fn a_yes_to_what_the_stream_showed_after_an_edit_counts() {
    let world = world().await;
    let turns = json!([{"calls": [["both", {"table": "a"}]]}]);
    let first = world.run("ana", turns.clone()).await;
    let (uuid, id) = (first.uuid(), first.awaited_ids()[0].clone());
    edited_by_dan(&world).await;
    // A word that decides nothing is answered with what is asked now, over the stream.
    let shown = world.results("dora", &uuid, &[(&id, "maybe")]).await;
    let message = shown.awaited()[0]["input"]["message"].as_str().unwrap().to_owned();
    assert!(message.contains("table: \"b\""), "{message}");
    world.results("dora", &uuid, &[(&id, "yes")]).await.finished();
    assert_eq!(world.ran.times("both"), 1);
}

/// Without the bridge the client has nothing to answer: it is told where to, and comes back.
#[tokio::test]
async fn an_approval_given_elsewhere_lets_the_run_go_on() {
    let world = planned(Plan { bridge: false, ..Plan::default() }).await;
    let turns = json!([{"calls": [["wipe", {}]]}]);
    let first = world.run("ana", turns.clone()).await;
    first.finished();
    let hold = world.holds("ana").await.remove(0);
    let place = format!("/holds/{}", hold["id"].as_str().unwrap());
    assert!(first.all("text").contains(&place), "{:?}", first.items);
    let late = world.results("ana", &first.uuid(), &[("toolu_1_0", "yes")]).await;
    late.refused(409, "not_awaiting");
    let body = json!({"user_prompt": script(turns.clone()), "agent_uuid": first.uuid()});
    let again = world.post("ana", "/agent/run", &body).await;
    assert_eq!((again.uuid(), world.ran.times("wipe")), (first.uuid(), 0), "the same run, still");
    let answer = json!({"digest": hold["digest"], "answer": {"verdict": "approve"}});
    let path = format!("/v1{place}/answer");
    let answered = world.request("ana", reqwest::Method::POST, &path).json(&answer).send();
    // Whoever follows by then is told what came of it; whoever comes later finds it in the list.
    assert_eq!(answered.await.expect("a reply").status(), 200);
    let path = format!("/agent/{}/conversations", first.uuid());
    for _ in 0..400 {
        if world.get("ana", &path).await.1["conversations"][0]["stop_reason"] == "end_turn" {
            break;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let (_, page) = world.get("ana", &path).await;
    assert_eq!(page["conversations"][0]["final_response"], "Finished.");
    assert_eq!(world.ran.times("wipe"), 1);
}

/// What is asked here can be answered on the page, and the client's late answer is told so.
#[tokio::test]
async fn an_answer_given_elsewhere_stands() {
    let world = world().await;
    let first = world.run("ana", json!([{"calls": [["pick", {}], ["pick", {}]]}])).await;
    let (uuid, ids) = (first.uuid(), first.awaited_ids());
    let holds = world.holds("ana").await;
    let hold = holds.iter().find(|hold| hold["call"]["tool_use_id"] == *ids[0]).expect("the hold");
    let path = format!("/v1/holds/{}/answer", hold["id"].as_str().unwrap());
    let answer = json!({"answer": {"perform": {"content": "red", "is_error": false}}});
    let request = world.request("ana", reqwest::Method::POST, &path).json(&answer);
    assert_eq!(request.send().await.expect("a reply").status(), 200);
    let late = world.results("ana", &uuid, &[(&ids[0], "green"), (&ids[1], "blue")]).await;
    late.refused(409, "hold_already_decided");
    assert_eq!(late.problem["decision"]["perform"]["content"], "red", "{}", late.problem);
    assert_eq!(world.holds("ana").await.len(), 1, "nothing of it was stored");
    world.results("ana", &uuid, &[(&ids[0], "skipped"), (&ids[1], "blue")]).await.finished();
    let given: Vec<_> = world.given().into_iter().map(|it| it.content).collect();
    assert_eq!(given, ["red", "blue"]);
}

/// Sentences that the configuration knows as answers, with the values of the stored call in them.
#[tokio::test]
async fn a_sentence_that_was_agreed_on_is_an_answer_and_nothing_near_it_is() {
    let world = world().await;
    let first = world.run("ana", json!([{"calls": [["wipe", {"disk": "sda"}]]}])).await;
    let uuid = first.uuid();
    for near in ["Yes, wipe sdb.", "Yes, wipe sda. And sdb.", "yes", "Yes, wipe {disk}."] {
        let body = json!({"user_prompt": near, "agent_uuid": uuid});
        let told = world.post("ana", "/agent/run", &body).await;
        assert_eq!(told.awaited_ids(), first.awaited_ids(), "{near}");
    }
    assert_eq!(world.ran.times("wipe"), 0);
    let body = json!({"user_prompt": "Yes, wipe sda.", "agent_uuid": uuid});
    let last = world.post("ana", "/agent/run", &body).await;
    last.finished();
    assert_eq!((world.ran.times("wipe"), last.all("tool_result")), (1, "done".into()));
    let denied = world.run("ana", json!([{"calls": [["wipe", {"disk": "sdc"}]]}])).await;
    let body = json!({"user_prompt": "No, keep sdc.", "agent_uuid": denied.uuid()});
    let told = world.post("ana", "/agent/run", &body).await;
    assert!(told.all("tool_result").contains("Denied by ANA"), "{:?}", told.items);
    assert_eq!(world.ran.times("wipe"), 1);
}
