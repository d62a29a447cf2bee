//! Two-phase tools: the first call is answered at once with `pending_confirmation`, and a second
//! one with `confirmed: true` acts. `confirmed` is only an argument that a model wrote: it counts
//! if an entitled person approved that very call and the approval is not used up.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::decide::Draft;
use super::{CallState, Session};
use crate::call::Call;
use crate::context::Context;
use crate::event::SessionEvent;
use crate::grant::ClearedBy;
use crate::hold::{Hold, HoldOutcome, HoldState};
use crate::id::{CallId, HoldId};
use crate::limits::EXECUTE_WITHIN_MS;
use crate::message::{Message, Origin, Part, Role};
use crate::outcome::{NotRun, Outcome, ResultKind, ToolResult};
use crate::person::People;
use crate::schema::redact;

/// What a call to a two-phase tool amounts to.
pub(super) enum Phase {
    /// Nobody has been asked yet.
    First,
    /// Somebody has been asked: the answer is this result.
    Known(ToolResult),
    /// Approved and unused: run the stored call under this hold.
    Run(Arc<Hold>),
    /// Another call of this turn is using the approval right now: same result, once it is there.
    Follow(Arc<Hold>),
}

impl Session {
    pub(super) fn phase(&self, call: &Call, confirmed: bool, context: &Context<'_>) -> Phase {
        let matching = self.holds.values().rev().find(|hold| {
            hold.two_phase
                && hold.call().is_some_and(|stored| {
                    stored.tool == call.tool && stored.match_key() == call.match_key()
                })
        });
        let Some(hold) = matching else { return Phase::First };
        match (&hold.state, confirmed) {
            // mutant: model-confirms-itself
            (HoldState::Pending, _) => Phase::Known(pending(hold, call)),
            // Without `confirmed` it is a new request, whatever became of earlier ones.
            (_, false) => Phase::First,
            (HoldState::Approved(decision), true)
                if hold.outcome().is_none()
                    && decision.at().plus_ms(EXECUTE_WITHIN_MS) <= context.now =>
            {
                Phase::Known(shaped(&NotRun::ExpiredBeforeStart.result()))
            }
            (HoldState::Approved(_), true) => self.approved(hold),
            (HoldState::Denied(_), true) => Phase::Known(denied(hold, context.people)),
            (HoldState::Expired { .. }, true) => Phase::Known(shaped(&NotRun::Expired.result())),
            (HoldState::Cancelled { reason, .. }, true) => {
                let reason = reason.text().map(str::to_owned);
                Phase::Known(shaped(&NotRun::Cancelled { reason }.result()))
            }
            (HoldState::Answered(_), true) => Phase::First,
        }
    }

    fn approved(&self, hold: &Arc<Hold>) -> Phase {
        match hold.outcome() {
            Some(HoldOutcome::Succeeded(result) | HoldOutcome::Failed(result)) => {
                Phase::Known(replayed(result))
            }
            Some(HoldOutcome::Unknown) => Phase::Known(unknown()),
            // mutant: approval-used-twice.executing
            Some(HoldOutcome::Executing) => Phase::Follow(hold.clone()),
            // mutant: approval-used-twice.taken
            None if self.is_taken(hold.id) => Phase::Follow(hold.clone()),
            None => Phase::Run(hold.clone()),
        }
    }

    /// Whether a call has been cleared by this hold already, even if it has not started.
    pub(super) fn is_taken(&self, hold: HoldId) -> bool {
        self.calls.values().any(|record| {
            matches!(&record.state,
                CallState::Cleared { clearance } | CallState::Running { clearance, .. }
                    if clearance.by == ClearedBy::People(hold))
        })
    }

    /// The result for a call that follows another one's execution, once there is one.
    pub(super) fn followed(&self, id: CallId) -> Option<ToolResult> {
        let stored = self.calls.get(&id)?.call.as_ref().filter(|call| call.id != id)?;
        let hold = self.hold_of(stored.id)?;
        match hold.outcome() {
            Some(HoldOutcome::Succeeded(result) | HoldOutcome::Failed(result)) => {
                Some(replayed(result))
            }
            Some(HoldOutcome::Unknown) => Some(unknown()),
            _ if !self.is_taken(hold.id) => Some(unknown()),
            _ => None,
        }
    }
}

impl Draft {
    /// The runtime's own word to the model that somebody decided.
    pub(super) fn tell_model_of_decision(&mut self, id: HoldId, context: &Context<'_>) {
        let Some(hold) = self.next.holds.get(&id).cloned() else { return };
        let Some(call) = hold.call() else { return };
        let text = match &hold.state {
            HoldState::Approved(_) if call.revision > 1 => format!(
                "The person approved {} ({id}) with changes. Call it again with these arguments and confirmed=true: {}",
                call.tool,
                redact(call.arguments.value(), &call.secrets)
            ),
            HoldState::Approved(_) => format!(
                "The person approved {} ({id}). Call it again with the same arguments and confirmed=true.",
                call.tool
            ),
            HoldState::Denied(decision) => {
                let reason = decision.vote().and_then(|vote| match &vote.answer {
                    crate::answer::Answer::Deny { reason, .. } => reason.as_deref(),
                    _ => None,
                });
                format!(
                    "The person denied {} ({id}): {}",
                    call.tool,
                    reason.unwrap_or("no reason was given")
                )
            }
            HoldState::Answered(decision) => {
                let content = decision.vote().and_then(|vote| match &vote.answer {
                    crate::answer::Answer::Respond { content } => Some(content.as_str()),
                    _ => None,
                });
                format!(
                    "In place of {} ({id}) the person answered: {}",
                    call.tool,
                    content.unwrap_or_default()
                )
            }
            HoldState::Expired { .. } => {
                format!("Nobody decided on {} ({id}) in time; nothing was done.", call.tool)
            }
            HoldState::Cancelled { reason, .. } => format!(
                "The confirmation of {} ({id}) was cancelled: {}",
                call.tool,
                reason.text().unwrap_or("no reason was given")
            ),
            HoldState::Pending => return,
        };
        self.tell_model(text, context);
    }

