//! The real program, killed at random moments and at every fail point, and stopped in the middle of
//! its work: nothing acknowledged is lost, nothing runs twice, and every transcript stays whole.

use testkit::binary::Binary;
use testkit::crash::Crash;
use testkit::crash::failing::{FailPoints, Zombie};
use testkit::rng::Rng;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn crash_at_random_moments_loses_nothing_and_runs_nothing_twice() {
    let crash = Crash::from_env(200);
    let report = crash.run().await;
    eprintln!("{report}");
    assert!(report.wrong.is_empty(), "{report}");
    assert_eq!(report.killed.kills, crash.kills);
    assert_eq!(report.unproved(), Vec::<String>::new(), "{report}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn crash_at_every_fail_point_loses_nothing_and_runs_nothing_twice() {
    let points = FailPoints::from_env();
    let report = points.run().await;
    eprintln!("{report}");
    assert!(report.wrong.is_empty(), "{report}");
    assert!(report.rows.len() >= 60 || !points.only.is_empty(), "points are missing\n{report}");
    assert!(
        report.rows.values().all(|row| row.kills >= 2),
        "a point was killed once only\n{report}"
    );
}

/// Before the tool was touched: nothing happens while it sleeps, and one thing when it wakes up.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn crash_i17_a_server_that_sleeps_on_its_intent_keeps_everybody_else_out() {
    let zombie = Zombie { at: "execute.before_run", wakes: true, effects_asleep: 0 };
    assert_eq!(zombie.run(Rng::fresh_seed()).await, Vec::<String>::new());
}

/// While the tool runs: it ends by itself, and the server that wakes up finds what it left.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn crash_i17_a_server_that_sleeps_while_its_tool_runs_finds_the_result() {
    let zombie = Zombie { at: "process.ordered", wakes: true, effects_asleep: 1 };
    assert_eq!(zombie.run(Rng::fresh_seed()).await, Vec::<String>::new());
}

/// A sleeper that never wakes up: only when it is dead does another one take over, and that one
/// runs nothing again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn crash_i17_whoever_takes_over_from_a_sleeper_runs_nothing_twice() {
    for (at, effects_asleep) in [("execute.before_run", 0), ("process.ordered", 1)] {
        let zombie = Zombie { at, wakes: false, effects_asleep };
        assert_eq!(zombie.run(Rng::fresh_seed()).await, Vec::<String>::new(), "{at}");
    }
}

/// What ships cannot be told to fail: it has neither the variable nor the names.
#[test]
fn crash_points_are_not_in_the_program_that_ships() {
    let has = |binary: &Binary, needle: &str| {
        let bytes = std::fs::read(binary.path()).expect("the program can be read");
        bytes.windows(needle.len()).any(|window| window == needle.as_bytes())
    };
    for needle in ["HOLDPOINT_FAIL", "execute.before_run", "writer.before_intent"] {
        assert!(has(&Binary::failing(), needle), "{needle} would prove nothing");
        assert!(!has(&Binary::find(), needle), "{needle} is in the program that ships");
    }
}
