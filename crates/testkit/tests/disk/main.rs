//! Faults below SQLite, on the real program: power that is cut, syncs that fail, disks that are full
//! or slow, and the order of what reaches the disk.

mod client;
mod cuts;
mod faults;
mod order;
mod steps;

use serde_json::{Value, json};
use testkit::served::{Caller, Served};

const CONFIG: &str = r#"
[server]
listen = "127.0.0.1:@PORT@"

[store]
url = "sqlite:data"

[models.scripted]
provider = "scripted"
script = "script.toml"

[[agents]]
id = "worker"
model = "scripted"
tools = ["witness"]

[[tools]]
name = "witness"
kind = "command"
description = "Leaves a note."
argv = ["/bin/sh", "@SITE@/append.sh", "@SITE@/witness"]
input_schema = { type = "object", required = ["note"], additionalProperties = false, properties = { note = { type = "string" } } }

[[people]]
id = "ana"
name = "Ana"
roles = ["admin"]
"#;

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
