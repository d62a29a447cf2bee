//! What the real program does with everything that it should not have been given: a clear message
//! with the remedy, the right status or exit code, and nothing lost.

mod answers;
mod arguments;
mod disk;
mod namespace;
mod requests;
mod settings;
mod start;

use serde_json::Value;
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
tools = ["witness", "human_intervention.request"]

[[tools]]
name = "witness"
kind = "command"
description = "Leaves a note."
argv = ["/bin/sh", "@SITE@/append.sh", "@SITE@/witness"]
input_schema = { type = "object", required = ["note"], additionalProperties = false, properties = { note = { type = "string" } } }

[[tools]]
name = "human_intervention.request"
kind = "human"
asks = "anything"

[[people]]
id = "ana"
name = "Ana"
roles = ["admin"]

[[people]]
id = "bob"
name = "Bob"
roles = ["dba"]

[[people]]
id = "cleo"
name = "Cleo"

[[policy.rules]]
name = "notes for the dba"
match = { tool = "witness", args = { "/note" = { glob = "dba*" } } }
then = "ask"
ask = { roles = ["dba"] }

[[policy.rules]]
name = "quick notes"
match = { tool = "witness", args = { "/note" = { glob = "quick*" } } }
then = "ask"
ask = { roles = ["admin"], expires = "1s" }
"#;

const SCRIPT: &str = r#"
[[turn]]
when = { says_regex = '^note (.+)$' }
calls = [{ tool = "witness", arguments = { note = "{1}" } }]

[[turn]]
when = { says = "choose" }
calls = [{ tool = "human_intervention.request", arguments = { prompt = "Which?", options = ["red", "blue"] } }]

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

/// The hold is as it was, and is still good: an approval runs its call, once.
async fn nothing_was_lost(served: &Served, session: &str, before: &Value) {
    let ana = served.admin();
    assert_eq!(ana.hold(&before["id"]).await, *before);
    ana.approve(before).await;
    ana.run_is(session, "completed").await;
    let lines = served.witness().lines().expect("a witness");
    let inputs: Vec<&Value> = lines.iter().map(|line| &line.input).collect();
    assert_eq!(inputs, [&before["call"]["arguments"]]);
}
