//! Somebody stops a run while the model speaks.

use std::time::Duration;

use serde_json::json;
use testkit::fake_model::{Api, Call, Ended, Then, Turn};
use testkit::served::words;

use crate::models::{Stage, note, nothing, on_each_api};

on_each_api!(a_run_cancelled_in_the_middle_of_a_stream_hangs_up_and_the_next_goes_well);

async fn a_run_cancelled_in_the_middle_of_a_stream_hangs_up_and_the_next_goes_well(api: Api) {
    let stalled = Turn::calls([Call::new("witness", note("half"))]);
    let turns = vec![stalled.then(200, Then::Stall).times(1), Turn::text("Again.").says("again")];
    let stage = Stage::set(api, turns).await;
    let session = stage.ana.session("worker").await;
    let run = stage.ana.say(&session, "go").await;
    let asked = stage.asked(1).await;
    assert_eq!(asked[0].ended, Ended::Open);
    // Until something of the answer is on its way.
    tokio::time::sleep(Duration::from_millis(100)).await;
    stage.ana.post(&format!("/v1/runs/{run}/cancel"), &json!({})).await.must(200);
    let read = stage.ana.run_is(&session, "cancelled").await;
    assert_eq!(read["pending"], json!([]));
    assert_eq!(words(&read, "assistant"), Vec::<String>::new(), "half a turn is no turn");
    let until = tokio::time::Instant::now() + testkit::served::PATIENCE;
    while stage.fake.asked()[0].ended != Ended::HungUp {
        assert!(tokio::time::Instant::now() < until, "the connection is still open");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    stage.ana.say(&session, "again").await;
    let read = stage.completed(&session).await;
    assert_eq!(words(&read, "assistant"), ["Again."]);
    assert_eq!(stage.inputs(), nothing());
}
