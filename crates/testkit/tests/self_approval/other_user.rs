//! Where tools run as another user, they cannot read what the server keeps for itself.

use serde_json::Value;
use testkit::served::{Served, results, run};

const CONFIG: &str = r#"
@SERVER@
@SCRIPTED@

[[agents]]
id = "worker"
model = "scripted"
tools = ["thief"]

[[tools]]
name = "thief"
kind = "command"
description = "Reads what it can."
argv = ["/bin/sh", "@SITE@/thief.sh"]
cwd = "/"
run_as = "nobody"
input_schema = { type = "object", required = ["files"], properties = { files = { type = "string" } } }

[[policy.rules]]
name = "let it try"
match = { tool = "thief" }
then = "allow"

[[people]]
id = "ana"
roles = ["admin"]
"#;

const SCRIPT: &str = r#"
[[turn]]
when = { says_regex = '^read (.+)$' }
calls = [{ tool = "thief", arguments = { files = "{1}" } }]

[[turn]]
when = { result_contains = "" }
text = "told: {result}"
"#;

/// Says of each file whether it could be read.
const THIEF: &str = r#"
for file in $(sed 's/.*"files":"//; s/".*//'); do
    if cat "$file" > /dev/null 2>&1; then echo "READ $file"; else echo "refused $file"; fi
done
"#;

#[tokio::test]
async fn a_tool_that_runs_as_another_user_reads_no_secret_of_ours() {
    let mut served = Served::prepare(CONFIG, SCRIPT);
    served.open_folders();
    served.write("thief.sh", THIEF);
    if !nix::unistd::geteuid().is_root() {
        // Then there is nothing to show, and the server must not pretend that there is.
        let config = served.path("holdpoint.toml").display().to_string();
        let ended = run(served.binary(), &["serve", "--config", &config], &served.path("")).await;
        assert_eq!(ended.0, 1, "{}", ended.2);
        assert!(ended.2.contains("run_as") || ended.2.contains("nobody"), "{}", ended.2);
        return;
    }
    served.up().await;
    let server = format!("/proc/{}/environ", served.id());
    let files: Vec<String> = [
        served.tokens_file(),
        served.database(),
        served.path("data/audit.key"),
        served.path("data/sealing.key"),
        served.path("holdpoint.toml"),
    ]
    .iter()
    .map(|file| file.display().to_string())
    .chain([server])
    .collect();
    let ana = served.admin();
    let session = ana.session("worker").await;
    ana.say(&session, &format!("read {}", files.join(" "))).await;
    let read: Value = ana.run_is(&session, "completed").await;
    let (_, output, is_error) = results(&read).pop().expect("a result");
    assert!(!is_error, "{output}");
    let told: Vec<&str> = output.lines().collect();
    // The settings are no secret: they show that the thief can read at all.
    let wanted: Vec<String> = files
        .iter()
        .map(|file| match file.ends_with(".toml") {
            true => format!("READ {file}"),
            false => format!("refused {file}"),
        })
        .collect();
    assert_eq!(told, wanted);
}
