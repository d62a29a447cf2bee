//! Syncs and writes that fail, once or for a while, and a server that is killed in the middle of one.

use std::collections::BTreeSet;
use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};
use testkit::disk::{Fault, SYNCS, Strace, Trace};
use testkit::served::{Caller, PATIENCE, Served};
use tokio::time::{Instant, sleep};

use crate::disk::client::Client;
use crate::disk::{SCRIPT, approval, config, one_hold};

const CALLS: &str = "fdatasync,fsync,pwrite64,openat";

/// What fails: SQLite's own files, or also the spool of the commands.
#[derive(Clone, Copy, Debug)]
enum Where {
    Database,
    Anywhere,
}

async fn attach(served: &Served, place: Where, fault: Fault) -> Strace {
    let log = served.log().with_file_name(format!("strace-{}", Caller::fresh_key()));
    let files = match place {
        Where::Database => vec![served.database(), served.path("data/holdpoint.db-wal")],
        Where::Anywhere => Vec::new(),
    };
    Strace::attach(served.id(), CALLS, &files, &[fault], &log).await
}

#[tokio::test]
async fn disk_i38_i39_syncs_that_fail_take_nothing_and_heal() {
    fails_and_heals(Fault::error(SYNCS, "EIO"), "the disk fails").await;
}

#[tokio::test]
async fn disk_i38_i39_writes_that_fail_take_nothing_and_heal() {
    fails_and_heals(Fault::error("pwrite64", "EIO"), "the disk fails").await;
}

#[tokio::test]
async fn disk_i38_i39_writes_without_space_take_nothing_and_heal() {
    fails_and_heals(Fault::error("pwrite64", "ENOSPC"), "the disk is full; free some space").await;
}

async fn fails_and_heals(fault: Fault, told: &str) {
    let served = Served::start(&config(), SCRIPT).await;
    let (ana, session, hold) = one_hold(&served, "note a").await;
    let (_, other, untouched) = one_hold(&served, "note b").await;
    let strace = attach(&served, Where::Database, fault).await;

    let (answer, approve) = approval(&hold);
    let key = Caller::fresh_key();
    for attempt in 0..2 {
        unavailable(&ana, &answer, &approve, &key).await;
        let fresh = format!("{key}-{attempt}");
        unavailable(&ana, "/v1/sessions", &json!({"agent": "worker"}), &fresh).await;
        let say = format!("/v1/sessions/{other}/messages");
        unavailable(&ana, &say, &json!({"text": "note c"}), &format!("{fresh}-say")).await;
    }
    for hold in [&hold, &untouched] {
        assert_eq!(ana.hold(&hold["id"]).await, *hold, "it can be read, and nothing has changed");
    }
    assert_eq!(served.witness().lines(), Ok(Vec::new()));
    let said = std::fs::read_to_string(served.log()).expect("a log");
    assert!(said.contains(told), "the operator is told: {said}");

    let trace = strace.detach().await;
    assert!(trace.injected().count() >= 2, "the fault was there");
    never_goes_on_with_a_handle_that_failed(&trace);
    // The very same request is taken now, by the same process, and acts once.
    let request = || ana.request(Method::POST, &answer).header("Idempotency-Key", &key);
    let until = Instant::now() + PATIENCE;
    while ana.send(request().json(&approve)).await.status == 503 {
        assert!(Instant::now() < until, "it does not heal");
        sleep(Duration::from_millis(20)).await;
    }
    ana.send(request().json(&approve)).await.must(200);
    ana.run_is(&session, "completed").await;
    ana.approve(&untouched).await;
    ana.run_is(&other, "completed").await;
    let lines = served.witness().lines().expect("a witness");
    let inputs: Vec<Value> = lines.into_iter().map(|line| line.input).collect();
    assert_eq!(inputs, [json!({"note": "a"}), json!({"note": "b"})]);
    served.audited().await;
}

