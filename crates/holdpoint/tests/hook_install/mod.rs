//! `holdpoint hook install` and `uninstall` on the settings of a project, by the real program: what is shown, asked and written.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::demo::{Ran, command};
use crate::pty::type_into;

/// Settings that a user wrote by hand, so that nothing would write them alike.
const CLAUDE: &str =
    "{\"model\": \"x\",\n   \"permissions\": { \"allow\": [\"Bash(ls)\"] }, \"zeta\": 1.10}";
const GEMINI: &str =
    "{\n\t\"hooks\": {\"BeforeTool\": [ {\"matcher\": \"x\", \"hooks\": []} ]},\n\t\"ui\": {}\n}\n";
const CODEX: &str = "model = \"x\" # mine\n\n[features]\nother = true\n";
const CURSOR: &str = "{ \"version\":1,\n    \"hooks\": {\"beforeShellExecution\": [{\"command\": \"./lint.sh\"} ], \"stop\": []}\n}";

/// A project in which one agent has settings.
struct AgentProject {
    home: tempfile::TempDir,
    agent: &'static str,
    settings: PathBuf,
}

impl AgentProject {
    fn new(agent: &'static str, file: &str, settings: &str) -> AgentProject {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("project").join(file);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, settings).unwrap();
        AgentProject { home, agent, settings: file }
    }

