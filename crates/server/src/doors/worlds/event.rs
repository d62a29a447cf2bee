//! Events as this wire has them: one line `data: {json}` and an empty line each, no names, no ids.
//! Pure: what is said is passed in.

use std::collections::BTreeMap;

use axum::body::Bytes;
use domain::time::Timestamp;
use serde_json::Value;

use super::wire::{
    CallStatus, ChatMessage, FunctionCall, HitlPrompt, LogEvent, PromptMetadata, SseData, SseTold,
    ToolExecution, WorldActivity, WorldsEvent,
};
use crate::asked::write;

/// One event as it is sent. JSON has no line breaks of its own, so text cannot forge one.
pub(super) fn frame(event: &WorldsEvent) -> Bytes {
    let mut frame = b"data: ".to_vec();
    write(event, &mut frame);
    frame.extend_from_slice(b"\n\n");
    frame.into()
}

/// Whom events are about.
#[derive(Clone, Debug)]
pub(super) struct EventSource {
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

pub(super) fn world(
    activity: Activity,
    source: &EventSource,
    number: u64,
    at: Timestamp,
) -> WorldsEvent {
    let (kind, pending_operations) = match activity {
        Activity::Begun => ("response-start", 1),
        Activity::Ended => ("response-end", 0),
        Activity::Idle => ("idle", 0),
    };
    let data = WorldActivity {
        kind,
        pending_operations,
        activity_id: number,
        timestamp: at.to_string(),
        source: format!("agent:{}", source.agent),
        queue: [],
        chat_id: source.chat.clone(),
    };
    WorldsEvent::World { data }
}

/// One message of the transcript, or a prompt in the form of one.
#[derive(Clone, Debug)]
pub(super) struct WorldMessage {
    pub(super) id: String,
    pub(super) sender: String,
    pub(super) role: &'static str,
    pub(super) content: String,
    pub(super) at: Timestamp,
    pub(super) reply_to: Option<String>,
    pub(super) tool_calls: Vec<FunctionCall>,
    pub(super) tool_call_status: Option<BTreeMap<String, CallStatus>>,
    /// Of a result: whose it is.
    pub(super) tool_call_id: Option<String>,
}

impl WorldMessage {
    /// The message itself, as an agent's memory has it too.
    pub(super) fn data(&self, source: &EventSource) -> ChatMessage {
        ChatMessage {
            kind: "message",
            sender: self.sender.clone(),
            content: self.content.clone(),
            message_id: self.id.clone(),
            created_at: self.at.to_string(),
            role: self.role,
            agent_id: source.agent.clone(),
            chat_id: source.chat.clone(),
            reply_to_message_id: self.reply_to.clone(),
            tool_calls: self.tool_calls.clone(),
            tool_call_status: self.tool_call_status.clone(),
            tool_call_id: self.tool_call_id.clone(),
        }
    }
}

pub(super) fn message(message: &WorldMessage, source: &EventSource) -> WorldsEvent {
    WorldsEvent::Message { data: message.data(source) }
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
        calls: &'a [FunctionCall],
    },
    End {
        whole: &'a str,
    },
    /// What was said is no part of the conversation.
    Discard,
    Error {
        why: &'a str,
    },
}

pub(super) fn speaking(
    speaking: &Speaking<'_>,
    message: &str,
    source: &EventSource,
) -> WorldsEvent {
    let (kind, told) = match speaking {
        Speaking::Start => ("start", SseTold::Nothing {}),
        Speaking::Chunk { piece, so_far } => {
            let (content, accumulated_content) = ((*piece).to_owned(), (*so_far).to_owned());
            ("chunk", SseTold::Chunk { content, accumulated_content })
        }
        Speaking::Calls { calls } => {
            ("chunk", SseTold::Calls { content: "", tool_calls: calls.to_vec() })
        }
        Speaking::End { whole } => ("end", SseTold::Whole { final_content: (*whole).to_owned() }),
        Speaking::Discard => ("end", SseTold::Whole { final_content: String::new() }),
        Speaking::Error { why } => ("error", SseTold::Error { error: (*why).to_owned() }),
    };
    let discard = matches!(speaking, Speaking::Discard);
    WorldsEvent::Sse { data: SseData { discard, ..sse(kind, message, source, told) } }
}

