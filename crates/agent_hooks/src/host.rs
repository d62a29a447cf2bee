//! The agents whose hooks we speak.

use std::str::FromStr;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgentHost {
    Claude,
    Codex,
    Gemini,
    Cursor,
}

#[derive(Debug, thiserror::Error)]
#[error("there is no hook for this agent; there is one for claude, codex, gemini and cursor")]
pub struct UnknownAgentHost;

impl AgentHost {
    pub const ALL: [AgentHost; 4] =
        [AgentHost::Claude, AgentHost::Codex, AgentHost::Gemini, AgentHost::Cursor];

    /// As people call it.
    pub fn title(self) -> &'static str {
        match self {
            AgentHost::Claude => "Claude Code",
            AgentHost::Codex => "Codex",
            AgentHost::Gemini => "Gemini CLI",
            AgentHost::Cursor => "Cursor",
        }
    }

    /// As commands and settings call it.
    pub const fn name(self) -> &'static str {
        match self {
            AgentHost::Claude => "claude",
            AgentHost::Codex => "codex",
            AgentHost::Gemini => "gemini",
            AgentHost::Cursor => "cursor",
        }
    }

    /// What it calls its tool for shell commands, which is what rules name.
    pub fn shell_tool(self) -> &'static str {
        match self {
            AgentHost::Claude | AgentHost::Codex => "Bash",
            AgentHost::Gemini => "run_shell_command",
            AgentHost::Cursor => "Shell",
        }
    }

    /// Whether it can be ended while a question is open, and go on with the answer later.
    pub fn can_defer(self) -> bool {
        self == AgentHost::Claude
    }

    /// The event before a call, for agents that have one for all tools.
    pub(crate) fn event(self) -> &'static str {
        match self {
            AgentHost::Claude | AgentHost::Codex | AgentHost::Cursor => "PreToolUse",
            AgentHost::Gemini => "BeforeTool",
        }
    }
}

impl FromStr for AgentHost {
    type Err = UnknownAgentHost;

    fn from_str(name: &str) -> Result<AgentHost, UnknownAgentHost> {
        AgentHost::ALL.into_iter().find(|host| host.name() == name).ok_or(UnknownAgentHost)
    }
}