    fn all() -> [(AgentProject, &'static str); 4] {
        let claude = AgentProject::new("claude", ".claude/settings.json", CLAUDE);
        let gemini = AgentProject::new("gemini", ".gemini/settings.json", GEMINI);
        let codex = AgentProject::new("codex", ".codex/config.toml", CODEX);
        let cursor = AgentProject::new("cursor", ".cursor/hooks.json", CURSOR);
        [(claude, CLAUDE), (gemini, GEMINI), (codex, CODEX), (cursor, CURSOR)]
    }

    /// Cursor has an event for each kind of call, and the hook stands in each.
    fn hooks_installed(&self) -> usize {
        if self.agent == "cursor" { 3 } else { 1 }
    }

    fn folder(&self) -> PathBuf {
        self.home.path().join("project")
    }

    fn hook(&self, verb: &str, options: &[&str]) -> Command {
        let mut command = command(&[&["hook", verb, self.agent], options].concat());
        command.current_dir(self.folder()).env("HOME", self.home.path());
        command.env_remove("CLAUDE_CONFIG_DIR").env_remove("CODEX_HOME");
        command
    }

    fn runs(&self, verb: &str, options: &[&str]) -> Ran {
        self.hook(verb, options).output().unwrap().into()
    }

    #[track_caller]
    fn has(&self, settings: &str) {
        assert_eq!(std::fs::read_to_string(&self.settings).unwrap(), settings, "{}", self.agent);
    }

    fn read(&self) -> String {
        std::fs::read_to_string(&self.settings).unwrap()
    }
}

/// Every file below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

#[test]
fn the_change_is_shown_and_only_a_yes_writes_it() {
    for (project, before) in AgentProject::all() {
        for answer in ["n\n", "\n", "yep\n", "\u{4}"] {
            let shown = type_into(project.hook("install", &["--project"]), answer).ends_with(1).out;
            assert!(shown.contains(&format!("hook {}", project.agent)), "{shown}");
            assert!(shown.contains("Write this? [y/N]"), "{shown}");
            assert!(shown.contains("nothing was written"), "{shown}");
            project.has(before);
        }
        let shown = type_into(project.hook("install", &["--project"]), "y\n").ends_with(0).out;
        assert!(shown.contains(&format!("hook {}", project.agent)), "{shown}");
        assert!(shown.contains("Written: "), "{shown}");
        let after = project.read();
        let installed = after.matches(&format!("hook {} --server", project.agent)).count();
        assert_eq!(installed, project.hooks_installed(), "{after}");
        // The user's settings and the project's are the only files that there are.
        assert_eq!(files(project.home.path()), std::slice::from_ref(&project.settings));
    }
}

#[test]
fn installing_twice_is_installing_once_and_uninstalling_gives_the_bytes_back() {
    for (project, before) in AgentProject::all() {
        let first = project.runs("install", &["--yes"]).ends_with(0);
        // The others read the settings of every project.
        assert_eq!(
            first.err.contains("only in projects that you trust"),
            ["codex", "gemini"].contains(&project.agent)
        );
        let after = project.read();
        assert_ne!(after, before);
        // Nothing to write is nothing to ask about, also where nobody could be asked.
        let again = project.runs("install", &["--project"]).ends_with(0);
        assert!(again.err.contains("is already so; nothing to write"), "{}", again.err);
        assert_eq!(again.out, "");
        project.has(&after);
        let kept = type_into(project.hook("uninstall", &["--project"]), "n\n").ends_with(1).out;
        assert!(kept.contains("Write this? [y/N]"), "{kept}");
        project.has(&after);
        type_into(project.hook("uninstall", &["--project"]), "y\n").ends_with(0);
        project.has(before);
        project.runs("uninstall", &["--project"]).ends_with(0);
        project.has(before);
    }
}

#[test]
fn without_a_terminal_nothing_is_written_unasked() {
    for (project, before) in AgentProject::all() {
        let refused = project.runs("install", &["--project"]).ends_with(2);
        assert!(refused.err.contains("nothing was written"), "{}", refused.err);
        assert!(refused.err.contains("--yes"), "{}", refused.err);
        assert!(refused.out.contains(&format!("hook {}", project.agent)), "{}", refused.out);
        project.has(before);
        std::fs::remove_dir_all(project.settings.parent().unwrap()).unwrap();
        project.runs("install", &["--project"]).ends_with(2);
        assert!(files(project.home.path()).is_empty());
        let told = project.runs("install", &["--project", "--yes", "--json"]).ends_with(0).json();
        assert_eq!(told["changed"], true);
        assert_eq!(told["file"].as_str().map(PathBuf::from), Some(project.settings.clone()));
        assert!(told["diff"].as_str().unwrap().contains(&format!("hook {}", project.agent)));
    }
}

#[test]
fn settings_that_cannot_be_understood_are_left_alone() {
    for (agent, file, settings) in [
        ("claude", ".claude/settings.json", "{ // mine\n}"),
        ("claude", ".claude/settings.json", "{\"hooks\": []}"),
        ("gemini", ".gemini/settings.json", "{\"hooks\": {\"BeforeTool\": {}}}"),
        ("gemini", ".gemini/settings.json", "{\"a\": 1, \"a\": 2}"),
        ("codex", ".codex/config.toml", "[features]\nhooks = false\n"),
        ("codex", ".codex/config.toml", "model = "),
        ("cursor", ".cursor/hooks.json", "{\"version\": 1, \"hooks\": {\"preToolUse\": {}}}"),
        ("cursor", ".cursor/hooks.json", "{\"version\": 1,}"),
    ] {
        let project = AgentProject::new(agent, file, settings);
        let refused = project.runs("install", &["--project", "--yes"]).ends_with(1);
        assert!(refused.err.contains("was left as it is"), "{}", refused.err);
        project.has(settings);
    }
}

#[test]
fn waits_are_written_with_a_longer_time_out_of_the_agent() {
    for (project, _) in AgentProject::all() {
        project.runs("install", &["--yes", "--wait", "30m"]).ends_with(0);
        let (text, agent) = (project.read(), project.agent);
        assert!(text.contains(&format!("hook {agent} --wait 1800s --server")), "{text}");
        let timeout = match agent {
            "claude" | "cursor" => "\"timeout\": 1860,",
            "gemini" => "\"timeout\": 1860000",
            _ => "timeout = 1860\n",
        };
        assert!(text.contains(timeout), "{text}");
        // Another install takes the place of this one.
        project.runs("install", &["--yes", "--wait", "5s"]).ends_with(0);
        let text = project.read();
        let installed = text.matches(&format!("hook {agent} --wait 5s --server")).count();
        assert_eq!(installed, project.hooks_installed(), "{text}");
        assert!(text.contains("600") && !text.contains("1800"), "{text}");
        let long = project.runs("install", &["--yes", "--wait", "25h"]).ends_with(2);
        assert!(long.err.contains("at most 24 h"), "{}", long.err);
        assert_eq!(project.read(), text);
    }
}

#[test]
fn only_agents_that_can_be_resumed_are_deferred() {
    let [(claude, _), others @ ..] = AgentProject::all();
    for (project, before) in others {
        let refused = project.runs("install", &["--yes", "--defer"]).ends_with(2);
        assert!(refused.err.contains("leave --defer out"), "{}", refused.err);
        project.has(before);
    }
    let command = |options: &[&str]| -> Value {
        claude
            .runs("install", &[&["--yes", "--server", "http://127.0.0.1:1"], options].concat())
            .ends_with(0);
        serde_json::from_str::<Value>(&claude.read()).unwrap()["hooks"]["PreToolUse"][0]["hooks"][0]
            .clone()
    };
    let hook = command(&["--wait", "5s", "--defer"]);
    let text = hook["command"].as_str().unwrap();
    assert!(text.contains(" hook claude --wait 5s --defer --server 'http://127.0.0.1:1' || "));
    let hook = command(&["--http", "--wait", "50m", "--defer"]);
    assert_eq!(hook["url"], "http://127.0.0.1:1/hooks/claude?wait_s=3000&defer=true");
    assert_eq!(hook["timeout"], 3060);
    let hook = command(&["--http"]);
    assert_eq!(
        (&hook["url"], &hook["timeout"]),
        (&json!("http://127.0.0.1:1/hooks/claude"), &json!(600))
    );
    let long = claude.runs("install", &["--yes", "--http", "--wait", "61m"]).ends_with(2);
    assert!(long.err.contains("at most 1 h") && long.err.contains("--defer"), "{}", long.err);
    claude.runs("uninstall", &["--yes"]).ends_with(0);
    claude.has(CLAUDE);
}
