//! Commands under a supervisor: real processes, killed at bad moments.

mod hostile;
mod lost;
mod start_gate;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use holdpoint_tools::process::{
    AttemptTrace, ExitKind, MARKER, ProcessJob, Runner, Spool, Supervisor,
};
use ports::start_gate::StartGate;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

/// Runs an attempt that nothing keeps from beginning.
async fn run(
    runner: &Runner,
    key: &str,
    attempt: u32,
    job: ProcessJob,
    stop: CancellationToken,
) -> AttemptTrace {
    let start = StartGate::default().start(stop.clone());
    runner.run_attempt(key, attempt, job, start, stop).await.unwrap()
}

fn supervisor() -> Supervisor {
    Supervisor { program: env!("CARGO_BIN_EXE_call-supervisor").into(), args: Vec::new() }
}

fn runner(dir: &TempDir) -> Runner {
    Runner::open(Spool::open(dir.path().join("spool")).unwrap(), Some(supervisor()))
}

fn script(dir: &TempDir, text: &str) -> ProcessJob {
    let mut job = ProcessJob::new("/bin/sh", vec!["-c".into(), text.into()], dir.path());
    job.environment.insert("PATH".into(), "/usr/bin:/bin".into());
    job
}

/// Processes that carry a marker and work in this folder: what is left of a call.
fn alive(dir: &TempDir) -> Vec<i32> {
    let folder = dir.path().canonicalize().unwrap();
    fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok())
        .filter(|pid| {
            let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            let is_zombie =
                stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('Z'));
            !is_zombie && fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd| cwd == folder)
        })
        .collect()
}

async fn until(what: impl Fn() -> bool) {
    let waiting = async {
        while !what() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), waiting).await.expect("it never came to that");
}

fn lines(path: &Path) -> usize {
    fs::read_to_string(path).map(|text| text.lines().count()).unwrap_or_default()
}

/// Forks, forks twice, leaves the session, cleans its environment, and keeps on working: for a minute, so that
/// a test that fails leaves nothing behind for ever.
const HYDRA: &str = "
    work() { for _ in $(seq 3000); do echo $1 >> heads; sleep 0.02; done; }
    work forked &
    (work twice &) &
    setsid sh -c 'for _ in $(seq 3000); do echo session >> heads; sleep 0.02; done' &
    setsid env -i PATH=$PATH sh -c '(for _ in $(seq 3000); do echo clean >> heads; sleep 0.02; done) & exit' &
    echo begun
    wait";

fn heads(dir: &TempDir) -> usize {
    let text = fs::read_to_string(dir.path().join("heads")).unwrap_or_default();
    ["forked", "twice", "session", "clean"].iter().filter(|head| text.contains(**head)).count()
}

#[tokio::test]
async fn a_command_is_run_and_its_end_recorded() {
    let dir = tempfile::tempdir().unwrap();
    let runner = runner(&dir);
    let mut job = script(&dir, "cat; echo oops >&2; exit 3");
    job.stdin = b"input".to_vec();
    let trace = run(&runner, "call_a-1", 1, job, CancellationToken::new()).await;
    let AttemptTrace::Ended(ended) = &trace else { panic!("{trace:?}") };
    assert_eq!(ended.exit.how, ExitKind::Exited(3));
    assert_eq!(ended.stdout.to_output().text, "input");
    assert_eq!(ended.both.to_output().text, "input\n[stderr]\noops\n");
    // The same traces tell the next server the same.
    assert_eq!(self::runner(&dir).recover_attempt("call_a-1", 1).await, trace);
    runner.forget_call("call_a-1").await;
    assert_eq!(fs::read_dir(dir.path().join("spool")).unwrap().count(), 0);
}

/// However large it is: what is fed to it while it runs would end where whoever feeds it dies.
#[tokio::test]
async fn i02_a_command_has_all_of_its_input_before_it_begins() {
    let dir = tempfile::tempdir().unwrap();
    let mut job = script(&dir, "stat -L -c %s /dev/stdin; wc -c");
    job.stdin = vec![b'x'; 300_000];
    let trace = run(&runner(&dir), "call_a-1", 1, job, CancellationToken::new()).await;
    let AttemptTrace::Ended(ended) = trace else { panic!("{trace:?}") };
    assert_eq!(ended.both.to_output().text, "300000\n300000\n");
}

