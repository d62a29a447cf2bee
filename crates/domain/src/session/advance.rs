//! What follows by itself: decided holds settle their calls, cleared calls start when their turn
//! allows it, a complete turn goes back to the model, a finished run makes room for the next
//! message. Repeated until nothing more follows.
//!
//! Each step says whether it changed anything. After a change all begin again from the first, so their order is their
//! priority: nothing starts while a decision is still to be carried out.

use std::sync::Arc;

use super::decide::Draft;
use super::two_phase::shaped;
use super::{CallRecord, CallState, RunStatus, Session};
use crate::answer::Answer;
use crate::call::Call;
use crate::context::Context;
use crate::event::SessionEvent;
use crate::grant::ClearedBy;
use crate::hold::{CancelReason, Hold, HoldState, Question, find_option};
use crate::id::CallId;
use crate::message::{Message, Origin, Part, Role};
use crate::outcome::{NotRun, ResultKind, ToolResult};
use crate::person::People;
use crate::questionnaire::Questionnaire;
use crate::schema::{redact, write_only_pointers};
use crate::tool::{Confirm, Effects};

impl Draft {
    pub(super) fn advance(&mut self, context: &Context<'_>) {
        while self.settle_decided(context)
            || self.start_cleared(context)
            || self.deliver_results(context)
            || self.deliver_messages(context)
            || self.end_over_budget(context)
            || self.end_run(context)
            || self.ask_to_go_on(context)
            || self.start_next_run(context)
        {}
        self.mark_pause(context);
    }

    /// Calls whose hold was decided against running them, or answered in their place.
    fn settle_decided(&mut self, context: &Context<'_>) -> bool {
        let settled: Vec<(CallId, ToolResult)> = self
            .next
            .turn_calls()
            .filter_map(|(id, record)| {
                Some((id, self.next.result_by_decision(id, record, context.people)?))
            })
            .collect();
        let any = !settled.is_empty();
        for (call, result) in settled {
            self.push(SessionEvent::CallSettled { call, result }, context);
        }
        any
    }

    fn start_cleared(&mut self, context: &Context<'_>) -> bool {
        let stopping = self.next.run.as_ref().is_some_and(|run| run.is_stopping());
        let refused = self.next.refused_perform();
        let cleared: Vec<(CallId, CallRecord)> = self
            .next
            .turn_calls()
            .filter(|(_, record)| matches!(record.state, CallState::Cleared { .. }))
            .map(|(id, record)| (id, record.clone()))
            .collect();
        let mut any = false;
        for (id, record) in cleared {
            // Looked at anew for each: starting one may have led to asking again.
            // mutant: effects-before-siblings
            let undecided = self.next.is_undecided();
            let (CallState::Cleared { clearance }, Some(call)) = (&record.state, &record.call)
            else {
                continue;
            };
            let by_people = matches!(clearance.by, ClearedBy::People(_));
            let only_reads = call.effects == Effects::ReadOnly;
            let not_run = if stopping {
                Some(NotRun::Cancelled { reason: Some("the run was cancelled".into()) })
            } else if let (Some(tool), false, false) = (&refused, by_people, only_reads) {
                Some(NotRun::SiblingRefused { tool: tool.to_string() })
            } else {
                None
            };
            if let Some(why) = not_run {
                // An earlier attempt may have begun, and been interrupted.
                let why = if record.begun > 0 { why.after_an_attempt(call.effects) } else { why };
                let result = self.next.shape_for_tool(call, &why.result());
                self.push(SessionEvent::CallSettled { call: id, result }, context);
                any = true;
            } else if context.run_as_decided
                || !undecided
                || (only_reads && matches!(clearance.by, ClearedBy::Rule(_)))
            {
                any |= self.start_call(id, call, clearance, record.attempts + 1, context);
            }
        }
        any
    }

    /// All calls of the turn have their result: one message, in the order of the calls.
    fn deliver_results(&mut self, context: &Context<'_>) -> bool {
        let Some(run) = &self.next.run else { return false };
        if run.turn.is_empty()
            // mutant: partial-results
            || !self.next.turn_calls().all(|(_, record)| record.state.is_settled())
        {
            return false;
        }
        let parts = self
            .next
            .turn_calls()
            .filter_map(|(id, record)| match &record.state {
                CallState::Settled { result } => Some(Part::ToolResult {
                    call: id,
                    tool_use_id: record.tool_use_id.clone(),
                    tool: record.tool.clone(),
                    result: result.clone(),
                }),
                _ => None,
            })
            .collect();
        let message = Message {
            id: context.message_id(),
            role: Role::Tool,
            origin: Origin::Own,
            by: None,
            login_makers: Default::default(),
            // mutant: results-out-of-order
            parts,
            at: context.now,
        };
        self.push(SessionEvent::MessageAdded { message: Arc::new(message) }, context);
        true
    }

