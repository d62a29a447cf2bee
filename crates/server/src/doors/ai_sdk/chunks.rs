//! The chunks of the stream. The client checks each against a closed list of its own version and gives
//! up on the whole stream at one that it does not know, so every chunk is made here and nowhere else.

use domain::hold::Hold;
use domain::warning::Warning;
use serde_json::{Map, Value, json};

use super::super::flow::Kind;
use super::Ui;

pub(crate) fn start(message: &str, session: &str, run: &str) -> Value {
    let metadata = json!({"holdpoint": {"session": session, "run": run}});
    json!({"type": "start", "messageId": message, "messageMetadata": metadata})
}

pub(crate) fn start_step() -> Value {
    json!({"type": "start-step"})
}

pub(crate) fn finish_step() -> Value {
    json!({"type": "finish-step"})
}

pub(crate) fn finish(ui: Ui, reason: &str) -> Value {
    match ui {
        Ui::Five => json!({"type": "finish"}),
        Ui::Six | Ui::Seven => json!({"type": "finish", "finishReason": reason}),
    }
}

pub(crate) fn error(text: &str) -> Value {
    json!({"type": "error", "errorText": text})
}

pub(crate) fn abort() -> Value {
    json!({"type": "abort"})
}

fn noun(kind: Kind) -> &'static str {
    match kind {
        Kind::Text => "text",
        Kind::Reasoning => "reasoning",
    }
}

pub(crate) fn open(kind: Kind, id: &str) -> Value {
    json!({"type": format!("{}-start", noun(kind)), "id": id})
}

pub(crate) fn delta(kind: Kind, id: &str, text: &str) -> Value {
    json!({"type": format!("{}-delta", noun(kind)), "id": id, "delta": text})
}

pub(crate) fn close(kind: Kind, id: &str) -> Value {
    json!({"type": format!("{}-end", noun(kind)), "id": id})
}

/// `dynamic` for tools that a front end cannot know by name.
pub(crate) fn input(id: &str, tool: &str, input: &Value, dynamic: bool) -> [Value; 2] {
    let mut started = json!({"type": "tool-input-start", "toolCallId": id, "toolName": tool});
    let mut available =
        json!({"type": "tool-input-available", "toolCallId": id, "toolName": tool, "input": input});
    if dynamic {
        started["dynamic"] = true.into();
        available["dynamic"] = true.into();
    }
    [started, available]
}

/// Of 6 and later.
pub(crate) fn approval_request(id: &str, hold: &Hold, origin: &str) -> Value {
    let preview = &hold.preview;
    let warnings: Vec<&str> = preview.warnings.iter().map(Warning::text).collect();
    let mut descriptor = json!({
        "hold": hold.id.to_string(),
        "digest": hold.digest().to_string(),
        "title": hold.title.text(),
        "preview": {
            "summary": preview.summary.as_deref(), "rows": preview.rows, "diff": preview.diff, "warnings": warnings,
        },
        "url": format!("{origin}/holds/{}", hold.id),
    });
    if let Some(at) = hold.expires_at {
        descriptor["expires_at"] = at.to_string().into();
    }
    json!({
        "type": "tool-approval-request", "approvalId": hold.id.to_string(), "toolCallId": id,
        "approvalDescriptor": descriptor,
    })
}

/// Of 7.
pub(crate) fn approval_response(hold: &Hold, approved: bool, reason: Option<&str>) -> Value {
    let mut chunk = json!({
        "type": "tool-approval-response", "approvalId": hold.id.to_string(), "approved": approved,
    });
    if let Some(reason) = reason {
        chunk["reason"] = reason.into();
    }
    chunk
}

pub(crate) fn output(id: &str, output: &Value) -> Value {
    json!({"type": "tool-output-available", "toolCallId": id, "output": output})
}

pub(crate) fn output_error(id: &str, text: &str) -> Value {
    json!({"type": "tool-output-error", "toolCallId": id, "errorText": text})
}

/// Of 6 and later.
pub(crate) fn output_denied(id: &str) -> Value {
    json!({"type": "tool-output-denied", "toolCallId": id})
}

/// A question that belongs to no call of the conversation, for front ends that want to show it.
pub(crate) fn asks(hold: &Hold, origin: &str) -> Value {
    let data = json!({
        "hold": hold.id.to_string(), "kind": hold.question.kind(), "title": hold.title.text(),
        "state": hold.state.name(), "url": format!("{origin}/holds/{}", hold.id),
    });
    json!({"type": "data-hold", "id": hold.id.to_string(), "data": data})
}

/// The message waits until what is open is decided.
pub(crate) fn waits(holds: &[String]) -> Value {
    json!({"type": "data-queued", "data": {"waits_for": holds}, "transient": true})
}

/// A result as JSON where it is an object or a list, else as text.
pub(crate) fn value(content: &str) -> Value {
    match serde_json::from_str::<Value>(content) {
        Ok(value @ (Value::Object(_) | Value::Array(_))) => value,
        _ => Value::from(content),
    }
}

/// What front ends of version 5 read of a call that they showed as their own: its status is in the
/// output, and never looks like success when it is none.
pub(crate) fn succeeded(content: &str) -> Value {
    let mut body = match value(content) {
        Value::Object(map) => map,
        other => Map::from_iter([("result".to_owned(), other)]),
    };
    body.insert("status".into(), "success".into());
    body.insert("success".into(), true.into());
    Value::Object(body)
}

pub(crate) fn failed(content: &str) -> Value {
    json!({"status": "error", "success": false, "error": content})
}

pub(crate) fn denied(reason: &str) -> Value {
    json!({
        "status": "denied", "success": false, "reason": reason,
        "message": format!("The call was cancelled by user. {reason}"),
    })
}
