//! A disk that is full: nothing is said to be done that was not, nothing runs, nothing is lost, and
//! everything goes on when there is room again, without a restart.

use std::fs::OpenOptions;
use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};
use testkit::served::{Caller, PATIENCE, Served, unsound};
use tokio::process::Child;
use tokio::time::{Instant, sleep};

use crate::bad_input::namespace::{Disk, Namespace, Size};
use crate::bad_input::{CONFIG, SCRIPT};

/// A server on a disk that can be filled.
struct Cramped {
    served: Served,
    child: Child,
    disk: Disk,
}

impl Cramped {
    async fn start(config: &str, size: Size) -> Cramped {
        let served = Served::prepare(config, SCRIPT);
        let (data, tokens) = (served.path("data"), served.tokens_file());
        std::fs::create_dir(&data).expect("a folder");
        let config = served.path("holdpoint.toml").display().to_string();
        let words = ["serve", "--config", &config];
        let log = OpenOptions::new().create(true).append(true).open(served.log()).expect("a log");
        let mut command = Namespace::here().on_a_small_disk(&data, size, served.binary(), &words);
        let child = command
            .env("HOLDPOINT_BOOTSTRAP_TOKENS_FILE", tokens)
            .stdout(log.try_clone().expect("another handle"))
            .stderr(log)
            .spawn()
            .expect("it starts");
        let disk = Disk::of(child.id().expect("a process"), &data);
        let cramped = Cramped { served, child, disk };
        let until = Instant::now() + PATIENCE;
        let ready = cramped.served.stranger();
        loop {
            let reply = ready.request(Method::GET, "/readyz").send().await;
            if reply.is_ok_and(|reply| reply.status() == 200) {
                return cramped;
            }
            let said = std::fs::read_to_string(cramped.served.log()).unwrap_or_default();
            assert!(Instant::now() < until, "it does not start: {said}");
            sleep(Duration::from_millis(20)).await;
        }
    }

    async fn one_hold(&self, say: &str) -> (String, Value) {
        let ana = self.served.admin();
        let session = ana.session("worker").await;
        ana.say(&session, say).await;
        let hold = ana.held(&session, 1).await.remove(0);
        (session, hold)
    }
}

async fn unavailable(who: &Caller, path: &str, body: &Value, key: &str) {
    let request = who.request(Method::POST, path).header("Idempotency-Key", key).json(body);
    let reply = who.send(request).await;
    let after = reply.header("retry-after").and_then(|after| after.parse::<u64>().ok());
    assert!(after.is_some_and(|seconds| (1..=60).contains(&seconds)), "{path}: {reply:?}");
    let problem = reply.problem(503, "unavailable");
    assert!(!problem.to_string().contains("data/"), "where things lie is not said: {problem}");
}

#[tokio::test]
async fn i39_a_full_disk_takes_nothing_loses_nothing_and_heals() {
    full_and_free_again(Size::Enough).await;
}

/// Then not even the trouble can be written down, which must not make it worse.
#[tokio::test]
async fn i39_a_full_disk_with_the_log_on_it_takes_nothing_loses_nothing_and_heals() {
    full_and_free_again(Size::EnoughWithLog).await;
}

async fn full_and_free_again(size: Size) {
    let mut cramped = Cramped::start(CONFIG, size).await;
    let ana = cramped.served.admin();
    let (session, hold) = cramped.one_hold("note a").await;
    let (other, untouched) = cramped.one_hold("note b").await;
    cramped.disk.fill();

    let answer = format!("/v1/holds/{}/answer", hold["id"].as_str().expect("an id"));
    let approve = json!({"digest": hold["digest"], "answer": {"verdict": "approve"}});
    let key = Caller::fresh_key();
    let say = format!("/v1/sessions/{other}/messages");
    let ask = json!({"kind": "fill", "title": "Why?"});
    for attempt in 0..3 {
        unavailable(&ana, &answer, &approve, &key).await;
        let fresh = format!("{key}-{attempt}");
        unavailable(&ana, "/v1/sessions", &json!({"agent": "worker"}), &fresh).await;
        unavailable(&ana, &say, &json!({"text": "note c"}), &format!("{fresh}-say")).await;
        unavailable(&ana, "/v1/holds", &ask, &format!("{fresh}-ask")).await;
    }
    // It can be read all the same, and nothing has changed.
    for hold in [&hold, &untouched] {
        assert_eq!(ana.hold(&hold["id"]).await, *hold);
    }
    assert_eq!(ana.get("/healthz").await.status, 200);
    assert_eq!(cramped.served.witness().lines(), Ok(Vec::new()));
    let said = std::fs::read_to_string(cramped.served.log()).expect("a log");
    if size == Size::Enough && matches!(Namespace::here(), Namespace::Mounts(_)) {
        assert!(said.contains("the disk is full; free some space"), "the operator is told: {said}");
    }

    cramped.disk.free();
    // The very same request is taken now, and acts once.
    let request = || ana.request(Method::POST, &answer).header("Idempotency-Key", &key);
    let until = Instant::now() + PATIENCE;
    while ana.send(request().json(&approve)).await.status == 503 {
        assert!(Instant::now() < until, "it does not heal");
        sleep(Duration::from_millis(50)).await;
    }
    let again = ana.send(request().json(&approve)).await.must(200);
    assert_eq!(again["decision"]["by"], "ana", "{again:#}");
    let read = ana.run_is(&session, "completed").await;
    assert_eq!(unsound(&read), Vec::<String>::new());
    ana.approve(&untouched).await;
    ana.run_is(&other, "completed").await;
    let inputs: Vec<Value> =
        cramped.served.witness().lines().expect("a witness").into_iter().map(|l| l.input).collect();
    assert_eq!(inputs, [json!({"note": "a"}), json!({"note": "b"})]);
    cramped.served.audited().await;
    cramped.child.kill().await.expect("our own child");
}

