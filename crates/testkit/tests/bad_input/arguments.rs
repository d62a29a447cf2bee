//! Calls that a model should not have made: refused when proposed, and the model is told what to do
//! instead. Nobody is asked about them, and the conversation goes on.

use serde_json::Value;
use testkit::served::{Served, results, unsound, words};

use crate::bad_input::{CONFIG, SCRIPT};

/// Says one sentence for each call, and checks what the model got for it.
async fn refused(calls: &[(&str, String, &str)]) {
    let turns = calls.iter().enumerate().map(|(number, (tool, raw, _))| {
        // A JSON text is a TOML text for everything that stands here.
        let raw = Value::String(raw.clone());
        let calls = format!("calls = [{{ tool = \"{tool}\", raw = {raw} }}]");
        format!("[[turn]]\nwhen = {{ says = \"case {number}\" }}\n{calls}\n")
    });
    let script: String = turns.chain([SCRIPT.to_owned()]).collect();
    let served = Served::start(CONFIG, &script).await;
    let ana = served.admin();
    let session = ana.session("worker").await;
    for (number, (tool, raw, says)) in calls.iter().enumerate() {
        let shown: String = raw.chars().take(60).collect();
        ana.say(&session, &format!("case {number}")).await;
        let read = ana.until(&session, "an end", |read| ended(read, number + 1)).await;
        assert_eq!(read["run"]["status"], "completed", "{tool} {shown}: {}", read["run"]);
        let (_, output, is_error) = results(&read).pop().expect("a result");
        assert!(is_error && output.contains(says), "{tool} {shown}: {output}");
        // It was told, and could say so.
        assert_eq!(words(&read, "assistant").pop(), Some(format!("told: {output}")));
        assert_eq!(unsound(&read), Vec::<String>::new());
    }
    let holds = ana.get("/v1/holds").await.must(200);
    assert_eq!(holds["items"].as_array().map(Vec::len), Some(0), "{holds:#}");
    assert_eq!(served.witness().lines(), Ok(Vec::new()));
    // A sound call is still asked about, in the same session.
    ana.say(&session, "note well").await;
    let hold = ana.held(&session, 1).await.remove(0);
    ana.approve(&hold).await;
    let read = ana.run_is(&session, "completed").await;
    assert_eq!(unsound(&read), Vec::<String>::new());
    assert_eq!(served.witness().lines().map(|lines| lines.len()), Ok(1));
}

fn ended(session: &Value, results_wanted: usize) -> bool {
    let status = session["run"]["status"].as_str().unwrap_or_default();
    results(session).len() >= results_wanted && !matches!(status, "running")
        || matches!(status, "failed" | "paused")
}

#[tokio::test]
async fn arguments_that_two_readers_could_read_differently() {
    refused(&[
        ("witness", r#"{"note":"a","note":"b"}"#.into(), "the key `note` stands twice"),
        ("witness", r#"{"note":"a","n\u006fte":"b"}"#.into(), "the key `note` stands twice"),
        ("witness", r#"{"note":"a\u0000b"}"#.into(), "NUL"),
        ("witness", r#"{"note":"\ud83d"}"#.into(), "surrogate"),
        ("witness", r#"{"note":"\ude00\ud83d"}"#.into(), "surrogate"),
        ("witness", r#"{"note":1e400}"#.into(), "a number"),
    ])
    .await;
}

#[tokio::test]
async fn arguments_that_are_too_deep_or_too_long() {
    let deep = |levels: usize| {
        format!(r#"{{"note":{}1{}}}"#, "[".repeat(levels - 1), "]".repeat(levels - 1))
    };
    let long = |bytes: usize| format!(r#"{{"note":"{}"}}"#, "x".repeat(bytes));
    refused(&[
        ("witness", deep(65), "nested deeper than 64"),
        // One level less is only the wrong type.
        ("witness", deep(64), "schema"),
        ("witness", deep(50_000), "nested deeper than 64"),
        ("witness", long(1 << 20), "at most 1048576"),
    ])
    .await;
}

#[tokio::test]
async fn arguments_that_are_no_object_or_do_not_fit_the_schema() {
    refused(&[
        ("witness", String::new(), "not JSON"),
        ("witness", r#"{"note": "a"#.into(), "not JSON (line 1"),
        ("witness", r#"{"note":"a"} {"note":"b"}"#.into(), "not JSON"),
        ("witness", r#"["a"]"#.into(), "must be a JSON object"),
        ("witness", "{}".into(), "note"),
        ("witness", r#"{"note":7}"#.into(), "string"),
        ("witness", r#"{"note":"a","approved":true}"#.into(), "approved"),
    ])
    .await;
}

#[tokio::test]
async fn tools_that_are_not_there() {
    refused(&[
        (
            "wittness",
            r#"{"note":"a"}"#.into(),
            "There is no tool `wittness`. The tools are: witness",
        ),
        ("holdpoint.approve", "{}".into(), "There is no tool `holdpoint.approve`"),
        ("sh\u{202e}", "{}".into(), "There is no tool"),
    ])
    .await;
}

#[tokio::test]
async fn questions_whose_options_are_empty_or_stand_twice() {
    let ask = |options: &str| format!(r#"{{"prompt":"Which?","options":{options}}}"#);
    refused(&[
        ("human_intervention.request", ask(r#"["red","red"]"#), "option"),
        ("human_intervention.request", ask(r#"["red",""]"#), "option"),
        ("human_intervention.request", ask(r#""red""#), "schema"),
    ])
    .await;
}
