//! How each event changes a session. Replaying the journal through this gives the state back, to
//! the byte, so nothing here may look at anything but the session and the event.

use std::sync::Arc;

use super::{
    CallRecord, CallState, OverBudget, Progress, Queued, Run, RunState, Session, Stopping,
};
use crate::call::Clearance;
use crate::event::{HoldEvent, SessionEvent};
use crate::grant::ClearedBy;
use crate::hold::{Hold, HoldChange, HoldOutcome, HoldState, Question};
use crate::id::{CallId, HoldId};
use crate::limits::EXECUTE_WITHIN_MS;
use crate::message::{Message, Origin, Part, Role};
use crate::outcome::{ResultKind, ToolResult};
use crate::time::Timestamp;

impl Session {
    /// The state after one more event, which happened at `at`. It is not checked again: an event is a fact. A session that was
    /// filled by hand with events proves nothing; see `ports::durable`.
    pub fn apply(&mut self, event: &SessionEvent, at: Timestamp) {
        self.version += 1;
        self.changed_at = at;
        match event {
            SessionEvent::SessionOpened { agent, creator, title, metadata, home } => {
                self.agent = agent.clone();
                self.creator = creator.clone();
                self.title = title.clone();
                self.metadata = metadata.clone();
                self.home = home.clone();
                self.opened_at = at;
            }
            SessionEvent::MessageQueued { message, run, join } => {
                self.login_makers.extend(message.login_makers.iter().cloned());
                self.queue.push_back(Queued { message: message.clone(), run: *run, join: *join });
            }
            SessionEvent::RunStarted { run } => {
                // A queued note about a decision may begin a run: its speaker is that of the run before.
                let by = self.run.take().and_then(|earlier| earlier.by);
                self.run = Some(Run::begin(*run, by, at));
            }
            SessionEvent::MessageAdded { message } => self.message_added(message),
            SessionEvent::CallProposed { id, call, clearance } => {
                let is_taken_back = self.takes_start_back(*id, clearance.as_ref());
                if let (Some(clearance), true) = (clearance, is_taken_back)
                    && let ClearedBy::People(hold) = clearance.by
                {
                    self.change_hold(hold, Hold::not_begun);
                }
                if let Some(record) = self.calls.get_mut(id).map(Arc::make_mut) {
                    if is_taken_back {
                        record.begun = record.begun.saturating_sub(1);
                    }
                    record.call = Some(call.clone());
                    record.state = match clearance {
                        Some(clearance) => CallState::Cleared { clearance: clearance.clone() },
                        None => CallState::Proposed,
                    };
                }
            }
            // The record itself came with the message that carried the call.
            SessionEvent::CallMalformed { .. } => {}
            SessionEvent::Hold(HoldEvent::Opened { hold }) => {
                self.holds.insert(hold.clone());
                if let (Some(call), false) =
                    (hold.call(), hold.two_phase || hold.question == Question::Settle)
                    && let Some(record) = self.calls.get_mut(&call.id).map(Arc::make_mut)
                {
                    record.call = Some(call.clone());
                    record.state = CallState::Waiting { hold: hold.id };
                }
            }
            SessionEvent::Hold(HoldEvent::Updated { hold, change }) => {
                self.change_hold(*hold, |held| held.changed(change));
                if let HoldChange::Revised { call, .. } = change
                    && let Some(record) = self.calls.get_mut(&call.id).map(Arc::make_mut)
                {
                    record.call = Some(call.clone());
                }
            }
            SessionEvent::Hold(HoldEvent::Decided { hold, state }) => {
                self.hold_decided(*hold, state, at)
            }
            SessionEvent::CallStarted { call, attempt, node } => {
                if let Some(clearance) = self.clearance_of(*call) {
                    self.hold_outcome(&clearance, HoldOutcome::Executing);
                    if let Some(record) = self.calls.get_mut(call).map(Arc::make_mut) {
                        record.attempts = *attempt;
                        record.begun += 1;
                    }
                    self.set(
                        *call,
                        CallState::Running { clearance, attempt: *attempt, node: *node },
                    );
                }
            }
            SessionEvent::CallInDoubt { call, settle, .. } => {
                if let Some(CallState::Running { clearance, attempt, .. }) = self.state_of(*call) {
                    self.hold_outcome(&clearance, HoldOutcome::Unknown);
                    self.set(*call, CallState::InDoubt { clearance, attempt, settle: *settle });
                }
            }
            SessionEvent::CallSettled { call, result } => self.call_settled(*call, result),
            SessionEvent::TurnCounted { usage, .. } => {
                self.change_run(|run| run.spent.counted(usage))
            }
            SessionEvent::BudgetUsedUp { hold, used_up, .. } => {
                let over = OverBudget { hold: *hold, used_up: *used_up };
                self.change_run(|run| run.proceeds(Progress::OverBudget(over)));
            }
            SessionEvent::RunPaused { .. } => self.change_run(|run| run.paused(at)),
            SessionEvent::RunResumed { .. } => self.change_run(|run| run.resumed(at)),
            SessionEvent::RunCompleted { .. } => {
                self.change_run(|run| run.end(RunState::Completed, at));
            }
            SessionEvent::RunFailed { error, .. } => {
                let failed = RunState::Failed { error: error.clone() };
                self.change_run(|run| run.end(failed, at));
            }
            SessionEvent::RunStopping { by, reason, .. } => {
                let stopping = Stopping { by: by.clone(), reason: reason.clone() };
                self.change_run(|run| run.proceeds(Progress::Stopping(stopping)));
            }
            SessionEvent::RunCancelled { run } => {
                match self.run.as_ref().is_some_and(|latest| latest.id == *run) {
                    true => self.change_run(|run| run.cancelled(at)),
                    // One that waited its turn and never began: what is under way goes on.
                    false => self.queue.retain(|queued| queued.run != *run),
                }
            }
            SessionEvent::GrantMade { grant } => {
                self.grants.insert(grant.id, grant.clone());
            }
            SessionEvent::GrantUsed { grant, .. } => {
                if let Some(grant) = self.grants.get_mut(grant) {
                    let grant = Arc::make_mut(grant);
                    // mutant: grant-never-used-up
                    grant.uses_left = grant.uses_left.saturating_sub(1);
                }
            }
            SessionEvent::GrantRevoked { grant, .. } => {
                if let Some(grant) = self.grants.get_mut(grant) {
                    // mutant: grant-revocation-ignored
                    Arc::make_mut(grant).revoked = true;
                }
            }
        }
    }

