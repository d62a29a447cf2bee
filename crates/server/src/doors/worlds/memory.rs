//! What was said in a session, as an agent's memory on this wire: also the prompts, each with whether it
//! was answered. They are made from the holds; no model ever sees them.

use domain::message::{Message as Said, Origin, Part, Role};
use domain::session::Session;

use super::event::{EventSource, WorldMessage};
use super::limits::MEMORY_MAX;
use super::prompt;
use super::wire::{ChatMessage, FunctionCall};
use crate::app::App;
use crate::wire;

pub(super) fn memory(session: &Session, source: &EventSource, app: &App) -> Vec<ChatMessage> {
    let mut memory: Vec<WorldMessage> = Vec::new();
    for said in &session.transcript {
        match said.role {
            Role::User if said.origin == Origin::Runtime => {}
            Role::User => memory.push(spoken_message(said)),
            Role::Assistant => {
                memory.push(thought(said, session, source, app));
                memory.extend(prompts(said, session, source, app));
            }
            Role::Tool => memory.extend(said.parts.iter().filter_map(|part| result(part, said))),
        }
    }
    let from = memory.len().saturating_sub(MEMORY_MAX);
    memory[from..].iter().map(|message| message.data(source)).collect()
}

fn plain(said: &Said, role: &'static str, sender: &str) -> WorldMessage {
    WorldMessage {
        id: said.id.to_string(),
        sender: sender.to_owned(),
        role,
        content: said.text().into_owned(),
        at: said.at,
        reply_to: None,
        tool_calls: Vec::new(),
        tool_call_status: None,
        tool_call_id: None,
    }
}

/// What a person said. Who that was is known from their credentials, and is told to nobody here.
pub(super) fn spoken_message(said: &Said) -> WorldMessage {
    plain(said, "user", "human")
}

/// A whole turn of the model, with the calls that it made.
pub(super) fn thought(
    said: &Said,
    session: &Session,
    source: &EventSource,
    app: &App,
) -> WorldMessage {
    let calls = said.parts.iter().filter_map(|part| match part {
        Part::ToolCall { call, tool_use_id, tool, input } => {
            let input = wire::call_input(*call, tool, input, session, &app.engine);
            Some(FunctionCall::new(tool_use_id.clone(), tool, input.to_string()))
        }
        _ => None,
    });
    WorldMessage { tool_calls: calls.collect(), ..plain(said, "assistant", &source.agent) }
}

fn prompts(said: &Said, session: &Session, source: &EventSource, app: &App) -> Vec<WorldMessage> {
    let calls = said.parts.iter().filter_map(|part| match part {
        Part::ToolCall { call, .. } => session.hold_of(*call),
        _ => None,
    });
    calls
        .filter_map(|hold| {
            let link = format!("{}/holds/{}", app.origin, hold.id);
            Some(WorldMessage { sender: source.agent.clone(), ..prompt::message(hold, &link)? })
        })
        .collect()
}

fn result(part: &Part, said: &Said) -> Option<WorldMessage> {
    let Part::ToolResult { tool_use_id, result, .. } = part else { return None };
    Some(WorldMessage {
        id: format!("{}-{tool_use_id}", said.id),
        content: result.content.clone(),
        tool_call_id: Some(tool_use_id.clone()),
        ..plain(said, "tool", "tool")
    })
}
