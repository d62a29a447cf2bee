//! Elsewhere silence was recorded as a person's denial, or, worse, as a yes (agent-os #1564,
//! openclaw #89938 and #60314).

use std::time::Duration;

use serde_json::{Value, json};
use testkit::served::{Caller, Served, results, unsound};

use crate::peers::{inputs, note, nothing, one_hold, start};

async fn expired(served: &Served, ana: &Caller, session: &str, hold: &Value) {
    let read = ana.run_is(session, "completed").await;
    let now = ana.hold(&hold["id"]).await;
    assert_eq!((&now["state"], &now["decision"]), (&json!("expired"), &Value::Null), "{now:#}");
    assert_eq!(now["answers"], json!([]), "nobody said anything");
    let (_, told, is_error) = results(&read).remove(0);
    assert!(is_error && told.starts_with("Expired: nobody decided in time"), "{told}");
    assert!(!told.contains("enied"), "{told}");
    assert_eq!(inputs(served), nothing());
    assert_eq!(unsound(&read), Vec::<String>::new());
    ana.answer(hold, json!({"verdict": "approve"})).await.problem(410, "hold_expired");
    assert_eq!(inputs(served), nothing());
}

#[tokio::test]
async fn silence_is_an_expiry_and_no_denial_and_can_be_asked_again() {
    let served = start().await;
    let ana = served.admin();
    let (session, hold) = one_hold(&ana, "note soon").await;
    expired(&served, &ana, &session, &hold).await;
    // Asked again it is a new question.
    ana.say(&session, "note soon").await;
    let again = ana.held(&session, 1).await.remove(0);
    assert_ne!(again["id"], hold["id"]);
    ana.approve(&again).await;
    let read = ana.run_is(&session, "completed").await;
    assert_eq!(inputs(&served), [note("soon")]);
    assert_eq!(unsound(&read), Vec::<String>::new());
}

#[tokio::test]
async fn a_deadline_that_passes_while_nothing_runs_is_an_expiry_too() {
    let mut served = start().await;
    let ana = served.admin();
    let (session, hold) = one_hold(&ana, "note soon").await;
    served.kill().await;
    tokio::time::sleep(Duration::from_millis(1_200)).await;
    served.up().await;
    expired(&served, &ana, &session, &hold).await;
}
