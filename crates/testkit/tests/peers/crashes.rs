//! Processes that died, and models that did.

use std::time::Duration;

use serde_json::{Value, json};
use testkit::served::{Caller, Served, results, unsound, words};

use crate::peers::{inputs, note, one_hold, start, witnessed};

/// A call that had its effect when the server was killed, and the question about it.
async fn in_doubt(served: &mut Served) -> (Caller, String, Value, Value) {
    let ana = served.admin();
    let (session, hold) = one_hold(&ana, "slow deed").await;
    ana.approve(&hold).await;
    witnessed(served, 1).await;
    served.kill().await;
    served.up().await;
    let settle = ana.held(&session, 1).await.remove(0);
    (ana, session, hold, settle)
}

/// Elsewhere the call was simply run again, or reported as failed (openworker #443).
#[tokio::test]
async fn a_crash_after_the_effect_and_before_the_result_asks_a_person_and_runs_nothing_again() {
    let mut served = start().await;
    let (ana, session, hold, settle) = in_doubt(&mut served).await;
    assert_eq!((&settle["kind"], &settle["parent"]), (&json!("settle"), &hold["id"]));
    assert_eq!(settle["expires_at"], Value::Null, "it does not go away by itself");
    assert_eq!(settle["audience"], hold["audience"]);
    assert_eq!(ana.hold(&hold["id"]).await["outcome"]["state"], "unknown");
    tokio::time::sleep(Duration::from_millis(500)).await;
    // Another start does not change what is known.
    served.kill().await;
    served.up().await;
    assert_eq!(ana.hold(&settle["id"]).await, settle);
    assert_eq!(inputs(&served), [note("deed")]);

    let done = json!({"settle": "succeeded", "content": "the note is there"});
    ana.answer(&settle, done).await.must(200);
    let read = ana.run_is(&session, "completed").await;
    assert_eq!(results(&read)[0].1, "the note is there");
    assert_eq!(ana.hold(&hold["id"]).await["outcome"]["state"], "succeeded");
    assert_eq!(inputs(&served), [note("deed")]);
    assert_eq!(unsound(&read), Vec::<String>::new());
}

/// The other end of the same: a person who says that it must be run again approves it again.
#[tokio::test]
async fn a_call_in_doubt_runs_again_only_as_a_new_question() {
    let mut served = start().await;
    let (ana, session, _, settle) = in_doubt(&mut served).await;
    ana.answer(&settle, json!({"settle": "retry"})).await.must(200);
    let again = ana.held(&session, 1).await.remove(0);
    assert_eq!((&again["kind"], &again["state"]), (&json!("approve"), &json!("pending")));
    assert_eq!(inputs(&served), [note("deed")], "nobody has approved it yet");
    ana.answer(&again, json!({"verdict": "deny", "reason": "once is enough"})).await.must(200);
    let read = ana.run_is(&session, "completed").await;
    assert_eq!(results(&read)[0].1, "Denied by Ana: once is enough");
    assert_eq!(inputs(&served), [note("deed")]);
    assert_eq!(unsound(&read), Vec::<String>::new());
}

/// Elsewhere the approval was used up by a run that then failed, and trying again asked again, or ran
/// the tool again (MAF #7458).
#[tokio::test]
async fn a_run_that_fails_after_the_answer_keeps_the_answer_and_the_result() {
    let mut served = start().await;
    let ana = served.admin();
    let (session, hold) = one_hold(&ana, "fail later").await;
    ana.approve(&hold).await;
    let failed = ana.run_is(&session, "failed").await;
    assert!(
        failed["run"]["error"].as_str().is_some_and(|text| !text.is_empty()),
        "{}",
        failed["run"]
    );
    let kept = ana.hold(&hold["id"]).await;
    assert_eq!(
        (&kept["state"], &kept["outcome"]["state"]),
        (&json!("approved"), &json!("succeeded"))
    );
    let result = results(&failed);
    assert_eq!(result.len(), 1);

    // Also over a restart, after which the script fails once more.
    let retry = format!("/v1/runs/{}/retry", failed["run"]["id"].as_str().expect("a run"));
    served.kill().await;
    served.up().await;
    ana.post(&retry, &json!({})).await.must(200);
    let failed = ana.run_is(&session, "failed").await;
    assert_eq!(results(&failed), result);
    ana.post(&retry, &json!({})).await.must(200);
    let read = ana.run_is(&session, "completed").await;
    assert_eq!(results(&read), result);
    assert_eq!(words(&read, "assistant").pop(), Some(format!("told: {}", result[0].1)));
    assert_eq!(inputs(&served), [note("before the failure")]);
    assert_eq!(ana.hold(&hold["id"]).await, kept);
    assert_eq!(unsound(&read), Vec::<String>::new());
}
