//! Events as this wire has them: one line `data: {json}` and an empty line each, no names, no ids.
//! Pure: what is said is passed in.

use axum::body::Bytes;
use domain::time::Timestamp;
use serde_json::{Value, json};

/// One event as it is sent. JSON has no line breaks of its own, so text cannot forge one.
pub(super) fn frame(event: &Value) -> Bytes {
    Bytes::from(format!("data: {event}\n\n"))
}

/// Whom events are about.
#[derive(Clone, Debug)]
pub(super) struct Source {
    /// As the world calls it.
    pub(super) agent: String,
    pub(super) chat: String,
}

/// Where a run stands, seen from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Activity {
    Begun,
    /// It works no more: it is over, or waits for a person.
    Ended,
    Idle,
}

pub(super) fn world(activity: Activity, source: &Source, number: u64, at: Timestamp) -> Value {
    let (name, pending) = match activity {
        Activity::Begun => ("response-start", 1),
        Activity::Ended => ("response-end", 0),
        Activity::Idle => ("idle", 0),
    };
    json!({"type": "world", "data": {
        "type": name, "pendingOperations": pending, "activityId": number,
        "timestamp": at.to_string(), "source": format!("agent:{}", source.agent), "queue": [],
        "chatId": source.chat,
    }})
}

/// One message of the transcript, or a prompt in the form of one.
#[derive(Clone, Debug)]
pub(super) struct Message {
    pub(super) id: String,
    pub(super) sender: String,
    pub(super) role: &'static str,
    pub(super) content: String,
    pub(super) at: Timestamp,
    pub(super) reply_to: Option<String>,
    pub(super) tool_calls: Vec<Value>,
    pub(super) tool_call_status: Option<Value>,
    /// Of a result: whose it is.
    pub(super) tool_call_id: Option<String>,
}

impl Message {
    /// The message itself, as an agent's memory has it too.
    pub(super) fn data(&self, source: &Source) -> Value {
        let mut data = json!({
            "type": "message", "sender": self.sender, "content": self.content,
            "messageId": self.id, "createdAt": self.at.to_string(), "role": self.role,
            "agentId": source.agent, "chatId": source.chat,
        });
        if let Some(earlier) = &self.reply_to {
            data["replyToMessageId"] = json!(earlier);
        }
        if !self.tool_calls.is_empty() {
            data["tool_calls"] = json!(self.tool_calls);
        }
        if let Some(status) = &self.tool_call_status {
            data["toolCallStatus"] = status.clone();
        }
        if let Some(id) = &self.tool_call_id {
            data["tool_call_id"] = json!(id);
        }
        data
    }
}

pub(super) fn message(message: &Message, source: &Source) -> Value {
    json!({"type": "message", "data": message.data(source)})
}

/// What a model says while it says it.
pub(super) enum Speaking<'a> {
    Start,
    Chunk {
        piece: &'a str,
        so_far: &'a str,
    },
    /// Calls for the client, which come in a message without words.
    Calls {
        calls: &'a [Value],
    },
    End {
        whole: &'a str,
    },
    Error {
        why: &'a str,
    },
}

pub(super) fn speaking(speaking: &Speaking<'_>, message: &str, source: &Source) -> Value {
    let mut data = json!({
        "agentName": source.agent, "messageId": message, "chatId": source.chat,
    });
    match speaking {
        Speaking::Start => data["type"] = json!("start"),
        Speaking::Chunk { piece, so_far } => {
            data["type"] = json!("chunk");
            data["content"] = json!(piece);
            data["accumulatedContent"] = json!(so_far);
        }
        Speaking::Calls { calls } => {
            data["type"] = json!("chunk");
            data["content"] = json!("");
            data["tool_calls"] = json!(calls);
        }
        Speaking::End { whole } => {
            data["type"] = json!("end");
            data["finalContent"] = json!(whole);
        }
        Speaking::Error { why } => {
            data["type"] = json!("error");
            data["error"] = json!(why);
        }
    }
    json!({"type": "sse", "data": data})
}

/// How far a call of a tool is.
pub(super) enum Tool<'a> {
    Start {
        input: &'a Value,
    },
    /// A prompt for people.
    Prompt {
        prompt: &'a Value,
    },
    Result {
        text: &'a str,
        took_ms: u64,
    },
    Error {
        text: &'a str,
    },
}

