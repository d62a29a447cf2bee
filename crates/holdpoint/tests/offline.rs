//! What the command line does without any server.

use std::process::{Command, Stdio};

fn run(arguments: &[&str]) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_holdpoint"))
        .args(arguments)
        .stdin(Stdio::null())
        .env_remove("HOLDPOINT_TOKEN")
        // Nothing listens there: the port of the discard service, on loopback.
        .env("HOLDPOINT_SERVER", "http://127.0.0.1:9")
        .output()
        .unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

#[test]
fn help_is_no_error_and_nonsense_is_one() {
    let (code, out, _) = run(&["--help"]);
    assert_eq!(code, 0);
    assert!(out.contains("Exit codes: 0 done"), "{out}");
    let (code, out, _) = run(&["gate", "--help"]);
    assert_eq!(code, 0);
    assert!(out.contains("Example:") && out.contains("13 nobody could be asked"), "{out}");
    for nonsense in [&["frobnicate"][..], &[], &["show"], &["show", "ses_1"], &["ask"]] {
        let (code, _, err) = run(nonsense);
        assert_eq!(code, 2, "{nonsense:?}: {err}");
    }
}

#[test]
fn a_missing_server_is_told_with_the_remedy() {
    let id = "hold_01jd3kq8v2m4x6z8a0c2e4g6j8";
    for arguments in [&["show", id][..], &["freeze"], &["ask", "Now?"], &["gate", "--", "true"]] {
        let (code, out, err) = run(arguments);
        assert_eq!(code, 1, "{arguments:?}: {err}");
        assert!(out.is_empty(), "{out}");
        assert!(err.contains("cannot reach http://127.0.0.1:9/"), "{err}");
        assert!(err.contains("holdpoint serve"), "{err}");
    }
    let (code, _, err) = run(&["--server", "nonsense", "show", id]);
    assert_eq!(code, 2, "{err}");
}

#[test]
fn nothing_waits_for_a_terminal_that_is_not_there() {
    let id = "hold_01jd3kq8v2m4x6z8a0c2e4g6j8";
    let (code, _, err) = run(&["approve", id]);
    assert_eq!(code, 2);
    assert!(err.contains(&format!("holdpoint show {id}")) && err.contains("--digest"), "{err}");
    let (code, _, err) = run(&["answer", id]);
    assert_eq!(code, 2);
    assert!(err.contains("--choose"), "{err}");
}

#[test]
fn a_command_that_nobody_could_read_is_not_asked_about() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;
    let output = Command::new(env!("CARGO_BIN_EXE_holdpoint"))
        .args(["gate", "--", "echo"])
        .arg(OsStr::from_bytes(b"\xff\xfe"))
        .output()
        .unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{err}");
    assert!(err.contains("not UTF-8"), "{err}");
}

const RULES: &str = r#"[[people]]
id = "ana"
name = "Ana"
roles = ["admin", "dba"]

[policy]
default = "deny"

[[policy.rules]]
name = "deletes need a dba"
match = { tool = "sql_*" }
then = "ask"
ask = { roles = ["dba"] }
"#;

#[test]
fn rules_are_checked_and_explained_without_a_server() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("holdpoint.toml");
    let path = file.to_str().unwrap();
    std::fs::write(&file, RULES).unwrap();
    let (code, out, err) = run(&["policy", "check", path]);
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("Sound:") && out.contains("sha256:"), "{out}");

    let explain = ["policy", "explain", "--config", path, "--tool"];
    let (code, out, err) = run(&[&explain[..], &["sql_modify", "--json"]].concat());
    assert_eq!(code, 0, "{err}");
    let told: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!((&told["decision"], &told["rule"]), (&"ask".into(), &"deletes need a dba".into()));
    let (code, out, _) = run(&[&explain[..], &["gate.exec"]].concat());
    assert_eq!(code, 0);
    assert!(out.contains("does not match") && out.contains("→ denied by default"), "{out}");
    let twice = [&explain[..], &["x", "--args", r#"{"a":1,"a":2}"#]].concat();
    assert_eq!(run(&twice).0, 2, "a key that is there twice is not explained away");

    std::fs::write(&file, RULES.replace("roles = [\"dba\"] }", "rolls = [\"dba\"] }")).unwrap();
    let (code, _, err) = run(&["policy", "check", path]);
    assert_eq!(code, 1);
    assert!(err.contains("holdpoint.toml:13:") && err.contains("rolls"), "{err}");
    let (code, out, _) = run(&["policy", "check", path, "--json"]);
    assert_eq!(code, 1);
    assert!(out.contains("\"line\": 13"), "{out}");
    assert_eq!(run(&["policy", "check", "no-such-file.toml"]).0, 1);
}

#[test]
fn the_doctor_says_what_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("holdpoint.toml");
    std::fs::write(&file, RULES).unwrap();
    let (code, out, _) = run(&["doctor", "--config", file.to_str().unwrap()]);
    assert_eq!(code, 1);
    assert!(out.contains("✓ configuration"), "{out}");
    assert!(out.contains("the first start makes it"), "{out}");
    assert!(out.contains("✗ server") && out.contains("→ start a server"), "{out}");
}
