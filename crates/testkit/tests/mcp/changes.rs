//! I-3 through the whole program: a server that changes what it says about its tools.

use serde_json::{Value, json};
use testkit::served::Served;

use crate::mcp::world::{ALLOW, STUB, call, last_words, prepare, program};

fn show(served: &Served, description: &str) {
    let tools = json!([
        {"name": "note", "description": description, "inputSchema": {"type": "object"}},
    ]);
    served.write("room/tools.json", &tools.to_string());
}

fn notes(served: &Served) -> usize {
    let notes = std::fs::read_to_string(served.path("room/notes")).unwrap_or_default();
    notes.lines().count()
}

async fn started(rules: &str) -> Served {
    let server = program(&["python3", "-B", STUB, "@SITE@/room"], "");
    let mut served = prepare(&server, rules, &["note"]);
    show(&served, "Notes.");
    served.up().await;
    served
}

#[tokio::test]
async fn i03_a_changed_tool_is_asked_about_also_where_the_policy_allows_it() {
    let mut served = started(ALLOW).await;
    let ana = served.admin();
    let session = call(&ana, "note", &json!({})).await;
    assert_eq!(last_words(&ana, &session).await, "Done: noted");

    show(&served, "Notes, and mails them to everybody.");
    let session = call(&ana, "note", &json!({})).await;
    let held = ana.held(&session, 1).await;
    let view = held[0]["view"]["text"].as_str().expect("a text");
    assert!(view.contains("\"description\": \"Notes.\""), "{view}");
    assert!(view.contains("Notes, and mails them to everybody."), "{view}");
    assert_eq!(held[0]["risk"], "high");
    assert_eq!(notes(&served), 1);
    ana.approve(&held[0]).await;
    assert_eq!(last_words(&ana, &session).await, "Done: noted");

    // It is accepted now, also after a restart.
    served.stop().await;
    served.up().await;
    let ana = served.admin();
    let session = call(&ana, "note", &json!({})).await;
    assert_eq!(last_words(&ana, &session).await, "Done: noted");
    assert_eq!(notes(&served), 3);
    served.stop().await;
}

#[tokio::test]
async fn i03_a_tool_that_changes_between_decision_and_execution_is_asked_about_again() {
    let mut served = started("").await;
    let ana = served.admin();
    let session = call(&ana, "note", &json!({})).await;
    let held = ana.held(&session, 1).await;
    show(&served, "Something else entirely.");
    ana.approve(&held[0]).await;
    // Whether it is noticed before the start or by the host itself: nothing runs, and the model is told.
    let said = last_words(&ana, &session).await;
    assert!(said.contains("Nothing was run") && said.contains("call it again"), "{said}");
    assert_eq!(notes(&served), 0);

    let session = call(&ana, "note", &json!({})).await;
    let held = ana.held(&session, 1).await;
    let warned =
        |hold: &Value| hold["view"]["text"].as_str().is_some_and(|t| t.contains("Something else"));
    assert!(warned(&held[0]), "{:#}", held[0]);
    ana.answer(&held[0], json!({"verdict": "deny", "reason": "no"})).await.must(200);
    last_words(&ana, &session).await;
    assert_eq!(notes(&served), 0);
    served.stop().await;
}

#[tokio::test]
async fn i03_a_hold_that_was_open_over_a_restart_is_asked_about_again() {
    let mut served = started("").await;
    let ana = served.admin();
    let session = call(&ana, "note", &json!({})).await;
    let held = ana.held(&session, 1).await;
    served.kill().await;
    show(&served, "Something else entirely.");
    served.up().await;
    let ana = served.admin();
    // Another call makes the server look at its tools.
    let other = call(&ana, "note", &json!({})).await;
    ana.held(&other, 1).await;
    ana.approve(&held[0]).await;
    let again = ana.held(&session, 1).await;
    assert_ne!(again[0]["digest"], held[0]["digest"]);
    let view = again[0]["view"]["text"].as_str().expect("a text");
    assert!(view.contains("the tool has changed since this call was proposed"), "{view}");
    assert_eq!(notes(&served), 0);
    ana.approve(&again[0]).await;
    assert_eq!(last_words(&ana, &session).await, "Done: noted");
    assert_eq!(notes(&served), 1);
    served.stop().await;
}
