//! What the model gets for an inquiry: always the same object, whatever became of it. Nobody's
//! silence is ever told as a choice.

use serde_json::{Value, json};

use super::{Chosen, Inquiry, SKIPPED};
use crate::answer::Answer;
use crate::hold::{Hold, HoldState, find_option};
use crate::outcome::{ResultKind, ToolResult};

/// Where an inquiry stands once it is over.
struct Ending<'a> {
    status: &'static str,
    source: &'static str,
    kind: ResultKind,
    chosen: Vec<Chosen>,
    skipped: bool,
    message: Option<String>,
    hold: &'a Hold,
}

impl Inquiry {
    /// The result of a decided inquiry; `None` while it is open.
    pub fn told(&self, hold: &Hold) -> Option<ToolResult> {
        let ending = |status, source, kind, message: &str| Ending {
            status,
            source,
            kind,
            chosen: Vec::new(),
            skipped: false,
            message: Some(message.to_owned()),
            hold,
        };
        let ending = match &hold.state {
            HoldState::Pending | HoldState::Approved(_) => return None,
            HoldState::Expired { .. } => ending(
                "timeout",
                "timeout",
                ResultKind::Expired,
                "No decision was made in time; nothing was chosen.",
            ),
            HoldState::Cancelled { .. } => ending(
                "canceled",
                "system",
                ResultKind::Cancelled,
                "The question was withdrawn before anybody answered.",
            ),
            HoldState::Denied(decision) | HoldState::Answered(decision) => {
                match &decision.vote()?.answer {
                    Answer::Deny { reason, .. } if reason.as_deref() == Some(SKIPPED) => Ending {
                        skipped: true,
                        ..ending(
                            "canceled",
                            "user",
                            ResultKind::Denied,
                            "The person skipped the question.",
                        )
                    },
                    Answer::Deny { reason, .. } => {
                        let reason = reason.as_deref().map(|reason| format!(" Reason: {reason}"));
                        let message =
                            format!("The person did not answer.{}", reason.unwrap_or_default());
                        ending("canceled", "user", ResultKind::Denied, &message)
                    }
                    answer => Ending {
                        chosen: self.chosen(answer)?,
                        message: None,
                        ..ending("confirmed", "user", ResultKind::Output, "")
                    },
                }
            }
        };
        Some(self.result(&ending))
    }

    fn result(&self, ending: &Ending<'_>) -> ToolResult {
        let confirmed = ending.status == "confirmed";
        let answers: Vec<Value> = ending
            .chosen
            .iter()
            .map(|chosen| json!({"questionId": chosen.question, "optionIds": chosen.options}))
            .collect();
        let first = ending.chosen.first().and_then(|chosen| chosen.options.first());
        let selected = first.and_then(|id| find_option(&self.questions.first()?.options, id));
        // The model knows the call by its own id, and none of ours.
        let call = ending.hold.call.as_ref().map(|call| call.tool_use_id.as_str());
        let mut told = json!({
            "ok": confirmed, "status": ending.status, "confirmed": confirmed,
            "skipped": ending.skipped, "answers": answers,
            "selectedOption": selected.map(|option| &option.label),
            "source": ending.source, "requestId": call,
        });
        if let Some(message) = &ending.message {
            told["message"] = json!(message);
        }
        ToolResult { content: told.to_string(), is_error: !confirmed, kind: ending.kind }
    }
}
