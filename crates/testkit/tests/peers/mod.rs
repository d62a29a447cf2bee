//! Bugs that users of other systems ran into, on our real program over HTTP. Each test is named after
//! what went wrong there, and says where.

mod answers;
mod changes;
mod crashes;
mod messages;
mod parallel;
mod reconnect;
mod time;

use serde_json::{Value, json};
use testkit::served::{Caller, Served};

/// `extra` stands at its end.
fn config(extra: &str) -> String {
    format!("{CONFIG}\n{extra}\n")
}

const CONFIG: &str = r#"
@SERVER@
@SCRIPTED@

[[agents]]
id = "worker"
model = "scripted"
tools = ["witness", "slow"]

[[tools]]
name = "witness"
kind = "command"
description = "Leaves a note."
argv = ["/bin/sh", "@SITE@/append.sh", "@SITE@/witness"]
input_schema = { type = "object", required = ["note"], properties = { note = { type = "string" }, target = { type = "string" } } }

[[tools]]
name = "slow"
kind = "command"
description = "Leaves a note, and takes its time to say so."
argv = ["/bin/sh", "-c", "sh @SITE@/append.sh @SITE@/witness; sleep 30"]
input_schema = { type = "object", required = ["note"], properties = { note = { type = "string" } } }

[[people]]
id = "ana"
name = "Ana"
roles = ["admin", "ops", "dba"]

[[people]]
id = "bob"
name = "Bob"
roles = ["ops"]
"#;

/// Who is asked, in most tests.
const RULES: &str = r#"
[[policy.rules]]
name = "production is off limits"
match = { tool = "witness", args = { "/target" = { equals = "vault" } } }
then = "deny"

[[policy.rules]]
name = "production is for the dba"
match = { tool = "witness", args = { "/target" = { equals = "production" } } }
then = "ask"
ask = { roles = ["dba"] }

[[policy.rules]]
name = "soon"
match = { args = { "/note" = { glob = "soon*" } } }
then = "ask"
ask = { roles = ["ops"], expires = "1s" }

[[policy.rules]]
name = "operators decide"
match = { tool = "*" }
then = "ask"
ask = { roles = ["ops"] }
"#;

const SCRIPT: &str = r#"
[[turn]]
when = { says = "three" }
text = "Three notes."
calls = [
    { tool = "witness", arguments = { note = "one" } },
    { tool = "witness", arguments = { note = "two" } },
    { tool = "witness", arguments = { note = "three" } },
]

[[turn]]
when = { says_regex = '^two (\w+) (\w+)$' }
calls = [
    { tool = "witness", arguments = { note = "{1}" } },
    { tool = "witness", arguments = { note = "{2}" } },
]

[[turn]]
when = { says_regex = '^note (\w+) for (\w+)$' }
calls = [{ tool = "witness", arguments = { note = "{1}", target = "{2}" } }]

[[turn]]
when = { says_regex = '^note (\w+)$' }
calls = [{ tool = "witness", arguments = { note = "{1}" } }]

[[turn]]
when = { says_regex = '^slow (\w+)$' }
calls = [{ tool = "slow", arguments = { note = "{1}" } }]

# One call after the other.
[[turn]]
when = { says = "chain" }
calls = [{ tool = "witness", arguments = { note = "first" } }]

[[turn]]
when = { says = "chain", after_tools = ["witness"], turn = 2 }
calls = [{ tool = "witness", arguments = { note = "second" } }]

# The model is away just when it should read the result.
[[turn]]
when = { says = "fail later" }
calls = [{ tool = "witness", arguments = { note = "before the failure" } }]

[[turn]]
when = { says = "fail later", after_tools = ["witness"] }
text = "I was about to s"
fail = "unavailable"
times = 1

[[turn]]
when = { says_regex = '^hello' }
text = "Hello."

[[turn]]
when = { result_contains = "" }
text = "told: {result}"
"#;

async fn start() -> Served {
    Served::start(&config(RULES), SCRIPT).await
}

/// A session in which this was said.
async fn said(who: &Caller, text: &str) -> String {
    let session = who.session("worker").await;
    who.say(&session, text).await;
    session
}

async fn one_hold(who: &Caller, text: &str) -> (String, Value) {
    let session = said(who, text).await;
    let hold = who.held(&session, 1).await.remove(0);
    (session, hold)
}

/// What the tools got, in the order in which they ran.
fn inputs(served: &Served) -> Vec<Value> {
    let lines = served.witness().lines().expect("a witness");
    lines.into_iter().map(|line| line.input).collect()
}

fn note(text: &str) -> Value {
    json!({"note": text})
}

fn nothing() -> Vec<Value> {
    Vec::new()
}

/// Waits for an effect in the world.
async fn witnessed(served: &Served, count: usize) {
    let until = tokio::time::Instant::now() + testkit::served::PATIENCE;
    while inputs(served).len() < count {
        assert!(tokio::time::Instant::now() < until, "{count} effects are waited for");
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
}
