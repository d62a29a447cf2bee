//! The settings of agents that keep them as JSON, with our hook in them and without.

use agent_hooks::AgentHost;
use anyhow::Context as _;
use serde::Serialize;
use serde_json::Value;
use serde_json::ser::PrettyFormatter;

use super::json_text::{JsonSpan, enclosed};

/// Where the server takes calls from Claude Code.
pub(super) const HTTP_PATH: &str = "/hooks/claude";
/// Claude Code puts it into the header; the settings never have the token.
const TOKEN_VARIABLE: &str = "HOLDPOINT_TOKEN";

/// How the agent reaches us.
#[derive(Clone, Copy, Debug)]
pub(super) enum AgentCall<'a> {
    Command(&'a str),
    /// Claude Code alone.
    Http(&'a str),
}

/// Events with a list of hooks for each pattern of tools: Claude Code and Gemini CLI.
#[derive(Serialize)]
struct MatchedHooks<'a> {
    matcher: &'static str,
    hooks: [HookSetting<'a>; 1],
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum HookSetting<'a> {
    Command {
        command: &'a str,
        timeout: u64,
        #[serde(rename = "onFailure", skip_serializing_if = "Option::is_none")]
        on_failure: Option<&'static str>,
    },
    Http {
        url: &'a str,
        timeout: u64,
        #[serde(rename = "onFailure")]
        on_failure: &'static str,
        headers: HookHeaders,
        #[serde(rename = "allowedEnvVars")]
        allowed_env_vars: [&'static str; 1],
    },
}

#[derive(Serialize)]
struct HookHeaders {
    #[serde(rename = "Authorization")]
    authorization: String,
}

#[derive(Serialize)]
struct CursorHook<'a> {
    command: &'a str,
    timeout: u64,
    #[serde(rename = "failClosed")]
    fail_closed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    matcher: Option<&'static str>,
}

fn spelled(entry: &impl Serialize, indent: &str) -> anyhow::Result<String> {
    let mut bytes = Vec::new();
    let layout = PrettyFormatter::with_indent(indent.as_bytes());
    entry.serialize(&mut serde_json::Serializer::with_formatter(&mut bytes, layout))?;
    Ok(String::from_utf8(bytes)?)
}

/// The entries that we write: the name of the event, and what stands in its list.
fn entries(
    host: AgentHost,
    call: AgentCall<'_>,
    timeout: u64,
    indent: &str,
) -> anyhow::Result<Vec<(&'static str, String)>> {
    let spelled = |entry: &MatchedHooks<'_>| spelled(entry, indent);
    Ok(match (host, call) {
        (AgentHost::Claude, call) => {
            let hook = match call {
                AgentCall::Command(command) => {
                    HookSetting::Command { command, timeout, on_failure: Some("block") }
                }
                AgentCall::Http(url) => HookSetting::Http {
                    url,
                    timeout,
                    on_failure: "block",
                    headers: HookHeaders { authorization: format!("Bearer ${TOKEN_VARIABLE}") },
                    allowed_env_vars: [TOKEN_VARIABLE],
                },
            };
            vec![("PreToolUse", spelled(&MatchedHooks { matcher: "*", hooks: [hook] })?)]
        }
        (AgentHost::Gemini, AgentCall::Command(command)) => {
            let timeout_ms = timeout.saturating_mul(1000);
            let hook = HookSetting::Command { command, timeout: timeout_ms, on_failure: None };
            vec![("BeforeTool", spelled(&MatchedHooks { matcher: ".*", hooks: [hook] })?)]
        }
        (AgentHost::Cursor, AgentCall::Command(command)) => {
            let hook = |matcher| CursorHook { command, timeout, fail_closed: true, matcher };
            let any = self::spelled(&hook(None), indent)?;
            let files = self::spelled(&hook(Some("Write|Delete")), indent)?;
            vec![
                ("beforeShellExecution", any.clone()),
                ("beforeMCPExecution", any),
                ("preToolUse", files),
            ]
        }
        // Codex' settings are TOML, and the others have no hooks over HTTP.
        _ => anyhow::bail!("{} has no such hook", host.title()),
    })
}

/// `timeout_s` is the agent's own time-out for the hook.
pub(super) fn with_hook(
    host: AgentHost,
    text: &str,
    call: AgentCall<'_>,
    timeout_s: u64,
) -> anyhow::Result<String> {
    let mut text = without_hook(host, text)?;
    let indent = indent_of(&text);
    let top = JsonSpan::of_object(&text)?;
    if host == AgentHost::Cursor && top.position("version").is_none() {
        text = top.with("\"version\": 1", &indent, 1);
    }
    for (event, entry) in entries(host, call, timeout_s, &indent)? {
        text = with_entry(&text, event, &entry, &indent)?;
    }
    Ok(text)
}

fn with_entry(text: &str, event: &str, entry: &str, indent: &str) -> anyhow::Result<String> {
    let top = JsonSpan::of_object(text)?;
    let list = || format!("\"{event}\": {}", enclosed(['[', ']'], entry, indent));
    let Some(hooks) = top.position("hooks") else {
        let hooks = format!("\"hooks\": {}", enclosed(['{', '}'], &list(), indent));
        return Ok(top.with(&hooks, indent, 1));
    };
    let hooks = top.object_at(hooks).context("`hooks` is not as agents write it")?;
    match hooks.position(event) {
        None => Ok(hooks.with(&list(), indent, 2)),
        Some(list) => Ok(hooks.list_at(list)?.with(entry, indent, 3)),
    }
}

/// Takes out entries in which every hook is ours, and what is empty then. Not another byte changes.
pub(super) fn without_hook(host: AgentHost, text: &str) -> anyhow::Result<String> {
    let blank = text.trim().is_empty();
    let mut text = if blank { "{}\n" } else { text }.to_owned();
    while let Some(shorter) = without_one(host, &text)? {
        text = shorter;
    }
    Ok(text)
}

fn without_one(host: AgentHost, text: &str) -> anyhow::Result<Option<String>> {
    let top = JsonSpan::of_object(text)?;
    let Some(at) = top.position("hooks") else { return Ok(None) };
    let Ok(hooks) = top.object_at(at) else { return Ok(None) };
    for event in 0..hooks.members.len() {
        let Ok(list) = hooks.list_at(event) else { continue };
        let Some(ours) = list.members.iter().position(|item| is_ours(host, item.value)) else {
            continue;
        };
        return Ok(Some(match (list.members.len(), hooks.members.len()) {
            (1, 1) => top.without(at),
            (1, _) => hooks.without(event),
            _ => list.without(ours),
        }));
    }
    Ok(None)
}

pub(super) fn has_hook(host: AgentHost, text: &str) -> bool {
    without_hook(host, text).is_ok_and(|without| without != *text && !text.trim().is_empty())
}

fn is_ours(host: AgentHost, entry: &str) -> bool {
    let Ok(entry) = serde_json::from_str::<Value>(entry) else { return false };
    let is_our_hook = |hook: &Value| {
        // Options may stand behind it, such as `?wait_s=50`.
        let path = |url: &str| url.split('?').next().unwrap_or_default().to_owned();
        let is_our_url = |url: &str| host == AgentHost::Claude && path(url).ends_with(HTTP_PATH);
        hook["command"].as_str().is_some_and(|command| is_our_command(host, command))
            || hook["url"].as_str().is_some_and(is_our_url)
    };
    match entry["hooks"].as_array() {
        Some(hooks) => !hooks.is_empty() && hooks.iter().all(is_our_hook),
        None => is_our_hook(&entry),
    }
}

pub(super) fn is_our_command(host: AgentHost, command: &str) -> bool {
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
    use serde_json::json;

    use super::*;

    const OURS: AgentCall<'_> = AgentCall::Command("'/opt/holdpoint' hook claude || exit 2");

    #[test]
    fn everything_else_stays_and_installing_twice_is_installing_once() {
        let before = "{\n    \"zeta\": 1.10,\n    \"hooks\": {\n        \"PreToolUse\": [\n            {\n                \"matcher\": \"Bash\",\n                \"hooks\": [\n                    {\n                        \"type\": \"command\",\n                        \"command\": \"lint\"\n                    }\n                ]\n            }\n        ]\n    },\n    \"alpha\": true\n}\n";
        let once = with_hook(AgentHost::Claude, before, OURS, 600).unwrap();
        let value: Value = serde_json::from_str(&once).unwrap();
        let hook = &value["hooks"]["PreToolUse"][1]["hooks"][0];
        assert_eq!((&hook["timeout"], &hook["onFailure"]), (&json!(600), &json!("block")));
        assert_eq!(value["hooks"]["PreToolUse"][0]["hooks"][0]["command"], "lint");
        assert!(once.contains("\"zeta\": 1.10"), "{once}");
        assert_eq!(with_hook(AgentHost::Claude, &once, OURS, 600).unwrap(), once);
        assert!(has_hook(AgentHost::Claude, &once) && !has_hook(AgentHost::Claude, before));
        assert_eq!(without_hook(AgentHost::Claude, &once).unwrap(), before);
        // Without ours, not a byte changes, and no byte of others that stands beside it.
        for odd in [
            "{ \"a\":1 }",
            "{\"a\":[1,2],\"hooks\":{\"Stop\":[]}}",
            "{\"hooks\":{\"PreToolUse\":[{\"matcher\":\"x\"}] , \"Stop\":[]},\r\n\"z\":[ ]}\r\n",
        ] {
            assert_eq!(without_hook(AgentHost::Claude, odd).unwrap(), odd);
            let with = with_hook(AgentHost::Claude, odd, OURS, 600).unwrap();
            assert!(has_hook(AgentHost::Claude, &with), "{with}");
            assert_eq!(without_hook(AgentHost::Claude, &with).unwrap(), odd);
        }
    }

    #[test]
    fn an_empty_file_and_the_other_agents_work_too() {
        for host in [AgentHost::Claude, AgentHost::Gemini, AgentHost::Cursor] {
            let command = format!("holdpoint hook {}", host.name());
            let with = with_hook(host, "", AgentCall::Command(&command), 600).unwrap();
            assert!(has_hook(host, &with), "{with}");
            let without = without_hook(host, &with).unwrap();
            assert!(!without.contains("holdpoint"), "{without}");
        }
        assert!(with_hook(AgentHost::Claude, "[]", OURS, 600).is_err());
        assert!(with_hook(AgentHost::Claude, "{\"hooks\": 1}", OURS, 600).is_err());
        assert!(with_hook(AgentHost::Claude, "{ // no", OURS, 600).is_err());
    }

    #[test]
    fn the_http_hook_takes_the_place_of_the_command_and_has_no_token_in_it() {
        let command = with_hook(AgentHost::Claude, "", OURS, 600).unwrap();
        let http = AgentCall::Http("http://127.0.0.1:7420/hooks/claude");
        let text = with_hook(AgentHost::Claude, &command, http, 600).unwrap();
        assert!(has_hook(AgentHost::Claude, &text));
        let value: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(
            value["hooks"]["PreToolUse"],
            json!([{"matcher": "*", "hooks": [{
                "type": "http", "url": "http://127.0.0.1:7420/hooks/claude", "timeout": 600, "onFailure": "block",
                "headers": {"Authorization": "Bearer $HOLDPOINT_TOKEN"}, "allowedEnvVars": ["HOLDPOINT_TOKEN"],
            }]}])
        );
        assert_eq!(with_hook(AgentHost::Claude, &text, OURS, 600).unwrap(), command);
        let with_options = text.replace("/hooks/claude", "/hooks/claude?wait_s=50&defer=true");
        assert!(has_hook(AgentHost::Claude, &with_options));
        assert!(!has_hook(AgentHost::Claude, &text.replace("/hooks/claude", "/hooks/claude2")));
        assert!(!without_hook(AgentHost::Claude, &text).unwrap().contains("hooks"));
        assert!(with_hook(AgentHost::Gemini, "", http, 600).is_err());
    }
}
