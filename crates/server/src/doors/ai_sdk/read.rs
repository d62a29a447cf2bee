//! What a client posts, read leniently: fields that we do not know are passed over, and of those that
//! we know only what is needed is kept. Reading gives nobody any right.

use serde_json::Value;

use super::super::limits::PLACE_BYTES_MAX;
use crate::problem::Problem;

/// The last message of a post, and what goes with it.
#[derive(Debug)]
pub(crate) struct AiSdkPost {
    pub(crate) message: PostedMessage,
    pub(crate) regenerate: bool,
    /// What a message does that comes while something waits.
    pub(crate) while_pending: Option<domain::context::WhilePending>,
}

#[derive(Debug)]
pub(crate) enum PostedMessage {
    User {
        id: Option<String>,
        texts: Vec<String>,
    },
    /// An assistant message that comes back: answers to open calls may be in it.
    Assistant {
        id: Option<String>,
        parts: Vec<ToolPart>,
    },
}

/// A tool call as the client sees it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ToolPart {
    pub(crate) id: String,
    pub(crate) tool: Option<String>,
    pub(crate) input: Option<Value>,
    pub(crate) said: PartAnswer,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum PartAnswer {
    /// Nothing that could be an answer; `settled` if the client has a result for it.
    Nothing {
        settled: bool,
    },
    Approval {
        id: String,
        approved: bool,
        reason: Option<String>,
        digest: Option<String>,
    },
    Output(Value),
    Error(String),
}

fn invalid_body<T>(why: impl Into<String>) -> Result<T, Problem> {
    Err(Problem::bad_request(why))
}

/// `{"id", "messages": […], "trigger", …}`: the name of the chat, and its last message.
pub(crate) fn chat(body: &Value) -> Result<(String, AiSdkPost), Problem> {
    let Some(id) = body.get("id").and_then(Value::as_str) else {
        return invalid_body("`id` is missing: the name of the chat");
    };
    let Some(messages) = body.get("messages").and_then(Value::as_array) else {
        return invalid_body("`messages` is missing: a list of messages");
    };
    let Some(last) = messages.last() else { return invalid_body("`messages` is empty") };
    let regenerate = body.get("trigger").and_then(Value::as_str) == Some("regenerate-message");
    Ok((id.to_owned(), read_post(last, body, regenerate)?))
}

/// `{"message": {…}, "projectId"}`: the name of the project, and the one message.
pub(crate) fn project(body: &Value) -> Result<(String, AiSdkPost), Problem> {
    let Some(id) = body.get("projectId").and_then(Value::as_str) else {
        return invalid_body("`projectId` is missing");
    };
    let Some(message) = body.get("message").filter(|message| message.is_object()) else {
        return invalid_body("`message` is missing");
    };
    Ok((id.to_owned(), read_post(message, body, false)?))
}

fn read_post(message: &Value, body: &Value, regenerate: bool) -> Result<AiSdkPost, Problem> {
    let id = message.get("id").and_then(Value::as_str).map(str::to_owned);
    let id = id.filter(|id| (1..=PLACE_BYTES_MAX).contains(&id.len()));
    let parts = match message.get("parts") {
        Some(Value::Array(parts)) => parts.as_slice(),
        None | Some(Value::Null) => &[],
        Some(_) => return invalid_body("`parts` of the last message is not a list"),
    };
    let message = match message.get("role").and_then(Value::as_str) {
        Some("user") => PostedMessage::User { id, texts: texts(message, parts)? },
        Some("assistant") => {
            let parts = parts.iter().filter_map(|part| tool_part(part).transpose());
            PostedMessage::Assistant { id, parts: parts.collect::<Result<_, _>>()? }
        }
        _ => return invalid_body("the last message is neither of the role `user` nor `assistant`"),
    };
    let while_pending = match body.get("while_pending") {
        None | Some(Value::Null) => None,
        Some(given) => Some(while_pending(given)?),
    };
    Ok(AiSdkPost { message, regenerate, while_pending })
}

fn while_pending(given: &Value) -> Result<domain::context::WhilePending, Problem> {
    use domain::context::WhilePending::{Deliver, Queue, Refuse, Supersede};
    let known =
        [("queue", Queue), ("supersede", Supersede), ("refuse", Refuse), ("deliver", Deliver)];
    let found = known.into_iter().find(|(word, _)| given == word).map(|(_, meant)| meant);
    found.ok_or_else(|| {
        let why = "is one of `queue`, `supersede`, `refuse` and `deliver`";
        Problem::invalid("while_pending", why)
    })
}

fn texts(message: &Value, parts: &[Value]) -> Result<Vec<String>, Problem> {
    let mut texts = Vec::new();
    for part in parts {
        match part.get("type").and_then(Value::as_str) {
            Some("text") => match part.get("text").and_then(Value::as_str) {
                Some(text) => texts.push(text.to_owned()),
                None => return invalid_body("a part of type `text` has no `text`"),
            },
            Some("file") => texts.push(file(part)?),
            // What is for the page's own use.
            _ => {}
        }
    }
    if texts.is_empty() {
        texts.extend(message.get("content").and_then(Value::as_str).map(str::to_owned));
    }
    Ok(texts)
}

/// Models get text only: of files, those that are text and come with the message.
fn file(part: &Value) -> Result<String, Problem> {
    use base64::Engine as _;
    let refused = || Problem::invalid("parts", "only files of text, as data URLs, can be sent");
    let url = part.get("url").and_then(Value::as_str).unwrap_or_default();
    let (kind, data) =
        url.strip_prefix("data:text/").and_then(|it| it.split_once(',')).ok_or_else(refused)?;
    if !kind.ends_with(";base64") {
        return Err(refused());
    }
    let bytes = base64::engine::general_purpose::STANDARD.decode(data).map_err(|_| refused())?;
    let text = String::from_utf8(bytes).map_err(|_| refused())?;
    let name = part.get("filename").and_then(Value::as_str).unwrap_or("file");
    Ok(format!("[{name}]\n{text}"))
}