    /// Messages that waited only for the turn's results.
    fn deliver_messages(&mut self, context: &Context<'_>) -> bool {
        let Some(run) = &self.next.run else { return false };
        if run.is_over() || run.is_stopping() || run.over_budget().is_some() || !run.turn.is_empty()
        {
            return false;
        }
        let (id, paused) = (run.id, run.status() == RunStatus::Paused);
        let joining =
            self.next.queue.iter().find(|queued| queued.join).map(|queued| queued.message.clone());
        let Some(message) = joining else { return false };
        self.push(SessionEvent::MessageAdded { message }, context);
        if paused {
            self.push(SessionEvent::RunResumed { run: id }, context);
        }
        true
    }

    fn end_run(&mut self, context: &Context<'_>) -> bool {
        let Some(run) = &self.next.run else { return false };
        if run.is_over() || !run.turn.is_empty() {
            return false;
        }
        let id = run.id;
        if run.is_stopping() {
            self.push(SessionEvent::RunCancelled { run: id }, context);
            return true;
        }
        let spoke_last =
            self.next.transcript.last().is_some_and(|message| message.role == Role::Assistant);
        if spoke_last && !self.next.waits_for_confirmation() {
            self.push(SessionEvent::RunCompleted { run: id }, context);
            return true;
        }
        false
    }

    fn start_next_run(&mut self, context: &Context<'_>) -> bool {
        if context.frozen.is_some() {
            return false;
        }
        let Some(queued) = self.next.next_message().cloned() else { return false };
        self.start_run(queued.run, queued.message, context);
        true
    }

    /// Paused means: nothing moves until a person does something.
    fn mark_pause(&mut self, context: &Context<'_>) {
        let Some(run) = &self.next.run else { return };
        let (id, status) = (run.id, run.status());
        let waits = if run.over_budget().is_some() {
            true
        } else if run.turn.is_empty() {
            self.next.waits_for_confirmation() && !self.next.has_something_new()
        } else {
            !self
                .next
                .turn_calls()
                .any(|(_, record)| matches!(record.state, CallState::Running { .. }))
        };
        match (status, waits) {
            (RunStatus::Running, true) => self.push(SessionEvent::RunPaused { run: id }, context),
            (RunStatus::Paused, false) => self.push(SessionEvent::RunResumed { run: id }, context),
            _ => {}
        }
    }
}

impl Session {
    /// The message that the next run begins with, if nothing is under way. A failed run can be
    /// retried, and what waits behind it waits for that.
    pub(super) fn next_message(&self) -> Option<&super::Queued> {
        let is_idle = match &self.run {
            None => true,
            Some(run) => run.is_over() && run.status() != RunStatus::Failed,
        };
        // Word of a decision joins whatever run comes next; it is no reason to start one after the
        // run that it belonged to was cancelled.
        let waits =
            |queued: &&super::Queued| !(queued.join && queued.message.origin == Origin::Runtime);
        self.queue.iter().find(waits).filter(|_| is_idle)
    }

    /// A two-phase hold of this session is open: the run is not over, whatever the model says.
    pub(super) fn waits_for_confirmation(&self) -> bool {
        self.open_holds().any(|hold| hold.two_phase)
    }

    /// Whether the model has not yet seen the end of the transcript. After a `pending_…` result it
    /// is not called again until there is something newer than that result.
    pub(super) fn has_something_new(&self) -> bool {
        match self.transcript.last() {
            None => false,
            Some(message) => match message.role {
                Role::User => true,
                Role::Assistant => false,
                Role::Tool => !message.parts.iter().any(|part| {
                    matches!(part, Part::ToolResult { result, .. } if result.kind == ResultKind::Pending)
                }),
            },
        }
    }

    fn is_undecided(&self) -> bool {
        self.turn_calls().any(|(_, record)| matches!(record.state, CallState::Waiting { .. }))
    }

