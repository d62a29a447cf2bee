//! What a client finds after a reload; and files.

use reqwest::{Method, Response};
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
    told(sent(world, path, parts).await).await
}

async fn sent(world: &World, path: &str, parts: &[(&str, &str)]) -> Response {
    let mut body = String::new();
    for (head, content) in parts {
        body += &format!("--x\r\nContent-Disposition: form-data; {head}\r\n\r\n{content}\r\n");
    }
    body += "--x--\r\n";
    let request = world.request("ana", Method::POST, path).body(body);
    let request = request.header("content-type", "multipart/form-data; boundary=x");
    request.send().await.expect("a reply")
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
    for parts in [vec![file], vec![prompt, prompt], vec![prompt, ("name=\"agent_type\"", "nobody")]]
    {
        form(&world, "/agent/run/multipart", &parts).await.refused(422, "answer_invalid");
    }
    form(&world, "/agent/upload", &[file, ("name=\"urls\"", "http://127.0.0.1/")])
        .await
        .refused(422, "answer_invalid");
    form(&world, "/agent/upload", &[]).await.refused(400, "bad_request");
    assert_eq!(world.state().await, state);
}

/// As the client sends it, and as it reads the reply.
#[tokio::test]
async fn files_are_kept_for_later_prompts_and_seen_by_nobody_else() {
    let world = world().await;
    let gif = ("name=\"files[]\"; filename=\"../a.gif\"", "GIF89a\u{1}\u{0}\u{1}\u{0};");
    let csv = ("name=\"files[]\"; filename=\"orders.csv\"", "id,name\n1,ana\n");
    let reply = sent(&world, "/agent/upload", &[gif, csv]).await;
    assert_eq!(reply.status(), 200);
    let told: Value = reply.json().await.expect("JSON");
    let files = told["files"].as_array().expect("files");
    assert_eq!(files.len(), 2);
    for (file, (name, kind, bytes)) in files
        .iter()
        .zip([("a.gif", "image/gif", gif.1.len()), ("orders.csv", "text/csv", csv.1.len())])
    {
        assert_eq!(file["filename"], name);
        assert_eq!(file["mime_type"], kind);
        assert_eq!(file["size_bytes"], bytes);
        assert_eq!(file["downloadable"], true);
        assert!(file["created_at"].as_str().is_some_and(|at| at.ends_with('Z')), "{file}");
    }
    // The same form again is the same files.
    let again: Value = sent(&world, "/agent/upload", &[gif, csv]).await.json().await.expect("JSON");
    assert_eq!(again, told);

    let id = files[0]["id"].as_str().expect("an id");
    let block = json!({"type": "image", "source": {"type": "file", "file_id": id}});
    let prompt = json!({"user_prompt": [block, {"type": "text", "text": "look"}]});
    // It is not hers.
    world.post("eve", "/agent/run", &prompt).await.refused(422, "answer_invalid");
    world.post("ana", "/agent/run", &prompt).await.finished();
    let sessions = world.get("ana", "/agent/sessions").await.1;
    let uuid = sessions["sessions"][0]["agent_uuid"].as_str().expect("a session").to_owned();
    let path = format!("/agent/{uuid}/images/{id}");
    let image = world.request("ana", Method::GET, &path).send().await.expect("a reply");
    assert_eq!(image.headers()["content-type"], "image/gif");
    assert_eq!(image.bytes().await.expect("bytes"), gif.1.as_bytes());
    assert_eq!(world.get("eve", &path).await.0, 404);
    let other = files[1]["id"].as_str().expect("an id");
    assert_eq!(world.get("ana", &format!("/agent/{uuid}/images/{other}")).await.0, 404);
}

#[tokio::test]
async fn a_form_may_bring_what_is_no_text() {
    let world = world().await;
    let prompt = ("name=\"user_prompt\"", "What is it?");
    let file = ("name=\"files\"; filename=\"a.gif\"", "GIF89a\u{1}\u{0}\u{1}\u{0};");
    form(&world, "/agent/run/multipart", &[prompt, file]).await.finished();
    let file = world.store.files().expect("files").files_after(None, 5).await.expect("rows");
    assert_eq!(file.len(), 1);
    assert_eq!(file[0].file.name.as_str(), "a.gif");
}
