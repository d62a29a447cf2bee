//! A freeze and a command that is about to start (I-52).

use ports::start_gate::NotBegun;
use tokio::task::JoinSet;

use super::*;

/// What is in the folder of an attempt.
fn traces(dir: &TempDir, attempt: &str) -> Vec<String> {
    let Ok(entries) = fs::read_dir(dir.path().join("spool").join(attempt)) else {
        return Vec::new();
    };
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.collect()
}

/// With and without a supervisor.
fn runners(dir: &TempDir) -> [Runner; 2] {
    [runner(dir), Runner::open(Spool::open(dir.path().join("spool")).unwrap(), None)]
}

#[tokio::test]
async fn i52_a_command_that_is_refused_at_the_gate_has_not_begun_and_may_start_again() {
    let dir = tempfile::tempdir().unwrap();
    for (number, runner) in runners(&dir).into_iter().enumerate() {
        let key = format!("call_{number}-1");
        let (gate, stop) = (StartGate::default(), CancellationToken::new());
        let mut job = script(&dir, "cat > /dev/null; echo ran >> ran");
        // More than a pipe holds: the order waits until the supervisor reads.
        job.stdin = vec![b'x'; 1 << 20];
        gate.close();
        for attempt in [1, 2] {
            runner.announce_attempt(&key, attempt).await.unwrap();
            let start = gate.start(stop.clone());
            let refused = runner.run_attempt(&key, attempt, job.clone(), start, stop.clone()).await;
            assert!(refused.is_err(), "{refused:?}");
            assert_eq!(traces(&dir, &format!("{key}-{attempt}")), ["announced"]);
        }
        let found = runner.recover_attempt(&key, 2).await;
        assert!(matches!(found, AttemptTrace::NeverStarted { .. }), "{found:?}");
        gate.open();
        let trace = runner.run_attempt(&key, 1, job, gate.start(stop.clone()), stop).await.unwrap();
        assert!(matches!(trace, AttemptTrace::Ended(_)), "{trace:?}");
        let ran = fs::read_to_string(dir.path().join("ran")).unwrap();
        assert_eq!(ran.lines().count(), number + 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn i52_what_has_not_begun_when_a_freeze_is_acknowledged_does_not_begin_later() {
    let dir = tempfile::tempdir().unwrap();
    let (mut begun, mut refused) = (0, 0);
    for (number, runner) in runners(&dir).into_iter().cycle().enumerate() {
        if begun == 20 {
            break;
        }
        let key = format!("call_{number}-1");
        let (gate, stop) = (StartGate::default(), CancellationToken::new());
        let (start, job) = (gate.start(stop.clone()), script(&dir, "true"));
        let mut running = JoinSet::new();
        let of = key.clone();
        running.spawn(async move { runner.run_attempt(&of, 1, job, start, stop).await });
        // The freeze falls into every part of the start.
        for _ in 0..number * 60 {
            traces(&dir, &format!("{key}-1"));
            tokio::task::yield_now().await;
        }
        gate.close();
        gate.idle().await;
        let had_begun = traces(&dir, &format!("{key}-1")).iter().any(|name| name == "started");
        let ended: Result<AttemptTrace, NotBegun> = running.join_next().await.unwrap().unwrap();
        assert_eq!(ended.is_ok(), had_begun, "{number}: {ended:?}");
        match had_begun {
            true => begun += 1,
            false => refused += 1,
        }
    }
    assert!(refused > 0, "a freeze before everything else is one of them");
}