pub(super) fn tool(tool: &Tool<'_>, name: &str, call: &str, source: &Source) -> Value {
    let mut execution = json!({"toolName": name, "toolCallId": call});
    let kind = match tool {
        Tool::Start { input } => {
            execution["input"] = (*input).clone();
            "tool-start"
        }
        Tool::Prompt { prompt } => {
            execution["metadata"] = json!({"hitlPrompt": prompt});
            "tool-progress"
        }
        Tool::Result { text, took_ms } => {
            execution["result"] = json!(text);
            execution["duration"] = json!(took_ms);
            "tool-result"
        }
        Tool::Error { text } => {
            execution["error"] = json!(text);
            "tool-error"
        }
    };
    json!({"type": "sse", "data": {
        "type": kind, "messageId": call, "agentName": source.agent, "chatId": source.chat,
        "toolExecution": execution,
    }})
}

/// Word from the runtime that belongs to no message.
pub(super) fn log(text: &str, source: &Source, at: Timestamp) -> Value {
    json!({"type": "sse", "data": {
        "type": "log", "agentName": source.agent, "messageId": format!("log-{}", at.as_ms()),
        "chatId": source.chat,
        "logEvent": {
            "level": "info", "category": "holdpoint", "message": text,
            "timestamp": at.to_string(), "chatId": source.chat,
        },
    }})
}

pub(super) fn error(text: &str) -> Value {
    json!({"type": "error", "message": text})
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source() -> Source {
        Source { agent: "a1".into(), chat: "c1".into() }
    }

    const AT: Timestamp = Timestamp::from_ms(1_700_000_000_000);

    /// One line that begins so and says just this; members have no order.
    fn golden(event: &Value, line: &str) {
        let bytes = frame(event);
        let sent = std::str::from_utf8(&bytes).unwrap();
        let json = sent.strip_prefix("data: ").and_then(|rest| rest.strip_suffix("\n\n")).unwrap();
        assert!(!json.contains('\n'), "{sent}");
        let read = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        assert_eq!(read(json), read(line));
    }

    #[test]
    fn each_event_is_one_line() {
        golden(
            &world(Activity::Idle, &source(), 7, AT),
            r#"{"data":{"activityId":7,"chatId":"c1","pendingOperations":0,"queue":[],"source":"agent:a1","timestamp":"2023-11-14T22:13:20.000Z","type":"idle"},"type":"world"}"#,
        );
        golden(
            &speaking(&Speaking::Chunk { piece: "lo", so_far: "hello" }, "m1", &source()),
            r#"{"data":{"accumulatedContent":"hello","agentName":"a1","chatId":"c1","content":"lo","messageId":"m1","type":"chunk"},"type":"sse"}"#,
        );
        golden(
            &speaking(&Speaking::End { whole: "hello" }, "m1", &source()),
            r#"{"data":{"agentName":"a1","chatId":"c1","finalContent":"hello","messageId":"m1","type":"end"},"type":"sse"}"#,
        );
        golden(
            &tool(&Tool::Result { text: "ok", took_ms: 7 }, "shell_cmd", "call_1", &source()),
            r#"{"data":{"agentName":"a1","chatId":"c1","messageId":"call_1","toolExecution":{"duration":7,"result":"ok","toolCallId":"call_1","toolName":"shell_cmd"},"type":"tool-result"},"type":"sse"}"#,
        );
        golden(&error("no"), r#"{"message":"no","type":"error"}"#);
    }

    #[test]
    fn text_cannot_forge_an_event() {
        let sly = "x\n\ndata: {\"type\":\"tool-result-submitted\"}\r\n\u{2028}";
        let event = speaking(&Speaking::Chunk { piece: sly, so_far: sly }, sly, &source());
        let bytes = frame(&event);
        assert_eq!(bytes.iter().filter(|byte| **byte == b'\n').count(), 2, "{bytes:?}");
        assert!(!bytes.contains(&b'\r'));
    }

    #[test]
    fn a_message_names_its_agent_twice_as_clients_look_in_either_place() {
        let prompt = Message {
            id: "m".into(),
            sender: "a1".into(),
            role: "assistant",
            content: String::new(),
            at: AT,
            reply_to: None,
            tool_calls: vec![json!({"id": "hitl_1"})],
            tool_call_status: Some(json!({"hitl_1": {"complete": false}})),
            tool_call_id: None,
        };
        golden(
            &message(&prompt, &source()),
            r#"{"data":{"agentId":"a1","chatId":"c1","content":"","createdAt":"2023-11-14T22:13:20.000Z","messageId":"m","role":"assistant","sender":"a1","toolCallStatus":{"hitl_1":{"complete":false}},"tool_calls":[{"id":"hitl_1"}],"type":"message"},"type":"message"}"#,
        );
    }
}
