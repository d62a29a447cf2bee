//! The shapes that this wire sends: the chunks of a stream, the messages of a chat that a page loads, and
//! the replies of the few routes without a stream. Which of them is sent when is decided elsewhere.

use domain::hold::{Hold, Preview};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// One event of a stream. The client checks each against a closed list of its own version and gives up on
/// the whole stream at one that it does not know.
#[derive(Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub(crate) enum Chunk<'a> {
    Start {
        message_id: &'a str,
        message_metadata: MessageMetadata<'a>,
    },
    StartStep,
    FinishStep,
    Finish {
        /// Not for version 5.
        #[serde(skip_serializing_if = "Option::is_none")]
        finish_reason: Option<&'a str>,
    },
    Error {
        error_text: &'a str,
    },
    Abort,
    TextStart {
        id: &'a str,
    },
    TextDelta {
        id: &'a str,
        delta: &'a str,
    },
    TextEnd {
        id: &'a str,
    },
    ReasoningStart {
        id: &'a str,
    },
    ReasoningDelta {
        id: &'a str,
        delta: &'a str,
    },
    ReasoningEnd {
        id: &'a str,
    },
    ToolInputStart {
        tool_call_id: &'a str,
        tool_name: &'a str,
        #[serde(skip_serializing_if = "is_false")]
        dynamic: bool,
    },
    ToolInputAvailable {
        tool_call_id: &'a str,
        tool_name: &'a str,
        input: &'a Value,
        #[serde(skip_serializing_if = "is_false")]
        dynamic: bool,
    },
    /// Of 6 and later.
    ToolApprovalRequest {
        approval_id: String,
        tool_call_id: &'a str,
        approval_descriptor: ApprovalDescriptor,
    },
    /// Of 7.
    ToolApprovalResponse {
        approval_id: String,
        approved: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<&'a str>,
    },
    ToolOutputAvailable {
        tool_call_id: &'a str,
        output: ToolOutput,
    },
    ToolOutputError {
        tool_call_id: &'a str,
        error_text: &'a str,
    },
    /// Of 6 and later.
    ToolOutputDenied {
        tool_call_id: &'a str,
    },
    /// A question that belongs to no call of the conversation, for front ends that want to show it.
    DataHold(HoldNotice),
    /// The message waits until what is open is decided.
    DataQueued {
        data: QueuedNotice,
        transient: bool,
    },
}

#[derive(Debug, PartialEq, Serialize)]
pub(crate) struct MessageMetadata<'a> {
    pub(crate) holdpoint: RunNames<'a>,
}

/// What we call the conversation and the run.
#[derive(Debug, PartialEq, Serialize)]
pub(crate) struct RunNames<'a> {
    pub(crate) session: &'a str,
    pub(crate) run: &'a str,
}

/// What a front end shows of an approval.
#[derive(Debug, PartialEq, Serialize)]
pub(crate) struct ApprovalDescriptor {
    hold: String,
    digest: String,
    title: String,
    preview: PreviewShape,
    url: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<String>,
}

#[derive(Debug, PartialEq, Serialize)]
struct PreviewShape {
    summary: Option<String>,
    rows: Option<u64>,
    diff: Option<String>,
    warnings: Vec<String>,
}

impl ApprovalDescriptor {
    pub(crate) fn of(hold: &Hold, origin: &str) -> ApprovalDescriptor {
        let Preview { summary, rows, diff, warnings, .. } = hold.preview.clone();
        ApprovalDescriptor {
            hold: hold.id.to_string(),
            digest: hold.digest().to_string(),
            title: hold.title.text().to_owned(),
            preview: PreviewShape {
                summary: summary.map(|summary| summary.text().to_owned()),
                rows,
                diff,
                warnings: warnings.iter().map(|warning| warning.text().to_owned()).collect(),
            },
            url: page_of(hold, origin),
            expires_at: hold.expires_at.map(|at| at.to_string()),
        }
    }
}

#[derive(Debug, PartialEq, Serialize)]
pub(crate) struct HoldNotice {
    id: String,
    data: HoldSummary,
}

#[derive(Debug, PartialEq, Serialize)]
struct HoldSummary {
    hold: String,
    kind: &'static str,
    title: String,
    state: &'static str,
    url: String,
}

