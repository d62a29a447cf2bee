//! What a client finds after a reload; and files.

use reqwest::Method;
use serde_json::{Value, json};

use crate::world::{Told, World, told, world};

#[tokio::test]
async fn a_reload_finds_the_conversation_and_what_is_still_asked() {
    let world = world().await;
    let turns = json!([{"say": ["Which?"], "calls": [["pick", {"n": 1}], ["look", {}]]}]);
    let first = world.run("ana", turns).await;
    let uuid = first.uuid();
    let path = format!("/agent/{uuid}/conversations");
    let (status, page) = world.get("ana", &path).await;
    assert_eq!(status, 200);
    let paused = &page["conversations"][0];
    assert_eq!(paused["stop_reason"], "awaiting_frontend_tools");
    assert_eq!(paused["pending_frontend_tools"], json!(first.awaited()));
    assert_eq!((&paused["final_response"], &paused["completed_at"]), (&Value::Null, &Value::Null));
    assert_eq!(paused["messages"][1]["content"][0], json!({"type": "text", "text": "Which?"}));
    world.results("ana", &uuid, &[(&first.awaited_ids()[0], "one")]).await.finished();
    for text in ["two", "three"] {
        let body = json!({"user_prompt": text, "agent_uuid": uuid});
        world.post("ana", "/agent/run", &body).await.finished();
    }
    let (_, page) = world.get("ana", &format!("{path}?limit=2")).await;
    let numbers = |page: &Value| -> Vec<u64> {
        let all = page["conversations"].as_array().expect("a list");
        all.iter().map(|it| it["sequence_number"].as_u64().expect("a number")).collect()
    };
    assert_eq!((numbers(&page), &page["has_more"]), (vec![3, 2], &json!(true)));
    assert!(page["conversations"][0].get("pending_frontend_tools").is_none());
    let (_, page) = world.get("ana", &format!("{path}?limit=2&before=2")).await;
    assert_eq!((numbers(&page), &page["has_more"]), (vec![1], &json!(false)));
    let done = &page["conversations"][0];
    assert_eq!((&done["stop_reason"], &done["total_steps"]), (&json!("end_turn"), &json!(2)));
    assert_eq!(done["final_response"], "Finished.");
    assert_eq!(done["messages"][2]["content"][0]["content"], "one");
    let names = ["conversation_id", "run_id", "user_message", "started_at", "completed_at"];
    assert!(names.iter().all(|name| done[*name].is_string()), "{done}");
    for query in ["limit=0", "limit=101", "limit=x", "before=-1", "agent_type=nobody"] {
        assert_eq!(world.get("ana", &format!("{path}?{query}")).await.0, 422, "{query}");
    }
}

#[tokio::test]
async fn sessions_are_listed_to_their_own_people() {
    let world = world().await;
    for text in ["one", "two\nlines", "three"] {
        world.post("ana", "/agent/run", &json!({"user_prompt": text})).await.finished();
    }
    world.run_as("ana", "agent_xml", json!([{"say": ["x"]}])).await;
    let (_, page) = world.get("ana", "/agent/sessions?limit=2&offset=1").await;
    assert_eq!(page["total"], 4);
    let titles: Vec<&str> = page["sessions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["title"].as_str().unwrap())
        .collect();
    assert_eq!(titles, ["three", "two"]);
    assert_eq!(page["sessions"][0]["total_runs"], 1);
    let (_, page) = world.get("ana", "/agent/sessions?agent_type=agent_xml").await;
    assert_eq!(page["total"], 1);
    let (_, page) = world.get("eve", "/agent/sessions").await;
    assert_eq!(page, json!({"sessions": [], "total": 0}));
    let uuid = world.get("ana", "/agent/sessions").await.1["sessions"][0]["agent_uuid"].clone();
    assert_eq!(
        world.get("ana", &format!("/agent/{}/images/1", uuid.as_str().unwrap())).await.0,
        404
    );
}

async fn form(world: &World, path: &str, parts: &[(&str, &str)]) -> Told {
    let mut body = String::new();
    for (head, content) in parts {
        body += &format!("--x\r\nContent-Disposition: form-data; {head}\r\n\r\n{content}\r\n");
    }
    body += "--x--\r\n";
    let request = world.request("ana", Method::POST, path).body(body);
    let request = request.header("content-type", "multipart/form-data; boundary=x");
    told(request.send().await.expect("a reply")).await
}

#[tokio::test]
async fn a_form_is_a_prompt_and_its_text_files_are_read() {
    let world = world().await;
    let prompt = ("name=\"user_prompt\"", "What is in it?");
    let file = ("name=\"files\"; filename=\"a.txt\"", "forty-two");
    let told =
        form(&world, "/agent/run/multipart", &[prompt, file, ("name=\"agent_uuid\"", "")]).await;
    told.finished();
    assert_eq!(told.meta()["user_query"], "The file a.txt:\nforty-two\nWhat is in it?");
    let state = world.state().await;
    for parts in [
        vec![file],
        vec![prompt, prompt],
        vec![prompt, ("name=\"files\"; filename=\"a.png\"", "\u{0}\u{1}")],
        vec![prompt, ("name=\"agent_type\"", "nobody")],
    ] {
        form(&world, "/agent/run/multipart", &parts).await.refused(422, "answer_invalid");
    }
    form(&world, "/agent/upload", &[file]).await.refused(422, "answer_invalid");
    form(&world, "/agent/upload", &[("name=\"urls\"", "http://127.0.0.1/")])
        .await
        .refused(422, "answer_invalid");
    form(&world, "/agent/upload", &[]).await.refused(400, "bad_request");
    assert_eq!(world.state().await, state);
}