#[tokio::test]
async fn i21_a_stop_kills_children_that_forked_twice_and_left_the_session() {
    let dir = tempfile::tempdir().unwrap();
    let (runner, stop) = (runner(&dir), CancellationToken::new());
    let running = run(&runner, "call_a-1", 1, script(&dir, HYDRA), stop.clone());
    let stopping = async {
        until(|| heads(&dir) == 4).await;
        stop.cancel();
    };
    let (trace, ()) = tokio::join!(running, stopping);
    let AttemptTrace::Ended(ended) = trace else { panic!("{trace:?}") };
    assert_eq!((ended.exit.how, ended.exit.may_still_run), (ExitKind::Stopped, 0));
    assert_eq!(alive(&dir), Vec::<i32>::new());
}

#[tokio::test]
async fn i21_the_time_limit_kills_everything_too() {
    let dir = tempfile::tempdir().unwrap();
    let mut job = script(&dir, HYDRA);
    // Long enough for every head to grow on a busy machine.
    job.time_limit = Duration::from_secs(2);
    let trace = run(&runner(&dir), "call_a-1", 1, job, CancellationToken::new()).await;
    let AttemptTrace::Ended(ended) = trace else { panic!("{trace:?}") };
    assert_eq!(ended.exit.how, ExitKind::TimedOut { after_ms: 2_000 });
    assert_eq!(heads(&dir), 4);
    assert_eq!(alive(&dir), Vec::<i32>::new());
}

#[tokio::test]
async fn i21_what_a_command_leaves_behind_is_killed_and_counted() {
    let dir = tempfile::tempdir().unwrap();
    let text = "setsid sleep 600 & (sleep 600 &) ; echo done";
    let trace =
        run(&runner(&dir), "call_a-1", 1, script(&dir, text), CancellationToken::new()).await;
    let AttemptTrace::Ended(ended) = trace else { panic!("{trace:?}") };
    assert_eq!((ended.exit.how, ended.exit.left_behind), (ExitKind::Exited(0), 2));
    assert_eq!(alive(&dir), Vec::<i32>::new());
}

#[tokio::test]
async fn i21_dropping_a_run_kills_it() {
    let dir = tempfile::tempdir().unwrap();
    let runner = runner(&dir);
    let running = run(&runner, "call_a-1", 1, script(&dir, HYDRA), CancellationToken::new());
    tokio::select! {
        trace = running => panic!("it ended by itself: {trace:?}"),
        () = until(|| heads(&dir) == 4) => {}
    }
    until(|| alive(&dir).is_empty()).await;
    let trace = runner.recover_attempt("call_a-1", 1).await;
    let AttemptTrace::Ended(ended) = trace else { panic!("{trace:?}") };
    assert_eq!(ended.exit.how, ExitKind::OwnerGone, "and it is not taken for a failure");
}

#[tokio::test]
async fn i21_a_command_dies_with_its_supervisor() {
    let dir = tempfile::tempdir().unwrap();
    let runner = runner(&dir);
    // The command kills the one that watches it, once that one has heard it.
    let text = "echo begun; until grep -q begun spool/*/stdout; do sleep 0.01; done; kill -9 $PPID; sleep 600";
    let trace = run(&runner, "call_a-1", 1, script(&dir, text), CancellationToken::new()).await;
    let AttemptTrace::Unknown { evidence } = trace else { panic!("{trace:?}") };
    assert!(evidence.contains("no end was recorded"), "{evidence}");
    assert!(evidence.ends_with("The last it printed:\nbegun\n"), "{evidence}");
    assert_eq!(alive(&dir), Vec::<i32>::new());
}

