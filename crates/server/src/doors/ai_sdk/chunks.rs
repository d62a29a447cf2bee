//! Chunks that take a little making. Every chunk of a stream is a [`Chunk`]: there is no other way to send one.

use domain::hold::Hold;
use serde_json::Value;

use super::super::flow::SpeechKind;
use super::Ui;
use super::wire::{ApprovalDescriptor, Chunk, HoldNotice, MessageMetadata, RunNames, ToolOutput};

pub(crate) fn start<'a>(message: &'a str, session: &'a str, run: &'a str) -> Chunk<'a> {
    let holdpoint = RunNames { session, run };
    Chunk::Start { message_id: message, message_metadata: MessageMetadata { holdpoint } }
}

pub(crate) fn finish(ui: Ui, reason: &str) -> Chunk<'_> {
    Chunk::Finish { finish_reason: (ui >= Ui::Six).then_some(reason) }
}

pub(crate) fn open_block(kind: SpeechKind, id: &str) -> Chunk<'_> {
    match kind {
        SpeechKind::Text => Chunk::TextStart { id },
        SpeechKind::Reasoning => Chunk::ReasoningStart { id },
    }
}

pub(crate) fn delta<'a>(kind: SpeechKind, id: &'a str, delta: &'a str) -> Chunk<'a> {
    match kind {
        SpeechKind::Text => Chunk::TextDelta { id, delta },
        SpeechKind::Reasoning => Chunk::ReasoningDelta { id, delta },
    }
}

pub(crate) fn close(kind: SpeechKind, id: &str) -> Chunk<'_> {
    match kind {
        SpeechKind::Text => Chunk::TextEnd { id },
        SpeechKind::Reasoning => Chunk::ReasoningEnd { id },
    }
}

/// `dynamic` for tools that a front end cannot know by name.
pub(crate) fn input<'a>(
    id: &'a str,
    tool: &'a str,
    input: &'a Value,
    dynamic: bool,
) -> [Chunk<'a>; 2] {
    [
        Chunk::ToolInputStart { tool_call_id: id, tool_name: tool, dynamic },
        Chunk::ToolInputAvailable { tool_call_id: id, tool_name: tool, input, dynamic },
    ]
}

/// Of 6 and later.
pub(crate) fn approval_request<'a>(id: &'a str, hold: &Hold, origin: &str) -> Chunk<'a> {
    Chunk::ToolApprovalRequest {
        approval_id: hold.id.to_string(),
        tool_call_id: id,
        approval_descriptor: ApprovalDescriptor::of(hold, origin),
    }
}

/// Of 7.
pub(crate) fn approval_response<'a>(
    hold: &Hold,
    approved: bool,
    reason: Option<&'a str>,
) -> Chunk<'a> {
    Chunk::ToolApprovalResponse { approval_id: hold.id.to_string(), approved, reason }
}

pub(crate) fn output(id: &str, output: ToolOutput) -> Chunk<'_> {
    Chunk::ToolOutputAvailable { tool_call_id: id, output }
}

pub(crate) fn output_error<'a>(id: &'a str, text: &'a str) -> Chunk<'a> {
    Chunk::ToolOutputError { tool_call_id: id, error_text: text }
}

/// A question that belongs to no call of the conversation.
pub(crate) fn asks(hold: &Hold, origin: &str) -> Chunk<'static> {
    Chunk::DataHold(HoldNotice::of(hold, origin))
}