/// A part that is a tool call in one of the forms in use; `None` for any other part.
fn tool_part(part: &Value) -> Result<Option<ToolPart>, Problem> {
    let kind = part.get("type").and_then(Value::as_str).unwrap_or_default();
    let named = match kind {
        "dynamic-tool" | "tool-invocation" => None,
        _ => match kind.strip_prefix("tool-") {
            Some(name) => Some(name.to_owned()),
            None => return Ok(None),
        },
    };
    // The oldest clients put everything one level deeper.
    let inner = part.get("toolInvocation").filter(|inner| inner.is_object()).unwrap_or(part);
    let text = |key: &str| inner.get(key).and_then(Value::as_str).map(str::to_owned);
    let Some(id) = text("toolCallId").or_else(|| text("toolInvocationId")) else {
        return invalid_body("a tool part has no `toolCallId`");
    };
    let tool = named.or_else(|| text("toolName"));
    let input = inner.get("input").or_else(|| inner.get("args")).cloned();
    let output = || inner.get("output").or_else(|| inner.get("result")).cloned();
    let said = match inner.get("state").and_then(Value::as_str).unwrap_or_default() {
        "approval-responded" => approval(inner)?,
        "output-available" | "result" => match output() {
            Some(_) if inner.get("preliminary") == Some(&Value::Bool(true)) => {
                PartAnswer::Nothing { settled: false }
            }
            Some(output) => PartAnswer::Output(output),
            None => PartAnswer::Nothing { settled: false },
        },
        "output-error" => PartAnswer::Error(text("errorText").unwrap_or_default()),
        "output-denied" => PartAnswer::Nothing { settled: true },
        _ => PartAnswer::Nothing { settled: false },
    };
    Ok(Some(ToolPart { id, tool, input, said }))
}

fn approval(part: &Value) -> Result<PartAnswer, Problem> {
    let approval = part.get("approval").cloned().unwrap_or_default();
    let (Some(id), Some(approved)) = (
        approval.get("id").and_then(Value::as_str),
        approval.get("approved").and_then(Value::as_bool),
    ) else {
        return invalid_body("an answered approval has no `id` or no `approved`");
    };
    let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
    Ok(PartAnswer::Approval {
        id: id.to_owned(),
        approved,
        reason: text(approval.get("reason")),
        digest: text(approval.pointer("/descriptor/digest")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn parts(parts: Value) -> Vec<ToolPart> {
        let body =
            json!({"id": "c", "messages": [{"id": "m", "role": "assistant", "parts": parts}]});
        match chat(&body).expect("sound").1.message {
            PostedMessage::Assistant { parts, .. } => parts,
            user => panic!("{user:?}"),
        }
    }

    #[test]
    fn every_form_of_a_tool_part_is_read() {
        let output = PartAnswer::Output(json!("yes"));
        for part in [
            json!({"type": "tool-deploy", "toolCallId": "c1", "state": "output-available", "input": {"a": 1}, "output": "yes"}),
            json!({"type": "dynamic-tool", "toolName": "deploy", "toolCallId": "c1", "state": "output-available", "input": {"a": 1}, "output": "yes"}),
            json!({"type": "tool-invocation", "toolName": "deploy", "toolInvocationId": "c1", "state": "result", "args": {"a": 1}, "result": "yes"}),
            json!({"type": "tool-invocation", "toolInvocation": {"toolName": "deploy", "toolCallId": "c1", "state": "result", "args": {"a": 1}, "result": "yes"}}),
        ] {
            let read =
                parts(json!([{"type": "step-start"}, part.clone(), {"type": "text", "text": "x"}]));
            let wanted = ToolPart {
                id: "c1".into(),
                tool: Some("deploy".into()),
                input: Some(json!({"a": 1})),
                said: output.clone(),
            };
            assert_eq!(read, [wanted], "{part}");
        }
    }

    #[test]
    fn only_the_last_message_is_read() {
        let body = json!({"id": "c", "trigger": "submit-message", "messages": [
            {"role": "assistant", "parts": "rubbish"}, {"id": "u", "role": "user", "parts": [{"type": "text", "text": "hi"}]}]});
        let (id, posted) = chat(&body).expect("sound");
        assert_eq!(id, "c");
        assert!(
            matches!(posted.message, PostedMessage::User { id: Some(id), texts } if id == "u" && texts == ["hi"])
        );
    }

    #[test]
    fn what_cannot_be_read_is_refused_and_nothing_panics() {
        for body in [
            json!(null),
            json!([]),
            json!({"id": 1}),
            json!({"id": "c"}),
            json!({"id": "c", "messages": []}),
            json!({"id": "c", "messages": [null]}),
            json!({"id": "c", "messages": [{"role": "system"}]}),
            json!({"id": "c", "messages": [{"role": "user", "parts": 3}]}),
            json!({"id": "c", "messages": [{"role": "user", "parts": [{"type": "text"}]}]}),
            json!({"id": "c", "messages": [{"role": "user", "parts": [{"type": "file", "url": "http://x"}]}]}),
            json!({"id": "c", "messages": [{"role": "assistant", "parts": [{"type": "tool-x"}]}]}),
            json!({"id": "c", "messages": [{"role": "assistant", "parts": [
                {"type": "tool-x", "toolCallId": "1", "state": "approval-responded", "approval": {"id": "h", "approved": "true"}}]}]}),
            json!({"id": "c", "while_pending": "never", "messages": [{"role": "user"}]}),
        ] {
            assert!(chat(&body).is_err(), "{body}");
        }
    }
}