impl HoldNotice {
    pub(crate) fn of(hold: &Hold, origin: &str) -> HoldNotice {
        let data = HoldSummary {
            hold: hold.id.to_string(),
            kind: hold.question.kind().name(),
            title: hold.title.text().to_owned(),
            state: hold.state.name(),
            url: page_of(hold, origin),
        };
        HoldNotice { id: hold.id.to_string(), data }
    }
}

fn page_of(hold: &Hold, origin: &str) -> String {
    format!("{origin}/holds/{}", hold.id)
}

#[derive(Debug, PartialEq, Serialize)]
pub(crate) struct QueuedNotice {
    /// Holds.
    pub(crate) waits_for: Vec<String>,
}

/// The output of a call.
#[derive(Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub(crate) enum ToolOutput {
    /// What the tool said, as it is.
    Plain(Value),
    /// What the tool said, with `status` and `success` beside it.
    Succeeded(Map<String, Value>),
    Failed {
        status: &'static str,
        success: bool,
        error: String,
    },
    Denied {
        status: &'static str,
        success: bool,
        reason: String,
        message: String,
    },
    Running {
        status: &'static str,
    },
}

impl ToolOutput {
    /// A result as JSON where it is an object or a list, else as text.
    pub(crate) fn plain(content: &str) -> ToolOutput {
        ToolOutput::Plain(as_json(content))
    }

    /// What front ends of version 5 read of a call that they showed as their own: its status is in the
    /// output, and never looks like success when it is none.
    pub(crate) fn succeeded(content: &str) -> ToolOutput {
        let mut body = match as_json(content) {
            Value::Object(map) => map,
            other => Map::from_iter([("result".to_owned(), other)]),
        };
        body.insert("status".into(), "success".into());
        body.insert("success".into(), true.into());
        ToolOutput::Succeeded(body)
    }

    pub(crate) fn failed(content: &str) -> ToolOutput {
        ToolOutput::Failed { status: "error", success: false, error: content.to_owned() }
    }

    pub(crate) fn denied(reason: &str) -> ToolOutput {
        ToolOutput::Denied {
            status: "denied",
            success: false,
            reason: reason.to_owned(),
            message: format!("The call was cancelled by user. {reason}"),
        }
    }

    pub(crate) fn running() -> ToolOutput {
        ToolOutput::Running { status: "running" }
    }

    /// A result of a two-phase tool, which has its shape already.
    pub(crate) fn of_two_phase(content: &str) -> Option<ToolOutput> {
        #[derive(Deserialize)]
        struct Shaped {
            #[serde(rename = "status")]
            _status: String,
            #[serde(rename = "success")]
            _success: bool,
        }
        serde_json::from_str::<Shaped>(content).ok()?;
        Some(ToolOutput::plain(content))
    }
}

fn as_json(content: &str) -> Value {
    match serde_json::from_str::<Value>(content) {
        Ok(value @ (Value::Object(_) | Value::Array(_))) => value,
        _ => Value::from(content),
    }
}

/// A message of a chat that a page loads.
#[derive(Debug, Serialize)]
pub(crate) struct UiMessage {
    pub(crate) id: String,
    pub(crate) role: &'static str,
    pub(crate) parts: Vec<UiPart>,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum UiPart {
    Named(NamedPart),
    Tool(Box<ToolUiPart>),
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub(crate) enum NamedPart {
    StepStart,
    Text {
        text: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        state: Option<&'static str>,
    },
    Reasoning {
        text: String,
        state: &'static str,
    },
    DataHold(HoldNotice),
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ToolUiPart {
    /// `tool-<name>`, or `dynamic-tool` with the name beside it.
    #[serde(rename = "type")]
    pub(crate) kind: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tool_name: Option<String>,
    pub(crate) tool_call_id: String,
    pub(crate) input: Value,
    #[serde(flatten)]
    pub(crate) state: ToolPartState,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) approval: Option<UiApproval>,
}

#[derive(Debug, Serialize)]
#[serde(tag = "state", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub(crate) enum ToolPartState {
    InputAvailable,
    ApprovalRequested,
    ApprovalResponded,
    OutputAvailable { output: ToolOutput },
    OutputError { error_text: String },
    OutputDenied,
}

impl ToolPartState {
    /// The state in which a chunk of the stream leaves a part.
    pub(crate) fn after(chunk: Chunk<'_>) -> Option<ToolPartState> {
        match chunk {
            Chunk::ToolOutputAvailable { output, .. } => {
                Some(ToolPartState::OutputAvailable { output })
            }
            Chunk::ToolOutputError { error_text, .. } => {
                Some(ToolPartState::OutputError { error_text: error_text.to_owned() })
            }
            Chunk::ToolOutputDenied { .. } => Some(ToolPartState::OutputDenied),
            _ => None,
        }
    }
}

#[derive(Debug, Serialize)]
pub(crate) struct UiApproval {
    pub(crate) id: String,
    /// While it waits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) descriptor: Option<ApprovalDescriptor>,
    /// Once it is decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) approved: Option<bool>,
}

/// `DELETE …/run`, and of a project's stream.
#[derive(Debug, Serialize)]
pub(crate) struct Stopped {
    /// Of the older generation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) success: Option<bool>,
    pub(crate) stopped: bool,
}

/// `…/hitl-confirm`, as it is asked. What else a front end says about the call is not read.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Confirming {
    pub(crate) tool_call_id: Option<String>,
    pub(crate) tool_name: Option<String>,
    pub(crate) confirmed: Option<bool>,
}

