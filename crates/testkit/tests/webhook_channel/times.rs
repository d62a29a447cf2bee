//! When a program that does not answer well is told again.

use std::time::Duration;

use domain::time::Timestamp;
use ports::clock::Clock as _;
use serde_json::Value;
use testkit::fake_chat::Reply;

use crate::webhook_channel::stage::Stage;

/// After the first attempt, which is at once.
const PAUSES_S: [u64; 6] = [5, 30, 2 * 60, 10 * 60, 3_600, 6 * 3_600];

fn says(status: u16) -> Reply {
    Reply::new(status, Value::Null)
}

/// To the millisecond, since nothing but the test moves the clock.
async fn attempted(stage: &Stage, attempt: usize, pause_s: u64) {
    let heard = stage.told(attempt).await;
    let at = heard[attempt - 1].at;
    assert_eq!(at, stage.clock.now());
    stage.next_at(Some(at.plus_ms(pause_s * 1000))).await;
    assert_eq!(stage.heard().len(), attempt, "and not before");
    stage.clock.advance(Duration::from_secs(pause_s));
}

#[tokio::test]
async fn a_program_is_told_again_after_5_s_30_s_2_min_10_min_1_h_6_h_and_then_no_more() {
    let stage = Stage::new().await;
    stage.will([500, 404, 401, 503, 500, 302, 500].map(says));
    let hold = stage.open("wipe").await;
    for (number, pause) in PAUSES_S.into_iter().enumerate() {
        attempted(&stage, number + 1, pause).await;
    }
    let heard = stage.told(7).await;
    stage.next_at(None).await;
    let began = heard[0].at;
    let times: Vec<u64> = heard.iter().map(|one| one.at.ms_since(began) / 1000).collect();
    assert_eq!(times, [0, 5, 35, 155, 755, 4_355, 25_955]);
    assert!(heard.iter().all(|one| one.id == heard[0].id && one.event == heard[0].event));
    // The hold itself waits no longer: its own time ran out.
    assert_eq!(stage.engine.store().hold(hold.id).await.unwrap().unwrap().state.name(), "expired");
}

#[tokio::test]
async fn each_step_has_these_times_for_itself() {
    let stage = Stage::new().await;
    let hold = stage.open("wipe").await;
    stage.told(1).await;
    stage.next_at(None).await;
    stage.will([says(500), says(500)]);
    stage.approve("ana", &hold).await;
    attempted(&stage, 2, 5).await;
    attempted(&stage, 3, 30).await;
    let heard = stage.told(4).await;
    assert!(heard[1..].iter().all(|one| one.kind() == "hold.decided" && one.id == heard[1].id));
    stage.next_at(None).await;
    stage.will([says(500)]);
    stage.report(hold.id).await;
    attempted(&stage, 5, 5).await;
    assert_eq!(stage.told(6).await[5].kind(), "call.settled");
}

#[tokio::test]
async fn a_step_that_was_given_up_does_not_hold_up_the_next() {
    let stage = Stage::new().await;
    let hold = stage.open("wipe").await;
    stage.told(1).await;
    stage.next_at(None).await;
    stage.will((0..7).map(|_| says(500)));
    stage.approve("ana", &hold).await;
    for (number, pause) in PAUSES_S.into_iter().enumerate() {
        attempted(&stage, number + 2, pause).await;
    }
    stage.told(8).await;
    stage.next_at(None).await;
    stage.report(hold.id).await;
    assert_eq!(stage.told(9).await[8].kind(), "call.settled");
}

#[tokio::test]
async fn a_receiver_says_how_long_it_wants_to_be_left_alone() {
    for (asked, pause_s) in [
        ("90", 90),
        // Sooner than we would come anyway.
        ("1", 5),
        ("0", 5),
        // Whoever wants a day is asked after an hour.
        ("86400", 3_600),
        ("99999999999999999999", 5),
        ("soon", 5),
        ("-7", 5),
    ] {
        let stage = Stage::new().await;
        stage.will([says(429).with("retry-after", asked)]);
        stage.open("wipe").await;
        attempted(&stage, 1, pause_s).await;
        stage.told(2).await;
    }
    let stage = Stage::new().await;
    let later: Timestamp = stage.clock.now().plus_ms(120_000);
    let date = http_date(later);
    stage.will([says(503).with("retry-after", date)]);
    stage.open("wipe").await;
    attempted(&stage, 1, 120).await;
    stage.told(2).await;
}

/// As HTTP writes it.
fn http_date(at: Timestamp) -> String {
    // 1 794 700 000 s is Saturday, 14 November 2026, 23:46:40.
    assert_eq!(at.as_ms(), 1_794_700_120_000);
    "Sat, 14 Nov 2026 23:48:40 GMT".into()
}

#[tokio::test]
async fn a_receiver_that_says_gone_hears_nothing_more_of_the_hold() {
    let stage = Stage::new().await;
    let hold = stage.open("wipe").await;
    stage.told(1).await;
    stage.next_at(None).await;
    stage.will([says(410)]);
    stage.approve("ana", &hold).await;
    stage.told(2).await;
    stage.next_at(None).await;
    stage.report(hold.id).await;
    // Another hold is another matter.
    stage.open("wipe").await;
    let heard = stage.told(3).await;
    assert_eq!(heard.len(), 3);
    assert_eq!(heard[2].kind(), "hold.opened");
}

#[tokio::test]
async fn what_is_told_again_later_does_not_hold_up_another_hold() {
    let stage = Stage::new().await;
    stage.will([says(500), says(500)]);
    let first = stage.open("wipe").await;
    attempted(&stage, 1, 5).await;
    let told = stage.told(2).await;
    let second = stage.open("wipe").await;
    let heard = stage.told(3).await;
    assert_eq!(heard[2].at, told[1].at, "at once");
    assert_eq!(heard[2].event["data"]["hold"]["id"], second.id.to_string());
    stage.next_at(Some(told[1].at.plus_ms(30_000))).await;
    stage.clock.advance(Duration::from_secs(30));
    assert_eq!(stage.told(4).await[3].event["data"]["hold"]["id"], first.id.to_string());
}
