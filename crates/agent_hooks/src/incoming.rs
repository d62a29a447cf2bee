//! What each agent hands to its hook.

use std::path::{Path, PathBuf};

use domain::json::Arguments;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::host::AgentHost;
use crate::proposal::HookProposal;

/// Why a call cannot be put to anybody. A variant for each remedy.
#[derive(Debug, thiserror::Error)]
pub enum UnreadableCall {
    #[error("what {agent} handed over is no call: {why}")]
    NotACall { agent: &'static str, why: String },
    #[error(
        "this hook is for the event {wanted}, not `{event}`: set it up with `holdpoint hook install {agent}`"
    )]
    OtherEvent { agent: &'static str, wanted: &'static str, event: String },
    #[error("the arguments of `{tool}` are no object")]
    NoObject { tool: String },
    #[error("{agent} does not say in which directory it works")]
    NoDirectory { agent: &'static str },
}

/// Claude Code, Codex and Gemini CLI agree on this.
#[derive(Deserialize)]
struct ToolEvent {
    #[serde(default)]
    hook_event_name: String,
    session_id: Option<String>,
    cwd: Option<String>,
    #[serde(default)]
    tool_name: String,
    #[serde(default)]
    tool_input: Value,
    tool_use_id: Option<String>,
    agent_type: Option<String>,
}

/// Its own events say what is called by their names.
#[derive(Deserialize)]
struct CursorEvent {
    #[serde(default)]
    hook_event_name: String,
    conversation_id: Option<String>,
    cwd: Option<String>,
    #[serde(default)]
    workspace_roots: Vec<String>,
    command: Option<String>,
    url: Option<String>,
    #[serde(default)]
    tool_name: String,
    tool_input: Option<Value>,
    tool_use_id: Option<String>,
}

impl HookProposal {
    /// `here` stands in for a directory that the agent does not name.
    pub fn read(
        host: AgentHost,
        bytes: &[u8],
        here: Option<&Path>,
    ) -> Result<HookProposal, UnreadableCall> {
        let agent = host.title();
        let not_a_call = |why: String| UnreadableCall::NotACall { agent, why };
        // The strict reader of calls: no repeated keys, no broken text.
        let call = Arguments::parse(bytes).map_err(|why| not_a_call(why.to_string()))?;
        let no_shape = |error: serde_json::Error| not_a_call(error.to_string());
        let mut read = match host {
            AgentHost::Cursor => {
                cursor_call(CursorEvent::deserialize(call.value()).map_err(no_shape)?)?
            }
            _ => tool_call(host, ToolEvent::deserialize(call.value()).map_err(no_shape)?)?,
        };
        if read.tool.is_empty() {
            return Err(not_a_call("it names no tool".into()));
        }
        if !read.input.is_object() {
            return Err(UnreadableCall::NoObject { tool: read.tool });
        }
        if read.directory.as_os_str().is_empty() {
            read.directory = here.ok_or(UnreadableCall::NoDirectory { agent })?.to_owned();
        }
        Ok(read)
    }
}

fn tool_call(host: AgentHost, event: ToolEvent) -> Result<HookProposal, UnreadableCall> {
    if event.hook_event_name != host.event() {
        return Err(UnreadableCall::OtherEvent {
            agent: host.name(),
            wanted: host.event(),
            event: event.hook_event_name,
        });
    }
    Ok(HookProposal {
        host,
        session: event.session_id.unwrap_or_default(),
        use_id: event.tool_use_id,
        tool: event.tool_name,
        input: event.tool_input,
        directory: PathBuf::from(event.cwd.unwrap_or_default()),
        subagent: event.agent_type,
    })
}

