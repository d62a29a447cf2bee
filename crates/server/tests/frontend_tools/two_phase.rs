//! Tools that ask first and act when they are called again, and the sentences agreed on as answers.

use serde_json::json;

use crate::world::world;

const YES: &str = "Yes, wipe sda.";

#[tokio::test]
async fn the_agreed_sentence_confirms_a_tool_that_asks_first() {
    let world = world().await;
    let first = world.run("ana", json!([{"calls": [["deploy", {"app": "x"}]]}])).await;
    let asked = first.all("tool_result");
    assert!(asked.contains("pending_confirmation"), "{:?}", first.items);
    assert_eq!(world.ran.times("deploy"), 0);
    let body = |text: &str| json!({"user_prompt": text, "agent_uuid": first.uuid()});
    let done = world.post("ana", "/agent/run", &body("Yes, deploy x.")).await;
    done.finished();
    assert_eq!(world.ran.times("deploy"), 1, "{:?}", done.items);
    assert!(done.all("tool_result").contains("success"), "{:?}", done.items);
    assert!(world.holds("ana").await.is_empty());
}

/// The client's library sends the same body again when its tab is shown again.
#[tokio::test]
async fn i09_a_sentence_that_comes_again_approves_nothing_more() {
    let world = world().await;
    let wipe = json!({"calls": [["wipe", {"disk": "sda"}]]});
    for key in [None, Some("one-key")] {
        let before = world.ran.times("wipe");
        // Two more, each of which asks.
        let turns = json!([wipe, wipe, {"say": [key.unwrap_or("none")]}]);
        let first = world.run("ana", turns).await;
        let body = json!({"user_prompt": YES, "agent_uuid": first.uuid()});
        let say = |key: Option<&'static str>| {
            let request = world.request("ana", reqwest::Method::POST, "/agent/run").json(&body);
            let request = match key {
                Some(key) => request.header("idempotency-key", key),
                None => request,
            };
            async { crate::world::told(request.send().await.expect("a reply")).await }
        };
        let second = say(key).await;
        assert_eq!(second.awaited_ids().len(), 1, "{:?}", second.items);
        assert_eq!(world.ran.times("wipe"), before + 1);
        let again = say(key).await;
        assert_eq!(again.awaited_ids(), second.awaited_ids(), "{:?}", again.items);
        assert_eq!((world.ran.times("wipe"), world.holds("ana").await.len()), (before + 1, 1));
        // Meant once more: under a key of its own, or as an answer to the prompt.
        let last = match key {
            Some(_) => say(Some("another-key")).await,
            None => world.results("ana", &first.uuid(), &[(&again.awaited_ids()[0], "yes")]).await,
        };
        last.finished();
        assert_eq!(world.ran.times("wipe"), before + 2);
    }
}

/// From whoever may not give the answer it is a message like any other.
#[tokio::test]
async fn a_sentence_of_somebody_who_may_not_answer_is_a_message() {
    let world = world().await;
    let first = world.run("ana", json!([{"calls": [["drop", {"table": "t"}]]}])).await;
    let body = json!({"user_prompt": "Yes, drop t.", "agent_uuid": first.uuid()});
    let said = world.post("ana", "/agent/run", &body).await;
    assert_eq!((said.status, world.ran.times("drop")), (200, 0), "{}", said.problem);
    assert_eq!(world.holds("dan").await.len(), 1);
}
