//! What this wire calls a call, and what it shows of it.

use std::sync::Arc;

use domain::id::{CallId, MessageId};
use domain::message::Part;
use domain::schema::redact;
use domain::session::Session;
use serde_json::Value;

use crate::app::App;
use crate::wire;

/// The model's own id. Some models use one twice; then the first call keeps it, and later ones go by
/// ours.
pub(crate) fn id_of(session: &Session, call: CallId) -> String {
    let Some(record) = session.calls.get(&call) else { return call.to_string() };
    let same = |other: &CallId| {
        session.calls.get(other).is_some_and(|it| it.tool_use_id == record.tool_use_id)
    };
    match session.calls.keys().find(|other| same(other)) {
        Some(first) if *first == call && !record.tool_use_id.is_empty() => {
            record.tool_use_id.clone()
        }
        _ => call.to_string(),
    }
}

/// The call that a client means.
pub(crate) fn call_of(session: &Session, id: &str) -> Option<CallId> {
    let by_theirs = session.calls.iter().find(|(_, record)| record.tool_use_id == id);
    match by_theirs {
        Some((call, _)) if !id.is_empty() => Some(*call),
        _ => id.parse().ok().filter(|call| session.calls.contains_key(call)),
    }
}

/// The input as it stands: as the model wrote it, or as somebody edited it since. Without secrets.
pub(crate) fn input_of(app: &App, session: &Session, call: CallId) -> Value {
    if let Some(edited) = session.hold_of(call).and_then(|hold| hold.call())
        && edited.revision > 1
    {
        return redact(edited.arguments.value(), &edited.secrets);
    }
    match written_call(session, call) {
        Some((_, tool, input)) => wire::call_input(call, tool, input, session, &app.engine),
        None => Value::Null,
    }
}

/// The message in which a model made a call.
pub(crate) fn message_of(session: &Session, call: CallId) -> Option<MessageId> {
    written_call(session, call).map(|(message, _, _)| message)
}

fn written_call(session: &Session, wanted: CallId) -> Option<(MessageId, &Arc<str>, &String)> {
    session.transcript.iter().rev().find_map(|message| {
        message.parts.iter().find_map(|part| match part {
            Part::ToolCall { call, tool, input, .. } if *call == wanted => {
                Some((message.id, tool, input))
            }
            _ => None,
        })
    })
}

/// Whether a front end that was written for this agent can know the tool by name.
pub(crate) fn is_own(app: &App, session: &Session, tool: &str) -> bool {
    app.engine
        .agent(&session.agent)
        .is_some_and(|agent| agent.tools.iter().any(|own| **own == *tool))
}