#[tokio::test]
async fn i20_output_is_bounded_and_a_cut_is_explicit() {
    let dir = tempfile::tempdir().unwrap();
    let runner = runner(&dir);
    let trace =
        run(&runner, "call_a-1", 1, script(&dir, "seq 200000"), CancellationToken::new()).await;
    let AttemptTrace::Ended(ended) = trace else { panic!("{trace:?}") };
    let cut = ended.stdout.to_output().cut.expect("it was cut");
    let whole: String = (1..=200_000).map(|n| format!("{n}\n")).collect();
    assert_eq!(cut.total_bytes, whole.len() as u64);
    assert_eq!(cut.digest, domain::digest::Digest::of(whole.as_bytes()));

    let mut flood = script(&dir, "yes");
    flood.spool_bytes_max = 1 << 20;
    let trace = run(&runner, "call_b-1", 1, flood, CancellationToken::new()).await;
    let AttemptTrace::Ended(ended) = trace else { panic!("{trace:?}") };
    assert_eq!(ended.exit.how, ExitKind::TooMuchOutput { bytes_max: 1 << 20 });
    assert_eq!(alive(&dir), Vec::<i32>::new());
}

#[tokio::test]
async fn i21_a_command_of_another_user_is_killed_like_any_other() {
    let dir = tempfile::tempdir().unwrap();
    let (runner, stop) = (runner(&dir), CancellationToken::new());
    let nobody = match runner.run_as("nobody") {
        Ok(nobody) => nobody,
        // Without the privilege there is no such command.
        Err(refusal) => return assert!(refusal.to_string().contains("nobody"), "{refusal}"),
    };
    let mut job = script(&dir, "id -un; setsid sleep 600 & wait");
    job.run_as = Some(nobody);
    let running = run(&runner, "call_a-1", 1, job, stop.clone());
    let stopping = async {
        until(|| alive(&dir).len() >= 2).await;
        stop.cancel();
    };
    let (trace, ()) = tokio::join!(running, stopping);
    let AttemptTrace::Ended(ended) = trace else { panic!("{trace:?}") };
    assert_eq!((ended.exit.how, ended.exit.may_still_run), (ExitKind::Stopped, 0));
    assert_eq!(ended.stdout.to_output().text, "nobody\n");
    assert_eq!(alive(&dir), Vec::<i32>::new());
}

#[tokio::test]
async fn the_supervisor_knows_nothing_of_our_environment() {
    let dir = tempfile::tempdir().unwrap();
    let text = "tr '\\0' '\\n' < /proc/$PPID/environ; echo; env";
    let trace =
        run(&runner(&dir), "call_a-1", 1, script(&dir, text), CancellationToken::new()).await;
    let AttemptTrace::Ended(ended) = trace else { panic!("{trace:?}") };
    let output = ended.stdout.to_output().text;
    for line in output.lines().filter(|line| !line.is_empty()) {
        let name = line.split('=').next().unwrap_or_default();
        assert!([MARKER, "PATH", "PWD", "SHLVL", "_", "OLDPWD"].contains(&name), "{line}");
    }
}

#[tokio::test]
async fn a_command_that_cannot_start_is_told_apart_from_one_that_failed() {
    let dir = tempfile::tempdir().unwrap();
    let runner = runner(&dir);
    let mut job = script(&dir, "true");
    job.directory = dir.path().join("gone");
    let trace = run(&runner, "call_a-1", 1, job, CancellationToken::new()).await;
    let AttemptTrace::Ended(ended) = trace else { panic!("{trace:?}") };
    assert!(matches!(ended.exit.how, ExitKind::NotStarted { .. }), "{:?}", ended.exit);

    let absent = Supervisor { program: dir.path().join("no-supervisor"), args: vec![] };
    let spool = Spool::open(dir.path().join("spool")).unwrap();
    let runner = Runner::open(spool, Some(absent));
    let trace = run(&runner, "call_b-1", 1, script(&dir, "true"), CancellationToken::new()).await;
    assert!(matches!(trace, AttemptTrace::NeverStarted { .. }), "{trace:?}");
    let silent = Supervisor { program: "/bin/true".into(), args: vec![] };
    let spool = Spool::open(dir.path().join("spool")).unwrap();
    let runner = Runner::open(spool, Some(silent));
    let trace = run(&runner, "call_c-1", 1, script(&dir, "true"), CancellationToken::new()).await;
    assert!(matches!(trace, AttemptTrace::NeverStarted { .. }), "{trace:?}");
}