    /// The client tool of this turn that was refused, if one was.
    fn refused_perform(&self) -> Option<Arc<str>> {
        self.turn_calls().find_map(|(id, record)| {
            let hold = self.hold_of(id)?;
            let Question::Perform { deny_values } = &hold.question else { return None };
            let refused = match &hold.state {
                HoldState::Denied(_) | HoldState::Expired { .. } | HoldState::Cancelled { .. } => {
                    true
                }
                HoldState::Answered(decision) => match decision.vote().map(|vote| &vote.answer) {
                    Some(Answer::Perform { content, is_error }) => {
                        *is_error || deny_values.contains(content)
                    }
                    _ => false,
                },
                HoldState::Pending | HoldState::Approved(_) => false,
            };
            refused.then(|| record.tool.clone())
        })
    }

    /// The result that a decision means for a call that waits, or for one that was in doubt.
    fn result_by_decision(
        &self,
        id: CallId,
        record: &CallRecord,
        people: &People,
    ) -> Option<ToolResult> {
        match &record.state {
            CallState::Waiting { hold } => {
                let hold = self.holds.get(hold)?;
                let result = self.by_decision(hold, people)?;
                Some(match &record.call {
                    Some(call) => self.shape_for_tool(call, &result),
                    None => result,
                })
            }
            CallState::InDoubt { settle, .. } => match &self.holds.get(settle)?.state {
                HoldState::Denied(_) | HoldState::Cancelled { .. } => Some(ToolResult::error(
                    "Outcome unknown: nobody could say whether the call was carried out.",
                )),
                _ => None,
            },
            CallState::Proposed => self.followed(id),
            _ => None,
        }
    }

    fn by_decision(&self, hold: &Hold, people: &People) -> Option<ToolResult> {
        // Its tool promises one shape for every ending.
        if let Some(questionnaire) = Questionnaire::of(hold) {
            return questionnaire.build_result(hold);
        }
        match &hold.state {
            HoldState::Pending | HoldState::Approved(_) => None,
            HoldState::Expired { .. } => Some(self.word_not_run(&NotRun::Expired)),
            HoldState::Cancelled { reason: CancelReason::Superseded, .. } => {
                Some(self.word_not_run(&NotRun::Superseded))
            }
            HoldState::Cancelled { reason, .. } => {
                let reason = reason.text().map(str::to_owned);
                Some(self.word_not_run(&NotRun::Cancelled { reason }))
            }
            HoldState::Denied(decision) | HoldState::Answered(decision) => {
                let vote = decision.vote()?;
                Some(match &vote.answer {
                    Answer::Deny { reason, .. } => self.word_not_run(&NotRun::DeniedBy {
                        name: people.name_of(&vote.by).to_owned(),
                        reason: reason.as_deref().map(str::to_owned),
                    }),
                    Answer::Respond { content } => ToolResult::output(content.clone()),
                    Answer::Choose(chosen) => {
                        ToolResult::output(chosen_text(&hold.question, chosen))
                    }
                    Answer::Fill(form) => ToolResult::output(filled_text(&hold.question, form)),
                    Answer::Perform { content, is_error: true } => {
                        ToolResult::error(content.clone())
                    }
                    Answer::Perform { content, is_error: false } => {
                        ToolResult::output(content.clone())
                    }
                    Answer::Approve { .. } | Answer::Settle { .. } => return None,
                })
            }
        }
    }

    /// A result in the shape that the call's tool speaks.
    pub(super) fn shape_for_tool(&self, call: &Call, result: &ToolResult) -> ToolResult {
        match call.confirm {
            Confirm::Held => result.clone(),
            Confirm::TwoPhase => shaped(result),
        }
    }
}

/// The labels as they were stored, not as they were sent.
fn chosen_text(question: &Question, chosen: &[String]) -> String {
    let Question::Choose { options, multiple, .. } = question else { return chosen.join("\n") };
    let labels: Vec<&str> = chosen
        .iter()
        .map(|text| {
            find_option(options, text).map_or(text.as_str(), |option| option.label.as_str())
        })
        .collect();
    match (multiple, labels.as_slice()) {
        (false, [one]) => (*one).to_owned(),
        _ => serde_json::to_string(&labels).unwrap_or_default(),
    }
}

/// What was filled in, as the model may know it: secrets of the form are named, not told.
fn filled_text(question: &Question, form: &serde_json::Value) -> String {
    if let Question::Fill { schema: Some(schema) } = question {
        return redact(form, &write_only_pointers(schema)).to_string();
    }
    match form.as_object() {
        Some(map) if map.len() == 1 => match map.get("text") {
            Some(serde_json::Value::String(text)) => text.clone(),
            _ => form.to_string(),
        },
        _ => form.to_string(),
    }
}
