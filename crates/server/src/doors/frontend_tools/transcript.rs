//! The conversation as messages of the Anthropic kind, for clients that show what was said before.

use std::sync::Arc;

use domain::grown::Iter;
use domain::message::{Message, Part, Role};
use domain::session::Session;
use engine::Engine;
use serde_json::{Value, json};

/// Messages one after the other; results of tools are said by the user there.
pub(super) fn messages<'a>(
    messages: impl IntoIterator<Item = &'a Message>,
    session: &Session,
    engine: &Engine,
) -> Vec<Value> {
    messages.into_iter().map(|message| written(message, session, engine)).collect()
}

fn written(message: &Message, session: &Session, engine: &Engine) -> Value {
    let role = match message.role {
        Role::Assistant => "assistant",
        Role::User | Role::Tool => "user",
    };
    let content: Vec<Value> =
        message.parts.iter().map(|part| block(part, session, engine)).collect();
    json!({"role": role, "content": content})
}

fn block(part: &Part, session: &Session, engine: &Engine) -> Value {
    match part {
        Part::Text(text) => json!({"type": "text", "text": text}),
        Part::Reasoning { text, .. } => json!({"type": "thinking", "thinking": text}),
        Part::ToolCall { call, tool_use_id, tool, input } => json!({
            "type": "tool_use", "id": tool_use_id, "name": &**tool,
            "input": crate::wire::call_input(*call, tool, input, session, engine),
        }),
        Part::ToolResult { tool_use_id, result, .. } => {
            let mut block = json!({
                "type": "tool_result", "tool_use_id": tool_use_id, "content": result.content,
            });
            if result.is_error {
                block["is_error"] = Value::from(true);
            }
            block
        }
    }
}

/// The messages of the run that is under way or was the last: from what began it.
pub(super) fn of_latest_run(session: &Session) -> Iter<'_, Arc<Message>> {
    let begins = session.transcript.iter().rposition(|message| is_prompt(message));
    session.transcript.after(begins.unwrap_or(session.transcript.len()))
}

/// Said by a person, and not written by the runtime in their place.
pub(super) fn is_prompt(message: &Message) -> bool {
    message.role == Role::User && message.origin == domain::message::Origin::Own
}