async fn unavailable(who: &Caller, path: &str, body: &Value, key: &str) {
    let request = who.request(Method::POST, path).header("Idempotency-Key", key).json(body);
    let reply = who.send(request).await;
    let after = reply.header("retry-after").and_then(|after| after.parse::<u64>().ok());
    assert!(after.is_some_and(|seconds| (1..=60).contains(&seconds)), "{path}: {reply:?}");
    reply.problem(503, "unavailable");
}

/// After a fault the log of the database is opened anew before it is written or synced again: the
/// kernel tells of a failed sync once, and a second one on the same handle would seem to work.
fn never_goes_on_with_a_handle_that_failed(trace: &Trace) {
    const WAL: &str = "holdpoint.db-wal";
    for failed in trace.injected().filter(|call| call.is_on(WAL)) {
        let uses = |call: &&testkit::disk::Seen| {
            call.began > failed.ended
                && call.thread == failed.thread
                && call.is_on(WAL)
                && (call.name == "pwrite64" || call.is_sync())
        };
        let Some(next) = trace.calls.iter().find(uses) else { continue };
        let opened = trace.of("openat").any(|call| {
            call.arguments.contains(WAL) && call.began > failed.ended && call.ended < next.began
        });
        assert!(opened, "it went on with the same handle: {failed:?} and then {next:?}");
    }
}

/// One fault at each step of a cycle, on a server that goes on.
#[tokio::test]
async fn disk_i38_one_failing_call_at_any_step_of_a_cycle_loses_and_repeats_nothing() {
    let served = Served::start(&config(), SCRIPT).await;
    let client = Client::of(&served);
    let (mut injected, mut refused, mut in_doubt, mut effects) = (0, 0, 0, 0);
    let mut cycles = 0;
    for (place, calls, error, steps) in [
        (Where::Database, SYNCS, "EIO", vec![1, 2, 3, 4, 5, 6]),
        (Where::Database, "pwrite64", "ENOSPC", vec![1, 2, 9, 20, 31, 45, 60, 75, 90]),
        (Where::Anywhere, SYNCS, "EIO", vec![1, 2, 3, 4, 5, 6]),
    ] {
        for step in steps {
            let fault = Fault::error(calls, error).at(step);
            let strace = attach(&served, place, fault).await;
            let cycle = client.cycle(&format!("{cycles}-{step}")).await;
            injected += strace.detach().await.injected().count();
            cycles += 1;
            refused += cycle.refused;
            in_doubt += cycle.in_doubt;
            effects += cycle.effects;
        }
    }
    eprintln!(
        "{cycles} cycles, {injected} faults, {refused} refused, {in_doubt} in doubt, {effects} effects"
    );
    assert!(injected >= cycles, "too few faults: {injected} in {cycles} cycles");
    assert!(effects > cycles / 2, "too little was run: {effects} of {cycles}");
    served.audited().await;
}

/// The server dies in the place of a call, at each step of a cycle, and another takes over.
#[tokio::test]
async fn disk_i10_i15_a_kill_at_any_step_of_a_cycle_loses_and_repeats_nothing() {
    let mut served = Served::start(&config(), SCRIPT).await;
    let client = Client::of(&served);
    let mut killed = BTreeSet::new();
    for (place, calls, steps) in [
        (Where::Database, SYNCS, vec![1, 2, 3, 4, 5, 6]),
        (Where::Database, "pwrite64", vec![1, 4, 16, 30, 44, 58, 72]),
        (Where::Anywhere, SYNCS, vec![1, 3, 6]),
    ] {
        for step in steps {
            let mut strace = attach(&served, place, Fault::kill(calls).at(step)).await;
            let note = format!("{place:?}-{calls}-{step}");
            let cycle = client.cycle(&note);
            let mut cycle = std::pin::pin!(cycle);
            tokio::select! {
                _ = &mut cycle => drop(strace.detach().await),
                () = strace.ended() => {
                    killed.insert(note.clone());
                    served.kill().await;
                    served.up().await;
                    cycle.await;
                }
            }
        }
    }
    eprintln!("killed at {killed:?}");
    assert!(killed.len() >= 12, "too few kills: {killed:?}");
    served.audited().await;
}