    fn message_added(&mut self, message: &Arc<Message>) {
        self.queue.retain(|queued| queued.message.id != message.id);
        self.login_makers.extend(message.login_makers.iter().cloned());
        self.transcript.push(message.clone());
        let Some(run) = &mut self.run else { return };
        match message.role {
            Role::Assistant => {
                run.spent.turn();
                run.turn.clear();
                for part in &message.parts {
                    if let Part::ToolCall { call, tool_use_id, tool, .. } = part {
                        run.turn.push(*call);
                        let record = CallRecord {
                            tool_use_id: tool_use_id.clone(),
                            tool: tool.clone(),
                            call: None,
                            attempts: 0,
                            begun: 0,
                            state: CallState::Proposed,
                        };
                        self.calls.insert(*call, Arc::new(record));
                    }
                }
            }
            Role::Tool => run.turn.clear(),
            Role::User if message.origin == Origin::Own => run.by = message.by.clone(),
            Role::User => {}
        }
    }

    /// An approval clears its call here. `Draft::start_cleared` starts it in the same commit, if nothing else holds it back.
    fn hold_decided(&mut self, id: HoldId, state: &HoldState, at: Timestamp) {
        self.change_hold(id, |hold| hold.decided(state.clone()));
        if let HoldState::Approved(_) = state {
            self.change_run(|run| run.allowed_to_go_on(id, at));
        }
        let Some(hold) = self.holds.get(&id) else { return };
        if let (HoldState::Approved(decision), Some(call), false) =
            (state, hold.call(), hold.two_phase)
        {
            let clearance = Clearance {
                by: ClearedBy::People(id),
                at: decision.at(),
                execute_by: decision.at().plus_ms(EXECUTE_WITHIN_MS),
            };
            let call = call.id;
            self.set(call, CallState::Cleared { clearance });
        }
    }

    fn call_settled(&mut self, call: CallId, result: &ToolResult) {
        // Approved and then not run is an end, too: whoever waits for it must see one.
        if let Some(CallState::Running { clearance, .. } | CallState::Cleared { clearance }) =
            self.state_of(call)
        {
            let outcome = match result.kind {
                ResultKind::Output => HoldOutcome::Succeeded(result.clone()),
                _ => HoldOutcome::Failed(result.clone()),
            };
            self.hold_outcome(&clearance, outcome);
        }
        self.set(call, CallState::Settled { result: result.clone() });
    }

    fn hold_outcome(&mut self, clearance: &Clearance, outcome: HoldOutcome) {
        if let ClearedBy::People(hold) = clearance.by {
            self.change_hold(hold, |hold| hold.changed(&HoldChange::Outcome(outcome)));
        }
    }

    fn change_hold(&mut self, id: HoldId, change: impl FnOnce(&mut Hold)) {
        self.holds.change(id, change);
    }

    fn set(&mut self, call: CallId, state: CallState) {
        if let Some(record) = self.calls.get_mut(&call).map(Arc::make_mut) {
            record.state = state;
        }
    }

    pub(super) fn state_of(&self, call: CallId) -> Option<CallState> {
        self.calls.get(&call).map(|record| record.state.clone())
    }

    /// Whether a `CallProposed` with this clearance is a start taken back ([`SessionEvent::start_taken_back`]): a call that
    /// is running has been cleared before, so nothing else clears it.
    fn takes_start_back(&self, call: CallId, clearance: Option<&Clearance>) -> bool {
        let state = self.calls.get(&call).map(|record| &record.state);
        clearance.is_some() && matches!(state, Some(CallState::Running { .. }))
    }

    fn clearance_of(&self, call: CallId) -> Option<Clearance> {
        match self.state_of(call)? {
            CallState::Cleared { clearance } | CallState::Running { clearance, .. } => {
                Some(clearance)
            }
            _ => None,
        }
    }

    fn change_run(&mut self, change: impl FnOnce(&mut Run)) {
        if let Some(run) = &mut self.run {
            change(run);
        }
    }
}
