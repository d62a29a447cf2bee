use std::fs;

use domain::call::Proposal;
use domain::digest::Digest;
use domain::id::CallId;
use tempfile::TempDir;

use super::*;
use crate::cleared::{clear_call, open_gate};
use crate::process::Spool;

struct Bench {
    dir: TempDir,
    host: ShellCmd,
}

impl Bench {
    fn new(change: impl FnOnce(&mut ShellConfig)) -> Bench {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().join("home");
        fs::create_dir_all(home.join("sub")).unwrap();
        let spool = Spool::open(dir.path().join("spool")).unwrap();
        let mut config = ShellConfig::new(home);
        change(&mut config);
        let host = ShellCmd::new(config, Runner::open(spool, None)).unwrap();
        Bench { dir, host }
    }

    async fn prepare(&self, arguments: Value) -> Result<Prepared, String> {
        let arguments = Arguments::from_value(arguments).unwrap();
        self.host.prepare(&arguments).await.map_err(|error| error.to_string())
    }

    async fn call(&self, arguments: Value) -> Call {
        let context = self.prepare(arguments.clone()).await.unwrap().context;
        let proposal = Proposal {
            id: CallId::new(1, u128::from_le_bytes(std::array::from_fn(|n| n as u8))),
            tool_use_id: "toolu_1".into(),
            agent: "ops".into(),
            session: None,
            arguments: Arguments::from_value(arguments).unwrap(),
            context,
            policy: Digest::of(b""),
        };
        Call::propose(proposal, self.host.tool())
    }

    async fn run(&self, arguments: Value) -> Outcome {
        let call = self.call(arguments).await;
        let outcome = self
            .host
            .run(clear_call(call.clone(), 1), open_gate(), CancellationToken::new())
            .await
            .unwrap();
        assert!(self.dir.path().join("spool").read_dir().unwrap().next().is_some());
        self.host.forget(&call).await;
        assert!(self.dir.path().join("spool").read_dir().unwrap().next().is_none(), "forgotten");
        outcome
    }
}

fn text(outcome: Outcome) -> String {
    match outcome {
        Outcome::Succeeded(output) => output.whole(),
        Outcome::Failed(output) => format!("failed: {}", output.whole()),
        Outcome::Unknown { evidence } => format!("unknown: {evidence}"),
    }
}

#[tokio::test]
async fn a_person_is_told_what_runs_where_and_for_how_long() {
    let bench = Bench::new(|_| {});
    let prepared =
        bench.prepare(json!({"argv": ["git", "commit", "-m", "a b"], "timeout_s": 5})).await;
    let prepared = match prepared {
        Ok(prepared) => prepared,
        // Where there is no git the test still shows how that is said.
        Err(why) => {
            assert_eq!(why, "no program `git` was found on PATH; name one that is installed");
            return;
        }
    };
    assert_eq!(prepared.title.as_deref(), Some("Run: git commit -m 'a b'"));
    let detail = prepared.context.detail;
    assert!(
        detail.starts_with("program /") && detail.contains("/git\nenvironment HOME, LANG, LC_*"),
        "{detail}"
    );
    assert!(detail.ends_with("time limit 5 s"), "{detail}");
    assert!(prepared.context.working_directory.unwrap().ends_with("/home"));
    assert_eq!(prepared.preview.warnings, Vec::<&str>::new());
}

#[tokio::test]
async fn words_reach_the_program_as_they_are() {
    let bench = Bench::new(|_| {});
    let argv = json!({"argv": ["printf", "%s|", "$HOME", "`id`", "; rm -rf /", "*", "a  b"]});
    assert_eq!(text(bench.run(argv).await), "$HOME|`id`|; rm -rf /|*|a  b|");
    let input = json!({"argv": ["cat"], "stdin": "héllo\n"});
    assert_eq!(text(bench.run(input).await), "héllo\n");
    let unread = json!({"argv": ["true"], "stdin": "x".repeat(500_000)});
    assert_eq!(text(bench.run(unread).await), "", "input that nobody reads holds up nothing");
}

