//! Two real servers over one PostgreSQL database: equal nodes, of which either does what the other began.

mod chats;
mod clocks;
mod pauses;

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};
use testkit::postgres::{Cluster, PASSWORD, Session};
use testkit::served::{PATIENCE, Served};
use tokio::task::JoinSet;

const CONFIG: &str = r#"
[server]
listen = "127.0.0.1:@PORT@"

[store]
url = "postgres://app@127.0.0.1:@DATABASE@/shop"
password_file = "database-password"
folder = "data"

@SCRIPTED@

[[tools]]
name = "slow"
kind = "command"
description = "Leaves a note, and takes its time."
argv = ["/bin/sh", "-c", "sh @SITE@/append.sh @SITE@/witness; sleep 30"]
cwd = "@SITE@"
input_schema = { type = "object" }

[[agents]]
id = "ops"
model = "scripted"
tools = ["slow"]

[[people]]
id = "root"
name = "Root"
roles = ["admin"]
"#;

const SCRIPT: &str = r#"
[[turn]]
when = { says = "go" }
calls = [{ tool = "slow", arguments = {} }]

[[turn]]
when = { says = "go", after_tools = ["slow"] }
text = "Done."
"#;

fn node(cluster: &Cluster) -> Served {
    let served =
        Served::prepare(&CONFIG.replace("@DATABASE@", &cluster.port().to_string()), SCRIPT);
    served.write("database-password", PASSWORD);
    served
}

/// The second has a copy of the first one's key, as an operator gives it.
async fn pair(cluster: &Cluster) -> (Served, Served) {
    let (mut one, mut two) = (node(cluster), node(cluster));
    one.up().await;
    join(&one, &mut two).await;
    (one, two)
}

async fn join(first: &Served, next: &mut Served) {
    std::fs::create_dir_all(next.path("data")).unwrap();
    std::fs::copy(first.path("data/audit.key"), next.path("data/audit.key")).unwrap();
    next.up().await;
}

/// What has tokens to keep, once it is connected.
const WITH_OAUTH: &str = r#"
[mcp.upstreams.notes]
url = "http://127.0.0.1:1/mcp"
auth = "oauth"
allow_private_addresses = true
"#;

/// One that has the sealing key.
fn sealing_node(cluster: &Cluster) -> Served {
    let config = CONFIG.replace("@DATABASE@", &cluster.port().to_string()) + WITH_OAUTH;
    let sealing = "folder = \"data\"\nsealing_key_file = \"sealing.key\"";
    let served = Served::prepare(&config.replace("folder = \"data\"", sealing), SCRIPT);
    served.write("database-password", PASSWORD);
    served.write("sealing.key", &"5e".repeat(32));
    served
}

fn count_events(events: &[Value], name: &str) -> usize {
    events.iter().filter(|event| !event[name].is_null()).count()
}

fn question() -> Value {
    json!({"kind": "approve", "title": "Ship 1.4?", "call": {"tool": "deploy", "arguments": {}}})
}

