//! The journal is the truth: replaying it gives the same state and the same requests.

use domain::event::Event;
use domain::id::StreamId;
use domain::session::Session;
use ports::model::ModelError;
use serde_json::json;

use crate::world::{World, approve, deny, status};

#[tokio::test]
async fn i26_replay_from_the_journal_gives_byte_identical_model_requests() {
    let world = World::memory().await;
    let session = world.session().await;
    world.model.will("first", &[("wipe", json!({"n": 1})), ("look", json!({}))]);
    world.model.will("second", &[("deploy", json!({"p": 1}))]);
    world.say(session, "go").await;
    let hold = world
        .until(session, "held", |s| s.open_holds().count() == 1)
        .await
        .open_holds()
        .next()
        .unwrap()
        .clone();
    world.say(session, "and another thing").await;
    world.answer(&world.ana, &hold, approve()).await.unwrap();
    let paused = world.until(session, "asked twice", |s| s.holds.len() == 2).await;
    let hold = paused.open_holds().next().unwrap().clone();
    world.answer(&world.ana, &hold, deny()).await.unwrap();
    world
        .until(session, "all said", |s| {
            s.queue.is_empty() && status(s).is_some_and(|s| s.is_over())
        })
        .await;
    let live = world.get(session).await;

    let agent = world.engine.agent("ops").unwrap();
    let tools = agent.tools.iter().map(|name| world.engine.tool(name).unwrap());
    let offered: Vec<_> = tools.map(|tool| agent::tool_offer(&tool)).collect();
    let mut replayed = Session::begin(session);
    let mut requests = Vec::new();
    for entry in world.engine.store().load(StreamId::Session(session)).await.unwrap() {
        for event in entry.events.iter().filter_map(Event::session_event) {
            replayed.apply(event, entry.at);
        }
        // A request was made wherever a commit left a thought owed.
        if replayed.needs_model_call() {
            let request = agent::transcript::build_request(
                &replayed,
                agent.instructions.as_deref(),
                &offered,
            );
            let text = agent::transcript::canonical_text(&request);
            if requests.last() != Some(&text) {
                requests.push(text);
            }
        }
    }
    assert_eq!(replayed, *live, "i42: the fold of the journal is the state");
    let heard: Vec<String> =
        world.model.heard().iter().map(agent::transcript::canonical_text).collect();
    assert_eq!(requests, heard);
}

#[tokio::test]
async fn i23_a_turn_that_failed_leaves_nothing_behind_and_can_be_retried() {
    let world = World::memory().await;
    let session = world.session().await;
    world.model.will_fail(ModelError::Malformed("cut off in the middle of a call".into()));
    world.say(session, "x").await;
    let failed = world.over(session).await;
    let run = failed.run.clone().unwrap();
    assert_eq!(run.status().name(), "failed");
    assert!(run.error().unwrap().contains("retry"), "{:?}", run.error());
    assert!(failed.holds.is_empty() && failed.transcript.len() == 1);
    world.engine.retry_run(&world.ana, run.id).await.unwrap();
    let over = world.until(session, "done", |s| s.transcript.len() == 2).await;
    assert_eq!(status(&over).unwrap().name(), "completed");
}
