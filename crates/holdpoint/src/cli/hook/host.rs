//! The words of each agent: what it hands to a hook, and what it understands of a reply.

use std::io::Write as _;
use std::path::PathBuf;

use anyhow::Context as _;
use serde_json::{Map, Value, json};

use super::proposal::HookProposal;
use crate::cli::args::HookHost;

/// What the agent is told.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum HookReply {
    /// Let it run, with these arguments if they are others.
    Allow {
        input: Option<Value>,
        reason: String,
    },
    Deny(String),
    /// End, and ask again when the session is resumed.
    Defer(String),
}

/// How an agent takes a denial by exit code.
const BLOCKED: u8 = 2;

impl HookHost {
    pub(super) fn title(self) -> &'static str {
        match self {
            HookHost::Claude => "Claude Code",
            HookHost::Codex => "Codex",
            HookHost::Gemini => "Gemini CLI",
            HookHost::Cursor => "Cursor",
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            HookHost::Claude => "claude",
            HookHost::Codex => "codex",
            HookHost::Gemini => "gemini",
            HookHost::Cursor => "cursor",
        }
    }
}

pub(super) fn read(host: HookHost, bytes: &[u8]) -> anyhow::Result<HookProposal> {
    // The strict reader of calls: no repeated keys, no broken text.
    let call = domain::json::Arguments::parse(bytes)
        .map_err(|why| anyhow::anyhow!("what {} handed over is no call: {why}", host.title()))?;
    let call = call.value();
    let text = |key: &str| call.get(key).and_then(Value::as_str).map(str::to_owned);
    let event = text("hook_event_name").unwrap_or_default();
    let (session, tool, input) = match host {
        HookHost::Cursor => {
            let (tool, input) = cursor_call(&event, call)?;
            (text("conversation_id"), tool, input)
        }
        _ => {
            let wanted = if host == HookHost::Gemini { "BeforeTool" } else { "PreToolUse" };
            anyhow::ensure!(
                event == wanted,
                "this hook is for the event {wanted}, not `{event}`: set it up with `holdpoint hook install {}`",
                host.name()
            );
            let input = call.get("tool_input").cloned().unwrap_or(Value::Null);
            (text("session_id"), text("tool_name").unwrap_or_default(), input)
        }
    };
    anyhow::ensure!(!tool.is_empty(), "{} names no tool", host.title());
    anyhow::ensure!(input.is_object(), "the arguments of `{tool}` are no object");
    let directory = text("cwd").or_else(|| {
        call.get("workspace_roots")
            .and_then(|roots| roots.get(0))
            .and_then(Value::as_str)
            .map(str::to_owned)
    });
    let directory = match directory.filter(|directory| !directory.is_empty()) {
        Some(directory) => PathBuf::from(directory),
        None => std::env::current_dir().context("the current directory cannot be read")?,
    };
    Ok(HookProposal {
        session: session.unwrap_or_default(),
        use_id: text("tool_use_id"),
        tool,
        input,
        directory,
        subagent: text("agent_type"),
    })
}

/// Its own events say what is called by their names.
fn cursor_call(event: &str, call: &Value) -> anyhow::Result<(String, Value)> {
    let tool = call.get("tool_name").and_then(Value::as_str).unwrap_or_default().to_owned();
    match event {
        "beforeShellExecution" => {
            let command =
                call.get("command").and_then(Value::as_str).context("there is no command")?;
            Ok(("Shell".into(), json!({"command": command})))
        }
        "beforeMCPExecution" | "preToolUse" => {
            let input = match call.get("tool_input") {
                // MCP calls come as text.
                Some(Value::String(text)) => {
                    serde_json::from_str(text).context("the arguments are not JSON")?
                }
                Some(input) => input.clone(),
                None => Value::Object(Map::new()),
            };
            Ok((tool, input))
        }
        other => anyhow::bail!("this hook does not know the event `{other}`"),
    }
}

/// Prints what the agent understands and returns the exit code. After an error both say no.
pub(super) fn print(host: HookHost, reply: &HookReply, failed: bool) -> u8 {
    let out = spelled(host, reply).map(|value| format!("{value}\n")).unwrap_or_default();
    let printed =
        std::io::stdout().write_all(out.as_bytes()).and_then(|()| std::io::stdout().flush());
    match reply {
        HookReply::Deny(reason) if failed || printed.is_err() => {
            let _ = writeln!(std::io::stderr(), "{reason}");
            BLOCKED
        }
        // An approval that could not be said is none.
        _ if printed.is_err() => BLOCKED,
        _ => 0,
    }
}

