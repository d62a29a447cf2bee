//! The shapes of replies about worlds, agents and chats. Members have the names and the order of the origin.

use serde::Serialize;

use super::wire::{ChatMessage, HitlPrompt};

#[derive(Debug, Serialize)]
pub(super) struct Health {
    pub(super) status: &'static str,
}

/// Servers of tools, of which this wire shows none.
#[derive(Debug, Serialize)]
pub(super) struct ToolServers {
    pub(super) servers: [(); 0],
    pub(super) count: usize,
}

#[derive(Debug, Serialize)]
pub(super) struct ToolServersHealth {
    pub(super) status: &'static str,
    pub(super) servers: [(); 0],
}

/// A world in the list of all.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ListedWorld<'a> {
    pub(super) id: String,
    pub(super) name: &'a str,
    pub(super) agent_count: usize,
    /// Always null: the configuration has none.
    pub(super) description: Option<()>,
}

/// A world with its agents, the caller's chats, and what was said in the current one.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WorldDocument {
    pub(super) id: String,
    pub(super) name: String,
    /// Always null, as are the limit and the servers of tools: the configuration has none for a world.
    pub(super) description: Option<()>,
    pub(super) turn_limit: Option<()>,
    pub(super) main_agent: Option<String>,
    pub(super) current_chat_id: Option<String>,
    pub(super) mcp_config: Option<()>,
    pub(super) agents: Vec<AgentDocument>,
    pub(super) chats: Vec<ListedChat>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct AgentDocument {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) auto_reply: bool,
    pub(super) status: &'static str,
    pub(super) message_count: usize,
    pub(super) memory: Vec<ChatMessage>,
    /// Always 0: calls of the model are counted by the session's usage.
    pub(super) llm_call_count: u64,
}

/// What is under way in the caller's chats.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WorldStatus<'a> {
    pub(super) world_id: &'a str,
    pub(super) is_processing: bool,
    pub(super) queue_depth: usize,
    pub(super) sending_count: usize,
    pub(super) active_chat_ids: Vec<String>,
    pub(super) queued_chat_ids: Vec<String>,
    pub(super) active_agent_names: Vec<String>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ListedChat {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) message_count: usize,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ChatOpened {
    pub(super) world: WorldDocument,
    pub(super) chat_id: String,
    pub(super) success: bool,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ChatChosen {
    pub(super) world: WorldDocument,
    pub(super) chat_id: String,
    pub(super) hitl_prompts: Vec<ChatPrompt>,
    pub(super) success: bool,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ChatPrompt {
    pub(super) chat_id: String,
    pub(super) prompt: HitlPrompt,
}

/// That something was done, in the origin's words.
#[derive(Debug, Serialize)]
pub(super) struct Notice {
    pub(super) message: &'static str,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RunStopped {
    pub(super) success: bool,
    pub(super) chat_id: String,
    pub(super) stopped: bool,
    pub(super) reason: &'static str,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct MessagesRemoved<'a> {
    pub(super) success: bool,
    pub(super) message_id: String,
    pub(super) total_agents: usize,
    pub(super) processed_agents: Vec<&'a str>,
    /// Always empty: a message is removed for all agents or for none.
    pub(super) failed_agents: [(); 0],
    pub(super) messages_removed_total: usize,
    pub(super) message: String,
}