#[tokio::test]
async fn a_shell_runs_only_where_it_was_asked_for() {
    let refusal = Bench::new(|_| {}).prepare(json!({"command": "ls"})).await.unwrap_err();
    assert!(refusal.starts_with("`command` is turned off here"), "{refusal}");
    let bench = Bench::new(|config| config.allow_shell = true);
    assert_eq!(text(bench.run(json!({"command": "echo $((1 + 1)) | cat"})).await), "2\n");
    let prepared = bench.prepare(json!({"command": "echo hi; rm -rf x"})).await.unwrap();
    assert_eq!(prepared.title.as_deref(), Some("Run in a shell: echo hi; rm -rf x"));
    assert_eq!(prepared.preview.warnings.len(), 1, "{:?}", prepared.preview.warnings);
    for arguments in [json!({}), json!({"argv": ["ls"], "command": "ls"}), json!({"command": " "})]
    {
        assert!(bench.prepare(arguments).await.is_err());
    }
}

#[tokio::test]
async fn failures_say_the_exit_code_and_both_streams() {
    let bench = Bench::new(|config| config.allow_shell = true);
    let failed = text(bench.run(json!({"command": "echo out; echo err >&2; exit 3"})).await);
    assert_eq!(failed, "failed: Command failed (exit code 3):\nout\n[stderr]\nerr\n");
    let killed = text(bench.run(json!({"command": "kill -9 $$"})).await);
    assert_eq!(killed, "failed: Command failed (killed by signal 9):");
    let well = text(bench.run(json!({"command": "echo out; echo note >&2"})).await);
    assert_eq!(well, "out\n[stderr]\nnote\n");
}

#[tokio::test]
async fn a_command_works_only_inside_the_allowed_folders() {
    let bench = Bench::new(|_| {});
    let home = bench.dir.path().join("home");
    std::os::unix::fs::symlink("/", home.join("escape")).unwrap();
    std::os::unix::fs::symlink(home.join("sub"), home.join("inside")).unwrap();
    for cwd in ["sub", "inside", ".", "sub/..", home.to_str().unwrap()] {
        let prepared = bench.prepare(json!({"argv": ["pwd"], "cwd": cwd})).await;
        let folder = prepared.unwrap().context.working_directory.unwrap();
        assert!(Path::new(&folder).starts_with(home.canonicalize().unwrap()), "{cwd}: {folder}");
    }
    for cwd in ["..", "/", "escape", "escape/tmp", "sub/../..", "/etc"] {
        let refusal = bench.prepare(json!({"argv": ["pwd"], "cwd": cwd})).await.unwrap_err();
        assert!(refusal.contains("is outside of the allowed folders"), "{cwd}: {refusal}");
    }
    assert!(bench.prepare(json!({"argv": ["pwd"], "cwd": "gone"})).await.is_err());
}

#[tokio::test]
async fn i02_what_changed_after_the_approval_does_not_run() {
    let bench = Bench::new(|_| {});
    let home = bench.dir.path().join("home");
    let (first, second) = (home.join("first"), home.join("second"));
    fs::create_dir(&first).unwrap();
    fs::create_dir(&second).unwrap();
    std::os::unix::fs::symlink(&first, home.join("now")).unwrap();
    let call = bench.call(json!({"argv": ["touch", "ran"], "cwd": "now"})).await;
    // The link is turned round while the person thinks.
    fs::remove_file(home.join("now")).unwrap();
    std::os::unix::fs::symlink(&second, home.join("now")).unwrap();
    let outcome = text(
        bench.host.run(clear_call(call, 1), open_gate(), CancellationToken::new()).await.unwrap(),
    );
    assert!(
        outcome.starts_with("failed: Nothing was run: what would run now is not what was approved")
    );
    assert!(!first.join("ran").exists() && !second.join("ran").exists());
}

#[tokio::test]
async fn a_time_limit_is_asked_for_within_bounds_and_kept() {
    let bench = Bench::new(|config| {
        config.time_limit = Duration::from_secs(1);
        config.time_limit_max = Duration::from_secs(9);
    });
    let slow = text(bench.run(json!({"argv": ["sh", "-c", "echo begun; sleep 60"]})).await);
    // There is no supervisor here to prove that everything is gone.
    assert!(slow.starts_with("unknown: It was told to stop"), "{slow}");
    assert!(slow.contains("may still run"), "{slow}");
    assert!(slow.ends_with("begun\n"), "{slow}");
    for wrong in [json!(0), json!(10), json!(-1), json!("5"), json!(1.5)] {
        assert!(bench.prepare(json!({"argv": ["true"], "timeout_s": wrong})).await.is_err());
    }
}

