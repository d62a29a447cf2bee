//! How an attempt ended: reported by its host, found after a crash, or settled by a person.

use std::sync::Arc;

use super::decide::{Draft, SessionReply};
use super::start::Renewed;
use super::two_phase::{finished, unknown};
use super::{CallState, HoldSpec, Session};
use crate::answer::{Answer, Settlement};
use crate::call::Call;
use crate::caption::{Caption, CaptionKind};
use crate::context::Context;
use crate::event::{HoldEvent, SessionEvent};
use crate::grant::ClearedBy;
use crate::hold::{Hold, HoldChange, HoldOutcome, Preview, Question, Risk, Vote};
use crate::id::{CallId, HoldId};
use crate::outcome::{NotRun, Outcome, ToolResult};
use crate::person::{AuthenticatedPerson, People};
use crate::refusal::Refusal;
use crate::schema::redact;
use crate::tool::Confirm;
use crate::warning::WarningKind;

/// What is known about a call whose executor died.
#[derive(Clone, Debug, PartialEq)]
pub enum Recovered {
    /// It may be run again: it only reads, it is idempotent, or it provably never began.
    Again,
    /// There is proof that it happened, and of what came of it.
    Done(Outcome),
    /// There is proof of neither: a person is asked.
    Unknown {
        /// What that person is shown. It may be empty.
        evidence: String,
    },
}

impl Recovered {
    /// For logs: what was found may hold a tool's output.
    pub fn name(&self) -> &'static str {
        match self {
            Recovered::Again => "may run again",
            Recovered::Done(_) => "done",
            Recovered::Unknown { .. } => "unknown",
        }
    }
}

impl Session {
    /// The model's own call stays as it was in its history; if a person changed what ran, the result
    /// says so, or the model would take it for the result of what it wrote.
    fn mention_edits(
        &self,
        id: CallId,
        call: &Call,
        result: ToolResult,
        people: &People,
    ) -> ToolResult {
        let hold = match self.state_of(id) {
            Some(CallState::Running { clearance, .. }) => match clearance.by {
                ClearedBy::People(hold) => self.holds.get(&hold).cloned(),
                _ => None,
            },
            _ => None,
        };
        let edits =
            |vote: &&Arc<Vote>| matches!(vote.answer, Answer::Approve { arguments: Some(_), .. });
        let edited = hold.as_ref().and_then(|hold| hold.votes.iter().rev().find(edits));
        let Some(vote) = edited.filter(|_| call.confirm == Confirm::Held) else { return result };
        let content = format!(
            "{} approved this call with other arguments, and it ran with these: {}\nWhat came of it:\n{}",
            people.name_of(&vote.by),
            redact(call.arguments.value(), &call.secrets),
            result.content
        );
        ToolResult { content, ..result }
    }
}

impl Draft {
    pub(super) fn report(
        &mut self,
        id: CallId,
        attempt: u32,
        outcome: &Outcome,
        context: &Context<'_>,
    ) -> Result<SessionReply, Refusal> {
        match self.next.state_of(id) {
            // The fence: only the attempt that is on disk may report, and only once.
            // mutant: no-fence
            Some(CallState::Running { attempt: current, .. }) if current == attempt => {
                self.record_attempt(id, outcome, context);
                Ok(SessionReply::Done)
            }
            _ => Err(Refusal::Overtaken),
        }
    }

    /// The call is cleared as it was before it was started: `start_cleared` checks it again before another attempt.
    pub(super) fn not_begun(
        &mut self,
        id: CallId,
        attempt: u32,
        context: &Context<'_>,
    ) -> Result<SessionReply, Refusal> {
        let Some(CallState::Running { clearance, attempt: current, node }) = self.next.state_of(id)
        else {
            return Err(Refusal::Overtaken);
        };
        // Only the node that was to make the attempt knows that it did not.
        if current != attempt || node != context.node {
            return Err(Refusal::Overtaken);
        }
        let Some(call) = self.next.calls.get(&id).and_then(|record| record.call.clone()) else {
            return Err(Refusal::Overtaken);
        };
        self.push(SessionEvent::start_taken_back(id, call, clearance), context);
        Ok(SessionReply::Done)
    }