    pub(super) fn tell_model(&mut self, text: String, context: &Context<'_>) {
        let Some(run) = &self.next.run else { return };
        let over = run.is_over();
        let run =
            if over { crate::id::RunId::new(context.now.as_ms(), (context.rng)()) } else { run.id };
        let message = Message {
            id: context.message_id(),
            role: Role::User,
            origin: Origin::Runtime,
            by: None,
            login_makers: Default::default(),
            parts: vec![Part::Text(text)],
            at: context.now,
        };
        self.push(
            SessionEvent::MessageQueued { message: Arc::new(message), run, join: !over },
            context,
        );
    }
}

/// "Asked; wait." The call's own arguments are echoed beside our keys, and ours win.
pub(super) fn pending(hold: &Hold, call: &Call) -> ToolResult {
    let mut body = match redact(call.arguments.value(), &call.secrets) {
        Value::Object(map) => map,
        _ => Map::new(),
    };
    // A value that is marked secret is not echoed, not even as a placeholder.
    body.retain(|key, _| !call.secrets.contains(&format!("/{key}")));
    for (key, value) in [
        ("status", json!("pending_confirmation")),
        ("message", json!("Awaiting user confirmation")),
        (
            "instructions",
            json!(
                "Wait for the person. Then call this tool again with the same arguments and confirmed=true."
            ),
        ),
        ("hold", json!(hold.id.to_string())),
        ("expires_at", hold.expires_at.map_or(Value::Null, |at| json!(at.to_string()))),
    ] {
        body.insert(key.into(), value);
    }
    ToolResult {
        content: Value::Object(body).to_string(),
        is_error: false,
        kind: ResultKind::Pending,
    }
}

pub(super) fn finished(outcome: &Outcome) -> ToolResult {
    match outcome {
        Outcome::Succeeded(output) => {
            let text = output.whole();
            let mut body = match serde_json::from_str::<Value>(&text) {
                Ok(Value::Object(map)) => map,
                Ok(other) => Map::from_iter([("result".to_owned(), other)]),
                Err(_) => Map::from_iter([("result".to_owned(), json!(text))]),
            };
            body.insert("status".into(), json!("success"));
            body.insert("success".into(), json!(true));
            body.entry("message").or_insert_with(|| json!("Done"));
            ToolResult::output(Value::Object(body).to_string())
        }
        Outcome::Failed(output) => shaped(&ToolResult::error(output.whole())),
        Outcome::Unknown { .. } => unknown(),
    }
}

pub(super) fn unknown() -> ToolResult {
    shaped(&ToolResult::error("outcome unknown; a person was asked"))
}

/// Puts a result into the shape that front ends of this pattern read.
pub(super) fn shaped(result: &ToolResult) -> ToolResult {
    let body = match result.kind {
        ResultKind::Output => {
            json!({"status": "success", "success": true, "message": "Done", "result": result.content})
        }
        ResultKind::Pending => return result.clone(),
        ResultKind::Error => json!({"status": "error", "success": false, "error": result.content}),
        // Front ends look for these words.
        ResultKind::Denied => json!({
            "status": "denied", "success": false,
            "message": "The call was cancelled by user.", "reason": result.content,
        }),
        ResultKind::Expired => json!({
            "status": "expired", "success": false,
            "message": "Nobody decided in time; nothing was done.",
        }),
        ResultKind::Cancelled => {
            json!({"status": "cancelled", "success": false, "message": result.content})
        }
    };
    ToolResult { content: body.to_string(), ..result.clone() }
}

fn denied(hold: &Hold, people: &People) -> ToolResult {
    let vote = hold.state.decision().and_then(|decision| decision.vote());
    let reason = vote.and_then(|vote| match &vote.answer {
        crate::answer::Answer::Deny { reason, .. } => reason.as_deref().map(str::to_owned),
        _ => None,
    });
    let name = vote.map_or("a person", |vote| people.name_of(&vote.by)).to_owned();
    shaped(&NotRun::DeniedBy { name, reason }.result())
}

fn replayed(result: &ToolResult) -> ToolResult {
    let content = match serde_json::from_str::<Value>(&result.content) {
        Ok(Value::Object(mut body)) => {
            body.insert("replayed".into(), json!(true));
            Value::Object(body).to_string()
        }
        _ => result.content.clone(),
    };
    ToolResult { content, ..result.clone() }
}
