//! What the model gets for a questionnaire: always the same object, whatever became of it. Nobody's
//! silence is ever told as a choice.

use serde_json::{Value, json};

use super::{Chosen, Questionnaire};
use crate::answer::{Answer, DenyReason};
use crate::hold::{Hold, HoldState, find_option};
use crate::outcome::{ResultKind, ToolResult};

/// How a questionnaire ended. Only a confirmed one has choices, and every other says why it has none.
enum Ending {
    Confirmed { chosen: Vec<Chosen> },
    TimedOut,
    Withdrawn,
    Skipped,
    Declined { reason: Option<String> },
}

impl Ending {
    fn status(&self) -> &'static str {
        match self {
            Ending::Confirmed { .. } => "confirmed",
            Ending::TimedOut => "timeout",
            Ending::Withdrawn | Ending::Skipped | Ending::Declined { .. } => "canceled",
        }
    }

    fn source(&self) -> &'static str {
        match self {
            Ending::Confirmed { .. } | Ending::Skipped | Ending::Declined { .. } => "user",
            Ending::TimedOut => "timeout",
            Ending::Withdrawn => "system",
        }
    }

    fn kind(&self) -> ResultKind {
        match self {
            Ending::Confirmed { .. } => ResultKind::Output,
            Ending::TimedOut => ResultKind::Expired,
            Ending::Withdrawn => ResultKind::Cancelled,
            Ending::Skipped | Ending::Declined { .. } => ResultKind::Denied,
        }
    }

    fn message(&self) -> Option<String> {
        Some(match self {
            Ending::Confirmed { .. } => return None,
            Ending::TimedOut => "No decision was made in time; nothing was chosen.".to_owned(),
            Ending::Withdrawn => "The question was withdrawn before anybody answered.".to_owned(),
            Ending::Skipped => "The person skipped the question.".to_owned(),
            Ending::Declined { reason } => {
                let reason = reason.as_deref().map(|reason| format!(" Reason: {reason}"));
                format!("The person did not answer.{}", reason.unwrap_or_default())
            }
        })
    }

    fn chosen(&self) -> &[Chosen] {
        match self {
            Ending::Confirmed { chosen } => chosen,
            _ => &[],
        }
    }
}

impl Questionnaire {
    /// The result of a decided questionnaire; `None` while it is open.
    pub fn build_result(&self, hold: &Hold) -> Option<ToolResult> {
        let ending = match &hold.state {
            HoldState::Pending | HoldState::Approved(_) => return None,
            // mutant: worlds-timeout-chooses
            HoldState::Expired { .. } => Ending::TimedOut,
            HoldState::Cancelled { .. } => Ending::Withdrawn,
            HoldState::Denied(decision) | HoldState::Answered(decision) => {
                match &decision.vote()?.answer {
                    Answer::Deny { reason: Some(DenyReason::Skipped), .. } => Ending::Skipped,
                    Answer::Deny { reason, .. } => {
                        Ending::Declined { reason: reason.as_deref().map(str::to_owned) }
                    }
                    answer => Ending::Confirmed { chosen: self.chosen(answer)? },
                }
            }
        };
        Some(self.result(&ending, hold))
    }

    fn result(&self, ending: &Ending, hold: &Hold) -> ToolResult {
        let confirmed = matches!(ending, Ending::Confirmed { .. });
        let skipped = matches!(ending, Ending::Skipped);
        let answers: Vec<Value> = ending
            .chosen()
            .iter()
            .map(|chosen| json!({"questionId": chosen.question, "optionIds": chosen.options}))
            .collect();
        let first = ending.chosen().first().and_then(|chosen| chosen.options.first());
        let selected = first.and_then(|id| find_option(&self.questions.first()?.options, id));
        // The model knows the call by its own id, and none of ours.
        let call = hold.call().map(|call| call.tool_use_id.as_str());
        let mut told = json!({
            "ok": confirmed, "status": ending.status(), "confirmed": confirmed,
            "skipped": skipped, "answers": answers,
            "selectedOption": selected.map(|option| &option.label),
            "source": ending.source(), "requestId": call,
        });
        if let Some(message) = ending.message() {
            told["message"] = json!(message);
        }
        ToolResult { content: told.to_string(), is_error: !confirmed, kind: ending.kind() }
    }
}
