use std::fs;
use std::path::Path;

use domain::call::Proposal;
use domain::digest::Digest;
use domain::id::CallId;
use serde_json::json;
use tempfile::TempDir;

use super::*;
use crate::cleared::{clear_call, open_gate};
use crate::process::Spool;

fn config(dir: &Path, script: &str) -> CommandConfig {
    let argv = ["sh", "-c", script].map(str::to_owned).to_vec();
    let mut config = CommandConfig::new("work", "works", json!({"type": "object"}), argv);
    config.cwd = dir.into();
    config
}

fn runner(dir: &Path) -> Runner {
    Runner::open(Spool::open(dir.join("spool")).unwrap(), None)
}

fn made(
    script: &str,
    change: impl FnOnce(&mut CommandConfig),
) -> (TempDir, Result<CommandTool, BadTool>) {
    let dir = tempfile::tempdir().unwrap();
    let mut config = config(dir.path(), script);
    change(&mut config);
    let host = CommandTool::new(config, runner(dir.path()));
    (dir, host)
}

async fn call(host: &CommandTool, arguments: &str, number: u128) -> Call {
    let arguments = Arguments::parse(arguments.as_bytes()).unwrap();
    let context = host.prepare(&arguments).await.unwrap().context;
    let proposal = Proposal {
        id: CallId::new(1, number),
        tool_use_id: "toolu_1".into(),
        agent: "ops".into(),
        session: None,
        arguments,
        context,
        policy: Digest::of(b""),
    };
    Call::propose(proposal, host.tool())
}

async fn run(host: &CommandTool, call: &Call, attempt: u32) -> Outcome {
    host.run(clear_call(call.clone(), attempt), open_gate(), CancellationToken::new())
        .await
        .unwrap()
}

#[tokio::test]
async fn i02_the_approved_bytes_arrive_on_standard_input() {
    let (_dir, host) = made("cat; echo noise >&2", |_| {});
    let host = host.unwrap();
    // Spelled unusually: a rendering of the meaning would look different.
    let bytes = r#" { "b" : 1.50, "a":"é\u0041" } "#;
    let outcome = run(&host, &call(&host, bytes, 1).await, 1).await;
    assert_eq!(outcome, Outcome::Succeeded(Output::text(bytes)));
}

#[tokio::test]
async fn i18_the_key_stays_for_every_attempt_and_differs_for_every_call() {
    let (_dir, host) = made(
        "echo $CALL_ID $IDEMPOTENCY_KEY $CALL_ATTEMPT; echo $IDEMPOTENCY_KEY >> keys; sort -u keys > effects",
        |config| config.effects = Effects::Idempotent,
    );
    let host = host.unwrap();
    let (one, other) = (call(&host, "{}", 1).await, call(&host, "{}", 2).await);
    for (call, attempt) in [(&one, 1), (&one, 2), (&other, 1)] {
        let expected = format!("{} {} {attempt}\n", call.id, call.idempotency_key());
        assert_eq!(run(&host, call, attempt).await, Outcome::Succeeded(Output::text(expected)));
    }
    let effects = fs::read_to_string(host.config.cwd.join("effects")).unwrap();
    assert_eq!(effects.lines().count(), 2, "three attempts at two calls: {effects}");
}

#[tokio::test]
async fn a_failure_carries_both_streams_and_the_code() {
    let (_dir, host) = made("echo out; echo err >&2; exit 7", |_| {});
    let host = host.unwrap();
    let outcome = run(&host, &call(&host, "{}", 1).await, 1).await;
    let text = "Command failed (exit code 7):\nout\n[stderr]\nerr\n";
    assert_eq!(outcome, Outcome::Failed(Output::text(text)));
}

#[tokio::test]
async fn i15_an_attempt_is_made_once() {
    let (dir, host) = made("echo ran >> witness", |_| {});
    let host = host.unwrap();
    let call = call(&host, "{}", 1).await;
    assert!(matches!(run(&host, &call, 1).await, Outcome::Succeeded(_)));
    assert!(matches!(run(&host, &call, 1).await, Outcome::Failed(_)), "the same attempt again");
    assert_eq!(fs::read_to_string(dir.path().join("witness")).unwrap(), "ran\n");
}