/// Not a test of its own: the server that the next tests kill. It is this same program, told by its
/// environment which folder to work in.
fn doomed_server(dir: &TempDir, text: &str, supervised: bool) -> std::process::Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "a_server_that_will_be_killed", "--nocapture"])
        .env("DOOMED_DIR", dir.path())
        .env("DOOMED_SCRIPT", text)
        .env("DOOMED_SUPERVISED", supervised.to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

#[tokio::test]
async fn a_server_that_will_be_killed() {
    let Ok(dir) = std::env::var("DOOMED_DIR") else {
        // Alone it shows that the server works when it is let live.
        let dir = tempfile::tempdir().unwrap();
        let mut server = doomed_server(&dir, "echo ran >> witness", true);
        assert!(server.wait().unwrap().success());
        assert_eq!(lines(&dir.path().join("witness")), 1);
        return;
    };
    let supervised = std::env::var("DOOMED_SUPERVISED").unwrap() == "true";
    let spool = Spool::open(Path::new(&dir).join("spool")).unwrap();
    let runner = Runner::open(spool, supervised.then(supervisor));
    // As the engine does, before its intent is on disk.
    runner.announce_attempt("call_a-1", 1).await.unwrap();
    let text = std::env::var("DOOMED_SCRIPT").unwrap();
    let mut job = ProcessJob::new("/bin/sh", vec!["-c".into(), text], &dir);
    job.environment.insert("PATH".into(), "/usr/bin:/bin".into());
    let trace = run(&runner, "call_a-1", 1, job, CancellationToken::new()).await;
    assert!(matches!(trace, AttemptTrace::Ended(_)), "{trace:?}");
}

#[tokio::test]
async fn i16_i21_when_the_server_is_killed_its_commands_die_and_the_outcome_is_unknown() {
    let dir = tempfile::tempdir().unwrap();
    let mut server = doomed_server(&dir, HYDRA, true);
    until(|| heads(&dir) == 4).await;
    server.kill().unwrap();
    server.wait().unwrap();
    // Nobody recovers anything: the supervisor does it alone.
    until(|| alive(&dir).is_empty()).await;
    let trace = runner(&dir).recover_attempt("call_a-1", 1).await;
    let AttemptTrace::Ended(ended) = &trace else { panic!("{trace:?}") };
    assert_eq!(ended.exit.how, ExitKind::OwnerGone);
    let recovery = trace.into_recovery(|_| panic!("a killed command did not end by itself"));
    let ports::tool_host::Recovery::Unknown { evidence } = recovery else { panic!("{recovery:?}") };
    assert!(evidence.starts_with("The server died, and the command was killed"), "{evidence}");
    assert!(evidence.contains("begun"), "{evidence}");
}

/// Whether a spool file of standard output below this folder says so.
fn has_printed(folder: &Path, words: &str) -> bool {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).any(|path| match path.is_dir() {
        true => has_printed(&path, words),
        false => {
            path.file_name().is_some_and(|name| name == "stdout")
                && fs::read_to_string(&path).is_ok_and(|text| text.contains(words))
        }
    })
}

#[tokio::test]
async fn i17_without_a_supervisor_the_next_server_kills_what_still_runs() {
    let dir = tempfile::tempdir().unwrap();
    // Without the head that cleans its environment: only a supervisor finds that one.
    let hydra = HYDRA.replace("env -i PATH=$PATH", "");
    let mut server = doomed_server(&dir, &hydra, false);
    until(|| heads(&dir) == 4).await;
    // Here the server itself brings to disk what is printed; what it had not read by its end is lost.
    until(|| has_printed(dir.path(), "begun")).await;
    server.kill().unwrap();
    server.wait().unwrap();
    assert!(!alive(&dir).is_empty(), "nobody was there to kill them");
    let runner = runner(&dir);
    runner.kill_orphans().await;
    assert_eq!(alive(&dir), Vec::<i32>::new());
    let trace = runner.recover_attempt("call_a-1", 1).await;
    let AttemptTrace::Unknown { evidence } = trace else { panic!("{trace:?}") };
    assert!(evidence.starts_with("It was started at 2"), "{evidence}");
    assert!(evidence.contains("as process") && evidence.contains("begun"), "{evidence}");
}