fn sse(kind: &'static str, message: &str, source: &EventSource, told: SseTold) -> SseData {
    SseData {
        kind,
        agent_name: source.agent.clone(),
        message_id: message.to_owned(),
        chat_id: source.chat.clone(),
        told,
        discard: false,
    }
}

/// How far a call of a tool is.
pub(super) enum ToolProgress<'a> {
    Start {
        input: &'a Value,
    },
    /// A prompt for people.
    Prompt {
        prompt: &'a HitlPrompt,
    },
    Result {
        text: &'a str,
        took_ms: u64,
    },
    Error {
        text: &'a str,
    },
}

pub(super) fn tool(
    tool: &ToolProgress<'_>,
    name: &str,
    call: &str,
    source: &EventSource,
) -> WorldsEvent {
    let execution = ToolExecution {
        tool_name: name.to_owned(),
        tool_call_id: call.to_owned(),
        ..ToolExecution::default()
    };
    let (kind, execution) = match tool {
        ToolProgress::Start { input } => {
            ("tool-start", ToolExecution { input: Some((*input).clone()), ..execution })
        }
        ToolProgress::Prompt { prompt } => {
            let metadata = Some(PromptMetadata { hitl_prompt: (*prompt).clone() });
            ("tool-progress", ToolExecution { metadata, ..execution })
        }
        ToolProgress::Result { text, took_ms } => {
            let (result, duration) = (Some((*text).to_owned()), Some(*took_ms));
            ("tool-result", ToolExecution { result, duration, ..execution })
        }
        ToolProgress::Error { text } => {
            ("tool-error", ToolExecution { error: Some((*text).to_owned()), ..execution })
        }
    };
    let told = SseTold::Tool { tool_execution: Box::new(execution) };
    WorldsEvent::Sse { data: sse(kind, call, source, told) }
}

/// Word from the runtime that belongs to no message.
pub(super) fn log(text: &str, source: &EventSource, at: Timestamp) -> WorldsEvent {
    let log_event = LogEvent {
        level: "info",
        category: "holdpoint",
        message: text.to_owned(),
        timestamp: at.to_string(),
        chat_id: source.chat.clone(),
    };
    let message = format!("log-{}", at.as_ms());
    WorldsEvent::Sse { data: sse("log", &message, source, SseTold::Log { log_event }) }
}

pub(super) fn error_event(text: &str) -> WorldsEvent {
    WorldsEvent::Error { message: text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source() -> EventSource {
        EventSource { agent: "a1".into(), chat: "c1".into() }
    }

    const AT: Timestamp = Timestamp::from_ms(1_700_000_000_000);

    /// One line that begins so and says just this; members have no order.
    fn golden(event: &WorldsEvent, line: &str) {
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
            &tool(
                &ToolProgress::Result { text: "ok", took_ms: 7 },
                "shell_cmd",
                "call_1",
                &source(),
            ),
            r#"{"data":{"agentName":"a1","chatId":"c1","messageId":"call_1","toolExecution":{"duration":7,"result":"ok","toolCallId":"call_1","toolName":"shell_cmd"},"type":"tool-result"},"type":"sse"}"#,
        );
        golden(&error_event("no"), r#"{"message":"no","type":"error"}"#);
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
        let prompt = WorldMessage {
            id: "m".into(),
            sender: "a1".into(),
            role: "assistant",
            content: String::new(),
            at: AT,
            reply_to: None,
            tool_calls: vec![FunctionCall::new("hitl_1".into(), "f", "{}".into())],
            tool_call_status: Some(BTreeMap::from([("hitl_1".into(), CallStatus::open())])),
            tool_call_id: None,
        };
        golden(
            &message(&prompt, &source()),
            r#"{"data":{"agentId":"a1","chatId":"c1","content":"","createdAt":"2023-11-14T22:13:20.000Z","messageId":"m","role":"assistant","sender":"a1","toolCallStatus":{"hitl_1":{"complete":false}},"tool_calls":[{"id":"hitl_1","type":"function","function":{"name":"f","arguments":"{}"}}],"type":"message"},"type":"message"}"#,
        );
    }
}
