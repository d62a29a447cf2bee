//! `holdpoint policy test` and `explain`, by the real program and without a server.

use std::path::Path;
use std::process::Command;

use serde_json::json;

use crate::demo::{BINARY, Ran, command};
use crate::pty::type_into;

const RULES: &str = r#"[[people]]
id = "ana"
name = "Ana"
roles = ["admin", "dba"]

[[people]]
id = "ben"
name = "Ben"
roles = ["dba"]

[[tools]]
name = "sql_modify"
kind = "sql"
database = "shop.db"
access = "modify"

[policy]
default = "deny"

[[policy.rules]]
name = "many rows need two"
match = { tool = "sql_modify", sql.rows.more_than = 100 }
then = "ask"
risk = "high"
ask = { roles = ["dba"], quorum = 2, expires = "4h" }

[[policy.rules]]
name = "a change of some rows passes"
match = { tool = "sql_modify", sql.kind = "update", sql.has_where = true }
then = "allow"

[[policy.rules]]
name = "other changes need a dba"
match = { tool = "sql_modify" }
then = "ask"
ask = { roles = ["dba"] }
"#;

const CASES: &str = r#"[[cases]]
name = "one order is mended"
tool = "sql_modify"
arguments = { sql = "UPDATE orders SET status = 'paid' WHERE id = 7" }
rows = 1
decision = "allow"
rule = "a change of some rows passes"

[[cases]]
name = "half of the shop needs two"
tool = "sql_modify"
arguments = { sql = "UPDATE orders SET status = 'paid' WHERE id > 7" }
rows = 500
decision = "ask"
risk = "high"
ask = { roles = ["dba"], people = [], quorum = 2, expires = "4h", exclude_requester = false }

[[cases]]
name = "what no rule names is denied"
tool = "sql_modify2"
decision = "deny"
rule = "default"
"#;

/// A folder with these rules, and these cases beside them.
fn shop(cases: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("holdpoint.toml"), RULES).unwrap();
    std::fs::write(folder.path().join("holdpoint.test.toml"), cases).unwrap();
    folder
}

fn with_outside_tool(cases: &str) -> String {
    format!("outside_tools = [\"sql_modify2\"]\n\n{cases}")
}

fn runs(folder: &Path, arguments: &[&str]) -> Ran {
    command(arguments).current_dir(folder).output().unwrap().into()
}

#[test]
fn cases_beside_the_configuration_are_found_and_pass() {
    let folder = shop(&with_outside_tool(CASES));
    let ran = runs(folder.path(), &["policy", "test"]).ends_with(0);
    assert_eq!(ran.out, "Passed: 3 cases as expected\n");
    let named = ["policy", "test", "holdpoint.toml", "--cases", "holdpoint.test.toml"];
    assert_eq!(runs(folder.path(), &named).ends_with(0).out, ran.out);
    let twice = [&named[..], &["--cases", "holdpoint.test.toml"]].concat();
    assert!(runs(folder.path(), &twice).ends_with(0).out.contains("6 cases"));
    let told = runs(folder.path(), &["policy", "test", "--json"]).ends_with(0).json();
    assert_eq!((&told["passed"], &told["failed"]), (&json!(3), &json!(0)));
    assert_eq!(told["cases"][1]["rule"], "many rows need two");
    assert_eq!(told["cases"][2]["line"], 20);
}

