//! The settings of agents that keep them as JSON, with our hook in them and without.

use agent_hooks::{AGENT_TIMEOUT_S, AgentHost};
use serde::Serialize;
use serde_json::Value;

use super::ordered_json::OrderedJson;

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

fn ordered(entry: &impl Serialize) -> anyhow::Result<OrderedJson> {
    OrderedJson::parse(&serde_json::to_string(entry)?)
}

/// The entries that we write: the name of the event, and what stands in its list.
fn entries(
    host: AgentHost,
    call: AgentCall<'_>,
) -> anyhow::Result<Vec<(&'static str, OrderedJson)>> {
    Ok(match (host, call) {
        (AgentHost::Claude, call) => {
            let hook = match call {
                AgentCall::Command(command) => HookSetting::Command {
                    command,
                    timeout: AGENT_TIMEOUT_S,
                    on_failure: Some("block"),
                },
                AgentCall::Http(url) => HookSetting::Http {
                    url,
                    timeout: AGENT_TIMEOUT_S,
                    on_failure: "block",
                    headers: HookHeaders { authorization: format!("Bearer ${TOKEN_VARIABLE}") },
                    allowed_env_vars: [TOKEN_VARIABLE],
                },
            };
            vec![("PreToolUse", ordered(&MatchedHooks { matcher: "*", hooks: [hook] })?)]
        }
        (AgentHost::Gemini, AgentCall::Command(command)) => {
            let timeout_ms = AGENT_TIMEOUT_S * 1000;
            let hook = HookSetting::Command { command, timeout: timeout_ms, on_failure: None };
            vec![("BeforeTool", ordered(&MatchedHooks { matcher: ".*", hooks: [hook] })?)]
        }
        (AgentHost::Cursor, AgentCall::Command(command)) => {
            let hook = |matcher| CursorHook {
                command,
                timeout: AGENT_TIMEOUT_S,
                fail_closed: true,
                matcher,
            };
            let any = ordered(&hook(None))?;
            let files = ordered(&hook(Some("Write|Delete")))?;
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

pub(super) fn with_hook(
    host: AgentHost,
    text: &str,
    call: AgentCall<'_>,
) -> anyhow::Result<String> {
    let mut settings = OrderedJson::parse(&without_hook(host, text)?)?;
    if host == AgentHost::Cursor {
        settings.entry("version", OrderedJson::Scalar("1".into()))?;
    }
    let hooks = settings.entry("hooks", OrderedJson::Object(Vec::new()))?;
    for (event, entry) in entries(host, call)? {
        hooks.entry(event, OrderedJson::Array(Vec::new()))?.items()?.push(entry);
    }
    Ok(settings.pretty(&indent_of(text)))
}

/// Takes out entries in which every hook is ours, and what is empty then.
pub(super) fn without_hook(host: AgentHost, text: &str) -> anyhow::Result<String> {
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

pub(super) fn has_hook(host: AgentHost, text: &str) -> bool {
    without_hook(host, text).is_ok_and(|without| without != *text && !text.trim().is_empty())
}

fn is_ours(host: AgentHost, entry: &OrderedJson) -> bool {
    let Ok(entry) = serde_json::from_str::<Value>(&entry.pretty("")) else { return false };
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
        let once = with_hook(AgentHost::Claude, before, OURS).unwrap();
        let value: Value = serde_json::from_str(&once).unwrap();
        let hook = &value["hooks"]["PreToolUse"][1]["hooks"][0];
        assert_eq!((&hook["timeout"], &hook["onFailure"]), (&json!(600), &json!("block")));
        assert_eq!(value["hooks"]["PreToolUse"][0]["hooks"][0]["command"], "lint");
        assert!(once.contains("\"zeta\": 1.10"), "{once}");
        assert_eq!(with_hook(AgentHost::Claude, &once, OURS).unwrap(), once);
        assert!(has_hook(AgentHost::Claude, &once) && !has_hook(AgentHost::Claude, before));
        assert_eq!(without_hook(AgentHost::Claude, &once).unwrap(), before);
        // Without ours, not a byte changes.
        let odd = "{ \"a\":1 }";
        assert_eq!(without_hook(AgentHost::Claude, odd).unwrap(), odd);
    }

    #[test]
    fn an_empty_file_and_the_other_agents_work_too() {
        for host in [AgentHost::Claude, AgentHost::Gemini, AgentHost::Cursor] {
            let command = format!("holdpoint hook {}", host.name());
            let with = with_hook(host, "", AgentCall::Command(&command)).unwrap();
            assert!(has_hook(host, &with), "{with}");
            let without = without_hook(host, &with).unwrap();
            assert!(!without.contains("holdpoint"), "{without}");
        }
        assert!(with_hook(AgentHost::Claude, "[]", OURS).is_err());
        assert!(with_hook(AgentHost::Claude, "{\"hooks\": 1}", OURS).is_err());
        assert!(with_hook(AgentHost::Claude, "{ // no", OURS).is_err());
    }

    #[test]
    fn the_http_hook_takes_the_place_of_the_command_and_has_no_token_in_it() {
        let command = with_hook(AgentHost::Claude, "", OURS).unwrap();
        let http = AgentCall::Http("http://127.0.0.1:7420/hooks/claude");
        let text = with_hook(AgentHost::Claude, &command, http).unwrap();
        assert!(has_hook(AgentHost::Claude, &text));
        let value: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(
            value["hooks"]["PreToolUse"],
            json!([{"matcher": "*", "hooks": [{
                "type": "http", "url": "http://127.0.0.1:7420/hooks/claude", "timeout": 600, "onFailure": "block",
                "headers": {"Authorization": "Bearer $HOLDPOINT_TOKEN"}, "allowedEnvVars": ["HOLDPOINT_TOKEN"],
            }]}])
        );
        assert_eq!(with_hook(AgentHost::Claude, &text, OURS).unwrap(), command);
        let with_options = text.replace("/hooks/claude", "/hooks/claude?wait_s=50&defer=true");
        assert!(has_hook(AgentHost::Claude, &with_options));
        assert!(!has_hook(AgentHost::Claude, &text.replace("/hooks/claude", "/hooks/claude2")));
        assert!(!without_hook(AgentHost::Claude, &text).unwrap().contains("hooks"));
        assert!(with_hook(AgentHost::Gemini, "", http).is_err());
    }
}
