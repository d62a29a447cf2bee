//! Three calls of one tool, two people, and a server that dies between their answers.

use serde_json::json;
use testkit::fake_model::{Api, Call, Turn};
use testkit::served::results;

use crate::models::{Stage, note, nothing, on_each_api};

on_each_api!(three_calls_answered_in_reverse_by_two_people_across_kills);

async fn three_calls_answered_in_reverse_by_two_people_across_kills(api: Api) {
    let call = |text: &str| Call::new("witness", note(text)).id(&format!("c_{text}"));
    let turns = vec![
        Turn::calls([call("one"), call("two"), call("three")]).says("three"),
        Turn::text("told: {result}").after(3),
    ];
    let mut stage = Stage::set(api, turns).await;
    let bob = stage.served.person("bob").await;
    let session = stage.said("three").await;
    let holds = stage.ana.held(&session, 3).await;

    bob.answer(&holds[2], json!({"verdict": "deny", "reason": "two are enough"})).await.must(200);
    stage.crash().await;
    let edited = json!({"verdict": "approve", "arguments": {"note": "TWO"}});
    stage.ana.answer(&holds[1], edited).await.must(200);
    stage.crash().await;
    assert_eq!(stage.inputs(), nothing(), "one of the turn is undecided");
    assert_eq!(stage.fake.asked().len(), 1, "the model waits for all three");
    bob.approve(&holds[0]).await;

    let read = stage.completed(&session).await;
    let mut ran = stage.inputs();
    ran.sort_by_key(|input| input["note"] == "TWO");
    assert_eq!(ran, [note("one"), note("TWO")], "each effect once, with the right arguments");
    // What the model was told on the wire, call by call.
    let told = stage.told();
    let ids: Vec<&str> = told.iter().map(|(id, ..)| id.as_str()).collect();
    assert_eq!(ids, ["c_one", "c_two", "c_three"]);
    let lines = stage.served.witness().lines().expect("a witness");
    let did = |text: &str| {
        let line = lines.iter().find(|line| line.input["note"] == text).expect("an effect");
        format!("did {}", line.key)
    };
    assert!(told[0].1.contains(&did("one")), "{told:?}");
    assert!(told[1].1.contains(&did("TWO")), "{told:?}");
    assert!(told[2].1.contains("Denied by Bob: two are enough"), "{told:?}");
    if api == Api::Anthropic {
        let errors: Vec<_> = told.iter().map(|(.., error)| *error).collect();
        assert_eq!(errors, [Some(false), Some(false), Some(true)]);
    }
    // The model's own call stays as it wrote it, and the result says what really ran.
    let last = stage.fake.asked().pop().expect("a request");
    let body = last.json().to_string().replace("\\\"", "\"");
    assert!(body.contains("\"note\":\"two\""), "{body}");
    assert_eq!(results(&read).len(), 3);
    assert_eq!(stage.fake.asked().len(), 2);
}
