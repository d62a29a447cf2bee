//! What is sent to a model follows from the journal alone.

use serde_json::json;
use testkit::fake_model::{Api, Block, Call, Script, Then, Turn};

use crate::models::{Stage, note, on_each_api};

on_each_api!(i26_requests_are_byte_for_byte_the_same_after_crashes);

fn turns() -> Vec<Turn> {
    let look = |text: &str, id: &str| Call::new("look", note(text)).id(id);
    let held = |text: &str, id: &str| look(&format!("{text}!"), id);
    let first = Turn::calls([look("a", "c_a"), held("b", "c_b"), held("c", "c_c")]);
    let first = first
        .first(Block::Text { text: "First \"this\", then that.".into() })
        .first(Block::Thinking { text: "Hm, ünïcode 🙂".into() });
    vec![
        first.says("go"),
        Turn::calls([held("d", "c_d")]).after(3),
        Turn::text("done: {result}").after(1),
        Turn::text("bye").says("more"),
    ]
}

/// The same conversation, with or without crashes, and what was sent.
async fn conversation(api: Api, crashes: bool) -> Vec<Vec<u8>> {
    let mut stage = Stage::set_thinking(api, turns()).await;
    let session = stage.ana.session("worker").await;
    if crashes {
        // Killed in the middle of a turn, of which nothing may be left.
        stage.fake.play(Script::new([Turn::text("never whole").then(40, Then::Stall)]));
        stage.ana.say(&session, "go").await;
        stage.asked(1).await;
        stage.served.kill().await;
        stage.fake.play(Script::new(turns()));
        stage.served.up().await;
    } else {
        stage.ana.say(&session, "go").await;
    }
    let holds = stage.ana.held(&session, 2).await;
    if crashes {
        stage.crash().await;
    }
    let no = json!({"verdict": "deny", "reason": "not \"this\""});
    stage.ana.answer(&holds[1], no).await.must(200);
    if crashes {
        stage.crash().await;
    }
    stage.ana.approve(&holds[0]).await;
    let third = stage.ana.held(&session, 1).await.remove(0);
    if crashes {
        stage.crash().await;
    }
    stage.ana.approve(&third).await;
    stage.completed(&session).await;
    if crashes {
        stage.crash().await;
    }
    stage.ana.say(&session, "more").await;
    stage.completed(&session).await;
    stage.fake.asked().into_iter().map(|request| request.body.to_vec()).collect()
}

async fn i26_requests_are_byte_for_byte_the_same_after_crashes(api: Api) {
    let calm = conversation(api, false).await;
    let mut stormy = conversation(api, true).await;
    assert_eq!(calm.len(), 4);
    assert_eq!(stormy.len(), 5, "one turn was asked for twice");
    assert_eq!(stormy[0], stormy[1], "and in the same words");
    stormy.remove(0);
    for (at, (calm, stormy)) in calm.iter().zip(&stormy).enumerate() {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        assert_eq!(text(calm), text(stormy), "request {at}");
        assert_eq!(calm, stormy);
    }
}
