//! Nodes whose machines do not agree what time it is. The database's clock counts, on each of them.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use testkit::binary::Binary;

use super::*;

const SKEWED_CLOCK: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/mcp_gate/skew.c");
const DAY_S: i64 = 24 * 3600;

/// The same program on a machine whose clock on the wall is wrong by so much.
fn skewed(folder: &Path, seconds: i64) -> Binary {
    let library = folder.join("skew.so");
    let built = Command::new("cc")
        .args(["-shared", "-fPIC", SKEWED_CLOCK, "-ldl", "-o"])
        .arg(&library)
        .status()
        .expect("a C compiler, which building needs too");
    assert!(built.success());
    let (wrapper, program) = (folder.join("holdpoint-elsewhere"), Binary::find());
    let script = format!(
        "#!/bin/sh\nCLOCK_SKEW_S={seconds} LD_PRELOAD='{}' exec '{}' \"$@\"\n",
        library.display(),
        program.path().display(),
    );
    std::fs::write(&wrapper, script).expect("a file");
    std::fs::set_permissions(&wrapper, std::fs::Permissions::from_mode(0o755)).expect("our file");
    Binary::at(wrapper)
}

/// One node by the machine's clock and one whose clock is wrong, over one database.
async fn right_and_wrong(cluster: &Cluster, folder: &Path, seconds: i64) -> (Served, Served) {
    let mut right = node(cluster);
    right.up().await;
    let config = CONFIG.replace("@DATABASE@", &cluster.port().to_string());
    let mut wrong = Served::prepare_with(skewed(folder, seconds), &config, SCRIPT);
    wrong.write("database-password", PASSWORD);
    join(&right, &mut wrong).await;
    let words = std::fs::read_to_string(wrong.log()).expect("a log");
    assert!(words.contains("the database's counts"), "it is told at the start:\n{words}");
    (right, wrong)
}

fn question_for(seconds: u64) -> Value {
    let mut question = question();
    question["expires_in_s"] = seconds.into();
    question
}

#[tokio::test(flavor = "multi_thread")]
async fn i28_on_a_node_whose_clock_is_a_day_ahead_nothing_expires_early() {
    let (cluster, folder) = (Cluster::start_durable().await, tempfile::tempdir().unwrap());
    let (right, wrong) = right_and_wrong(&cluster, folder.path(), DAY_S).await;
    let hold = right.program().post("/v1/holds", &question_for(3600)).await.must(201);
    let shown = wrong.admin().hold(&hold["id"]).await;
    wrong.admin().approve(&shown).await;
    // And what is opened there has the time of the others.
    let later = wrong.program().post("/v1/holds", &question_for(3600)).await.must(201);
    let shown = right.admin().hold(&later["id"]).await;
    // In one format, so that texts compare as times do.
    let text = |hold: &Value, name: &str| hold[name].as_str().unwrap().to_owned();
    let opened_at = text(&later, "opened_at");
    assert!(opened_at < text(&hold, "expires_at"), "{later}");
    right.admin().approve(&shown).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn i28_a_node_whose_clock_is_a_day_behind_takes_no_answer_after_the_deadline() {
    let (cluster, folder) = (Cluster::start_durable().await, tempfile::tempdir().unwrap());
    let (mut right, wrong) = right_and_wrong(&cluster, folder.path(), -DAY_S).await;
    let hold = right.program().post("/v1/holds", &question_for(2)).await.must(201);
    let shown = wrong.admin().hold(&hold["id"]).await;
    // The node that goes by the right time is gone: nobody else can make it expire.
    right.kill().await;
    let path =
        format!("/v1/holds/{}/wait?until=decided&timeout_s=30", hold["id"].as_str().unwrap());
    assert_eq!(wrong.admin().get(&path).await.must(200)["state"], "expired");
    let answer = json!({"digest": shown["digest"], "answer": {"verdict": "approve"}});
    let path = format!("/v1/holds/{}/answer", hold["id"].as_str().unwrap());
    assert_eq!(wrong.admin().post(&path, &answer).await.status, 410);
}
