//! The real program, which tells of holds and takes decisions.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use engine::SystemClock;
use ports::clock::Clock as _;
use serde_json::{Value, json};
use testkit::fake_chat::{Asked, Front};
use testkit::fake_mail::FakeMail;
use testkit::served::{Served, appending};

use crate::webhook_channel::channel::{Receiver, signed};
use crate::webhook_channel::stage::{IN, OUT, until};

const OTHER: &str = "whsec_b3RoZXIta2V5";

const SCRIPT: &str = r#"
default = "I do not know."

[[turn]]
when = { says_contains = "append" }
text = "I will, if somebody allows it."
calls = [{ tool = "append", arguments = { n = 1 } }]

[[turn]]
when = { result_of = "append", is_error = false }
text = "It is done."

[[turn]]
when = { says = "deploy" }
calls = [{ tool = "deploy", arguments = { n = 2 } }]

[[turn]]
when = { says_regex = '^The person approved deploy ' }
calls = [{ tool = "deploy", arguments = { n = 2, confirmed = true } }]
"#;

struct Stage {
    served: Served,
    program: Front<Receiver>,
    _mail: FakeMail,
}

impl Stage {
    async fn new() -> Stage {
        let (program, mail) = (Front::start(Arc::new(Receiver)).await, FakeMail::start().await);
        let stage = appending("public_url = \"https://hold.example.org\"", &["append", "deploy"]);
        let config = format!(
            r#"{stage}
[[tools]]
name = "deploy"
kind = "command"
description = "Appends a line, in two phases."
argv = ["/bin/sh", "@SITE@/append.sh", "@SITE@/witness"]
cwd = "@SITE@"
confirm = "two_phase"
input_schema = {{ type = "object" }}

[[people]]
id = "bob"
roles = ["dba"]
identities = {{ webhook = "bob-1" }}

[[people]]
id = "eve"
roles = ["guest"]
identities = {{ webhook = "eve-1" }}

[[policy.rules]]
name = "a dba says"
match = {{ tool = "*" }}
then = "ask"
ask = {{ roles = ["dba"] }}

[channels.ci]
platform = "webhook"
url = "{url}/ci"
secret_file = "out"
inbound_secret_file = "in"
speaks_for = ["bob-1", "eve-1"]
allow_private_addresses = true

[channels.pager]
platform = "webhook"
url = "{url}/pager"
secret_file = "out"
inbound_secret_file = "other"
speaks_for = ["bob-1"]
allow_private_addresses = true

[channels.mail]
platform = "email"
host = "127.0.0.1"
port = {port}
tls = "off"
from = "holdpoint@example.org"
ask = ["dbas@example.org"]
"#,
            url = program.url(),
            port = mail.port()
        );
        let mut served = Served::prepare(&config, SCRIPT);
        for (file, secret) in [("out", OUT), ("in", IN), ("other", OTHER)] {
            served.write(file, secret);
        }
        served.up().await;
        Stage { served, program, _mail: mail }
    }

    /// What `ci` was told of this hold.
    fn told(&self, hold: &Value) -> Vec<Asked> {
        let of = |one: &Asked| one.json()["data"]["hold"]["id"] == *hold;
        self.program.asked_of("/ci").into_iter().filter(of).collect()
    }

    async fn told_times(&self, hold: &Value, times: usize) -> Vec<Asked> {
        let what = format!("{times} events of {hold}");
        until(&what, || Some(self.told(hold)).filter(|told| told.len() >= times)).await
    }

