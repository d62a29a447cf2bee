//! Commands that mean harm: output without end, files without size, processes that do not hold still.

use std::fs::OpenOptions;
use std::path::PathBuf;

use super::*;
use ports::tool_host::Recovery;

/// Longer than anything bounded takes on a busy machine, and nothing against reading terabytes.
const BOUNDED: Duration = Duration::from_secs(60);

fn spool_file(dir: &TempDir, name: &str) -> PathBuf {
    dir.path().join("spool/call_a-1-1").join(name)
}

#[tokio::test]
async fn i50_a_command_cannot_make_its_output_larger_than_it_printed() {
    let dir = tempfile::tempdir().unwrap();
    let runner = runner(&dir);
    let text = "echo first; truncate -s 8T /dev/stdout; truncate -s 8T /dev/stderr; exit 0";
    let running = run(&runner, "call_a-1", 1, script(&dir, text), CancellationToken::new());
    let trace = tokio::time::timeout(BOUNDED, running).await.expect("the output has a bound");
    let AttemptTrace::Ended(ended) = trace else { panic!("{trace:?}") };
    assert_eq!(ended.exit.how, ExitKind::Exited(0));
    assert!(ended.stdout.to_output().text.starts_with("first\n"), "{:?}", ended.stdout);
    for name in ["stdout", "stderr"] {
        let length = fs::metadata(spool_file(&dir, name)).unwrap().len();
        assert!(length < 1_000, "{name} has {length} bytes");
    }
}

/// What a command printed stays: it can neither be cut off nor written over.
#[tokio::test]
async fn a_command_cannot_change_what_it_printed_before() {
    let dir = tempfile::tempdir().unwrap();
    let text =
        "echo deleted everything; truncate -s 0 /dev/stdout; echo looked around > /dev/stdout";
    let trace =
        run(&runner(&dir), "call_a-1", 1, script(&dir, text), CancellationToken::new()).await;
    let AttemptTrace::Ended(ended) = trace else { panic!("{trace:?}") };
    assert_eq!(ended.stdout.to_output().text, "deleted everything\nlooked around\n");
}

/// As a version before the pipes left them, or a command that runs as our own user.
#[tokio::test]
async fn i50_spool_files_of_any_size_are_read_up_to_the_bound() {
    let dir = tempfile::tempdir().unwrap();
    let job = script(&dir, "echo out; echo err >&2");
    run(&runner(&dir), "call_a-1", 1, job, CancellationToken::new()).await;
    let huge = 8 << 40;
    for name in ["stdout", "stderr"] {
        let file = OpenOptions::new().write(true).open(spool_file(&dir, name)).unwrap();
        file.set_len(huge).unwrap();
    }
    let runner = runner(&dir);
    let looking = runner.recover_attempt("call_a-1", 1);
    let trace = tokio::time::timeout(BOUNDED, looking).await.expect("reading has a bound");
    let AttemptTrace::Ended(ended) = trace else { panic!("{trace:?}") };
    let output = ended.both.to_output();
    assert_eq!(output.cut.expect("a cut").total_bytes, 2 * huge);
    assert!(output.text.contains("were read"), "what was not read is said");

    for name in ["exit", "pid", "started"] {
        OpenOptions::new().write(true).open(spool_file(&dir, name)).unwrap().set_len(huge).unwrap();
        let looking = runner.recover_attempt("call_a-1", 1);
        let trace = tokio::time::timeout(BOUNDED, looking).await.expect("reading has a bound");
        assert!(matches!(trace, AttemptTrace::Unknown { .. }), "{name}: {trace:?}");
    }
}

#[tokio::test]
async fn i50_a_pipe_in_place_of_a_spool_file_holds_nobody_up() {
    for name in ["stdout", "exit", "started"] {
        let dir = tempfile::tempdir().unwrap();
        let runner = runner(&dir);
        run(&runner, "call_a-1", 1, script(&dir, "echo out"), CancellationToken::new()).await;
        let path = spool_file(&dir, name);
        fs::remove_file(&path).unwrap();
        assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
        let looking = runner.recover_attempt("call_a-1", 1);
        let trace = tokio::time::timeout(BOUNDED, looking).await.expect("nobody writes to it");
        assert!(matches!(trace, AttemptTrace::Unknown { .. }), "{name}: {trace:?}");
    }
}

/// Each process forks and ends at once, so that none of them is there for longer than a moment. Ends by itself
/// after half a minute, so that a test that fails leaves nothing behind for ever.
const HOPPER: &str = r#"
    echo begun
    perl -e '
        my $end = time + 30;
        for my $head (1..4) {
            next if fork;
            while (time < $end) {
                my $child = fork;
                last unless defined $child;
                exit 0 if $child;
                setpgrp(0, 0);
                if (open my $out, ">>", "hops") { syswrite $out, "."; close $out }
            }
            exit 0;
        }
    ' &
    "#;

fn hops(dir: &TempDir) -> u64 {
    fs::metadata(dir.path().join("hops")).map(|meta| meta.len()).unwrap_or_default()
}

/// No hop is made any more, seen over a time in which there would be hundreds.
async fn stands_still(dir: &TempDir) -> bool {
    let before = hops(dir);
    tokio::time::sleep(Duration::from_millis(500)).await;
    hops(dir) == before
}

/// Either it is proved that everything is gone, and then it is; or the result says that it may still run.
async fn told_truly(dir: &TempDir, trace: AttemptTrace, how: ExitKind) {
    let AttemptTrace::Ended(ended) = &trace else { panic!("{trace:?}") };
    assert_eq!(ended.exit.how, how);
    let is_proved = ended.exit.may_still_run == 0;
    match trace.into_recovery(|_| domain::outcome::Outcome::Succeeded(Default::default())) {
        Recovery::Unknown { evidence } => {
            assert!(!is_proved && evidence.contains("may still run"), "{evidence}");
        }
        other => {
            assert!(is_proved, "{other:?}");
            assert!(stands_still(dir).await, "it is said to be stopped: {other:?}");
        }
    }
}

#[tokio::test]
async fn i51_a_fork_hopping_tree_is_stopped_or_said_to_run() {
    let dir = tempfile::tempdir().unwrap();
    let (runner, stop) = (runner(&dir), CancellationToken::new());
    let job = script(&dir, &format!("{HOPPER} sleep 60"));
    let running = run(&runner, "call_a-1", 1, job, stop.clone());
    let stopping = async {
        until(|| hops(&dir) > 100).await;
        stop.cancel();
    };
    let (trace, ()) = tokio::join!(running, stopping);
    told_truly(&dir, trace, ExitKind::Stopped).await;
}

#[tokio::test]
async fn i51_the_time_limit_stops_a_fork_hopping_tree_or_says_that_it_runs() {
    let dir = tempfile::tempdir().unwrap();
    let mut job = script(&dir, &format!("{HOPPER} sleep 60"));
    job.time_limit = Duration::from_secs(2);
    let trace = run(&runner(&dir), "call_a-1", 1, job, CancellationToken::new()).await;
    told_truly(&dir, trace, ExitKind::TimedOut { after_ms: 2_000 }).await;
}

#[tokio::test]
async fn i51_a_fork_hopping_tree_that_is_left_behind_is_stopped_or_said_to_run() {
    let dir = tempfile::tempdir().unwrap();
    let text = format!("{HOPPER} until [ -s hops ]; do sleep 0.01; done");
    let trace =
        run(&runner(&dir), "call_a-1", 1, script(&dir, &text), CancellationToken::new()).await;
    told_truly(&dir, trace, ExitKind::Exited(0)).await;
}