    pub(super) fn recover(
        &mut self,
        id: CallId,
        attempt: u32,
        found: &Recovered,
        context: &Context<'_>,
    ) -> Result<SessionReply, Refusal> {
        let Some(CallState::Running { clearance, attempt: current, node }) = self.next.state_of(id)
        else {
            return Err(Refusal::Overtaken);
        };
        // mutant: living-node-is-recovered
        if current != attempt || node == context.node {
            return Err(Refusal::Overtaken);
        }
        let Some(call) = self.next.calls.get(&id).and_then(|record| record.call.clone()) else {
            return Err(Refusal::Overtaken);
        };
        match found {
            Recovered::Again if self.next.run.as_ref().is_some_and(|run| run.is_stopping()) => {
                let why = NotRun::Cancelled { reason: Some("the run was cancelled".into()) };
                let result =
                    self.next.shape_for_tool(&call, &why.after_an_attempt(call.effects).result());
                self.push(SessionEvent::CallSettled { call: id, result }, context);
            }
            Recovered::Again => {
                self.start_call(id, &call, &clearance, attempt + 1, context);
            }
            Recovered::Done(outcome) => self.record_attempt(id, outcome, context),
            Recovered::Unknown { evidence } => {
                // mutant: unknown-reported-as-failed
                self.record_attempt(id, &Outcome::Unknown { evidence: evidence.clone() }, context);
            }
        }
        Ok(SessionReply::Done)
    }

    fn record_attempt(&mut self, id: CallId, outcome: &Outcome, context: &Context<'_>) {
        let Some(call) = self.next.calls.get(&id).and_then(|record| record.call.clone()) else {
            return;
        };
        let two_phase = call.confirm == Confirm::TwoPhase;
        let result = match outcome {
            Outcome::Unknown { evidence } => {
                self.in_doubt(id, &call, evidence, context);
                let is_stopping = self.next.run.as_ref().is_some_and(|run| run.is_stopping());
                if two_phase {
                    // This pattern promises that every call is answered at once.
                    self.push(SessionEvent::CallSettled { call: id, result: unknown() }, context);
                } else if is_stopping {
                    // A cancelled run ends and waits for nobody. The question stays open: somebody should
                    // find out.
                    let result = ToolResult::error(
                        "Outcome unknown: the run was cancelled while the call was running. A person was \
                         asked what became of it.",
                    );
                    self.push(SessionEvent::CallSettled { call: id, result }, context);
                }
                return;
            }
            outcome if two_phase => finished(outcome),
            Outcome::Succeeded(output) => ToolResult::output(output.whole()),
            Outcome::Failed(output) => ToolResult::error(output.whole()),
        };
        let result = self.next.mention_edits(id, &call, result, context.people);
        self.push(SessionEvent::CallSettled { call: id, result }, context);
    }

    /// Asks the people who were asked before (or would have been) what really happened.
    fn in_doubt(&mut self, id: CallId, call: &Arc<Call>, evidence: &str, context: &Context<'_>) {
        let earlier = match self.next.state_of(id) {
            Some(CallState::Running { clearance, .. }) => match clearance.by {
                ClearedBy::People(hold) => self.next.holds.get(&hold).cloned(),
                _ => None,
            },
            _ => None,
        };
        let audience = match &earlier {
            Some(hold) => hold.audience.clone(),
            None => super::start::default_audience(self.next.requester_and_login_makers()).into(),
        };
        let mut preview = Preview::default();
        preview.warnings.push(WarningKind::OutcomeUnknown.into());
        let spec = HoldSpec {
            question: Question::Settle,
            risk: earlier.as_ref().map_or(Risk::Medium, |hold| hold.risk),
            title: what_happened(
                earlier.as_ref().map_or_else(|| (&*call.tool).into(), |hold| hold.title.clone()),
            ),
            preview,
            shown: if evidence.is_empty() {
                serde_json::Value::Null
            } else {
                serde_json::json!({ "evidence": evidence })
            },
            rationale: None,
            audience,
            rule: earlier.as_ref().and_then(|hold| hold.rule.clone()),
            expires_in_ms: None,
        };
        let settle = context.hold_id_after(self.next.last_hold());
        // The hold needs its id before it exists, as the event that makes the doubt names it.
        self.push(
            SessionEvent::CallInDoubt { call: id, evidence: evidence.to_owned(), settle },
            context,
        );
        self.open_as(settle, spec, Some(call.clone()), earlier.map(|hold| hold.id), false, context);
    }