#[tokio::test]
async fn i16_what_a_dead_server_left_is_read_back_as_it_was() {
    let (dir, host) = made("echo out; exit 7", |_| {});
    let host = host.unwrap();
    let call = call(&host, "{}", 1).await;
    let outcome = run(&host, &call, 1).await;
    // Another server on the same spool, which never saw the first.
    let other = CommandTool::new((*host.config).clone(), runner(dir.path())).unwrap();
    assert_eq!(other.recover(&call, 1).await, Recovery::Done(outcome));
    assert!(matches!(other.recover(&call, 2).await, Recovery::Unknown { .. }), "no trace at all");
    other.announce(&call, 3).await.unwrap();
    assert_eq!(other.recover(&call, 3).await, Recovery::NeverHappened);
}

#[test]
fn i03_every_setting_is_part_of_the_definition() {
    let dir = tempfile::tempdir().unwrap();
    let definition = |change: fn(&mut CommandConfig)| {
        let mut config = config(dir.path(), "true");
        change(&mut config);
        CommandTool::new(config, runner(dir.path())).unwrap().tool.definition()
    };
    let base = definition(|_| {});
    assert_eq!(base, definition(|_| {}));
    for change in [
        (|config| config.argv.push("x".into())) as fn(&mut CommandConfig),
        |config| config.cwd = "/".into(),
        |config| config.time_limit = Duration::from_secs(7),
        |config| config.description = "other".into(),
        |config| config.effects = Effects::Idempotent,
        |config| {
            config.environment =
                Environment::new(vec![], [("A".into(), "b".into())].into()).unwrap();
        },
    ] {
        assert_ne!(base, definition(change));
    }
}

#[test]
fn a_set_up_that_cannot_work_is_refused_at_the_start() {
    let refused = |change: fn(&mut CommandConfig)| made("true", change).1.unwrap_err().to_string();
    assert!(refused(|config| config.argv.clear()).contains("`argv` is empty"));
    assert!(
        refused(|config| config.argv = vec!["no-such-program".into()])
            .contains("was found on PATH")
    );
    assert!(refused(|config| config.cwd = "/no/such".into()).contains("is not a folder"));
    assert!(
        refused(|config| config.effects = Effects::Transactional)
            .contains("cannot be `transactional`")
    );
    assert!(refused(|config| config.time_limit = Duration::ZERO).contains("time limit"));
    assert!(
        refused(|config| config.run_as = Some("no-such-user".into())).contains("there is no user")
    );
    assert!(refused(|config| config.input_schema = json!({"type": 1})).starts_with("tool `work`"));
}

#[tokio::test]
async fn a_tool_runs_as_another_user_or_is_refused() {
    let (_dir, host) = made("id -u", |config| {
        config.run_as = Some("nobody".into());
        config.cwd = "/".into();
    });
    if !nix::unistd::geteuid().is_root() {
        // Nothing is run as somebody else than was asked for.
        assert!(host.unwrap_err().to_string().contains("may not run tools as `nobody`"));
        return;
    }
    let host = host.unwrap();
    let call = call(&host, "{}", 1).await;
    assert!(call.context.detail.ends_with("\nas user nobody"), "{}", call.context.detail);
    let nobody = nix::unistd::User::from_name("nobody").unwrap().unwrap().uid;
    assert_eq!(run(&host, &call, 1).await, Outcome::Succeeded(Output::text(format!("{nobody}\n"))));
}

#[tokio::test]
async fn i02_a_script_that_the_configuration_names_is_bound_wherever_it_is() {
    let scripts = tempfile::tempdir().unwrap();
    let script = scripts.path().join("deploy.py");
    for cwd in ["/", "/usr"] {
        fs::write(&script, "exit 0").unwrap();
        let (_dir, host) = made("", |config| {
            config.argv = vec!["sh".into(), script.to_str().unwrap().into()];
            config.cwd = cwd.into();
        });
        let host = host.unwrap();
        let call = call(&host, "{}", 1).await;
        assert!(call.context.detail.contains("deploy.py sha256:"), "{}", call.context.detail);
        fs::write(&script, format!("touch {}/ran", scripts.path().display())).unwrap();
        let Outcome::Failed(told) = run(&host, &call, 1).await else { panic!("it ran") };
        assert!(told.whole().contains("is not what it was when this call was approved"));
        assert!(!scripts.path().join("ran").exists());
    }
}

#[test]
fn i50_a_tool_reads_its_scripts_apart_from_the_threads_of_everybody() {
    let (_dir, host) = made("true", |_| {});
    let host = host.unwrap();
    crate::blocking::without_blocking_threads(|free| async move {
        let mut planned = std::pin::pin!(host.plan_command());
        assert!(futures_util::poll!(planned.as_mut()).is_pending(), "it worked here");
        free.send(()).unwrap();
        assert!(planned.await.is_ok());
    });
}