#[test]
fn each_case_that_came_out_otherwise_is_told_with_the_rule_that_decided() {
    let cases = with_outside_tool(CASES)
        .replace("rows = 1\n", "rows = 101\n")
        .replace("quorum = 2", "quorum = 3")
        .replace("\"4h\"", "\"5h\"")
        .replace("people = []", "people = [\"ana\"]")
        .replace("risk = \"high\"", "risk = \"low\"");
    let folder = shop(&cases);
    let ran = runs(folder.path(), &["policy", "test"]).ends_with(1);
    let expected = "\
✗ holdpoint.test.toml:3: one order is mended
    decision: expected `allow`, found `ask`
    rule: expected `a change of some rows passes`, found `many rows need two`
    facts: tool = sql_modify, effects = transactional, sql.kind = update, sql.tables = orders, and perhaps others, sql.has_where = true, sql.rows = 101
    → ask 2 of role `dba` by rule `many rows need two` (line 20)
    why: holdpoint policy explain --config 'holdpoint.toml' --tool 'sql_modify' --args '{\"sql\":\"UPDATE orders SET status = '\\''paid'\\'' WHERE id = 7\"}' --rows 101
✗ holdpoint.test.toml:11: half of the shop needs two
    risk: expected `low`, found `high`
    ask.people: expected `ana`, found `none`
    ask.quorum: expected `3`, found `2`
    ask.expires: expected `18000s`, found `14400s`
";
    assert!(ran.out.starts_with(expected), "{}", ran.out);
    assert!(ran.out.ends_with("Failed: 2 of 3 cases not as expected\n"), "{}", ran.out);
    // The command that is printed can be run as it is.
    let why = ran.out.lines().find_map(|line| line.trim().strip_prefix("why: holdpoint ")).unwrap();
    let explained = Command::new("sh")
        .args(["-c", &format!("{BINARY} {why}")])
        .current_dir(folder.path())
        .output()
        .unwrap();
    let explained = Ran::from(explained).ends_with(0).out;
    assert!(explained.ends_with("→ ask 2 of role `dba` by rule `many rows need two` (line 20)\n"));
    let told = runs(folder.path(), &["policy", "test", "--json"]).ends_with(1).json();
    assert_eq!((&told["passed"], &told["failed"]), (&json!(1), &json!(2)));
    let differences = &told["cases"][0]["differences"];
    assert_eq!(differences[0], json!({"key": "decision", "expected": "allow", "found": "ask"}));
    assert_eq!(told["cases"][0]["why"].as_array().map(Vec::len), Some(4));
}

#[test]
fn a_case_that_would_prove_nothing_is_a_mistake_with_its_line() {
    for (from, to, line, why) in [
        ("decision = \"deny\"", "decison = \"deny\"", 23, "did you mean `decision`?"),
        ("decision = \"deny\"", "decision = \"denied\"", 23, "it is one of `allow`"),
        ("\"sql_modify2\"\n", "\"sql_modfy\"\n", 22, "did you mean `sql_modify`?"),
        ("\"sql_modify2\"\n", "\"Bash\"\n", 22, "add it to `outside_tools`"),
        ("rows = 500", "agent = \"clerk\"", 15, "there is no agent `clerk`"),
        ("tool = \"sql_modify2\"", "tool = \"sql_modify2\"\nrows = 1", 23, "`rows` is for"),
        ("rows = 500", "rows = -1", 15, "u64 is expected here"),
        ("rows = 500", "input = {}", 15, "write one of them"),
        ("rows = 500", "cwd = \"/r\"", 15, "belongs into `arguments`"),
        ("decision = \"deny\"", "decision = \"deny\"\nask = {}", 24, "`decision` is not `ask`"),
        ("decision = \"deny\"", "decision = \"deny\"\nrisk = \"huge\"", 24, "`risk` cannot be"),
        ("quorum = 2", "quorums = 2", 18, "unknown key `quorums`"),
        ("expires = \"4h\"", "expires = \"soon\"", 18, "not a duration"),
        ("= 'paid' WHERE id = 7", "= 'paid'; DROP TABLE orders", 3, "refuses this statement"),
        ("name = \"what no rule names is denied\"\n", "", 20, "`name` is missing"),
        (
            "tool = \"sql_modify2\"",
            "tool = \"sql_modify2\"\ninput = {}\nfiles = [\"/r/a\"]",
            24,
            "`files` needs `files_in`",
        ),
        (
            "tool = \"sql_modify2\"",
            "tool = \"sql_modify2\"\ninput = {}\nfiles_in = \"secret\"",
            24,
            "`files_in` needs `files`",
        ),
        (
            "tool = \"sql_modify2\"",
            "tool = \"sql_modify2\"\ninput = {}\nfiles = []\nfiles_in = \"inside\"",
            25,
            "`files_in` cannot be `inside`",
        ),
    ] {
        let cases = with_outside_tool(CASES);
        let changed = cases.replacen(from, to, 1);
        assert_ne!(changed, cases, "{from}");
        let folder = shop(&changed);
        let ran = runs(folder.path(), &["policy", "test"]).ends_with(1);
        let place = format!("holdpoint.test.toml:{line}: ");
        assert!(ran.err.contains(&place) && ran.err.contains(why), "{to}: {}", ran.err);
        assert_eq!(ran.out, "");
        let told = runs(folder.path(), &["policy", "test", "--json"]).ends_with(1).json();
        assert_eq!((&told["sound"], &told["line"]), (&json!(false), &json!(line)));
    }
}