fn spelled(host: HookHost, reply: &HookReply) -> Option<Value> {
    let pre_tool_use = |decision: &str, reason: &str| {
        json!({"hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": decision,
            "permissionDecisionReason": reason,
        }})
    };
    match (host, reply) {
        (HookHost::Claude, HookReply::Allow { input, reason }) => {
            let mut out = pre_tool_use("allow", reason);
            if let Some(input) = input {
                out["hookSpecificOutput"]["updatedInput"] = input.clone();
            }
            Some(out)
        }
        (HookHost::Claude, HookReply::Defer(reason)) => Some(pre_tool_use("defer", reason)),
        // A bare `allow` would be a failed hook to Codex: saying nothing lets the call pass.
        (HookHost::Codex, HookReply::Allow { input: None, .. }) => None,
        (HookHost::Codex, HookReply::Allow { input: Some(input), .. }) => {
            Some(json!({"hookSpecificOutput": {
                "hookEventName": "PreToolUse",
                "permissionDecision": "allow",
                "updatedInput": input,
            }}))
        }
        (
            HookHost::Claude | HookHost::Codex,
            HookReply::Deny(reason) | HookReply::Defer(reason),
        ) => Some(pre_tool_use("deny", reason)),
        (HookHost::Gemini, HookReply::Allow { input: None, .. }) => {
            Some(json!({"decision": "allow"}))
        }
        (HookHost::Gemini, HookReply::Allow { input: Some(input), .. }) => {
            Some(json!({"decision": "allow", "hookSpecificOutput": {"tool_input": input}}))
        }
        (HookHost::Gemini, HookReply::Deny(reason) | HookReply::Defer(reason)) => {
            Some(json!({"decision": "deny", "reason": reason}))
        }
        (HookHost::Cursor, HookReply::Allow { input: None, .. }) => {
            Some(json!({"permission": "allow"}))
        }
        (HookHost::Cursor, HookReply::Allow { input: Some(input), .. }) => {
            let reason = wanted(input);
            Some(json!({"permission": "deny", "user_message": reason, "agent_message": reason}))
        }
        (HookHost::Cursor, HookReply::Deny(reason) | HookReply::Defer(reason)) => {
            Some(json!({"permission": "deny", "user_message": reason, "agent_message": reason}))
        }
    }
}

/// For agents that cannot take other arguments than their own.
pub(super) fn wanted(input: &Value) -> String {
    super::denial(&format!(
        "it was approved with other arguments, which this agent cannot be handed. Call the tool again with exactly these: {input}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(event: &str) -> Value {
        json!({
            "session_id": "s1", "cwd": "/repo", "hook_event_name": event, "tool_name": "Bash",
            "tool_input": {"command": "ls"}, "tool_use_id": "toolu_1", "unknown": [1],
        })
    }

    #[test]
    fn calls_are_read_and_what_is_none_is_refused() {
        for (host, event) in [
            (HookHost::Claude, "PreToolUse"),
            (HookHost::Codex, "PreToolUse"),
            (HookHost::Gemini, "BeforeTool"),
        ] {
            let read = read(host, call(event).to_string().as_bytes()).unwrap();
            assert_eq!((read.tool.as_str(), read.session.as_str()), ("Bash", "s1"));
            assert_eq!(read.input, json!({"command": "ls"}));
        }
        for bad in [&b""[..], b"[]", b"{", b"{\"a\":1,\"a\":2}", b"\xff", b"{}"] {
            assert!(read(HookHost::Claude, bad).is_err());
        }
        let other = call("PostToolUse").to_string();
        let error = read(HookHost::Codex, other.as_bytes()).unwrap_err();
        assert!(error.to_string().contains("hook install codex"), "{error}");
        let shell = json!({"hook_event_name": "beforeShellExecution", "command": "ls", "cwd": "/x", "conversation_id": "c"});
        let read = read(HookHost::Cursor, shell.to_string().as_bytes()).unwrap();
        assert_eq!((read.tool.as_str(), read.input["command"].as_str()), ("Shell", Some("ls")));
    }

    #[test]
    fn codex_is_told_nothing_that_it_takes_for_a_failed_hook() {
        let allow = HookReply::Allow { input: None, reason: "x".into() };
        assert_eq!(spelled(HookHost::Codex, &allow), None);
        let edited =
            HookReply::Allow { input: Some(json!({"command": "pwd"})), reason: "x".into() };
        let spelled_edit = spelled(HookHost::Codex, &edited).unwrap();
        assert_eq!(spelled_edit["hookSpecificOutput"].as_object().unwrap().len(), 3);
        for reply in [HookReply::Deny("no".into()), HookReply::Defer("later".into())] {
            let told = spelled(HookHost::Codex, &reply).unwrap();
            assert_eq!(told["hookSpecificOutput"]["permissionDecision"], "deny");
        }
    }

    #[test]
    fn cursor_denies_an_edit_and_says_what_is_wanted() {
        let edited =
            HookReply::Allow { input: Some(json!({"command": "pwd"})), reason: "x".into() };
        let told = spelled(HookHost::Cursor, &edited).unwrap();
        assert_eq!(told["permission"], "deny");
        assert!(told["agent_message"].as_str().unwrap().contains(r#"{"command":"pwd"}"#));
    }
}
