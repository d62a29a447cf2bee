//! The whole circle: run, pause, results, end; in every format.

use serde_json::{Value, json};

use crate::world::{Told, posted, world};

fn hostile() -> Value {
    json!({"message": "Drop \"a & b\" <now>?\nYes, 'é𝄞' \\ &quot;", "n": [1, null, true]})
}

/// `A(json)` read back: entities, then JSON.
fn data(item: &str, tag: &str) -> Value {
    let begin = format!("<{tag} data=\"");
    let rest = item.strip_prefix(&begin).unwrap_or_else(|| panic!("no {tag}: {item}"));
    let value = rest.strip_suffix(&format!("\"></{tag}>")).expect("an explicit close tag");
    assert!(!value.contains(['"', '<', '>', '\'']) && value.is_ascii(), "{value}");
    serde_json::from_str(&value.replace("&quot;", "\"")).expect("JSON")
}

fn pause(told: &Told) -> Value {
    let at = told.items.len() - 2;
    assert_eq!(told.items[at + 1], "[DONE]", "{:?}", told.items);
    data(&told.items[at], "awaiting_frontend_tools")
}

#[tokio::test]
async fn json_pauses_and_goes_on_twice() {
    let world = world().await;
    let first = world
        .run("ana", json!([
            {"think": "hm", "say": ["One ", "moment."], "calls": [["pick", hostile()], ["look", {}]]},
            {"calls": [["user_confirm", {"message": "Sure?"}]]},
            {"say": ["It is done."]},
        ]))
        .await;
    assert_eq!(first.meta()["format"], "json");
    assert_eq!((first.all("thinking"), first.all("text")), ("hm".into(), "One moment.".into()));
    assert_eq!(first.all("tool_result"), "done", "what only reads runs at once");
    let awaited = first.awaited();
    assert_eq!(awaited.len(), 1);
    assert_eq!((&awaited[0]["name"], &awaited[0]["input"]), (&json!("pick"), &hostile()));
    let uuid = first.uuid();
    let second =
        world.results("ana", &uuid, &[(&first.awaited_ids()[0], "{\"hex\":\"#0f0\"}")]).await;
    assert_eq!(second.awaited()[0]["name"], "user_confirm");
    assert_eq!(
        world.given().iter().map(|it| it.content.to_string()).collect::<Vec<_>>(),
        ["{\"hex\":\"#0f0\"}", "done"]
    );
    let third = world.results("ana", &uuid, &[(&second.awaited_ids()[0], "yes")]).await;
    third.finished();
    assert_eq!(third.all("text"), "It is done.");
    assert_eq!(third.all("tool_result"), "", "the client knows what it did itself");
}

#[tokio::test]
async fn xml_pauses_and_goes_on() {
    let world = world().await;
    let turns =
        json!([{"say": ["a < b", "\n"], "calls": [["pick", hostile()]]}, {"say": ["Bye."]}]);
    let first = world.run_as("ana", "agent_xml", turns).await;
    let meta = data(&first.items[0], "meta_init");
    assert_eq!(meta["format"], "xml");
    assert_eq!(
        first.items[1..5],
        ["<content-block-text>", "<![CDATA[a < b]]>", "\\n", "</content-block-text>"]
    );
    let pause = pause(&first);
    assert_eq!(pause[0]["input"], hostile());
    let (uuid, id) =
        (meta["agent_uuid"].as_str().unwrap(), pause[0]["tool_use_id"].as_str().unwrap());
    let second = world.results("ana", uuid, &[(id, "green")]).await;
    assert_eq!(second.items, ["<content-block-text>", "Bye.", "</content-block-text>", "[DONE]"]);
}