#[tokio::test]
async fn i16_an_end_that_was_recorded_is_found_after_the_server_died() {
    let dir = tempfile::tempdir().unwrap();
    let mut server = doomed_server(
        &dir,
        "echo ran >> witness; kill -9 $(cut -d ' ' -f 4 /proc/$PPID/stat)",
        true,
    );
    server.wait().unwrap();
    until(|| alive(&dir).is_empty()).await;
    // Whichever was first, the command's end or the news of the server's death, is the truth; never
    // "it did not happen".
    let trace = runner(&dir).recover_attempt("call_a-1", 1).await;
    let AttemptTrace::Ended(ended) = trace else { panic!("{trace:?}") };
    assert!(
        matches!(ended.exit.how, ExitKind::Exited(0) | ExitKind::OwnerGone),
        "{:?}",
        ended.exit
    );
    assert_eq!(lines(&dir.path().join("witness")), 1);
}

#[tokio::test]
async fn i17_a_server_that_slept_through_its_recovery_starts_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let (early, late) = (runner(&dir), runner(&dir));
    late.announce_attempt("call_a-1", 1).await.unwrap();
    assert!(matches!(
        early.recover_attempt("call_a-1", 1).await,
        AttemptTrace::NeverStarted { .. }
    ));
    // The old server wakes up and goes on where it was: about to start.
    let job = script(&dir, "echo ran >> witness");
    let trace = run(&late, "call_a-1", 1, job.clone(), CancellationToken::new()).await;
    assert!(matches!(trace, AttemptTrace::NeverStarted { .. }), "{trace:?}");
    assert_eq!(lines(&dir.path().join("witness")), 0);
    assert!(matches!(
        run(&late, "call_a-1", 2, job, CancellationToken::new()).await,
        AttemptTrace::Ended(_)
    ));
    assert_eq!(lines(&dir.path().join("witness")), 1);
}

#[tokio::test]
async fn i16_a_machine_of_several_does_not_conclude_from_its_own_silence() {
    let dir = tempfile::tempdir().unwrap();
    let trace = runner(&dir).recover_attempt("call_a-1", 1).await;
    let AttemptTrace::Unknown { evidence } = trace else { panic!("{trace:?}") };
    assert!(evidence.contains("may have started elsewhere"), "{evidence}");
}

#[tokio::test]
async fn i15_kills_at_random_moments_never_lead_to_a_second_effect() {
    for delay_ms in [0, 1, 2, 3, 5, 8, 12, 20, 30] {
        let dir = tempfile::tempdir().unwrap();
        let mut server = doomed_server(&dir, "echo ran >> witness; sleep 0.01; echo done", true);
        until(|| dir.path().join("spool").exists()).await;
        tokio::time::sleep(Duration::from_millis(delay_ms)).await;
        let _ = server.kill();
        server.wait().unwrap();
        let runner = runner(&dir);
        let witness = dir.path().join("witness");
        match runner.recover_attempt("call_a-1", 1).await {
            AttemptTrace::NeverStarted { .. } => {
                assert_eq!(lines(&witness), 0, "after {delay_ms} ms");
                let job = script(&dir, "echo ran >> witness");
                let again = run(&runner, "call_a-1", 2, job, CancellationToken::new()).await;
                assert!(matches!(again, AttemptTrace::Ended(_)));
                assert_eq!(lines(&witness), 1, "after {delay_ms} ms");
            }
            AttemptTrace::Ended(ended) if ended.exit.how == ExitKind::Exited(0) => {
                assert_eq!(lines(&witness), 1, "after {delay_ms} ms");
                assert_eq!(ended.stdout.to_output().text, "done\n");
            }
            // In doubt: it may have had its one effect, and nothing of it is left to have another.
            AttemptTrace::Ended(_) | AttemptTrace::Unknown { .. } => assert!(lines(&witness) <= 1),
        }
        assert_eq!(alive(&dir), Vec::<i32>::new());
    }
}
