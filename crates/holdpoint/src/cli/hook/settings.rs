//! The settings of agents that keep them as JSON, with our hook in them and without.

use serde_json::{Value, json};

use super::ordered_json::OrderedJson;
use crate::cli::args::HookHost;

/// What the agent itself waits for the hook: a little more than the hook waits for people.
pub(super) const TIMEOUT_S: u64 = 600;

/// The entries that we write: the name of the event, and what stands in its list.
fn entries(host: HookHost, command: &str) -> Vec<(&'static str, Value)> {
    match host {
        HookHost::Claude => {
            let hook = json!({"type": "command", "command": command, "timeout": TIMEOUT_S, "onFailure": "block"});
            vec![("PreToolUse", json!({"matcher": "*", "hooks": [hook]}))]
        }
        HookHost::Gemini => {
            // Milliseconds.
            let hook = json!({"type": "command", "command": command, "timeout": TIMEOUT_S * 1000});
            vec![("BeforeTool", json!({"matcher": ".*", "hooks": [hook]}))]
        }
        HookHost::Cursor => vec![
            ("beforeShellExecution", json!({"command": command})),
            ("beforeMCPExecution", json!({"command": command})),
            ("preToolUse", json!({"command": command, "matcher": "Write|Delete"})),
        ],
        // Its settings are TOML.
        HookHost::Codex => Vec::new(),
    }
}

pub(super) fn with_hook(host: HookHost, text: &str, command: &str) -> anyhow::Result<String> {
    let mut settings = OrderedJson::parse(&without_hook(host, text)?)?;
    if host == HookHost::Cursor {
        settings.entry("version", OrderedJson::Scalar("1".into()))?;
    }
    let hooks = settings.entry("hooks", OrderedJson::Object(Vec::new()))?;
    for (event, entry) in entries(host, command) {
        hooks.entry(event, OrderedJson::Array(Vec::new()))?.items()?.push(OrderedJson::of(&entry)?);
    }
    Ok(settings.pretty(&indent_of(text)))
}

/// Takes out entries in which every hook is ours, and what is empty then.
pub(super) fn without_hook(host: HookHost, text: &str) -> anyhow::Result<String> {
    let blank = text.trim().is_empty();
    let mut settings = OrderedJson::parse(if blank { "{}" } else { text })?;
    let OrderedJson::Object(top) = &mut settings else {
        anyhow::bail!("the settings are no JSON object");
    };
    let mut is_changed = false;
    if let Some((_, OrderedJson::Object(events))) = top.iter_mut().find(|(key, _)| key == "hooks") {
        for (_, list) in events.iter_mut() {
            if let OrderedJson::Array(items) = list {
                let before = items.len();
                items.retain(|item| !is_ours(host, item));
                is_changed |= items.len() != before;
            }
        }
        if is_changed {
            let is_empty = |list: &OrderedJson| *list == OrderedJson::Array(Vec::new());
            events.retain(|(_, list)| !is_empty(list));
        }
    }
    if !is_changed {
        return Ok(if blank { "{}\n".to_owned() } else { text.to_owned() });
    }
    top.retain(|(key, value)| key != "hooks" || *value != OrderedJson::Object(Vec::new()));
    Ok(settings.pretty(&indent_of(text)))
}

pub(super) fn has_hook(host: HookHost, text: &str) -> bool {
    without_hook(host, text).is_ok_and(|without| without != *text && !text.trim().is_empty())
}

fn is_ours(host: HookHost, entry: &OrderedJson) -> bool {
    let Ok(entry) = serde_json::from_str::<Value>(&entry.pretty("")) else { return false };
    let is_our_command = |hook: &Value| {
        hook["command"].as_str().is_some_and(|command| is_our_command(host, command))
    };
    match entry["hooks"].as_array() {
        Some(hooks) => !hooks.is_empty() && hooks.iter().all(is_our_command),
        None => is_our_command(&entry),
    }
}

pub(super) fn is_our_command(host: HookHost, command: &str) -> bool {
    command.contains("holdpoint") && command.contains(&format!(" hook {}", host.name()))
}

/// As the file is indented; two spaces if nobody can say.
fn indent_of(text: &str) -> String {
    let line = text.lines().nth(1).unwrap_or_default();
    let blank: String = line.chars().take_while(|c| matches!(c, ' ' | '\t')).collect();
    if blank.is_empty() { "  ".into() } else { blank }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OURS: &str = "'/opt/holdpoint' hook claude || exit 2";

    #[test]
    fn everything_else_stays_and_installing_twice_is_installing_once() {
        let before = "{\n    \"zeta\": 1.10,\n    \"hooks\": {\n        \"PreToolUse\": [\n            {\n                \"matcher\": \"Bash\",\n                \"hooks\": [\n                    {\n                        \"type\": \"command\",\n                        \"command\": \"lint\"\n                    }\n                ]\n            }\n        ]\n    },\n    \"alpha\": true\n}\n";
        let once = with_hook(HookHost::Claude, before, OURS).unwrap();
        let value: Value = serde_json::from_str(&once).unwrap();
        let hook = &value["hooks"]["PreToolUse"][1]["hooks"][0];
        assert_eq!((&hook["timeout"], &hook["onFailure"]), (&json!(600), &json!("block")));
        assert_eq!(value["hooks"]["PreToolUse"][0]["hooks"][0]["command"], "lint");
        assert!(once.contains("\"zeta\": 1.10"), "{once}");
        assert_eq!(with_hook(HookHost::Claude, &once, OURS).unwrap(), once);
        assert!(has_hook(HookHost::Claude, &once) && !has_hook(HookHost::Claude, before));
        assert_eq!(without_hook(HookHost::Claude, &once).unwrap(), before);
        // Without ours, not a byte changes.
        let odd = "{ \"a\":1 }";
        assert_eq!(without_hook(HookHost::Claude, odd).unwrap(), odd);
    }

    #[test]
    fn an_empty_file_and_the_other_agents_work_too() {
        for host in [HookHost::Claude, HookHost::Gemini, HookHost::Cursor] {
            let command = format!("holdpoint hook {}", host.name());
            let with = with_hook(host, "", &command).unwrap();
            assert!(has_hook(host, &with), "{with}");
            let without = without_hook(host, &with).unwrap();
            assert!(!without.contains("holdpoint"), "{without}");
        }
        assert!(with_hook(HookHost::Claude, "[]", OURS).is_err());
        assert!(with_hook(HookHost::Claude, "{\"hooks\": 1}", OURS).is_err());
        assert!(with_hook(HookHost::Claude, "{ // no", OURS).is_err());
    }
}
