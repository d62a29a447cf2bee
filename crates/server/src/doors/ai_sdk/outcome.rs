//! How the result of a call looks to each version of the client. The same for a live stream and for a
//! chat that a page loads.

use domain::hold::{CancelReason, HoldState, Question};
use domain::id::CallId;
use domain::outcome::{ResultKind, ToolResult};
use domain::session::Session;
use domain::tool::Confirm;

use super::wire::{Chunk, ToolOutput};
use super::{Ui, chunks};

/// The chunk that settles a call which the client's message has under `id`.
pub(super) fn settled<'a>(
    ui: Ui,
    session: &Session,
    call: CallId,
    id: &'a str,
    result: &'a ToolResult,
) -> Chunk<'a> {
    let content = result.content.as_str();
    let hold = session.hold_of(call);
    let record = session.calls.get(&call).and_then(|record| record.call.as_ref());
    let two_phase = record.is_some_and(|call| call.confirm == Confirm::TwoPhase);
    // Shown to version 5 as a tool of its own, whose status its front ends read in the output.
    let as_theirs = ui == Ui::Five && hold.is_some_and(|hold| hold.question == Question::Approve);
    let superseded = hold.is_some_and(|hold| {
        matches!(&hold.state, HoldState::Cancelled { reason: CancelReason::Superseded, .. })
    });
    match result.kind {
        _ if two_phase => chunks::output(id, ToolOutput::plain(content)),
        ResultKind::Output | ResultKind::Pending if as_theirs => {
            chunks::output(id, ToolOutput::succeeded(content))
        }
        ResultKind::Output | ResultKind::Pending => chunks::output(id, ToolOutput::plain(content)),
        ResultKind::Denied if ui == Ui::Five => chunks::output(id, ToolOutput::denied(content)),
        // mutant: ai-sdk-denied-looks-done
        ResultKind::Denied => Chunk::ToolOutputDenied { tool_call_id: id },
        ResultKind::Error if as_theirs => chunks::output(id, ToolOutput::failed(content)),
        ResultKind::Cancelled if superseded => {
            chunks::output_error(id, "superseded by a new message")
        }
        ResultKind::Error | ResultKind::Expired | ResultKind::Cancelled => {
            chunks::output_error(id, content)
        }
    }
}
