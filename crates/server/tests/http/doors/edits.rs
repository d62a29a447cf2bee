//! What a page shows after things happened without it, and what it may say instead of what it said.

use reqwest::Method;
use serde_json::{Value, json};

use super::{Read, answered, assistant, opened, user};
use crate::world::{World, list, text};

async fn resumed(world: &World, chat: &str) -> Read {
    let path = format!("/api/chat/{chat}/stream");
    Read::of(world.request("bob", Method::GET, &path).send().await.expect("a reply")).await
}

async fn approved_elsewhere(world: &World, asked: &Read) -> Value {
    let hold = text(asked.one("tool-approval-request"), "approvalId");
    let (_, shown) = world.get("dan", &format!("/v1/holds/{hold}")).await;
    assert_eq!(world.answer("dan", &shown, json!({"verdict": "approve"})).await.0, 200);
    let settled = format!("/v1/holds/{hold}/wait?until=settled&timeout_s=30");
    world.get("dan", &settled).await;
    shown
}

/// The page was shown the question and then closed, or is idle. Its run may long be over.
#[tokio::test]
async fn i55_an_answer_given_elsewhere_is_told_at_the_next_resume() {
    let world = opened(None).await;
    let asked = world.tell("bob", "c1", "call wipe {}").await;
    let hold = approved_elsewhere(&world, &asked).await;
    world.until_over("bob", &text(&hold, "session")).await;
    let told = resumed(&world, "c1").await;
    assert_eq!(told.one("start")["messageId"], asked.one("start")["messageId"]);
    assert_eq!(told.one("tool-output-available")["output"], "wiped 1", "{}", told.text);
    assert_eq!(told.one("finish")["finishReason"], "stop");
    // Once: then it has been told to its end.
    assert_eq!(resumed(&world, "c1").await.status, 204);
    assert_eq!(world.wiped(), 1);
}

/// Never the old answer, or the old approval, under new words.
#[tokio::test]
async fn i04_an_edited_message_gets_a_new_answer_and_its_old_approval_runs_nothing() {
    let world = opened(None).await;
    let old = world.chat("bob", 6, &user("c1", "m1", "call wipe {}")).await;
    let new = world.chat("bob", 6, &user("c1", "m1", "Never mind.")).await;
    assert_eq!((new.status, new.words().as_str()), (200, "Never mind."), "{}", new.text);
    assert!(!new.has("tool-approval-request"), "{}", new.text);
    let late = world.chat("bob", 6, &assistant("c1", json!([answered(&old, true)]))).await;
    assert_eq!(late.status, 422, "{}", late.text);
    let (_, holds) = world.get("bob", "/v1/holds?state=pending").await;
    assert!(list(&holds, "items").is_empty(), "{holds}");
    // Said again, it is the same message.
    let again = world.chat("bob", 6, &user("c1", "m1", "Never mind.")).await;
    assert_eq!(again.one("start")["messageId"], new.one("start")["messageId"]);
    // What was granted for the old words is not granted for the new ones.
    let granted = world.chat("bob", 6, &user("c2", "m1", "call wipe {}")).await;
    let hold = text(granted.one("tool-approval-request"), "approvalId");
    let (_, shown) = world.get("bob", &format!("/v1/holds/{hold}")).await;
    let for_session = json!({"verdict": "approve", "scope": "session"});
    assert_eq!(world.answer("bob", &shown, for_session).await.0, 200);
    world.until_over("bob", &text(&shown, "session")).await;
    let edited = world.chat("bob", 6, &user("c2", "m1", "call wipe  {}")).await;
    assert!(edited.has("tool-approval-request"), "it is asked anew: {}", edited.text);
    assert_eq!(world.wiped(), 1);
}

/// A message that only waits its turn is exchanged for another; what it waits for stays as it is.
#[tokio::test]
async fn an_edit_of_a_message_that_waits_leaves_the_open_question_alone() {
    let world = opened(None).await;
    let asked = world.chat("bob", 6, &user("c1", "m1", "call wipe {}")).await;
    let waits = world.chat("bob", 6, &user("c1", "m2", "First words")).await;
    assert_eq!(waits.one("tool-approval-request"), asked.one("tool-approval-request"));
    let edited = world.chat("bob", 6, &user("c1", "m2", "Second words")).await;
    assert_eq!(edited.one("tool-approval-request"), asked.one("tool-approval-request"));
    // Answered from the message that was shown last, and its own answer follows.
    let mut body = assistant("c1", json!([answered(&edited, true)]));
    let id = edited.one("start")["messageId"].clone();
    (body["messageId"], body["messages"][0]["id"]) = (id.clone(), id);
    let done = world.chat("bob", 6, &body).await;
    assert_eq!(done.one("tool-output-available")["output"], "wiped 1", "{}", done.text);
    let words = done.words();
    assert!(words.contains("Second words") && !words.contains("First words"), "{}", done.text);
    assert_eq!(world.wiped(), 1);
}

/// A branch has the words of what came before, without secrets and without any right.
#[tokio::test]
async fn i45_a_branch_shows_no_secret_of_an_earlier_call() {
    let world = opened(None).await;
    let say = r#"call connect {"host": "db", "password": "hunter2"}"#;
    let asked = world.chat("bob", 6, &user("c1", "m1", say)).await;
    let no = world.chat("bob", 6, &assistant("c1", json!([answered(&asked, false)]))).await;
    assert!(no.has("tool-output-denied"), "{}", no.text);
    world.chat("bob", 6, &user("c1", "m2", "One")).await;
    world.chat("bob", 6, &user("c1", "m2", "Two")).await;
    let (status, messages) = world.get("bob", "/api/chat/c1/messages").await;
    assert_eq!(status, 200, "{messages}");
    let assistants: Vec<&Value> = messages
        .as_array()
        .expect("a list")
        .iter()
        .filter(|message| message["role"] == "assistant")
        .collect();
    let shown = format!("{assistants:?}");
    assert!(shown.contains("\"db\"") && !shown.contains("hunter2"), "{messages:#}");
}