#[test]
fn files_without_cases_are_no_success() {
    let folder = shop("");
    let ran = runs(folder.path(), &["policy", "test"]).ends_with(1);
    assert!(ran.err.contains("there is no case in this file"), "{}", ran.err);
    std::fs::remove_file(folder.path().join("holdpoint.test.toml")).unwrap();
    let ran = runs(folder.path(), &["policy", "test"]).ends_with(1);
    assert!(ran.err.contains("holdpoint.test.toml: there is no such file"), "{}", ran.err);
    // All mistakes of a file are told at once.
    let two = shop("[[cases]]\nname = 1\n[[case]]\n");
    let ran = runs(two.path(), &["policy", "test"]).ends_with(1);
    assert!(ran.err.contains("toml:2: ") && ran.err.contains("toml:3: "), "{}", ran.err);
    runs(two.path(), &["policy", "test", "none.toml"]).ends_with(1);
    let ran = runs(two.path(), &["policy", "test", "builtin:other"]).ends_with(2);
    assert!(ran.err.contains("there is coding-agent"), "{}", ran.err);
}

#[test]
fn how_far_many_cases_are_is_told_on_a_terminal_alone() {
    let case = CASES.split("\n\n").next().unwrap();
    let folder = shop(&format!("{case}\n\n").repeat(1_200));
    let quiet = runs(folder.path(), &["policy", "test"]).ends_with(0);
    assert_eq!((quiet.out.as_str(), quiet.err.as_str()), ("Passed: 1200 cases as expected\n", ""));
    let mut watched = command(&["policy", "test"]);
    watched.current_dir(folder.path());
    let shown = type_into(watched, "").ends_with(0).out;
    assert!(shown.contains("\r\u{1b}[K500 of 1200 cases"), "{shown}");
    assert!(shown.contains("\r\u{1b}[K1000 of 1200 cases\r\u{1b}[K"), "{shown}");
}

#[test]
fn the_pack_for_coding_agents_does_what_its_cases_say() {
    let nowhere = tempfile::tempdir().unwrap();
    let ran = runs(nowhere.path(), &["policy", "test", "builtin:coding-agent", "--json"]);
    let told = ran.ends_with(0).json();
    assert_eq!(told["failed"], 0);
    let cases = told["cases"].as_array().unwrap();
    // Each rule decides at least one case.
    let pack = include_str!("../../policies/coding-agent.toml");
    let rules = pack.lines().filter_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"'));
    let rules: Vec<&str> = rules.collect();
    assert!(rules.len() > 10, "{rules:?}");
    for rule in rules {
        assert!(cases.iter().any(|case| case["rule"] == rule), "no case for `{rule}`");
    }
}

#[test]
fn rules_that_let_more_pass_than_the_pack_are_found_by_its_cases() {
    let folder = tempfile::tempdir().unwrap();
    let config = format!(
        "{}\n[policy]\ninclude = [\"builtin:coding-agent\"]\n[[policy.rules]]\nname = \"pushes are free\"\n\
         match = {{ tool = \"Bash\", shell.kind = [\"push\", \"network\"] }}\nthen = \"allow\"\n",
        &RULES[..RULES.find("[[tools]]").unwrap()]
    );
    std::fs::write(folder.path().join("holdpoint.toml"), config).unwrap();
    let pack = ["policy", "test", "holdpoint.toml", "--cases", "builtin:coding-agent", "--json"];
    let told = runs(folder.path(), &pack).ends_with(1).json();
    let failed = told["cases"].as_array().unwrap().iter().filter(|case| case["passed"] == false);
    let failed: Vec<_> = failed.map(|case| (&case["rule"], &case["decision"])).collect();
    assert!(!failed.is_empty());
    assert_eq!(failed, vec![(&json!("pushes are free"), &json!("allow")); failed.len()]);
}

#[test]
fn the_pack_is_explained_by_its_name() {
    let nowhere = tempfile::tempdir().unwrap();
    for (tool, call, verdict) in [
        (
            "Bash",
            json!({"command": "git status"}),
            "→ allowed by rule `coding agent: commands that read pass`",
        ),
        (
            "Bash",
            json!({"command": "git push"}),
            "→ ask the requester or an admin by rule `coding agent: pushes and publishing ask`",
        ),
        (
            "Bash",
            json!({"command": "ls $(rm a)"}),
            "→ ask the requester or an admin by rule `coding agent: commands that are not known or cannot be read ask`",
        ),
    ] {
        let arguments = json!({"cwd": "/r", "input": call}).to_string();
        let explain = ["policy", "explain", "--config", "builtin:coding-agent", "--tool", tool];
        let ran = runs(nowhere.path(), &[&explain[..], &["--args", &arguments]].concat());
        let out = ran.ends_with(0).out;
        assert!(out.contains(verdict) && out.contains("facts: tool = Bash"), "{out}");
    }
}