    /// A person found out what happened to a call in doubt.
    pub(super) fn clear_up_doubt(
        &mut self,
        settle: &Arc<Hold>,
        how: Settlement,
        content: Option<&str>,
        by: &AuthenticatedPerson,
        context: &Context<'_>,
    ) {
        let Some(call) = settle.call() else { return };
        let name = context.people.name_of(by.id());
        let result = match how {
            Settlement::Succeeded => ToolResult::output(content.map_or_else(
                || format!("{name} confirmed that the call was carried out."),
                str::to_owned,
            )),
            Settlement::Failed => ToolResult::error(
                content
                    .map_or_else(|| format!("{name} found that the call failed."), str::to_owned),
            ),
            Settlement::Retry => return self.retry_call(settle, call, context),
        };
        let result = self.next.shape_for_tool(call, &result);
        let outcome = match how {
            Settlement::Succeeded => HoldOutcome::Succeeded(result.clone()),
            _ => HoldOutcome::Failed(result.clone()),
        };
        if let Some(original) = settle.parent {
            self.push(
                SessionEvent::Hold(HoldEvent::Updated {
                    hold: original,
                    change: HoldChange::Outcome(outcome),
                }),
                context,
            );
        }
        match self.in_doubt_by(settle.id) {
            Some(id) => self.push(SessionEvent::CallSettled { call: id, result }, context),
            // Its run was cancelled: no new run is started to tell the model.
            None if call.confirm == Confirm::Held => {}
            None => self.tell_model(
                format!(
                    "What became of {} ({}) is known now: {}",
                    call.tool, settle.id, result.content
                ),
                context,
            ),
        }
    }

    /// The call of the turn that waits for this settlement.
    fn in_doubt_by(&self, settle: HoldId) -> Option<CallId> {
        self.next.turn_calls().find_map(|(id, record)| match &record.state {
            CallState::InDoubt { settle: hold, .. } if *hold == settle => Some(id),
            _ => None,
        })
    }

    /// It did not happen: the call is proposed again, as a new revision that nobody approved yet.
    fn retry_call(&mut self, settle: &Arc<Hold>, call: &Arc<Call>, context: &Context<'_>) {
        let waiting = self.in_doubt_by(settle.id);
        if let Some(original) = settle.parent {
            let result = ToolResult::error("Unknown; a person had the call proposed again.");
            let change = HoldChange::Outcome(HoldOutcome::Failed(result));
            self.push(SessionEvent::Hold(HoldEvent::Updated { hold: original, change }), context);
        }
        if waiting.is_none() && call.confirm == Confirm::Held {
            // Its run was cancelled, and nobody waits for the call any more.
            return;
        }
        let renewed = match self.next.renewed(waiting.unwrap_or(call.id), call, context) {
            Ok(Some(renewed)) => Ok(renewed),
            Ok(None) => Err(ToolResult::error("Not run: the tool has changed; call it again.")),
            Err(result) => Err(result),
        };
        let Renewed { call: again, preview, title, risk } = match (renewed, waiting) {
            (Ok(renewed), _) => renewed,
            (Err(result), Some(id)) => {
                let result = self.next.shape_for_tool(call, &result);
                return self.push(SessionEvent::CallSettled { call: id, result }, context);
            }
            (Err(result), None) => return self.tell_model(result.content, context),
        };
        let title = title.unwrap_or_else(|| title_before(&settle.title));
        let mut preview = preview.unwrap_or_default();
        preview.warnings.push(WarningKind::EarlierAttempt.into());
        let risk = risk.max(Some(settle.risk));
        let spec = self.next.respec_as_approve(&again, title, preview, risk, context);
        match waiting {
            Some(id) => {
                self.push(SessionEvent::proposed_anew(id, again.clone()), context);
                self.open(spec, Some(again), Some(settle.id), false, context);
            }
            // A two-phase call was answered already: its next confirmation is a matter of its own.
            None => {
                self.open(spec, Some(again), Some(settle.id), true, context);
            }
        }
    }
}

fn what_happened(to: Caption) -> Caption {
    CaptionKind::WhatHappened { to: Box::new(to) }.into()
}

/// The title of the call that a settling hold is about.
fn title_before(settling: &Caption) -> Caption {
    match settling.kind() {
        Some(CaptionKind::WhatHappened { to }) => (**to).clone(),
        _ => settling.trim_start_matches("What happened? ").into(),
    }
}