#[tokio::test(flavor = "multi_thread")]
async fn i55_what_is_opened_on_one_node_is_answered_on_another_and_heard_where_it_is_waited_for() {
    let cluster = Cluster::start_durable().await;
    let (one, two) = pair(&cluster).await;
    let program = one.program();
    for round in 0..5 {
        let hold = program.post("/v1/holds", &question()).await.must(201);
        let path =
            format!("/v1/holds/{}/wait?until=decided&timeout_s=30", hold["id"].as_str().unwrap());
        let since = tokio::time::Instant::now();
        let waiting = async { (program.get(&path).await.must(200), since.elapsed()) };
        let answering = async {
            let shown = two.admin().hold(&hold["id"]).await;
            two.admin().approve(&shown).await;
        };
        let ((heard, took), ()) = tokio::join!(waiting, answering);
        assert_eq!(heard["state"], "approved", "round {round}");
        assert!(took < Duration::from_secs(10), "{took:?}: only a poll found it");
    }
    // Both have the same log, and it verifies.
    let (mine, theirs) = (one.audited().await, two.audited().await);
    assert_eq!(mine.len(), theirs.len());
    for served in [&one, &two] {
        let log = std::fs::read_to_string(served.log()).unwrap();
        assert!(!log.contains(PASSWORD), "{log}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn i45_a_node_without_the_sealing_key_takes_no_secret_and_says_what_to_set() {
    let cluster = Cluster::start_durable().await;
    let config = CONFIG.replace("@DATABASE@", &cluster.port().to_string()) + WITH_OAUTH;
    let mut one = Served::prepare(&config, SCRIPT);
    one.write("database-password", PASSWORD);
    one.up().await;
    let log = std::fs::read_to_string(one.log()).unwrap();
    assert!(log.contains("set `sealing_key_file`"), "{log}");
    let form = json!({
        "kind": "fill", "title": "A key, please",
        "schema": {"type": "object", "properties": {"key": {"type": "string", "writeOnly": true}}},
    });
    let hold = one.program().post("/v1/holds", &form).await.must(201);
    let given = json!({"fill": {"key": "Kanarie-93"}});
    let refused = one.admin().answer(&hold, given.clone()).await;
    assert_eq!(refused.status, 503, "{}", refused.text);
    assert!(refused.text.contains("set `sealing_key_file`"), "{}", refused.text);
    assert_eq!(one.admin().hold(&hold["id"]).await["state"], "pending");

    // Nobody consents to tokens that could not be kept.
    let connect = json!({"server": "notes"});
    let refused = one.admin().post("/v1/mcp/connect", &connect).await;
    assert!(refused.text.contains("set `sealing_key_file`"), "{}", refused.text);

    let mut two = sealing_node(&cluster);
    join(&one, &mut two).await;
    let refused = two.admin().post("/v1/mcp/connect", &connect).await;
    assert!(refused.text.contains("cannot be connected"), "{}", refused.text);
    assert!(!refused.text.contains("sealing"), "{}", refused.text);
    two.admin().answer(&hold, given).await.must(200);
    let reveal = format!("/v1/holds/{}/reveal", hold["id"].as_str().unwrap());
    let shown = two.admin().post(&reveal, &json!({})).await.must(200);
    assert!(shown.to_string().contains("Kanarie-93"), "{shown}");
    // There, and not to be opened: never as if nobody had given it.
    let refused = one.admin().post(&reveal, &json!({})).await;
    assert_eq!(refused.status, 503, "{}", refused.text);
    assert!(refused.text.contains("sealed with the key"), "{}", refused.text);
}

#[tokio::test(flavor = "multi_thread")]
async fn i52_a_freeze_is_acknowledged_when_every_node_has_it() {
    let cluster = Cluster::start_durable().await;
    let (one, two) = pair(&cluster).await;
    for round in 0..5 {
        one.admin().post("/v1/freeze", &json!({"reason": "incident"})).await.must(200);
        let seen = cluster
            .shop()
            .await
            .number(
                "SELECT count(*) FROM holdpoint.nodes WHERE NOT gone AND global_seen >= \
                 (SELECT max(first + n - 1) FROM holdpoint.journal WHERE stream = '\\x48')",
            )
            .await;
        assert_eq!(seen, 2, "round {round}: acknowledged before both had it");
        let root = two.admin();
        let thawed = root.send(root.request(Method::DELETE, "/v1/freeze")).await;
        assert!(thawed.status < 300, "{}", thawed.text);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn i16_a_call_of_a_node_that_was_killed_is_in_doubt_on_another() {
    let cluster = Cluster::start_durable().await;
    let (mut one, two) = pair(&cluster).await;
    let session = one.admin().session("ops").await;
    one.admin().say(&session, "go").await;
    let hold = two.admin().held(&session, 1).await.remove(0);
    one.admin().approve(&hold).await;
    let begun = async {
        while one.witness().lines().unwrap().is_empty() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), begun).await.expect("it begins");
    let since = tokio::time::Instant::now();
    one.kill().await;
    let read = two
        .admin()
        .until(&session, "asks what happened", |session| {
            let pending = session["pending"].as_array();
            pending.is_some_and(|holds| holds.iter().any(|hold| hold["kind"] == "settle"))
        })
        .await;
    let took = since.elapsed();
    assert!(took > Duration::from_secs(4), "{took:?}: before the other had to stop");
    assert_eq!(
        one.witness().lines().unwrap().len() + two.witness().lines().unwrap().len(),
        1,
        "it is not made again: {read}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn i09_of_a_hundred_answers_over_three_nodes_one_counts() {
    let cluster = Cluster::start_durable().await;
    let (one, two) = pair(&cluster).await;
    let mut three = node(&cluster);
    join(&one, &mut three).await;
    let nodes = [&one, &two, &three];
    const ROUNDS: usize = 3;
    for round in 0..ROUNDS {
        let hold = one.program().post("/v1/holds", &question()).await.must(201);
        let shown = two.admin().hold(&hold["id"]).await;
        let mut answering = JoinSet::new();
        for number in 0..100 {
            let (caller, shown) = (nodes[number % 3].admin(), shown.clone());
            let answer = match number % 2 {
                0 => json!({"verdict": "approve"}),
                _ => json!({"verdict": "deny", "reason": format!("no {number}")}),
            };
            answering.spawn(async move { caller.answer(&shown, answer).await });
        }
        let heard = answering.join_all().await;
        let strange = heard.iter().find(|heard| heard.status != 200 && heard.status != 409);
        assert!(strange.is_none(), "round {round}: {strange:?}");
        let decided = one.admin().hold(&hold["id"]).await;
        // All who were told that it is decided were told the same.
        let told = heard.iter().filter(|heard| heard.status == 200);
        assert!(told.clone().count() >= 1, "round {round}: one of them won");
        for heard in told {
            assert_eq!(heard.body["state"], decided["state"], "round {round}");
        }
        for served in nodes {
            assert_eq!(served.admin().hold(&hold["id"]).await["state"], decided["state"]);
        }
    }
    let events = three.audited().await;
    assert_eq!(count_events(&events, "hold_decided"), ROUNDS);
}