    /// So many steps, a repeat not counted. What was on its way when a server died is left alone for a
    /// minute, because it may be on its way still; and then it comes again under the same name.
    async fn steps(&self, hold: &Value, count: usize) -> Vec<Asked> {
        let steps = || {
            let mut seen = BTreeSet::new();
            let new = |one: &Asked| seen.insert(one.header("webhook-id").map(str::to_owned));
            self.told(hold).into_iter().filter(new).collect::<Vec<_>>()
        };
        let looking = async {
            while steps().len() < count {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        let came = tokio::time::timeout(Duration::from_secs(90), looking).await;
        assert!(came.is_ok(), "{count} steps of {hold} never came: {:?}", kinds(&steps()));
        steps()
    }

    async fn opened(&self, more: Value) -> Value {
        let mut wanted = json!({"kind": "approve", "title": "Ship 1.4?",
                                "call": {"tool": "deploy", "arguments": {"tag": "1.4"}}});
        for (name, value) in more.as_object().expect("fields") {
            wanted[name] = value.clone();
        }
        self.served.program().post("/v1/holds", &wanted).await.must(201)
    }

    async fn hook(&self, path: &str, headers: Vec<(String, String)>, body: &str) -> (u16, Value) {
        let caller = self.served.stranger();
        let mut request = caller.request(reqwest::Method::POST, &format!("/channels/{path}"));
        for (name, value) in headers {
            request = request.header(name, value);
        }
        let heard = caller.send(request.body(body.to_owned())).await;
        (heard.status, heard.body)
    }
}

fn now() -> i64 {
    SystemClock::new(None).now().as_ms() / 1000
}

fn kinds(told: &[Asked]) -> Vec<String> {
    told.iter().map(|one| one.json()["type"].as_str().unwrap_or_default().to_owned()).collect()
}

fn ids(told: &[Asked]) -> BTreeSet<String> {
    told.iter().filter_map(|one| one.header("webhook-id").map(str::to_owned)).collect()
}

#[tokio::test]
async fn i35_a_fast_tool_hides_no_step_and_a_killed_server_loses_none() {
    let mut stage = Stage::new().await;
    let (root, bob) = (stage.served.admin(), stage.served.person("bob").await);
    let mut all = BTreeSet::new();
    for round in 0..5 {
        let session = root.session("ops").await;
        root.say(&session, "append please").await;
        let hold = root.held(&session, 1).await.remove(0);
        stage.told_times(&hold["id"], 1).await;
        if round == 4 {
            stage.served.kill().await;
            stage.served.up().await;
        }
        bob.approve(&hold).await;
        root.run_is(&session, "completed").await;
        let told = stage.steps(&hold["id"], 3).await;
        assert_eq!(kinds(&told), ["hold.opened", "hold.decided", "call.settled"]);
        let outcomes: Vec<Value> =
            told.iter().map(|one| one.json()["data"]["hold"]["outcome"].clone()).collect();
        assert_eq!(json!(outcomes), json!([null, null, "succeeded"]));
        all.extend(ids(&told));
    }
    assert_eq!(all.len(), 15, "each has a name of its own");
}

#[tokio::test]
async fn what_a_second_phase_did_is_told_of_the_hold_that_allowed_it() {
    let stage = Stage::new().await;
    let (root, bob) = (stage.served.admin(), stage.served.person("bob").await);
    let session = root.session("ops").await;
    root.say(&session, "deploy").await;
    let hold = root.held(&session, 1).await.remove(0);
    bob.approve(&hold).await;
    let told = stage.told_times(&hold["id"], 3).await;
    assert_eq!(kinds(&told), ["hold.opened", "hold.decided", "call.settled"]);
    assert_eq!(told[2].json()["data"]["hold"]["outcome"], "succeeded");
    assert_eq!(stage.served.witness().lines().unwrap().len(), 1);
}

#[tokio::test]
async fn what_expires_or_is_withdrawn_is_decided_and_nothing_is_tried_in_vain() {
    let mut stage = Stage::new().await;
    let expires = stage.opened(json!({"expires_in_s": 1})).await;
    let withdrawn = stage.opened(json!({})).await;
    let path = format!("/v1/holds/{}/cancel", withdrawn["id"].as_str().unwrap());
    stage.told_times(&withdrawn["id"], 1).await;
    stage.served.program().post(&path, &json!({})).await.must(200);
    for (hold, state) in [(&expires, "expired"), (&withdrawn, "cancelled")] {
        let told = stage.told_times(&hold["id"], 2).await;
        assert_eq!(kinds(&told), ["hold.opened", "hold.decided"]);
        assert_eq!(told[1].json()["data"]["hold"]["state"], state);
    }
    stage.served.stop().await;
    let log = std::fs::read_to_string(stage.served.log()).unwrap();
    assert!(!log.contains("could not be sent"), "{log}");
}

#[tokio::test]
async fn i34_only_a_fresh_decision_that_its_sender_signed_is_heard() {
    let stage = Stage::new().await;
    let hold = stage.opened(json!({})).await;
    let decision = |who: &str, verdict: &str| {
        json!({"hold": hold["id"], "digest": hold["digest"], "actor": {"id": who},
               "answer": {"verdict": verdict}})
        .to_string()
    };
    let body = decision("bob-1", "approve");
    let good = || signed("msg_1", now(), &body, IN);
    let without = |name: &str| good().into_iter().filter(|(is, _)| is != name).collect::<Vec<_>>();
    let with = |name: &str, value: &str| {
        let mut headers = without(name);
        headers.push((name.to_owned(), value.to_owned()));
        headers
    };
    for (what, path, headers, body, status) in [
        ("no signature at all", "ci/decisions", Vec::new(), &body, 401),
        ("no id", "ci/decisions", without("webhook-id"), &body, 401),
        ("no time", "ci/decisions", without("webhook-timestamp"), &body, 401),
        ("no signature", "ci/decisions", without("webhook-signature"), &body, 401),
        ("a bad one", "ci/decisions", with("webhook-signature", "v1,AAAA"), &body, 401),
        ("another id", "ci/decisions", with("webhook-id", "msg_2"), &body, 401),
        (
            "another time",
            "ci/decisions",
            with("webhook-timestamp", &(now() + 1).to_string()),
            &body,
            401,
        ),
        ("another body", "ci/decisions", good(), &decision("bob-1", "deny"), 401),
        ("an old one", "ci/decisions", signed("msg_1", now() - 310, &body, IN), &body, 401),
        (
            "one from the future",
            "ci/decisions",
            signed("msg_1", now() + 310, &body, IN),
            &body,
            401,
        ),
        ("what we sign ourselves", "ci/decisions", signed("msg_1", now(), &body, OUT), &body, 401),
        ("another app's", "ci/decisions", signed("msg_1", now(), &body, OTHER), &body, 401),
        ("for another app", "pager/decisions", good(), &body, 401),
        ("for none", "nobody/decisions", good(), &body, 404),
        ("elsewhere", "ci/events", good(), &body, 404),
    ] {
        assert_eq!(stage.hook(path, headers, body).await.0, status, "{what}");
    }
    // Signed, and still nothing that we take.
    for (what, body, status) in [
        ("an unknown event", json!({"type": "user.created", "data": {}}).to_string(), 400),
        ("no JSON", "yes".to_owned(), 400),
        ("somebody it may not speak for", decision("root", "approve"), 403),
        ("somebody who may not answer", decision("eve-1", "approve"), 403),
        ("an oversize one", format!("{body}{}", " ".repeat(1 << 20)), 413),
        ("another digest", body.replace("sha256:", "sha256:0"), 409),
    ] {
        let (got, told) = stage.hook("ci/decisions", signed("m", now(), &body, IN), &body).await;
        assert_eq!(got, status, "{what}: {told}");
    }
    let still = stage.served.admin().hold(&hold["id"]).await;
    assert_eq!(still["state"], "pending");
    assert_eq!(stage.told(&hold["id"]).len(), 1, "nothing happened");
}

#[tokio::test]
async fn i34_a_decision_that_is_replayed_is_one_also_after_a_restart() {
    let mut stage = Stage::new().await;
    let hold = stage.opened(json!({})).await;
    let body = json!({"hold": hold["id"], "digest": hold["digest"], "actor": {"id": "bob-1"},
                      "answer": {"verdict": "approve", "note": "fine"}})
    .to_string();
    let sent = signed("msg_1", now(), &body, IN);
    for round in 0..20 {
        if round == 10 {
            stage.served.kill().await;
            stage.served.up().await;
        }
        let (status, told) = stage.hook("ci/decisions", sent.clone(), &body).await;
        assert_eq!((status, &told["hold"]["state"]), (200, &json!("approved")), "{told}");
    }
    // Another word under the same name does not undo it.
    let deny = body.replace("approve", "deny").replace("note", "reason");
    let (status, told) = stage.hook("ci/decisions", signed("msg_1", now(), &deny, IN), &deny).await;
    assert_eq!((status, &told["hold"]["state"]), (409, &json!("approved")), "{told}");
    let read = stage.served.admin().hold(&hold["id"]).await;
    assert_eq!(read["answers"].as_array().map(Vec::len), Some(1), "{read}");
    let told = stage.told_times(&hold["id"], 2).await;
    assert_eq!(kinds(&told), ["hold.opened", "hold.decided"]);
}