#[tokio::test]
async fn no_variable_of_ours_reaches_a_command() {
    // Set for this process by the test runner's environment, if at all: so look at what arrives.
    let bench = Bench::new(|_| {});
    let seen = text(bench.run(json!({"argv": ["env"]})).await);
    let names: Vec<&str> = seen.lines().filter_map(|line| line.split('=').next()).collect();
    assert!(names.contains(&"PATH") && names.contains(&"CALL_TREE"), "{names:?}");
    for name in &names {
        let known = ["PATH", "HOME", "LANG", "TZ", "TMPDIR", "CALL_TREE", "PWD"].contains(name);
        assert!(known || name.starts_with("LC_"), "{name} was given away");
    }
}

#[tokio::test]
async fn what_is_left_running_is_stopped_and_said() {
    let bench = Bench::new(|config| config.allow_shell = true);
    let left = text(bench.run(json!({"command": "sleep 60 & echo started"})).await);
    assert_eq!(left, "started\n\n[a process that it left running was stopped]");
}

#[test]
fn a_set_up_that_cannot_work_is_refused_at_the_start() {
    let dir = tempfile::tempdir().unwrap();
    let refused = |change: fn(&mut ShellConfig)| {
        let spool = Spool::open(dir.path().join("spool")).unwrap();
        let mut config = ShellConfig::new(dir.path());
        change(&mut config);
        ShellCmd::new(config, Runner::open(spool, None)).map(|_| ()).unwrap_err().to_string()
    };
    assert!(refused(|config| config.roots = vec!["/no/such".into()]).contains("is not a folder"));
    assert!(refused(|config| config.roots.clear()).contains("at least one folder"));
    assert!(
        refused(|config| config.time_limit_max = Duration::from_secs(90_000))
            .contains("time limits")
    );
}

#[tokio::test]
async fn a_command_runs_as_another_user_or_the_tool_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let spool = Spool::open(dir.path().join("spool")).unwrap();
    let mut config = ShellConfig::new("/");
    config.run_as = Some("nobody".into());
    let host = ShellCmd::new(config, Runner::open(spool, None));
    if !nix::unistd::geteuid().is_root() {
        // Nothing is run as somebody else than was asked for.
        assert!(host.err().unwrap().to_string().contains("may not run tools as `nobody`"));
        return;
    }
    let bench = Bench { dir, host: host.unwrap() };
    let call = bench.call(json!({"argv": ["id", "-u"]})).await;
    assert!(call.context.detail.ends_with("\nas user nobody"), "{}", call.context.detail);
    let nobody = nix::unistd::User::from_name("nobody").unwrap().unwrap().uid;
    assert_eq!(text(bench.run(json!({"argv": ["id", "-u"]})).await), format!("{nobody}\n"));
}

#[tokio::test]
async fn i02_a_script_that_was_swapped_after_the_approval_does_not_run() {
    let bench = Bench::new(|config| config.allow_shell = true);
    let home = bench.dir.path().join("home");
    let script = home.join("deploy.sh");
    let write = |text: &str| {
        fs::write(&script, text).unwrap();
        fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    };
    for arguments in [
        json!({"argv": ["./deploy.sh"]}),
        json!({"argv": ["sh", "deploy.sh"]}),
        json!({"argv": ["env", "A=1", "./deploy.sh"]}),
        json!({"command": "cd . && ./deploy.sh"}),
    ] {
        write("#!/bin/sh\necho good\n");
        let call = bench.call(arguments.clone()).await;
        assert!(call.context.detail.contains("deploy.sh sha256:"), "{}", call.context.detail);
        write("#!/bin/sh\necho ran >> witness\n");
        let outcome = bench
            .host
            .run(clear_call(call, 1), open_gate(), CancellationToken::new())
            .await
            .unwrap();
        let said = text(outcome);
        assert!(
            said.contains("deploy.sh` is not what it was when this call was approved"),
            "{said}"
        );
        assert!(!home.join("witness").exists(), "{arguments}");
        // As it is now it can be approved, and runs.
        write("#!/bin/sh\necho good\n");
        assert_eq!(text(bench.run(arguments).await), "good\n");
    }
}

