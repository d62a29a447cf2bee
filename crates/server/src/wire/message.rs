//! The transcript, part by part, each call with its state.

use domain::call::Clearance;
use domain::grant::ClearedBy;
use domain::hold::Question;
use domain::id::{CallId, HoldId, MessageId};
use domain::message::{Origin, Part as Written};
use domain::outcome::ResultKind;
use domain::person::PersonId;
use domain::schema::redact;
use domain::session::{CallState, Session};
use domain::time::Timestamp;
use engine::Engine;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::file::MessageFile;
use super::text::Text;

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Message<'a> {
    id: Text<MessageId>,
    #[schemars(extend("enum" = ["user", "assistant", "tool"]))]
    role: &'static str,
    parts: Vec<Part<'a>>,
    at: Text<Timestamp>,
    /// `runtime` for a `user` message that was written by the server.
    #[serde(skip_serializing_if = "Option::is_none")]
    origin: Option<&'static str>,
    /// Who said it, in a session in which several people speak.
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<Text<&'a PersonId>>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "kebab-case", rename_all_fields = "camelCase")]
enum Part<'a> {
    Text {
        text: &'a str,
    },
    File(MessageFile<'a>),
    Reasoning {
        text: &'a str,
    },
    ToolCall {
        tool_call_id: Text<CallId>,
        tool_name: &'a str,
        #[schemars(extend("enum" = [
            "input-streaming", "input-available", "approval-requested", "approval-responded",
            "output-available", "output-error", "output-denied",
        ]))]
        state: &'static str,
        input: Value,
        #[serde(skip_serializing_if = "Option::is_none")]
        hold: Option<Text<HoldId>>,
    },
    ToolResult {
        tool_call_id: Text<CallId>,
        tool_name: &'a str,
        output: &'a str,
        is_error: bool,
    },
}

impl<'a> Message<'a> {
    /// With the state of each call as the session has it; without a session, as it was at first.
    pub(crate) fn of(
        message: &'a domain::message::Message,
        session: Option<&Session>,
        engine: &Engine,
    ) -> Message<'a> {
        Message {
            id: Text(message.id),
            role: message.role.name(),
            parts: message.parts.iter().map(|part| Part::of(part, session, engine)).collect(),
            at: Text(message.at),
            origin: (message.origin == Origin::Runtime).then_some("runtime"),
            by: message.by.as_ref().map(Text),
        }
    }
}

impl<'a> Part<'a> {
    fn of(part: &'a Written, session: Option<&Session>, engine: &Engine) -> Part<'a> {
        match part {
            Written::Text(text) => Part::Text { text },
            Written::File(file) => Part::File(MessageFile::of(file)),
            Written::Reasoning { text, .. } => Part::Reasoning { text },
            Written::ToolCall { call, tool, input, .. } => Part::ToolCall {
                tool_call_id: Text(*call),
                tool_name: tool,
                state: session.map_or("input-available", |session| state(session, *call)),
                input: redacted_input(input, &secrets(*call, tool, session, engine)),
                hold: session.and_then(|session| session.hold_of(*call)).map(|hold| Text(hold.id)),
            },
            Written::ToolResult { call, tool, result, .. } => Part::ToolResult {
                tool_call_id: Text(*call),
                tool_name: tool,
                output: &result.content,
                is_error: result.is_error,
            },
        }
    }
}

/// What a model wrote for a call, without its secrets.
pub(crate) fn call_input(
    call: CallId,
    tool: &str,
    input: &str,
    session: &Session,
    engine: &Engine,
) -> Value {
    redacted_input(input, &secrets(call, tool, Some(session), engine))
}

/// The input that a model wrote, without its secrets. What cannot be read cannot be searched for
/// secrets, and is shown only where there are none.
fn redacted_input(input: &str, secrets: &[String]) -> Value {
    match serde_json::from_str::<Value>(input) {
        Ok(value) if secrets.is_empty() => value,
        Ok(value) => redact(&value, secrets),
        Err(_) if secrets.is_empty() => Value::from(input),
        Err(_) => redact(&Value::Null, &[String::new()]),
    }
}

fn secrets(call: CallId, tool: &str, session: Option<&Session>, engine: &Engine) -> Vec<String> {
    let record = session.and_then(|session| session.calls.get(&call));
    if let Some(call) = record.and_then(|record| record.call.as_ref()) {
        return call.secrets.clone();
    }
    match engine.secret_places(tool) {
        Some(secrets) => secrets,
        // A tool that we do not know (any more): only the session can tell what it hid.
        None if session.is_none() => vec![String::new()],
        None => Vec::new(),
    }
}

fn state(session: &Session, id: CallId) -> &'static str {
    let Some(record) = session.calls.get(&id) else { return "input-available" };
    match &record.state {
        CallState::Proposed => "input-available",
        CallState::Waiting { hold } => match session.holds.get(hold).map(|hold| &hold.question) {
            Some(Question::Approve) => "approval-requested",
            // A question or a client's task has no approval: its answer is the output.
            _ => "input-available",
        },
        CallState::Cleared { clearance }
        | CallState::Running { clearance, .. }
        | CallState::InDoubt { clearance, .. } => match clearance {
            Clearance { by: ClearedBy::People(_), .. } => "approval-responded",
            _ => "input-available",
        },
        CallState::Settled { result } => match result.kind {
            ResultKind::Output | ResultKind::Pending => "output-available",
            ResultKind::Denied => "output-denied",
            // Silence is not a denial, and neither is a withdrawal: both are told apart from one.
            ResultKind::Error | ResultKind::Expired | ResultKind::Cancelled => "output-error",
        },
    }
}
