//! Power cuts while several clients work, with the checks of the crash test.

use testkit::disk::Cuts;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn disk_i10_i15_power_cuts_lose_nothing_acknowledged_and_run_nothing_twice() {
    let cuts = Cuts::from_env(20);
    let report = cuts.run().await;
    eprintln!("{report}");
    assert!(report.wrong().is_empty(), "{report}");
    assert_eq!(report.cuts(), cuts.cuts);
    // A disk on which all is always safe would show nothing.
    assert!(report.lost.writes >= cuts.cuts, "too little was lost\n{report}");
    assert!(report.lost.names >= cuts.cuts / 2, "too few names were lost\n{report}");
    assert!(report.idle <= cuts.cuts / 2, "too many cuts found everything safe\n{report}");
    assert!(report.crash.counts.answers >= cuts.cuts, "too little was answered\n{report}");
    assert!(report.crash.executions >= cuts.cuts / 2, "too little was run\n{report}");
}

/// The teeth: a disk that says `synced` and is not must be found out by the same checks.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn disk_that_lies_about_syncs_is_found_out() {
    let report = Cuts { lies: true, ..Cuts::from_env(2) }.run().await;
    let lost = report.wrong().iter().filter(|what| what.contains("LOST")).count();
    assert!(lost > 0, "answers were acknowledged, lost, and nobody noticed\n{report}");
    let kept = report.crash.kept.as_ref().expect("what was found wrong is kept");
    std::fs::remove_dir_all(kept).expect("our own folder");
}