#[tokio::test]
async fn raw_pauses_and_goes_on() {
    let world = world().await;
    let turns = json!([{"say": ["a < b"], "calls": [["pick", hostile()], ["look", {}]]}, {"say": ["Bye."]}]);
    let first = world.run_as("ana", "agent_raw", turns).await;
    let meta = data(&first.items[0], "meta_init");
    let events: Vec<Value> = first.items[1..]
        .iter()
        .filter(|item| item.starts_with('{'))
        .map(|item| {
            assert!(!item.contains(['<', '>']), "{item}");
            serde_json::from_str(item).expect("an event")
        })
        .collect();
    let kinds: Vec<&str> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    let block = ["content_block_start", "content_block_delta", "content_block_stop"];
    let expected =
        [&["message_start"][..], &block, &block, &block, &["message_delta", "message_stop"]]
            .concat();
    assert_eq!(kinds, expected);
    assert_eq!(events[10]["delta"]["stop_reason"], "tool_use");
    assert!(first.items.iter().any(|item| item.starts_with("<content-block-tool_result id=")));
    let pause = pause(&first);
    let (uuid, id) =
        (meta["agent_uuid"].as_str().unwrap(), pause[0]["tool_use_id"].as_str().unwrap());
    let second = world.results("ana", uuid, &[(id, "green")]).await;
    assert!(second.items[0].contains("message_start"), "no opener: {:?}", second.items);
    assert!(second.is_done());
}

#[tokio::test]
async fn a_long_pause_is_one_envelope_and_everything_else_is_short() {
    let world = world().await;
    let long = "é\"".repeat(5_000);
    let first = world
        .run(
            "ana",
            json!([{"say": [long], "calls": [["pick", {"text": long}], ["look", {"says": long}]]}]),
        )
        .await;
    assert_eq!(first.awaited()[0]["input"]["text"], long);
    assert_eq!((first.all("text"), first.all("tool_result")), (long.clone(), long));
    for item in first.items.iter().filter(|item| !item.contains("awaiting_frontend_tools")) {
        assert!(item.len() <= 2_048, "{} bytes", item.len());
    }
}

#[tokio::test]
async fn a_question_in_parts_is_one_question() {
    let world = world().await;
    let body =
        json!({"user_prompt": [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]});
    let told = world.post("ana", "/agent/run", &body).await;
    told.finished();
    assert_eq!(told.meta()["user_query"], "one\ntwo");
    assert_eq!(told.meta()["model"], "ops");
}

#[tokio::test]
async fn history_is_sent_to_those_who_want_it() {
    let world = world().await;
    let turns = json!([{"calls": [["pick", {}]]}, {"say": ["Bye."]}]);
    let first = world.run_as("ana", "agent_history", turns).await;
    assert_eq!(first.meta()["message_history"], json!([]));
    assert_eq!(first.all("meta_final"), "", "never on a pause");
    let second = world.results("ana", &first.uuid(), &[(&first.awaited_ids()[0], "green")]).await;
    assert_eq!(second.all("tool_result"), "green", "echoed first");
    let last: Value = serde_json::from_str(&second.all("meta_final")).expect("an object");
    let roles: Vec<&str> = last["conversation_history"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| message["role"].as_str().unwrap())
        .collect();
    assert_eq!(roles, ["user", "assistant", "user", "assistant"]);
    assert_eq!((&last["stop_reason"], &last["total_steps"]), (&json!("end_turn"), &json!(2)));
    let result = &last["conversation_history"][2]["content"][0];
    assert_eq!(
        result,
        &json!({"type": "tool_result", "tool_use_id": first.awaited_ids()[0], "content": "green"})
    );
}

#[tokio::test]
async fn what_the_client_did_in_error_is_told_as_an_error() {
    let world = world().await;
    let first = world.run("ana", json!([{"calls": [["pick", {}]]}])).await;
    let mut body = posted(&first.uuid(), &[(&first.awaited_ids()[0], "skipped")]);
    body["tool_results"][0]["is_error"] = json!(true);
    world.post("ana", "/agent/tool_results", &body).await.finished();
    let given = &world.given()[0];
    assert_eq!((&*given.content, given.is_error), ("skipped", true));
}

#[tokio::test]
async fn a_model_that_fails_ends_the_stream_without_a_done() {
    let world = world().await;
    let told = world.run("ana", json!([{"fail": true}])).await;
    assert!(!told.is_done(), "{:?}", told.items);
    let error: Value = serde_json::from_str(&told.all("error")).expect("an error");
    assert_eq!(error["error"], "run_failed");
}
