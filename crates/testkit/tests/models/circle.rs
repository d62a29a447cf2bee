//! One whole conversation: text, two calls at once, a question, a crash, an answer, a last word.

use serde_json::{Value, json};
use testkit::fake_model::{Api, Block, Call, Turn};
use testkit::served::{results, words};

use crate::models::{Stage, note, nothing, on_each_api};

on_each_api!(
    a_conversation_goes_on_after_a_crash_in_a_held_turn,
    thoughts_go_back_as_they_came,
    names_that_no_api_takes_are_mapped_and_mapped_back,
    a_turn_in_many_small_pieces_is_one_turn,
);

fn two() -> Turn {
    let calls = [
        Call::new("look", note("the shelf")).id("c_look"),
        Call::new("witness", note("Grüße, 世界 🙂")).id("c_note"),
    ];
    Turn::calls(calls).first(Block::Text { text: "I look, and leave a note.".into() })
}

async fn a_conversation_goes_on_after_a_crash_in_a_held_turn(api: Api) {
    let last = Turn::text("told: {result}").after(2);
    let more = Turn::text("You are welcome.").says("thanks");
    let mut stage = Stage::set(api, vec![two().says("go"), last, more]).await;
    let session = stage.said("go").await;
    let hold = stage.ana.held(&session, 1).await.remove(0);
    assert_eq!(hold["call"]["tool"], "witness");
    assert_eq!(hold["call"]["tool_use_id"], "c_note");
    assert_eq!(hold["call"]["arguments"], note("Grüße, 世界 🙂"));
    stage.crash().await;
    assert_eq!(stage.ana.held(&session, 1).await, std::slice::from_ref(&hold));
    assert_eq!(stage.inputs(), nothing());
    stage.ana.approve(&hold).await;

    let read = stage.completed(&session).await;
    assert_eq!(stage.inputs(), [note("Grüße, 世界 🙂")]);
    let told = results(&read);
    assert_eq!(told[0].1, format!("looked: {}", note("the shelf")));
    let said = words(&read, "assistant");
    assert_eq!(said[0], "I look, and leave a note.");
    assert_eq!(said[1], format!("told: {} | {}", told[0].1, told[1].1));
    assert_eq!(stage.fake.asked().len(), 2, "the model is asked once when all results are there");
    // And the conversation goes on, over another crash.
    stage.crash().await;
    stage.ana.say(&session, "thanks").await;
    let read = stage.completed(&session).await;
    assert_eq!(words(&read, "assistant").pop().as_deref(), Some("You are welcome."));
    assert_eq!(stage.fake.asked().len(), 3);
}

async fn thoughts_go_back_as_they_came(api: Api) {
    let thought = "They want a note.\n\tÜber \"quotes\", <tags> & 世界 🙂";
    let thinking = || Block::Thinking { text: thought.into() };
    let first = two().first(Block::RedactedThinking { text: "hidden".into() }).first(thinking());
    // A second round of the same run, so that both turns go back together.
    let again = Turn::calls([Call::new("look", note("again")).id("c_again")]).first(thinking());
    let turns = vec![first.says("go"), again.after(2), Turn::text("done").after(1)];
    let mut stage = Stage::set_thinking(api, turns).await;
    let session = stage.said("go").await;
    let hold = stage.ana.held(&session, 1).await.remove(0);
    stage.crash().await;
    stage.ana.approve(&hold).await;
    // The fake would have refused thoughts that are missing or changed by one bit.
    let read = stage.completed(&session).await;
    assert_eq!(words(&read, "assistant").pop().as_deref(), Some("done"));
    let bodies: Vec<Value> = stage.fake.asked().iter().map(|request| request.json()).collect();
    assert_eq!(bodies.len(), 3);
    let count = |body: &Value| body.to_string().matches("They want a note.").count();
    if api != Api::Chat {
        assert_eq!(count(&bodies[1]), 1, "{:#}", bodies[1]);
        assert_eq!(count(&bodies[2]), 2, "{:#}", bodies[2]);
    }
}

async fn names_that_no_api_takes_are_mapped_and_mapped_back(api: Api) {
    let stage = Stage::set(api, vec![Turn::text("hello")]).await;
    let session = stage.said("first").await;
    stage.completed(&session).await;
    // What the tool is called on this wire; the fake takes only names that the API takes.
    let body = stage.fake.asked()[0].json();
    let offered = body["tools"].as_array().expect("tools").iter().map(|tool| {
        let name = if api == Api::Chat { &tool["function"]["name"] } else { &tool["name"] };
        name.as_str().expect("a name").to_owned()
    });
    let offered: Vec<String> = offered.collect();
    let mapped = offered.iter().find(|name| name.starts_with("shop")).expect("the tool").clone();
    assert_ne!(mapped, "shop.note");
    assert!(offered.contains(&"look".to_owned()), "what is fine stays as it is: {offered:?}");

    let turns = [
        Turn::calls([Call::new(&mapped, note("mapped"))]).says("again"),
        Turn::text("told: {result}").after(1),
    ];
    stage.fake.play(testkit::fake_model::Script::new(turns));
    stage.ana.say(&session, "again").await;
    let hold = stage.ana.held(&session, 1).await.remove(0);
    assert_eq!(hold["call"]["tool"], "shop.note");
    stage.ana.approve(&hold).await;
    stage.completed(&session).await;
    assert_eq!(stage.inputs(), [note("mapped")]);
}

async fn a_turn_in_many_small_pieces_is_one_turn(api: Api) {
    use testkit::fake_model::Manner;
    let tiny =
        Manner { fragment: 1, chunk: Some(1), interleave: true, ping: true, ..Manner::default() };
    let calls = || {
        let escaped = Call { escaped: true, ..Call::new("witness", note("ü🙂")).id("a") };
        [escaped, Call::new("witness", note("plain")).id("b")]
    };
    let crlf = Manner { fragment: 3, chunk: Some(7), crlf: true, drip_ms: 1, ..Manner::default() };
    let turns = vec![
        Turn::calls(calls()).says("tiny").manner(tiny),
        Turn::calls(calls()).says("crlf").manner(crlf),
        Turn::text("ok").after(2),
    ];
    let stage = Stage::set(api, turns).await;
    for say in ["tiny", "crlf"] {
        let session = stage.said(say).await;
        let holds = stage.ana.held(&session, 2).await;
        let asked: Vec<&Value> = holds.iter().map(|hold| &hold["call"]["arguments"]).collect();
        assert_eq!(asked, [&note("ü🙂"), &note("plain")]);
        for hold in &holds {
            stage.ana.answer(hold, json!({"verdict": "deny"})).await.must(200);
        }
        stage.completed(&session).await;
    }
    assert_eq!(stage.inputs(), nothing());
}
