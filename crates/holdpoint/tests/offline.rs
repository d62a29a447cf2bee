//! What the command line does without any server.

use std::process::{Command, Stdio};

use serde_json::json;

fn run(arguments: &[&str]) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_holdpoint"))
        .args(arguments)
        .stdin(Stdio::null())
        .env_remove("HOLDPOINT_TOKEN")
        .env("XDG_CONFIG_HOME", "/nonexistent")
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
    // Both mistakes of a file are told at once.
    let two = RULES.replace("then = \"ask\"", "then = \"aks\"").replace("\"deny\"", "\"dney\"");
    std::fs::write(&file, two).unwrap();
    let (code, _, err) = run(&["policy", "check", path]);
    assert_eq!(code, 1);
    assert!(err.contains("toml:7: ") && err.contains("toml:12: "), "{err}");
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

#[test]
fn the_doctor_tells_all_that_would_keep_a_server_from_starting_and_so_does_serve() {
    let folder = tempfile::tempdir().unwrap();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let listen = taken.local_addr().unwrap();
    let config = format!(
        r#"[server]
listen = "{listen}"
[models.far]
provider = "anthropic"
model = "m"
api_key_env = "HOLDPOINT_TEST_UNSET_KEY"
[[agents]]
id = "ops"
model = "far"
[[tools]]
name = "deploy"
kind = "command"
description = "Deploys."
argv = ["no-such-program-anywhere"]
input_schema = {{ type = "object" }}
[[tools]]
name = "shop"
kind = "sql"
database = "no-such.db"
access = "query"
[[tools]]
name = "files"
kind = "mcp"
argv = ["no-such-mcp-server"]
[callbacks]
secret_envs = ["HOLDPOINT_TEST_UNSET_SECRET"]
"#
    );
    let file = folder.path().join("holdpoint.toml");
    std::fs::write(&file, config).unwrap();
    let path = file.to_str().unwrap();
    let (code, out, err) = run(&["doctor", "--config", path]);
    assert_eq!(code, 1, "{err}");
    for wrong in [
        "HOLDPOINT_TEST_UNSET_KEY",
        "no-such-program-anywhere",
        "no-such.db",
        "no-such-mcp-server",
        "HOLDPOINT_TEST_UNSET_SECRET",
        &format!("✗ port           {listen} "),
    ] {
        assert!(out.contains(wrong), "{wrong} is not told: {out}");
    }
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
    assert_eq!(left.len(), 1, "it left something behind: {left:?}");

    let (code, _, err) = run(&["serve", "--config", path]);
    assert_eq!(code, 1, "{err}");
    for wrong in
        ["HOLDPOINT_TEST_UNSET_KEY", "no-such-program-anywhere", "HOLDPOINT_TEST_UNSET_SECRET"]
    {
        assert!(err.contains(wrong), "{wrong} is not told: {err}");
    }
}

#[test]
fn a_set_up_of_ones_own_is_written_once() {
    let folder = tempfile::tempdir().unwrap();
    let shop = folder.path().join("shop");
    let path = shop.to_str().unwrap();
    let (code, out, err) = run(&["init", path]);
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("holdpoint serve") && out.contains(&format!("cd {path}")), "{out}");
    let (code, _, err) = run(&["init", path]);
    assert_eq!(code, 2);
    assert!(err.contains("is not overwritten"), "{err}");
    let (code, out, _) = run(&["policy", "check", shop.join("holdpoint.toml").to_str().unwrap()]);
    assert_eq!(code, 0);
    assert!(out.contains("Sound:"), "{out}");
}

#[test]
fn shells_and_man_find_every_command() {
    let (code, out, _) = run(&["completions", "bash"]);
    assert_eq!(code, 0);
    assert!(out.contains("approve") && out.contains("--watch"), "{out}");
    let folder = tempfile::tempdir().unwrap();
    let (code, _, err) = run(&["man", folder.path().to_str().unwrap()]);
    assert_eq!(code, 0, "{err}");
    let page = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    assert!(page("holdpoint.1").contains("holdpoint\\-approve(1)"), "{}", page("holdpoint.1"));
    assert!(page("holdpoint-token-create.1").contains("\\-\\-scope"));
}

