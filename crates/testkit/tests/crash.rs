//! The real program, killed a hundred times: nothing acknowledged is lost, nothing runs twice, and
//! every transcript stays whole.

use testkit::crash::Crash;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn crash_at_random_moments_loses_nothing_and_runs_nothing_twice() {
    let crash = Crash::from_env(100);
    let report = crash.run().await;
    eprintln!("{report}");
    assert!(report.wrong.is_empty(), "{report}");
    assert_eq!(report.killed.kills, crash.kills);
    // A test in which nothing happened would pass, too.
    assert!(report.counts.answers >= crash.kills, "too little was answered\n{report}");
    assert!(report.executions >= crash.kills / 2, "too little was run\n{report}");
    if crash.kills >= 100 {
        for phase in [
            "thinking about a message",
            "waiting for an answer",
            "executing, no effect yet",
            "executing, effect done",
            "starting",
        ] {
            assert!(report.killed.phases.contains_key(phase), "no kill hit `{phase}`\n{report}");
        }
        assert!(report.in_doubt > 0, "no call was left in doubt\n{report}");
    }
}