#[tokio::test]
async fn a_disk_that_fills_up_while_a_call_runs_never_leads_to_a_second_run() {
    let slow = CONFIG.replace("@SITE@/append.sh", "@SITE@/slow.sh");
    let mut cramped = Cramped::start(&slow, Size::EnoughWithLog).await;
    cramped.served.write(
        "slow.sh",
        "sh @SITE@/append.sh \"$1\" || exit 1\nuntil [ -e @SITE@/go ]; do sleep 0.05; done\n",
    );
    let ana = cramped.served.admin();
    let (session, hold) = cramped.one_hold("note a").await;
    ana.approve(&hold).await;
    let until = Instant::now() + PATIENCE;
    while cramped.served.witness().lines().expect("a witness").is_empty() {
        assert!(Instant::now() < until, "the call does not run");
        sleep(Duration::from_millis(20)).await;
    }
    cramped.disk.fill();
    cramped.served.write("go", "");
    // Its result cannot be written now, and is not made up.
    sleep(Duration::from_millis(700)).await;
    let read = ana.read(&session).await;
    assert_eq!(read["run"]["status"], "running", "{:#}", read["run"]);
    assert_eq!(ana.hold(&hold["id"]).await["outcome"]["state"], "executing");
    cramped.disk.free();
    let mut read = ana.until(&session, "an end", |read| read["run"]["status"] != "running").await;
    if read["run"]["status"] == "paused" {
        // Not even the call's end could be written down: so a person is asked what happened.
        let settle = ana.held(&session, 1).await.remove(0);
        assert_eq!((&settle["kind"], &settle["parent"]), (&json!("settle"), &hold["id"]));
        ana.answer(&settle, json!({"settle": "succeeded", "content": "I saw it"})).await.must(200);
        read = ana.run_is(&session, "completed").await;
    }
    assert_eq!(read["run"]["status"], "completed", "{read:#}");
    assert_eq!(unsound(&read), Vec::<String>::new());
    assert_eq!(ana.hold(&hold["id"]).await["outcome"]["state"], "succeeded");
    assert_eq!(cramped.served.witness().lines().expect("a witness").len(), 1, "it ran once");
    cramped.child.kill().await.expect("our own child");
}

#[tokio::test]
async fn a_server_that_starts_on_a_full_disk_says_so() {
    let served = Served::prepare(CONFIG, SCRIPT);
    let data = served.path("data");
    std::fs::create_dir(&data).expect("a folder");
    let way = Namespace::here();
    let config = served.path("holdpoint.toml").display().to_string();
    let words = ["serve", "--config", &config];
    let mut command = way.on_a_small_disk(&data, Size::TooSmall, served.binary(), &words);
    if matches!(way, Namespace::None) {
        let limited = "ulimit -f 16; exec \"$@\"";
        let inner = std::mem::replace(&mut command, tokio::process::Command::new("sh"));
        command.args(["-c", limited, "sh"]).arg(inner.as_std().get_program());
        command.args(inner.as_std().get_args()).kill_on_drop(true);
    }
    let ended = command.output();
    let ended = tokio::time::timeout(PATIENCE, ended).await.expect("an end").expect("a start");
    let said = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert_eq!(ended.status.code(), Some(1), "{said}");
    let told = match way {
        Namespace::Mounts(_) => said.contains("free space") || said.contains("free some space"),
        Namespace::None => said.contains(&data.display().to_string()),
    };
    assert!(told, "{said}");
}