#[test]
fn a_server_that_speaks_otherwise_is_told_with_its_own_remedy() {
    use std::io::{Read as _, Write as _};
    // A TLS server says so to whoever speaks plain HTTP, and a plain one says HTTP to TLS.
    for (scheme, says, remedy) in [
        ("http", &b"\x15\x03\x01\x00\x02\x02\x46"[..], "use https://"),
        ("https", &b"HTTP/1.1 400 Bad Request\r\n\r\n"[..], "use http://"),
    ] {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let server = format!("{scheme}://{}", listener.local_addr().unwrap());
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(mut stream) = stream else { return };
                let _ = stream.read(&mut [0; 1024]);
                let _ = stream.write_all(says);
            }
        });
        let (code, _, err) = run(&["--server", &server, "freeze"]);
        assert_eq!(code, 1);
        assert!(err.contains(remedy), "{scheme}: {err}");
    }
}

/// Standard input goes in, standard output comes back.
fn explained(lines: &str) -> (i32, Vec<serde_json::Value>) {
    use std::io::Write as _;
    let mut child = Command::new(env!("CARGO_BIN_EXE_holdpoint"))
        .args(["reply", "explain", "--json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let out = String::from_utf8(output.stdout).unwrap();
    let told = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    (output.status.code().unwrap(), told)
}

#[test]
fn a_reply_is_explained() {
    let (code, out, _) = run(&["reply", "explain", "好的，确认"]);
    assert_eq!(code, 0);
    assert!(out.starts_with("confirm (word): "), "{out}");
    let (code, out, _) = run(&["reply", "explain", "yes but change the where clause", "--json"]);
    assert_eq!(code, 0);
    let told: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(told, json!({"verdict": "ambiguous", "why": "unknown", "value": null}));
    let risky = r#"{"code":"7K3F","weak_ok":false}"#;
    let (_, out, _) = run(&["reply", "explain", "7k3f", "--context", risky]);
    assert!(out.starts_with("confirm (code): "), "{out}");
    let (_, out, _) = run(&["reply", "explain", "-1", "--context", r#"{"weak_ok":false}"#]);
    assert!(out.starts_with("ambiguous (unknown): "), "{out}");

    for nonsense in [
        &["reply", "explain"][..],
        &["reply", "explain", "x", "--context", "{"],
        &["reply", "explain", "x", "--context", r#"{"weakok":true}"#],
        &["reply", "explain", "x", "--context", r#"{"kind":"guess"}"#],
    ] {
        let (code, _, err) = run(nonsense);
        assert_eq!(code, 2, "{nonsense:?}: {err}");
    }
}

#[test]
fn replies_are_explained_line_by_line() {
    let (code, told) = explained(concat!(
        r#"{"text":"确认"}"#,
        "\n",
        r#"{"text":"1、3","ctx":{"kind":"choice","options":["a","b","c"],"multi":true}}"#,
        "\n\n",
        r#"{"text":"n","ctx":null}"#,
        "\n",
        r#"{"text":"第二个","ctx":{"kind":"choice","options":["a","b"]}}"#,
    ));
    assert_eq!(code, 0);
    assert_eq!(
        told,
        [
            json!({"verdict": "confirm", "why": "word", "value": null}),
            json!({"verdict": "choice", "why": "multi", "value": [1, 3]}),
            json!({"verdict": "cancel", "why": "word", "value": null}),
            json!({"verdict": "choice", "why": "number", "value": 2}),
        ]
    );
}

#[test]
fn a_bad_line_is_told_in_its_place_and_the_rest_goes_on() {
    let long = format!(r#"{{"text":"{}"}}"#, "y".repeat(2_000_000));
    let lines = ["nonsense", r#"{"txt":"yes"}"#, r#"{"text":"yes","ctx":{"cod":1}}"#, &long]
        .map(|line| format!("{line}\n"))
        .concat();
    let (code, told) = explained(&format!("{lines}{{\"text\":\"yes\"}}\n"));
    assert_eq!(code, 1);
    assert_eq!(told.len(), 5);
    for (number, told) in told[..4].iter().enumerate() {
        let error = told["error"].as_str().unwrap();
        assert!(error.starts_with(&format!("line {}: ", number + 1)), "{error}");
    }
    assert_eq!(told[4]["verdict"], "confirm");
}

#[test]
fn every_case_of_the_reply_parser_comes_out_of_the_program() {
    let cases: Vec<serde_json::Value> =
        serde_json::from_str(include_str!("../../reply_parser/vectors/reply_cases.json")).unwrap();
    let lines: String = cases
        .iter()
        .map(|case| format!("{}\n", json!({"text": case["text"], "ctx": case["ctx"]})))
        .collect();
    let (code, told) = explained(&lines);
    assert_eq!(code, 0);
    assert_eq!(told.len(), cases.len());
    for (case, told) in cases.iter().zip(told) {
        let wanted = json!({"verdict": case["expect"], "why": case["why"], "value": case["value"]});
        assert_eq!(told, wanted, "{}", case["text"]);
    }
}
