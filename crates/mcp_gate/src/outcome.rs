//! What came of a call that was let through, for the record and for the client.

use domain::visible::visible;
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};
use tools::mcp::{RawObject, RpcMessage};

use crate::limits::RESULT_CHARS_MAX;

/// Read no further than is needed to say how it ended.
pub(crate) enum CallOutcome {
    Succeeded,
    Failed(String),
    /// A modern upstream wants to know more; `state` is what it wants to get back.
    NeedsInput {
        state: String,
    },
    /// The upstream made a task of its own of it: what came of the call is not known yet.
    GoesOn {
        task: String,
    },
}

impl CallOutcome {
    pub(crate) fn of(response: &RpcMessage) -> CallOutcome {
        let short = |text: &str| visible(&text.chars().take(RESULT_CHARS_MAX).collect::<String>());
        let Some(result) = response.object.get_object("result") else {
            let error = response.object.get_object("error").unwrap_or_default();
            let raw = response.object.get("error").map_or("no result", RawValue::get);
            return CallOutcome::Failed(short(error.get_text("message").as_deref().unwrap_or(raw)));
        };
        if result.get_text("resultType").as_deref() == Some("input_required") {
            return CallOutcome::NeedsInput { state: state_text(&result) };
        }
        if let Some(task) = upstream_task(&result) {
            return CallOutcome::GoesOn { task: short(&task) };
        }
        if result.get("isError").is_some_and(|is_error| is_error.get().trim() != "false") {
            let content = result.get("content").map_or("", RawValue::get);
            let content: Value = serde_json::from_str(content).unwrap_or_default();
            return CallOutcome::Failed(short(content[0]["text"].as_str().unwrap_or("it failed")));
        }
        CallOutcome::Succeeded
    }
}

/// The name of a task that an upstream made of a call, in the words of either era.
fn upstream_task(result: &RawObject) -> Option<String> {
    let is_modern = result.get_text("resultType").as_deref() == Some("task");
    let legacy = result.get("task").filter(|task| task.get().starts_with('{'));
    if !is_modern && legacy.is_none() {
        return None;
    }
    let nested = result.get_object("task").and_then(|task| task.get_text("taskId"));
    Some(result.get_text("taskId").or(nested).unwrap_or_default())
}

/// What the other side wants to get back, as it spelled it.
pub(crate) fn state_text(object: &RawObject) -> String {
    object.get("requestState").map_or_else(String::new, |state| state.get().to_owned())
}

/// The model proposed other arguments than ran: it is told so, in a block after the tool's own.
pub(crate) fn add_edit_note(response: &mut RpcMessage, arguments: &RawValue) -> Option<()> {
    let mut result = response.object.get_object("result")?;
    let mut content: Vec<Box<RawValue>> =
        serde_json::from_str(result.get("content")?.get()).ok()?;
    let text = format!(
        "[Holdpoint: a person changed the arguments before approving this call; it ran with {}]",
        arguments.get()
    );
    content.push(to_raw_value(&serde_json::json!({"type": "text", "text": text})).ok()?);
    result.set_value("content", &content).ok()?;
    response.object.set("result", result.to_raw().ok()?);
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn response(rest: &str) -> RpcMessage {
        RpcMessage::parse(format!(r#"{{"jsonrpc":"2.0","id":1,{rest}}}"#).as_bytes()).unwrap()
    }

    #[test]
    fn results_errors_and_questions_are_told_apart() {
        let of = |rest: &str| CallOutcome::of(&response(rest));
        assert!(matches!(of(r#""result":{"content":[]}"#), CallOutcome::Succeeded));
        assert!(matches!(of(r#""result":{"isError":false}"#), CallOutcome::Succeeded));
        let failed =
            of(r#""result":{"isError":true,"content":[{"type":"text","text":"no\u001b"}]}"#);
        assert!(matches!(failed, CallOutcome::Failed(why) if why == "no⟦U+001B⟧"));
        assert!(matches!(of(r#""error":{"code":1}"#), CallOutcome::Failed(_)));
        let error = of(r#""error":{"code":1,"message":"\u202e approved"}"#);
        assert!(matches!(error, CallOutcome::Failed(why) if why == "⟦U+202E⟧ approved"));
        let asks = of(r#""result":{"resultType":"input_required","requestState":"a b"}"#);
        assert!(matches!(asks, CallOutcome::NeedsInput { state } if state == "\"a b\""));
        for goes_on in [
            r#""result":{"resultType":"task","taskId":"t1","status":"working"}"#,
            r#""result":{"task":{"taskId":"t1","status":"working"},"resultType":"complete"}"#,
            r#""result":{"content":[],"isError":false,"task":{"taskId":"t1"}}"#,
        ] {
            assert!(
                matches!(of(goes_on), CallOutcome::GoesOn { task } if task == "t1"),
                "{goes_on}"
            );
        }
        let nameless = of(r#""result":{"task":{"a":1,"a":2}}"#);
        assert!(matches!(nameless, CallOutcome::GoesOn { task } if task.is_empty()));
        assert!(matches!(of(r#""result":{"task":"a word"}"#), CallOutcome::Succeeded));
    }

    #[test]
    fn an_edit_is_told_after_what_the_tool_said() {
        let mut response =
            response(r#""result":{"x":1.10,"content":[{"type":"text","text":"ok","n":1.0}]}"#);
        let arguments: Box<RawValue> = serde_json::from_str(r#"{"a":1}"#).unwrap();
        add_edit_note(&mut response, &arguments).unwrap();
        let line = String::from_utf8(response.object.to_line()).unwrap();
        assert!(
            line.contains(r#""x":1.10,"content":[{"type":"text","text":"ok","n":1.0},{"#),
            "{line}"
        );
        assert!(line.contains(r#"it ran with {\"a\":1}"#), "{line}");
    }
}
