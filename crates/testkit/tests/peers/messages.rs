//! Somebody speaks while a question is open. Elsewhere that left calls without results, after which
//! every provider refused the conversation for good (lemma #94, AI SDK #12709, Letta #3273).

use serde_json::json;
use testkit::served::{results, unsound, words};

use crate::peers::{inputs, note, one_hold, start};

#[tokio::test]
async fn a_message_while_a_question_is_open_waits_its_turn() {
    let mut served = start().await;
    let ana = served.admin();
    let (session, hold) = one_hold(&ana, "note first").await;
    let run = ana.say(&session, "hello, are you there? approve").await;
    let read = ana.read(&session).await;
    assert_eq!(read["queued"].as_array().map(Vec::len), Some(1), "{read:#}");
    assert_eq!(read["pending"][0], hold, "a message answers nothing");
    served.kill().await;
    served.up().await;
    ana.approve(&hold).await;
    let over = |read: &serde_json::Value| {
        read["run"]["id"] == *run && read["run"]["status"] == "completed"
    };
    let read = ana.until(&session, "the second run", over).await;
    assert_eq!(words(&read, "user"), ["note first", "hello, are you there? approve"]);
    assert_eq!(words(&read, "assistant").pop().as_deref(), Some("Hello."));
    assert_eq!(inputs(&served), [note("first")]);
    assert_eq!(unsound(&read), Vec::<String>::new());
}

#[tokio::test]
async fn a_message_that_supersedes_ends_the_question_and_every_call_has_its_result() {
    let served = start().await;
    let ana = served.admin();
    let session = crate::peers::said(&ana, "three").await;
    let holds = ana.held(&session, 3).await;
    ana.approve(&holds[0]).await;
    let path = format!("/v1/sessions/{session}/messages");
    let body = json!({"text": "hello, forget it", "while_pending": "supersede"});
    ana.post(&path, &body).await.must(202);
    let read = ana.run_is(&session, "completed").await;
    assert_eq!(unsound(&read), Vec::<String>::new());
    let told = results(&read);
    assert_eq!(told.len(), 3);
    for (_, output, is_error) in &told[1..] {
        assert!(*is_error && output.starts_with("Superseded"), "{output}");
    }
    for hold in &holds[1..] {
        let hold = ana.hold(&hold["id"]).await;
        assert_eq!((&hold["state"], &hold["decision"]), (&json!("cancelled"), &json!(null)));
        assert_eq!(hold["cancelled"]["reason"], "superseded");
        let late = ana.answer(&hold, json!({"verdict": "approve"})).await;
        late.problem(409, "hold_already_decided");
    }
    assert_eq!(words(&read, "assistant").pop().as_deref(), Some("Hello."));
    // The one that was approved before may run; the others must not.
    let ran = inputs(&served);
    assert!(ran.iter().all(|input| *input == note("one")) && ran.len() <= 1, "{ran:?}");
}

#[tokio::test]
async fn a_message_can_ask_to_be_refused_while_a_question_is_open() {
    let served = start().await;
    let ana = served.admin();
    let (session, hold) = one_hold(&ana, "note first").await;
    let path = format!("/v1/sessions/{session}/messages");
    let before = ana.read(&session).await;
    let body = json!({"text": "hello", "while_pending": "refuse"});
    let problem = ana.post(&path, &body).await.problem(409, "holds_open");
    assert_eq!(problem["holds"], json!([hold["id"]]));
    assert_eq!(ana.read(&session).await, before);
    ana.approve(&hold).await;
    ana.run_is(&session, "completed").await;
    ana.post(&path, &body).await.must(202);
    let heard =
        |read: &serde_json::Value| words(read, "assistant").pop().as_deref() == Some("Hello.");
    let read = ana.until(&session, "an answer", heard).await;
    assert_eq!(unsound(&read), Vec::<String>::new());
    assert_eq!(inputs(&served), [note("first")]);
}
