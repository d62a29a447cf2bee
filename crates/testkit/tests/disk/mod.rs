//! Faults below SQLite, on the real program: power that is cut, syncs that fail, disks that are full
//! or slow, and the order of what reaches the disk.

mod client;
mod cuts;
mod faults;
mod order;
mod steps;

use serde_json::{Value, json};
use testkit::served::{Caller, NOTING, Served};

/// Agent `worker`, and Ana, who answers.
fn config() -> String {
    format!("{NOTING}\n[[people]]\nid = \"ana\"\nname = \"Ana\"\nroles = [\"admin\"]\n")
}

const SCRIPT: &str = r#"
[[turn]]
when = { says_regex = '^note (.+)$' }
calls = [{ tool = "witness", arguments = { note = "{1}" } }]

[[turn]]
when = { result_contains = "" }
text = "told: {result}"
"#;

/// A session of the admin that waits for one answer.
async fn one_hold(served: &Served, say: &str) -> (Caller, String, Value) {
    let ana = served.admin();
    let session = ana.session("worker").await;
    ana.say(&session, say).await;
    let hold = ana.held(&session, 1).await.remove(0);
    (ana, session, hold)
}

fn approval(hold: &Value) -> (String, Value) {
    let path = format!("/v1/holds/{}/answer", hold["id"].as_str().expect("an id"));
    (path, json!({"digest": hold["digest"], "answer": {"verdict": "approve"}}))
}
