//! The model's stream is cut at every byte of a turn with calls: nothing of half a turn is left, and
//! the run can be retried to its end.

use std::collections::BTreeSet;
use std::sync::Arc;

use engine::{SystemClock, SystemRng};
use holdpoint::config::Config;
use ports::model::{Model, ModelMessage, ModelRequest, ModelTurn};
use serde_json::{Value, json};
use testkit::fake_model::{Api, Block, Call, FakeModel, Manner, Script, Then, Turn};
use testkit::served::{Caller, results, unsound, words};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::models::{Stage, note, nothing, on_each_api};

on_each_api!(
    i23_a_stream_cut_at_every_byte_is_no_turn,
    i23_a_cut_stream_leaves_nothing_behind_and_the_run_goes_on,
);

/// Sessions at once: enough that the server is never idle, few enough for two processors.
const AT_ONCE: usize = 24;
/// Cuts of the whole program, besides those at the ends of frames.
const CUTS: usize = 120;

fn turn() -> Turn {
    let calls =
        [Call::new("witness", note("a")).id("c_a"), Call::new("witness", note("b")).id("c_b")];
    let manner = Manner { fragment: 6, ..Manner::default() };
    Turn::calls(calls).first(Block::Text { text: "Two.".into() }).manner(manner)
}

/// The turn on this wire, and where the event that ends it is whole: behind that nothing is missing.
async fn wire(fake: &FakeModel) -> (String, usize) {
    let request = fake.asked().pop().expect("a request");
    let again = reqwest::Client::builder().no_proxy().build().expect("a client");
    let mut again = again.post(format!("{}{}", fake.url(), request.path));
    for (name, value) in &request.headers {
        if !["host", "content-length"].contains(&name.as_str()) {
            again = again.header(name, value);
        }
    }
    let whole = again.body(request.body.clone()).send().await.expect("a reply").text().await;
    let whole = whole.expect("the whole of it");
    let end = match request.api().expect("a request for a turn") {
        Api::Anthropic => "event: message_stop",
        // Usage and [DONE] come behind it.
        Api::Chat => "\"finish_reason\":\"tool_calls\"",
        Api::Responses => "event: response.completed",
    };
    let at = whole.rfind(end).expect("an end");
    let over = at + whole[at..].find("\n\n").expect("the end of a frame");
    (whole, over)
}

/// The model that the stage's server uses, here in our own process.
fn model(stage: &Stage) -> Arc<dyn Model> {
    let config = Config::load(&stage.served.path("holdpoint.toml")).expect("a configuration");
    let (clock, rng) = (SystemClock::new(None), SystemRng::default());
    config.models["fake"].open(Arc::new(clock), Arc::new(rng)).expect("a model")
}

async fn think(model: &Arc<dyn Model>) -> Result<ModelTurn, String> {
    let request = ModelRequest {
        system: None,
        messages: vec![ModelMessage::User { text: "go".into() }],
        tools: Vec::new().into(),
    };
    let thought = model.think(&request, Arc::new(|_| {}), CancellationToken::new()).await;
    thought.map_err(|error| error.to_string())
}

async fn i23_a_stream_cut_at_every_byte_is_no_turn(api: Api) {
    let stage = Stage::set(api, vec![turn()]).await;
    let model = model(&stage);
    let whole = think(&model).await.expect("a turn");
    assert_eq!(whole.calls.len(), 2);
    let (bytes, over) = wire(&stage.fake).await;
    for at in 0..=bytes.len() {
        // Broken off, or ended as if all had been said, by turns.
        let then = if at % 2 == 0 { Then::Cut } else { Then::End };
        stage.fake.play(Script::new([turn().then(at, then)]));
        match think(&model).await {
            Ok(turn) => {
                assert!(at >= over, "{at} of {over} bytes were enough: {turn:?}");
                assert_eq!(turn.calls, whole.calls, "{at}");
            }
            Err(why) => assert!(at < bytes.len(), "{at} of {}: {why}", bytes.len()),
        }
    }
}

async fn i23_a_cut_stream_leaves_nothing_behind_and_the_run_goes_on(api: Api) {
    let stage = Stage::set(api, vec![turn().says("probe")]).await;
    let probe = stage.said("probe").await;
    stage.ana.held(&probe, 2).await;
    let (bytes, over) = wire(&stage.fake).await;
    let mut cuts: BTreeSet<usize> = (0..over).step_by(over / CUTS).collect();
    for (at, _) in bytes.match_indices("\n\n") {
        cuts.extend([at, at + 1, at + 2]);
    }
    cuts.retain(|at| *at < over);
    let mut turns = Vec::new();
    for at in &cuts {
        let then = if at % 2 == 0 { Then::Cut } else { Then::End };
        turns.push(turn().says(&format!("cut {at}.")).then(*at, then).times(1));
    }
    turns.push(turn().says("cut"));
    turns.push(Turn::text("told: {result}").after(2));
    stage.fake.play(Script::new(turns));
    let before = stage.fake.asked().len();

    let ana = Arc::new(stage.ana.clone());
    let mut running = JoinSet::new();
    for at in &cuts {
        if running.len() >= AT_ONCE {
            running.join_next().await.expect("a task").expect("it went well");
        }
        running.spawn(one(ana.clone(), *at));
    }
    while let Some(ended) = running.join_next().await {
        ended.expect("it went well");
    }
    assert_eq!(stage.fake.refused(), Vec::<String>::new());
    assert_eq!(stage.fake.asked().len() - before, 3 * cuts.len(), "cut, whole, the last word");
    assert_eq!(stage.inputs(), nothing());
}

async fn one(ana: Arc<Caller>, at: usize) {
    let session = ana.session("worker").await;
    ana.say(&session, &format!("cut {at}.")).await;
    let failed = ana.run_is(&session, "failed").await;
    assert_eq!(failed["pending"], json!([]), "{at}: a ghost");
    assert_eq!(words(&failed, "assistant"), Vec::<String>::new(), "{at}: an orphan");
    assert_eq!(results(&failed), [], "{at}");
    let run = failed["run"]["id"].as_str().expect("a run");
    ana.post(&format!("/v1/runs/{run}/retry"), &json!({})).await.must(200);
    let holds = ana.held(&session, 2).await;
    for hold in &holds {
        ana.answer(hold, json!({"verdict": "deny"})).await.must(200);
    }
    let read: Value = ana.run_is(&session, "completed").await;
    assert_eq!(unsound(&read), Vec::<String>::new(), "{at}");
    assert_eq!(results(&read).len(), 2, "{at}");
    assert_eq!(words(&read, "assistant").len(), 2, "{at}");
}