fn cursor_call(event: CursorEvent) -> Result<HookProposal, UnreadableCall> {
    let agent = AgentHost::Cursor.title();
    let not_a_call = |why: &str| UnreadableCall::NotACall { agent, why: why.to_owned() };
    let (tool, input) = match event.hook_event_name.as_str() {
        "beforeShellExecution" => {
            let command = event.command.ok_or_else(|| not_a_call("there is no command"))?;
            let input = Map::from_iter([("command".to_owned(), Value::String(command))]);
            (AgentHost::Cursor.shell_tool().to_owned(), Value::Object(input))
        }
        "beforeMCPExecution" | "preToolUse" => {
            let input = match event.tool_input {
                // MCP calls come as text, which must be as strict as the rest.
                Some(Value::String(text)) => Arguments::parse(text.as_bytes())
                    .map_err(|_| not_a_call("the arguments are not JSON"))?
                    .value()
                    .clone(),
                Some(input) => input,
                None => Value::Object(Map::new()),
            };
            match event.hook_event_name.as_str() {
                // A server's tool may be named like one of the agent's own.
                "beforeMCPExecution" => {
                    let server = event.url.or(event.command).unwrap_or_default();
                    let call =
                        [("server".to_owned(), server.into()), ("arguments".to_owned(), input)];
                    (format!("mcp__{}", event.tool_name), Value::Object(Map::from_iter(call)))
                }
                _ => (event.tool_name, input),
            }
        }
        other => {
            return Err(UnreadableCall::OtherEvent {
                agent: AgentHost::Cursor.name(),
                wanted: "beforeShellExecution, beforeMCPExecution or preToolUse",
                event: other.to_owned(),
            });
        }
    };
    let directory = event.cwd.filter(|cwd| !cwd.is_empty());
    let directory = directory.or_else(|| event.workspace_roots.into_iter().next());
    Ok(HookProposal {
        host: AgentHost::Cursor,
        session: event.conversation_id.unwrap_or_default(),
        use_id: event.tool_use_id,
        tool,
        input,
        directory: PathBuf::from(directory.unwrap_or_default()),
        subagent: None,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn call(event: &str) -> Value {
        json!({
            "session_id": "s1", "cwd": "/repo", "hook_event_name": event, "tool_name": "Bash",
            "tool_input": {"command": "ls"}, "tool_use_id": "toolu_1", "unknown": [1],
        })
    }

    fn read(host: AgentHost, call: &Value) -> Result<HookProposal, UnreadableCall> {
        HookProposal::read(host, call.to_string().as_bytes(), None)
    }

    #[test]
    fn calls_are_read_and_what_is_none_is_refused() {
        for (host, event) in [
            (AgentHost::Claude, "PreToolUse"),
            (AgentHost::Codex, "PreToolUse"),
            (AgentHost::Gemini, "BeforeTool"),
        ] {
            let read = read(host, &call(event)).unwrap();
            assert_eq!((read.tool.as_str(), read.session.as_str()), ("Bash", "s1"));
            assert_eq!(read.input, json!({"command": "ls"}));
        }
        for bad in [&b""[..], b"[]", b"{", b"{\"a\":1,\"a\":2}", b"\xff", b"{}"] {
            assert!(HookProposal::read(AgentHost::Claude, bad, None).is_err());
        }
        let error = read(AgentHost::Codex, &call("PostToolUse")).unwrap_err();
        assert!(error.to_string().contains("hook install codex"), "{error}");
        let shell = json!({"hook_event_name": "beforeShellExecution", "command": "ls", "cwd": "/x", "conversation_id": "c"});
        let shell = read(AgentHost::Cursor, &shell).unwrap();
        assert_eq!((shell.tool.as_str(), shell.input["command"].as_str()), ("Shell", Some("ls")));
        let mcp = |input: &str| json!({"hook_event_name": "beforeMCPExecution", "tool_name": "Shell", "cwd": "/x", "tool_input": input, "url": "http://m"});
        let read_mcp = read(AgentHost::Cursor, &mcp(r#"{"a":1}"#)).unwrap();
        assert_eq!(read_mcp.tool, "mcp__Shell", "not the agent's own shell");
        assert_eq!(read_mcp.input, json!({"server": "http://m", "arguments": {"a": 1}}));
        assert!(read(AgentHost::Cursor, &mcp(r#"{"a":1,"a":2}"#)).is_err());
    }

    #[test]
    fn a_call_without_a_directory_takes_the_hooks_own_or_is_refused() {
        let mut nowhere = call("PreToolUse");
        nowhere.as_object_mut().unwrap().remove("cwd");
        let bytes = nowhere.to_string();
        let here = HookProposal::read(AgentHost::Claude, bytes.as_bytes(), Some(Path::new("/h")));
        assert_eq!(here.unwrap().directory, Path::new("/h"));
        let error = read(AgentHost::Claude, &nowhere).unwrap_err();
        assert!(matches!(error, UnreadableCall::NoDirectory { .. }), "{error}");
    }
}
