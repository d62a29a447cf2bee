//! Whatever became of a call, the model is told, and whoever spoke meanwhile comes after that.

use serde_json::{Value, json};
use testkit::fake_model::{Api, Call, Turn};
use testkit::served::words;

use crate::models::{Stage, note, on_each_api};

on_each_api!(
    a_message_during_a_hold_comes_after_the_results,
    denial_expiry_and_an_unknown_outcome_are_error_results,
    a_message_that_supersedes_leaves_no_call_without_a_result,
);

fn call(tool: &str, text: &str) -> Turn {
    Turn::calls([Call::new(tool, note(text)).id(&format!("c_{text}"))]).says(text)
}

async fn a_message_during_a_hold_comes_after_the_results(api: Api) {
    let turns = vec![
        call("witness", "first"),
        Turn::text("noted").after(1),
        Turn::text("Here I am.").says("are you there"),
    ];
    let mut stage = Stage::set(api, turns).await;
    let session = stage.said("first").await;
    let hold = stage.ana.held(&session, 1).await.remove(0);
    let run = stage.ana.say(&session, "are you there? approve").await;
    stage.crash().await;
    assert_eq!(stage.fake.asked().len(), 1, "nothing is sent while a call is open");
    stage.ana.approve(&hold).await;
    let over = |read: &Value| read["run"]["id"] == *run && read["run"]["status"] == "completed";
    let read = stage.ana.until(&session, "the second run", over).await;
    stage.sound(&read);
    assert_eq!(words(&read, "assistant").pop().as_deref(), Some("Here I am."));
    // In the order of the wire: the result first, then what was said meanwhile.
    let body = String::from_utf8(stage.fake.asked().pop().expect("a request").body.to_vec());
    let body = body.expect("text");
    let result = body.find("did call_").expect("the result");
    let message = body.find("are you there? approve").expect("the message");
    assert!(result < message, "{body}");
}

async fn denial_expiry_and_an_unknown_outcome_are_error_results(api: Api) {
    let turns = vec![
        call("witness", "denied"),
        call("witness", "soon"),
        call("slow", "doubt"),
        Turn::text("told: {result}").after(1),
    ];
    let mut stage = Stage::set(api, turns).await;
    let session = stage.said("denied").await;
    let hold = stage.ana.held(&session, 1).await.remove(0);
    let no = json!({"verdict": "deny", "reason": "not today"});
    stage.ana.answer(&hold, no).await.must(200);
    stage.completed(&session).await;

    stage.ana.say(&session, "soon").await;
    let hold = stage.ana.held(&session, 1).await.remove(0);
    stage.completed(&session).await;
    assert_eq!(stage.ana.hold(&hold["id"]).await["state"], "expired");

    stage.ana.say(&session, "doubt").await;
    let hold = stage.ana.held(&session, 1).await.remove(0);
    stage.ana.approve(&hold).await;
    let until = tokio::time::Instant::now() + testkit::served::PATIENCE;
    while stage.inputs().is_empty() {
        assert!(tokio::time::Instant::now() < until, "the effect is waited for");
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    stage.crash().await;
    let settle = stage.ana.held(&session, 1).await.remove(0);
    assert_eq!(settle["kind"], "settle");
    let lost = json!({"settle": "failed", "content": "nobody knows; the note is there"});
    stage.ana.answer(&settle, lost).await.must(200);
    stage.completed(&session).await;

    let told = stage.told();
    let wanted = [
        ("c_denied", "Denied by Ana: not today"),
        ("c_soon", "xpired"),
        ("c_doubt", "nobody knows; the note is there"),
    ];
    assert_eq!(told.len(), wanted.len(), "{told:?}");
    for ((id, text, is_error), (wanted, part)) in told.iter().zip(wanted) {
        assert_eq!(id, wanted);
        assert!(text.contains(part), "{text}");
        assert_ne!(*is_error, Some(false), "{text}");
    }
    assert_eq!(stage.inputs(), [note("doubt")], "nothing else ran, and this once");
}

async fn a_message_that_supersedes_leaves_no_call_without_a_result(api: Api) {
    let three = ["one", "two", "three"].map(|text| Call::new("witness", note(text)));
    let turns = vec![Turn::calls(three).says("three"), Turn::text("Hello.").after(3)];
    let stage = Stage::set(api, turns).await;
    let session = stage.said("three").await;
    stage.ana.held(&session, 3).await;
    let path = format!("/v1/sessions/{session}/messages");
    let body = json!({"text": "forget it", "while_pending": "supersede"});
    stage.ana.post(&path, &body).await.must(202);
    stage.completed(&session).await;
    let told = stage.told();
    assert!(
        told.len() == 3 && told.iter().all(|(_, text, _)| text.contains("uperseded")),
        "{told:?}"
    );
}