/// `…/hitl-confirm`, as it is replied to.
#[derive(Debug, Serialize)]
pub(crate) struct Confirmed {
    pub(crate) success: bool,
    pub(crate) result: ToolOutput,
}

/// A refusal in the words of the older generation.
#[derive(Debug, Serialize)]
pub(crate) struct SuccessFalse<'a> {
    pub(crate) success: bool,
    pub(crate) error: &'a str,
    pub(crate) code: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) decision: Option<&'a Value>,
}

fn is_false(value: &bool) -> bool {
    !*value
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn chunks_are_named_as_the_clients_name_them() {
        let written = |chunk: Chunk<'_>| serde_json::to_value(&chunk).expect("json");
        assert_eq!(written(Chunk::StartStep), json!({"type": "start-step"}));
        assert_eq!(written(Chunk::Finish { finish_reason: None }), json!({"type": "finish"}));
        let input = json!({"rows": 2});
        assert_eq!(
            written(Chunk::ToolInputAvailable {
                tool_call_id: "c",
                tool_name: "wipe",
                input: &input,
                dynamic: true,
            }),
            json!({"type": "tool-input-available", "toolCallId": "c", "toolName": "wipe",
                "input": {"rows": 2}, "dynamic": true})
        );
        let output = ToolOutput::denied("no");
        assert_eq!(
            written(Chunk::ToolOutputAvailable { tool_call_id: "c", output }),
            json!({"type": "tool-output-available", "toolCallId": "c", "output": {"status": "denied",
                "success": false, "reason": "no", "message": "The call was cancelled by user. no"}})
        );
        assert_eq!(
            written(Chunk::DataQueued {
                data: QueuedNotice { waits_for: vec!["hold_1".into()] },
                transient: true,
            }),
            json!({"type": "data-queued", "data": {"waits_for": ["hold_1"]}, "transient": true})
        );
    }

    #[test]
    fn a_tool_part_has_its_state_beside_its_input() {
        let part = UiPart::Tool(Box::new(ToolUiPart {
            kind: "dynamic-tool".into(),
            tool_name: Some("wipe".into()),
            tool_call_id: "c".into(),
            input: json!({}),
            state: ToolPartState::OutputError { error_text: "no".into() },
            approval: Some(UiApproval { id: "h".into(), descriptor: None, approved: Some(false) }),
        }));
        assert_eq!(
            serde_json::to_value(&part).expect("json"),
            json!({"type": "dynamic-tool", "toolName": "wipe", "toolCallId": "c", "input": {},
                "state": "output-error", "errorText": "no", "approval": {"id": "h", "approved": false}})
        );
    }

    #[test]
    fn only_a_result_with_status_and_success_has_its_shape_already() {
        assert!(ToolOutput::of_two_phase(r#"{"status":"success","success":true}"#).is_some());
        for other in [r#"{"status":"success"}"#, r#"{"status":1,"success":true}"#, "[]", "done"] {
            assert!(ToolOutput::of_two_phase(other).is_none(), "{other}");
        }
    }
}
