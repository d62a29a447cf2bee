//! Models that refuse, are busy, lie or talk without end. The run says what to do, and can be retried.

use std::time::Duration;

use serde_json::json;
use testkit::fake_model::{Api, Block, Call, Manner, Script, Stop, Then, Turn};
use testkit::served::words;

use crate::models::{Stage, note, nothing, on_each_api};

on_each_api!(
    a_wrong_key_fails_the_run_and_a_right_one_lets_it_go_on,
    an_unknown_model_is_named,
    a_busy_model_is_asked_again_when_it_said,
    a_model_that_stays_busy_fails_the_run,
    garbage_fails_the_run,
    an_error_in_the_middle_of_a_stream_fails_the_run,
    arguments_without_end_are_not_waited_for,
    a_call_that_the_token_limit_cut_off_never_runs,
    arguments_that_are_no_json_are_told_to_the_model,
);

fn fine() -> Script {
    Script::new([Turn::text("All well.")])
}

/// The same run goes on and ends well.
async fn goes_on(stage: &Stage, session: &str) {
    stage.fake.play(fine());
    stage.retry(session).await;
    let read = stage.completed(session).await;
    assert_eq!(words(&read, "assistant"), ["All well."], "nothing is left of what failed");
    assert_eq!(stage.inputs(), nothing());
}

async fn a_wrong_key_fails_the_run_and_a_right_one_lets_it_go_on(api: Api) {
    let stage = Stage::set(api, Vec::new()).await;
    stage.fake.play(Script { key: "another".into(), ..fine() });
    let session = stage.said("go").await;
    let error = stage.failed(&session).await;
    assert!(error.contains("key") && error.contains("401"), "{error}");
    assert!(!error.contains(testkit::fake_model::KEY), "{error}");
    assert_eq!(stage.fake.asked().len(), 1, "asking again would not help");
    goes_on(&stage, &session).await;
}

async fn an_unknown_model_is_named(api: Api) {
    let stage = Stage::set_with(api, "model = \"no-such\"", Vec::new()).await;
    let session = stage.said("go").await;
    let error = stage.failed(&session).await;
    assert!(error.contains("no-such"), "{error}");
    assert_eq!(stage.fake.asked().len(), 1);
    stage.fake.play(Script { models: vec!["no-such".into()], ..fine() });
    stage.retry(&session).await;
    stage.completed(&session).await;
}

async fn a_busy_model_is_asked_again_when_it_said(api: Api) {
    let turns = vec![
        Turn::fail(429).retry_after("2").times(1),
        Turn::fail(529).times(1),
        Turn::text("never whole").then(250, Then::Cut).times(1),
        Turn::text("At last."),
    ];
    let stage = Stage::set_with(api, "retries = 3", turns).await;
    let session = stage.said("go").await;
    let read = stage.completed(&session).await;
    assert_eq!(words(&read, "assistant"), ["At last."]);
    let asked = stage.fake.asked();
    assert_eq!(asked.len(), 4);
    assert!(asked[1].at - asked[0].at >= Duration::from_secs(2), "{:?}", asked[1].at - asked[0].at);
    assert!(
        asked.iter().all(|request| request.body == asked[0].body),
        "the same request each time"
    );
}

async fn a_model_that_stays_busy_fails_the_run(api: Api) {
    let stage = Stage::set_with(api, "retries = 1", vec![Turn::fail(529)]).await;
    let session = stage.said("go").await;
    let error = stage.failed(&session).await;
    assert!(error.contains("529"), "{error}");
    assert_eq!(stage.fake.asked().len(), 2);
    goes_on(&stage, &session).await;
    stage.fake.play(Script::new([Turn::fail(429).retry_after("1")]));
    stage.ana.say(&session, "more").await;
    let error = stage.failed(&session).await;
    assert!(error.contains("429"), "{error}");
}

async fn garbage_fails_the_run(api: Api) {
    let stage = Stage::set(api, Vec::new()).await;
    for junk in ["data: {not json\n\n", "data: [1, 2\n\n", "data: \"\u{0}\u{fffd}\n\n"] {
        let turn = Turn::calls([Call::new("witness", note("x"))]);
        stage.fake.play(Script::new([turn.then(150, Then::Garbage(junk.into()))]));
        let session = stage.said("go").await;
        let error = stage.failed(&session).await;
        assert!(error.contains("makes no sense"), "{junk:?}: {error}");
        goes_on(&stage, &session).await;
    }
}

async fn an_error_in_the_middle_of_a_stream_fails_the_run(api: Api) {
    let stage = Stage::set(api, Vec::new()).await;
    for status in [529, 500, 429, 400] {
        let then = Then::Error { status, message: "Sorry for that.".into() };
        let turn = Turn::calls([Call::new("witness", note("x"))]);
        stage.fake.play(Script::new([turn.then(150, then)]));
        let session = stage.said("go").await;
        let error = stage.failed(&session).await;
        assert!(error.contains("Sorry for that."), "{status}: {error}");
        goes_on(&stage, &session).await;
    }
}

async fn arguments_without_end_are_not_waited_for(api: Api) {
    let stage = Stage::set(api, Vec::new()).await;
    let huge = Call { name: "witness".into(), huge: Some(200 << 20), ..Call::default() };
    let manner = Manner { fragment: 64 << 10, ..Manner::default() };
    stage.fake.play(Script::new([Turn::calls([huge]).manner(manner)]));
    let session = stage.said("go").await;
    let error = stage.failed(&session).await;
    assert!(error.contains("retry"), "{error}");
    let memory = std::fs::read_to_string(format!("/proc/{}/status", stage.served.id()));
    let memory = memory.expect("a process that lives");
    let peak = memory.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("a peak");
    let peak: u64 = peak.trim().trim_end_matches(" kB").parse().expect("a number");
    assert!(peak < 160 << 10, "200 MB are not kept to find out that they are too many: {peak} kB");
    goes_on(&stage, &session).await;
}

async fn a_call_that_the_token_limit_cut_off_never_runs(api: Api) {
    // What is left is sound JSON, and so all the more dangerous.
    let cut = Call {
        raw: Some("{\"note\":\"rm\"}".into()),
        keep: Some(13),
        ..Call::new("look", json!({}))
    };
    let whole = Call::new("witness", note("whole"));
    let turn = Turn::calls([whole, cut]).stop(Stop::MaxTokens);
    let turn = turn.first(Block::Text { text: "I begin".into() });
    let stage = Stage::set(api, vec![turn]).await;
    let session = stage.said("go").await;
    // Not even the call that was whole: whoever answered it would answer half a turn.
    let error = stage.failed(&session).await;
    assert!(error.contains("max_tokens"), "it says what to change: {error}");
    goes_on(&stage, &session).await;
}

async fn arguments_that_are_no_json_are_told_to_the_model(api: Api) {
    let bad =
        Call { raw: Some("{\"note\": ".into()), ..Call::new("witness", json!({})).id("c_bad") };
    let turns = vec![Turn::calls([bad]).says("go"), Turn::text("told: {result}").after(1)];
    let stage = Stage::set(api, turns).await;
    let session = stage.said("go").await;
    let over = |read: &serde_json::Value| {
        matches!(read["run"]["status"].as_str(), Some("completed" | "failed"))
    };
    let read = stage.ana.until(&session, "an end", over).await;
    assert_eq!(read["pending"], json!([]), "nobody is asked about it");
    stage.sound(&read);
    if read["run"]["status"] == "failed" {
        goes_on(&stage, &session).await;
    }
    assert_eq!(stage.inputs(), nothing());
}
