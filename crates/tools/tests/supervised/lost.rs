//! Traces that are gone. What is not there proves nothing: no command is started a second time for it.

use super::*;

const TRACES: [&str; 6] = ["announced", "started", "pid", "stdout", "stderr", "exit"];

#[tokio::test]
async fn i49_a_lost_trace_never_proves_that_nothing_ran() {
    for lost in TRACES.map(Some).into_iter().chain([None]) {
        let dir = tempfile::tempdir().unwrap();
        let first = runner(&dir);
        let job = script(&dir, "echo ran >> witness");
        let trace = run(&first, "call_a-1", 1, job, CancellationToken::new()).await;
        assert!(matches!(trace, AttemptTrace::Ended(_)), "{trace:?}");
        assert_eq!(lines(&dir.path().join("witness")), 1);

        let folder = dir.path().join("spool/call_a-1-1");
        match lost {
            Some(name) => drop(fs::remove_file(folder.join(name))),
            None => fs::remove_dir_all(&folder).unwrap(),
        }
        // The first look, a second one after another crash, and one that finds what the others left.
        for look in 1..=3 {
            let trace = runner(&dir).recover_attempt("call_a-1", 1).await;
            assert!(
                !matches!(trace, AttemptTrace::NeverStarted { .. }),
                "{lost:?}, look {look}: {trace:?}"
            );
            let is_known = ["announced", "pid"].map(Some).contains(&lost);
            assert_eq!(matches!(trace, AttemptTrace::Ended(_)), is_known, "{lost:?}: {trace:?}");
        }
    }
}

#[tokio::test]
async fn i49_a_lost_spool_leaves_every_attempt_in_doubt() {
    let dir = tempfile::tempdir().unwrap();
    let mut server = doomed_server(&dir, "echo ran >> witness; sleep 600", true);
    until(|| lines(&dir.path().join("witness")) == 1).await;
    server.kill().unwrap();
    server.wait().unwrap();
    until(|| alive(&dir).is_empty()).await;
    // The supervisor may be writing its last words into the folder that goes.
    until(|| fs::remove_dir_all(dir.path().join("spool")).is_ok()).await;
    let trace = runner(&dir).recover_attempt("call_a-1", 1).await;
    let AttemptTrace::Unknown { evidence } = trace else { panic!("{trace:?}") };
    assert!(evidence.contains("No trace"), "{evidence}");
}