/// There is time between the comparison with the approval and the start.
#[tokio::test]
async fn i02_a_script_is_looked_at_once_more_right_before_its_start() {
    let bench = Bench::new(|_| {});
    let home = bench.dir.path().join("home");
    fs::write(home.join("deploy.sh"), "echo good").unwrap();
    let call = bench.call(json!({"argv": ["sh", "deploy.sh"]})).await;
    let job = bench.host.approved_plan(&call).await.unwrap();
    fs::write(home.join("deploy.sh"), "echo ran >> witness").unwrap();
    let (key, stop) = (call.idempotency_key(), CancellationToken::new());
    let trace = bench.host.runner.run_attempt(&key, 1, job, open_gate(), stop).await.unwrap();
    let said = text(trace.into_outcome(read_outcome));
    assert!(said.contains("deploy.sh` has changed since this call was approved"), "{said}");
    assert!(!home.join("witness").exists());
}

#[tokio::test]
async fn i02_common_forms_of_a_script_are_bound() {
    let bench = Bench::new(|config| config.allow_shell = true);
    let home = bench.dir.path().join("home");
    for (arguments, script) in [
        (json!({"command": "sh -e deploy.py"}), "deploy.py"),
        (json!({"command": "cd sub && ./deploy.sh"}), "sub/deploy.sh"),
        (json!({"argv": ["sh", "-e", "first", "deploy.py"]}), "deploy.py"),
    ] {
        let script = home.join(script);
        let write = |path: &Path, text: &str| {
            fs::write(path, text).unwrap();
            fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        };
        write(&home.join("first"), "sh \"$1\"\n");
        write(&script, "#!/bin/sh\necho good\n");
        let call = bench.call(arguments.clone()).await;
        write(&script, "#!/bin/sh\necho ran >> witness\n");
        let said = text(
            bench
                .host
                .run(clear_call(call, 1), open_gate(), CancellationToken::new())
                .await
                .unwrap(),
        );
        assert!(said.contains("is not what it was when this call was approved"), "{said}");
        assert!(!home.join("witness").exists() && !home.join("sub/witness").exists());
        write(&script, "#!/bin/sh\necho good\n");
        assert_eq!(text(bench.run(arguments).await), "good\n");
    }
}

#[tokio::test]
async fn a_script_that_cannot_be_bound_is_said_to_be_so() {
    let bench = Bench::new(|config| config.allow_shell = true);
    let prepared = bench.prepare(json!({"command": "cd $DIR && ./deploy.sh"})).await.unwrap();
    let warnings = prepared.preview.warnings;
    assert!(
        warnings.iter().any(|it| it.text().starts_with("not bound: what `$DIR` means")),
        "{warnings:?}"
    );
}

#[tokio::test]
async fn i50_a_command_of_very_many_words_is_refused() {
    let bench = Bench::new(|config| config.allow_shell = true);
    let words: String = (0..100_000).map(|n| format!("w{n} ")).collect();
    let refusal = bench.prepare(json!({"command": words})).await.unwrap_err();
    assert!(refusal.starts_with("it has more than 4000 words"), "{refusal}");
}

#[test]
fn i50_files_are_read_apart_from_the_threads_of_everybody() {
    let bench = Bench::new(|_| {});
    fs::write(bench.dir.path().join("home/deploy.sh"), "echo good").unwrap();
    let arguments = Arguments::from_value(json!({"argv": ["sh", "deploy.sh"]})).unwrap();
    crate::blocking::without_blocking_threads(|free| async move {
        let mut prepared = bench.host.prepare(&arguments);
        assert!(futures_util::poll!(prepared.as_mut()).is_pending(), "it worked here");
        free.send(()).unwrap();
        assert!(prepared.await.is_ok());
    });
}
